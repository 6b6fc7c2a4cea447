//! How long shaders take to compile and to run, on each back end.

use crate::measure::{compile, label, milliseconds, natives, totals};
use ssl_benches::{Points, Program, compiled, in_turn, in_turn_on};
use ssl_compiler::{BackendKind, Shader};

/// Compile time, run time and code size, with nobody asking for derivatives and with `ddx`/`ddy` outputs.
pub fn running() -> Result<(), String> {
    println!(
        "| program | back end | compile ms: none → ddx | of it the back end | ns per point: none → ddx | ratio | code bytes |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for program in Program::all() {
        let mut shaders: Vec<Shader> = Vec::new();
        let mut compiling = Vec::new();
        for target in natives() {
            for derived in [false, true] {
                let (shader, stages) = compile(5, || program.compile(derived, target))?;
                shaders.push(shader);
                compiling.push(totals(&stages));
            }
        }
        let run = strewn(&shaders);
        for (i, target) in natives().into_iter().enumerate() {
            let (plain, derived) = (2 * i, 2 * i + 1);
            println!(
                "| {} | {} | {:.2} → {:.2} | {:.2} → {:.2} | {:.1} → {:.1} | {:.2} | {} → {} |",
                program.name,
                label(target),
                milliseconds(compiling[plain].0),
                milliseconds(compiling[derived].0),
                milliseconds(compiling[plain].1),
                milliseconds(compiling[derived].1),
                run[plain],
                run[derived],
                run[derived] / run[plain],
                shaders[plain].code_bytes(),
                shaders[derived].code_bytes(),
            );
        }
        let interpreted = [false, true].map(|derived| program.compile(derived, BackendKind::Interpreter.into()));
        let [Ok(plain), Ok(derived)] = interpreted else { continue };
        let run = strewn(&[plain, derived]);
        println!("| {} | interp | | | {:.0} → {:.0} | {:.2} | |", program.name, run[0], run[1], run[1] / run[0]);
    }
    Ok(())
}

/// Nanoseconds a point, over so many blocks of points that no processor learns their branches by heart.
fn strewn(shaders: &[Shader]) -> Vec<f64> {
    const BLOCKS: u32 = 64;
    let mut blocks: Vec<Vec<Points>> =
        shaders.iter().map(|s| (1..=BLOCKS).map(|seed| Points::strewn(s, seed)).collect()).collect();
    let mut blocks: Vec<&mut [Points]> = blocks.iter_mut().map(Vec::as_mut_slice).collect();
    in_turn_on(shaders, &mut blocks)
}

/// What one call of each math function costs, its arguments different for every call and point.
pub fn math() -> Result<(), String> {
    const CALLS: usize = 64;
    const FUNCTIONS: [&str; 9] =
        ["sin(x)", "cos(x)", "exp(x)", "log(x)", "tanh(x)", "pow(x, 1.5)", "atan2(x, y)", "sqrt(x)", "y / x"];
    let targets = natives();
    let names: Vec<String> = targets.iter().map(|t| label(*t)).collect();
    println!("| ns per call | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    for function in FUNCTIONS {
        let calls: String = (0..CALLS).map(|_| format!("r += {function}; x += 0.03125;\n")).collect();
        let source = format!(
            "shader main(out float r) {{ float x = abs(global_value<uvw>.x) * 0.1; const float y = global_value<uvw>.y; \
             r = 0.0; {calls} }}"
        );
        let shaders: Result<Vec<Shader>, String> = targets.iter().map(|t| compiled(&source, *t)).collect();
        let run: Vec<String> = strewn(&shaders?).iter().map(|ns| format!("{:.2}", ns / CALLS as f64)).collect();
        println!("| `{function}` | {} |", run.join(" | "));
    }
    Ok(())
}

/// The sieve of Eratosthenes up to n: linear in n only if setting an element copies no array.
pub fn sieve() -> Result<(), String> {
    let mut targets = natives();
    targets.retain(|t| t.opt != ssl_compiler::backend::OptLevel::O0);
    targets.push(BackendKind::Interpreter.into());
    let names: Vec<&str> = targets.iter().map(|t| t.backend.name()).collect();
    println!("| sieve of n, ns per number | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    for n in [1 << 10, 1 << 12, 1 << 14, 1 << 16] {
        let source = format!(
            "shader sieve(out int primes) {{ bool composite[{n}]; primes = 0; for (int i = 2; i < {n}; ++i) {{ \
             if (composite[i]) continue; primes++; for (int j = 2 * i; j < {n}; j += i) composite[j] = true; }} }}"
        );
        let mut line = format!("| {n} |");
        for &target in &targets {
            let shader = compiled(&source, target)?;
            line.push_str(&format!(" {:.2} |", in_turn(std::slice::from_ref(&shader))[0] / f64::from(n)));
        }
        println!("{line}");
    }
    Ok(())
}
