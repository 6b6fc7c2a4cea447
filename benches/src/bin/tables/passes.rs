//! What each pass that optimises is worth: every program with all of them, and with one left out.

use crate::measure::{Stages, by_short_turns, label, least_stages, totals};
use ssl_benches::{CallHeavy, Points, Program, call_heavy, materials};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::pipeline::{Optimisation, Options};
use ssl_compiler::{BackendKind, Shader, Target};
use std::time::{Duration, Instant};

/// How long the compilations of each program are repeated; the least time of each stage counts.
const COMPILING: Duration = Duration::from_secs(2);
/// Blocks of strewn points that each program runs over.
const BLOCKS: u32 = 4;
/// How often it does, by turns with the others.
const TURNS: usize = 400;

/// Run time and compile time without a pass, divided by those with all passes; `=` where the code is the same.
pub fn worth() -> Result<(), String> {
    let names = Optimisation::ALL.map(Optimisation::name).join(" | ");
    println!("| program | back end | ns a point | {names} |");
    println!("| --- | --- | --- |{}", " --- |".repeat(Optimisation::ALL.len()));
    let mut sums = Sums::default();
    for program in programs() {
        for &backend in BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter) {
            let target = Target { backend, opt: OptLevel::O2, ..Target::default() };
            let found = measure(&program, target)?;
            let cells: Vec<String> = found.ratios.iter().map(|r| r.map_or("=".to_owned(), cell)).collect();
            println!("| {} | {} | {:.1} | {} |", program.0, label(target), found.nanoseconds, cells.join(" | "));
            sums.add(backend.name(), &found.ratios);
        }
    }
    sums.print();
    Ok(())
}

type Compile = Box<dyn Fn(Target, Options) -> Result<Shader, String>>;

/// All programs that the page on performance measures, and the materials of the scenes.
fn programs() -> Vec<(String, Compile)> {
    let mut all: Vec<(String, Compile)> = Vec::new();
    for program in Program::all() {
        let name = format!("{}, derived", program.name);
        all.push((name, Box::new(move |target, passes| program.compile_with(true, target, passes))));
    }
    let own = |p: &CallHeavy| !ssl_benches::KINDS.contains(&p.name.as_str());
    for program in call_heavy().into_iter().filter(own).chain(materials()) {
        all.push((program.name.clone(), Box::new(move |target, passes| program.compile_with(target, passes))));
    }
    all
}

/// Run time and compile time, each divided by the same with all passes.
type Ratio = (f64, f64);

fn cell((run, compiling): Ratio) -> String {
    format!("{run:.2}, {compiling:.2}")
}

struct Found {
    nanoseconds: f64,
    /// By pass; `None` where it changes nothing.
    ratios: Vec<Option<Ratio>>,
}

fn measure((_, make): &(String, Compile), target: Target) -> Result<Found, String> {
    let without = |without| Options { without, ..Options::default() };
    let ways: Vec<Options> = std::iter::once(None).chain(Optimisation::ALL.map(Some)).map(without).collect();
    let shaders: Vec<Shader> = ways.iter().map(|&options| make(target, options)).collect::<Result<_, _>>()?;
    let texts: Vec<String> = shaders.iter().map(|s| s.module().to_string()).collect();
    let mut stages: Vec<Stages> = shaders.iter().map(|s| s.timings().to_vec()).collect();
    let start = Instant::now();
    while start.elapsed() < COMPILING {
        for (stages, &options) in stages.iter_mut().zip(&ways) {
            least_stages(stages, make(target, options)?.timings());
        }
    }
    let times: Vec<Duration> = stages.iter().map(|s| totals(s).0).collect();
    let blocks = |s: &Shader| (1..=BLOCKS).map(|seed| Points::strewn(s, seed)).collect();
    let mut points: Vec<Vec<Points>> = shaders.iter().map(blocks).collect();
    let run = by_short_turns(&shaders, &mut points, TURNS);
    let ratio = |i: usize| {
        let compiling = times[i].as_secs_f64() / times[0].as_secs_f64();
        (texts[i] != texts[0]).then_some((run[i] / run[0], compiling))
    };
    Ok(Found { nanoseconds: run[0], ratios: (1..shaders.len()).map(ratio).collect() })
}

/// Geometric means over the programs that a pass changes, by back end.
#[derive(Default)]
struct Sums(Vec<(&'static str, Vec<Sum>)>);

/// How many programs there are, and the sums of the logarithms of their ratios.
type Sum = (u32, f64, f64);

impl Sums {
    fn add(&mut self, backend: &'static str, ratios: &[Option<Ratio>]) {
        if self.0.iter().all(|(name, _)| *name != backend) {
            self.0.push((backend, vec![(0, 0.0, 0.0); ratios.len()]));
        }
        for (_, sums) in self.0.iter_mut().filter(|(name, _)| *name == backend) {
            for (sum, ratio) in sums.iter_mut().zip(ratios) {
                if let Some((run, compiling)) = ratio {
                    *sum = (sum.0 + 1, sum.1 + run.ln(), sum.2 + compiling.ln());
                }
            }
        }
    }

    fn print(&self) {
        for (backend, sums) in &self.0 {
            let mean = |&(n, run, compiling): &Sum| match n {
                0 => "=".to_owned(),
                n => format!("{} of {n}", cell(((run / f64::from(n)).exp(), (compiling / f64::from(n)).exp()))),
            };
            let cells: Vec<String> = sums.iter().map(mean).collect();
            println!("| mean | {backend} | | {} |", cells.join(" | "));
        }
    }
}
