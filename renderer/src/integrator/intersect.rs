//! What each ray meets first. Those that meet something wait to be shaded, in the order of their materials, so that blocks of
//! one shader are full; the others leave the scene.

use super::clock::Stage;
use super::escape::escape;
use super::last_vertices::LastVertices;
use super::path::{Path, SurfaceHit};
use super::workspace::Workspace;
use crate::scene::Scene;

/// Traces the rays of all active paths, which have had `step` before. Those that leave the scene see what is around it.
pub fn intersect(scene: &Scene, work: &mut Workspace, step: u32) {
    let last = LastVertices::new(scene, work, step);
    let leaves = |work: &mut Workspace, path| escape(scene, work, path);
    if last.matter_nowhere() {
        return leave(scene, work, leaves);
    }
    find(scene, work, |path, shape| last.matters(path, shape), leaves);
}

/// Of all rays only finds those that leave the scene.
fn leave(scene: &Scene, work: &mut Workspace, leaves: impl Fn(&mut Workspace, u32)) {
    begin(work);
    scene.accel.occluded_each(&work.rays, &mut work.blocked);
    work.clock.end(Stage::Rays);
    for i in 0..work.active.len() {
        if !work.blocked[i] {
            leaves(work, work.active[i]);
        }
    }
    work.clock.end(Stage::Environment);
}

fn begin(work: &mut Workspace) {
    work.surface_hits.clear();
    work.rays.clear();
    work.rays.extend(work.active.iter().map(|&path| work.paths[path as usize].ray));
}

/// Finds what each ray meets; calls `leaves` with each path that leaves the scene. Hits on shapes, by their numbers, that do not
/// `matter` are left out.
pub fn find(
    scene: &Scene,
    work: &mut Workspace,
    matters: impl Fn(&Path, u32) -> bool,
    leaves: impl Fn(&mut Workspace, u32),
) {
    begin(work);
    scene.accel.closest_each(&work.rays, &mut work.hits);
    work.clock.end(Stage::Rays);
    for i in 0..work.active.len() {
        let path = work.active[i];
        match work.hits[i] {
            Some(hit) => {
                // Until its surface is needed there is time to fetch this.
                let (shape, primitive) = scene.geometry.find(hit.primitive);
                if matters(&work.paths[path as usize], shape) {
                    primitive.prefetch();
                    let material = scene.geometry.shape(shape).material;
                    work.surface_hits.push(SurfaceHit { path, shape, material, hit });
                }
            }
            None => leaves(work, path),
        }
    }
    work.clock.end(Stage::Environment);
    work.order.sort_by_key(&mut work.surface_hits, &mut work.sorted, scene.materials.len(), |hit| hit.material);
    work.clock.end(Stage::Film);
}
