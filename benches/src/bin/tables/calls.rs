//! What the ways of deriving through calls cost: one variant a function, one a signature, or no calls.

use crate::measure::{compile, label, milliseconds, natives, totals};
use ssl_benches::{ROUNDS, call_heavy, in_turn};
use ssl_compiler::Shader;
use ssl_compiler::backend::OptLevel;
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;

const POLICIES: [(CallPolicy, &str); 3] =
    [(CallPolicy::Merged, "merged"), (CallPolicy::BySignature, "signature"), (CallPolicy::Inline, "inline")];

/// Compile time, code size and run time of each policy, on each program and back end.
pub fn policies() -> Result<(), String> {
    let names = POLICIES.map(|(_, name)| name).join(", ");
    println!("| program | back end | compile ms: {names} | code bytes | ns a point |\n| --- | --- | --- | --- | --- |");
    for program in call_heavy() {
        for target in natives().into_iter().filter(|t| t.opt == OptLevel::O2) {
            let (mut times, mut sizes, mut shaders) = (Vec::new(), Vec::new(), Vec::<Shader>::new());
            for (call_policy, _) in POLICIES {
                let passes = Options { call_policy, ..Options::default() };
                let (shader, stages) = compile(ROUNDS, || program.compile_with(target, passes))?;
                times.push(format!("{:.2}", milliseconds(totals(&stages).0)));
                sizes.push(shader.code_bytes().to_string());
                shaders.push(shader);
            }
            let run: Vec<String> = in_turn(&shaders).iter().map(|ns| format!("{ns:.1}")).collect();
            let cells = [times.join(", "), sizes.join(", "), run.join(", ")].join(" | ");
            println!("| {} | {} | {cells} |", program.name, label(target));
        }
    }
    Ok(())
}
