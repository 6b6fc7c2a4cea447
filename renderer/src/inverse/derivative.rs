//! The derivative of every pixel of a picture, by parameters that all move together.

use super::gradient::{Replays, check};
use super::{Differentiated, GradientError, Target};
use crate::film::{Film, Shape};
use crate::integrator::replay::Gather;
use crate::render::{Ready, RenderError, RenderOptions, available_threads};
use glam::Vec3;
use kernels::sums::Sums;
use kernels::{Arrangement, Buffer, BufferError, Element};
use ssl_compiler::runtime::Row;
use std::sync::atomic::AtomicBool;

/// The derivative of a picture.
pub struct Derivative {
    /// Rows from the top, within the crop.
    pub pixels: Vec<Vec3>,
    /// How many terms were not finite, and do not count.
    pub left_out: u64,
}

/// The derivative of each path of a batch.
#[derive(Default)]
struct OfPaths(Vec<f64>);

impl OfPaths {
    fn at(&mut self, path: u32) -> &mut f64 {
        let path = path as usize;
        if self.0.len() <= path {
            self.0.resize(path + 1, 0.0);
        }
        &mut self.0[path]
    }
}

impl Gather for OfPaths {
    fn add(&mut self, _by: u32, row: &Row, paths: &[u32]) {
        paths.iter().zip(row.0).for_each(|(path, x)| *self.at(*path) += f64::from(x));
    }

    fn add_number(&mut self, _by: u32, gradient: f32, path: u32) {
        *self.at(path) += f64::from(gradient);
    }
}

impl Differentiated {
    /// The derivative of each pixel of the picture that `options` describe by a number that is added to all floats of all
    /// parameters: rows from the top, within the crop. Reverse mode gives it channel by channel, each by a replay whose
    /// cotangent is 1 everywhere, since no term of a path goes to another pixel.
    ///
    /// # Errors
    /// Those of [`Differentiated::gradient`], or some parameters are texels, whose gradients are not kept path by path, or the
    /// exposure, which no radiance depends on.
    pub fn derivative(&mut self, options: &RenderOptions, cancel: &AtomicBool) -> Result<Derivative, GradientError> {
        check(&self.scene)?;
        for parameter in self.parameters() {
            match parameter.target {
                Target::Texels { .. } => return Err(GradientError::Texels),
                Target::Exposure => return Err(GradientError::Exposure),
                _ => {}
            }
        }
        let plan = options.plan(&self.scene).map_err(RenderError::Options)?;
        let window = plan.window;
        let ready = Ready::new(&mut self.scene, options, &plan);
        let memory = |e: BufferError| RenderError::Machine(e.to_string());
        let mut sums = Sums::new(&Element::floats(3), window.pixels() as usize).map_err(memory)?;
        let film = Film::new(window, Shape::default());
        let (scene, slots) = (&self.scene, &self.sums.slots);
        let replays = Replays { scene, slots, ready: &ready, plan: &plan, film: &film, cancel };
        let threads = options.threads.unwrap_or_else(available_threads).max(1);
        for channel in 0..3 {
            let unit = Vec3::AXES[channel];
            replays.run(threads, &|_, _| unit, &OfPaths::default, &|tile, found, work| {
                for (path, derivative) in found.0.drain(..).enumerate() {
                    let (x, y) = film.tile(tile).pixel(work.paths[path].pixel);
                    let pixel = (y - window.y0) * window.width() + x - window.x0;
                    sums.add(pixel as usize, channel, derivative);
                }
            })?;
        }
        let mut buffer = Buffer::new(Element::floats(3), Arrangement::Rows, sums.len()).map_err(memory)?;
        sums.write(buffer.view_mut()).map_err(memory)?;
        let pixels = buffer.values::<[f32; 3]>().map_err(memory)?.into_iter().map(Vec3::from).collect();
        Ok(Derivative { pixels, left_out: sums.left_out() })
    }
}
