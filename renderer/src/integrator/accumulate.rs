//! What arrives of light samples, added to their paths.

use super::aov::Recorded;
use super::counts::BatchCounts;
use super::faults::PathFault;
use super::path::Path;
use super::workspace::Workspace;
use super::{emission, visibility};
use crate::light::LightName;
use crate::scene::Scene;
use glam::Vec3;

/// Light that arrives at a path, as the camera gets it.
pub struct Arriving {
    pub light: Vec3,
    /// Of all the way from the light to the camera.
    pub bounces: u32,
    /// The name of the light.
    pub from: LightName,
}

/// Adds light to a path, no more than the scene lets arrive at once, and to the layer of its light. Light that is no
/// number counts as black, and gives false.
#[must_use]
pub fn deliver(scene: &Scene, path: &mut Path, recorded: &mut Recorded, arriving: &Arriving) -> bool {
    let light = scene.integrator.clamp.limit(arriving.light, arriving.bounces);
    let added = path.add(light);
    if added {
        recorded.add_light(path.root, arriving.from, light);
    }
    added
}

/// Adds what arrives of all light samples, in the order in which they were drawn; false if something found at a vertex was no
/// number. The samples and what was found of them stay until they are cleared.
pub fn accumulate_light(scene: &Scene, work: &mut Workspace, counts: &mut BatchCounts) -> bool {
    let Workspace { light, transmittance_rays, emission, clock, paths, recorded, faulty, .. } = work;
    visibility::find(scene, light, transmittance_rays, clock, counts);
    emission::find(scene, light, emission, clock, counts);
    let mut numbers = true;
    for (sample, radiance) in light.samples.iter().zip(&light.radiance) {
        let visibility = light.visibility_of(sample);
        if visibility == Vec3::ZERO {
            continue;
        }
        let light = sample.weight * visibility * *radiance;
        let arriving = Arriving { light, bounces: sample.bounces, from: sample.from };
        let added = deliver(scene, &mut paths[sample.path as usize], recorded, &arriving);
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
