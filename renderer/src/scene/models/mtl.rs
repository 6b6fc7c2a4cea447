//! Materials of MTL files as values for the renderer's shader for them.

use super::mtl_lines::Statements;
use super::mtl_maps::Map;
use super::{BuiltIn, ModelImage, ModelMaterial};
use crate::texture::Wrap;
use glam::Vec3;
use ssl_compiler::runtime::ParameterValue;
use std::path::Path;

/// A material, and what its shapes emit themselves; `None` is what faces without one get. Images are looked for beside the
/// library, in `folder`.
pub fn made(material: Option<&Statements>, folder: &Path) -> (ModelMaterial, Vec3) {
    let plain = Statements::default();
    let m = material.unwrap_or(&plain);
    let illumination = m.illumination.unwrap_or(2);
    let ior = m.ior.filter(|n| *n >= 1.0).unwrap_or(1.5);
    let exponent = m.exponent.filter(|n| *n >= 0.0).unwrap_or(10.0);
    // `Tr` is 1 − `d`.
    let dissolve = m.dissolve.or(m.transparency.map(|t| 1.0 - t)).unwrap_or(1.0);
    // Those that refract say seldom that they let light through.
    let glass = [4, 6, 7, 9].contains(&illumination);
    let opacity = if glass && dissolve >= 1.0 { 0.0 } else { dissolve.clamp(0.0, 1.0) };
    let image = |map: &Option<Map>, raw| map.as_ref().map(|map| image(&map.file, raw, folder));
    // Alpha of a color is coverage; alpha of other maps means nothing.
    let data = |map: &Option<Map>| Some(ModelImage { ignores_alpha: true, ..image(map, true)? });
    let (diffuse_map, opacity_map) = (image(&m.diffuse_map, false), image(&m.opacity_map, true));
    let (roughness_map, metallic_map) = (data(&m.roughness_map), data(&m.metallic_map));
    let covers = opacity == 1.0 && opacity_map.is_none() && diffuse_map.as_ref().is_none_or(never_has_alpha);
    let opaque = glass || covers;
    // Of a surface with holes the shader knows how much there is to shine.
    let emission = m.emissive.map_or(Vec3::ZERO, Vec3::from);
    let (of_shape, of_shader) = if opaque { (emission, Vec3::ZERO) } else { (Vec3::ZERO, emission) };
    let vector = |v: [f32; 3]| ParameterValue::Vector(v.to_vec());
    let has = |image: &Option<ModelImage>| ParameterValue::Bool(image.is_some());
    let mut parameters = vec![
        ("diffuse", vector(m.diffuse.unwrap_or(if diffuse_map.is_some() { [1.0; 3] } else { [0.8; 3] }))),
        ("emission", vector(of_shader.to_array())),
        ("opacity", ParameterValue::Float(opacity)),
        ("glass", ParameterValue::Bool(glass)),
        ("filtered", vector(m.filter.unwrap_or([1.0; 3]))),
        ("ior", ParameterValue::Float(ior)),
    ];
    // With a factor missing, a map counts whole.
    let factor = |number: Option<f32>, map: &Option<ModelImage>| match number {
        Some(x) => Some(x.clamp(0.0, 1.0)),
        None => map.as_ref().map(|_| 1.0),
    };
    let (rough, metal) = (factor(m.roughness, &roughness_map), factor(m.metallic, &metallic_map));
    let is_physical = rough.is_some() || metal.is_some();
    let specular = match m.specular {
        // Physically based materials reflect by their index of refraction.
        None if is_physical => [((ior - 1.0) / (ior + 1.0)).powi(2); 3],
        // 0 and 1 are without highlights.
        Some(specular) if is_physical || illumination >= 2 => specular,
        _ => [0.0; 3],
    };
    let is_mirror = [3, 5].contains(&illumination) && exponent >= 1000.0 && rough.is_none();
    parameters.extend([
        ("specular", vector(specular)),
        ("roughness", ParameterValue::Float(rough.unwrap_or(roughness(exponent)))),
        ("metallic", ParameterValue::Float(metal.unwrap_or(0.0))),
        ("mirror", ParameterValue::Bool(is_mirror)),
    ]);
    let normal_map = data(&m.normal_map);
    parameters.extend([
        ("has_diffuse_map", has(&diffuse_map)),
        ("has_opacity_map", has(&opacity_map)),
        ("has_roughness_map", has(&roughness_map)),
        ("has_metallic_map", has(&metallic_map)),
        ("has_normal_map", has(&normal_map)),
    ]);
    let images = [
        ("diffuse_map", diffuse_map),
        ("opacity_map", opacity_map),
        ("roughness_map", roughness_map),
        ("metallic_map", metallic_map),
        ("normal_map", normal_map),
    ];
    let images = images.into_iter().filter_map(|(slot, image)| Some((slot, image?))).collect();
    (ModelMaterial { name: m.name.clone(), shader: BuiltIn::Mtl, parameters, images, opaque }, of_shape)
}

/// Of the highlight that is as wide: α = √(2/(n + 2)) (Walter et al. 2007, section 5.2), whose root is the roughness.
fn roughness(exponent: f32) -> f32 {
    (2.0 / (exponent + 2.0)).powf(0.25)
}

/// An image as a library names it: other systems part folders otherwise.
fn image(name: &str, raw: bool, folder: &Path) -> ModelImage {
    let path = folder.join(name.replace('\\', "/"));
    ModelImage { path, raw, ignores_alpha: false, wrap: [Wrap::Repeat; 2] }
}

/// Whether images of this format have none.
fn never_has_alpha(image: &ModelImage) -> bool {
    let extension = image.path.extension().map(|e| e.to_ascii_lowercase());
    extension.is_some_and(|e| ["jpg", "jpeg", "hdr"].iter().any(|format| e == *format))
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
    fn folders_are_parted_as_elsewhere() {
        assert_eq!(image("maps\\a.png", true, Path::new("lib")).path, Path::new("lib/maps/a.png"));
    }

    /// `Tr` is the rest of `d`, which counts where both stand.
    #[test]
    fn transparency_is_what_dissolving_leaves() {
        let opacity = |dissolve, transparency| {
            let (made, _) = made(Some(&Statements { dissolve, transparency, ..Statements::default() }), Path::new(""));
            made.parameters.into_iter().find(|(name, _)| *name == "opacity").map(|(_, value)| value)
        };
        assert_eq!(opacity(None, Some(0.75)), Some(ParameterValue::Float(0.25)));
        assert_eq!(opacity(Some(0.5), Some(0.75)), Some(ParameterValue::Float(0.5)));
        assert_eq!(opacity(None, None), Some(ParameterValue::Float(1.0)));
    }
}
