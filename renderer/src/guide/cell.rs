//! A part of space where photons landed.

use crate::math::tree::Bounds;
use glam::Vec3;

/// Where it is, and how often it is asked.
#[derive(Clone, Debug)]
pub struct Cell {
    low: Vec3,
    high: Vec3,
    /// How often the cell is asked for a direction, in place of lobes that are not specular.
    pub share: f32,
}

/// The most that is not left to the lobes, which find all other light.
const LARGEST_SHARE: f32 = 0.5;
/// Less is not worth the look-up.
const LEAST_SHARE: f32 = 0.05;

impl Cell {
    /// `ratio` is how much light its photons bring, over that which comes from other surfaces.
    pub fn new((low, high): Bounds, ratio: f32) -> Cell {
        // On a plane, rounding may leave points a little outside.
        let margin = Vec3::splat(0.05 * (high - low).length() + 1e-6 * low.abs().max(high.abs()).max_element());
        Cell { low: low - margin, high: high + margin, share: share(ratio) }
    }

    /// Whether it guides what is scattered at a place.
    pub fn guides(&self, position: Vec3) -> bool {
        self.share > 0.0 && position.cmpge(self.low).all() && position.cmple(self.high).all()
    }
}

/// How often a cell is asked whose photons bring `ratio` times the light of other surfaces: that which is best if both had
/// errors as large as themselves.
fn share(ratio: f32) -> f32 {
    // An infinite ratio has no light beside it.
    let share = if ratio.is_finite() { ratio / (1.0 + ratio) } else { 1.0 };
    if share < LEAST_SHARE { 0.0 } else { share.min(LARGEST_SHARE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lobes_keep_at_least_half_of_the_samples() {
        for (ratio, expected) in
            [(0.0, 0.0), (0.01, 0.0), (0.25, 0.2), (1.0, 0.5), (9.0, 0.5), (f32::INFINITY, 0.5), (f32::NAN, 0.5)]
        {
            assert_eq!(share(ratio), expected, "{ratio}");
        }
    }
}
