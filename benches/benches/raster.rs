//! What a step of fitting by the rasteriser costs: silhouettes with their gradient by faces, pixels and layers, the shipped jobs
//! with and without packing and cache, and a texture by both of its gradients.
//!
//! `cargo bench -p ssl-benches --bench raster --features llvm -- [--threads N] [--large]`
//!
//! A number is the median of the steps of a job, with the optimiser. `--large` adds the meshes and pictures that take long.

use kernels::jobs::{self, Fit, FitError, Options, Watch};
use ssl_benches::process;
use ssl_compiler::diagnostics::render;
use ssl_compiler::{BackendKind, OptLevel, Target};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Steps that are not counted: buffers get their memory.
const FIRST: usize = 3;
const STEPS: usize = 25;

struct Case {
    /// Quads round the tube of a torus; there are twice as many along it.
    quads: usize,
    /// Pixels of a side, and views below each other.
    side: usize,
    views: usize,
    layers: usize,
    /// In pixels.
    radius: f64,
}

fn main() -> ExitCode {
    process::in_folder("raster", |folder| {
        let (mut threads, mut large) = (2, false);
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => {}
                "--large" => large = true,
                "--threads" => {
                    let value = words.next().and_then(|value| value.parse().ok());
                    threads = value.filter(|n| (1..=64).contains(n)).ok_or("--threads wants a number from 1 to 64")?;
                }
                _ => return Err(format!("{word} is no option")),
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(16 << 20).build();
        let backend = BackendKind::ALL.last().copied().unwrap_or(BackendKind::Interpreter);
        println!("{}, {threads} threads, ms a step\n", backend.name());
        pool.map_err(|e| e.to_string())?.install(|| {
            silhouettes(folder, large)?;
            shipped(folder)?;
            textures()
        })
    })
}

fn silhouettes(folder: &Path, large: bool) -> Result<(), String> {
    println!("| faces | picture | views | layers | radius | ms |\n| --- | --- | --- | --- | --- | --- |");
    let case = |quads, side, views, layers, radius| Case { quads, side, views, layers, radius };
    let mut all = vec![
        case(18, 128, 1, 1, 1.0),
        // As a blur of 0.01 of PyTorch3D reaches: the square of a tenth of half the picture.
        case(18, 128, 1, 5, 6.4),
        case(36, 256, 1, 5, 12.8),
        case(18, 128, 8, 3, 2.0),
    ];
    if large {
        let meshes = [16, 50, 158, 500];
        all.extend(meshes.into_iter().flat_map(|quads| [128, 512, 2048].map(|side| case(quads, side, 1, 3, 2.0))));
    }
    for case in all {
        let mut fit = load(&case.job(folder)?, &[])?;
        let Case { quads, side, views, layers, radius } = case;
        let faces = 4 * quads * quads;
        println!("| {faces} | {side}² | {views} | {layers} | {radius} | {:.2} |", step(&mut fit)?);
    }
    Ok(())
}

/// The shipped jobs with six views of 256² pixels: as they are, without packing, without the cache, and without both.
fn shipped(folder: &Path) -> Result<(), String> {
    println!("\n| job | as shipped | without packing | without cache | without both | times |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/raster");
    let text = std::fs::read_to_string(scenes.join("environment.toml")).map_err(|e| e.to_string())?;
    let material = folder.join("material.toml");
    std::fs::write(&material, of_material(&text, &scenes)?).map_err(|e| e.to_string())?;
    let paths = ["shape", "texture", "environment"].map(|name| scenes.join(name).with_extension("toml"));
    for path in paths.iter().chain([&material]) {
        // The target of `environment` is drawn by the job.
        let sizes = ["width=256", "height=256", "rows=1536"];
        let settings = [&["steps=25", "loss.every=1000", "write.0.every=1000"][..], &sizes[..]].concat();
        let mut ms = [0.0; 4];
        for (way, ms) in ms.iter_mut().enumerate() {
            let mut fit = load(path, &settings)?;
            fit.set_packed(way & 1 == 0);
            fit.set_cached(way & 2 == 0);
            *ms = step(&mut fit)?;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let [whole, single, anew, plain] = ms;
        println!("| {name} | {whole:.1} | {single:.1} | {anew:.1} | {plain:.1} | {:.2} |", plain / whole);
    }
    Ok(())
}

/// A texture that six views of 256² pixels see, by the transposed look-up and by the inverse UV texture: a step, the PSNR to which
/// all steps come, and the cosine between the first gradients.
fn textures() -> Result<(), String> {
    println!("\n| texture | transposed | inverse UV | times | cosine | PSNR transposed | PSNR inverse UV |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/raster");
    for side in [64, 128, 256, 512] {
        let size = format!("buffers.texture.size=[{side}, {side}]");
        let settings = [&size, "steps=50", "loss.every=1000", "write.0.every=1000"];
        let (mut ms, mut psnr, mut gradients) = ([0.0; 2], [0.0; 2], [Vec::new(), Vec::new()]);
        for (way, name) in ["texture.toml", "inverse-uv.toml"].into_iter().enumerate() {
            let mut fit = load(&scenes.join(name), &settings)?;
            let gradient = fit.gradient("texture", &AtomicBool::new(false)).map_err(|e| format!("{e:?}"))?;
            let words = gradient.ok_or("the shipped job has changed")?.words();
            gradients[way] = words.iter().map(|word| f64::from(f32::from_bits(*word))).collect();
            ms[way] = step(&mut fit)?;
            psnr[way] = fit.history().last().and_then(|point| point.psnr).unwrap_or(f64::NAN);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let [a, b] = &gradients;
        let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        let ([transposed, inverse], [first, second]) = (ms, psnr);
        let times = transposed / inverse;
        println!("| {side}² | {transposed:.1} | {inverse:.1} | {times:.2} | {cosine:.3} | {first:.1} | {second:.1} |");
    }
    Ok(())
}

/// The job that finds an environment and a material, in an environment that is known: nothing but the material is fitted.
fn of_material(text: &str, scenes: &Path) -> Result<String, String> {
    let (first, last) = text.find("[[fit]]").zip(text.rfind("[[fit]]")).ok_or("the shipped job has changed")?;
    let files = ["environment.ssl", "pear.obj"];
    let text = [&text[..first], &text[last..]].concat();
    Ok(files.iter().fold(text, |text, file| {
        text.replace(&format!("file = \"{file}\""), &format!("file = {:?}", scenes.join(file)))
    }))
}

fn load(path: &Path, settings: &[&str]) -> Result<Fit, String> {
    let settings: Result<Vec<_>, _> = settings.iter().map(|text| text.parse()).collect();
    let backend = BackendKind::ALL.last().copied().unwrap_or(BackendKind::Interpreter);
    let target = Target { backend, opt: OptLevel::O3, ..Target::default() };
    let options = Options { settings: settings.map_err(|_| "a setting is NAME=VALUE")?, target, ..Options::default() };
    let loaded = jobs::load(path, &options);
    let job = loaded.job.ok_or_else(|| render::text(&loaded.diagnostics, &loaded.sources, false))?;
    job.build(None).map_err(|(found, sources)| render::text(&found, &sources, false))
}

struct Steps(Vec<Instant>);

impl Watch for Steps {
    fn stepped(&mut self, _fit: &Fit) -> Result<(), FitError> {
        self.0.push(Instant::now());
        Ok(())
    }

    fn result(&mut self, _name: &str, _bytes: &[u8]) -> Result<(), FitError> {
        Ok(())
    }
}

/// The median of the milliseconds of its steps.
fn step(fit: &mut Fit) -> Result<f64, String> {
    let mut steps = Steps(Vec::new());
    fit.run(&AtomicBool::new(false), &mut steps).map_err(|e| format!("{e:?}"))?;
    let ends = &steps.0[FIRST.min(steps.0.len())..];
    let mut times: Vec<f64> = ends.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().ok_or_else(|| "there are too few steps".to_owned())
}

impl Case {
    /// Writes the job and its mesh.
    fn job(&self, folder: &Path) -> Result<std::path::PathBuf, String> {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display())).map(|()| path)
        };
        write("torus.obj", torus(self.quads, 2 * self.quads))?;
        let Case { side, views, layers, radius, .. } = *self;
        let shape = include_str!("../../scenes/raster/shape.toml");
        // Everything from the launches to the loss is that of the job that ships.
        let launches = shape.find("# Which pieces").and_then(|from| Some(&shape[from..shape.find("[[write]]")?]));
        let launches = launches.ok_or("the shipped job has changed")?;
        let shading = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/raster/raster.ssl");
        let mut cameras = String::new();
        for view in 0..views {
            let around = view as f64 * std::f64::consts::TAU / views as f64;
            let (x, z) = (3.2 * around.sin(), 3.2 * around.cos());
            let _ = write!(cameras, "[{x:?}, 1.5, {z:?}, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 45.0], ");
        }
        let mesh = |name: &str, part: &str| format!("[buffers.{name}]\nfile = \"torus.obj\"\npart = \"{part}\"\n");
        let buffers = [("positions", "positions"), ("rest", "positions"), ("faces", "faces"), ("edges", "edges")];
        let buffers: String = buffers.iter().map(|(name, part)| mesh(name, part)).collect();
        let text = format!(
            "file = {shading:?}
steps = {STEPS}
[values]
width = {side}
height = {side}
views = \"cameras.length\"
rows = {}
layers = {layers}
radius = {radius:?}
sigma = {:?}
delta = {radius:?}
smoothness = 1.0
[buffers.cameras]
values = [{cameras}]
[buffers.ways]
length = \"positions.length\"
[buffers.target]
size = [{side}, {}]
constant = 0.5
{buffers}
{}",
            side * views,
            radius / 7.0,
            side * views,
            launches.replace("[loss]", "[loss]\nevery = 1000").replace("rate = 0.02", "rate = 1e-6"),
        );
        write("job.toml", text)
    }
}

/// A torus of so many quads round its tube and along it.
fn torus(round: usize, along: usize) -> String {
    let mut text = String::new();
    for i in 0..along {
        for j in 0..round {
            let (u, v) = (i as f64 / along as f64, j as f64 / round as f64);
            let (u, v) = (u * std::f64::consts::TAU, v * std::f64::consts::TAU);
            let reach = 0.8 + 0.35 * v.cos();
            let _ = writeln!(text, "v {} {} {}", reach * u.cos(), 0.35 * v.sin(), reach * u.sin());
        }
    }
    let at = |i: usize, j: usize| 1 + i % along * round + j % round;
    for i in 0..along {
        for j in 0..round {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            let _ = writeln!(text, "f {a} {b} {c} {d}");
        }
    }
    text
}
