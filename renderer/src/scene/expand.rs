//! The shapes that a file with several meshes and materials becomes.
//!
//! A mesh that stands once in the file becomes a shape of the group that its table is in. A mesh that stands several
//! times becomes a group of its own, with an instance for each time, so that it takes memory once.

use super::codes;
use super::context::Context;
use super::lights::Lights;
use super::loaded::{All, Loaded, Piece, material_named};
use super::models::materials::Imported;
use super::models::{Model, ModelLight, ModelLightKind, Part};
use super::schema::ShapeTable;

use crate::geometry::{Geometry, Shape, Transform};
use crate::light::{Cone, LightName, ParallelLight, PointLight};
use crate::material::Space;
use glam::{DAffine3, DVec3, Vec3};
use ssl_compiler::diagnostics::closest;
use std::collections::BTreeMap;

/// The table that names a file, what its shapes have in common, and the material of the scene for all of them, if there is
/// one.
pub type Origin<'a> = (usize, &'a ShapeTable, Shape, Option<u32>);

pub fn model<'a>(
    model: Model,
    transform: Transform,
    (group, table, shape, material): Origin<'a>,
    scene_materials: &[String],
    all: &mut All<'a>,
    context: &mut Context,
) {
    let mapped = mapped(&model, table, scene_materials, context);
    say_what_is_left_out(&model, group, table, material.is_some(), context);
    let first = (scene_materials.len() + all.brought.materials.len()) as u32;
    let number = |part: &Part| {
        let named = part.names.iter().find_map(|name| mapped.get(name.as_str()).copied()).or(material);
        named.unwrap_or(first + part.material.unwrap_or(0) as u32)
    };
    let shape_of = |part: &Part| {
        let own = number(part) >= first;
        // Light goes with the material that the file gives.
        let emission = if own && table.emission.is_none() { part.emission } else { shape.emission };
        Shape { material: number(part), emission, ..shape.clone() }
    };
    let Model { meshes, nodes, materials, lights, files, .. } = model;
    let at = context.span(table.file.as_ref().map_or(table.kind.span(), |f| f.span()));
    let mut meshes: Vec<Option<Vec<Part>>> = meshes.into_iter().map(Some).collect();
    let mut times = vec![0_usize; meshes.len()];
    nodes.iter().for_each(|(mesh, _)| times[*mesh] += 1);
    let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
    for (mesh, to_model) in &nodes {
        let placed = transform.exact() * *to_model;
        let parts = meshes[*mesh].take();
        if times[*mesh] == 1 {
            let moved = Transform::of(&placed);
            for mut part in parts.into_iter().flatten() {
                part.mesh.transform(&moved);
                let (shape, space) = (shape_of(&part), Space::object(&moved));
                let piece = Piece::Body(Box::new(part.mesh.into()));
                all.shapes.push(Loaded { group, table, shape, piece, space, to_parent: DAffine3::IDENTITY });
            }
            continue;
        }
        let number = *shared.entry(*mesh).or_insert_with(|| {
            let body = |part: Part| {
                let shape = Shape { constants: Vec::new(), ..shape_of(&part) };
                (part.mesh.into(), shape)
            };
            all.shared.push(parts.into_iter().flatten().map(body).collect());
            all.shared.len() - 1
        });
        let instance = Shape { material: 0, emission: Vec3::ZERO, ..shape.clone() };
        let piece = Piece::Shared(number);
        all.shapes.push(Loaded { group, table, shape: instance, piece, space: Space::WORLD, to_parent: placed });
    }
    all.brought.materials.extend(materials.into_iter().map(|material| Imported { material, at }));
    all.brought.files.extend(files);
    if group == Geometry::WORLD as usize {
        lights.iter().for_each(|l| bring(l, &transform.exact(), shape.light_name, &mut all.brought.lights));
    }
}

/// The materials that the table gives parts of the file, by the file's names.
fn mapped<'a>(
    model: &Model,
    table: &'a ShapeTable,
    scene_materials: &[String],
    context: &mut Context,
) -> BTreeMap<&'a str, u32> {
    let names: Vec<&str> = model.meshes.iter().flatten().flat_map(|p| &p.names).map(String::as_str).collect();
    let mut mapped = BTreeMap::new();
    for (name, material) in &table.materials {
        if !names.contains(&name.as_str()) {
            let message = format!("the file has no part `{name}`");
            let hint = match closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "parts are named after the file's materials, objects and groups".to_owned(),
            };
            context.error(&codes::UNKNOWN_NAME, material.span(), message, hint);
        }
        if let Some(number) = material_named(material, scene_materials, context) {
            mapped.insert(name.as_str(), number);
        }
    }
    mapped
}

fn say_what_is_left_out(model: &Model, group: usize, table: &ShapeTable, covered: bool, context: &mut Context) {
    let mut left_out = model.left_out.clone();
    let unknown = model.meshes.iter().flatten().filter(|p| p.unknown && !covered).filter_map(|p| p.names.first());
    let mut unknown: Vec<&String> = unknown.filter(|name| !table.materials.contains_key(*name)).collect();
    unknown.dedup();
    left_out.extend(unknown.iter().map(|name| format!("the material `{name}`, which it does not describe")));
    if group != Geometry::WORLD as usize && !model.lights.is_empty() {
        left_out.push("its lights, since it stands in a group".to_owned());
    }
    for what in left_out {
        let file = table.file.as_ref().map_or(table.kind.span(), |f| f.span());
        let hint = "the rest of the file is in the picture";
        context.warn(&codes::LEFT_OUT, file, format!("of this file is left out: {what}"), hint);
    }
}

fn bring(light: &ModelLight, to_world: &DAffine3, name: LightName, lights: &mut Lights) {
    let placed = *to_world * light.to_model;
    let direction = placed.transform_vector3(DVec3::NEG_Z).normalize_or(DVec3::NEG_Z).as_vec3();
    let cone = match light.kind {
        ModelLightKind::Distant => {
            return lights.parallel.push((ParallelLight { direction, irradiance: light.strength }, name));
        }
        ModelLightKind::Point => None,
        ModelLightKind::Spot { inner, outer } => Some(Cone::new(direction, inner, outer)),
    };
    let even = PointLight::even(placed.translation.as_vec3(), light.strength);
    lights.points.push((PointLight { cone, ..even }, name));
}
