//! Prints what a sample costs and how noisy pictures are under ten to ten thousand lights, sampled by the tree and by
//! power alone: the table of docs/src/performance.md.

use renderer::film::Picture;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions};
use ssl_benches::process;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const SIZE: (u32, u32) = (64, 36);
const COUNTS: [u32; 4] = [10, 100, 1_000, 10_000];
/// Of the reference, and of what is compared with it.
const SAMPLES: (u32, u32) = (8192, 64);
/// For which errors are told: noise falls with the square root of time.
const SECONDS: f64 = 1.0;

fn main() -> ExitCode {
    process::in_folder("many-lights", table)
}

fn table(folder: &Path) -> Result<(), String> {
    println!("| lights | by | µs per sample | relMSE after {SECONDS} s |\n| --- | --- | --- | --- |");
    for count in COUNTS {
        let (reference, _) = picture(folder, count, "tree", SAMPLES.0, 1)?;
        for choice in ["tree", "power"] {
            let (found, time) = picture(folder, count, choice, SAMPLES.1, 2)?;
            let error = relative_error(&found, &reference);
            let sample = time.as_secs_f64() / f64::from(SIZE.0 * SIZE.1 * SAMPLES.1);
            let after = error * time.as_secs_f64() / SECONDS;
            println!("| {count} | {choice} | {:.2} | {after:.5} |", 1e6 * sample);
        }
    }
    Ok(())
}

/// The mean of the squared differences, each over the square of the reference (Rousselle et al. 2011).
fn relative_error(found: &Picture, reference: &Picture) -> f64 {
    let of = |(a, b): (f32, f32)| f64::from((a - b) * (a - b) / (b * b + 0.01));
    let channels = |(a, b): (&glam::Vec3, &glam::Vec3)| (0..3).map(|c| of((a[c], b[c]))).sum::<f64>() / 3.0;
    found.pixels.iter().zip(&reference.pixels).map(channels).sum::<f64>() / found.pixels.len() as f64
}

/// One thread's picture, and how long it took.
fn picture(folder: &Path, count: u32, choice: &str, samples: u32, seed: u32) -> Result<(Picture, Duration), String> {
    let path = folder.join("scene.toml");
    std::fs::write(&path, text(count, choice)).map_err(|e| e.to_string())?;
    let loaded = scene::load(&path, LoadOptions::from(BackendKind::default()), &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    let mut scene = loaded.scene.ok_or(said)?;
    let options = RenderOptions {
        samples: Some(samples),
        size: Some(SIZE),
        seed: Some(seed),
        threads: Some(1),
        ..RenderOptions::default()
    };
    let start = Instant::now();
    let output = render(&mut scene, &options, &AtomicBool::new(false), &|_| ()).map_err(|e| format!("{e:?}"))?;
    Ok((output.picture, start.elapsed()))
}

/// A hall with columns under lamps of all sizes, some of which shine upwards, and as many bulbs. What all send out is the
/// same however many there are.
fn text(count: u32, choice: &str) -> String {
    let mut text = format!(
        r#"
        camera = {{ position = [0, 2.2, 14], look_at = [0, 1.2, 0], fov = 60 }}
        integrator = {{ max_depth = 1, light_choice = "{choice}" }}
        [materials.plaster]
        source = "shader p(out closure c) {{ c = make_closure<Lambert>(color(0.7), global_value<normal>); }}"
        [materials.metal]
        source = "shader m(out closure c) {{ c = make_closure<Glossy>(color(0.8), global_value<normal>, 0.4); }}"
        [[shapes]]
        type = "rectangle"
        material = "plaster"
        scale = [40, 1, 40]
        "#
    );
    let shape = |kind: &str, rest: String| format!("[[shapes]]\ntype = \"{kind}\"\n{rest}\n");
    for i in 0..30 {
        let (x, z) = (f64::from(i % 6) * 4.0 - 10.0, f64::from(i / 6) * 4.0 - 10.0);
        let material = if i % 2 == 0 { "metal" } else { "plaster" };
        text += &shape("sphere", format!("material = \"{material}\"\nradius = 0.8\ntranslate = [{x}, 0.8, {z}]"));
    }
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        f64::from(renderer::sampler::mix(state)) / f64::from(u32::MAX)
    };
    // Tables of one kind stand together.
    let (mut bulbs, of) = (String::new(), 200.0 / f64::from(count));
    for i in 0..count {
        let (x, y, z) = (36.0 * random() - 18.0, 0.5 + 3.0 * random(), 36.0 * random() - 18.0);
        let strength = of * (3.0 * random()).exp() / 6.4;
        if i % 2 == 0 {
            bulbs += &format!(
                "[[lights]]\ntype = \"point\"\nposition = [{x}, {y}, {z}]\nintensity = [{strength}, {strength}, {strength}]\n"
            );
        } else {
            let (side, turn) = (0.05 + 0.2 * random(), 360.0 * random());
            let radiance = strength / (side * side);
            text += &shape(
                "rectangle",
                format!(
                    "material = \"plaster\"\nscale = [{side}, 1, {side}]\nrotate = [{turn}, 0, 0]\ntranslate = [{x}, {y}, {z}]\n\
                     emission = [{radiance}, {radiance}, {radiance}]"
                ),
            );
        }
    }
    text + &bulbs
}
