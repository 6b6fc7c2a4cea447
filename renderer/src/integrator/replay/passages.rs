//! The way back to see-through surfaces between vertices and their light samples. What arrives is the product of what all of
//! them let pass, so by the product rule each gets the cotangent times what the others let pass.

use super::gather::Gather;
use super::gradient_slots::GradientSlots;
use super::parts::{Asked, Parts};
use super::sweep::over;
use crate::integrator::order::block_end;
use crate::integrator::visibility::PassedSurface;
use crate::integrator::workspace::Workspace;
use crate::material::{Part, ShadingPoint};
use crate::scene::Scene;
use glam::Vec3;

/// One thread's memory, used over and over.
#[derive(Default)]
pub struct Passages {
    /// By shadow ray, the path that it belongs to, and the cotangent of what it let arrive.
    of_rays: Vec<(u32, Vec3)>,
    points: Vec<ShadingPoint>,
    paths: Vec<u32>,
    look_ups: Vec<u32>,
    cotangents: Vec<Vec3>,
}

/// Takes the light samples of a step back to what the surfaces let pass.
pub fn back(
    scene: &Scene,
    (work, cotangents): (&mut Workspace, &[Vec3]),
    slots: &GradientSlots,
    (memory, parts): (&mut Passages, &mut Parts),
    gather: &mut impl Gather,
) {
    let light = &work.light;
    let Some(passed) = work.transmittance_rays.followed.as_mut().filter(|passed| !passed.is_empty()) else { return };
    memory.of_rays.clear();
    memory.of_rays.resize(light.shadow_rays.len(), (0, Vec3::ZERO));
    for (sample, radiance) in light.samples.iter().zip(&light.radiance) {
        let Some(ray) = sample.shadow_ray else { continue };
        let arrives = sample.weight * *radiance * light.visibility[ray as usize];
        let (path, sum) = &mut memory.of_rays[ray as usize];
        *path = sample.path;
        *sum += cotangents[sample.path as usize] * arrives;
    }
    passed.retain(|p| memory.of_rays[p.shadow_ray as usize].1 != Vec3::ZERO);
    passed.sort_by_key(|p| p.material);
    let mut begin = 0;
    while begin < passed.len() {
        let end = block_end(passed, begin, |p| p.material);
        back_through(scene, &passed[begin..end], slots, (memory, parts), gather);
        begin = end;
    }
}

/// Those of one material.
fn back_through(
    scene: &Scene,
    block: &[PassedSurface],
    slots: &GradientSlots,
    (memory, parts): (&mut Passages, &mut Parts),
    gather: &mut impl Gather,
) {
    let Passages { of_rays, points, paths, look_ups, cotangents } = memory;
    points.clear();
    points.extend(block.iter().map(|p| p.point));
    paths.clear();
    paths.extend(block.iter().map(|p| of_rays[p.shadow_ray as usize].0));
    look_ups.clear();
    look_ups.extend(block.iter().map(|p| p.look_ups));
    cotangents.clear();
    cotangents.extend(block.iter().map(|p| over(of_rays[p.shadow_ray as usize].1, p.share)));
    let bit = |(lane, p): (usize, &PassedSurface)| u32::from(p.scattered) << lane;
    let scattered = block.iter().enumerate().map(bit).sum();
    let asked =
        Asked { material: block[0].material, part: Part::Passage, points, paths, scattered, look_ups, cotangents };
    asked.back(scene, slots, parts, gather);
}
