//! Irradiance from photons: the power of the nearest ones over the area of the surfaces on which they lie.

use super::photon_tree::{CausticPhoton, NearestPhotons, PhotonTree};
use crate::geometry::surface::{self, Place};
use crate::math::ball::Ball;
use crate::math::{Frame, luminance};
use crate::photon_map::{IrradianceSample, SAME_WAY, TOLD_APART};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::{PI, TAU};

/// Photons that test the density for each sample, and samples that a thread makes together.
const PER_SAMPLE: usize = 4;
const TOGETHER: usize = 256;
/// How far a sample looks for photons at most, as a share of the size of what the picture shows, or of how far away that is: where they are
/// sparse, paths look for their light.
const FARTHEST: f32 = 0.08;
/// Likewise where delta lights are among their lights, which no path finds: blurred light is better than none.
const FARTHEST_OF_DELTA: f32 = 0.5;
/// Where fewer of those that test the density are near, there is no sample: paths look for the light.
const LEAST_TESTERS: usize = 2;
/// How far a sample holds, as a multiple of how far its photons reach: so far that there are no gaps between samples, in which paths would
/// look for the brightest light.
const HOLDS: f32 = 2.0;
/// Rays that look for the surface about a sample.
const PROBES: usize = 8;
/// A surface that fills less of the surroundings counts as if it filled so much.
const LEAST_COVER: f32 = 0.5 / PROBES as f32;

/// Where irradiance is looked for.
struct GatherPoint {
    position: Vec3,
    /// On the side that is looked at.
    normal: Vec3,
    /// About how far the photons near it reach.
    reach: f32,
}

/// Samples of the irradiance that photons bring, in a scene of which the picture shows what is in a ball; none of those that are still to
/// be made when the render is cancelled. `of_delta`: some photons left delta lights.
pub fn samples(
    scene: &Scene,
    photons: Vec<CausticPhoton>,
    (visible, of_delta): (&Ball, bool),
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Vec<IrradianceSample> {
    let tree = PhotonTree::new(photons, *visible, if of_delta { FARTHEST_OF_DELTA } else { FARTHEST });
    let chosen = tree.some_testers(PER_SAMPLE);
    let some = chosen.par_chunks(TOGETHER).map_init(NearestPhotons::default, |near, chosen| {
        if cancelled() {
            return Vec::new();
        }
        let points = gather_points(scene, &tree, chosen);
        let mut samples: Vec<IrradianceSample> = points.iter().filter_map(|point| about(&tree, point, near)).collect();
        divide_by_cover(scene, &mut samples);
        samples
    });
    some.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Places beside photons, about as far away as their neighbours are, or twice as far. At the places of photons themselves there would always be a photon.
fn gather_points(scene: &Scene, tree: &PhotonTree, chosen: &[usize]) -> Vec<GatherPoint> {
    let beside = |(i, &number): (usize, &usize)| {
        let photon = &tree.photons[number];
        // Every other one twice as far, beyond the edge of a caustic: else the last samples within it would hold there.
        let reach = tree.reach(number) * if i % 2 == 0 { 1.0 } else { 2.0 };
        let offset = Vec2::from_angle(TAU * golden(number)) * reach;
        probe(photon.position, photon.normal, offset, reach)
    };
    let places = places(scene, chosen.iter().enumerate().map(beside).collect());
    let site = |(&number, place): (&usize, Option<Place>)| {
        let (CausticPhoton { position, normal, .. }, reach) = (tree.photons[number], tree.reach(number));
        let turned = place.map(|place| (place.position, place.gnormal * place.gnormal.dot(normal).signum()));
        let (position, normal) = turned.filter(|(_, n)| n.dot(normal) > SAME_WAY).unwrap_or((position, normal));
        GatherPoint { position, normal, reach }
    };
    chosen.iter().zip(places).map(site).collect()
}

/// What the photons near a place make, if the surface is a plane.
fn about(
    tree: &PhotonTree,
    &GatherPoint { position, normal, reach }: &GatherPoint,
    near: &mut NearestPhotons,
) -> Option<IrradianceSample> {
    tree.find(position, reach, near);
    let all = near.photons.iter().map(|&(distance2, number)| (distance2, &tree.photons[number as usize]));
    let facing: Vec<(f32, &CausticPhoton)> = all.filter(|(_, photon)| photon.normal.dot(normal) > SAME_WAY).collect();
    // Few are sometimes many by chance. So that this brings no light, those that test it are none of those that count.
    let counts = |photon: &CausticPhoton| near.all || !photon.tests_density;
    let testers = facing.iter().filter(|(_, photon)| photon.tests_density).count();
    if testers < LEAST_TESTERS {
        return None;
    }
    let (mut sum, mut within) = (Vec3::ZERO, [0.0; TOLD_APART]);
    for (distance2, photon) in facing.iter().filter(|(_, photon)| counts(photon)) {
        let power = photon.power * kernel(distance2 / near.radius2);
        sum += power;
        let first = (photon.bounces as usize - 1).min(TOLD_APART - 1);
        within[first..].iter_mut().for_each(|within| *within += luminance(power));
    }
    let (_, nearest) = facing.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let share = if near.all { 1.0 } else { 0.5 };
    let irradiance = sum / (PI * near.radius2 * share);
    let whole = within[TOLD_APART - 1];
    let within = within.map(|part| if whole > 0.0 { part / whole } else { 1.0 });
    let reach = near.radius2.sqrt();
    irradiance.is_finite().then_some(IrradianceSample { position, normal, wi: nearest.wi, irradiance, within, reach })
}

/// How much a photon counts by the square of its distance, where 1 is that of the farthest; 1 on average (Epanechnikov's).
fn kernel(distance2: f32) -> f32 {
    2.0 * (1.0 - distance2).max(0.0)
}

/// Where the surface about a sample ends, or bends, photons lie on another area than that of a disk. Rays find how large it is.
fn divide_by_cover(scene: &Scene, samples: &mut [IrradianceSample]) {
    let offsets: [Vec2; PROBES] = std::array::from_fn(offset);
    let probes = |sample: &IrradianceSample| {
        let IrradianceSample { position, normal, reach, .. } = *sample;
        offsets.map(|offset| probe(position, normal, offset * reach, reach))
    };
    let places = places(scene, samples.iter().flat_map(probes).collect());
    for (sample, places) in samples.iter_mut().zip(places.chunks(PROBES)) {
        let part = |(place, offset): (&Option<Place>, &Vec2)| {
            let Place { position, gnormal, .. } = place.as_ref()?;
            let cosine = gnormal.dot(sample.normal).abs();
            let distance2 = position.distance_squared(sample.position) / (sample.reach * sample.reach);
            (cosine > SAME_WAY).then(|| kernel(distance2) / kernel(offset.length_squared()) / cosine)
        };
        let cover: f32 = places.iter().zip(&offsets).filter_map(part).sum();
        sample.irradiance /= (cover / PROBES as f32).max(LEAST_COVER);
        sample.reach *= HOLDS;
    }
}

/// A ray that looks for the surface about a place, at this offset along it.
fn probe(position: Vec3, normal: Vec3, offset: Vec2, reach: f32) -> Ray {
    let from = position + Frame::about(normal).to_world(offset.extend(0.5 * reach));
    Ray { t_max: reach, ..Ray::new(from, -normal, 0.5) }
}

/// Where rays meet surfaces.
fn places(scene: &Scene, rays: Vec<Ray>) -> Vec<Option<Place>> {
    let mut hits = Vec::new();
    scene.accel.closest_each(&rays, &mut hits);
    let geometry = &scene.geometry;
    let place = |(ray, hit): (&Ray, &Option<_>)| {
        let hit: &crate::geometry::Hit = hit.as_ref()?;
        Some(surface::place_on(geometry, geometry.find(hit.primitive), ray, hit))
    };
    rays.iter().zip(&hits).map(place).collect()
}

/// Where a probe looks, in a disk with the radius 1, as densely as the kernel is high.
fn offset(number: usize) -> Vec2 {
    let u = (number as f32 + 0.5) / PROBES as f32;
    Vec2::from_angle(TAU * golden(number)) * (1.0 - (1.0 - u).sqrt()).sqrt()
}

/// Well spread in [0, 1) for numbers one after the other.
fn golden(number: usize) -> f32 {
    const STEP: f64 = 0.618_033_988_749_894_9;
    (STEP * number as f64).fract() as f32
}
