//! The materials of a glTF file as values for the renderer's shader for them.

use super::factors::{self, Factors};
use super::volumes;
use crate::geometry::TriangleMesh;
use crate::geometry::gltf::document::{Material, TextureInfo, TextureTransform};
use crate::geometry::gltf::{COLOR_ALPHA, Container, ImageBytes};
use crate::scene::models::embedded::{of_file, stored};
use crate::scene::models::{BuiltIn, Model, ModelImage, ModelMaterial};
use crate::texture::Wrap;
use glam::Vec3;
use ssl_compiler::runtime::ParameterValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Adds all materials of the file `path`, and behind them the one of faces that name none. For each comes what its shapes emit
/// themselves.
pub fn add(container: &Container, path: &Path, folders: &[PathBuf], model: &mut Model) -> Result<Vec<Vec3>, String> {
    let document = &container.document;
    let solids = volumes::solids(path, document);
    let (mut emissions, mut said) = (Vec::new(), Vec::new());
    for (number, material) in document.materials.iter().chain([&Material::default()]).enumerate() {
        let name = match &material.name {
            Some(name) => format!("the material `{name}`"),
            None => format!("its material {number}"),
        };
        let factors = factors::of(material, &name, &mut said);
        let surface = Surface { factors, is_solid: solids.get(number) == Some(&true) };
        let (made, emission) = made(container, material, &surface, folders, model)?;
        model.materials.push(made);
        emissions.push(emission);
    }
    model.leave_out_many(said, "more numbers of its materials that are out of range");
    Ok(emissions)
}

/// Second versions of materials, for meshes whose vertices have alpha.
#[derive(Default)]
pub struct OfVertices(BTreeMap<usize, usize>);

impl OfVertices {
    /// The number of the material of a mesh, which is `number` in the file.
    pub fn material(
        &mut self,
        material: Option<&Material>,
        number: usize,
        mesh: &TriangleMesh,
        model: &mut Model,
    ) -> usize {
        let has_mode = material.is_some_and(|m| matches!(m.alpha_mode.as_deref(), Some("BLEND" | "MASK")));
        if !has_mode || !mesh.variables.iter().any(|v| v.name == COLOR_ALPHA) {
            return number;
        }
        *self.0.entry(number).or_insert_with(|| {
            let shader = BuiltIn::MetallicRoughnessOfVertices;
            model.materials.push(ModelMaterial { shader, ..model.materials[number].clone() });
            model.materials.len() - 1
        })
    }
}

/// The set of texture coordinates that a material reads.
pub fn texture_set(material: &Material, model: &mut Model) -> u32 {
    let transformed = |info: &TextureInfo| info.extensions.transform.as_ref().and_then(|t| t.tex_coord);
    let sets = maps(material).into_iter().filter_map(|(_, info)| info);
    let mut sets = sets.map(|info| transformed(info).unwrap_or(info.tex_coord));
    let first = sets.next().unwrap_or(0);
    if sets.any(|other| other != first) {
        model.leave_out("second sets of texture coordinates within a material");
    }
    first
}

/// The textures of a material with the names that the shader has for them, and whether they hold colors.
fn maps(material: &Material) -> [(Map, Option<&TextureInfo>); 4] {
    let pbr = &material.pbr_metallic_roughness;
    [
        (BASE_COLOR, pbr.base_color_texture.as_ref()),
        (METALLIC_ROUGHNESS, pbr.metallic_roughness_texture.as_ref()),
        (NORMAL, material.normal_texture.as_ref()),
        (EMISSIVE, material.emissive_texture.as_ref()),
    ]
}

/// What the shader has for a texture.
#[derive(Clone, Copy)]
struct Map {
    slot: &'static str,
    present: &'static str,
    along_u: &'static str,
    along_v: &'static str,
    raw: bool,
}

const BASE_COLOR: Map = Map {
    slot: "base_color_map",
    present: "has_base_color_map",
    along_u: "base_color_u",
    along_v: "base_color_v",
    raw: false,
};
const METALLIC_ROUGHNESS: Map = Map {
    slot: "metallic_roughness_map",
    present: "has_metallic_roughness_map",
    along_u: "metallic_roughness_u",
    along_v: "metallic_roughness_v",
    raw: true,
};
const NORMAL: Map =
    Map { slot: "normal_map", present: "has_normal_map", along_u: "normal_u", along_v: "normal_v", raw: true };
const EMISSIVE: Map =
    Map { slot: "emissive_map", present: "has_emissive_map", along_u: "emissive_u", along_v: "emissive_v", raw: false };

/// What is known of a material before its images are.
struct Surface {
    factors: Factors,
    /// What it transmits goes into a solid, and not through a sheet.
    is_solid: bool,
}

/// A material, and what its shapes emit themselves.
fn made(
    container: &Container,
    material: &Material,
    Surface { factors, is_solid }: &Surface,
    folders: &[PathBuf],
    model: &mut Model,
) -> Result<(ModelMaterial, Vec3), String> {
    let [r, g, b, alpha] = factors.base_color;
    let (float, triple) = (ParameterValue::Float, |v: [f32; 3]| ParameterValue::Vector(v.to_vec()));
    let blend = material.alpha_mode.as_deref() == Some("BLEND");
    let covers = !blend && factors.cutoff <= 0.0;
    let unlit = material.extensions.unlit.is_some();
    // Light that is even and goes out in front alone is the shapes' own, unless the shader dims it.
    let is_even = material.emissive_texture.is_none() && !material.double_sided && covers && !unlit;
    let (of_shape, of_shader) = if is_even { (factors.emission, Vec3::ZERO) } else { (Vec3::ZERO, factors.emission) };
    // With this index all light is reflected.
    let transmission = if factors.ior == 0.0 { 0.0 } else { factors.transmission };
    let mut parameters = vec![
        ("base_color", triple([r, g, b])),
        ("alpha", float(alpha)),
        ("metallic", float(factors.metallic)),
        ("roughness", float(factors.roughness)),
        ("emission", triple(of_shader.to_array())),
        ("normal_scale", float(material.normal_texture.as_ref().and_then(|t| t.scale).unwrap_or(1.0))),
        ("double_sided", ParameterValue::Bool(material.double_sided)),
        ("unlit", ParameterValue::Bool(unlit)),
        ("blend", ParameterValue::Bool(blend)),
        ("cutoff", float(factors.cutoff)),
        ("transmission", float(transmission)),
        ("solid", ParameterValue::Bool(*is_solid)),
        ("ior", float(factors.ior)),
    ];
    let mut images = Vec::new();
    for (map, info) in maps(material) {
        let Some(info) = info else { continue };
        // The alpha of a base color is coverage, unless the material is opaque; alpha of other maps means nothing.
        let ignores_alpha = map.slot != BASE_COLOR.slot || covers;
        let Some(image) = image(container, info, (map.raw, ignores_alpha), folders)? else {
            model.leave_out("images that are neither PNG nor JPEG");
            continue;
        };
        parameters.push((map.present, ParameterValue::Bool(true)));
        if let Some(transform) = &info.extensions.transform {
            let [along_u, along_v] = rows(transform);
            parameters.extend([(map.along_u, triple(along_u)), (map.along_v, triple(along_v))]);
        }
        images.push((map.slot, image));
    }
    let name = material.name.clone().unwrap_or_default();
    // Light may pass a polished sheet as it came: see the shader.
    let clear = !is_solid && transmission > 0.0 && factors.roughness * factors.roughness <= 0.001;
    let opaque = covers && !clear;
    Ok((ModelMaterial { name, shader: BuiltIn::MetallicRoughness, parameters, images, opaque }, of_shape))
}

/// A transform of texture coordinates as rows of an affine map, for v that runs up the image and not down.
fn rows(t: &TextureTransform) -> [[f32; 3]; 2] {
    let (sin, cos) = t.rotation.sin_cos();
    let ([sx, sy], [x, y]) = (t.scale, t.offset);
    // Down the image: u' = cos sx u + sin sy v + x, v' = −sin sx u + cos sy v + y.
    [[cos * sx, -sin * sy, x + sin * sy], [sin * sx, cos * sy, 1.0 - y - cos * sy]]
}

/// `None` where only an extension says which image it is.
fn image(
    container: &Container,
    info: &TextureInfo,
    (raw, ignores_alpha): (bool, bool),
    folders: &[PathBuf],
) -> Result<Option<ModelImage>, String> {
    let document = &container.document;
    let texture = document.textures.get(info.index).ok_or("a material names a texture that is not there")?;
    let Some(source) = texture.source else { return Ok(None) };
    let image = document.images.get(source).ok_or("a texture names an image that is not there")?;
    let path = match container.image(image)? {
        ImageBytes::File(path) if raw => path,
        ImageBytes::File(path) => of_file(path, folders)?,
        ImageBytes::Embedded(bytes) => stored(&bytes, folders)?,
    };
    let sampler = texture.sampler.and_then(|s| document.samplers.get(s));
    let wrap = |given: Option<u32>| match given {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let wrap = [wrap(sampler.and_then(|s| s.wrap_s)), wrap(sampler.and_then(|s| s.wrap_t))];
    Ok(Some(ModelImage { path, raw, ignores_alpha, wrap }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset, rotation and scale one by one, on corners of the image as it is seen.
    #[test]
    fn texture_transforms_are_turned_over() {
        let apply = |t: &TextureTransform, u: f32, v: f32| {
            // In the file v runs down.
            rows(t).map(|[a, b, c]| a * u + b * (1.0 - v) + c)
        };
        let plain = TextureTransform::default();
        assert_eq!(apply(&plain, 0.25, 0.75), [0.25, 0.25]);
        let moved = TextureTransform { offset: [0.5, 0.25], ..plain };
        assert_eq!(apply(&moved, 0.0, 0.0), [0.5, 1.0 - 0.25]);
        let scaled = TextureTransform { scale: [2.0, 4.0], ..TextureTransform::default() };
        assert_eq!(apply(&scaled, 0.5, 0.5), [1.0, 1.0 - 2.0]);
        // A quarter turn counter-clockwise takes u to −v of the file.
        let turned = TextureTransform { rotation: std::f32::consts::FRAC_PI_2, ..TextureTransform::default() };
        let [u, v] = apply(&turned, 1.0, 0.0);
        assert!(u.abs() < 1e-6 && (v - 2.0).abs() < 1e-6, "{u} {v}");
    }
}
