//! Light samples of paths, and the shadow rays that test whether their light arrives: for all paths of a wavefront
//! together, as many rays at once cost less than one after the other.

use super::clock::Stage;
use super::occupancy::Kind;
use super::path::Workspace;
use super::wavefront::BatchCounts;
use crate::light::Gaze;
use crate::ray::Ray;
use crate::scene::Scene;
use glam::Vec3;

/// Light on its way to a path.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub sender: Sender,
    /// Along which something may stand; none where it has arrived.
    pub ray: Option<Ray>,
    pub light: Light,
}

/// The path that the light is for, and what is to be named where it is no number.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub path: u32,
    /// The bounce and the material of the hit that it was found at; none of what a path saw itself, which is clean, so that
    /// only overflow is left, and that is nobody's fault but the sample's.
    pub hit: Option<(u32, u32)>,
}

/// How much it is, as the camera gets it.
#[derive(Clone, Copy, Debug)]
pub enum Light {
    Known(Vec3),
    /// What the environment has in a direction, times a scale.
    Environment {
        scale: Vec3,
        gaze: Gaze,
    },
}

/// Adds what arrives of all that was sent, in that order; false if something found at a hit was no number.
pub fn deliver(scene: &Scene, work: &mut Workspace, counts: &mut BatchCounts) -> bool {
    work.rays.clear();
    work.rays.extend(work.sent.iter().filter_map(|sent| sent.ray));
    scene.accel.occluded_each(&work.rays, &mut work.blocked);
    work.clock.end(Stage::Shadows);
    let mut blocked = work.blocked.iter();
    work.sent.retain(|sent| sent.ray.is_none() || blocked.next() != Some(&true));
    work.looked_at.clear();
    work.looked_at.extend(work.sent.iter().filter_map(|sent| match sent.light {
        Light::Known(_) => None,
        Light::Environment { gaze, .. } => Some(gaze),
    }));
    let look_ups = scene.environment.radiances(&scene.textures, &work.looked_at, &mut work.radiances);
    counts.occupancy.filled(Kind::Environment, look_ups);
    let mut radiances = work.radiances.iter();
    let mut numbers = true;
    for Sent { sender, light, .. } in work.sent.drain(..) {
        let light = match light {
            Light::Known(light) => light,
            // There is one for each.
            Light::Environment { scale, .. } => scale * radiances.next().copied().unwrap_or_default(),
        };
        let added = work.paths[sender.path as usize].add(light);
        if let (false, Some((depth, material))) = (added, sender.hit) {
            numbers = false;
            let fault = (sender.path, depth, material);
            // A hit is told once, whatever of it was no number.
            if !work.faulty.contains(&fault) {
                work.faulty.push(fault);
            }
        }
    }
    work.clock.end(Stage::Environment);
    numbers
}
