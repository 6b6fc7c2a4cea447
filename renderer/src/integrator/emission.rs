//! Radiance of light samples: what the environment has in their directions, and what shaders of emitters say at their
//! points, each of many at once. What would not arrive is not asked.

use super::clock::{Clock, Stage, Timed};
use super::counts::BatchCounts;
use super::light_samples::{LightSamples, Source};
use super::occupancy::Kind;
use super::order::block_end;
use crate::geometry::surface;
use crate::light::Drawn;
use crate::material::ShadingPoint;
use crate::ray::{Ray, RayDifferential};
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::HostServices;

/// A point of a shape that light sampling drew and whose shader says what it sends out.
#[derive(Clone, Copy, Debug)]
pub struct EmitterPoint {
    pub drawn: Drawn,
    pub material: u32,
    /// What the shape itself sends out there.
    pub of_shape: Vec3,
    /// From the vertex.
    pub ray: Ray,
    /// That a path has there which the lobes send the same way.
    pub differential: RayDifferential,
    pub ray_depth: u32,
}

/// Finds the radiance of all samples of which something arrives.
pub fn find(scene: &Scene, light: &mut LightSamples, clock: &mut Clock, counts: &mut BatchCounts) {
    light.radiance.clear();
    light.radiance.resize(light.samples.len(), Vec3::ZERO);
    light.memory.asked.clear();
    light.memory.gazes.clear();
    for (i, sample) in light.samples.iter().enumerate() {
        if light.visibility_of(sample) == Vec3::ZERO {
            continue;
        }
        match sample.source {
            Source::Known(radiance) => light.radiance[i] = radiance,
            Source::Environment(direction) => light.memory.gazes.push(light.directions[direction as usize]),
            Source::Emitter(_) => light.memory.asked.push(i as u32),
        }
    }
    ask_emitters(scene, light, clock, counts);
    look_up_environment(scene, light, counts);
    clock.end(Stage::Environment);
}

fn look_up_environment(scene: &Scene, light: &mut LightSamples, counts: &mut BatchCounts) {
    let memory = &mut light.memory;
    let look_ups = scene.environment.radiances(&scene.textures, &memory.gazes, &mut memory.found);
    counts.occupancy.filled(Kind::Environment, look_ups);
    let mut found = memory.found.iter();
    for (i, sample) in light.samples.iter().enumerate() {
        let arrives = sample.shadow_ray.is_none_or(|ray| light.visibility[ray as usize] != Vec3::ZERO);
        if arrives && matches!(sample.source, Source::Environment(_)) {
            // There is one for each.
            light.radiance[i] = found.next().copied().unwrap_or_default();
        }
    }
}

/// Asks shaders in blocks of one material.
fn ask_emitters(scene: &Scene, light: &mut LightSamples, clock: &mut Clock, counts: &mut BatchCounts) {
    let (memory, samples, emitters) = (&mut light.memory, &light.samples, &light.emitters);
    if memory.asked.is_empty() {
        return;
    }
    let point = |sample: u32| match samples[sample as usize].source {
        Source::Emitter(number) => &emitters[number as usize],
        other => unreachable!("only emitters are asked: {other:?}"),
    };
    let material = |sample: &u32| point(*sample).material;
    memory.order.sort_by_key(&mut memory.asked, &mut memory.asked_sorted, scene.materials.len(), material);
    let mut begin = 0;
    while begin < memory.asked.len() {
        let end = block_end(&memory.asked, begin, material);
        let block = &memory.asked[begin..end];
        begin = end;
        block.iter().for_each(|sample| light.radiance[*sample as usize] = point(*sample).of_shape);
        let Some(emission) = scene.materials[material(&block[0]) as usize].emission() else { continue };
        memory.points.clear();
        memory.points.extend(block.iter().map(|sample| {
            let EmitterPoint { drawn, ray, differential, ray_depth, .. } = point(*sample);
            ShadingPoint {
                hit: drawn.hit,
                surface: surface::asked_at(&scene.geometry, ray, &drawn.hit, emission.asked()),
                partials: surface::partials_at(&scene.geometry, ray, differential, &drawn.hit, emission.wanted()),
                incident: drawn.wi,
                time: ray.time,
                ray_depth: *ray_depth,
            }
        }));
        let textures = scene.textures.scattered((1 << block.len()) - 1);
        let timed = Timed::new(&textures);
        let host: &dyn HostServices = if clock.runs() { &timed } else { &textures };
        let emitted = emission.emitted(&memory.points, scene.surroundings(), host, &mut memory.scratch);
        counts.occupancy.block(Kind::Emission, block.len());
        for (sample, emitted) in block.iter().zip(emitted) {
            light.radiance[*sample as usize] += emitted;
        }
        clock.end(Stage::Shaders);
        clock.times.was(timed.nanoseconds(), Stage::Shaders, Stage::Textures);
    }
}
