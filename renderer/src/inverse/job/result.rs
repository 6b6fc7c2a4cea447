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
        }
    }
    Ok(format!("{root:#}\n"))
}

/// A step of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
