//! A scene file with what was fitted, and the images and tables of it, for `shade render`.

use super::super::{Differentiated, Parameter, Target};
use crate::math::figures::number;
use crate::scene::{Setting, file_as_json, pointer_step};
use formats::npy::{self, Words};
use image::{DynamicImage, ImageFormat, Rgba32FImage};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;

/// The files that hold what a fit came to: their names, and images in linear light with 32 bits a number, or tables with a row of
/// floats for each vertex.
///
/// # Errors
/// One cannot be encoded.
pub fn files(scene: &Differentiated) -> Result<Vec<(String, Vec<u8>)>, String> {
    let values = scene.values();
    let fitted = scene.parameters().iter().enumerate().filter(|(_, p)| p.is_field());
    let encoded = fitted.map(|(i, p)| {
        let numbers = &values[scene.range_of(i)];
        let bytes = match p.size {
            Some(size) => encode(size, numbers)?,
            None => {
                let shape = [numbers.len() / p.components, p.components];
                npy::write(&shape, Words::Floats, numbers.iter().map(|x| x.to_bits()))
            }
        };
        Ok((file_of(p, scene.parameters()), bytes))
    });
    encoded.collect()
}

/// The names of these files.
pub fn file_names(scene: &Differentiated) -> Vec<String> {
    scene.parameters().iter().filter(|p| p.is_field()).map(|p| file_of(p, scene.parameters())).collect()
}

/// The file of an image or of a table, one of its own among those of all parameters.
fn file_of(parameter: &Parameter, all: &[Parameter]) -> String {
    // A name may have what no name of a file can have.
    let fits = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let plain = |p: &Parameter| p.name.chars().map(fits).collect::<String>();
    let name = plain(parameter);
    let before = all.iter().take_while(|p| p.name != parameter.name).filter(|p| plain(p) == name).count();
    let extension = if parameter.size.is_some() { "exr" } else { "npy" };
    if before == 0 { format!("{name}.{extension}") } else { format!("{name}.{before}.{extension}") }
}

/// `numbers` are texels of one to four channels, rows from the top.
fn encode([width, height]: [u32; 2], numbers: &[f32]) -> Result<Vec<u8>, String> {
    let texel = |texel: &[f32]| match *texel {
        [gray] => [gray, gray, gray, 1.0],
        [gray, alpha] => [gray, gray, gray, alpha],
        [r, g, b] => [r, g, b, 1.0],
        [r, g, b, a, ..] => [r, g, b, a],
        [] => [0.0; 4],
    };
    let channels = numbers.len() / (width as usize * height as usize).max(1);
    let rgba: Vec<f32> = numbers.chunks_exact(channels.max(1)).flat_map(texel).collect();
    let image = Rgba32FImage::from_raw(width, height, rgba).ok_or("an image has too few numbers")?;
    let image = DynamicImage::ImageRgba32F(image);
    // What has no alpha gets none.
    let image = if channels.is_multiple_of(2) { image } else { DynamicImage::ImageRgb32F(image.into_rgb32f()) };
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::OpenExr).map_err(|e| e.to_string())?;
    Ok(bytes.into_inner())
}

/// The scene of a file as JSON, with the keys that were given beside it, and with what a fit came to in place of its own. Names of
/// files are from the root of the system, so that it can lie anywhere; images and tables lie in `folder`.
///
/// # Errors
/// The file cannot be read any more, or a material is not in it.
pub fn scene_text((path, set): (&Path, &[Setting]), scene: &Differentiated, folder: &Path) -> Result<String, String> {
    let mut root = file_as_json(path, set)?;
    let values = scene.values();
    let file = |parameter: &Parameter| -> Result<Value, String> {
        let path = std::path::absolute(folder.join(file_of(parameter, scene.parameters())));
        Ok(json!(path.map_err(|e| e.to_string())?.display().to_string()))
    };
    for (i, parameter) in scene.parameters().iter().enumerate() {
        if let Target::Texels { texture, .. } = parameter.target {
            let pointer = match parameter.name.strip_prefix("textures.") {
                Some(name) => {
                    // The image of before may have said this itself.
                    let table = format!("/textures/{}", pointer_step(name));
                    let [across, down] = scene.scene.textures.wrap(texture);
                    if across == down {
                        put(&mut root, &format!("{table}/wrap"), json!(across));
                    }
                    format!("{table}/file")
                }
                None => "/environment/file".to_owned(),
            };
            put(&mut root, &pointer, file(parameter)?);
            continue;
        }
        let numbers = &values[scene.range_of(i)];
        let value = match numbers {
            _ if parameter.is_field() => file(parameter)?,
            [one] => number(*one),
            several => several.iter().map(|x| number(*x)).collect(),
        };
        match &parameter.target {
            Target::Material { material, name } => {
                let material = &scene.scene.materials[*material as usize].name;
                match root.pointer_mut(&format!("/materials/{}", pointer_step(material))) {
                    Some(Value::Object(table)) => {
                        let parameters = table.entry("parameters").or_insert_with(|| json!({}));
                        parameters[name] = value;
                    }
                    _ => return Err(format!("the material `{material}` comes from a file that the scene names")),
                }
            }
            Target::Light { setting } => put(&mut root, &scene.scene.light_settings[*setting].pointer, value),
            Target::Variable { setting } => put(&mut root, &scene.scene.variable_settings[*setting].pointer, value),
            Target::Exposure => put(&mut root, "/film/exposure", value),
            // They were seen to above.
            Target::Texels { .. } => {}
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
