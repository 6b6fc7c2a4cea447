//! Prints what a forest costs without cut-outs, with one leaf card, and with cards on all of its trees, by turns in one process:
//! the table of docs/src/performance.md. What only a few rays meet should cost only those.
//!
//! `leaf_card [--samples N] [--rounds N]`

use renderer::material::Making;
use renderer::render::{RenderOptions, Statistics, render};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_benches::process::{self, processor_milliseconds};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

const SIZE: (u32, u32) = (240, 135);

/// A leaf in a square: what is not leaf lets all light pass.
const CARD: &str = r#"
[materials.card]
source = '''
shader card(out closure c)
{
    const float3 at = 2.0 * global_value<uvw> - float3(1.0);
    const float leaf = step(abs(at.x), 0.7 * (1.0 - at.y * at.y));
    c = leaf * make_closure<Lambert>(color(0.12, 0.3, 0.06), global_value<normal>)
        + (1.0 - leaf) * make_closure<Transparent>(color(1.0));
}
'''
"#;

/// One, in front of the forest.
const ONE: &str = r#"
[[shapes]]
type = "rectangle"
material = "card"
rotate = [90, 0, 0]
scale = [0.5, 1, 0.5]
translate = [1.2, 3.0, 11.0]
"#;

/// So many round the crown of each tree.
const OF_A_TREE: usize = 6;

fn main() -> ExitCode {
    process::in_folder("leaf-card", table)
}

fn table(folder: &Path) -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u32| match words.iter().position(|w| w == name) {
        Some(at) => words.get(at + 1).and_then(|w| w.parse().ok()).ok_or(format!("{name} is a number")),
        None => Ok(default),
    };
    let (samples, rounds) = (number("--samples", 8)?, number("--rounds", 5)?);
    let mut scenes = Vec::new();
    for (name, more) in [
        ("no card", String::new()),
        ("one card", format!("{CARD}{ONE}")),
        ("cards on all trees", format!("{CARD}{}", of_trees())),
    ] {
        scenes.push((name, load(folder, &more)?));
    }
    let mut least = vec![(f64::INFINITY, Statistics::default()); scenes.len()];
    for _ in 0..rounds {
        for ((_, scene), least) in scenes.iter_mut().zip(&mut least) {
            let found = run(scene, samples)?;
            if found.0 < least.0 {
                *least = found;
            }
        }
    }
    println!("{}×{} pixels, {samples} samples each, one thread, the least of {rounds} rounds", SIZE.0, SIZE.1);
    println!("| forest with | processor s | to no card | shadow rays a sample | opacity: blocks, active lanes |");
    println!("| --- | --- | --- | --- | --- |");
    for ((name, _), (seconds, statistics)) in scenes.iter().zip(&least) {
        let rays = statistics.shadow_rays as f64 / statistics.samples as f64;
        let opacity = statistics.lanes.iter().find(|l| l.kind == "opacity").ok_or("no such blocks")?;
        let ratio = seconds / least[0].0;
        println!("| {name} | {seconds:.2} | {ratio:.3} | {rays:.2} | {}, {:.1} |", opacity.blocks, opacity.mean);
    }
    Ok(())
}

fn of_trees() -> String {
    let card = |i: usize| {
        let angle = 360 * i / OF_A_TREE;
        let (sin, cos) = (angle as f32).to_radians().sin_cos();
        let (x, z) = (0.55 * sin, 0.55 * cos);
        format!(
            "[[groups.tree.shapes]]\ntype = \"rectangle\"\nmaterial = \"card\"\nrotate = [70, {angle}, 0]\n\
             scale = [0.4, 1, 0.4]\ntranslate = [{x:.3}, 1.4, {z:.3}]\n"
        )
    };
    (0..OF_A_TREE).map(card).collect()
}

/// The forest that ships, with more behind it.
fn load(folder: &Path, more: &str) -> Result<Scene, String> {
    let forest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/forest.toml");
    let text = std::fs::read_to_string(&forest).map_err(|e| format!("{}: {e}", forest.display()))?;
    let bark = forest.with_file_name("materials/matte.ssl").display().to_string();
    let text = text.replace("\"materials/matte.ssl\"", &format!("{bark:?}"));
    let path = folder.join("forest.toml");
    std::fs::write(&path, format!("{text}{more}")).map_err(|e| e.to_string())?;
    let options = LoadOptions::from(Making::from(BackendKind::default()));
    let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
    let said = || ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    match loaded.scene {
        Some(scene) => Ok(scene),
        None => Err(said()),
    }
}

/// Seconds of the processor, and what they went into.
fn run(scene: &mut Scene, samples: u32) -> Result<(f64, Statistics), String> {
    let options =
        RenderOptions { size: Some(SIZE), samples: Some(samples), threads: Some(1), ..RenderOptions::default() };
    let before = processor_milliseconds();
    let rendered = render(scene, &options, &AtomicBool::new(false), &|_| ()).map_err(|e| e.to_string())?;
    let spent = before.zip(processor_milliseconds()).map(|(before, after)| (after - before) * 1e-3);
    Ok((spent.unwrap_or(rendered.statistics.seconds), rendered.statistics))
}
