//! Those who look on while paths are traced: layers, views, and the list of faults. They read the arrays of the stages
//! and change no light. Who writes paths down is in `probing`, who follows light samples in `followed_lights`.

use super::aov::FirstHit;
use super::faults::PathFault;
use super::path_tracer;
use super::termination::Termination;
use super::view::{Shown, View};
use super::workspace::Workspace;
use crate::film::Shape;
use crate::scene::Scene;

/// Keeps the values of first hits for the layers of the picture.
pub fn record_layers(scene: &Scene, work: &mut Workspace) {
    let Workspace { vertices, recorded, scratch, .. } = work;
    if vertices.step > 0 || recorded.shape() == Shape::default() {
        return;
    }
    for lane in vertices.lanes() {
        let (point, bsdf) = (&vertices.points[lane], vertices.bsdf(scene, lane));
        let material = (vertices.material, &scene.materials[vertices.material as usize]);
        let hit = FirstHit { point, bsdf: &bsdf, material, outputs: (scratch, lane), distance: point.hit.t };
        let numbers = recorded.record(scene, vertices.paths[lane] as usize, &hit);
        vertices.finite[lane] &= numbers;
    }
}

/// Shows hits in place of light. Where a view shows what mirrors see, paths go on.
pub fn show(scene: &Scene, work: &mut Workspace, view: View) {
    let Workspace { vertices, paths, seen, .. } = work;
    for lane in vertices.lanes() {
        let bsdf = vertices.bsdf(scene, lane);
        let mirrors = !vertices.is_last(scene, lane) && !bsdf.is_empty() && !bsdf.has_non_specular_lobe();
        let (point, shaded) = (&vertices.points[lane], &vertices.shaded[lane]);
        if let Some(shown) = view.of_hit(scene, &Shown { point, shaded, bsdf: &bsdf, seen: (seen, lane), mirrors }) {
            paths[vertices.paths[lane] as usize].radiance = shown;
            vertices.terminated[lane] = Some(Termination::Shown);
        }
    }
    path_tracer::scatter(scene, work);
}

/// Tells of vertices that came to something that is no number.
pub fn tell_faults(work: &mut Workspace) {
    let Workspace { vertices, paths, faulty, .. } = work;
    for lane in vertices.lanes().filter(|&lane| !vertices.finite[lane]) {
        let path = vertices.paths[lane];
        paths[path as usize].faulty = true;
        faulty.push(PathFault { path, vertex: vertices.named(lane) });
    }
}
