//! What is measured: back ends, and the stages of compiling, each the least of several rounds.

use ssl_benches::Points;
use ssl_compiler::backend::OptLevel;
use ssl_compiler::runtime::LANES;
use ssl_compiler::{BackendKind, Shader, Target};
use std::time::{Duration, Instant};

/// A turn: short, so that some of them meet no other work on the machine.
const TURN: Duration = Duration::from_micros(200);

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
        least_stages(&mut least, make()?.timings());
    }
    Ok((shader, least))
}

/// Keeps the least time of each stage.
pub fn least_stages(least: &mut Stages, times: &[(&'static str, Duration)]) {
    for (best, time) in least.iter_mut().zip(times) {
        best.1 = best.1.min(time.1);
    }
}

/// All stages together, and those of the back end.
pub fn totals(stages: &Stages) -> (Duration, Duration) {
    let native = stages.iter().filter(|(name, _)| NATIVE_STAGES.contains(name)).map(|s| s.1).sum();
    (stages.iter().map(|s| s.1).sum(), native)
}

/// Nanoseconds a point of each shader on its blocks, run through one after the other: the least of many short turns.
pub fn by_short_turns(shaders: &[Shader], points: &mut [Vec<Points>], turns: usize) -> Vec<f64> {
    let mut best = vec![f64::MAX; shaders.len()];
    let mut runs = vec![1u32; shaders.len()];
    for turn in 0..turns {
        for (i, shader) in shaders.iter().enumerate() {
            let blocks = &mut points[i];
            let start = Instant::now();
            (0..runs[i]).for_each(|_| blocks.iter_mut().for_each(|b| b.run(shader)));
            let run = start.elapsed().as_secs_f64() / f64::from(runs[i]);
            let count = (LANES * blocks.len()) as f64;
            best[i] = best[i].min(run * 1e9 / count);
            if turn < 10 {
                runs[i] = (TURN.as_secs_f64() / (best[i] * 1e-9 * count)).clamp(1.0, 100_000.0) as u32;
            }
        }
    }
    best
}
