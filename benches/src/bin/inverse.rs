//! Prints what a step of fitting materials costs, by how many there are: the table of docs/src/performance.md.
//!
//! `cargo run --release -p ssl-benches --features llvm --bin inverse -- [--llvm] [--threads N] [--steps N]
//! [--size WIDTHxHEIGHT] [--samples N]`
//!
//! The scene is scenes/inverse/spheres.toml, whose 343 spheres share the first so many of its materials. A step renders the
//! picture, compares it with even gray, and takes the gradient by all base colors. Times are those that the process spent on
//! its processors, since others may run; the median of the steps counts, but for the first one.

use glam::Vec3;
use renderer::inverse::job::Loss;
use renderer::inverse::{Differentiated, choose, list};
use renderer::material::Making;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions};
use ssl_benches::{process, root};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const COUNTS: [usize; 3] = [1, 50, 343];

struct Options {
    backend: BackendKind,
    threads: usize,
    steps: usize,
    size: (u32, u32),
    samples: u32,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { backend: BackendKind::Cranelift, threads: 1, steps: 9, size: (192, 108), samples: 4 };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            let number = |text: &str| match text.parse::<u32>() {
                Ok(number) if (1..=1 << 14).contains(&number) => Ok(number),
                _ => Err(format!("{text:?} is no number from 1 to {}", 1 << 14)),
            };
            match word.as_str() {
                "--threads" => options.threads = number(&value()?)? as usize,
                "--steps" => options.steps = number(&value()?)? as usize,
                "--samples" => options.samples = number(&value()?)?,
                "--size" => {
                    let given = value()?;
                    let (width, height) = given.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
                    options.size = (number(width)?, number(height)?);
                }
                #[cfg(feature = "llvm")]
                "--llvm" => options.backend = BackendKind::Llvm,
                #[cfg(not(feature = "llvm"))]
                "--llvm" => return Err("this is a build without LLVM: `--features llvm`".to_owned()),
                _ => return Err(format!("{word} is no option")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    process::in_folder("inverse", |folder| {
        let options = Options::read(std::env::args().skip(1))?;
        println!(
            "| materials | load, ms | ready, ms | first step, ms | picture, ms | gradient, ms | step, ms | ratio | MB |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        COUNTS.iter().try_for_each(|count| row(*count, &options, folder))
    })
}

/// The scene with so many of its materials.
fn scene_text(count: usize) -> Result<String, String> {
    let folder = root().join("scenes/inverse");
    let path = folder.join("spheres.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let shader = folder.join("spheres.ssl");
    let line = |line: &str| match line.strip_prefix("material = \"m").and_then(|rest| rest.strip_suffix('"')) {
        Some(number) => match number.parse::<usize>() {
            Ok(number) => format!("material = \"m{:03}\"\n", number % count),
            Err(_) => format!("{line}\n"),
        },
        None => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    Ok(text.replace("file = \"spheres.ssl\"", &format!("file = {:?}", shader.display().to_string())))
}

/// Milliseconds of the processors, or of the clock.
fn now(begin: Instant) -> f64 {
    process::processor_milliseconds().unwrap_or_else(|| begin.elapsed().as_secs_f64() * 1e3)
}

fn row(count: usize, options: &Options, folder: &Path) -> Result<(), String> {
    let begin = Instant::now();
    let clock = || now(begin);
    let path = folder.join("spheres.toml");
    std::fs::write(&path, scene_text(count)?).map_err(|e| e.to_string())?;
    let t0 = clock();
    let making = Making { differentiable: true, ..Making::from(options.backend) };
    let loaded = scene::load(&path, LoadOptions::from(making), &SearchPath::on_disk(Vec::new()));
    let Some(scene) = loaded.scene else { return Err(text(&loaded.diagnostics, &loaded.sources, false)) };
    let t1 = clock();
    // Materials that no sphere has get no gradient.
    let used = |name: &str| {
        let number = name.strip_prefix("materials.m").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        number.is_some_and(|number| number < count)
    };
    let mut parameters = choose(&list(&scene), "materials.*.base_color")?;
    parameters.retain(|p| used(&p.name));
    let mut scene = Differentiated::new(scene, parameters).map_err(|e| e.to_string())?;
    let t2 = clock();
    let begun = process::peak_megabytes();
    let steps: Vec<[f64; 3]> = (0..=options.steps as u32)
        .map(|seed| step(&mut scene, options, seed, &clock))
        .collect::<Result<_, String>>()?;
    let [picture, gradient, rest] = [0, 1, 2].map(|i| median(steps[1..].iter().map(|s| s[i]).collect()));
    let whole = picture + gradient + rest;
    let first: f64 = steps[0].iter().sum();
    let memory = process::peak_megabytes().zip(begun).map_or("?".to_owned(), |(end, begun)| (end - begun).to_string());
    println!(
        "| {count} | {:.0} | {:.0} | {first:.0} | {picture:.0} | {gradient:.0} | {whole:.0} | {:.2} | {memory} |",
        t1 - t0,
        t2 - t1,
        gradient / picture
    );
    Ok(())
}

/// Of a step the picture, the gradient, and the rest: the loss, and that the scene follows.
fn step(
    scene: &mut Differentiated,
    options: &Options,
    seed: u32,
    clock: &impl Fn() -> f64,
) -> Result<[f64; 3], String> {
    let never = AtomicBool::new(false);
    let of = |seed: u32| RenderOptions {
        samples: Some(options.samples),
        size: Some(options.size),
        seed: Some(seed),
        threads: Some(options.threads),
        aovs: Some(Vec::new()),
        ..RenderOptions::default()
    };
    let t0 = clock();
    let picture = render(&mut scene.scene, &of(2 * seed), &never, &|_| ()).map_err(|e| e.to_string())?.picture;
    let t1 = clock();
    let target = vec![Vec3::splat(0.5); picture.pixels.len()];
    let (_, cotangent) = Loss::L2.compare((&picture.pixels, &target), options.size.0, None);
    let t2 = clock();
    let gradient = scene.gradient(&of(2 * seed + 1), &cotangent, &never).map_err(|e| e.to_string())?;
    let t3 = clock();
    // Towards the target, but never out of what makes sense.
    let mut values = scene.values();
    values.iter_mut().zip(&gradient.values).for_each(|(x, g)| *x = (*x - 0.01 * g.signum()).clamp(0.01, 1.0));
    scene.set(&values)?;
    let t4 = clock();
    Ok([t1 - t0, t3 - t2, t2 - t1 + t4 - t3])
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
