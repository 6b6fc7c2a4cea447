//! The materials that ship in `scenes/materials` to be used and read: their own tests, that they neither alias at grazing angles
//! nor lose their mean there, and that they keep energy on models that others made.

mod grazing;
mod lobes;
mod models;

use renderer::film::{Layer, Picture};
use renderer::render::{RenderOptions, render};
use renderer::scene::aovs::resolve;
use renderer::scene::{self, Loaded};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub const MATERIALS: [&str; 10] = [
    "bricks",
    "brushed_metal",
    "car_paint",
    "marble",
    "soap_film",
    "terrazzo",
    "velvet",
    "wet_ground",
    "wood",
    "worn_edges",
];

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes")
}

/// The table of a scene that makes a material of one of the files.
pub fn table(name: &str) -> String {
    format!("[materials.{name}]\nfile = '{}'\n", scenes().join(format!("materials/{name}.ssl")).display())
}

/// A scene of which nothing is to be said but that it shows a material at what that is not made for: numbers beyond
/// those that its author means, meshes without coordinates.
pub fn load(scene: &str) -> Loaded {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("renderer-shown-{}-{number}.toml", std::process::id()));
    std::fs::write(&path, scene).expect("the temporary folder can be written");
    let loaded = scene::load(&path, BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    std::fs::remove_file(&path).expect("it was just written");
    let mut diagnostics = loaded.diagnostics.clone();
    diagnostics.list.retain(|d| !["W0451", "S0031", "S0037"].contains(&d.code.id));
    let said = text(&diagnostics, &loaded.sources, false);
    assert!(loaded.scene.is_some() && said.is_empty(), "{said}");
    loaded
}

/// The picture with these layers. NaN and infinities would be said.
pub fn picture(loaded: &mut Loaded, samples: u32, aovs: &[&str]) -> Picture {
    let scene = loaded.scene.as_mut().expect("`load` has seen that it is there");
    let aovs = Some(resolve(aovs, &scene.materials, &scene.light_names).expect("they are there"));
    let options = RenderOptions { samples: Some(samples), aovs, ..RenderOptions::default() };
    let output = render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started");
    let said = text(&output.diagnostics, &loaded.sources, false);
    assert!(said.is_empty(), "{said}");
    output.picture
}

pub fn layer<'a>(picture: &'a Picture, name: &str) -> &'a Layer {
    picture.layers.iter().find(|l| l.aov.name() == name).expect("it was asked for")
}

#[test]
fn their_own_tests_pass() {
    let out = Command::new(env!("CARGO_BIN_EXE_shade"))
        .arg("test")
        .arg(scenes().join("materials"))
        .output()
        .expect("the program was built for this test");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}");
    for name in MATERIALS {
        assert!(said.contains(&format!("{name}.ssl")), "{name} has no tests");
    }
}
