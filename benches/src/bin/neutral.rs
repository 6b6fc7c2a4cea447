//! Prints what the neutral scenes cost to render, whole and in parts: see `ssl_tests::neutral` for where they come from.
//!
//! `neutral [SCENE…] [--side N] [--samples N] [--stages | --lanes | --lobes]`; without names, the scenes are s1, s2, s3d and s3.
//! Russian roulette is off, as in the figures of other renderers. `--stages` shows where one thread spends its time, and
//! `--lanes` how full blocks of shaders are. `--lobes` renders by turns with the lobes that are written in SSL, as scenes do from which
//! gradients are asked, and with those in Rust of the same names. A scene may also be a file of ours, of which a square
//! picture is rendered.

use renderer::accel::Structure;
use renderer::bsdf::oracles;
use renderer::integrator::clock::Stage;
use renderer::integrator::occupancy::Kind;
use renderer::render::{MeanLanes, RenderOptions, Statistics, render};
use renderer::scene::{self, LoadOptions, Scene, TextureSetup};
use renderer::texture::cache::CacheOptions;
use ssl_benches::process::{self, peak_megabytes, processor_milliseconds};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use ssl_tests::neutral::{self, Picture};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What textures may take, in MB.
const TEXTURE_MEMORY: usize = 256;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.first().map(String::as_str) {
        // One row, in a process of its own: the peak of its memory is that of the row alone.
        Some("--row") => row(&words[1..]),
        _ => table(words),
    };
    process::ended(result)
}

fn table(mut words: Vec<String>) -> Result<(), String> {
    let mut number = |name: &str, default: u32| match words.iter().position(|w| w == name) {
        Some(at) => {
            words.remove(at);
            let value = if at < words.len() { words.remove(at) } else { String::new() };
            value.parse().map_err(|_| format!("{name} is a number"))
        }
        None => Ok(default),
    };
    let (side, samples) = (number("--side", 512)?, number("--samples", 16)?);
    let mut given = |name: &str| words.iter().position(|w| w == name).map(|at| words.remove(at)).is_some();
    let (by_stages, by_lanes, by_lobes) = (given("--stages"), given("--lanes"), given("--lobes"));
    let scenes = if words.is_empty() { ["s1", "s2", "s3d", "s3"].map(String::from).to_vec() } else { words };
    if by_stages {
        return stages(&scenes, side, samples);
    }
    if by_lanes {
        return lanes(&scenes, side, samples);
    }
    if by_lobes {
        return lobes(&scenes, side, samples);
    }
    println!("{side}×{side} pixels, {samples} samples each, {TEXTURE_MEMORY} MB for textures");
    println!(
        "| scene | rays | back end | threads | ready s | first picture s | M samples per processor second | M rays a \
         processor second | peak MB |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    for scene in &scenes {
        for (structure, _) in Structure::NAMED {
            for backend in BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter) {
                for threads in ["1", "2"] {
                    let [side, samples] = [side, samples].map(|n| n.to_string());
                    let row = ["--row", scene, structure, backend.name(), threads, &side, &samples];
                    Command::new(&program).args(row).status().map_err(|e| e.to_string())?;
                }
            }
        }
    }
    Ok(())
}

/// Shares of the time of one thread in percent, with Cranelift, once with each structure.
fn stages(scenes: &[String], side: u32, samples: u32) -> Result<(), String> {
    let names = Stage::ALL.map(|(_, name)| name);
    println!("{side}×{side} pixels, {samples} samples each, percent of one thread's time");
    println!("| scene | rays | {} |\n| --- | --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    for name in scenes {
        for (structure, _) in Structure::NAMED {
            let mut scene = converted(name, structure, &options(BackendKind::default().name())?, 1, (side, samples))?;
            // Once before, so that tiles are there.
            run(&mut scene, 1, 1, false)?;
            let statistics = run(&mut scene, 1, samples, true)?;
            let total: f64 = statistics.stages.iter().map(|s| s.seconds).sum();
            let shares = statistics.stages.iter().map(|s| format!("{:.0}", 100.0 * s.seconds / total));
            println!("| {name} | {structure} | {} |", shares.collect::<Vec<_>>().join(" | "));
        }
    }
    Ok(())
}

/// Active lanes per block, of each kind of block.
fn lanes(scenes: &[String], side: u32, samples: u32) -> Result<(), String> {
    let names = Kind::ALL.map(|(_, name)| name);
    println!("{side}×{side} pixels, {samples} samples each: blocks, and the mean of active lanes of 16");
    println!("| scene | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()));
    for name in scenes {
        let mut scene =
            converted(name, Structure::NAMED[0].0, &options(BackendKind::default().name())?, 2, (side, samples))?;
        let cell =
            |l: &MeanLanes| if l.blocks == 0 { "–".to_owned() } else { format!("{} × {:.1}", l.blocks, l.mean) };
        let cells: Vec<String> = run(&mut scene, 2, samples, false)?.lanes.iter().map(cell).collect();
        let name = Path::new(name).file_stem().map_or(name.as_str().into(), |stem| stem.to_string_lossy());
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Processor time of one thread with lobes in SSL over that with lobes in Rust: the least of several renders of each.
fn lobes(scenes: &[String], side: u32, samples: u32) -> Result<(), String> {
    const ROUNDS: usize = 5;
    println!("{side}×{side} pixels, {samples} samples each, one thread: processor seconds");
    println!("| scene | back end | lobes in Rust | in SSL | SSL / Rust |\n| --- | --- | --- | --- | --- |");
    for name in scenes {
        for backend in BackendKind::ALL.iter().filter(|b| **b != BackendKind::Interpreter) {
            let structure = Structure::NAMED[0].0;
            let of = |in_ssl: bool| {
                let mut options = options(backend.name())?;
                options.closures = if in_ssl { Vec::new() } else { oracles() };
                converted(name, structure, &options, 1, (side, samples))
            };
            let mut both = [of(false)?, of(true)?];
            let mut least = [f64::INFINITY; 2];
            for _ in 0..ROUNDS {
                for (scene, least) in both.iter_mut().zip(&mut least) {
                    let before = processor_milliseconds().ok_or("no clock tells processor time here")?;
                    run(scene, 1, samples, false)?;
                    let after = processor_milliseconds().ok_or("as before")?;
                    *least = least.min((after - before) * 1e-3);
                }
            }
            let ([rust, ssl], backend) = (least, backend.name());
            println!("| {name} | {backend} | {rust:.3} | {ssl:.3} | {:.3} |", ssl / rust);
        }
    }
    Ok(())
}

fn row(words: &[String]) -> Result<(), String> {
    let [name, structure, backend, threads, side, samples] = words else { return Err("no row".to_owned()) };
    let number = |word: &String| word.parse::<u32>().map_err(|e| e.to_string());
    let (threads, side, samples) = (number(threads)? as usize, number(side)?, number(samples)?);
    let begin = Instant::now();
    let mut scene = converted(name, structure, &options(backend)?, threads, (side, samples))?;
    let ready = begin.elapsed().as_secs_f64();
    run(&mut scene, threads, 1, false)?;
    let first = begin.elapsed().as_secs_f64();
    let before = processor_milliseconds();
    let statistics = run(&mut scene, threads, samples, false)?;
    let spent = before.zip(processor_milliseconds()).map(|(before, after)| (after - before) * 1e-3);
    let seconds = spent.unwrap_or(statistics.seconds * threads as f64);
    let rays = (statistics.rays + statistics.shadow_rays) as f64;
    println!(
        "| {name} | {structure} | {backend} | {threads} | {ready:.2} | {first:.2} | {:.3} | {:.2} | {} |",
        statistics.samples as f64 / seconds * 1e-6,
        rays / seconds * 1e-6,
        peak_megabytes().map_or("unknown".to_owned(), |mb| mb.to_string()),
    );
    Ok(())
}

/// A scene in our form, loaded.
fn converted(
    name: &str,
    structure: &str,
    options: &LoadOptions,
    threads: usize,
    (side, samples): (u32, u32),
) -> Result<Scene, String> {
    if name.ends_with(".toml") {
        let mut scene = load(Path::new(name), structure, options, threads)?;
        (scene.film.width, scene.film.height) = (side, side);
        return Ok(scene);
    }
    let folder = neutral::folder(name)?;
    let json = neutral::convert(&folder, Picture { side, samples, roulette: false })?;
    let file = std::env::temp_dir().join(format!("ssl-neutral-{}.json", std::process::id()));
    std::fs::write(&file, json.to_string()).map_err(|e| e.to_string())?;
    let loaded = load(&file, structure, options, threads);
    let _ = std::fs::remove_file(&file);
    loaded
}

/// How a scene is loaded, by the name of the back end.
fn options(backend: &str) -> Result<LoadOptions, String> {
    let backend = *BackendKind::ALL.iter().find(|b| b.name() == backend).ok_or("no such back end")?;
    Ok(backend.into())
}

fn load(file: &Path, structure: &str, options: &LoadOptions, threads: usize) -> Result<Scene, String> {
    let named = Structure::NAMED.iter().find(|(name, _)| *name == structure);
    let &(_, structure) = named.ok_or("no such structure")?;
    let cache = CacheOptions { bytes: TEXTURE_MEMORY << 20, threads, ..CacheOptions::default() };
    let textures = TextureSetup { cache, ..TextureSetup::default() };
    let loaded =
        scene::load(file, LoadOptions { textures, structure, ..options.clone() }, &SearchPath::on_disk(Vec::new()));
    let said = || ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    match loaded.scene {
        Some(scene) => Ok(scene),
        None => Err(said()),
    }
}

fn run(scene: &mut Scene, threads: usize, samples: u32, timed: bool) -> Result<Statistics, String> {
    let options = RenderOptions { samples: Some(samples), threads: Some(threads), timed, ..RenderOptions::default() };
    let rendered = render(scene, &options, &AtomicBool::new(false), &|_| ()).map_err(|e| e.to_string())?;
    Ok(rendered.statistics)
}
