//! Radiance of light samples: what the environment has in their directions, and what shaders of emitters say at their
//! points, each of many at once. What would not arrive is not asked.

use super::clock::{Clock, Stage, Timed};
use super::counts::BatchCounts;
use super::light_samples::{LightSamples, Source};
use super::occupancy::Kind;
use super::order::{Order, block_end};
use crate::light::DirectionFootprint;
use crate::material::{Scratch, ShadingPoint};
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::HostServices;

/// The memory of this stage.
#[derive(Default)]
pub struct EmissionMemory {
    directions: Vec<DirectionFootprint>,
    found: Vec<Vec3>,
    /// Numbers of samples.
    asked: Vec<u32>,
    sorted: Vec<u32>,
    order: Order,
    points: Vec<ShadingPoint>,
    scratch: Scratch,
}

/// Finds the radiance of all samples of which something arrives.
pub fn find(
    scene: &Scene,
    light: &mut LightSamples,
    memory: &mut EmissionMemory,
    clock: &mut Clock,
    counts: &mut BatchCounts,
) {
    light.radiance.clear();
    light.radiance.resize(light.samples.len(), Vec3::ZERO);
    memory.asked.clear();
    memory.directions.clear();
    for (i, sample) in light.samples.iter().enumerate() {
        if light.visibility_of(sample) == Vec3::ZERO {
            continue;
        }
        match sample.source {
            Source::Known(radiance) | Source::Sun(_, radiance) => light.radiance[i] = radiance,
            Source::Environment(direction) => memory.directions.push(light.directions[direction as usize]),
            Source::Emitter(_) => memory.asked.push(i as u32),
        }
    }
    ask_emitters(scene, light, memory, clock, counts);
    look_up_environment(scene, light, memory, counts);
    clock.end(Stage::Environment);
}

fn look_up_environment(scene: &Scene, light: &mut LightSamples, memory: &mut EmissionMemory, counts: &mut BatchCounts) {
    let look_ups = scene.environment.radiances(&scene.textures, &memory.directions, &mut memory.found);
    counts.occupancy.filled(Kind::Environment, look_ups);
    let mut found = memory.found.iter();
    for (i, sample) in light.samples.iter().enumerate() {
        if light.visibility_of(sample) != Vec3::ZERO && matches!(sample.source, Source::Environment(_)) {
            // There is one for each.
            light.radiance[i] = found.next().copied().unwrap_or_default();
        }
    }
}

/// Asks shaders in blocks of one material.
fn ask_emitters(
    scene: &Scene,
    light: &mut LightSamples,
    memory: &mut EmissionMemory,
    clock: &mut Clock,
    counts: &mut BatchCounts,
) {
    let (samples, emitters) = (&light.samples, &light.emitters);
    if memory.asked.is_empty() {
        return;
    }
    let point = |sample: u32| match samples[sample as usize].source {
        Source::Emitter(number) => &emitters[number as usize],
        other => unreachable!("only emitters are asked: {other:?}"),
    };
    let material = |sample: &u32| point(*sample).material;
    memory.order.sort_by_key(&mut memory.asked, &mut memory.sorted, scene.materials.len(), material);
    let mut begin = 0;
    while begin < memory.asked.len() {
        let end = block_end(&memory.asked, begin, material);
        let block = &memory.asked[begin..end];
        begin = end;
        block.iter().for_each(|sample| light.radiance[*sample as usize] = point(*sample).of_shape);
        let Some(emission) = scene.materials[material(&block[0]) as usize].emission() else { continue };
        memory.points.clear();
        memory.points.extend(block.iter().map(|sample| point(*sample).shading_point(&scene.geometry, emission)));
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
