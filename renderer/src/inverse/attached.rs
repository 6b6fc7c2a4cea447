//! Slopes of pictures with attached sampling: with the same random numbers on both sides of a value, so that all that follows from
//! them moves along, directions and silhouettes among it.
//!
//! A replayed path counts its directions as given. Where a parameter steers directions, as an index of refraction does, this is
//! the other way: two pictures for each number, whatever the integrator is.

use super::{Differentiated, GradientError, Target};
use crate::render::{RenderOptions, render};
use glam::Vec3;
use std::sync::atomic::{AtomicBool, Ordering};

impl Differentiated {
    /// The slope of each pixel of the picture that `options` describe, by a number that is added to floats, each given as a parameter
    /// and its number in it: rows from the top, within the crop. It is that between `step` below and `step` above, or less where bounds
    /// are nearer, so it has the mean of the derivative up to the square of the step. Neither choices nor silhouettes that lie between
    /// the two bias it, but the noise that they bring grows as the step shrinks. The floats have their values again at the end.
    ///
    /// # Errors
    /// The options do not fit, the machine fails, the render was cancelled, bounds leave no room, or some floats are texels or the
    /// exposure.
    pub fn slopes(
        &mut self,
        floats: &[(usize, usize)],
        step: f32,
        options: &RenderOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec3>, GradientError> {
        let mut moved: Vec<usize> = floats.iter().map(|(parameter, _)| *parameter).collect();
        moved.sort_unstable();
        moved.dedup();
        for parameter in &moved {
            match self.parameters()[*parameter].target {
                Target::Texels { .. } => return Err(GradientError::Texels),
                Target::Exposure => return Err(GradientError::Exposure),
                _ => {}
            }
        }
        let parameters: Vec<_> = moved.iter().map(|number| self.parameters()[*number].clone()).collect();
        let values = super::values(&self.scene, &parameters);
        let places: Vec<(usize, usize)> = floats
            .iter()
            .filter_map(|(parameter, float)| Some((moved.iter().position(|m| m == parameter)?, *float)))
            .collect();
        let room = |[low, high]: [f32; 2], (i, float): (usize, usize)| {
            let value = values[i][float];
            [(value - low).clamp(0.0, step), (high - value).clamp(0.0, step)]
        };
        let rooms = places.iter().map(|&(i, float)| room(parameters[i].bounds[float], (i, float)));
        let [down, up] = rooms.fold([step; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])]);
        if down + up <= 0.0 {
            return Err(GradientError::NoRoom);
        }
        let mut at = |by: f32| -> Result<Vec<Vec3>, GradientError> {
            let mut there = values.clone();
            places.iter().for_each(|&(i, float)| there[i][float] += by);
            self.scene.update(parameters.iter().zip(there.iter().map(Vec::as_slice))).map_err(GradientError::Scene)?;
            let picture = render(&mut self.scene, options, cancel, &|_| ());
            let back = self.scene.update(parameters.iter().zip(values.iter().map(Vec::as_slice)));
            let pixels = picture?.picture.pixels;
            back.map_err(GradientError::Scene)?;
            match cancel.load(Ordering::Relaxed) {
                true => Err(GradientError::Cancelled),
                false => Ok(pixels),
            }
        };
        let (mut above, below) = (at(up)?, at(-down)?);
        above.iter_mut().zip(below).for_each(|(a, b)| *a = (*a - b) / (up + down));
        Ok(above)
    }
}
