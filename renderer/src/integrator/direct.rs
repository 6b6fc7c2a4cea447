//! Direct light at the vertices of a block: one sample of shapes that emit, one of the environment, one of each disk in the sky,
//! and all delta lights. If there are many point lights, they share the one sample with shapes that emit.
//!
//! Lanes draw directions in rounds, one light or kind of light at a time, and each round is weighed as a whole.

use super::followed_lights;
use super::light_directions::{LightDirection, LightPdf, Radiance};
use super::light_weights;
use super::path::Path;
use super::probing;
use super::vertices::{Vertex, Vertices};
use super::workspace::Workspace;
use crate::accel::offset_origin;
use crate::geometry::surface;
use crate::light::{LightId, LightName, LightSample, LightSampling, ParallelLight, PointLight, ShapeSample, Sun};
use crate::math::lanes::{Row3, lanes_of, mask_of};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// Queues light samples of the lanes that go on and are `wanted`.
pub fn sample_lights(scene: &Scene, work: &mut Workspace, wanted: impl Fn(&Vertices, &Path, usize) -> bool) {
    let Workspace { vertices, paths, .. } = &*work;
    let asks = |&lane: &usize| wanted(vertices, &paths[vertices.paths[lane] as usize], lane);
    let lanes = mask_of(lanes_of(lit(vertices)).filter(asks));
    let numbers = vertices.random_numbers(paths);
    let mut rounds = LightSampler::new(scene, work, lanes);
    rounds.parallel_lights();
    rounds.points(scene.lights.asked());
    if scene.lights.any_is_drawn() {
        rounds.drawn_light(&numbers.light());
    }
    if scene.integrator.sampling == LightSampling::Lobes {
        return;
    }
    if !scene.environment.is_black() {
        rounds.environment(&numbers.environment());
    }
    for (i, (sun, name)) in scene.suns.iter().enumerate() {
        rounds.sun((LightId::Sun(i as u32), sun, *name), &numbers.sun(i));
    }
}

/// Queues what all delta lights add at the lanes that go on, and disks in the sky as if all of it came from their middles.
pub fn sample_delta_lights(scene: &Scene, work: &mut Workspace) {
    let lanes = lit(&work.vertices);
    let mut rounds = LightSampler::new(scene, work, lanes);
    for (i, (sun, name)) in scene.suns.iter().enumerate() {
        rounds.parallel(LightId::Sun(i as u32), &sun.middle(), *name);
    }
    rounds.points(scene.lights.all_points());
    rounds.parallel_lights();
}

/// The lanes that go on and have lobes that light samples can meet.
fn lit(vertices: &Vertices) -> u32 {
    vertices.going_on_mask() & vertices.masks.non_specular
}

/// The rounds of a block, for some of its lanes.
struct LightSampler<'a> {
    scene: &'a Scene,
    work: &'a mut Workspace,
    lanes: u32,
}

impl<'a> LightSampler<'a> {
    fn new(scene: &'a Scene, work: &'a mut Workspace, lanes: u32) -> LightSampler<'a> {
        LightSampler { scene, work, lanes }
    }

    /// One in which each lane that a light of this name lights draws a direction, or none.
    fn round(&mut self, name: LightName, draw: impl Fn(&Vertex<'_>, usize) -> Option<LightDirection>) {
        let Workspace { vertices, paths, round, .. } = &mut *self.work;
        round.clear();
        for lane in lanes_of(self.lanes) {
            let vertex = vertices.vertex(self.scene, paths, lane);
            if self.scene.lights.linked(vertex.receiver.list, name)
                && let Some(towards) = draw(&vertex, lane)
            {
                round.set(lane, towards);
            }
        }
        queue(self.scene, self.work);
    }

    fn parallel_lights(&mut self) {
        for (i, (light, name)) in self.scene.parallel.iter().enumerate() {
            self.parallel(LightId::Parallel(i as u32), light, *name);
        }
    }

    fn parallel(&mut self, from: LightId, light: &ParallelLight, name: LightName) {
        self.round(name, |_, _| Some(LightDirection::delta(from, light.arriving(), 1.0)));
    }

    /// Point and spot lights, each in a round of its own.
    fn points<'l>(&mut self, lights: impl Iterator<Item = (u32, &'l PointLight, LightName)>) {
        for (number, light, name) in lights {
            self.round(name, |vertex, _| point(vertex, number, light, 1.0));
        }
    }

    /// One light of each lane, drawn for points of the unit square.
    fn drawn_light(&mut self, u: &[Vec2; LANES]) {
        let LightSampler { scene, work, lanes } = self;
        let shapes = scene.integrator.sampling != LightSampling::Lobes;
        let Workspace { vertices, paths, round, .. } = &mut **work;
        round.clear();
        scene.lights.sample(&scene.geometry, &vertices.receivers, *lanes, u, |lane, drawn| {
            let vertex = vertices.vertex(scene, paths, lane);
            let towards = match drawn {
                LightSample::Point(number, light, p) => point(&vertex, number, light, p),
                LightSample::Surface(drawn) => shapes.then(|| of_shape(&vertex, &drawn)),
            };
            if let Some(towards) = towards {
                round.set(lane, towards);
            }
        });
        queue(scene, work);
    }

    fn environment(&mut self, u: &[Vec2; LANES]) {
        let LightSampler { scene, work, lanes } = self;
        let vertices = &work.vertices;
        let lit = |&lane: &usize| scene.lights.linked(vertices.receivers[lane].list, scene.environment_name);
        let mut normals = Row3::ZERO;
        lanes_of(*lanes).for_each(|lane| normals.set(lane, vertices.receivers[lane].normal));
        work.round.set_environment(scene.environment.sample_each(mask_of(lanes_of(*lanes).filter(lit)), &normals, u));
        queue(scene, work);
    }

    fn sun(&mut self, (from, sun, name): (LightId, &Sun, LightName), u: &[Vec2; LANES]) {
        let radiance = Radiance::Constant { radiance: sun.disk_radiance(), from, per_unit: sun.per_unit() };
        self.round(name, |_, lane| {
            let (wi, pdf) = sun.sample(u[lane]);
            Some(LightDirection::far(wi, pdf, radiance))
        });
    }
}

/// Queues the samples of the round, and shows who looks on what it came to.
fn queue(scene: &Scene, work: &mut Workspace) {
    if let Some(weighed) = light_weights::queue(scene, work) {
        followed_lights::keep(scene, work, &weighed);
        probing::note_lights(scene, work, &weighed);
    }
}

/// To a point or spot light that was chosen with probability `p`.
fn point(vertex: &Vertex<'_>, number: u32, light: &PointLight, p: f32) -> Option<LightDirection> {
    let arriving = light.arriving(vertex.point.surface.position)?;
    Some(LightDirection::delta(LightId::Point(number), arriving, p))
}

/// To a point of a shape. The shadow ray ends beside the shape, by what rounding may be off there, which on large shapes and far from
/// the origin is more than a small part of the way.
fn of_shape(vertex: &Vertex<'_>, drawn: &ShapeSample) -> LightDirection {
    LightDirection {
        wi: drawn.wi,
        distance: drawn.hit.t,
        pdf: LightPdf::Density(drawn.pdf),
        end: Some(drawn.beside.unwrap_or_else(|| beside_light(vertex, drawn))),
        radiance: Radiance::Shape(*drawn),
    }
}

/// A drawn point, moved out of its shape towards a vertex.
fn beside_light(vertex: &Vertex<'_>, drawn: &ShapeSample) -> Vec3 {
    let geometry = &vertex.scene.geometry;
    let primitive = geometry.primitive_of(drawn.shape, drawn.hit.primitive);
    let ray = Ray::new(vertex.point.surface.position, drawn.wi, vertex.path.ray.time);
    let light = surface::place_on(geometry, (drawn.shape, primitive), &ray, &drawn.hit);
    offset_origin(light.position, light.position_error, light.gnormal, -drawn.wi)
}
