//! Prints the table of denoising errors in docs/src/performance.md: denoised pictures beside pictures of more samples.
//! An error is the mean over pixels of mean((picture − reference)²) / (mean(reference)² + 0.01), with means over
//! channels. The reference has other random numbers.
//!
//! `denoising [--samples N] [--reference N] [--size WIDTH] [SCENE…]`: scenes are names in `scenes/`; pictures have 16:9.

use glam::Vec3;
use renderer::film::Picture;
use renderer::film::denoise::{Denoiser, GUIDES};
use renderer::material::Making;
use renderer::render::{RenderOptions, available_threads, render};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_benches::process;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const SCENES: [&str; 4] = ["first-light", "glass", "lens", "lights"];
/// Factor between the samples of a noisy picture and of its undenoised competitor.
const MORE: u32 = 16;

fn main() -> ExitCode {
    process::ended(table())
}

fn table() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let (mut samples, mut reference, mut width, mut names) = (16, 1024, 160, Vec::new());
    while let Some(word) = words.next() {
        let number = match word.as_str() {
            "--samples" => &mut samples,
            "--reference" => &mut reference,
            "--size" => &mut width,
            _ => {
                names.push(word);
                continue;
            }
        };
        *number = words.next().and_then(|n| n.parse().ok()).filter(|n| *n > 1).ok_or(format!("{word} is a number"))?;
    }
    if names.is_empty() {
        names = SCENES.map(str::to_owned).to_vec();
    }
    let size = (width, width * 9 / 16);
    println!("{}×{} pixels, reference of {reference} samples", size.0, size.1);
    println!(
        "| scene | {samples} samples | `builtin` | `oidn` | {} samples | s: {samples} samples, `builtin`, `oidn`, {} samples |",
        samples * MORE,
        samples * MORE
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    names.iter().try_for_each(|name| row(name, size, samples, reference))
}

fn row(name: &str, size: (u32, u32), samples: u32, reference: u32) -> Result<(), String> {
    let mut scene = load(name)?;
    let (truth, _) = picture(&mut scene, size, reference, 77)?;
    let (raw, raw_seconds) = picture(&mut scene, size, samples, 1)?;
    let (more, more_seconds) = picture(&mut scene, size, samples * MORE, 1)?;
    let of = |pixels: &[Vec3]| format!("{:.5}", error(pixels, &truth.pixels));
    let denoised = |denoiser: Denoiser| {
        let begin = Instant::now();
        match denoiser.denoise(raw.noisy(), available_threads()) {
            Ok(pixels) => (of(&pixels), format!("{:.2}", begin.elapsed().as_secs_f64())),
            Err(why) => {
                eprintln!("{why}");
                ("–".to_owned(), "–".to_owned())
            }
        }
    };
    let ((builtin, builtin_seconds), (oidn, oidn_seconds)) = (denoised(Denoiser::Builtin), denoised(Denoiser::Oidn));
    let (raw, more) = (of(&raw.pixels), of(&more.pixels));
    println!(
        "| {name} | {raw} | {builtin} | {oidn} | {more} | {raw_seconds:.2}, {builtin_seconds}, {oidn_seconds}, {more_seconds:.2} |"
    );
    Ok(())
}

fn error(pixels: &[Vec3], truth: &[Vec3]) -> f64 {
    let one = |(a, b): (&Vec3, &Vec3)| {
        let mean = b.element_sum() / 3.0;
        f64::from((*a - *b).length_squared() / 3.0 / (mean * mean + 0.01))
    };
    pixels.iter().zip(truth).map(one).sum::<f64>() / truth.len() as f64
}

/// With the layers that guide denoisers, and the seconds that it took.
fn picture(scene: &mut Scene, size: (u32, u32), samples: u32, seed: u32) -> Result<(Picture, f64), String> {
    let options = RenderOptions {
        size: Some(size),
        samples: Some(samples),
        seed: Some(seed),
        aovs: Some(GUIDES.to_vec()),
        ..RenderOptions::default()
    };
    let rendered = render(scene, &options, &AtomicBool::new(false), &|_| ()).map_err(|e| e.to_string())?;
    Ok((rendered.picture, rendered.statistics.seconds))
}

fn load(name: &str) -> Result<Scene, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes").join(format!("{name}.toml"));
    let options = LoadOptions::from(Making::from(BackendKind::default()));
    let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
    let said = || ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    match loaded.scene {
        Some(scene) => Ok(scene),
        None => Err(said()),
    }
}
