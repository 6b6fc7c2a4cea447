//! The same picture whatever finds the hits and whatever runs the shaders. Of what runs them: every scene that ships, byte by
//! byte.

use renderer::accel::Structure;
use renderer::material::Making;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions, Scene};
use ssl_compiler::backend::Lanes;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::{BackendKind, Target};
use ssl_tests::images::{Bounds, Image, compare};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const SIDE: u32 = 48;
const PASSES: u32 = 16;

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes")
}

/// A mesh, quads, balls, a texture and lamps.
fn load(structure: Structure) -> Scene {
    load_for(&scenes().join("first-light.toml"), structure, Target::default())
}

fn load_for(path: &Path, structure: Structure, target: Target) -> Scene {
    let options = LoadOptions { making: Making::from(target), structure, ..LoadOptions::default() };
    let loaded = scene::load(path, options, &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.scene.unwrap_or_else(|| panic!("{said}"))
}

fn pass(scene: &mut Scene, size: (u32, u32), samples: u32, seed: u32) -> Vec<[f32; 3]> {
    let options =
        RenderOptions { size: Some(size), samples: Some(samples), seed: Some(seed), ..RenderOptions::default() };
    let rendered = render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
    rendered.picture.pixels.iter().map(|p| p.to_array()).collect()
}

fn square(scene: &mut Scene, samples: u32, seed: u32) -> Image {
    Image { side: SIDE as usize, pixels: pass(scene, (SIDE, SIDE), samples, seed) }
}

/// All back ends of the build, each with one point at a time and with as many as it can.
fn targets() -> Vec<Target> {
    let backend = |&backend| [Lanes::ONE, Lanes::Auto].map(|lanes| Target { backend, lanes, ..Target::default() });
    BackendKind::ALL.iter().flat_map(backend).collect()
}

/// Every target makes the same bytes of a scene that ships.
fn same_bytes(name: &str, size: (u32, u32), samples: u32) {
    let path = scenes().join(name);
    let picture = |target| pass(&mut load_for(&path, Structure::default(), target), size, samples, 5);
    let bits = |pixels: Vec<[f32; 3]>| pixels.into_iter().map(|p| p.map(f32::to_bits)).collect::<Vec<_>>();
    let targets = targets();
    let first = bits(picture(targets[0]));
    assert!(first.iter().any(|p| *p != first[0]), "{name}: an empty picture compares nothing");
    for &target in &targets[1..] {
        let found = bits(picture(target));
        let differs = found.iter().zip(&first).position(|(a, b)| a != b).map(|i| i as u32);
        let place = differs.map(|i| (i % size.0, i / size.0));
        assert_eq!(place, None, "{name}: the pixel that differs between {:?} and {target:?}", targets[0]);
    }
}

macro_rules! shipped {
    ($($name:ident: $file:literal),* $(,)?) => {
        mod same_bytes_small {
            $(#[test] fn $name() { super::same_bytes($file, (12, 8), 1) })*
        }

        /// Minutes without optimisation; `cargo xtask ci` runs them in release.
        mod same_bytes_large {
            $(#[test] #[ignore = "`cargo xtask ci` runs it in release"] fn $name() { super::same_bytes($file, (48, 32), 4) })*
        }

        const SHIPPED: &[&str] = &[$($file),*];
    };
}

shipped! {
    ball: "ball.toml", balls: "balls.toml", filtering: "filtering.toml", first_light: "first-light.toml",
    forest: "forest.toml", glass: "glass.toml", hair: "hair.toml", lacquer: "lacquer.toml", lens: "lens.toml",
    lights: "lights.toml", moon: "moon.toml", puddles: "puddles.toml", relief: "relief.toml",
}

#[test]
fn every_scene_that_ships_is_compared() {
    let entries = std::fs::read_dir(scenes()).expect("the scenes ship").flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|n| n.ends_with(".toml")).collect();
    names.sort();
    assert_eq!(names, SHIPPED);
}

/// Structures round distances differently, and a path that goes another way goes there for good: the pictures are
/// estimates of the same.
#[test]
fn structures_make_the_same_picture() {
    let passes =
        |scene: &mut Scene, first: u32| (first..first + PASSES).map(|s| square(scene, 2, s)).collect::<Vec<_>>();
    let mut default = load(Structure::default());
    let others = passes(&mut default, 100);
    let mean = |i: usize, c: usize| others.iter().map(|p| p.pixels[i][c]).sum::<f32>() / PASSES as f32;
    let pixels = (0..(SIDE * SIDE) as usize).map(|i| [0, 1, 2].map(|c| mean(i, c))).collect();
    let reference = Image { side: SIDE as usize, pixels };
    let bounds = Bounds { mean: 0.01, tile: 0.03, side: 12 };
    for (name, structure) in Structure::NAMED {
        let map = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-off.png"));
        let found = passes(&mut load(*structure), 0);
        compare(&found, &reference, &bounds, &map).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}
