//! Irradiance from photons: the power of the nearest ones over the area of the surfaces on which they lie.

use crate::geometry::surface;
use crate::math::tree::{Located, Tree};
use crate::math::{Frame, luminance};
use crate::photon_map::{IrradianceSample, SAME_WAY, TOLD_APART};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::{PI, TAU};
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

/// Photons that a sample is made of: more where there are more in all, by their root, so that more photons make both less noise and less
/// blur.
const NEIGHBOURS: RangeInclusive<usize> = 32..=256;
/// All photons over the square of those of a sample.
const PER_SQUARE: usize = 64;
/// Photons for each sample.
const PER_SAMPLE: usize = 8;
/// Where fewer are near, there is no sample: paths look for the light.
const LEAST_NEIGHBOURS: usize = 16;
/// Photons in a part of the tree at most.
const ROOM: usize = 16;
/// How far a sample looks for photons at most, as a share of the size of what the picture shows.
const FARTHEST: f32 = 0.06;
/// Rays that look for the surface about a sample.
const PROBES: usize = 8;
/// A surface that fills less of the surroundings counts as if it filled so much.
const LEAST_COVER: f32 = 0.5 / PROBES as f32;

/// Irradiance at the places of some of the photons, in a scene of which the picture shows a part of this `size`.
pub fn samples(scene: &Scene, mut photons: Vec<CausticPhoton>, size: f32) -> Vec<IrradianceSample> {
    let (mut tree, mut parts, mut begin) = (Tree::default(), Vec::new(), 0);
    tree.add(&mut photons, ROOM, |part, _| {
        parts.push(begin..begin + part.len());
        begin += part.len();
    });
    let neighbours = (photons.len() / PER_SQUARE).isqrt().clamp(*NEIGHBOURS.start(), *NEIGHBOURS.end());
    let landed = Landed { tree, parts, photons, neighbours, farthest: FARTHEST * size };
    let chosen: Vec<usize> = (0..landed.photons.len()).step_by(PER_SAMPLE).collect();
    let some = chosen.par_chunks(256).map_init(Vec::new, |near, chosen| {
        let about = chosen.iter().filter_map(|&number| landed.about(number, near));
        let mut samples: Vec<IrradianceSample> = about.collect();
        divide_by_cover(scene, &mut samples);
        samples
    });
    some.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// All photons.
struct Landed {
    tree: Tree,
    parts: Vec<Range<usize>>,
    photons: Vec<CausticPhoton>,
    /// Photons of a sample at most, beside the one in its middle.
    neighbours: usize,
    /// How far away they are at most.
    farthest: f32,
}

impl Landed {
    /// What the photons around one of them make, if the surface is a plane. Its own power is left out: it would count too often where only
    /// photons are asked.
    fn about(&self, number: usize, near: &mut Vec<(f32, u32)>) -> Option<IrradianceSample> {
        let photon = &self.photons[number];
        let radius2 = self.nearest(number, near);
        if near.len() < LEAST_NEIGHBOURS {
            return None;
        }
        let (mut sum, mut within) = (Vec3::ZERO, [0.0; TOLD_APART]);
        for (distance2, other) in near.iter().filter(|(_, other)| *other != number as u32) {
            let other = &self.photons[*other as usize];
            if other.normal.dot(photon.normal) > SAME_WAY {
                let power = other.power * kernel(distance2 / radius2);
                sum += power;
                let first = (other.bounces as usize - 1).min(TOLD_APART - 1);
                within[first..].iter_mut().for_each(|within| *within += luminance(power));
            }
        }
        let all = within[TOLD_APART - 1];
        let reach = radius2.sqrt();
        let irradiance = sum / (PI * radius2);
        let CausticPhoton { position, wi, normal, .. } = *photon;
        let is_lit = all > 0.0 && irradiance.is_finite();
        is_lit.then(|| IrradianceSample { position, normal, wi, irradiance, within: within.map(|w| w / all), reach })
    }

    /// Finds those nearest to one of them, itself among them, with the squares of their distances; returns that of how far they reach.
    fn nearest(&self, number: usize, near: &mut Vec<(f32, u32)>) -> f32 {
        let (center, wanted) = (self.photons[number].position, self.neighbours + 1);
        let farthest = self.farthest;
        let most2 = farthest * farthest;
        let mut radius = 0.02 * farthest;
        loop {
            near.clear();
            self.tree.within(0, center, radius, |part| {
                for other in self.parts[part as usize].clone() {
                    let distance2 = self.photons[other].position.distance_squared(center);
                    if distance2 < radius * radius {
                        near.push((distance2, other as u32));
                    }
                }
            });
            // That which is one too many says how far the others reach.
            if near.len() > wanted {
                let (_, last, _) = near.select_nth_unstable_by(wanted, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let radius2 = last.0;
                near.truncate(wanted);
                // Nothing is spread over no area.
                return radius2.max(1e-12 * most2);
            }
            if radius >= farthest {
                return most2;
            }
            let growth = ((wanted + 1) as f32 / near.len() as f32).sqrt();
            radius = (radius * growth.clamp(1.2, 4.0)).min(farthest);
        }
    }
}

/// How much a photon counts by the square of its distance, where 1 is that of the farthest; 1 on average (Epanechnikov's).
fn kernel(distance2: f32) -> f32 {
    2.0 * (1.0 - distance2).max(0.0)
}

/// Where the surface about a sample ends, or bends, photons lie on another area than that of a disk. Rays find how large it is.
fn divide_by_cover(scene: &Scene, samples: &mut [IrradianceSample]) {
    let offsets: Vec<Vec2> = (0..PROBES).map(offset).collect();
    let probes = |sample: &IrradianceSample| {
        let (frame, position, normal, reach) =
            (Frame::about(sample.normal), sample.position, sample.normal, sample.reach);
        offsets.clone().into_iter().map(move |offset| {
            let from = position + frame.to_world((offset * reach).extend(0.5 * reach));
            Ray { t_max: reach, ..Ray::new(from, -normal, 0.5) }
        })
    };
    let rays: Vec<Ray> = samples.iter().flat_map(probes).collect();
    let mut hits = Vec::new();
    scene.accel.closest_each(&rays, &mut hits);
    for ((sample, rays), hits) in samples.iter_mut().zip(rays.chunks(PROBES)).zip(hits.chunks(PROBES)) {
        let mut cover = 0.0;
        for ((ray, hit), offset) in rays.iter().zip(hits).zip(&offsets) {
            let Some(hit) = hit else { continue };
            let (shape, primitive) = scene.geometry.find(hit.primitive);
            let place = surface::place_on(&scene.geometry, (shape, primitive), ray, hit);
            let (cosine, relative2) = (
                place.gnormal.dot(sample.normal).abs(),
                place.position.distance_squared(sample.position) / (sample.reach * sample.reach),
            );
            if cosine > SAME_WAY {
                cover += kernel(relative2) / kernel(offset.length_squared()) / cosine;
            }
        }
        sample.irradiance /= (cover / PROBES as f32).max(LEAST_COVER);
    }
}

/// Where a probe looks, in a disk with the radius 1, as densely as the kernel is high.
fn offset(number: usize) -> Vec2 {
    const GOLDEN: f32 = 0.618_034;
    let u = (number as f32 + 0.5) / PROBES as f32;
    let radius = (1.0 - (1.0 - u).sqrt()).sqrt();
    Vec2::from_angle(TAU * (GOLDEN * number as f32).fract()) * radius
}
