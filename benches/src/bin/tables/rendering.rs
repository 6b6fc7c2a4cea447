//! How long pictures take to render.

use crate::measure::{label, natives};
use renderer::render::{RenderOptions, render};
use ssl_benches::root;
use ssl_compiler::backend::OptLevel;
use ssl_compiler::modules::LIBRARY_ONLY;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Camera samples a second of the first scene, on one thread and on all.
pub fn first_light() -> Result<(), String> {
    let path = root().join("scenes/first-light.toml");
    println!("| first-light, 320×180, 16 samples | back end | seconds | million samples per second |");
    println!("| --- | --- | --- | --- |");
    for target in natives().into_iter().filter(|t| t.opt == OptLevel::O2) {
        for (name, threads) in [("one thread", Some(1)), ("all threads", None)] {
            let loaded = renderer::scene::load(&path, target, &LIBRARY_ONLY);
            let mut scene = loaded.scene.ok_or_else(|| format!("skipped: {} does not load", path.display()))?;
            let options =
                RenderOptions { samples: Some(16), size: Some((320, 180)), threads, ..RenderOptions::default() };
            let times = (0..3).filter_map(|_| {
                let start = Instant::now();
                render(&mut scene, &options, &AtomicBool::new(false), &|_| {}).ok()?;
                Some(start.elapsed().as_secs_f64())
            });
            let best = times.fold(f64::MAX, f64::min);
            println!("| {name} | {} | {best:.2} | {:.3} |", label(target), 320.0 * 180.0 * 16.0 / best / 1e6);
        }
    }
    Ok(())
}
