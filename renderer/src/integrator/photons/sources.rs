//! Where photons begin: those of a guide half of them anywhere in the light, and else where it goes to what focuses it.

use super::casters::{self, Targets};
use super::history::{PhotonHistory, Transport};
use crate::accel::offset_origin;
use crate::integrator::path::Path;
use crate::light::{DirectionFootprint, EmissionSampler, LightName, ParallelLight, PointLight, Sun};
use crate::math::ball::Ball;
use crate::math::{
    Distribution, Frame, concentric_disk, cosine_hemisphere, luminance, max_channel, split, uniform_cone,
};
use crate::ray::{Ray, RayDifferential};
use crate::sampler::Sampler;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, TAU};

/// The lights of a scene that photons leave.
pub struct Sources<'a> {
    scene: &'a Scene,
    lights: Lights<'a>,
    point_choice: Distribution,
    /// Which of these kinds there are, in the order of [`Kind`].
    kinds: Distribution,
    aim: Aim,
    world: Ball,
}

/// Those lights, by how photons leave them.
struct Lights<'a> {
    shapes: Option<EmissionSampler>,
    sky: Vec<Sky<'a>>,
    points: Vec<(&'a PointLight, LightName)>,
}

/// What photons of them are aimed at, in part.
pub struct Aim {
    /// Those of lights with an extent.
    pub targets: Targets,
    /// Those of delta lights.
    pub of_delta: Targets,
    /// The share that is sent anywhere instead.
    pub anywhere: f32,
}

enum Sky<'a> {
    Sun(&'a Sun, LightName),
    Parallel(&'a ParallelLight, LightName),
    Environment,
}

impl Sky<'_> {
    fn is_delta(&self) -> bool {
        matches!(self, Sky::Parallel(..))
    }
}

/// Kinds of lights, by how photons leave them.
#[derive(Clone, Copy)]
enum Kind {
    Sky,
    Shape,
    Point,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Sky, Kind::Shape, Kind::Point];
}

/// A photon that leaves a light.
pub struct Emitted {
    pub path: Path,
    /// The name of the light.
    pub light_name: LightName,
    /// From the environment, not from a shape or a disk in the sky.
    from_environment: bool,
}

impl Emitted {
    /// It has met nothing yet.
    pub fn history(&self) -> PhotonHistory {
        let transport = if self.from_environment { Transport::Environment } else { Transport::Direct };
        PhotonHistory { transport, chance: 1.0 }
    }
}

/// A ray of light, and the power that it carries.
struct LightRay {
    ray: Ray,
    power: Vec3,
    from: Origin,
}

/// What a photon comes from.
#[derive(Clone, Copy)]
struct Origin {
    light_name: LightName,
    is_environment: bool,
}

/// The pairs of random numbers that a photon begins with, by their places.
const POINT: u32 = 0;
const DIRECTION: u32 = 1;
const CHOICES: u32 = 2;

/// Photons see textures this coarsely, as a share of the scene's size.
const COARSENESS: f32 = 1.0 / 256.0;

impl<'a> Sources<'a> {
    /// For a guide, of all lights that paths could find behind mirrors and glass: those with an extent. `None` where no light could be
    /// focused. Shapes whose shaders say what they send out count as if that were the same everywhere.
    pub fn of_guide(scene: &'a Scene) -> Option<Sources<'a>> {
        let shapes = EmissionSampler::new(&scene.geometry, &scene.lights, true);
        let (targets, of_delta) = (Targets::whole(casters::find(scene)), Targets::whole(Vec::new()));
        let lights = Lights { shapes, sky: sky(scene).collect(), points: Vec::new() };
        Sources::new(scene, Aim { targets, of_delta, anywhere: 0.5 }, lights)
    }

    /// Of all light that goes where photons are aimed, but for that of shapes whose shaders say what they send out; `None` where there is
    /// none.
    pub fn towards(scene: &'a Scene, aim: Aim) -> Option<Sources<'a>> {
        let shapes = EmissionSampler::new(&scene.geometry, &scene.lights, false);
        let parallel = scene.parallel.iter().map(|(light, name)| Sky::Parallel(light, *name));
        let points = scene.lights.all_points().map(|(_, light, name)| (light, name)).collect();
        Sources::new(scene, aim, Lights { shapes, sky: sky(scene).chain(parallel).collect(), points })
    }

    fn new(scene: &'a Scene, aim: Aim, lights: Lights<'a>) -> Option<Sources<'a>> {
        let Lights { shapes, sky, points } = lights;
        let world = Ball::round(scene.geometry.bounds()?);
        let (aims, aims_of_delta) = (!aim.targets.is_empty(), !aim.of_delta.is_empty());
        let sky: Vec<Sky<'a>> =
            sky.into_iter().filter(|sky| if sky.is_delta() { aims_of_delta } else { aims }).collect();
        let there = [!sky.is_empty(), shapes.is_some() && aims, !points.is_empty() && aims_of_delta];
        let any = there.contains(&true) && world.radius.is_finite();
        any.then(|| {
            let kinds = Distribution::new(there.map(|is| if is { 1.0 } else { 0.0 }));
            let point_choice = Distribution::new(points.iter().map(|(light, _)| luminance(light.intensity)));
            Sources { scene, lights: Lights { shapes, sky, points }, point_choice, kinds, aim, world }
        })
    }

    /// Whether some of them are delta lights.
    pub fn has_delta_lights(&self) -> bool {
        !self.lights.points.is_empty() || self.lights.sky.iter().any(Sky::is_delta)
    }

    /// The photon of a sampler, as a path; `None` where it carries nothing.
    pub fn begin(&self, mut sampler: Sampler) -> Option<Emitted> {
        let mut pair = |pair: u32| {
            sampler.start_at(pair);
            sampler.next_2d()
        };
        let (point, direction, choices) = (pair(POINT), pair(DIRECTION), pair(CHOICES));
        sampler.start_at(0);
        let (kind, chance, rest) = self.kinds.sample(choices.x);
        let (anywhere, choices) = split(Vec2::new(rest, choices.y), self.aim.anywhere);
        let light_ray = match Kind::ALL[kind] {
            Kind::Sky => self.leave_sky(point, direction, choices, anywhere)?,
            Kind::Shape => self.leave_shape(point, direction, choices, anywhere)?,
            Kind::Point => self.leave_point(point, direction, choices)?,
        };
        let LightRay { ray, from: Origin { light_name, is_environment }, .. } = light_ray;
        let power = light_ray.power / chance;
        let wide = self.world.radius * COARSENESS;
        let frame = Frame::about(ray.direction);
        let across = [Vec3::X, Vec3::Y].map(|axis| frame.to_world(axis) * wide);
        let differential = RayDifferential { origin: across, direction: [Vec3::ZERO; 2] };
        let path = Path::from_camera(ray, differential, sampler);
        let path = Path { beta: power, scattered: true, ..path };
        let carries = power.is_finite() && max_channel(power) > 0.0;
        carries.then_some(Emitted { path, light_name, from_environment: is_environment })
    }

    /// Where a shape that emits sends one, and its power.
    fn leave_shape(&self, point: Vec2, direction: Vec2, choices: Vec2, anywhere: bool) -> Option<LightRay> {
        let (scene, shapes) = (self.scene, self.lights.shapes.as_ref()?);
        let left = shapes.draw(&scene.geometry, &scene.lights, point, choices.y)?;
        let wi = match anywhere {
            true => Frame::about(left.normal).to_world(cosine_hemisphere(direction)),
            false => {
                let (axis, one_minus_cosine) = self.aim.targets.choose(choices.x).cone(left.position);
                Frame::about(axis).to_world(uniform_cone(direction, one_minus_cosine)).normalize()
            }
        };
        let cosine = wi.dot(left.normal).max(0.0);
        let towards = self.aim.targets.density(|ball| ball.towards(left.position, wi));
        let pdf = self.mixed(cosine * FRAC_1_PI, towards);
        let origin = offset_origin(left.position, left.position.abs() * 1e-6, left.normal, wi);
        let power = left.radiance * (left.area * cosine / pdf);
        let from = Origin { light_name: left.light_name, is_environment: false };
        Some(LightRay { ray: Ray::new(origin, wi, 0.5), power, from })
    }

    /// Where a delta light sends one to a target, and its power.
    fn leave_point(&self, point: Vec2, direction: Vec2, choices: Vec2) -> Option<LightRay> {
        let (number, chance, _) = self.point_choice.sample(point.x);
        let (light, light_name) = self.lights.points[number];
        let (axis, one_minus_cosine) = self.aim.of_delta.choose(choices.x).cone(light.position);
        let wi = Frame::about(axis).to_world(uniform_cone(direction, one_minus_cosine)).normalize();
        // At a distance of 1, what arrives is what is sent out per steradian.
        let intensity = light.arriving(light.position + wi)?.irradiance;
        let pdf = self.aim.of_delta.density(|ball| ball.towards(light.position, wi));
        let from = Origin { light_name, is_environment: false };
        Some(LightRay { ray: Ray::new(light.position, wi, 0.5), power: intensity / (pdf * chance), from })
    }

    /// Where the environment or another light in the sky sends one, and its power.
    fn leave_sky(&self, point: Vec2, direction: Vec2, choices: Vec2, anywhere: bool) -> Option<LightRay> {
        let scene = self.scene;
        let number = ((choices.y * self.lights.sky.len() as f32) as usize).min(self.lights.sky.len() - 1);
        let sky = &self.lights.sky[number];
        let (to_light, radiance, pdf) = match sky {
            Sky::Sun(sun, _) => {
                let (to_light, pdf) = sun.sample(direction);
                (to_light, sun.disk_radiance(), pdf)
            }
            Sky::Parallel(light, _) => {
                let arriving = light.arriving();
                (arriving.wi, arriving.irradiance, 1.0)
            }
            Sky::Environment => {
                // Light sampling leaves what is even in the sky to lobes, but photons bring it, too.
                let (even, u) = split(direction, 0.5);
                let d = if even { uniform_cone(u, 2.0) } else { scene.environment.sample(Vec3::ZERO, u)?.0 };
                let pdf = 0.5 * scene.environment.pdf(Vec3::ZERO, d) + 0.5 / (2.0 * TAU);
                (d, scene.environment.radiance(&scene.textures, &DirectionFootprint::scattered(d)), pdf)
            }
        };
        let targets = if sky.is_delta() { &self.aim.of_delta } else { &self.aim.targets };
        let target = if anywhere { self.world } else { targets.choose(choices.x) };
        let disk = concentric_disk(point) * target.radius;
        let through = target.center + Frame::about(to_light).to_world(disk.extend(0.0));
        let towards = targets.density(|ball| ball.across(through, to_light));
        let across = self.mixed(self.world.across(through, to_light), towards);
        // From outside of everything.
        let begin = through + to_light * (2.0 * self.world.radius + (through - self.world.center).length());
        let power = radiance * (self.lights.sky.len() as f32 / (pdf * across));
        let from = match sky {
            Sky::Sun(_, light_name) | Sky::Parallel(_, light_name) => {
                Origin { light_name: *light_name, is_environment: false }
            }
            Sky::Environment => Origin { light_name: scene.environment_name, is_environment: true },
        };
        Some(LightRay { ray: Ray::new(begin, -to_light, 0.5), power, from })
    }

    /// The density of sending photons anywhere and to targets, by both.
    fn mixed(&self, anywhere: f32, towards: f32) -> f32 {
        self.aim.anywhere * anywhere + (1.0 - self.aim.anywhere) * towards
    }
}

/// What of the sky has an extent.
fn sky(scene: &Scene) -> impl Iterator<Item = Sky<'_>> {
    let suns = scene.suns.iter().map(|(sun, name)| Sky::Sun(sun, *name));
    suns.chain(has_bright_sky(scene).then_some(Sky::Environment))
}

/// Whether photons come from the environment. What is the same from everywhere sends none.
pub fn has_bright_sky(scene: &Scene) -> bool {
    // The lowest number draws a direction, if no other does.
    !scene.environment.is_black() && scene.environment.sample(Vec3::ZERO, Vec2::ZERO).is_some()
}
