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
    /// The options do not fit, the machine fails, the render was cancelled, bounds leave no room, the step is too small or too large for
    /// a value, or some floats are texels or the exposure.
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
        let at_places = || places.iter().map(|&(i, float)| (&parameters[i], float, values[i][float]));
        let [down, up] = at_places().fold([step; 2], |[down, up], (parameter, float, value)| {
            let [low, high] = parameter.bounds[float % parameter.bounds.len()];
            [down.min((value - low).max(0.0)), up.min((high - value).max(0.0))]
        });
        if down + up <= 0.0 {
            return Err(GradientError::NoRoom);
        }
        if let Some((parameter, _, value)) = at_places().find(|(_, _, value)| !is_apt(*value, [down, up])) {
            return Err(GradientError::Step { name: parameter.name.clone(), value, step });
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

/// Whether steps down and up move a value by what they say, and not into another world: of the way between the two values rounding
/// takes a hundredth at most, and they are not a thousand times as large.
fn is_apt(value: f32, [down, up]: [f32; 2]) -> bool {
    let way = (value + up) - (value - down);
    (way - (down + up)).abs() <= 0.01 * (down + up) && down.max(up) <= 1e3 * value.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::is_apt;

    #[test]
    fn steps_are_neither_lost_in_rounding_nor_beyond_all_values() {
        for (value, step, apt) in [
            (1.5, 0.02, true),
            (0.0, 1e-38, true),
            (1.5, 1e-38, false),
            // The nearest floats are 1.2e-7 apart, so each side is moved by that.
            (1.5, 1e-7, false),
            (1e6, 0.5, true),
            (1e6, 0.05, false),
            (0.0, 1e3, true),
            (1.5, 1e38, false),
            (f32::MAX, 1e37, false),
        ] {
            assert_eq!(is_apt(value, [step; 2]), apt, "{value} {step}");
        }
    }
}
