//! Photons where they landed, and those nearest to a place.

use crate::math::ball::Ball;
use crate::math::tree::{Bounds, Located, Tree};
use glam::Vec3;
use std::f32::consts::PI;
use std::ops::{Range, RangeInclusive};

/// A photon where it landed.
#[derive(Clone, Copy, Debug)]
pub struct CausticPhoton {
    pub position: Vec3,
    /// To where it came from, unit length.
    pub wi: Vec3,
    /// Geometric, on that side.
    pub normal: Vec3,
    pub power: Vec3,
    /// That it had before.
    pub bounces: u32,
    /// It is one of those, half of all, that say where there are enough of the others to estimate from.
    pub tests_density: bool,
}

impl CausticPhoton {
    /// Whether all of it are numbers, and it carries something.
    pub fn is_usable(&self) -> bool {
        let numbers = self.position.is_finite() && self.wi.is_finite() && self.power.is_finite();
        numbers && self.power.cmpge(Vec3::ZERO).all() && self.power != Vec3::ZERO
    }
}

impl Located for CausticPhoton {
    fn position(&self) -> Vec3 {
        self.position
    }
}

/// Neighbours that are looked for: more where there are more photons in all, by their root, so that more photons make both less noise and
/// less blur.
const NEIGHBOURS: RangeInclusive<usize> = 32..=128;
/// All photons over the square of the neighbours.
const PER_SQUARE: usize = 64;
/// Photons in a part of the tree at most.
const ROOM: usize = 16;

/// All photons, in the parts of a tree.
pub struct PhotonTree {
    tree: Tree,
    parts: Vec<(Range<usize>, Bounds)>,
    pub photons: Vec<CausticPhoton>,
    /// How many are looked for.
    pub neighbours: usize,
    /// What the picture shows, and how far away they are looked for, as a share of its size or of how far away it is.
    visible: Ball,
    farthest: f32,
}

/// The nearest photons, with the squares of their distances.
#[derive(Default)]
pub struct NearestPhotons {
    pub photons: Vec<(f32, u32)>,
    /// That of how far they reach.
    pub radius2: f32,
    /// There are as many as were looked for. Else all are there that are near enough.
    pub all: bool,
}

impl PhotonTree {
    pub fn new(mut photons: Vec<CausticPhoton>, visible: Ball, farthest: f32) -> PhotonTree {
        let (mut tree, mut parts, mut begin) = (Tree::default(), Vec::new(), 0);
        tree.add(&mut photons, ROOM, |part, bounds| {
            parts.push((begin..begin + part.len(), bounds));
            begin += part.len();
        });
        let neighbours = (photons.len() / PER_SQUARE).isqrt().clamp(*NEIGHBOURS.start(), *NEIGHBOURS.end());
        PhotonTree { tree, parts, photons, neighbours, visible, farthest }
    }

    /// How far away neighbours of a place are looked for: what is far from what is seen lies in few pixels, and few photons are sent there.
    fn farthest(&self, place: Vec3) -> f32 {
        self.farthest * place.distance(self.visible.center).max(self.visible.radius)
    }

    /// About how far the neighbours of a photon reach, by those that share its part, as if they lay in a plane.
    pub fn reach(&self, number: usize) -> f32 {
        let part = self.parts.partition_point(|(range, _)| range.end <= number);
        let (range, (low, high)) = &self.parts[part];
        let [x, y, z] = (high - low).to_array();
        let area = (x * y).max(y * z).max(z * x);
        let farthest = self.farthest(self.photons[number].position);
        (self.neighbours as f32 * area / (PI * range.len() as f32)).sqrt().min(farthest)
    }

    /// One of so many of those that test the density, by their numbers. Where all photons of a part share one place, one stands for them.
    pub fn some_testers(&self, each: usize) -> Vec<usize> {
        let of_part = |(range, (low, high)): &(Range<usize>, Bounds)| {
            let most = if low == high { 1 } else { usize::MAX };
            let testers = range.clone().filter(|&number| self.photons[number].tests_density);
            testers.step_by(each).take(most).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Finds the photons nearest to a place, about which they reach so far.
    pub fn find(&self, place: Vec3, about: f32, near: &mut NearestPhotons) {
        // A little less than is wanted costs another round, much more a look at all that is there.
        let farthest = self.farthest(place);
        let mut radius = about.clamp(1e-4 * farthest, farthest);
        loop {
            near.photons.clear();
            self.tree.within(0, place, radius, |part| {
                for other in self.parts[part as usize].0.clone() {
                    let distance2 = self.photons[other].position.distance_squared(place);
                    if distance2 < radius * radius {
                        near.photons.push((distance2, other as u32));
                    }
                }
            });
            let (found, least) = (near.photons.len(), 1e-12 * farthest * farthest);
            near.all = found > self.neighbours;
            if near.all {
                // That which is one too many says how far the others reach.
                let by_distance = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                let (_, last, _) = near.photons.select_nth_unstable_by(self.neighbours, by_distance);
                // Nothing is spread over no area.
                near.radius2 = last.0.max(least);
                near.photons.truncate(self.neighbours);
                return;
            }
            if radius >= farthest {
                near.radius2 = radius * radius;
                return;
            }
            let growth = ((self.neighbours + 2) as f32 / found as f32).sqrt();
            radius = (radius * growth.clamp(1.2, 4.0)).min(farthest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_of(places: impl Iterator<Item = Vec3>, farthest: f32) -> PhotonTree {
        let at = |(i, position)| {
            let (wi, power, tests_density) = (Vec3::Y, Vec3::ONE, i % 2 == 0);
            CausticPhoton { position, wi, normal: Vec3::Y, power, bounces: 1, tests_density }
        };
        PhotonTree::new(places.enumerate().map(at).collect(), Ball { center: Vec3::ONE, radius: 10.0 }, 0.1 * farthest)
    }

    /// As a search among all finds them, wherever it begins.
    #[test]
    fn the_nearest_are_found() {
        let step = Vec3::new(0.819_172_5, 0.0, 0.549_700_5);
        let photons = tree_of((0..3000).map(|i| (step * i as f32).fract()), 0.3);
        for (i, about) in [0.0, 0.01, 0.1, 1.0].into_iter().enumerate() {
            let (place, mut near) = ((step * (i as f32 + 0.5)).fract(), NearestPhotons::default());
            photons.find(place, about, &mut near);
            let mut all: Vec<f32> = photons.photons.iter().map(|p| p.position.distance_squared(place)).collect();
            all.sort_by(f32::total_cmp);
            assert!(near.all && near.photons.len() == photons.neighbours);
            assert_eq!(near.radius2, all[photons.neighbours]);
            assert!(near.photons.iter().all(|(distance2, _)| *distance2 <= near.radius2));
        }
    }

    /// None there, one, and thousands in one place, for which one stands.
    #[test]
    fn few_photons_and_many_in_one_place_are_found() {
        for (count, expected) in [(1, 1), (5000, 32)] {
            let photons = tree_of((0..count).map(|_| Vec3::ONE), 0.3);
            assert_eq!(photons.some_testers(4).len(), 1);
            let mut near = NearestPhotons::default();
            for (place, found) in [(Vec3::ONE, expected), (Vec3::X * 9.0, 0)] {
                photons.find(place, 0.0, &mut near);
                assert_eq!(near.photons.len(), found);
                assert!(near.radius2 > 0.0 && near.radius2 <= 0.3 * 0.3 * 1.001);
            }
        }
    }
}
