//! What is measured: back ends, and the stages of compiling, each the least of several rounds.

use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Shader, Target};
use std::time::Duration;

pub fn milliseconds(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

/// What makes native code here, at the two levels that matter most.
pub fn natives() -> Vec<Target> {
    let kinds = BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter);
    kinds
        .flat_map(|&backend| [OptLevel::O0, OptLevel::O2].map(|opt| Target { backend, opt, ..Target::default() }))
        .collect()
}

/// `cranelift O2`.
pub fn label(target: Target) -> String {
    format!("{} {:?}", target.backend.name(), target.opt)
}

/// Stages of the back ends; all others are the same whatever makes the code.
const NATIVE_STAGES: [&str; 4] = ["translate", "optimise", "generate", "link"];

/// A stage's times over several compilations, least first.
pub type Stages = Vec<(&'static str, Duration)>;

/// Compiles several times; the shader and the least time of each stage.
pub fn compile(rounds: usize, make: impl Fn() -> Result<Shader, String>) -> Result<(Shader, Stages), String> {
    let shader = make()?;
    let mut least: Stages = shader.timings().to_vec();
    for _ in 1..rounds {
        for (best, time) in least.iter_mut().zip(make()?.timings()) {
            best.1 = best.1.min(time.1);
        }
    }
    Ok((shader, least))
}

/// All stages together, and those of the back end.
pub fn totals(stages: &Stages) -> (Duration, Duration) {
    let native = stages.iter().filter(|(name, _)| NATIVE_STAGES.contains(name)).map(|s| s.1).sum();
    (stages.iter().map(|s| s.1).sum(), native)
}
