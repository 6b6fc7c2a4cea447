//! Direct light at a vertex: one sample of shapes that emit, one of the environment, one of each disk in the sky, and all
//! lights without extent. If there are many point lights, they share the one sample with shapes that emit.

use super::differentials::scattered;
use super::guided::smooth_shares;
use super::light_samples::{
    Chance, DrawnLight, EmitterPoint, LightDirection, LightSample, LightSamples, Origin, Radiance, SeeThrough, Source,
};
use super::numbers::BounceNumbers;
use super::path::Path;
use super::probe::{NotedLight, ProbedLight};
use super::vertices::{Vertex, Vertices};
use super::workspace::Workspace;
use crate::accel::offset_origin;
use crate::bsdf::LobesValue;
use crate::geometry::surface;
use crate::guide::Cell;
use crate::light::{
    self, DirectionFootprint, LightId, LightLiSample, LightSampling, MaterialEmission, ParallelLight, PointLight,
    ShapeSample,
};
use crate::material::Material;
use crate::math::lanes::{Row3, lanes_of, mask_of};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// Queues light samples of the lanes that go on and are `wanted`.
pub fn sample_lights(scene: &Scene, work: &mut Workspace, wanted: impl Fn(&Vertices, &Path, usize) -> bool) {
    let numbers = work.vertices.numbers(&work.paths);
    let light = if scene.lights.any_is_drawn() { numbers.light() } else { Default::default() };
    let environment = if scene.environment.is_black() { Default::default() } else { numbers.environment() };
    let Workspace { vertices, paths, .. } = &*work;
    let asks = |&lane: &usize| {
        vertices.masks.smooth >> lane & 1 != 0 && wanted(vertices, &paths[vertices.paths[lane] as usize], lane)
    };
    let asking = mask_of(vertices.going_on().filter(asks));
    let lights = scene.lights.sample(&scene.geometry, &vertices.receivers, asking, &light);
    each_lit(scene, work, |vertex, lane, draws| {
        if asking >> lane & 1 != 0 {
            vertex.gather((lights[lane].as_ref(), environment[lane]), draws);
        }
    });
}

/// Queues what all lights without extent add at the lanes that go on.
pub fn ask_lights_without_extent(scene: &Scene, work: &mut Workspace) {
    each_lit(scene, work, |vertex, _, draws| vertex.without_chance(draws));
}

/// Calls `draw` for the lanes that go on and have lobes that light samples can meet. The directions that it draws are looked at
/// all together.
fn each_lit(scene: &Scene, work: &mut Workspace, draw: impl Fn(&Vertex<'_>, usize, &mut Draws<'_>)) {
    let Workspace { vertices, paths, light: samples, noted, probe, drawn, valued, followed, .. } = work;
    drawn.clear();
    for lane in vertices.going_on().filter(|&lane| vertices.masks.smooth >> lane & 1 != 0) {
        let vertex = vertex(scene, vertices, lane, paths);
        draw(&vertex, lane, &mut Draws { list: drawn, vertices, lane });
    }
    evaluate(scene, vertices, drawn, valued);
    let smooth_shares = smooth_shares(scene, vertices);
    for ((lane, towards), of_lobes) in drawn.iter().zip(valued) {
        let lane = *lane;
        let vertex = vertex(scene, vertices, lane, paths);
        let mixed = |cell: &Cell| cell.mixed(towards.wi, of_lobes.pdf, smooth_shares[lane]);
        let of_both = LobesValue { pdf: vertex.cell.map_or(of_lobes.pdf, mixed), ..*of_lobes };
        let notes = probe.is_some().then_some(&mut *noted);
        let followed = followed.as_mut();
        vertex.weigh(towards, of_both, &mut Queue { samples, notes, followed, vertices, lane });
    }
}

/// What the lobes have in the directions that lanes drew, and the densities. The directions of a lane stand together.
fn evaluate(scene: &Scene, vertices: &mut Vertices, drawn: &[(usize, LightDirection)], valued: &mut Vec<LobesValue>) {
    valued.clear();
    valued.resize(drawn.len(), LobesValue::default());
    // One direction of each lane in a round.
    let (mut firsts, mut counts) = ([0; LANES], [0; LANES]);
    for (number, (lane, _)) in drawn.iter().enumerate() {
        firsts[*lane] = if counts[*lane] == 0 { number } else { firsts[*lane] };
        counts[*lane] += 1;
    }
    for round in 0..counts.into_iter().max().unwrap_or(0) {
        let (mut lanes, mut wi) = (0, Row3::ZERO);
        for lane in (0..LANES).filter(|&lane| round < counts[lane]) {
            lanes |= 1 << lane;
            wi.set(lane, drawn[firsts[lane] + round].1.wi);
        }
        let values = vertices.ask_lobes(scene, |block| block.eval(lanes, &wi));
        for lane in lanes_of(lanes) {
            valued[firsts[lane] + round] = values.get(lane);
        }
    }
}

fn vertex<'a>(scene: &'a Scene, vertices: &'a Vertices, lane: usize, paths: &'a [Path]) -> Vertex<'a> {
    let (path, point) = (&paths[vertices.paths[lane] as usize], &vertices.points[lane]);
    Vertex { scene, path, point, receiver: vertices.receivers[lane], cell: vertices.cell(scene, lane) }
}

/// Where the light samples of a vertex go.
struct Queue<'a> {
    samples: &'a mut LightSamples,
    /// Where they are written down, if somebody asks.
    notes: Option<&'a mut Vec<NotedLight>>,
    /// Where they are kept for a follower.
    followed: Option<&'a mut Vec<DrawnLight>>,
    vertices: &'a Vertices,
    lane: usize,
}

/// Where the directions go that a vertex draws.
struct Draws<'a> {
    list: &'a mut Vec<(usize, LightDirection)>,
    vertices: &'a Vertices,
    lane: usize,
}

impl Draws<'_> {
    fn push(&mut self, towards: LightDirection) {
        self.list.push((self.lane, towards));
    }
}

/// What the lobes make of a direction: their value with the cosine, their density, and how much the sample counts.
struct Scattered {
    value: Vec3,
    pdf: f32,
    /// Beside what the lobes find of the same light.
    share: f32,
    /// What a unit of value and radiance adds.
    scale: f32,
    /// What a unit of its radiance sends towards the viewer; none where nothing can come.
    weight: Option<Vec3>,
}

impl Queue<'_> {
    fn push(&mut self, weight: Vec3, ray: Ray, see_through: Option<SeeThrough>, source: Source) {
        let shadow_ray = Some(self.samples.shadow_ray(ray, see_through));
        let vertex = Some((self.vertices.depth(self.lane), self.vertices.material));
        let path = self.vertices.paths[self.lane];
        self.samples.samples.push(LightSample { path, vertex, weight, shadow_ray, source });
    }
}

impl Vertex<'_> {
    /// Draws light samples. The lobes find some of the same light: their shares add up to 1.
    fn gather(&self, (light, u_environment): (Option<&light::LightSample<'_>>, Vec2), draws: &mut Draws<'_>) {
        let (scene, receiver) = (self.scene, self.receiver);
        let list = receiver.list;
        self.parallel_lights(list, draws);
        scene.lights.asked(list).for_each(|numbered| self.point(numbered, 1.0, draws));
        match light {
            Some(light::LightSample::Point(number, light, p)) => self.point((*number, light), *p, draws),
            Some(light::LightSample::Surface(drawn)) if self.draws() => {
                let (wi, distance, chance) = (drawn.wi, drawn.hit.t, Chance::Density(drawn.pdf));
                draws.push(LightDirection { kind: "area", wi, distance, chance, radiance: Radiance::Shape(*drawn) });
            }
            _ => {}
        }
        if !self.draws() {
            return;
        }
        let distance = f32::INFINITY;
        if !scene.environment.is_black()
            && scene.lights.linked(list, scene.environment_name)
            && let Some((wi, pdf)) = scene.environment.sample(receiver.normal, u_environment)
        {
            let (chance, radiance) = (Chance::Density(pdf), Radiance::Environment);
            draws.push(LightDirection { kind: "environment", wi, distance, chance, radiance });
        }
        if scene.suns.is_empty() {
            return;
        }
        let u = BounceNumbers::new(self.path.sampler, draws.vertices.step);
        for (i, ((sun, name), u)) in scene.suns.iter().zip(u.suns()).enumerate() {
            if scene.lights.linked(list, *name) {
                let ((wi, pdf), from) = (sun.sample(u), LightId::Sun(i as u32));
                let radiance = Radiance::Even { radiance: sun.disk_radiance(), from, per_unit: sun.per_unit() };
                let chance = Chance::Density(pdf);
                draws.push(LightDirection { kind: "distant", wi, distance, chance, radiance });
            }
        }
    }

    /// Whether light sampling looks for what the lobes find, too.
    fn draws(&self) -> bool {
        self.scene.integrator.sampling != LightSampling::Lobes
    }

    /// Draws all lights without extent, and disks in the sky as if all of it came from their middles.
    fn without_chance(&self, draws: &mut Draws<'_>) {
        let (scene, list) = (self.scene, self.receiver.list);
        let suns = scene.suns.iter().enumerate().filter(|(_, (_, name))| scene.lights.linked(list, *name));
        suns.for_each(|(i, (sun, _))| self.parallel(LightId::Sun(i as u32), &sun.middle(), draws));
        scene.lights.all_points(list).for_each(|numbered| self.point(numbered, 1.0, draws));
        self.parallel_lights(list, draws);
    }

    fn parallel_lights(&self, list: u32, draws: &mut Draws<'_>) {
        let scene = self.scene;
        let linked = scene.parallel.iter().enumerate().filter(|(_, (_, name))| scene.lights.linked(list, *name));
        linked.for_each(|(i, (light, _))| self.parallel(LightId::Parallel(i as u32), light, draws));
    }

    fn parallel(&self, from: LightId, light: &ParallelLight, draws: &mut Draws<'_>) {
        self.without_extent("distant", (from, light.arriving()), 1.0, draws);
    }

    /// A point or spot light that was chosen with probability `p`.
    fn point(&self, (number, light): (u32, &PointLight), p: f32, draws: &mut Draws<'_>) {
        if let Some(arriving) = light.arriving(self.point.surface.position) {
            self.without_extent(light.kind(), (LightId::Point(number), arriving), p, draws);
        }
    }

    /// A light without extent that was chosen with probability `p`; the lobes cannot find it.
    fn without_extent(
        &self,
        kind: &'static str,
        (from, arriving): (LightId, LightLiSample),
        p: f32,
        draws: &mut Draws<'_>,
    ) {
        let LightLiSample { wi, distance, irradiance, per_unit } = arriving;
        let (chance, radiance) = (Chance::Choice(p), Radiance::Even { radiance: irradiance, from, per_unit });
        draws.push(LightDirection { kind, wi, distance, chance, radiance });
    }

    /// Queues a sample, where the lobes have this value. One that they, or the guide, could have drawn is weighed against that.
    fn weigh(&self, towards: &LightDirection, LobesValue { value, pdf }: LobesValue, queue: &mut Queue<'_>) {
        let (share, scale, weight) = match towards.chance {
            Chance::Choice(p) => (1.0, 1.0 / p, (value != Vec3::ZERO).then(|| value / p)),
            Chance::Density(light_pdf) => {
                let share = self.scene.integrator.sampling.of_light(light_pdf, pdf);
                let (counts, scale) = (light_pdf > 0.0 && value != Vec3::ZERO, share / light_pdf);
                (share, scale, counts.then(|| value * scale))
            }
        };
        self.queue(towards, &Scattered { value, pdf, share, scale, weight }, queue);
    }

    /// Queues a sample, if anything can come of it, and writes it down if somebody asks.
    fn queue(&self, towards: &LightDirection, scattered: &Scattered, queue: &mut Queue<'_>) {
        let number = queue.samples.samples.len();
        if let Some(weight) = scattered.weight {
            let source = self.source(towards, scattered.pdf, queue.samples);
            let see_through = self.see_through(towards, scattered.pdf);
            queue.push(self.path.beta * weight, self.shadow_ray(towards), see_through, source);
            if let Some(followed) = &mut queue.followed {
                let (sample, lane, origin) = (number as u32, queue.lane as u32, self.origin(towards, scattered.pdf));
                followed.push(DrawnLight { sample, lane, wi: towards.wi, scale: scattered.scale, origin });
            }
        }
        if let Some(notes) = &mut queue.notes {
            let light = ProbedLight {
                kind: towards.kind,
                wi: towards.wi.to_array(),
                distance: towards.distance,
                pdf: towards.pdf(),
                lobes_pdf: scattered.pdf,
                value: scattered.value.to_array(),
                share: scattered.share,
                ..ProbedLight::default()
            };
            notes.push(NotedLight { light, sample: scattered.weight.map(|weight| (number, weight)) });
        }
    }

    /// From beside this surface to beside the light. Both ends move by what rounding may be off there, which on large shapes
    /// and far from the origin is more than a small part of the way between them.
    fn shadow_ray(&self, towards: &LightDirection) -> Ray {
        let s = &self.point.surface;
        let origin = offset_origin(s.position, s.position_error, s.gnormal, towards.wi);
        let ray = Ray::new(origin, towards.wi, self.path.ray.time);
        match &towards.radiance {
            _ if towards.distance == f32::INFINITY => ray,
            Radiance::Shape(drawn) => ray.ending_at(drawn.beside.unwrap_or_else(|| self.beside_light(drawn)), 1e-5),
            // A lamp may hang in the surface that it is fixed to.
            _ => ray.ending_at(s.position + towards.wi * towards.distance, 1e-4),
        }
    }

    /// A drawn point, moved out of its shape towards this vertex.
    fn beside_light(&self, drawn: &ShapeSample) -> Vec3 {
        let geometry = &self.scene.geometry;
        let primitive = geometry.primitive_of(drawn.shape, drawn.hit.primitive);
        let ray = Ray::new(self.point.surface.position, drawn.wi, self.path.ray.time);
        let light = surface::place_on(geometry, (drawn.shape, primitive), &ray, &drawn.hit);
        offset_origin(light.position, light.position_error, light.gnormal, -drawn.wi)
    }

    /// What see-through surfaces on the way are asked with, if the scene has any. Their textures are read with the footprint
    /// that a path has there which the lobes send the same way; of a light that no such path finds, as by the one that
    /// arrived here.
    fn see_through(&self, towards: &LightDirection, lobe_pdf: f32) -> Option<SeeThrough> {
        self.scene.geometry.has_see_through().then(|| SeeThrough {
            differential: scattered(self.path, self.point, towards.wi, lobe_pdf),
            ray_depth: self.point.ray_depth + 1,
            scattered: towards.pdf().is_some() || self.path.scattered,
        })
    }

    /// Where the radiance of a sample comes from; what depends on the place is asked later, of many at once. It is read with
    /// the footprint of a sample of the lobes in that direction, for which their density is `lobe_pdf`.
    fn source(&self, towards: &LightDirection, lobe_pdf: f32, samples: &mut LightSamples) -> Source {
        match &towards.radiance {
            Radiance::Even { radiance, .. } => Source::Known(*radiance),
            Radiance::Environment => samples.direction(self.footprint(towards.wi, lobe_pdf)),
            Radiance::Shape(drawn) => {
                let shape = self.scene.geometry.shape(drawn.shape);
                let of_shape = if drawn.behind { Vec3::ZERO } else { shape.emission };
                match self.scene.lights.glow(shape.material) {
                    MaterialEmission::Dark => Source::Known(of_shape),
                    MaterialEmission::Even(radiance) => Source::Known(of_shape + radiance),
                    MaterialEmission::Varying => samples.emitter(self.emitter_point(drawn, of_shape, lobe_pdf)),
                }
            }
        }
    }

    /// What a gradient can go back to.
    fn origin(&self, towards: &LightDirection, lobe_pdf: f32) -> Origin {
        match &towards.radiance {
            Radiance::Even { from, per_unit, .. } => Origin::Light(*from, *per_unit),
            Radiance::Environment => Origin::Environment,
            Radiance::Shape(drawn) => {
                let material = self.scene.geometry.shape(drawn.shape).material;
                let follows = |m: &Material| m.has_adjoint() && m.emission().is_some();
                let follows = self.scene.materials.get(material as usize).is_some_and(follows);
                let point = follows.then(|| Box::new(self.emitter_point(drawn, Vec3::ZERO, lobe_pdf)));
                Origin::Shape { shape: drawn.shape, front: !drawn.behind, point }
            }
        }
    }

    fn emitter_point(&self, drawn: &ShapeSample, of_shape: Vec3, lobe_pdf: f32) -> EmitterPoint {
        EmitterPoint {
            drawn: *drawn,
            material: self.scene.geometry.shape(drawn.shape).material,
            of_shape,
            ray: Ray::new(self.point.surface.position, drawn.wi, self.path.ray.time),
            differential: scattered(self.path, self.point, drawn.wi, lobe_pdf),
            ray_depth: self.point.ray_depth + 1,
        }
    }

    fn footprint(&self, wi: Vec3, lobe_pdf: f32) -> DirectionFootprint {
        DirectionFootprint { d: wi, dd: scattered(self.path, self.point, wi, lobe_pdf).direction, scattered: true }
    }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
