//! A density of directions: the mean of even ones, each over a cone about where some photons came from.
//!
//! Photons that came from about the same direction share a cone. So what little light came some other way has cones of its own,
//! however much came from elsewhere.

use super::photon::Photon;
use crate::math::lanes::wide;
use crate::math::{Frame, uniform_cone};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;
use std::ops::Range;

/// Cones at most.
pub const MOST: usize = 32;

/// The neighbour of a photon to which its cone reaches: less makes gaps, more blurs.
const NEIGHBOUR: usize = 4;
/// 1 − cos of the narrowest cone, of 2.5 degrees, and of the farthest reach, of 20.
const NARROWEST: f32 = 1e-3;
const FARTHEST: f32 = 0.06;
/// What is as narrow as this, on the unit sphere, is not divided: the narrowest cone holds it.
const UNDIVIDED: f32 = 0.02;

#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Cones {
    /// Axes by component, the cosines of half angles, and what a cone adds to the density of its directions. What is not used adds
    /// nothing.
    x: [f32; MOST],
    y: [f32; MOST],
    z: [f32; MOST],
    cosines: [f32; MOST],
    densities: [f32; MOST],
    /// How often each is drawn.
    weights: [f32; MOST],
}

impl Cones {
    /// About photons, which it sorts; there is at least one.
    pub fn about(photons: &mut [Photon]) -> Cones {
        let empty = [0.0; MOST];
        let mut cones = Cones { x: empty, y: empty, z: empty, cosines: [2.0; MOST], densities: empty, weights: empty };
        let power: f32 = photons.iter().map(|photon| photon.power).sum();
        let reach = 1.0 - reach(photons);
        for (i, group) in groups(photons).into_iter().enumerate() {
            let group = &photons[group];
            let sum: Vec3 = group.iter().map(|photon| photon.wi * photon.power).sum();
            let axis = sum.try_normalize().unwrap_or(group[0].wi);
            let farthest = group.iter().fold(1.0_f32, |least, photon| least.min(axis.dot(photon.wi)));
            let one_minus_cosine = (1.0 - cosine_of_sum(farthest, reach)).max(NARROWEST);
            let weight = group.iter().map(|photon| photon.power).sum::<f32>() / power;
            [cones.x[i], cones.y[i], cones.z[i]] = axis.to_array();
            cones.cosines[i] = 1.0 - one_minus_cosine;
            cones.densities[i] = weight / (TAU * one_minus_cosine);
            cones.weights[i] = weight;
        }
        cones
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
        Frame::about(axis).to_world(uniform_cone(u, 1.0 - self.cosines[chosen])).normalize()
    }

    /// The density of [`Cones::sample`], per steradian.
    pub fn pdf(&self, wi: Vec3) -> f32 {
        density(self, wi)
    }
}

wide! {
    /// Summed side by side, then in halves.
    fn density(cones: &Cones, wi: Vec3) -> f32 {
        let mut sums = [0.0; MOST];
        for i in 0..MOST {
            let cosine = cones.x[i] * wi.x + cones.y[i] * wi.y + cones.z[i] * wi.z;
            sums[i] = if cosine >= cones.cosines[i] { cones.densities[i] } else { 0.0 };
        }
        let sixteen: [f32; 16] = half(&sums);
        let eight: [f32; 8] = half(&sixteen);
        let four: [f32; 4] = half(&eight);
        (four[0] + four[2]) + (four[1] + four[3])
    }
}

/// The sums of numbers and those half as many places after them.
#[inline(always)]
fn half<const HALF: usize>(sums: &[f32]) -> [f32; HALF] {
    let mut halved = [0.0; HALF];
    for i in 0..HALF {
        halved[i] = sums[i] + sums[HALF + i];
    }
    halved
}

/// The photons of each cone, which then stand together: the widest group is cut in two until there are as many as may be, or all
/// are narrow.
fn groups(photons: &mut [Photon]) -> Vec<Range<usize>> {
    let mut groups = vec![(0..photons.len(), spread(photons))];
    while groups.len() < MOST {
        let widest = (0..groups.len()).max_by(|&a, &b| groups[a].1.max_element().total_cmp(&groups[b].1.max_element()));
        let Some(widest) = widest.filter(|&i| groups[i].1.max_element() > UNDIVIDED) else { break };
        let (Range { start, end }, sides) = groups.swap_remove(widest);
        let axis = (0..3).fold(0, |best, axis| if sides[axis] > sides[best] { axis } else { best });
        let group = &mut photons[start..end];
        group.sort_unstable_by(|a, b| a.wi[axis].total_cmp(&b.wi[axis]));
        // In the middle of the box, so that what came from elsewhere is soon alone, however little it is.
        let (low, high) = (group[0].wi[axis], group[group.len() - 1].wi[axis]);
        let cut = group.partition_point(|photon| photon.wi[axis] <= 0.5 * (low + high)).clamp(1, group.len() - 1);
        let (below, above) = group.split_at(cut);
        groups.extend([(start..start + cut, spread(below)), (start + cut..end, spread(above))]);
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

/// The sides of the box about their directions.
fn spread(photons: &[Photon]) -> Vec3 {
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) = photons.iter().fold(none, |(low, high), photon| (low.min(photon.wi), high.max(photon.wi)));
    high - low
}

/// The cosine of the sum of two angles, of which the second is below a right one, from their cosines; −1 beyond half a turn.
fn cosine_of_sum(a: f32, b: f32) -> f32 {
    let sine = |cosine: f32| (1.0 - cosine * cosine).max(0.0).sqrt();
    if a <= -b { -1.0 } else { a * b - sine(a) * sine(b) }
}

/// 1 − cos of the angle to photons nearby: of most, as the median goes.
fn reach(photons: &[Photon]) -> f32 {
    let mut others: Vec<f32> = Vec::with_capacity(photons.len());
    let mut reaches: Vec<f32> = Vec::with_capacity(photons.len());
    for photon in photons {
        others.clear();
        others.extend(photons.iter().map(|other| 1.0 - other.wi.dot(photon.wi)));
        // The first is the photon itself.
        let neighbour = NEIGHBOUR.min(others.len() - 1);
        reaches.push(*others.select_nth_unstable_by(neighbour, f32::total_cmp).1);
    }
    let middle = reaches.len() / 2;
    reaches.select_nth_unstable_by(middle, f32::total_cmp).1.clamp(0.0, FARTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::narrow;
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
        for (count, spread) in [(1, 0.1), (7, 0.02), (MOST, 0.3), (4 * MOST, 2.0), (3 * MOST, 1e-6)] {
            let cones = Cones::about(&mut photons(count, spread, 5));
            let axis = Vec3::new(0.3, -0.5, 0.8);
            const N: u32 = 1 << 18;
            let (mut all, mut weighed, mut drawn) = (0.0, 0.0, 0.0);
            for i in 0..N {
                let mut s = Sampler::new(9, (3, 4), i);
                // Over a half sphere and twice that, so that the narrowest cones hold some.
                let wi = uniform_cone(s.next_2d(), (4.0 * spread + 0.2).min(2.0));
                let per = TAU * (4.0 * spread + 0.2).min(2.0) / N as f32;
                all += cones.pdf(wi) * per;
                weighed += cones.pdf(wi) * per * wi.dot(axis).powi(2);
                let sample = cones.sample(s.next_1d(), s.next_2d());
                drawn += sample.dot(axis).powi(2) / N as f32;
            }
            assert!((all - 1.0).abs() < 0.01, "{count} {spread}: {all}");
            assert!((weighed - drawn).abs() < 0.01, "{count} {spread}: {weighed} {drawn}");
        }
    }

    /// In registers of each width.
    #[test]
    fn the_density_is_the_sum_of_what_cones_add() {
        let cones = Cones::about(&mut photons(4 * MOST, 0.5, 7));
        for i in 0..500 {
            let wi = uniform_cone(Sampler::new(3, (1, 4), i).next_2d(), 0.7);
            let axis = |i: usize| Vec3::new(cones.x[i], cones.y[i], cones.z[i]);
            let around = (0..MOST).filter(|&i| axis(i).dot(wi) >= cones.cosines[i]);
            let expected: f64 = around.map(|i| f64::from(cones.densities[i])).sum();
            let found = narrow::each(|| cones.pdf(wi).to_bits());
            assert!(found.iter().all(|bits| *bits == found[0]), "{wi}");
            assert!((f64::from(f32::from_bits(found[0])) - expected).abs() <= 1e-5 * expected, "{wi}");
        }
    }

    /// Every direction that a photon came from may be drawn; one that came from elsewhere alone has a cone of its own.
    #[test]
    fn no_photon_is_lost_among_others() {
        let mut many = photons(4 * MOST, 0.5, 3);
        let lonely = Photon { wi: Vec3::new(0.6, 0.0, -0.8), power: 0.01, ..many[0] };
        many.push(lonely);
        let cones = Cones::about(&mut many);
        assert!(many.iter().all(|photon| cones.pdf(photon.wi) > 0.0));
        let own = (0..MOST).find(|&i| Vec3::new(cones.x[i], cones.y[i], cones.z[i]).dot(lonely.wi) > 0.999);
        assert!(own.is_some_and(|i| cones.cosines[i] > 0.9), "{cones:?}");
    }

    #[test]
    fn angles_add_up() {
        for (a, b) in [(0.0, 0.0), (0.1, 0.3), (2.0, 0.2), (3.0, 0.3), (std::f32::consts::PI, 0.1)] {
            let (found, expected) =
                (cosine_of_sum(f32::cos(a), f32::cos(b)), f32::cos((a + b).min(std::f32::consts::PI)));
            assert!((found - expected).abs() < 1e-5, "{a} + {b}: {found} {expected}");
        }
    }
}
