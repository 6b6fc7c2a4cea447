//! Path replay: the gradient of a picture by what its paths met, in memory that does not grow with their length.
//!
//! Delio Vicini, Sébastien Speierer, Wenzel Jakob: Path Replay Backpropagation (ACM Transactions on Graphics 40(4), 2021).
//! A first pass traces paths and keeps the radiance that each came to. A second pass traces the same paths, since random
//! numbers are a function of pixel, sample and bounce alone. What a path has gathered up to a vertex is known there, so what
//! is still to come is, too: it is all of it minus that. By the product rule this is what the derivative of the vertex's
//! weight is to be multiplied by.
//!
//! Directions and chances (the densities of lobes and lights, the choice of lobes, Russian roulette) count as constants:
//! sampling is *detached*, as Zeltner, Speierer, Georgiev and Jakob call it in "Monte Carlo Estimators for Differential
//! Light Transport" (SIGGRAPH 2021). The gradient has the right mean all the same.
//!
//! Paths go step by step, all of a tile together, as they do without gradients. The vertices of one step are kept until it
//! is known what arrives of their light samples.

mod gather;
mod gradient_slots;
mod kept;
mod lights;
mod parts;
mod passages;
mod sweep;

pub use gather::Gather;
pub use gradient_slots::GradientSlots;

use super::light_samples::Origin;
use super::wavefront::{Batch, Follower, walk};
use super::workspace::Workspace;
use crate::scene::Scene;
use glam::Vec3;
use kept::Kept;
use std::f32::consts::LN_2;

/// One thread's memory for replays, used over and over.
#[derive(Default)]
pub struct Memory {
    /// By path, the radiance that it comes to, and the cotangent of it.
    totals: Vec<Vec3>,
    cotangents: Vec<Vec3>,
    /// The blocks of a step; those behind `used` are free.
    kept: Vec<Kept>,
    used: usize,
    sweep: sweep::Sweep,
    lights: lights::Lights,
    passages: passages::Passages,
    parts: parts::Parts,
}

struct Replay<'a, G> {
    slots: &'a GradientSlots,
    memory: &'a mut Memory,
    gather: &'a mut G,
}

/// Traces a batch, and traces it once more for its gradient by the materials' parameters and by what has `slots`. `cotangent` gives
/// for each pixel of the tile by how much the loss changes with the radiance of one of its samples.
pub fn replay(
    (scene, slots): (&Scene, &GradientSlots),
    batch: &Batch<'_>,
    cotangent: impl Fn(u32) -> Vec3,
    work: &mut Workspace,
    memory: &mut Memory,
    gather: &mut impl Gather,
) {
    walk(scene, batch, work, &mut ());
    memory.totals.clear();
    memory.totals.extend(work.paths.iter().map(|path| path.radiance));
    memory.cotangents.clear();
    memory.cotangents.extend(work.paths.iter().map(|path| cotangent(path.pixel)));
    if let Some(exposure) = slots.exposure {
        // A stop is a factor of 2.
        let per_stop = memory.totals.iter().zip(&memory.cotangents).map(|(total, c)| c.dot(*total) * LN_2);
        per_stop.enumerate().for_each(|(path, gradient)| gather.add_number(exposure, gradient, path as u32));
    }
    work.followed = Some(Vec::new());
    work.transmittance_rays.followed = Some(Vec::new());
    walk(scene, batch, work, &mut Replay { slots, memory, gather });
    work.followed = None;
    work.transmittance_rays.followed = None;
    // What was not number is told by the render itself.
    work.faulty.clear();
    work.said.clear();
}

impl<G: Gather> Follower for Replay<'_, G> {
    const ASKS_LANES: bool = true;

    fn advanced(&mut self, scene: &Scene, work: &mut Workspace) {
        let lights = work.followed.as_mut().map(std::mem::take).unwrap_or_default();
        let material = &scene.materials[work.vertices.material as usize];
        let Memory { kept, used, cotangents, .. } = &mut *self.memory;
        if self.slots.has_shapes() {
            lights::back_from_vertices(&work.vertices, cotangents, self.slots, self.gather);
        }
        if !material.has_adjoint() && !lights.iter().any(|light| goes_back_to(self.slots, &light.origin)) {
            return;
        }
        if *used == kept.len() {
            kept.push(Kept::default());
        }
        let place = &mut kept[*used];
        *used += 1;
        place.rows.clear();
        place.rows.extend_from_slice(material.table_rows(&work.scratch));
        place.lights = lights;
        std::mem::swap(&mut place.vertices, &mut work.vertices);
    }

    fn delivered(&mut self, scene: &Scene, work: &mut Workspace) {
        let Memory { totals, cotangents, kept, used, sweep, lights, passages, parts } = &mut *self.memory;
        for block in &mut kept[..std::mem::take(used)] {
            sweep::back(scene, work, block, (totals, cotangents, self.slots), sweep, self.gather);
        }
        lights::back(scene, (kept, cotangents), (work, self.slots), (lights, parts), self.gather);
        passages::back(scene, (work, cotangents), self.slots, (passages, parts), self.gather);
        lights::back_from_sky(scene, work, cotangents, self.slots, self.gather);
        kept.iter_mut().for_each(|block| block.lights.clear());
    }
}

/// Whether a gradient is taken by what a light sample came from.
fn goes_back_to(slots: &GradientSlots, origin: &Origin) -> bool {
    match origin {
        Origin::Light(place, _) => slots.of_light(*place).is_some(),
        Origin::Shape { shape, point, .. } => point.is_some() || slots.of_shape(*shape).is_some(),
        Origin::Environment => false,
    }
}
