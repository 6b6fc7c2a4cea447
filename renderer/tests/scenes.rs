//! The scenes that ship, and those of the tests, small: each renders without a word, in plausible light.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Renders a scene at a few samples; the picture is not black, not white, and not all of one color.
fn renders(scene: &Path, name: &str) {
    let folder = std::env::temp_dir().join(format!("shade-scenes-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let picture = folder.join("picture.exr");
    let out = Command::new(env!("CARGO_BIN_EXE_shade"))
        .arg("render")
        .arg(scene)
        .args(["--size", "64x48", "--spp", "4", "--progress", "0", "-o"])
        .arg(&picture)
        .output()
        .expect("the program was built for this test");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.is_empty(), "{}: {said}", scene.display());
    let image = image::open(&picture).expect("a whole picture").into_rgb32f();
    std::fs::remove_dir_all(&folder).expect("as above");
    let values: Vec<f32> = image.into_raw();
    assert!(values.iter().all(|x| x.is_finite() && *x >= 0.0));
    let mean = values.iter().sum::<f32>() / values.len() as f32;
    let spread = values.iter().map(|x| (x - mean).abs()).sum::<f32>() / values.len() as f32;
    assert!((0.05..5.0).contains(&mean) && spread > 0.02, "mean {mean}, spread {spread}");
}

#[test]
fn first_light() {
    renders(&root().join("scenes/first-light.toml"), "first-light");
}

#[test]
fn lacquer() {
    renders(&root().join("scenes/lacquer.toml"), "lacquer");
}

#[test]
fn ball() {
    renders(&root().join("scenes/ball.toml"), "ball");
}

#[test]
fn balls() {
    renders(&root().join("scenes/balls.toml"), "balls");
}

#[test]
fn moon() {
    renders(&root().join("scenes/moon.toml"), "moon");
}

#[test]
fn puddles() {
    renders(&root().join("scenes/puddles.toml"), "puddles");
}

#[test]
fn relief() {
    renders(&root().join("scenes/relief.toml"), "relief");
}

#[test]
fn glass() {
    renders(&root().join("scenes/glass.toml"), "glass");
}

#[test]
fn filtering() {
    renders(&root().join("scenes/filtering.toml"), "filtering");
}

#[test]
fn hair() {
    renders(&root().join("scenes/hair.toml"), "hair");
}

#[test]
fn forest() {
    renders(&root().join("scenes/forest.toml"), "forest");
}

#[test]
fn lights() {
    renders(&root().join("scenes/lights.toml"), "lights");
}

#[test]
fn lens() {
    renders(&root().join("scenes/lens.toml"), "lens");
}

#[test]
fn groups() {
    renders(&root().join("tests/render_scenes/groups.toml"), "groups");
}

#[test]
fn a_mesh_that_others_made() {
    let mesh = root().join("../shared/assets/models/spot.obj");
    if !mesh.exists() {
        return ssl_tests::skip(format_args!("{} is not there", mesh.display()));
    }
    renders(&root().join("tests/render_scenes/spot.toml"), "spot");
}
