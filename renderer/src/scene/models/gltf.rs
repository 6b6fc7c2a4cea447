//! glTF files as models: nodes, materials, lights, and cameras for the scene's own.

mod factors;
mod materials;
mod nodes;
mod skins;
mod volumes;

use super::{Model, ModelLight, ModelLightKind, Part};
use crate::geometry::gltf::document::{Document, Node};
use crate::geometry::gltf::{Container, KNOWN, Triangles, read_document};
use glam::{DAffine3, Vec3};
use materials::{OfVertices, texture_set};
use nodes::{Placement, placements};
use std::f32::consts::FRAC_PI_2;
use std::path::{Path, PathBuf};

/// Reads a file whole; images that are embedded go to one of `folders`. The error is a sentence for the user, here and below.
pub fn read(path: &Path, folders: &[PathBuf]) -> Result<Model, String> {
    let container = Container::read(path)?;
    let document = &container.document;
    let mut model = Model { files: container.files.clone(), ..Model::default() };
    for name in document.extensions_used.iter().filter(|e| !KNOWN.contains(&e.as_str())) {
        model.leave_out(match name.as_str() {
            volumes::NAME => format!("what the extension `{name}` says of thickness and attenuation"),
            _ => format!("what the extension `{name}` says"),
        });
    }
    if !document.animations.is_empty() {
        model.leave_out("its animations: everything stands as it was modelled");
    }
    let placed = placements(document)?;
    let mut used = vec![false; document.meshes.len()];
    let mut flat = Vec::new();
    for placement in &placed {
        let Placement { node, to_model, is_flat, .. } = placement;
        if let Some(mesh) = node.mesh {
            *used.get_mut(mesh).ok_or("a node names a mesh that is not there")? = true;
            let places = places(&container, placement, &placed, &mut model)?;
            let (without, with): (Vec<_>, Vec<_>) = places.into_iter().partition(nodes::is_flat);
            if !without.is_empty() {
                flat.push(format!(
                    "{}, whose mesh has the scale 0 along an axis and so covers nothing",
                    placement.name()
                ));
            }
            model.nodes.extend(with.into_iter().map(|place| (mesh, place)));
        }
        // Directions of a light are lost where an axis is.
        if *is_flat && node.extensions.light.is_some() {
            flat.push(format!("the light of {}, whose scale is 0 along an axis", placement.name()));
            continue;
        }
        light(document, node, *to_model, &mut model)?;
    }
    model.leave_out_many(flat, "more nodes whose scale is 0 along an axis");
    let emissions = materials::add(&container, path, folders, &mut model)?;
    let mut of_vertices = OfVertices::default();
    for (mesh, used) in document.meshes.iter().zip(used) {
        let mut parts = Vec::new();
        // Meshes that stand nowhere are not read, but they keep their numbers.
        for primitive in mesh.primitives.iter().filter(|_| used) {
            // Without a material, the default one.
            let material = primitive.material.unwrap_or(document.materials.len());
            let own = document.materials.get(material);
            let set = own.map_or(0, |m| texture_set(m, &mut model));
            let Some(Triangles { mesh, leaves_out_tangents }) = container.triangles(primitive, set)? else {
                model.leave_out("points and lines");
                continue;
            };
            if leaves_out_tangents && own.is_some_and(|m| m.normal_texture.is_some()) {
                model.leave_out(
                    "tangents that mirror a normal map where the texture coordinates do not, or the other way round",
                );
            }
            if !primitive.targets.is_empty() {
                model.leave_out("morph targets: meshes have the shape that they were modelled with");
            }
            let emission = *emissions.get(material).ok_or("a mesh names a material that is not there")?;
            let material = of_vertices.material(own, material, &mesh, &mut model);
            let names = own.and_then(|m| m.name.clone()).into_iter().collect();
            parts.push(Part { mesh, material: Some(material), names, emission, unknown: false });
        }
        model.meshes.push(parts);
    }
    Ok(model)
}

/// Where the mesh of a node stands.
fn places(
    container: &Container,
    placement: &Placement<'_>,
    placed: &[Placement<'_>],
    model: &mut Model,
) -> Result<Vec<DAffine3>, String> {
    let Placement { node, to_model, .. } = placement;
    let skinned = node.skin.map(|skin| skins::placement(container, skin, placed)).transpose()?;
    if skinned.is_some_and(|(_, is_whole)| !is_whole) {
        model.leave_out("what joints do to parts of a mesh: the mesh follows its first joint as a whole");
    }
    let to_model = skinned.map_or(*to_model, |(by_joints, _)| by_joints);
    let Some(instancing) = &node.extensions.instancing else { return Ok(vec![to_model]) };
    if instancing.attributes.keys().any(|name| !["TRANSLATION", "ROTATION", "SCALE"].contains(&name.as_str())) {
        model.leave_out("attributes of instances other than `TRANSLATION`, `ROTATION` and `SCALE`");
    }
    Ok(nodes::instances(container, instancing)?.into_iter().map(|place| to_model * place).collect())
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
    for Placement { node, to_model, .. } in placed.into_iter().filter(|placement| !placement.is_flat) {
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
