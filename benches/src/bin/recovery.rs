//! Prints how near a fit came to what its targets were made with: the errors that docs/src/inverse.md names.
//!
//! `cargo run --release -p ssl-benches --bin recovery -- FOUND TRUE [PATTERN]`
//!
//! FOUND and TRUE are two pictures of one size, such as a texture that was fitted and the one that it should be, or renders of
//! two scenes; their numbers are compared in linear light, without alpha. With a PATTERN of parameters they are two scenes.

use formats::picture::{self, Floats};
use renderer::inverse::{choose, list, values};
use renderer::material::Making;
use renderer::scene::{self, LoadOptions};
use ssl_benches::process;
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    process::ended(run(&std::env::args().skip(1).collect::<Vec<_>>()))
}

fn run(words: &[String]) -> Result<(), String> {
    let (found, wanted) = match words {
        [found, wanted] => (picture(found)?, picture(wanted)?),
        [found, wanted, pattern] => (parameters(found, pattern)?, parameters(wanted, pattern)?),
        _ => return Err("write FOUND TRUE, or FOUND TRUE PATTERN".to_owned()),
    };
    if found.len() != wanted.len() || found.is_empty() {
        return Err(format!("{} numbers cannot be compared with {}", found.len(), wanted.len()));
    }
    let mut errors: Vec<f64> = found.iter().zip(&wanted).map(|(a, b)| f64::from((a - b).abs())).collect();
    errors.sort_by(f64::total_cmp);
    let mean = |of: &dyn Fn(f64) -> f64| errors.iter().map(|e| of(*e)).sum::<f64>() / errors.len() as f64;
    let within = |most: f64| 100 * errors.partition_point(|e| *e <= most) / errors.len();
    println!(
        "{} numbers: mean absolute error {:.4}, median {:.4}, within 0.01 {} %, within 0.02 {} %, PSNR {:.1} dB",
        errors.len(),
        mean(&|e| e),
        errors[errors.len() / 2],
        within(0.01),
        within(0.02),
        -10.0 * mean(&|e| e * e).log10(),
    );
    Ok(())
}

/// The numbers of a picture, in linear light.
fn picture(name: &str) -> Result<Vec<f32>, String> {
    let read = picture::open(Path::new(name), false).and_then(|rows| Floats::read(rows, false));
    let pixels = read.map_err(|e| format!("{name}: {e}"))?.pixels;
    Ok(pixels.into_iter().flat_map(|[r, g, b, _]| [r, g, b]).collect())
}

/// The floats of parameters of a scene.
fn parameters(name: &str, pattern: &str) -> Result<Vec<f32>, String> {
    let making = Making::from(BackendKind::Cranelift);
    let loaded = scene::load(Path::new(name), LoadOptions::from(making), &SearchPath::on_disk(Vec::new()));
    let Some(scene) = loaded.scene else { return Err(text(&loaded.diagnostics, &loaded.sources, false)) };
    let chosen = choose(&list(&scene), pattern).map_err(|hint| format!("{name} has no `{pattern}`: {hint}"))?;
    Ok(values(&scene, &chosen).concat())
}
