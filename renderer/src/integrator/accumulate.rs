//! What arrives of light samples, added to their paths.

use super::counts::BatchCounts;
use super::faults::PathFault;
use super::workspace::Workspace;
use super::{emission, visibility};
use crate::scene::Scene;
use glam::Vec3;

/// Adds what arrives of all light samples, in the order in which they were drawn; false if something found at a vertex was no
/// number. The samples and what was found of them stay until they are cleared.
pub fn accumulate_light(scene: &Scene, work: &mut Workspace, counts: &mut BatchCounts) -> bool {
    let Workspace { light, transmittance_rays, emission, clock, paths, faulty, .. } = work;
    visibility::find(scene, light, transmittance_rays, clock, counts);
    emission::find(scene, light, emission, clock, counts);
    let mut numbers = true;
    for (sample, radiance) in light.samples.iter().zip(&light.radiance) {
        let visibility = light.visibility_of(sample);
        if visibility == Vec3::ZERO {
            continue;
        }
        let added = paths[sample.path as usize].add(sample.weight * visibility * *radiance);
        if let (false, Some(vertex)) = (added, sample.vertex) {
            numbers = false;
            let fault = PathFault { path: sample.path, vertex };
            // A hit is told once, whatever of it was no number.
            if !faulty.contains(&fault) {
                faulty.push(fault);
            }
        }
    }
    numbers
}
