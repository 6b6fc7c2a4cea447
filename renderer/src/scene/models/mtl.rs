//! Materials of MTL files as values for the renderer's shader for them.

use super::{BuiltIn, ModelImage, ModelMaterial};
use crate::texture::Wrap;
use glam::Vec3;
use ssl_compiler::runtime::ParameterValue;
use std::path::Path;

/// A material, and what its shapes emit themselves; `None` is what faces without one get. Images are looked for beside the
/// library, in `folder`.
pub fn made(material: Option<&tobj::Material>, folder: &Path) -> (ModelMaterial, Vec3) {
    let plain = tobj::Material::default();
    let m = material.unwrap_or(&plain);
    let illumination = m.illumination_model.unwrap_or(2);
    // 0 and 1 are without highlights.
    let specular = if illumination < 2 { [0.0; 3] } else { usable(m.specular).unwrap_or([0.0; 3]) };
    let exponent = m.shininess.filter(|n| *n >= 0.0).unwrap_or(10.0);
    let dissolve = m.dissolve.filter(|d| d.is_finite()).unwrap_or(1.0);
    // Those that refract say seldom that they let light through.
    let glass = [4, 6, 7, 9].contains(&illumination);
    let opacity = if glass && dissolve >= 1.0 { 0.0 } else { dissolve.clamp(0.0, 1.0) };
    let filtered = m.unknown_param.get("Tf").and_then(|text| triple(text)).unwrap_or([1.0; 3]);
    let image = |name: &Option<String>, raw| name.as_deref().map(|name| image(name, raw, folder));
    let (diffuse_map, opacity_map) = (image(&m.diffuse_texture, false), image(&m.dissolve_texture, true));
    let covers = opacity == 1.0 && opacity_map.is_none() && diffuse_map.as_ref().is_none_or(never_has_alpha);
    let opaque = glass || covers;
    // Of a surface with holes the shader knows how much there is to shine.
    let emission = usable(m.emissive).map_or(Vec3::ZERO, Vec3::from);
    let (of_shape, of_shader) = if opaque { (emission, Vec3::ZERO) } else { (Vec3::ZERO, emission) };
    let vector = |v: [f32; 3]| ParameterValue::Vector(v.to_vec());
    let parameters = vec![
        ("diffuse", vector(usable(m.diffuse).unwrap_or(if diffuse_map.is_some() { [1.0; 3] } else { [0.8; 3] }))),
        ("specular", vector(specular)),
        ("emission", vector(of_shader.to_array())),
        ("roughness", ParameterValue::Float(roughness(exponent))),
        ("opacity", ParameterValue::Float(opacity)),
        ("glass", ParameterValue::Bool(glass)),
        ("mirror", ParameterValue::Bool([3, 5].contains(&illumination) && exponent >= 1000.0)),
        ("filtered", vector(filtered)),
        ("ior", ParameterValue::Float(m.optical_density.filter(|n| *n >= 1.0).unwrap_or(1.5))),
        ("has_diffuse_map", ParameterValue::Bool(diffuse_map.is_some())),
        ("has_opacity_map", ParameterValue::Bool(opacity_map.is_some())),
    ];
    let images = [("diffuse_map", diffuse_map), ("opacity_map", opacity_map)];
    let images = images.into_iter().filter_map(|(slot, image)| Some((slot, image?))).collect();
    (ModelMaterial { name: m.name.clone(), shader: BuiltIn::Mtl, parameters, images, opaque }, of_shape)
}

fn usable(color: Option<[f32; 3]>) -> Option<[f32; 3]> {
    color.filter(|c| c.iter().all(|x| x.is_finite() && *x >= 0.0))
}

fn triple(text: &str) -> Option<[f32; 3]> {
    let numbers: Vec<f32> = text.split_whitespace().map_while(|w| w.parse().ok()).collect();
    usable(numbers.try_into().ok())
}

/// Of the highlight that is as wide: α = √(2/(n + 2)) (Walter et al. 2007, section 5.2), whose root is the roughness.
fn roughness(exponent: f32) -> f32 {
    (2.0 / (exponent + 2.0)).powf(0.25)
}

/// An image as a library names it: options come before the name, and other systems part folders otherwise.
fn image(text: &str, raw: bool, folder: &Path) -> ModelImage {
    let name = if text.starts_with('-') { text.split_whitespace().last().unwrap_or(text) } else { text };
    ModelImage { path: folder.join(name.replace('\\', "/")), raw, wrap: [Wrap::Repeat; 2] }
}

/// Whether images of this format have none.
fn never_has_alpha(image: &ModelImage) -> bool {
    let extension = image.path.extension().map(|e| e.to_ascii_lowercase());
    extension.is_some_and(|e| ["jpg", "jpeg", "hdr"].iter().any(|format| e == *format))
}

/// Whether options stand before the name of an image that change what is seen of it.
pub fn has_options(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((_, before)) = words.split_last().filter(|_| text.starts_with('-')) else { return false };
    let is_option = |word: &str| word.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    before.chunk_by(|_, next| !is_option(next)).any(|option| !changes_nothing(option))
}

/// Whether an option has the value that counts without it.
fn changes_nothing(option: &[&str]) -> bool {
    let all = |values: &[&str], number: f32| values.iter().all(|v| v.parse() == Ok(number));
    match option {
        ["-s", values @ ..] => all(values, 1.0),
        ["-o" | "-t", values @ ..] => all(values, 0.0),
        ["-mm", base, gain] => all(&[base], 0.0) && all(&[gain], 1.0),
        ["-clamp", "off"] | ["-blendu" | "-blendv", "on"] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_become_roughnesses() {
        // α = 1 at 0, and 0.5 at 6: 2/8 = 0.25.
        assert_eq!(roughness(0.0), 1.0);
        assert!((roughness(6.0).powi(2) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn images_are_named_behind_options() {
        let found = image("-bm 0.3 maps\\a.png", true, Path::new("lib"));
        assert_eq!(found.path, Path::new("lib/maps/a.png"));
    }

    #[test]
    fn options_count_where_they_change_something() {
        for text in ["a.png", "my maps/a -s.png", "-s 1 1 1 a.png", "-o 0 0 0 -mm 0 1 -clamp off a.png"] {
            assert!(!has_options(text), "{text}");
        }
        for text in
            ["-s 2 2 1 a.png", "-o 0 -0.5 0 a.png", "-s 1 1 1 -clamp on a.png", "-bm 0.3 a.png", "-t a.png b.png"]
        {
            assert!(has_options(text), "{text}");
        }
    }
}
