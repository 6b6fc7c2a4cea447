//! glTF files as models: nodes, materials, lights, and cameras for the scene's own.

use super::embedded::stored;
use super::{BuiltIn, Model, ModelImage, ModelLight, ModelLightKind, ModelMaterial, Part};
use crate::geometry::gltf::document::{Document, Index, Material, Node, TextureInfo, TextureTransform};
use crate::geometry::gltf::{Container, ImageBytes, KNOWN, read_document};
use crate::texture::Wrap;
use glam::{DAffine3, DMat4, DQuat, DVec3, Vec3};
use ssl_compiler::runtime::ParameterValue;
use std::f32::consts::FRAC_PI_2;
use std::path::{Path, PathBuf};

/// Reads a file whole; images that are embedded go to one of `folders`. The error is a sentence for the user, here and below.
pub fn read(path: &Path, folders: &[PathBuf]) -> Result<Model, String> {
    let container = Container::read(path)?;
    let document = &container.document;
    let mut model = Model { files: container.files.clone(), ..Model::default() };
    // Extensions of one maker seldom show in pictures.
    for name in document.extensions_used.iter().filter(|e| e.starts_with("KHR_") && !KNOWN.contains(&e.as_str())) {
        left_out(&mut model, &format!("what the extension `{name}` says"));
    }
    if !document.animations.is_empty() {
        left_out(&mut model, "its animations: everything stands as it was modelled");
    }
    let placed = placements(document)?;
    let mut used = vec![false; document.meshes.len()];
    for Placement { node, to_model } in &placed {
        if let Some(mesh) = node.mesh {
            *used.get_mut(mesh).ok_or("a node names a mesh that is not there")? = true;
            model.nodes.push((mesh, *to_model));
        }
        if node.skin.is_some() {
            left_out(&mut model, "skins: meshes stand as they were bound");
        }
        light(document, node, *to_model, &mut model)?;
    }
    for material in document.materials.iter().chain([&Material::default()]) {
        let made = made(&container, material, folders, &mut model)?;
        model.materials.push(made);
    }
    for (mesh, used) in document.meshes.iter().zip(used) {
        let mut parts = Vec::new();
        // Meshes that stand nowhere are not read, but they keep their numbers.
        for primitive in mesh.primitives.iter().filter(|_| used) {
            // Without a material, the default one.
            let material = primitive.material.unwrap_or(document.materials.len());
            let own = document.materials.get(material);
            let set = own.map_or(0, |m| texture_set(m, &mut model));
            let Some(mesh) = container.triangles(primitive, set)? else {
                left_out(&mut model, "points and lines");
                continue;
            };
            if material >= model.materials.len() {
                return Err("a mesh names a material that is not there".to_owned());
            }
            let names = own.and_then(|m| m.name.clone()).into_iter().collect();
            let emission = own.map_or(Vec3::ZERO, emission);
            parts.push(Part { mesh, material: Some(material), names, emission, unknown: false });
        }
        model.meshes.push(parts);
    }
    Ok(model)
}

fn left_out(model: &mut Model, what: &str) {
    if !model.left_out.iter().any(|known| known == what) {
        model.left_out.push(what.to_owned());
    }
}

/// A node, and the way from its space to the model's.
struct Placement<'a> {
    node: &'a Node,
    to_model: DAffine3,
}

/// All nodes of the scene that is shown, each before those below it.
fn placements(document: &Document) -> Result<Vec<Placement<'_>>, String> {
    let nodes = &document.nodes;
    let roots: Vec<Index> = match document.scenes.get(document.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.clone(),
        None => {
            let children: std::collections::HashSet<Index> = nodes.iter().flat_map(|n| n.children.clone()).collect();
            (0..nodes.len()).filter(|i| !children.contains(i)).collect()
        }
    };
    let mut met = vec![false; nodes.len()];
    let mut open: Vec<(Index, DAffine3)> = roots.into_iter().rev().map(|i| (i, DAffine3::IDENTITY)).collect();
    let mut found = Vec::new();
    while let Some((index, above)) = open.pop() {
        let node = nodes.get(index).ok_or("a node is named that is not there")?;
        if std::mem::replace(&mut met[index], true) {
            return Err("a node of it stands below several others, or below itself".to_owned());
        }
        let to_model = above * local(node);
        let determinant = to_model.matrix3.determinant();
        if !to_model.is_finite() || determinant == 0.0 || !determinant.is_finite() {
            return Err("the transform of a node has no inverse".to_owned());
        }
        open.extend(node.children.iter().rev().map(|&child| (child, to_model)));
        found.push(Placement { node, to_model });
    }
    if document.scenes.is_empty() && found.len() < nodes.len() {
        return Err("a node of it stands below itself".to_owned());
    }
    Ok(found)
}

fn local(node: &Node) -> DAffine3 {
    if let Some(matrix) = &node.matrix {
        return DAffine3::from_mat4(DMat4::from_cols_array(matrix));
    }
    let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY };
    let scale = node.scale.map_or(DVec3::ONE, DVec3::from);
    DAffine3::from_scale_rotation_translation(scale, rotation, node.translation.map_or(DVec3::ZERO, DVec3::from))
}

fn light(document: &Document, node: &Node, to_model: DAffine3, model: &mut Model) -> Result<(), String> {
    let Some(named) = &node.extensions.light else { return Ok(()) };
    let light = document.extensions.lights.lights.get(named.light).ok_or("a node names a light that is not there")?;
    let strength = Vec3::from(light.color) * light.intensity;
    if !strength.is_finite() || strength.min_element() < 0.0 {
        return Err("the strength of a light is not a usable number".to_owned());
    }
    let kind = match light.kind.as_str() {
        "directional" => ModelLightKind::Distant,
        "point" => ModelLightKind::Point,
        "spot" => {
            let [inner, outer] = [light.spot.inner_cone_angle, light.spot.outer_cone_angle];
            if !(0.0 <= inner && inner < outer && outer <= FRAC_PI_2 * 1.0001) {
                return Err("the angles of a spot light are not usable numbers".to_owned());
            }
            // The file has them from the axis.
            ModelLightKind::Spot { inner: 2.0 * inner.to_degrees(), outer: 2.0 * outer.to_degrees() }
        }
        other => return Err(format!("there is no light type `{other}`")),
    };
    model.lights.push(ModelLight { to_model, kind, strength });
    Ok(())
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

/// The set of texture coordinates that a material reads.
fn texture_set(material: &Material, model: &mut Model) -> u32 {
    let transformed = |info: &TextureInfo| info.extensions.transform.as_ref().and_then(|t| t.tex_coord);
    let sets = maps(material).into_iter().filter_map(|(_, info)| info);
    let mut sets = sets.map(|info| transformed(info).unwrap_or(info.tex_coord));
    let first = sets.next().unwrap_or(0);
    if sets.any(|other| other != first) {
        left_out(model, "second sets of texture coordinates within a material");
    }
    first
}

/// Light that is even and goes out in front alone is the shape's own.
fn emission(material: &Material) -> Vec3 {
    let of_shader = material.emissive_texture.is_some() || material.double_sided;
    if of_shader { Vec3::ZERO } else { glow(material) }
}

fn glow(material: &Material) -> Vec3 {
    let glow = Vec3::from(material.emissive_factor) * material.extensions.emissive_strength.emissive_strength;
    if glow.is_finite() { glow.max(Vec3::ZERO) } else { Vec3::ZERO }
}

fn made(
    container: &Container,
    material: &Material,
    folders: &[PathBuf],
    model: &mut Model,
) -> Result<ModelMaterial, String> {
    let pbr = &material.pbr_metallic_roughness;
    let [r, g, b, alpha] = pbr.base_color_factor;
    let (float, triple) = (ParameterValue::Float, |v: [f32; 3]| ParameterValue::Vector(v.to_vec()));
    let glow = glow(material) - emission(material);
    let cutoff = match material.alpha_mode.as_deref() {
        Some("MASK") => material.alpha_cutoff.unwrap_or(0.5),
        _ => 0.0,
    };
    let blend = material.alpha_mode.as_deref() == Some("BLEND");
    let mut parameters = vec![
        ("base_color", triple([r, g, b])),
        ("alpha", float(alpha)),
        ("metallic", float(pbr.metallic_factor)),
        ("roughness", float(pbr.roughness_factor)),
        ("emission", triple(glow.to_array())),
        ("normal_scale", float(material.normal_texture.as_ref().and_then(|t| t.scale).unwrap_or(1.0))),
        ("double_sided", ParameterValue::Bool(material.double_sided)),
        ("unlit", ParameterValue::Bool(material.extensions.unlit.is_some())),
        ("blend", ParameterValue::Bool(blend)),
        ("cutoff", float(cutoff)),
        ("transmission", float(material.extensions.transmission.transmission_factor)),
        ("ior", float(material.extensions.ior.ior)),
    ];
    let mut images = Vec::new();
    for (map, info) in maps(material) {
        let Some(info) = info else { continue };
        let Some(image) = image(container, info, map.raw, folders)? else {
            left_out(model, "images that are neither PNG nor JPEG");
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
    let opaque = !blend && cutoff <= 0.0;
    Ok(ModelMaterial { name, shader: BuiltIn::MetallicRoughness, parameters, images, opaque })
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
    raw: bool,
    folders: &[PathBuf],
) -> Result<Option<ModelImage>, String> {
    let document = &container.document;
    let texture = document.textures.get(info.index).ok_or("a material names a texture that is not there")?;
    let Some(source) = texture.source else { return Ok(None) };
    let image = document.images.get(source).ok_or("a texture names an image that is not there")?;
    let path = match container.image(image)? {
        ImageBytes::File(path) => path,
        ImageBytes::Embedded(bytes) => stored(&bytes, folders)?,
    };
    let sampler = texture.sampler.and_then(|s| document.samplers.get(s));
    let wrap = |given: Option<u32>| match given {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let wrap = [wrap(sampler.and_then(|s| s.wrap_s)), wrap(sampler.and_then(|s| s.wrap_t))];
    Ok(Some(ModelImage { path, raw, wrap }))
}

/// A camera of a file.
pub struct ModelCamera {
    /// Looks along −z, with y upwards.
    pub to_world: DAffine3,
    pub projection: CameraProjection,
}

/// Angles in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraProjection {
    /// Of the height.
    Perspective {
        fov: f32,
    },
    Orthographic {
        width: f32,
    },
}

/// The camera of a name, by its own or its node's, or the first one.
pub fn camera(path: &Path, name: Option<&str>) -> Result<ModelCamera, String> {
    let document = read_document(path)?;
    let placed = placements(&document)?;
    let mut names = Vec::new();
    for Placement { node, to_model } in placed {
        let Some(index) = node.camera else { continue };
        let camera = document.cameras.get(index).ok_or("a node names a camera that is not there")?;
        let known = [&node.name, &camera.name];
        if name.is_some_and(|name| !known.iter().any(|k| k.as_deref() == Some(name))) {
            names.extend(known.into_iter().flatten().map(|n| format!("`{n}`")));
            continue;
        }
        let projection = match (&camera.perspective, &camera.orthographic) {
            (Some(p), _) => CameraProjection::Perspective { fov: p.yfov.to_degrees() },
            (_, Some(o)) => CameraProjection::Orthographic { width: 2.0 * o.xmag },
            _ => return Err("its camera has no projection".to_owned()),
        };
        return Ok(ModelCamera { to_world: to_model, projection });
    }
    names.dedup();
    Err(match name {
        Some(name) if !names.is_empty() => format!("it has no camera `{name}`; it has {}", names.join(", ")),
        _ => "it has no camera".to_owned(),
    })
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
