//! A part of space with the photons that landed there, as a density of directions.

use super::photon::Photon;
use super::tree::{Bounds, ROOM};
use crate::math::{Frame, uniform_cone};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// The density of directions is the mean of even ones, each over a cone about where a photon came from.
#[derive(Clone, Debug)]
pub struct Cell {
    low: Vec3,
    high: Vec3,
    /// Of the half angle of all cones.
    cosine: f32,
    /// How often the cell is asked for a direction, in place of lobes that are not specular.
    share: f32,
    /// Directions by component, and the photons' shares of the power. What is not used has none.
    x: [f32; ROOM],
    y: [f32; ROOM],
    z: [f32; ROOM],
    weights: [f32; ROOM],
}

/// The neighbour of a photon to which its cone reaches: less makes gaps, more blurs.
const NEIGHBOUR: usize = 4;
/// 1 − cos of the narrowest cone, of 2.5 degrees, and of the widest, of 20.
const NARROWEST: f32 = 1e-3;
const WIDEST: f32 = 0.06;
/// The most that is not left to the lobes, which find all other light.
const LARGEST_SHARE: f32 = 0.5;
/// Less is not worth the look-up.
const LEAST_SHARE: f32 = 0.05;

impl Cell {
    /// Of `ROOM` photons at most, or of some that stand for all where more of them share one place. `ratio` is how much light
    /// they bring, over that which comes from other surfaces.
    pub fn new(photons: &[Photon], (low, high): Bounds, ratio: f32) -> Cell {
        // On a plane, rounding may leave points a little outside.
        let margin = Vec3::splat(0.05 * (high - low).length() + 1e-6 * low.abs().max(high.abs()).max_element());
        let (mut x, mut y, mut z, mut weights) = ([0.0; ROOM], [0.0; ROOM], [0.0; ROOM], [0.0; ROOM]);
        let kept = &photons[..photons.len().min(ROOM)];
        let power: f32 = kept.iter().map(|photon| photon.power).sum();
        for (i, photon) in kept.iter().enumerate() {
            [x[i], y[i], z[i]] = photon.wi.to_array();
            weights[i] = photon.power / power;
        }
        let cosine = 1.0 - one_minus_cosine(kept);
        Cell { low: low - margin, high: high + margin, cosine, share: share(ratio), x, y, z, weights }
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
        let mut left = pick;
        let mut chosen = 0;
        for (i, weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            chosen = i;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        let axis = Vec3::new(self.x[chosen], self.y[chosen], self.z[chosen]);
        Frame::about(axis).to_world(uniform_cone(u, 1.0 - self.cosine)).normalize()
    }

    /// The density of [`Cell::sample`], per steradian.
    pub fn pdf(&self, wi: Vec3) -> f32 {
        // Summed in eight lanes.
        let mut sums = [0.0; 8];
        for first in (0..ROOM).step_by(8) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let i = first + lane;
                let cosine = self.x[i] * wi.x + self.y[i] * wi.y + self.z[i] * wi.z;
                *sum += if cosine >= self.cosine { self.weights[i] } else { 0.0 };
            }
        }
        sums.iter().sum::<f32>() / (TAU * (1.0 - self.cosine))
    }

    /// That of a direction which the lobes draw with `of_lobes`, when either is asked: the lobes alone where they choose a
    /// specular one, which happens in all but `smooth` of the samples.
    pub fn mixed(&self, wi: Vec3, of_lobes: f32, smooth: f32) -> f32 {
        (1.0 - self.share) * of_lobes + self.share * smooth * self.pdf(wi)
    }
}

/// How often a cell is asked whose photons bring `ratio` times the light of other surfaces: that which is best if both had
/// errors as large as themselves.
fn share(ratio: f32) -> f32 {
    // An infinite ratio has no light beside it.
    let share = if ratio.is_finite() { ratio / (1.0 + ratio) } else { 1.0 };
    if share < LEAST_SHARE { 0.0 } else { share.min(LARGEST_SHARE) }
}

/// Of the half angle of cones that reach to photons nearby: of most, as the median goes.
fn one_minus_cosine(photons: &[Photon]) -> f32 {
    let mut reaches: Vec<f32> = Vec::with_capacity(photons.len());
    for photon in photons {
        let mut others: Vec<f32> = photons.iter().map(|other| 1.0 - other.wi.dot(photon.wi)).collect();
        others.sort_by(f32::total_cmp);
        // The first is the photon itself.
        reaches.push(others.get(NEIGHBOUR).or(others.last()).copied().unwrap_or(WIDEST));
    }
    reaches.sort_by(f32::total_cmp);
    reaches.get(reaches.len() / 2).map_or(WIDEST, |reach| reach.clamp(NARROWEST, WIDEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// Photons from about one direction, or from all.
    fn photons(count: usize, spread: f32, seed: u32) -> Vec<Photon> {
        let one = |i: usize| {
            let mut s = Sampler::new(seed, (1, 1), i as u32);
            let wi = uniform_cone(s.next_2d(), spread);
            Photon { position: s.next_2d().extend(0.0), wi, power: 0.1 + s.next_1d() }
        };
        (0..count).map(one).collect()
    }

    /// By a moment of directions: over samples, and over all directions weighed by the density.
    #[test]
    fn directions_are_distributed_as_their_density_says() {
        for (count, spread) in [(1, 0.1), (7, 0.02), (ROOM, 0.3), (ROOM, 2.0), (3 * ROOM, 1e-6)] {
            let cell = Cell::new(&photons(count, spread, 5), (Vec3::ZERO, Vec3::ONE), 1.0);
            let axis = Vec3::new(0.3, -0.5, 0.8);
            const N: u32 = 1 << 18;
            let (mut all, mut weighed, mut drawn) = (0.0, 0.0, 0.0);
            for i in 0..N {
                let mut s = Sampler::new(9, (3, 4), i);
                // Over a half sphere and twice that, so that the narrowest cones hold some.
                let wi = uniform_cone(s.next_2d(), (4.0 * spread + 0.2).min(2.0));
                let per = TAU * (4.0 * spread + 0.2).min(2.0) / N as f32;
                all += cell.pdf(wi) * per;
                weighed += cell.pdf(wi) * per * wi.dot(axis).powi(2);
                let sample = cell.sample(s.next_1d(), s.next_2d());
                drawn += sample.dot(axis).powi(2) / N as f32;
            }
            assert!((all - 1.0).abs() < 0.01, "{count} {spread}: {all}");
            assert!((weighed - drawn).abs() < 0.01, "{count} {spread}: {weighed} {drawn}");
        }
    }

    #[test]
    fn lobes_keep_at_least_half_of_the_samples() {
        for (ratio, expected) in
            [(0.0, 0.0), (0.01, 0.0), (0.25, 0.2), (1.0, 0.5), (9.0, 0.5), (f32::INFINITY, 0.5), (f32::NAN, 0.5)]
        {
            assert_eq!(share(ratio), expected, "{ratio}");
        }
    }
}
