//! A scene file with what was fitted, for `shade render`.

use super::super::{Differentiated, Target};
use crate::math::figures::number;
use crate::scene::files_as_json;
use serde_json::{Value, json};
use std::path::Path;

/// The scene of a file as JSON, with the floats that a fit came to in place of its own. Names of files are from the root of the
/// system, so that it can lie anywhere.
///
/// # Errors
/// The file cannot be read any more.
pub fn scene_text(path: &Path, scene: &Differentiated) -> Result<String, String> {
    let mut root = files_as_json(path)?;
    let values = scene.values();
    for (i, parameter) in scene.parameters().iter().enumerate() {
        let numbers = &values[scene.range_of(i)];
        let value = match numbers {
            [one] => number(*one),
            several => several.iter().map(|x| number(*x)).collect(),
        };
        match &parameter.target {
            Target::Material { material, name } => {
                let material = &scene.scene.materials[*material as usize].name;
                match root.pointer_mut(&format!("/materials/{}", escaped(material))) {
                    Some(Value::Object(table)) => {
                        let parameters = table.entry("parameters").or_insert_with(|| json!({}));
                        parameters[name] = value;
                    }
                    _ => return Err(format!("the material `{material}` comes from a file that the scene names")),
                }
            }
            Target::Light { setting } => put(&mut root, &scene.scene.light_settings[*setting].pointer, value),
            Target::Exposure => put(&mut root, "/film/exposure", value),
        }
    }
    Ok(format!("{root:#}\n"))
}

/// Writes what a JSON pointer names, whose table may be missing.
fn put(root: &mut Value, pointer: &str, value: Value) {
    let Some((table, key)) = pointer.rsplit_once('/') else { return };
    if root.pointer(table).is_none() {
        put(root, table, json!({}));
    }
    if let Some(Value::Object(table)) = root.pointer_mut(table) {
        table.insert(key.to_owned(), value);
    }
}

/// A step of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
