//! Meshes whose computed normals are smooth over sharp edges, though nobody asked for it.

use super::codes;
use super::context::Context;
use crate::geometry::{Body, Geometry, TriangleMesh};
use glam::Vec3;
use std::collections::BTreeSet;
use std::ops::Range;

/// The cosine of 40°. At the edges of a box, computed normals lean by 45° or more; on a ball of eight segments, by 23°.
const LEANING: f32 = 0.766;
/// The share of faces with such a corner from which on the mesh is told. Most models have a few.
const TOLD: f32 = 0.05;

/// Warns of them, once for each place in the scene file. `places` are the shapes', by their numbers.
pub fn check(geometry: &Geometry, places: &[Range<usize>], context: &mut Context) {
    let mut said = BTreeSet::new();
    for group in 0..geometry.group_count() {
        for (first, body) in geometry.bodies_of(group) {
            let Body::Mesh(mesh) = body else { continue };
            if !mesh.is_smooth_by_default {
                continue;
            }
            let (share, place) = (leaning(mesh), &places[geometry.shape_of(first) as usize]);
            if share > TOLD && said.insert(place.start) {
                let message = format!(
                    "the file gives no normals, so they are smooth over all edges, sharp ones included: {:.0} % of its faces have one",
                    100.0 * share
                );
                let hint = "add `crease_angle = 30` for hard edges, or `smooth = true` to keep them";
                context.warn(&codes::SHARP_EDGES, place.clone(), message, hint);
            }
        }
    }
}

/// The share of faces on which a vertex's normal leans far from the face's own.
fn leaning(mesh: &TriangleMesh) -> f32 {
    let leans = |triangle: &usize| {
        // Faces to both sides of a sheet share its normals, whichever way they point.
        let own = mesh.geometric_normal(*triangle).normalize_or_zero();
        own != Vec3::ZERO && mesh.indices[*triangle].iter().any(|&i| own.dot(mesh.normals[i as usize]).abs() < LEANING)
    };
    let count = (0..mesh.indices.len()).filter(leans).count();
    count as f32 / mesh.indices.len().max(1) as f32
}
