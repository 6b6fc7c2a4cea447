//! What soft shapes and their gradient cost a pixel and shape, by methods that are chosen at run time and by an `if`, beside a C
//! program that somebody wrote by hand. This is "Shapes-2D" of the SLANG.D paper (its 6.2.2).
//!
//! `cargo bench -p ssl-benches --bench shapes --features llvm -- [--shapes N] [--width N] [--rounds N]`
//!
//! All run by turns on one thread, and the least of the rounds counts.

use ssl_benches::process;
use ssl_benches::shapes::{Choice, Problem, Shapes, by_hand, nanoseconds};
use ssl_benches::yardstick::Yardstick;
use ssl_compiler::BackendKind;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

struct Options {
    shapes: usize,
    width: usize,
    rounds: usize,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options { shapes: 256, width: 256, rounds: 5 };
        while let Some(word) = words.next() {
            let option = match word.as_str() {
                // Cargo itself hands it over.
                "--bench" => continue,
                "--shapes" => &mut options.shapes,
                "--width" => &mut options.width,
                "--rounds" => &mut options.rounds,
                _ => return Err(format!("{word} is no option")),
            };
            let value = words.next().ok_or(format!("{word} wants a value"))?;
            *option = match value.parse() {
                Ok(number) if (1..=1 << 13).contains(&number) => number,
                _ => return Err(format!("{word} wants a number from 1 to {}, not {value:?}", 1 << 13)),
            };
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    process::in_folder("shapes", |folder| {
        let options = Options::read(std::env::args().skip(1))?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| e.to_string())?;
        pool.install(|| measure(&options, folder).map_err(|e| e.to_string()))
    })
}

fn measure(options: &Options, folder: &Path) -> Outcome {
    let problem = Problem::random(options.width as u32, options.shapes);
    let yardstick = Yardstick::compile("shapes").inspect_err(|why| println!("{why}")).ok();
    let mut rows = Vec::new();
    for backend in BackendKind::ALL.iter().copied().filter(|b| *b != BackendKind::Interpreter) {
        for (choice, what) in [(Choice::Method, "methods chosen at run time"), (Choice::Branch, "an `if`")] {
            let label = format!("{}, {what}", backend.name());
            rows.push((label, Shapes::new(backend, choice, &problem)?, [f64::INFINITY; 2]));
        }
    }
    let mut hand = [f64::INFINITY; 2];
    let least = |all: &mut [f64; 2], found: [f64; 2]| *all = [all[0].min(found[0]), all[1].min(found[1])];
    let count = options.shapes as f64 * (options.width * options.width) as f64;
    for _ in 0..options.rounds {
        for (_, shapes, times) in &mut rows {
            let draw = nanoseconds(|| shapes.draw())?;
            let sweep = nanoseconds(|| shapes.sweep())?;
            least(times, [draw / count, sweep / count]);
        }
        if let Some(yardstick) = &yardstick {
            least(&mut hand, by_hand(yardstick, &problem, folder)?.1);
        }
    }
    println!("{} shapes, {w}×{w} pixels, ns a pixel and shape", options.shapes, w = options.width);
    println!("| program | picture | gradient | gradient, C = 1 |\n| --- | --- | --- | --- |");
    for (label, _, times) in &rows {
        println!("| {label} | {:.1} | {:.1} | {:.2} |", times[0], times[1], times[1] / hand[1]);
    }
    if yardstick.is_some() {
        println!("| C by hand | {:.1} | {:.1} | 1 |", hand[0], hand[1]);
    }
    Ok(())
}
