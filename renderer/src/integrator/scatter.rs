//! The stages in which paths go on: a direction from the lobes, the throughput behind it, Russian roulette, the footprint of
//! the next ray, and that ray.

use super::caustics::note_bounces;
use super::differentials::{BounceRecord, Differentials};
use super::guided;
use super::numbers::BounceNumbers;
use super::path::Path;
use super::ray_origins::origins;
use super::termination::Termination;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::accel::offset_origin;
use crate::bsdf::{BsdfSample, Refraction};
use crate::geometry::surface::Place;
use crate::light::LightSampleContext;
use crate::material::ShadingPoint;
use crate::math::lanes::Row3;
use crate::math::max_channel;
use crate::ray::{Ray, RayDifferential};
use crate::scene::Scene;
use glam::Vec3;

/// Bounces that a path makes before Russian roulette may end it.
const SURE_BOUNCES: u32 = 3;

/// Draws a direction for each lane that goes on, and multiplies the throughput by the weight of the sample. A lane that is `bounded`
/// goes straight on or, for that reason, nowhere.
pub fn sample_lobes(
    scene: &Scene,
    work: &mut Workspace,
    bounded: impl Fn(&Vertices, &Path, usize) -> Option<Termination>,
) {
    let Workspace { vertices, paths, .. } = work;
    let numbers = vertices.random_numbers(paths);
    let (drawing, direction) = (vertices.going_on_mask(), numbers.direction());
    let mut choices = vertices.ask_lobes(scene, |block| block.choose(drawing, &direction));
    vertices.guided.draw(scene, &numbers, &mut choices);
    let (given, directions) = (vertices.guided.given, vertices.guided.directions);
    let mut drawn = vertices.ask_lobes(scene, |block| block.sample(&choices, (given, &directions)));
    let times = guided::mix_samples(scene, vertices, &mut drawn);
    for lane in vertices.lanes() {
        if vertices.terminated[lane].is_some() {
            continue;
        }
        let path = &mut paths[vertices.paths[lane] as usize];
        let sampled = drawn.samples[lane].ok_or(Termination::NoDirection);
        let allowed = |next: BsdfSample| match bounded(vertices, path, lane) {
            Some(end) if next.specular.is_none_or(|s| !s.straight) => Err(end),
            _ => Ok(next),
        };
        let next = match sampled.and_then(allowed) {
            Ok(next) => next,
            Err(end) => {
                vertices.terminated[lane] = Some(end);
                continue;
            }
        };
        path.scale(&next, times[lane]);
        let (numbers, carries) = (path.beta.is_finite(), max_channel(path.beta) > 0.0);
        vertices.finite[lane] &= numbers;
        if numbers && carries {
            vertices.next[lane] = Some(next);
        } else {
            vertices.terminated[lane] = Some(Termination::Nothing);
        }
    }
    note_bounces(scene, vertices, paths);
}

/// Plays Russian roulette: paths that carry little end early, the others carry their share.
pub fn play_roulette(scene: &Scene, work: &mut Workspace) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        if vertices.terminated[lane].is_some() {
            continue;
        }
        let path = &mut paths[vertices.paths[lane] as usize];
        let survival = match vertices.depth(lane) < SURE_BOUNCES || !scene.integrator.roulette {
            true => 1.0,
            false => (max_channel(path.beta) * path.rr_scale).min(0.95),
        };
        vertices.survival[lane] = survival;
        if survival < 1.0 && BounceNumbers::new(path.sampler, vertices.step).roulette() >= survival {
            vertices.terminated[lane] = Some(Termination::Roulette);
            continue;
        }
        path.beta /= survival;
    }
}

/// Finds the differentials of the next rays; with `all` also of those that are not traced.
pub fn differentiate(scene: &Scene, work: &mut Workspace, all: bool) {
    let Workspace { vertices, paths, .. } = work;
    if vertices.differentials != Differentials::Always {
        return;
    }
    for lane in vertices.lanes() {
        let Some(next) = vertices.next[lane].filter(|_| all || vertices.terminated[lane].is_none()) else { continue };
        let path = &paths[vertices.paths[lane] as usize];
        let point = &vertices.points[lane];
        let record = BounceRecord::new(path, point, &next);
        vertices.next_differentials[lane] = record.differential(scene, &path.differential, point.partials.position);
    }
}

/// Gives the paths that go on their next rays.
pub fn spawn_rays(work: &mut Workspace) {
    let Workspace { vertices, paths, active, bounce_records, .. } = work;
    let mut directions = Row3::ZERO;
    for lane in vertices.going_on() {
        directions.set(lane, vertices.next[lane].map_or(Vec3::ZERO, |next| next.wi));
    }
    let origins = origins(&vertices.places, &directions);
    for lane in vertices.lanes() {
        let Some(next) = vertices.next[lane].filter(|_| vertices.terminated[lane].is_none()) else { continue };
        let (index, point) = (vertices.paths[lane], &vertices.points[lane]);
        let differential = vertices.next_differentials.get(lane).copied();
        let path = &mut paths[index as usize];
        if vertices.differentials == Differentials::OnDemand {
            bounce_records.remember(path, BounceRecord::new(path, point, &next));
        }
        let (origin, from, travelled) = (origins.get(lane), vertices.receivers[lane], point.hit.t);
        path.spawn_ray(&RayOrigin { origin, from, travelled }, &next, differential);
        active.push(index);
    }
}

/// Where a ray leaves a surface.
pub struct RayOrigin {
    /// Beside the surface.
    pub origin: Vec3,
    /// The place as light sampling knows it.
    pub from: LightSampleContext,
    /// How long the ray was that arrived.
    pub travelled: f32,
}

impl RayOrigin {
    /// From a point, which light sampling knows as `from`.
    pub fn new(point: &ShadingPoint, from: LightSampleContext, direction: Vec3) -> RayOrigin {
        let Place { position, position_error, gnormal } = point.surface.place();
        let origin = offset_origin(position, position_error, gnormal, direction);
        RayOrigin { origin, from, travelled: point.hit.t }
    }
}

impl Path {
    /// Multiplies the throughput by the weight of a sample; `times` is how many times as often it was drawn as by the lobes alone.
    pub fn scale(&mut self, next: &BsdfSample, times: f32) {
        self.beta *= next.weight;
        self.rr_scale *= times;
        if let Some(Refraction { eta }) = next.refracted {
            self.rr_scale *= eta * eta;
        }
    }

    /// Gives it its next ray.
    pub fn spawn_ray(&mut self, origin: &RayOrigin, next: &BsdfSample, differential: Option<RayDifferential>) {
        if let Some(differential) = differential {
            self.differential = differential;
        }
        self.ray = Ray::new(origin.origin, next.wi, self.ray.time);
        if next.specular.is_some_and(|s| s.straight) {
            // It is the same way still, seen from where the path was scattered last.
            self.pass_throughs += 1;
            self.passed_distance += origin.travelled;
            return;
        }
        self.bounces += 1;
        self.from = origin.from;
        self.scattered |= next.specular.is_none();
        self.passed_distance = 0.0;
        self.pdf = if next.specular.is_some() { f32::INFINITY } else { next.pdf };
    }
}
