//! The gradient of a picture's loss: every path of a picture replayed, its gradients added up.
//!
//! Sums are exact, so the gradient comes to the same bytes for any number of threads.

use super::{Channels, Differentiated, Target};
use crate::film::part::{BATCH, Plan};
use crate::film::{Film, Shape};
use crate::integrator::replay::{Gather, GradientSlots, Memory, replay};
use crate::integrator::{Batch, Workspace};
use crate::render::{Ready, RenderError, RenderOptions, STACK_BYTES, available_threads};
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;
use kernels::sums::Sums;
use kernels::{Arrangement, Buffer, Element};
use rayon::prelude::*;
use ssl_compiler::runtime::Row;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A gradient by all parameters of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// In the order of the parameters, float by float.
    pub values: Vec<f32>,
    /// Terms that were no numbers, or too large, and were left out.
    pub left_out: u64,
}

/// Why there is no gradient.
#[derive(Debug)]
pub enum GradientError {
    Render(RenderError),
    /// The picture's gradient does not have the picture's size.
    Size {
        wanted: usize,
        found: usize,
    },
    /// The integrator's paths cannot be replayed.
    Integrator,
    /// Derivatives of pixels by texels are not kept.
    Texels,
    /// The radiance of a pixel does not depend on the exposure.
    Exposure,
    /// The bounds of a parameter leave no room to move it.
    NoRoom,
    /// The step between two pictures is too small to move a value, or larger than makes sense.
    Step {
        name: String,
        value: f32,
        step: f32,
    },
    /// The scene could not follow its parameters.
    Scene(String),
    Cancelled,
}

impl fmt::Display for GradientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradientError::Render(why) => why.fmt(f),
            GradientError::Size { wanted, found } => {
                write!(f, "the picture has {wanted} pixels, and its gradient {found}")
            }
            GradientError::Integrator => {
                f.write_str("only the integrators `path` and `direct` have gradients: choose one in [integrator]")
            }
            GradientError::Texels => {
                f.write_str("there is no derivative of each pixel by texels: name a parameter that is no texture")
            }
            GradientError::Exposure => f.write_str(
                "the light of a pixel does not depend on the exposure, which only scales how it is shown: name another parameter",
            ),
            GradientError::NoRoom => f.write_str("the least and the greatest value of a parameter leave no room to move it"),
            GradientError::Step { name, value, step } => write!(
                f,
                "a step of {step:?} is too {} for `{name}`, which is {value:?}: take one by which the picture changes a little, such as a \
                 hundredth of the value",
                if *step > value.abs().max(1.0) { "large" } else { "small" },
            ),
            GradientError::Scene(why) => f.write_str(why),
            GradientError::Cancelled => f.write_str("the gradient was cancelled"),
        }
    }
}

impl std::error::Error for GradientError {}

impl From<RenderError> for GradientError {
    fn from(error: RenderError) -> GradientError {
        GradientError::Render(error)
    }
}

/// Adds what comes from a batch to the sums.
struct Total<'a> {
    sums: &'a Sums,
    /// What single paths bring, by number. A batch adds it as one term for each.
    of_paths: BTreeMap<u32, f64>,
}

impl Total<'_> {
    fn finish(&mut self) {
        for (by, sum) in std::mem::take(&mut self.of_paths) {
            self.sums.add(by as usize, 0, sum);
        }
    }
}

impl Gather for Total<'_> {
    fn add(&mut self, by: u32, row: &Row, paths: &[u32]) {
        // Lanes first, in their order: the sum of a block is one term.
        let sum: f64 = row.0[..paths.len()].iter().map(|x| f64::from(*x)).sum();
        if sum != 0.0 {
            self.sums.add(by as usize, 0, sum);
        }
    }

    fn add_number(&mut self, by: u32, gradient: f32, _path: u32) {
        *self.of_paths.entry(by).or_default() += f64::from(gradient);
    }
}

/// The work of a replay, batch by batch.
pub(super) struct Replays<'a> {
    pub scene: &'a Scene,
    pub slots: &'a GradientSlots,
    pub ready: &'a Ready,
    pub plan: &'a Plan,
    pub film: &'a Film,
    pub cancel: &'a AtomicBool,
}

impl Replays<'_> {
    /// Replays all batches on so many threads. `gather` makes what one thread gathers with, and `done` takes it with the
    /// tile after each batch.
    pub fn run<G: Gather>(
        &self,
        threads: usize,
        cotangent: &(dyn Fn(u32, u32) -> Vec3 + Sync),
        gather: &(dyn Fn() -> G + Sync),
        done: &(dyn Fn(usize, &mut G, &Workspace) + Sync),
    ) -> Result<(), GradientError> {
        let batches = self.plan.samples.div_ceil(BATCH) as usize;
        let (next, units) = (AtomicUsize::new(0), self.film.tile_count() * batches);
        let work = || {
            let (mut work, mut memory) = (Workspace::default(), Memory::default());
            while !self.cancel.load(Ordering::Relaxed) {
                let unit = next.fetch_add(1, Ordering::Relaxed);
                if unit >= units {
                    break;
                }
                let (index, first) = (unit / batches, (unit % batches) as u32 * BATCH);
                let tile = self.film.tile(index);
                let batch = Batch {
                    camera: &self.ready.camera,
                    pattern: &self.ready.pattern,
                    tile,
                    samples: first..(first + BATCH).min(self.plan.samples),
                };
                let of_pixel = |pixel: u32| {
                    let (x, y) = tile.pixel(pixel);
                    cotangent(x, y) / self.plan.samples as f32
                };
                let mut gather = gather();
                replay((self.scene, self.slots), &batch, of_pixel, &mut work, &mut memory, &mut gather);
                done(index, &mut gather, &work);
            }
            self.scene.textures.cache().release();
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
        let pool = pool.map_err(|e| RenderError::Machine(format!("threads could not be started: {e}")))?;
        pool.install(|| (0..threads).into_par_iter().for_each(|_| work()));
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(GradientError::Cancelled),
            false => Ok(()),
        }
    }
}

/// Refuses integrators whose paths are not replayed.
pub(super) fn check(scene: &Scene) -> Result<(), GradientError> {
    match scene.integrator.kind {
        IntegratorKind::Path | IntegratorKind::Direct => Ok(()),
        IntegratorKind::Ao | IntegratorKind::Whitted => Err(GradientError::Integrator),
    }
}

impl Differentiated {
    /// The gradient of a loss of which `cotangent` is the gradient by the pixels of the picture that `options` describe, rows
    /// from the top, within its crop. The gradient by the film's exposure is that of the picture times 2 to its power. Give other seeds to this and to the picture in the loss, or the gradient has the
    /// wrong mean: noise that the two have in common would be squared.
    ///
    /// # Errors
    /// The options do not fit, the machine fails, or the gradient was cancelled.
    pub fn gradient(
        &mut self,
        options: &RenderOptions,
        cotangent: &[Vec3],
        cancel: &AtomicBool,
    ) -> Result<Gradient, GradientError> {
        check(&self.scene)?;
        let plan = options.plan(&self.scene).map_err(RenderError::Options)?;
        let (window, count) = (plan.window, plan.window.pixels() as usize);
        if cotangent.len() != count {
            return Err(GradientError::Size { wanted: count, found: cotangent.len() });
        }
        let ready = Ready::new(&mut self.scene, options, &plan);
        self.scene.textures.clear_gradients();
        let sums = |e: kernels::BufferError| RenderError::Machine(e.to_string());
        let mut total = Sums::new(&Element::floats(1), self.sums.len).map_err(sums)?;
        let film = Film::new(window, Shape::default());
        let (scene, slots) = (&self.scene, &self.sums.slots);
        let replays = Replays { scene, slots, ready: &ready, plan: &plan, film: &film, cancel };
        let of_pixel = |x: u32, y: u32| cotangent[((y - window.y0) * window.width() + x - window.x0) as usize];
        let threads = options.threads.unwrap_or_else(available_threads).max(1);
        replays.run(threads, &of_pixel, &|| Total { sums: &total, of_paths: BTreeMap::new() }, &|_, total, _| {
            total.finish()
        })?;
        let mut buffer = Buffer::new(Element::floats(1), Arrangement::Columns, self.sums.len).map_err(sums)?;
        let left_out = total.left_out();
        total.write(buffer.view_mut()).map_err(sums)?;
        let summed = buffer.values::<f32>().map_err(sums)?;
        let left_out = left_out + self.scene.textures.left_out();
        let mut values = Vec::with_capacity(self.len());
        let Differentiated { scene, parameters, sums: of_sums, .. } = self;
        for (parameter, first) in parameters.iter().zip(&of_sums.firsts) {
            match &parameter.target {
                Target::Texels { texture, channels } => values.extend(by_texels(scene, *texture, *channels)),
                _ => values.extend(&summed[*first as usize..*first as usize + parameter.len]),
            }
        }
        Ok(Gradient { values, left_out })
    }
}

/// What the look-ups of a texture brought, of all levels.
fn by_texels(scene: &Scene, texture: u32, channels: Channels) -> Vec<f32> {
    let (images, wrap) = (scene.textures.gradient(texture), scene.textures.wrap(texture));
    // Textures that are held have one image.
    let filter = scene.textures.held_filter(texture).unwrap_or_default();
    let folded = images.into_iter().map(|image| image.pyramid.folded(filter, wrap));
    folded.flat_map(|texels| channels.gradient(&texels)).collect()
}
