//! What each ray meets first. Those that meet something wait to be shaded, in the order of their materials, so that blocks of
//! one shader are full; the others leave the scene.

use super::clock::Stage;
use super::escape::escape;
use super::last_vertices::LastVertices;
use super::path::{Path, SurfaceHit};
use super::workspace::Workspace;
use crate::scene::Scene;

/// Traces the rays of all active paths, which have had `step` before, and leaves active those whose rays were traced. Those that
/// leave the scene see what is around it.
pub fn intersect(scene: &Scene, work: &mut Workspace, step: u32) {
    let last = LastVertices::new(scene, work, step);
    if last.matter_where_shapes_emit() {
        let Workspace { active, paths, .. } = &mut *work;
        active.retain(|&path| scene.lights.may_meet_emission(&paths[path as usize].ray));
    }
    match last.matter_nowhere() {
        true => leave(scene, work),
        false => find(scene, work, |path, shape| last.matters(path, shape)),
    }
    escape(scene, work);
    work.clock.end(Stage::Environment);
}

/// Of all rays only finds those that leave the scene.
fn leave(scene: &Scene, work: &mut Workspace) {
    begin(work);
    scene.accel.occluded_each(&work.rays, &mut work.blocked);
    work.clock.end(Stage::Rays);
    let Workspace { leaving, active, blocked, .. } = work;
    leaving.extend(active.iter().zip(blocked).filter(|(_, blocked)| !**blocked).map(|(path, _)| *path));
}

fn begin(work: &mut Workspace) {
    work.surface_hits.clear();
    work.leaving.clear();
    work.rays.clear();
    work.rays.extend(work.active.iter().map(|&path| work.paths[path as usize].ray));
}

/// Finds what each ray meets, and which paths leave the scene. Hits on shapes, by their numbers, that do not `matter` are left out.
pub fn find(scene: &Scene, work: &mut Workspace, matters: impl Fn(&Path, u32) -> bool) {
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
            None => work.leaving.push(path),
        }
    }
    work.clock.end(Stage::Environment);
    work.order.sort_by_key(&mut work.surface_hits, &mut work.sorted, scene.materials.len(), |hit| hit.material);
    work.clock.end(Stage::Film);
}
