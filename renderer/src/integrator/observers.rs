//! Those who look on while paths are traced: layers, views, the record of a path, and the list of faults. They read the arrays of
//! the stages and change no light.

use super::accumulate::accumulate_light;
use super::aov::FirstHit;
use super::counts::BatchCounts;
use super::faults::PathFault;
use super::path_tracer;
use super::probe::{ProbedDirection, ProbedHit};
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

/// Writes a vertex down, if somebody follows the path: blocks are of one lane then. What light samples bring must be known.
pub fn write_down(scene: &Scene, work: &mut Workspace, counts: &mut BatchCounts) {
    if work.probe.is_none() {
        return;
    }
    let delivered = accumulate_light(scene, work, counts);
    let lights = work.noted.drain(..).map(|note| note.told(&work.light)).collect();
    work.light.clear();
    let Workspace { vertices, paths, scratch, seen, probe: Some(probe), .. } = work else { return };
    // The only one.
    let lane = 0;
    let material = &scene.materials[vertices.material as usize];
    let (point, emission) = (&vertices.points[lane], vertices.emission[lane]);
    let of_lane = seen.look_ups.iter().filter(|(l, _)| *l == lane);
    let next = vertices.next[lane].map(|next| ProbedDirection {
        wi: next.wi.to_array(),
        pdf: next.pdf,
        weight: next.weight.to_array(),
        specular: next.specular.is_some(),
        refracted: next.refracted.is_some(),
        survival: vertices.survival[lane],
        // Who follows a path wants all partials, so there is one.
        differential: vertices.next_differentials.get(lane).copied().unwrap_or_default().into(),
    });
    probe.hits.push(ProbedHit {
        bounce: vertices.depth(lane),
        material: material.name.clone(),
        distance: point.hit.t,
        throughput: vertices.throughput.get(lane).to_array(),
        globals: scene.values.all(point, scene.surroundings()),
        look_ups: of_lane.map(|(_, look_up)| look_up.clone()).collect(),
        lobes: material.lobe_values(scratch, lane),
        numbers: vertices.finite[lane] && delivered,
        emission: vertices.shaded[lane].emission.to_array(),
        shape_emission: emission.radiance.to_array(),
        shape_emission_share: emission.share,
        lights,
        next,
        end: vertices.terminated[lane].map(Termination::text),
        radiance: paths[vertices.paths[lane] as usize].radiance.to_array(),
    });
}
