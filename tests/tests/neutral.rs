//! Neutral scenes against what another renderer converged to.

use renderer::accel::Structure;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions};
use ssl_compiler::modules::SearchPath;
use ssl_tests::images::{Bounds, Image, compare};
use ssl_tests::neutral::{self, Picture};
use ssl_tests::skip;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Pixels of a side: half of the references'.
const SIDE: u32 = 128;
const PASSES: u32 = 16;

/// The one beside the scenes, or one of the project's own.
fn reference(name: &str) -> Option<Image> {
    let beside = neutral::beside().join(format!("reference/{name}_mitsuba_256_2048spp.exr"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("neutral/{name}_mitsuba_128.exr"));
    let image = image::open(&beside).or_else(|_| image::open(&own)).ok()?.into_rgb32f();
    let side = image.width() as usize;
    let pixels = image.pixels().map(|p| p.0).collect();
    Some(Image { side, pixels }.shrunk(side / SIDE as usize))
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.json", std::process::id()));
    std::fs::write(&path, text).expect("the folder for temporary files can be written");
    path
}

fn agrees(name: &str, samples: u32, structure: Structure) {
    let (Some(reference), folder) = (reference(name), neutral::folder(name)) else {
        return skip(format_args!("the reference of {name} is not there"));
    };
    let folder = match folder {
        Ok(folder) => folder,
        Err(why) => return skip(why),
    };
    let picture = Picture { side: SIDE, samples, roulette: true };
    let json = neutral::convert(&folder, picture).expect("the scene is of kinds that are known");
    let path = written(name, &json.to_string());
    let options = LoadOptions { structure, ..LoadOptions::default() };
    let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
    let mut scene = loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let mut pass = |seed| {
        let options = RenderOptions { seed: Some(seed), ..RenderOptions::default() };
        let rendered = render(&mut scene, &options, &AtomicBool::new(false), &|_| ()).expect("there is memory");
        assert!(!rendered.incomplete);
        let pixels = rendered.picture.pixels.iter().map(|p| p.to_array()).collect();
        Image { side: SIDE as usize, pixels }
    };
    let passes: Vec<Image> = (0..PASSES).map(&mut pass).collect();
    let map = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-off.png"));
    let bounds = Bounds { mean: 0.005, tile: 0.02, side: 16 };
    compare(&passes, &reference, &bounds, &map).unwrap_or_else(|why| panic!("{name}: {why}"));
    std::fs::remove_file(path).expect("it was written");
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn a_box_with_metal_and_glass_is_as_others_render_it() {
    agrees("s1", 2, Structure::default());
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn a_hall_of_textures_is_as_others_render_it() {
    agrees("s2", 1, Structure::default());
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn a_rock_of_principled_materials_is_as_others_render_it() {
    // A single sample is that of a pixel's middle, and the sun's glints on the rock are smaller than pixels.
    agrees("s3", 2, Structure::default());
}
