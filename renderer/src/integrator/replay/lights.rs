//! The way back to shapes that light samples were drawn on: their shaders said what they send out.

use super::{Gather, Kept, Sweep};
use crate::geometry::surface;
use crate::integrator::light_samples::EmitterPoint;
use crate::integrator::order::block_end;
use crate::integrator::workspace::Workspace;
use crate::material::{Part, ShadingPoint};
use crate::scene::Scene;
use glam::Vec3;

/// The emitters of a step.
#[derive(Default)]
pub struct Lights {
    /// With the path, and the cotangent of the radiance.
    emitters: Vec<(Box<EmitterPoint>, u32, Vec3)>,
    points: Vec<ShadingPoint>,
    paths: Vec<u32>,
}

/// Takes the light samples of a step back to the shapes on which they were drawn.
pub fn back(
    scene: &Scene,
    (kept, cotangents): (&mut [Kept], &[Vec3]),
    work: &Workspace,
    sweep: &mut Sweep,
    gather: &mut impl Gather,
) {
    let emitters = &mut sweep.lights.emitters;
    emitters.clear();
    for block in kept {
        for light in &mut block.lights {
            let sample = &work.light.samples[light.sample as usize];
            let arrives = sample.weight * work.light.visibility_of(sample);
            if let Some(point) = light.drawn.take()
                && arrives != Vec3::ZERO
            {
                emitters.push((point, sample.path, cotangents[sample.path as usize] * arrives));
            }
        }
    }
    emitters.sort_by_key(|(point, ..)| point.material);
    let mut begin = 0;
    while begin < sweep.lights.emitters.len() {
        let end = block_end(&sweep.lights.emitters, begin, |(point, ..)| point.material);
        pull_back(scene, begin..end, sweep, gather);
        begin = end;
    }
}

/// Takes a block of one material back.
fn pull_back(scene: &Scene, block: std::ops::Range<usize>, sweep: &mut Sweep, gather: &mut impl Gather) {
    let Sweep { table, scratch, lights, .. } = sweep;
    let Lights { emitters, points, paths } = lights;
    let block = &emitters[block];
    let whole = &scene.materials[block[0].0.material as usize];
    let Some(emission) = whole.emission() else { return };
    points.clear();
    points.extend(block.iter().map(|(point, ..)| {
        let EmitterPoint { drawn, ray, differential, ray_depth, .. } = &**point;
        ShadingPoint {
            hit: drawn.hit,
            surface: surface::asked_at(&scene.geometry, ray, &drawn.hit, emission.asked()),
            partials: surface::partials_at(&scene.geometry, ray, differential, &drawn.hit, emission.wanted()),
            incident: drawn.wi,
            time: ray.time,
            ray_depth: *ray_depth,
        }
    }));
    paths.clear();
    paths.extend(block.iter().map(|(_, path, _)| *path));
    let scattered = (1 << block.len()) - 1;
    let textures = scene.textures.scattered(scattered);
    emission.emitted(points, scene.surroundings(), &textures, scratch);
    let rows = emission.table_rows(scratch).to_vec();
    let mut own = Default::default();
    let entries = emission.entries(&rows, points, &mut own);
    emission.begin_cotangents(&own, table);
    for (lane, (_, _, cotangent)) in block.iter().enumerate() {
        emission.add_emission((&rows, &points[lane], lane), &entries[lane], *cotangent, table);
    }
    emission.settle((&rows, points), &entries, &own, table);
    // Its look-ups are drawn anew, as they were.
    let textures = scene.textures.scattered(scattered);
    whole.pull_back(Part::Emission, points, (scene.surroundings(), &textures), table, scratch, |by, row| {
        gather.add(by, row, paths);
    });
}
