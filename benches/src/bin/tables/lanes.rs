//! What running the points of a block together is worth, against the same code for one point after the other.

use crate::measure::milliseconds;
use ssl_benches::{Points, Program, in_turn_on};
use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::{BackendKind, Shader, Target};

/// Nanoseconds a point one by one and together, both partials asked for or none, and what compiling takes.
pub fn together() -> Result<(), String> {
    println!("| program | back end | lanes | ns per point: none → ddx, ddy | speed-up over one lane | compile ms |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for program in Program::all() {
        for &backend in BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter) {
            let widths: &[Lanes] = match backend {
                BackendKind::Cranelift => &[Lanes::ONE, Lanes::Auto],
                _ => &[Lanes::ONE, Lanes::AtMost(8), Lanes::Auto],
            };
            let mut shaders: Vec<Shader> = Vec::new();
            for &lanes in widths {
                for derived in [false, true] {
                    shaders.push(program.compile(derived, Target { backend, opt: OptLevel::O2, lanes })?);
                }
            }
            let run = strewn(&shaders);
            for (i, lanes) in widths.iter().enumerate() {
                let (plain, derived) = (2 * i, 2 * i + 1);
                let compile: std::time::Duration = shaders[derived].timings().iter().map(|(_, d)| *d).sum();
                let lanes = match lanes {
                    Lanes::Auto => "auto".to_owned(),
                    Lanes::AtMost(n) => n.to_string(),
                };
                println!(
                    "| {} | {} | {lanes} | {:.2} → {:.2} | {:.1}, {:.1} | {:.1} |",
                    program.name,
                    backend.name(),
                    run[plain],
                    run[derived],
                    run[0] / run[plain],
                    run[1] / run[derived],
                    milliseconds(compile),
                );
            }
        }
    }
    Ok(())
}

/// Over so many blocks of points that no processor learns their branches by heart.
fn strewn(shaders: &[Shader]) -> Vec<f64> {
    let blocks = |s: &Shader| (1..=64).map(|seed| Points::strewn(s, seed)).collect();
    let mut blocks: Vec<Vec<Points>> = shaders.iter().map(blocks).collect();
    let mut blocks: Vec<&mut [Points]> = blocks.iter_mut().map(Vec::as_mut_slice).collect();
    in_turn_on(shaders, &mut blocks)
}
