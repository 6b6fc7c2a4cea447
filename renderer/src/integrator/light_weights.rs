//! What the directions of a round count, and what becomes of those that do: light samples whose shadow rays are still to be traced.

use super::caustics::kept_shares;
use super::differentials::scattered;
use super::light_directions::{LightDirections, Radiance};
use super::light_samples::{EmitterPoint, LaneSamples, LightSample, LightSamples, SeeThrough, Source};
use super::ray_origins::origin;
use super::vertices::Vertex;
use super::workspace::Workspace;
use crate::bsdf::BlockValues;
use crate::geometry::PlaceRows;
use crate::light::{DirectionFootprint, LightId, LightName, LightSampling, MaterialEmission, ShapeSample};
use crate::math::lanes::{Row, Row3, lanes_of, mask_where, wide};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// The name of the light that a direction was drawn to.
fn light_name(scene: &Scene, radiance: &Radiance) -> LightName {
    match radiance {
        Radiance::Environment => scene.environment_name,
        Radiance::Shape(drawn) => scene.geometry.shape(drawn.shape).light_name,
        Radiance::Constant { from, .. } => match *from {
            LightId::Point(number) => scene.lights.point_name(number),
            LightId::Parallel(number) => scene.parallel[number as usize].1,
            LightId::Sun(number) => scene.suns[number as usize].1,
        },
    }
}

/// What a round came to.
pub struct Weighed {
    pub of_lobes: BlockValues,
    pub weights: Weights,
    /// Those that count.
    pub samples: LaneSamples,
}

/// Queues the samples of the round of which anything can come. Lobes, or the guide, find some of the same light: their shares and those
/// of the round add up to 1. If somebody looks on, and the round has any lane, it returns what the round came to.
pub fn queue(scene: &Scene, work: &mut Workspace) -> Option<Weighed> {
    let Workspace { vertices, paths, round, light: samples, .. } = work;
    if round.lanes == 0 {
        return None;
    }
    let mut of_lobes = vertices.ask_lobes(scene, |block| block.eval(round.lanes, &round.wi));
    vertices.guided.mix(scene, (round.lanes, &round.wi), &mut of_lobes.pdf);
    let mut weights = weigh(round, &of_lobes, &vertices.throughput, scene.integrator.sampling);
    if let Some(map) = &scene.photon_map {
        keep(&mut weights, &kept_shares(map, (scene, vertices, paths), round, &of_lobes));
    }
    let lanes = mask_where(&weights.counts) & round.lanes;
    let queued = LaneSamples { lanes, first: samples.samples.len() };
    if lanes != 0 {
        let rays = shadow_rays(round, &vertices.places);
        for lane in lanes_of(lanes) {
            let (vertex, lobe_pdf) = (vertices.vertex(scene, paths, lane), of_lobes.pdf[lane]);
            let source = vertex.source(&round.radiance[lane], round.wi.get(lane), lobe_pdf, samples);
            let ray = rays.get(lane, vertex.path.ray.time);
            let see_through = scene.accel.may_see_through(&ray).then(|| vertex.see_through(round, lane, lobe_pdf));
            let shadow_ray = Some(samples.shadow_ray(ray, see_through));
            samples.samples.push(LightSample {
                path: vertices.paths[lane],
                vertex: Some(vertices.named(lane)),
                weight: weights.total.get(lane),
                shadow_ray,
                bounces: vertices.depth(lane) + 1,
                from: light_name(scene, &round.radiance[lane]),
                source,
            });
        }
    }
    work.looks_at_lights().then_some(Weighed { of_lobes, weights, samples: queued })
}

/// What the samples of a round count, a lane for each.
pub struct Weights {
    /// Beside what the lobes find of the same light.
    pub share: Row,
    /// What a unit of the lobes' value and of radiance adds.
    pub scale: Row,
    /// What a unit of radiance sends towards the viewer, and so adds to the pixel.
    pub weight: Row3,
    total: Row3,
    /// Whether anything can come.
    counts: [u32; LANES],
}

wide! {
    fn weigh(round: &LightDirections, of_lobes: &BlockValues, throughput: &Row3, sampling: LightSampling) -> Weights {
        let mut weights = Weights {
            share: [0.0; LANES],
            scale: [0.0; LANES],
            weight: Row3::ZERO,
            total: Row3::ZERO,
            counts: [0; LANES],
        };
        for lane in 0..LANES {
            let delta = round.delta >> lane & 1 != 0;
            let (chance, value) = (round.pdf_or_probability[lane], of_lobes.value.get(lane));
            let share = if delta { 1.0 } else { sampling.of_light(chance, of_lobes.pdf[lane]) };
            let scale = share / chance;
            let weight = if delta { value / chance } else { value * scale };
            let is_lit = (value.x != 0.0) | (value.y != 0.0) | (value.z != 0.0);
            weights.share[lane] = share;
            weights.scale[lane] = scale;
            weights.weight.set(lane, weight);
            weights.total.set(lane, throughput.get(lane) * weight);
            weights.counts[lane] = (is_lit & (delta | (chance > 0.0))).into();
        }
        weights
    }
}

wide! {
    /// Leaves the rest to photons.
    fn keep(weights: &mut Weights, shares: &Row) {
        for lane in 0..LANES {
            let share = shares[lane];
            weights.share[lane] *= share;
            weights.scale[lane] *= share;
            weights.weight.set(lane, weights.weight.get(lane) * share);
            weights.total.set(lane, weights.total.get(lane) * share);
            weights.counts[lane] &= u32::from(share > 0.0);
        }
    }
}

/// From beside the surfaces to beside the lights.
struct ShadowRays {
    origin: Row3,
    direction: Row3,
    t_max: Row,
}

impl ShadowRays {
    fn get(&self, lane: usize, time: f32) -> Ray {
        let (origin, direction) = (self.origin.get(lane), self.direction.get(lane));
        Ray { t_max: self.t_max[lane], ..Ray::new(origin, direction, time) }
    }
}

wide! {
    fn shadow_rays(round: &LightDirections, places: &PlaceRows) -> ShadowRays {
        let mut rays = ShadowRays { origin: Row3::ZERO, direction: Row3::ZERO, t_max: [0.0; LANES] };
        for lane in 0..LANES {
            let (wi, distance, ending) = (round.wi.get(lane), round.distance[lane], round.ending >> lane & 1 != 0);
            let ray = Ray::new(origin(places, lane, wi), wi, 0.0);
            // A lamp may hang in the surface that it is fixed to.
            let (end, short) =
                if ending { (round.end.get(lane), 1e-5) } else { (places.position.get(lane) + wi * distance, 1e-4) };
            let ended = ray.ending_at(end, short);
            let is_far = distance == f32::INFINITY;
            rays.origin.set(lane, ray.origin);
            rays.direction.set(lane, if is_far { wi } else { ended.direction });
            rays.t_max[lane] = if is_far { f32::INFINITY } else { ended.t_max };
        }
        rays
    }
}

impl Vertex<'_> {
    /// What see-through surfaces on the way are asked with. Their textures are read with the footprint that a path has there which
    /// the lobes send the same way; of a light that no such path finds, as by the one that arrived here.
    fn see_through(&self, round: &LightDirections, lane: usize, lobe_pdf: f32) -> SeeThrough {
        SeeThrough {
            differential: scattered(self.path, self.point, round.wi.get(lane), lobe_pdf),
            ray_depth: self.point.ray_depth + 1,
            scattered: round.pdf(lane).is_some() || self.path.scattered,
        }
    }

    /// The source of a sample's radiance; lookups that depend on the place come later, for many at once. A shape's
    /// radiance is read with the footprint of a sample of the lobes in that direction, for which their density is
    /// `lobe_pdf`.
    fn source(&self, radiance: &Radiance, wi: Vec3, lobe_pdf: f32, samples: &mut LightSamples) -> Source {
        match radiance {
            Radiance::Constant { radiance, .. } => Source::Known(*radiance),
            Radiance::Environment => samples.direction(DirectionFootprint::scattered(wi)),
            Radiance::Shape(drawn) => {
                let shape = self.scene.geometry.shape(drawn.shape);
                let of_shape = if drawn.behind { Vec3::ZERO } else { shape.emission };
                match self.scene.lights.material_emission(shape.material) {
                    MaterialEmission::None => Source::Known(of_shape),
                    MaterialEmission::Constant(radiance) => Source::Known(of_shape + radiance),
                    MaterialEmission::Varying => samples.emitter(self.emitter_point(drawn, of_shape, lobe_pdf)),
                }
            }
        }
    }

    pub fn emitter_point(&self, drawn: &ShapeSample, of_shape: Vec3, lobe_pdf: f32) -> EmitterPoint {
        EmitterPoint {
            drawn: *drawn,
            material: self.scene.geometry.shape(drawn.shape).material,
            of_shape,
            ray: Ray::new(self.point.surface.position, drawn.wi, self.path.ray.time),
            differential: scattered(self.path, self.point, drawn.wi, lobe_pdf),
            ray_depth: self.point.ray_depth + 1,
        }
    }
}

#[cfg(test)]
#[path = "light_weights_tests.rs"]
mod tests;
