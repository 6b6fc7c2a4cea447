//! The way back to lights: to the strengths that the scene's file gives them, and to the shaders of shapes that light samples
//! were drawn on.

use super::gather::Gather;
use super::gradient_slots::GradientSlots;
use super::kept::Kept;
use super::parts::{Asked, Parts};
use crate::integrator::escape::shares_of_suns;
use crate::integrator::light_samples::{EmitterPoint, Origin, Source};
use crate::integrator::order::block_end;
use crate::integrator::vertices::Vertices;
use crate::integrator::workspace::Workspace;
use crate::light::LightId;
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
    of_light: Vec<Vec3>,
}

/// Takes what shapes sent towards the paths that met them back to the shapes' own emission.
pub fn back_from_vertices(vertices: &Vertices, cotangents: &[Vec3], by: &GradientSlots, gather: &mut impl Gather) {
    for lane in vertices.lanes() {
        let (path, surface) = (vertices.paths[lane], &vertices.points[lane].surface);
        if let Some((first, factor)) = by.of_shape(surface.shape).filter(|_| !surface.backfacing) {
            let of_radiance = cotangents[path as usize] * vertices.throughput.get(lane);
            gather.add_color(first, factor * of_radiance * vertices.emission[lane].share, path);
        }
    }
}

/// Takes the light samples of a step back to lights, and to the shapes on which they were drawn.
pub fn back(
    scene: &Scene,
    (kept, cotangents): (&mut [Kept], &[Vec3]),
    (work, by): (&Workspace, &GradientSlots),
    (lights, parts): (&mut Lights, &mut Parts),
    gather: &mut impl Gather,
) {
    let emitters = &mut lights.emitters;
    emitters.clear();
    for block in kept {
        for light in &mut block.lights {
            let sample = &work.light.samples[light.sample as usize];
            let arrives = sample.weight * work.light.visibility_of(sample);
            if arrives == Vec3::ZERO {
                continue;
            }
            let cotangent = cotangents[sample.path as usize] * arrives;
            let mut add = |place: Option<(u32, Vec3)>, per_unit: f32| {
                if let Some((first, factor)) = place {
                    gather.add_color(first, factor * cotangent * per_unit, sample.path);
                }
            };
            match &mut light.origin {
                Origin::Light(place, per_unit) => add(by.of_light(*place), *per_unit),
                Origin::Shape { shape, front, point } => {
                    add(by.of_shape(*shape).filter(|_| *front), 1.0);
                    emitters.extend(point.take().map(|point| (point, sample.path, cotangent)));
                }
                // It is found with what paths see that leave the scene.
                Origin::Environment => {}
            }
        }
    }
    emitters.sort_by_key(|(point, ..)| point.material);
    let mut begin = 0;
    while begin < lights.emitters.len() {
        let end = block_end(&lights.emitters, begin, |(point, ..)| point.material);
        pull_back(scene, begin..end, by, (lights, parts), gather);
        begin = end;
    }
}

/// Takes what came from the environment back to its colors, and what paths saw of disks in the sky back to those.
pub fn back_from_sky(
    scene: &Scene,
    work: &Workspace,
    cotangents: &[Vec3],
    by: &GradientSlots,
    gather: &mut impl Gather,
) {
    let environment = by.of_environment();
    let wants_colors = environment.iter().any(Option::is_some);
    let (wants_environment, wants_suns) = (wants_colors || by.environment_texels, by.has_suns());
    if !wants_environment && !wants_suns {
        return;
    }
    for sample in &work.light.samples {
        let cotangent = cotangents[sample.path as usize] * sample.weight * work.light.visibility_of(sample);
        if cotangent == Vec3::ZERO {
            continue;
        }
        match sample.source {
            Source::Environment(direction) if wants_environment => {
                let from = &work.light.directions[direction as usize];
                if by.environment_texels {
                    scene.environment.pull_back_to_texels(&scene.textures, from, cotangent);
                }
                if !wants_colors {
                    continue;
                }
                let colors = scene.environment.pull_back(&scene.textures, from, cotangent);
                for (place, color) in environment.iter().zip(colors) {
                    if let Some((first, factor)) = place {
                        gather.add_color(*first, *factor * color, sample.path);
                    }
                }
            }
            Source::Sun(number, _) if wants_suns => {
                let path = &work.paths[sample.path as usize];
                let sun = &scene.suns[number as usize].0;
                let share =
                    shares_of_suns(scene, path).find(|(i, _)| *i == number as usize).map_or(0.0, |found| found.1);
                let covers = sun.pdf(path.ray.direction) > 0.0;
                if let Some((first, factor)) = by.of_light(LightId::Sun(number)).filter(|_| covers) {
                    gather.add_color(first, factor * cotangent * (share * sun.per_unit()), sample.path);
                }
            }
            _ => {}
        }
    }
}

/// Takes a block of one material back.
fn pull_back(
    scene: &Scene,
    block: std::ops::Range<usize>,
    slots: &GradientSlots,
    (lights, parts): (&mut Lights, &mut Parts),
    gather: &mut impl Gather,
) {
    let Lights { emitters, points, paths, of_light } = lights;
    let block = &emitters[block];
    let material = block[0].0.material;
    let Some(emission) = scene.materials[material as usize].emission() else { return };
    points.clear();
    points.extend(block.iter().map(|(point, ..)| point.shading_point(&scene.geometry, emission)));
    paths.clear();
    paths.extend(block.iter().map(|(_, path, _)| *path));
    of_light.clear();
    of_light.extend(block.iter().map(|(.., cotangent)| *cotangent));
    let scattered = (1 << block.len()) - 1;
    let asked = Asked { material, part: Part::Emission, points, paths, scattered, look_ups: &[], cotangents: of_light };
    asked.back(scene, slots, parts, gather);
}
