//! A part of space with the photons that landed there, as a density of directions.

use super::cones::Cones;
use super::photon::Photon;
use super::tree::{Bounds, ROOM};
use glam::{Vec2, Vec3};

/// Where it is, how often it is asked, and what it answers.
#[derive(Clone, Debug)]
pub struct Cell {
    low: Vec3,
    high: Vec3,
    /// How often the cell is asked for a direction, in place of lobes that are not specular.
    share: f32,
    cones: Cones,
}

/// The most that is not left to the lobes, which find all other light.
const LARGEST_SHARE: f32 = 0.5;
/// Less is not worth the look-up.
const LEAST_SHARE: f32 = 0.05;

impl Cell {
    /// Of `ROOM` photons at most, which it sorts, or of some that stand for all where more of them share one place. `ratio` is how
    /// much light they bring, over that which comes from other surfaces.
    pub fn new(photons: &mut [Photon], (low, high): Bounds, ratio: f32) -> Cell {
        // On a plane, rounding may leave points a little outside.
        let margin = Vec3::splat(0.05 * (high - low).length() + 1e-6 * low.abs().max(high.abs()).max_element());
        let kept = photons.len().min(ROOM);
        Cell { low: low - margin, high: high + margin, share: share(ratio), cones: Cones::about(&mut photons[..kept]) }
    }

    pub fn holds(&self, position: Vec3) -> bool {
        position.cmpge(self.low).all() && position.cmple(self.high).all()
    }

    /// How often it is asked for a direction, in place of the lobes.
    pub fn share(&self) -> f32 {
        self.share
    }

    /// A direction, with `pick` and `u` in [0, 1).
    pub fn sample(&self, pick: f32, u: Vec2) -> Vec3 {
        self.cones.sample(pick, u)
    }

    /// The density of a direction which the lobes draw with `of_lobes`, when either is asked: the lobes alone where they choose a
    /// specular one, which happens in all but `smooth` of the samples.
    pub fn mixed(&self, wi: Vec3, of_lobes: f32, smooth: f32) -> f32 {
        (1.0 - self.share) * of_lobes + self.share * smooth * self.cones.pdf(wi)
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
