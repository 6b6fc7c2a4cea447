//! The materials on models that others made, where these are there. In a room that shines evenly with radiance 1, a surface that
//! keeps energy is nowhere brighter than 1.

use super::{MATERIALS, layer, load, picture, table};
use std::path::{Path, PathBuf};

/// All models of the folders, in the order of their names.
fn models() -> Vec<PathBuf> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/assets");
    let mut found = Vec::new();
    for folder in ["models", "materialx/Geometry"].map(|name| assets.join(name)) {
        match std::fs::read_dir(&folder) {
            Ok(entries) => found.extend(entries.flatten().map(|e| e.path())),
            Err(_) => ssl_tests::skip(format_args!("{} is not there", folder.display())),
        }
    }
    found.retain(|path| kind(path).is_some());
    found.sort();
    found
}

fn kind(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "obj" => Some("obj"),
        "glb" => Some("gltf"),
        _ => None,
    }
}

fn shape(model: &Path, material: &str, more: &str) -> String {
    let kind = kind(model).expect("`models` keeps no others");
    format!("[[shapes]]\ntype = \"{kind}\"\nfile = '{}'\nmaterial = \"{material}\"\n{more}\n", model.display())
}

const ROOM: &str =
    "[film]\nwidth = 48\nheight = 48\n[integrator]\nmax_depth = 12\n[environment]\ntype = \"constant\"\n";

/// A camera that sees the model whole, a little from above.
fn camera(model: &Path) -> String {
    let text = format!(
        "[camera]\nposition = [0, 0, 1]\nlook_at = [0, 0, 0]\n{ROOM}{}{}",
        table("matte"),
        shape(model, "matte", "")
    );
    let loaded = load(&text);
    let (low, high) = loaded.scene.and_then(|s| s.geometry.bounds()).expect("models have triangles");
    let (middle, size) = (0.5 * (low + high), (high - low).length());
    let eye = middle + size * glam::Vec3::new(0.5, 0.6, 1.2);
    format!("[camera]\nposition = {:?}\nlook_at = {:?}\nfov = 42\n", eye.to_array(), middle.to_array())
}

#[test]
fn materials_keep_energy_on_models_that_others_made() {
    for (i, model) in models().iter().enumerate() {
        let camera = camera(model);
        // Each material comes up on two or three models.
        for name in (0..3).map(|k| MATERIALS[(3 * i + k) % MATERIALS.len()]) {
            let mut scene = load(&format!("{camera}{ROOM}{}{}", table(name), shape(model, name, "")));
            let picture = picture(&mut scene, 4, &["object_id"]);
            let ids = &layer(&picture, "object_id").values;
            let hit = ids.iter().zip(&picture.pixels).filter(|(id, _)| **id >= 0.0);
            let values: Vec<f32> = hit.flat_map(|(_, pixel)| pixel.to_array()).collect();
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let brightest = values.iter().fold(0.0, |a: f32, b| a.max(*b));
            let said = format!("{name} on {}: mean {mean}, at most {brightest}", model.display());
            assert!(values.len() > 600 && values.iter().all(|x| x.is_finite() && *x >= 0.0), "{said}");
            assert!((0.03..1.005).contains(&mean) && brightest < 4.0, "{said}");
        }
    }
}
