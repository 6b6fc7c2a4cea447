//! What a step of fitting splats costs, launch by launch, beside a C program that somebody wrote by hand.
//!
//! `cargo bench -p ssl-benches --bench splats -- [--blobs N] [--steps N] [--rounds N] [--threads N] [--llvm]
//! [--picture FILE] [--start FILE] [--quality]`
//!
//! Both run by turns, and the least of the rounds counts. The yardstick has one thread, and so have we unless `--threads`
//! says more. `--quality` fits in place of measuring, 1000 steps unless `--steps` says otherwise, and prints how near both
//! come. A start file holds the floats of all blobs, number by number.

use ssl_benches::splats::{ByHand, Fit, Kernels, PARTS, Problem, by_hand};
use ssl_benches::yardstick::Yardstick;
use ssl_benches::{process, root};
use ssl_compiler::BackendKind;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SIZE: (u32, u32) = (512, 512);
/// Steps before which the fits are compared.
const COMPARED: [usize; 6] = [0, 50, 100, 200, 500, 1000];

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

struct Options {
    blobs: usize,
    steps: Option<usize>,
    rounds: usize,
    threads: usize,
    backend: BackendKind,
    picture: PathBuf,
    start: Option<PathBuf>,
    quality: bool,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            blobs: 20_480,
            steps: None,
            rounds: 3,
            threads: 1,
            backend: BackendKind::Cranelift,
            picture: root().join("docs/src/images/first-light.png"),
            start: None,
            quality: false,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            let number = |text: String| match text.parse() {
                Ok(number) if (1..=1 << 24).contains(&number) => Ok(number),
                _ => Err(format!("{word} wants a number from 1 to {}, not {text:?}", 1 << 24)),
            };
            match word.as_str() {
                // Cargo itself hands it over.
                "--bench" => {}
                "--blobs" => options.blobs = number(value()?)?,
                "--steps" => options.steps = Some(number(value()?)?),
                "--rounds" => options.rounds = number(value()?)?,
                "--threads" => options.threads = number(value()?)?,
                "--picture" => options.picture = value()?.into(),
                "--start" => options.start = Some(value()?.into()),
                "--quality" => options.quality = true,
                #[cfg(feature = "llvm")]
                "--llvm" => options.backend = BackendKind::Llvm,
                #[cfg(not(feature = "llvm"))]
                "--llvm" => return Err("this is a build without LLVM: `cargo bench --features llvm`".to_owned()),
                _ => return Err(format!("{word} is no option")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    process::in_folder("splats", |folder| {
        let options = Options::read(std::env::args().skip(1))?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().map_err(|e| e.to_string())?;
        pool.install(|| measure(&options, folder).map_err(|e| e.to_string()))
    })
}

fn measure(options: &Options, folder: &Path) -> Outcome {
    let mut problem = Problem::of_picture(&options.picture, SIZE, options.blobs)?;
    if let Some(file) = &options.start {
        problem = problem.starting_at(file)?;
    }
    let mut kernels = Kernels::compile(options.backend, &problem)?;
    let yardstick = Yardstick::compile("splats").inspect_err(|why| println!("{why}")).ok();
    let hand = |steps| yardstick.as_ref().map(|y| by_hand(y, &problem, steps, folder)).transpose();
    if options.quality {
        let steps = options.steps.unwrap_or(1000);
        return compare(&mut kernels, &problem, steps, hand(steps)?);
    }
    let steps = options.steps.unwrap_or(20);
    let (mut ours, mut theirs) = ([f64::INFINITY; PARTS.len()], f64::INFINITY);
    for _ in 0..options.rounds {
        let spent = fitted(&mut kernels, &problem, steps)?;
        if spent.iter().sum::<f64>() < ours.iter().sum() {
            ours = spent;
        }
        if let Some(found) = hand(steps)? {
            theirs = theirs.min(found.step);
        }
    }
    let (all, name) = (ours.iter().sum::<f64>(), options.backend.name());
    println!("{} blobs, {}×{} pixels, steps 1 to {steps}", options.blobs, SIZE.0, SIZE.1);
    println!("| ms a step | {name}, threads: {} |\n| --- | --- |", options.threads);
    for (part, ms) in PARTS.iter().zip(&ours) {
        println!("| {part} | {ms:.1} |");
    }
    println!("| all | {all:.1} |");
    if theirs.is_finite() {
        println!("| C by hand, one thread | {theirs:.1} |\n\nWe take {:.1} times as long.", all / theirs);
    }
    Ok(())
}

/// Milliseconds of the parts of a step. The first step warms up.
fn fitted(kernels: &mut Kernels, problem: &Problem, steps: usize) -> Outcome<[f64; PARTS.len()]> {
    let mut fit = Fit::new(kernels, problem)?;
    fit.step()?;
    fit.spent.fill(0.0);
    for _ in 0..steps {
        fit.step()?;
    }
    Ok(fit.spent.map(|ms| ms / steps as f64))
}

/// How near both come, step by step.
fn compare(kernels: &mut Kernels, problem: &Problem, steps: usize, by_hand: Option<ByHand>) -> Outcome {
    println!("| step | PSNR, dB | C by hand | difference |\n| --- | --- | --- | --- |");
    let mut fit = Fit::new(kernels, problem)?;
    for step in 0..=steps {
        if COMPARED.contains(&step) || step == steps {
            let ours = fit.psnr()?;
            let theirs = by_hand.as_ref().and_then(|b| b.psnr.iter().find(|(s, _)| *s == step));
            let [theirs, off] = theirs.map_or(["", ""].map(str::to_owned), |(_, theirs)| {
                [format!("{theirs:.3}"), format!("{:+.3}", ours - theirs)]
            });
            println!("| {step} | {ours:.3} | {theirs} | {off} |");
        }
        if step < steps {
            fit.step()?;
        }
    }
    Ok(())
}
