//! Which materials of a glTF file bound a solid: those with a thickness by `KHR_materials_volume`. All others are sheets.
//!
//! The document that meshes are read from has no place for this extension. So the JSON is read once more, and only of files that
//! use it.

use crate::geometry::gltf::document::Document;
use serde::Deserialize;
use ssl_compiler::input;
use std::io::{Read, Result};
use std::path::Path;

pub const NAME: &str = "KHR_materials_volume";

/// Of a GLB file, the header and that of its first chunk, which is JSON.
const HEADER: usize = 20;

/// Those of a file that was read as `document`, by their numbers.
pub fn solids(path: &Path, document: &Document) -> Vec<bool> {
    if !document.extensions_used.iter().any(|name| name == NAME) {
        return vec![false; document.materials.len()];
    }
    // Should the file have become another one meanwhile, nothing in it is a solid.
    let volumes = json(path).ok().and_then(|json| serde_json::from_slice::<Volumes>(&json).ok()).unwrap_or_default();
    let thick = |number: usize| volumes.materials.get(number).is_some_and(Material::is_thick);
    (0..document.materials.len()).map(thick).collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Volumes {
    materials: Vec<Material>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Material {
    extensions: Extensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "KHR_materials_volume")]
    volume: Volume,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Volume {
    thickness_factor: f32,
}

impl Material {
    fn is_thick(&self) -> bool {
        self.extensions.volume.thickness_factor > 0.0
    }
}

/// The JSON of either form of file.
fn json(path: &Path) -> Result<Vec<u8>> {
    let (mut file, _) = input::open(path, u64::MAX)?;
    let mut bytes = Vec::new();
    (&mut file).take(HEADER as u64).read_to_end(&mut bytes)?;
    let length = match *bytes.as_slice() {
        [b'g', b'l', b'T', b'F', _, _, _, _, _, _, _, _, a, b, c, d, ..] => {
            bytes.clear();
            u64::from(u32::from_le_bytes([a, b, c, d]))
        }
        _ => u64::MAX,
    };
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
