//! Direct light at a hit: one sample of shapes that emit, one of the environment, one of each disk in the sky, and all
//! lights without extent. If there are many point lights, they share the one sample with shapes that emit.

use super::numbers::BounceNumbers;
use super::occupancy::Kind;
use super::path::Path;
use super::probe::ProbedLight;
use super::sent::{Light, Sender, Sent};
use super::visible::Way;
use super::wavefront::BatchCounts;
use crate::bsdf::{Bsdf, Reach};
use crate::geometry::{Surface, surface};
use crate::light::{Arriving, Drawn, Gaze, Glow, LightSample, LightSampling, ParallelLight, PointLight, Receiver};
use crate::material::{Scratch, ShadingPoint};
use crate::ray::{Ray, RayDifferential};
use crate::scene::Scene;
use glam::Vec3;

/// Where light is gathered, and for whom.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub scene: &'a Scene,
    pub path: &'a Path,
    pub point: &'a ShadingPoint,
    pub surface: &'a Surface,
    pub bsdf: &'a Bsdf<'a>,
}

/// A direction that light sampling drew, how far the light is, the density per steradian, and what is there.
#[derive(Clone, Copy)]
struct Towards<'a> {
    kind: &'static str,
    wi: Vec3,
    distance: f32,
    pdf: f32,
    shines: Shines<'a>,
}

#[derive(Clone, Copy)]
enum Shines<'a> {
    Shape(&'a Drawn),
    Environment,
    /// With this radiance.
    Disk(Vec3),
}

/// What gathering light is counted in and, where somebody asks, written down in.
pub struct Ledger<'a> {
    pub counts: &'a mut BatchCounts,
    pub lights: Option<&'a mut Vec<ProbedLight>>,
    /// For shaders of emitters.
    pub scratch: &'a mut Scratch,
    /// Where what is found goes.
    pub sent: &'a mut Vec<Sent>,
    pub sender: Sender,
}

impl Ledger<'_> {
    fn note(&mut self, light: impl FnOnce() -> ProbedLight) {
        if let Some(lights) = &mut self.lights {
            lights.push(light());
        }
    }

    /// Light on its way, or if there is no ray, at its end.
    pub fn send(&mut self, ray: Option<Ray>, light: Light) {
        self.counts.shadow_rays += u64::from(ray.is_some());
        self.sent.push(Sent { sender: self.sender, ray, light });
    }
}

impl Site<'_> {
    /// Sends the radiance that leaves towards the viewer. The lobes find some of the same light: their shares add up to 1.
    pub fn gather(&self, u: &BounceNumbers, ledger: &mut Ledger<'_>) {
        let (scene, receiver) = (self.scene, self.receiver());
        let list = receiver.list;
        self.parallel_lights(list, ledger);
        scene.lights.asked(list).for_each(|light| self.point(light, 1.0, ledger));
        match scene.lights.sample(&scene.geometry, &receiver, u.light()) {
            Some(LightSample::Point(light, p)) => self.point(light, p, ledger),
            Some(LightSample::Surface(l)) if self.draws() => {
                let shines = Shines::Shape(&l);
                self.sampled(Towards { kind: "area", wi: l.wi, distance: l.hit.t, pdf: l.pdf, shines }, ledger);
            }
            _ => {}
        }
        if !self.draws() {
            return;
        }
        let distance = f32::INFINITY;
        if !scene.environment.is_black()
            && scene.lights.linked(list, scene.environment_name)
            && let Some((wi, pdf)) = scene.environment.sample(receiver.normal, u.environment())
        {
            self.sampled(Towards { kind: "environment", wi, distance, pdf, shines: Shines::Environment }, ledger);
        }
        if scene.suns.is_empty() {
            return;
        }
        for ((sun, name), u) in scene.suns.iter().zip(u.suns()) {
            if scene.lights.linked(list, *name) {
                let (wi, pdf) = sun.sample(u);
                let shines = Shines::Disk(sun.disk_radiance());
                self.sampled(Towards { kind: "distant", wi, distance, pdf, shines }, ledger);
            }
        }
    }

    /// Whether light sampling looks for what the lobes find, too.
    fn draws(&self) -> bool {
        self.scene.integrator.sampling != LightSampling::Lobes
    }

    /// What light sampling knows of the place.
    pub fn receiver(&self) -> Receiver {
        let s = self.surface;
        let mut lobes = self.bsdf.lobes.iter().filter(|l| !l.lobe.is_specular());
        // What lets light through is lit from behind as well.
        let one_sided = lobes.all(|l| l.lobe.reach() == Reach::Reflects);
        let normal = if one_sided { s.gnormal_seen() } else { Vec3::ZERO };
        Receiver { position: s.position, normal, list: self.scene.geometry.shape(s.shape).lit_by }
    }

    /// Sends what all lights without extent add, and disks in the sky as if all of it came from their middles.
    pub fn without_chance(&self, ledger: &mut Ledger<'_>) {
        let (scene, list) = (self.scene, self.receiver().list);
        let suns = scene.suns.iter().filter(|(_, name)| scene.lights.linked(list, *name));
        suns.for_each(|(sun, _)| self.parallel(&sun.middle(), ledger));
        scene.lights.all_points(list).for_each(|light| self.point(light, 1.0, ledger));
        self.parallel_lights(list, ledger);
    }

    fn parallel_lights(&self, list: u32, ledger: &mut Ledger<'_>) {
        let scene = self.scene;
        let linked = scene.parallel.iter().filter(|(_, name)| scene.lights.linked(list, *name));
        linked.for_each(|(light, _)| self.parallel(light, ledger));
    }

    fn parallel(&self, light: &ParallelLight, ledger: &mut Ledger<'_>) {
        self.without_extent("distant", light.arriving(), 1.0, ledger);
    }

    /// A point or spot light that was chosen with probability `p`.
    fn point(&self, light: &PointLight, p: f32, ledger: &mut Ledger<'_>) {
        if let Some(arriving) = light.arriving(self.surface.position) {
            self.without_extent(light.kind(), arriving, p, ledger);
        }
    }

    /// What a light without extent adds that was chosen with probability `p`; the lobes cannot find it.
    fn without_extent(&self, kind: &'static str, arriving: Arriving, p: f32, ledger: &mut Ledger<'_>) {
        let (value, lobes_pdf) = self.bsdf.eval(arriving.wi);
        let lit = value != Vec3::ZERO;
        let (scale, way) = (value / p, Way { wi: arriving.wi, distance: arriving.distance, lobes_pdf, shared: false });
        let (visible, radiance) = match lit {
            true => self.send(way, scale, ledger, Shines::Disk(arriving.irradiance)),
            false => (Vec3::ZERO, Vec3::ZERO),
        };
        ledger.note(|| ProbedLight {
            kind,
            wi: arriving.wi.to_array(),
            distance: arriving.distance,
            pdf: None,
            lobes_pdf,
            value: value.to_array(),
            shadowed: lit && visible == Vec3::ZERO,
            visible: visible.to_array(),
            share: 1.0,
            adds: (scale * visible * radiance).to_array(),
        });
    }

    /// What one sample of a light adds, weighed against drawing the same direction from the lobes.
    fn sampled(&self, light: Towards<'_>, ledger: &mut Ledger<'_>) {
        let (value, lobes_pdf) = self.bsdf.eval(light.wi);
        let lit = light.pdf > 0.0 && value != Vec3::ZERO;
        let share = self.scene.integrator.sampling.of_light(light.pdf, lobes_pdf);
        let (scale, way) =
            (value * (share / light.pdf), Way { wi: light.wi, distance: light.distance, lobes_pdf, shared: true });
        let (visible, radiance) = match lit {
            true => self.send(way, scale, ledger, light.shines),
            false => (Vec3::ZERO, Vec3::ZERO),
        };
        ledger.note(|| ProbedLight {
            kind: light.kind,
            wi: light.wi.to_array(),
            distance: light.distance,
            pdf: Some(light.pdf),
            lobes_pdf,
            value: value.to_array(),
            shadowed: lit && visible == Vec3::ZERO,
            visible: visible.to_array(),
            share,
            adds: (scale * visible * radiance).to_array(),
        });
    }

    /// Sends the path the light that comes along a way, times `scale`. Where that is asked at once, what the way lets pass,
    /// and the radiance at its end if anything does.
    fn send(&self, way: Way, scale: Vec3, ledger: &mut Ledger<'_>, shines: Shines<'_>) -> (Vec3, Vec3) {
        let scale = self.path.beta * scale;
        let known = match shines {
            Shines::Disk(radiance) => Some(Light::Known(scale * radiance)),
            Shines::Environment => Some(Light::Environment { scale, gaze: self.gaze(way.wi, way.lobes_pdf) }),
            Shines::Shape(drawn) => self.even(drawn).map(|radiance| Light::Known(scale * radiance)),
        };
        // Who looks on wants to know at once; transparent surfaces and shaders of emitters need to know the place.
        if ledger.lights.is_none()
            && !self.scene.has_passages
            && let Some(light) = known
        {
            ledger.send(Some(self.shadow_ray(way)), light);
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let visible = self.visible(way, ledger);
        if visible == Vec3::ZERO {
            return (visible, Vec3::ZERO);
        }
        let radiance = match shines {
            Shines::Disk(radiance) => radiance,
            Shines::Environment => {
                if self.scene.environment.needs_partials() {
                    ledger.counts.occupancy.block(Kind::Environment, 1);
                }
                self.environment_drawn(way.wi, way.lobes_pdf)
            }
            Shines::Shape(drawn) => {
                if self.even(drawn).is_none() {
                    ledger.counts.occupancy.block(Kind::Emission, 1);
                }
                self.emitter_drawn(drawn, way.lobes_pdf, ledger.scratch)
            }
        };
        ledger.send(None, Light::Known(scale * visible * radiance));
        (visible, radiance)
    }

    /// The radiance of a point of a shape that light sampling drew, unless a shader varies it.
    fn even(&self, drawn: &Drawn) -> Option<Vec3> {
        let geometry = &self.scene.geometry;
        let shape = geometry.shape(drawn.shape);
        let of_shape = if drawn.behind { Vec3::ZERO } else { shape.emission };
        match self.scene.lights.glow(shape.material) {
            Glow::Dark => Some(of_shape),
            Glow::Even(radiance) => Some(of_shape + radiance),
            Glow::Varying => None,
        }
    }

    /// What a point of a shape that light sampling drew sends out, its textures read with the footprint of a sample of the
    /// lobes in that direction, for which their density is `lobe_pdf`.
    fn emitter_drawn(&self, drawn: &Drawn, lobe_pdf: f32, scratch: &mut Scratch) -> Vec3 {
        if let Some(radiance) = self.even(drawn) {
            return radiance;
        }
        let (scene, geometry) = (self.scene, &self.scene.geometry);
        let shape = geometry.shape(drawn.shape);
        let of_shape = if drawn.behind { Vec3::ZERO } else { shape.emission };
        let emission = scene.materials[shape.material as usize].emission();
        let Some(emission) = emission else { return of_shape };
        let ray = Ray::new(self.surface.position, drawn.wi, self.path.ray.time);
        let differential = scattered(self.path, self.point, drawn.wi, lobe_pdf);
        let point = ShadingPoint {
            hit: drawn.hit,
            surface: surface::asked_at(geometry, &ray, &drawn.hit, emission.asked()),
            partials: surface::partials_at(geometry, &ray, &differential, &drawn.hit, emission.wanted()),
            incident: drawn.wi,
            time: ray.time,
            ray_depth: self.point.ray_depth + 1,
        };
        of_shape + emission.emitted(&[point], scene.surroundings(), &scene.textures.scattered(1), scratch)[0]
    }

    /// What a direction that light sampling drew sees of the environment: read with the footprint of a sample of the
    /// lobes in that direction, for which their density is `lobe_pdf`.
    fn environment_drawn(&self, wi: Vec3, lobe_pdf: f32) -> Vec3 {
        self.scene.environment.radiance(&self.scene.textures, &self.gaze(wi, lobe_pdf))
    }

    fn gaze(&self, wi: Vec3, lobe_pdf: f32) -> Gaze {
        Gaze { d: wi, dd: scattered(self.path, self.point, wi, lobe_pdf).direction, scattered: true }
    }
}

/// The differential after a bounce into `wi`, which the lobes draw with density `lobe_pdf`: the rule for all bounces but off
/// mirrors.
pub fn scattered(path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> RayDifferential {
    path.differential.scattered(point.partials.position, wi, lobe_pdf)
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
