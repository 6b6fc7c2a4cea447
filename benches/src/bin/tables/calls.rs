//! What the ways of differentiating through calls cost: one variant for each function, one for each signature, or no
//! calls.

use crate::measure::{by_short_turns, compile, label, milliseconds, natives, totals};
use ssl_benches::{CallHeavy, Points, call_heavy};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;
use ssl_compiler::{Shader, Target};
use std::time::{Duration, Instant};

const POLICIES: [(CallPolicy, &str); 3] =
    [(CallPolicy::Merged, "merged"), (CallPolicy::BySignature, "signature"), (CallPolicy::Inline, "inline")];

/// How long each policy's compilations are repeated.
const COMPILING: Duration = Duration::from_secs(2);
/// How often each shader is run, by turns.
const TURNS: usize = 1000;

/// Compile time, code size and run time of each policy, on each program and back end.
pub fn policies() -> Result<(), String> {
    let names = POLICIES.map(|(_, name)| name).join(", ");
    println!(
        "| program | back end | compile ms: {names} | code bytes | ns per point |\n| --- | --- | --- | --- | --- |"
    );
    for program in call_heavy() {
        for target in natives().into_iter().filter(|t| t.opt == OptLevel::O2) {
            let (mut times, mut shaders) = (Vec::new(), Vec::<Shader>::new());
            for (call_policy, _) in POLICIES {
                let (time, shader) = compiled(&program, target, Options { call_policy, ..Options::default() })?;
                times.push(format!("{:.2}", milliseconds(time)));
                shaders.push(shader);
            }
            let sizes: Vec<String> = shaders.iter().map(|s| s.code_bytes().to_string()).collect();
            let mut points: Vec<Vec<Points>> = shaders.iter().map(|s| vec![Points::new(s)]).collect();
            let run: Vec<String> =
                by_short_turns(&shaders, &mut points, TURNS).iter().map(|ns| format!("{ns:.1}")).collect();
            let cells = [times.join(", "), sizes.join(", "), run.join(", ")].join(" | ");
            println!("| {} | {} | {cells} |", program.name, label(target));
        }
    }
    Ok(())
}

/// A shader, and the sum of the least times of its stages.
fn compiled(program: &CallHeavy, target: Target, passes: Options) -> Result<(Duration, Shader), String> {
    let start = Instant::now();
    program.compile_with(target, passes)?;
    let rounds = (COMPILING.as_secs_f64() / start.elapsed().as_secs_f64()).clamp(8.0, 500.0);
    let (shader, stages) = compile(rounds as usize, || program.compile_with(target, passes))?;
    Ok((totals(&stages).0, shader))
}
