//! Meshes without texture coordinates whose materials read some. They show one texel everywhere, which nobody means.

use super::codes;
use super::context::Context;
use crate::geometry::{Body, Geometry};
use crate::material::Material;
use glam::Vec2;
use std::collections::BTreeSet;
use std::ops::Range;

/// Warns of them, once for each place in the scene file. `places` are the shapes', by their numbers; `of_files` says of
/// materials whether a file brought them without an image, so that nobody sees what they read.
pub fn check(
    geometry: &Geometry,
    materials: &[Material],
    of_files: impl Fn(usize) -> bool,
    places: &[Range<usize>],
    context: &mut Context,
) {
    let mut said = BTreeSet::new();
    for group in 0..geometry.group_count() {
        for (first, body) in geometry.bodies_of(group) {
            let Body::Mesh(mesh) = body else { continue };
            if mesh.indices.is_empty() {
                continue;
            }
            let shape = geometry.shape_of(first);
            let number = geometry.shape(shape).material as usize;
            let Some(material) = materials.get(number).filter(|m| m.asked().uv && !of_files(number)) else { continue };
            // What a file does not give is filled up with 0.
            if mesh.uvs.iter().any(|uv| *uv != Vec2::ZERO) {
                continue;
            }
            let place = &places[shape as usize];
            if said.insert((place.start, number)) {
                let message =
                    format!("the mesh has no texture coordinates, which its material `{}` reads", material.name);
                let hint = "they are 0 all over; unwrap the mesh, or compute them in the shader from the position";
                context.warn(&codes::NO_COORDINATES, place.clone(), message, hint);
            }
        }
    }
}
