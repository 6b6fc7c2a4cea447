//! Follows one sample of one pixel and records it.

use super::{Ready, RenderError, RenderOptions, job::STACK_BYTES, trace_photons};
use crate::film::Tile;
use crate::integrator::photons::PhotonBudget;
use crate::integrator::probe::Probe;
use crate::integrator::{self, Recorded, Workspace};
use crate::math::figures;
use crate::scene::Scene;
use serde::Serialize;

/// A path and what it brought.
#[derive(Clone, Debug, Serialize)]
pub struct FollowedPath {
    pub pixel: [u32; 2],
    pub sample: u32,
    /// What the sample adds to the pixel, before the mean.
    #[serde(serialize_with = "figures::serialize")]
    pub radiance: [f32; 3],
    #[serde(flatten)]
    pub path: Probe,
}

/// Follows sample number `sample` of the pixel (x, y) of the picture that `options` make of the scene, exactly as the render
/// does. Views do not count.
pub fn follow(
    scene: &mut Scene,
    options: &RenderOptions,
    (x, y): (u32, u32),
    sample: u32,
) -> Result<FollowedPath, RenderError> {
    let plan = options.plan(scene).map_err(RenderError::Options)?;
    let w = plan.window;
    if !(w.x0..w.x1).contains(&x) || !(w.y0..w.y1).contains(&y) {
        let (right, bottom) = (w.x1 - 1, w.y1 - 1);
        let why = format!("the pixel {x},{y} is not among those from {},{} to {right},{bottom}", w.x0, w.y0);
        return Err(RenderError::Options(why));
    }
    if sample >= plan.samples {
        return Err(RenderError::Options(format!("of {} samples a pixel, there is no {sample}", plan.samples)));
    }
    let Ready { camera, pattern } = Ready::new(scene, options, &plan);
    // Shaders may recurse deeply: the stack must be as large as in a render.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK_BYTES).build();
    let pool = pool.map_err(|e| RenderError::Machine(format!("a thread could not be started: {e}")))?;
    let budget = PhotonBudget { rounds: plan.photon_rounds, cancelled: &|| false, late: &|| false };
    trace_photons(scene, (&camera, &plan), &pool, &budget);
    let scene = &*scene;
    let (pixel, sample) = ([x, y], sample..sample + 1);
    let mut work = Workspace { probe: Some(Probe::default()), ..Workspace::default() };
    work.recorded = Recorded::new(plan.aovs.clone(), plan.shape(), &scene.light_names);
    let tile = Tile { x0: x, y0: y, x1: x + 1, y1: y + 1 };
    let path = pool.install(|| {
        integrator::trace(scene, &camera, &pattern, tile, sample.clone(), &mut work);
        scene.textures.cache().release();
        work
    });
    let radiance = path.paths.first().map_or([0.0; 3], |p| p.radiance.to_array());
    Ok(FollowedPath { pixel, sample: sample.start, radiance, path: path.probe.unwrap_or_default() })
}
