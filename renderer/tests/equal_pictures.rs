//! The same picture whatever finds the hits and whatever runs the shaders: a shipped scene with a mesh, quads, balls, a
//! texture and lamps.

use renderer::accel::Structure;
use renderer::material::Making;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::{BackendKind, Target};
use ssl_tests::images::{Bounds, Image, compare};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SIDE: u32 = 48;
const PASSES: u32 = 16;

fn load(structure: Structure, backend: BackendKind) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/first-light.toml");
    let making = Making::from(Target::from(backend));
    let options = LoadOptions { making, structure, ..LoadOptions::default() };
    let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.scene.unwrap_or_else(|| panic!("{said}"))
}

fn pass(scene: &mut Scene, side: u32, samples: u32, seed: u32) -> Image {
    let (size, samples, seed) = (Some((side, side)), Some(samples), Some(seed));
    let options = RenderOptions { size, samples, seed, ..RenderOptions::default() };
    let rendered = render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
    Image { side: side as usize, pixels: rendered.picture.pixels.iter().map(|p| p.to_array()).collect() }
}

/// Back ends compute the same bits.
#[test]
fn back_ends_make_the_same_bytes() {
    let pictures = BackendKind::ALL.iter().map(|b| pass(&mut load(Structure::default(), *b), 16, 1, 5).pixels);
    let pictures: Vec<_> = pictures.collect();
    assert!(pictures.len() > 1 && pictures.iter().all(|p| *p == pictures[0]));
}

/// Structures round distances differently, and a path that goes another way goes there for good: the pictures are
/// estimates of the same.
#[test]
fn structures_make_the_same_picture() {
    let passes =
        |scene: &mut Scene, first: u32| (first..first + PASSES).map(|s| pass(scene, SIDE, 2, s)).collect::<Vec<_>>();
    let mut default = load(Structure::default(), BackendKind::default());
    let others = passes(&mut default, 100);
    let mean = |i: usize, c: usize| others.iter().map(|p| p.pixels[i][c]).sum::<f32>() / PASSES as f32;
    let pixels = (0..(SIDE * SIDE) as usize).map(|i| [0, 1, 2].map(|c| mean(i, c))).collect();
    let reference = Image { side: SIDE as usize, pixels };
    let bounds = Bounds { mean: 0.01, tile: 0.03, side: 12 };
    for (name, structure) in Structure::NAMED {
        let map = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-off.png"));
        let found = passes(&mut load(*structure, BackendKind::default()), 0);
        compare(&found, &reference, &bounds, &map).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}
