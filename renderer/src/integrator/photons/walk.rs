//! The way of photons: the stages that paths from the camera take, without those that look for light.

use crate::integrator::differentials::Differentials;
use crate::integrator::intersect;
use crate::integrator::order::block_end;
use crate::integrator::path::Path;
use crate::integrator::scatter::{sample_lobes, spawn_rays};
use crate::integrator::shading;
use crate::integrator::workspace::Workspace;
use crate::sampler::Sampler;
use crate::scene::Scene;
use std::ops::Range;

/// What becomes of photons at the surfaces that they meet.
pub trait PhotonVisitor {
    /// A block of them has come to surfaces, which are shaded.
    fn arrive(&mut self, scene: &Scene, work: &mut Workspace);

    /// The lobes gave them directions.
    fn go_on(&mut self, scene: &Scene, work: &mut Workspace);
}

/// The samplers of photons by their numbers. Their pixel is none of the picture's.
pub fn samplers(seed: u32, numbers: Range<u32>) -> impl Iterator<Item = Sampler> {
    numbers.map(move |number| Sampler::new(seed, (u32::MAX, u32::MAX), number))
}

/// Traces photons to their ends, or as far as so many surfaces.
pub fn walk(
    scene: &Scene,
    work: &mut Workspace,
    photons: impl IntoIterator<Item = Path>,
    surfaces: u32,
    visitor: &mut impl PhotonVisitor,
) {
    work.paths.clear();
    work.paths.extend(photons);
    work.active.clear();
    work.active.extend(0..work.paths.len() as u32);
    for step in 0..surfaces {
        intersect::find(scene, work, |_, _| true);
        work.active.clear();
        let mut begin = 0;
        while begin < work.surface_hits.len() {
            let end = block_end(&work.surface_hits, begin, |hit| hit.material);
            shading::shade(scene, work, begin..end, step, Differentials::Never);
            visitor.arrive(scene, work);
            sample_lobes(scene, work, |_, _, _| None);
            visitor.go_on(scene, work);
            spawn_rays(work);
            begin = end;
        }
        if work.active.is_empty() {
            break;
        }
    }
    work.said.clear();
    scene.textures.cache().release();
}
