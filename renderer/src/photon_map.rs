//! The photon map: how much light arrives at surfaces by way of mirrors, glass and other narrow lobes, found from photons before the
//! render (Jensen, "Global Illumination using Photon Maps", 1996).
//!
//! It is kept as samples of irradiance, each from the photons around one place, as by Christensen ("Faster Photon Map Global
//! Illumination", 1999): a vertex takes that of the nearest one on a surface which faces the same way.

use crate::math::ball::Ball;
use crate::math::lanes::{Row3, lanes_of};
use crate::math::tree::{Located, Tree};
use glam::Vec3;
use ssl_compiler::runtime::LANES;
use std::ops::Range;

/// Bounces of a photon that are told apart; more count as so many.
pub const TOLD_APART: usize = 12;

/// Irradiance about a place of a surface.
#[derive(Clone, Copy, Debug)]
pub struct IrradianceSample {
    pub position: Vec3,
    /// Geometric, on the side that the light came from; unit length.
    pub normal: Vec3,
    /// To where some of the light came from, unit length.
    pub wi: Vec3,
    /// Power an area.
    pub irradiance: Vec3,
    /// The share of it that came with at most one bounce, two, and so on.
    pub within: [f32; TOLD_APART],
    /// How far from its place it holds.
    pub reach: f32,
}

impl IrradianceSample {
    /// What of it came with at most so many bounces.
    pub fn of_bounces(&self, most: u32) -> Vec3 {
        match (most as usize).checked_sub(1) {
            None => Vec3::ZERO,
            Some(place) => self.irradiance * self.within.get(place).copied().unwrap_or(1.0),
        }
    }
}

impl Located for IrradianceSample {
    fn position(&self) -> Vec3 {
        self.position
    }
}

/// Samples in a part of the tree at most.
const ROOM: usize = 8;
/// Cosine of the largest angle between surfaces that count as facing the same way.
pub const SAME_WAY: f32 = 0.7;
/// Surfaces of each of so many sides have a tree of their own: see [`side`].
const SIDES: usize = 6;

/// The samples, in the parts of a tree for each of the sides that surfaces face.
#[derive(Debug)]
pub struct PhotonMap {
    tree: Tree,
    roots: [u32; SIDES],
    parts: Vec<Range<u32>>,
    samples: Vec<IrradianceSample>,
    /// Photons left lights for these alone.
    casters: Vec<Ball>,
    /// They came from the environment, too.
    pub of_environment: bool,
}

impl PhotonMap {
    /// None without samples.
    pub fn new(samples: Vec<IrradianceSample>, casters: Vec<Ball>, of_environment: bool) -> Option<PhotonMap> {
        if samples.is_empty() {
            return None;
        }
        let (mut tree, mut parts, mut sorted) = (Tree::default(), Vec::new(), Vec::<IrradianceSample>::new());
        let roots = std::array::from_fn(|of| {
            let mut some: Vec<IrradianceSample> = samples.iter().filter(|s| side(s.normal) == of).copied().collect();
            tree.add(&mut some, ROOM, |part, _| {
                let begin = sorted.len() as u32;
                sorted.extend_from_slice(part);
                parts.push(begin..sorted.len() as u32);
            })
        });
        Some(PhotonMap { tree, roots, parts, samples: sorted, casters, of_environment })
    }

    /// Whether photons brought what a point of a shape sends in a unit direction.
    pub fn has_ray(&self, from: Vec3, direction: Vec3) -> bool {
        self.casters.iter().any(|caster| caster.towards(from, direction) > 0.0)
    }

    /// Whether photons brought what comes to a point from a unit direction in the sky.
    pub fn has_line(&self, through: Vec3, direction: Vec3) -> bool {
        self.casters.iter().any(|caster| caster.across(through, direction) > 0.0)
    }

    /// For each of the lanes the sample near its place, on a surface that faces the way of its normal.
    pub fn find(&self, lanes: u32, places: &Row3, normals: &Row3) -> [Option<&IrradianceSample>; LANES] {
        let parts = self.tree.find(std::array::from_fn(|lane| self.roots[side(normals.get(lane))]), places);
        let mut found = [None; LANES];
        for lane in lanes_of(lanes) {
            let (place, normal) = (places.get(lane), normals.get(lane));
            let Range { start, end } = self.parts[parts[lane] as usize];
            let near = self.samples[start as usize..end as usize].iter().filter(|s| s.normal.dot(normal) > SAME_WAY);
            let distance = |s: &&IrradianceSample| s.position.distance_squared(place);
            let nearest = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            found[lane] = nearest.filter(|s| distance(s) <= s.reach * s.reach);
        }
        found
    }
}

/// Which of six sides a surface faces: along the axis that its normal has most of.
fn side(normal: Vec3) -> usize {
    let along = normal.abs();
    let axis = (0..3).fold(0, |best, axis| if along[axis] > along[best] { axis } else { best });
    2 * axis + usize::from(normal[axis] < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(position: Vec3, normal: Vec3, irradiance: f32) -> IrradianceSample {
        let within = [0.25, 0.5, 0.5, 1.0].into_iter().chain(std::iter::repeat(1.0));
        let mut of_bounces = [0.0; TOLD_APART];
        of_bounces.iter_mut().zip(within).for_each(|(place, share)| *place = share);
        let irradiance = Vec3::splat(irradiance);
        IrradianceSample { position, normal, wi: normal, irradiance, within: of_bounces, reach: 0.2 }
    }

    #[test]
    fn few_bounces_bring_their_share() {
        let sample = sample(Vec3::ZERO, Vec3::Y, 8.0);
        let shares: Vec<f32> = [0, 1, 2, 3, 4, 11, 12, 500].map(|most| sample.of_bounces(most).x).to_vec();
        assert_eq!(shares, [0.0, 2.0, 4.0, 4.0, 8.0, 8.0, 8.0, 8.0]);
    }

    /// On both sides of a sheet, and beside it.
    #[test]
    fn samples_are_found_on_their_side() {
        let grid = (0..400).map(|i| Vec3::new((i % 20) as f32 * 0.1, 0.0, (i / 20) as f32 * 0.1));
        let samples = grid.flat_map(|at| [(Vec3::Y, 1.0), (Vec3::NEG_Y, 2.0)].map(|(n, light)| sample(at, n, light)));
        let map = PhotonMap::new(samples.collect(), Vec::new(), false).expect("there are samples");
        let asked = [
            (Vec3::new(0.52, 0.0, 0.71), Vec3::Y, Some(1.0)),
            (Vec3::new(0.52, 0.0, 0.71), Vec3::NEG_Y, Some(2.0)),
            (Vec3::new(0.52, 0.0, 0.71), Vec3::new(0.6, 0.8, 0.0), Some(1.0)),
            (Vec3::new(0.52, 0.0, 0.71), Vec3::X, None),
            (Vec3::new(0.52, 0.5, 0.71), Vec3::Y, None),
            (Vec3::new(3.0, 0.0, 0.71), Vec3::Y, None),
        ];
        let (mut places, mut normals) = (Row3::ZERO, Row3::splat(Vec3::Y));
        for (lane, (place, normal, _)) in asked.iter().enumerate() {
            places.set(lane, *place);
            normals.set(lane, *normal);
        }
        let found = map.find(0b111111, &places, &normals);
        for ((place, normal, light), found) in asked.into_iter().zip(found) {
            assert_eq!(found.map(|sample| sample.irradiance.x), light, "{place} {normal}");
            assert!(found.is_none_or(|sample| sample.position.distance(place) < 0.15));
        }
        assert!(PhotonMap::new(Vec::new(), Vec::new(), true).is_none());
    }
}
