//! What gradients cost, beside the code that they are of: `cargo bench -p ssl-benches --bench gradients`.
//!
//! Prints the tables of the performance page's section on gradients. Things that are compared run by turns, and the least
//! of several runs counts. Beside the long loop stands a C program that somebody wrote by hand, if there is a `cc`.

use renderer::material::ShadingLanguage;
use ssl_benches::yardstick::Yardstick;
use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::runtime::{Block, LANES, Order, ParameterBlock, ParameterValue, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, CompileOptions, Shader, Target, compile};
use std::time::{Duration, Instant};

const BRDF: &str = include_str!("../shaders/gradients/brdf.ssl");
const SERIES: &str = include_str!("../shaders/gradients/series.ssl");
const BLENDING: &str = include_str!("../shaders/gradients/blending.ssl");
const PRACTICAL: &str = include_str!("../shaders/practical.ssl");

/// Turns of what is compared; the least counts.
const TURNS: usize = 25;
/// What a turn takes at least.
const TURN: Duration = Duration::from_millis(4);
/// Blocks of points, so many that no processor learns their branches by heart.
const BLOCKS: u32 = 16;

type Outcome = Result<(), String>;

/// Its name, and what prints it.
type Table = (&'static str, fn() -> Outcome);

fn main() -> std::process::ExitCode {
    let tables: [Table; 5] = [
        ("functions", functions),
        ("loop", long_loop),
        ("checkpoints", checkpoints),
        ("undo", undo),
        ("compiling", compiling),
    ];
    // Cargo itself hands over `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for (name, print) in tables {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        if let Err(reason) = print() {
            eprintln!("{name}: {reason}");
            return std::process::ExitCode::FAILURE;
        }
        println!();
    }
    std::process::ExitCode::SUCCESS
}

/// Those that make native code, one point after the other and together.
fn targets() -> impl Iterator<Item = Target> {
    let native = BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter);
    native.flat_map(|&backend| [Lanes::ONE, Lanes::Auto].map(|lanes| Target { backend, opt: OptLevel::O2, lanes }))
}

/// `llvm, one lane`.
fn label(target: Target) -> String {
    let lanes = if target.lanes == Lanes::ONE { "one lane" } else { "all lanes" };
    format!("{}, {lanes}", target.backend.name())
}

fn entry(text: &str, entry: &str, target: Target) -> Result<Shader, String> {
    let language = ShadingLanguage::new();
    let mut sources = SourceMap::new();
    let file = sources.add("bench.ssl", text);
    let options = CompileOptions { target, ..CompileOptions::new(language.globals(), language.closures()) };
    match compile(&mut sources, file, Some(entry), &options) {
        Ok((shader, _)) => Ok(shader),
        Err(d) => Err(ssl_compiler::diagnostics::render::text(&d, &sources, false)),
    }
}

/// A shader and points to run it on.
struct Runner {
    shader: Shader,
    blocks: Vec<Vec<Row>>,
    parameters: ParameterBlock,
    outputs: Vec<Row>,
    /// Of the last run.
    tape_rows: u32,
}

impl Runner {
    fn new(shader: Shader, blocks: u32) -> Runner {
        let language = ShadingLanguage::new();
        let layout = language.globals();
        let block = |seed: u32| {
            let mut rows = vec![Row::ZERO; layout.rows()];
            let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
            for field in layout.fields().iter().filter(|f| f.name == "uvw") {
                for row in (0..field.components()).filter_map(|c| field.row(c, Order::Value)) {
                    rows[row] = Row(std::array::from_fn(|_| xorshift(&mut state) * 40.0 - 20.0));
                }
            }
            rows
        };
        let parameters = ParameterBlock::new(shader.interface());
        let outputs = vec![Row::ZERO; shader.interface().output_rows];
        Runner { blocks: (1..=blocks).map(block).collect(), shader, parameters, outputs, tape_rows: 0 }
    }

    /// With so many rounds of its loop.
    fn with_rounds(mut self, n: i32) -> Result<Runner, String> {
        let set = self.parameters.set(self.shader.interface(), "n", &ParameterValue::Int(n));
        set.map_err(|e| e.to_string())?;
        Ok(self)
    }

    fn run(&mut self) -> Outcome {
        for rows in &self.blocks {
            let block = Block::new(rows, &self.parameters, &mut self.outputs);
            let status = self.shader.run(&mut Block { fuel: i32::MAX as u32, ..block });
            self.tape_rows = status.tape_rows;
            if let Some(error) = status.first_error() {
                return Err(error.to_string());
            }
        }
        std::hint::black_box(&self.outputs);
        Ok(())
    }

    fn points(&self) -> f64 {
        (self.blocks.len() * LANES) as f64
    }
}

/// From 0 to 1 (G. Marsaglia, 2003).
fn xorshift(state: &mut u32) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state as f32 / 4_294_967_296.0
}

/// Nanoseconds a point of each, by turns. What runs longer than a turn runs fewer turns.
fn by_turns(runners: &mut [Runner]) -> Result<Vec<f64>, String> {
    let mut times = vec![1u32; runners.len()];
    let mut longest = Duration::ZERO;
    for (runner, times) in runners.iter_mut().zip(&mut times) {
        runner.run()?;
        let start = Instant::now();
        runner.run()?;
        let once = start.elapsed();
        *times = (TURN.as_secs_f64() / once.as_secs_f64().max(1e-9)).clamp(1.0, 1e6) as u32;
        longest = longest.max(once);
    }
    let turns = if longest > 10 * TURN { 3 } else { TURNS };
    let mut best = vec![f64::MAX; runners.len()];
    for _ in 0..turns {
        for ((runner, &times), best) in runners.iter_mut().zip(&times).zip(&mut best) {
            let start = Instant::now();
            for _ in 0..times {
                runner.run()?;
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / (f64::from(times) * runner.points()));
        }
    }
    Ok(best)
}

/// Straight code: what it costs, and its gradient over that.
fn functions() -> Outcome {
    println!("| function | back end | ns per point: primal → gradient | ratio |\n| --- | --- | --- | --- |");
    let cases = [
        ("BRDF, by 11 parameters", BRDF, "primal", "gradient"),
        ("BRDF, by one parameter", BRDF, "primal", "single"),
        ("`eval_practical`, by both", PRACTICAL, "plain", "gradient"),
    ];
    for target in targets() {
        let mut runners = Vec::new();
        for (_, text, primal, gradient) in cases {
            runners.push(Runner::new(entry(text, primal, target)?, BLOCKS));
            runners.push(Runner::new(entry(text, gradient, target)?, BLOCKS));
        }
        let ns = by_turns(&mut runners)?;
        for ((name, ..), ns) in cases.iter().zip(ns.chunks(2)) {
            println!("| {name} | {} | {:.2} → {:.2} | {:.2} |", label(target), ns[0], ns[1], ns[1] / ns[0]);
        }
    }
    Ok(())
}

/// The loop of the paper, with a number of rounds that the compiler does not know, and the C program.
fn long_loop() -> Outcome {
    println!("| long loop | rounds | ns per point: primal → gradient | ratio |\n| --- | --- | --- | --- |");
    let yardstick = Yardstick::compile("long_loop");
    for n in [16, 64, 128] {
        let measured = || yardstick.as_ref().ok().and_then(|y| by_hand(y, n));
        let mut least = measured();
        for target in targets() {
            let mut runners = Vec::new();
            for name in ["primal", "gradient"] {
                runners.push(Runner::new(entry(SERIES, name, target)?, BLOCKS).with_rounds(n)?);
            }
            let ns = by_turns(&mut runners)?;
            println!("| {} | {n} | {:.2} → {:.2} | {:.2} |", label(target), ns[0], ns[1], ns[1] / ns[0]);
            least = least.zip(measured()).map(|(a, b)| [a[0].min(b[0]), a[1].min(b[1])]);
        }
        if let Some([together, alone]) = least {
            println!("| C by hand, 16 together | {n} | {together:.2} | |");
            println!("| C by hand, one after the other | {n} | {alone:.2} | |");
        }
    }
    if let Err(why) = yardstick {
        println!("\n{why}");
    }
    Ok(())
}

/// Nanoseconds an element of the gradient by hand, 16 together and one after the other.
fn by_hand(yardstick: &Yardstick, n: i32) -> Option<[f64; 2]> {
    let text = yardstick.run([n.to_string()]).ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?])
}

/// Of a tape's rows, in bytes for the 16 points of a block.
fn bytes(rows: u32) -> String {
    match rows as usize * size_of::<Row>() {
        bytes if bytes < 1 << 20 => format!("{:.1} KB", bytes as f64 / 1024.0),
        bytes => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// `[Checkpoint(log)]` on loops of up to a million rounds.
fn checkpoints() -> Outcome {
    println!("| `[Checkpoint(log)]` | rounds | tape | ns per point and round: primal → gradient | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    for target in targets() {
        for n in [1_000, 1_000_000] {
            let mut runners = Vec::new();
            for name in ["primal", "checkpointed"] {
                runners.push(Runner::new(entry(SERIES, name, target)?, 1).with_rounds(n)?);
            }
            let ns = by_turns(&mut runners)?;
            let (rounds, tape) = (f64::from(n), bytes(runners[1].tape_rows));
            let (primal, gradient) = (ns[0] / rounds, ns[1] / rounds);
            println!("| {} | {n} | {tape} | {primal:.3} → {gradient:.3} | {:.1} |", label(target), gradient / primal);
        }
    }
    Ok(())
}

/// `[Undo]` against the tape: memory, time, and how far gradients are from each other.
fn undo() -> Outcome {
    println!("| blending | rounds | tape: kept, undone | ns per point: primal, kept, undone | largest difference |");
    println!("| --- | --- | --- | --- | --- |");
    for target in targets() {
        for n in [16, 1_000, 100_000] {
            let mut runners = Vec::new();
            for name in ["primal", "keep", "undo"] {
                runners.push(Runner::new(entry(BLENDING, name, target)?, 1).with_rounds(n)?);
            }
            let ns = by_turns(&mut runners)?;
            let pairs = runners[1].outputs[0].0.iter().zip(&runners[2].outputs[0].0);
            let difference = pairs.map(|(kept, undone)| ((undone - kept) / kept).abs()).fold(0.0, f32::max);
            println!(
                "| {} | {n} | {}, {} | {:.1}, {:.1}, {:.1} | {difference:.1e} |",
                label(target),
                bytes(runners[1].tape_rows),
                bytes(runners[2].tape_rows),
                ns[0],
                ns[1],
                ns[2],
            );
        }
    }
    Ok(())
}

/// From source to code, with the gradient and without.
fn compiling() -> Outcome {
    println!("| ms of compiling | back end | primal → gradient |\n| --- | --- | --- |");
    let cases =
        [("BRDF, by 11 parameters", BRDF, ["primal", "gradient"]), ("long loop", SERIES, ["primal", "gradient"])];
    for target in targets().filter(|t| t.lanes == Lanes::Auto) {
        for (name, text, entries) in cases {
            let mut best = [f64::MAX; 2];
            for _ in 0..TURNS {
                for (name, best) in entries.iter().zip(&mut best) {
                    let start = Instant::now();
                    std::hint::black_box(entry(text, name, target)?);
                    *best = best.min(start.elapsed().as_secs_f64() * 1e3);
                }
            }
            println!("| {name} | {} | {:.2} → {:.2} |", target.backend.name(), best[0], best[1]);
        }
    }
    Ok(())
}
