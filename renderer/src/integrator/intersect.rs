//! What each ray meets first. Those that meet something wait to be shaded, in the order of their materials, so that blocks of
//! one shader are full; the others leave the scene.

use super::clock::Stage;
use super::escape::escape;
use super::path::SurfaceHit;
use super::workspace::Workspace;
use crate::scene::Scene;

/// Traces the rays of all active paths. Those that leave the scene see what is around it.
pub fn intersect(scene: &Scene, work: &mut Workspace) {
    find(scene, work, |work, path| escape(scene, work, path));
}

/// Likewise; calls `leaves` with each path that leaves the scene.
pub fn find(scene: &Scene, work: &mut Workspace, leaves: impl Fn(&mut Workspace, u32)) {
    work.surface_hits.clear();
    work.rays.clear();
    work.rays.extend(work.active.iter().map(|&path| work.paths[path as usize].ray));
    scene.accel.closest_each(&work.rays, &mut work.hits);
    work.clock.end(Stage::Rays);
    for i in 0..work.active.len() {
        let path = work.active[i];
        match work.hits[i] {
            Some(hit) => {
                // Until its surface is needed there is time to fetch this.
                let (shape, primitive) = scene.geometry.find(hit.primitive);
                primitive.prefetch();
                let material = scene.geometry.shape(shape).material;
                work.surface_hits.push(SurfaceHit { path, shape, material, hit });
            }
            None => leaves(work, path),
        }
    }
    work.clock.end(Stage::Environment);
    work.order.sort_by_key(&mut work.surface_hits, &mut work.sorted, scene.materials.len(), |hit| hit.material);
    work.clock.end(Stage::Film);
}
