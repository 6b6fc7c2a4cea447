//! A hit of a path: what it adds to the sample, and how the path goes on.

use super::bounce::{Bounce, next_differential};
use super::direct::{Queue, Vertex};
use super::numbers::BounceNumbers;
use super::path::Path;
use super::probe::ProbedDirection;
use crate::accel::offset_origin;
use crate::bsdf::{Bsdf, BsdfSample, Refraction};
use crate::material::ShadingPoint;
use crate::math::max_channel;
use crate::ray::Ray;
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;

/// Bounces that a path makes before Russian roulette may end it.
const SURE_BOUNCES: u32 = 3;

/// Why a path goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A view shows this hit.
    Shown,
    Depth,
    OnlyLight,
    NoLobes,
    NoDirection,
    Nothing,
    Roulette,
    Occlusion,
    NoMirror,
}

impl End {
    pub fn text(self) -> &'static str {
        match self {
            End::Shown => "it is shown",
            End::Depth => "it has made all the bounces that the scene allows",
            End::OnlyLight => "the integrator follows paths through mirrors alone",
            End::NoLobes => "the surface scatters nothing",
            End::NoDirection => "the sample of the lobes carries nothing",
            End::Nothing => "its throughput is nothing, or no number",
            End::Roulette => "Russian roulette ended it",
            End::Occlusion => "the integrator looks for occlusion alone",
            End::NoMirror => "the integrator follows mirrors and glass alone, as far as they carry anything",
        }
    }
}

/// A hit of a path on its way.
pub struct Step<'a> {
    pub scene: &'a Scene,
    pub path: &'a mut Path,
    pub point: &'a ShadingPoint,
    pub bsdf: &'a Bsdf<'a>,
    pub bounce: Bounce,
    /// All that it came to were numbers.
    pub numbers: bool,
    /// For who writes paths down.
    pub next: Option<ProbedDirection>,
    /// Further paths that go on from here.
    pub branches: Vec<Path>,
}

impl Step<'_> {
    /// What the scene's integrator does at a hit where as much of what the shader sends out as counts is `emission`.
    pub fn go(&mut self, emission: Vec3, queue: &mut Queue<'_>) -> Result<(), End> {
        match self.scene.integrator.kind {
            IntegratorKind::Ao => self.occlusion(queue),
            IntegratorKind::Whitted => {
                self.add(emission);
                self.reflect_and_refract(queue)
            }
            IntegratorKind::Path | IntegratorKind::Direct => {
                self.add(emission);
                self.scatter(queue)
            }
        }
    }

    /// Gathers direct light and turns the path where it goes on.
    pub fn scatter(&mut self, queue: &mut Queue<'_>) -> Result<(), End> {
        if self.bsdf.lobes.is_empty() {
            return Err(if self.bounce.last { End::Depth } else { End::NoLobes });
        }
        // Why only what lets it pass straight on could keep it going.
        let bounded = if self.bounce.last {
            Some(End::Depth)
        } else {
            // A path that has left the mirrors only looks for light.
            let direct = self.scene.integrator.kind == IntegratorKind::Direct && self.path.pdf.is_finite();
            direct.then_some(End::OnlyLight)
        };
        if let Some(end) = bounded.filter(|_| !self.bsdf.lobes.iter().any(|l| l.lobe.is_straight())) {
            return Err(end);
        }
        let u = BounceNumbers::new(self.path.sampler, self.bounce.step);

        // Direct light.
        if bounded.is_none() && self.bsdf.has_smooth_lobe() {
            self.vertex().gather(&u, queue);
        }

        // The next direction, from the lobes.
        let u_lobe = if self.bsdf.lobes.len() > 1 { u.lobe() } else { 0.0 };
        let next = self.bsdf.sample(u_lobe, u.direction()).ok_or(End::NoDirection)?;
        if let Some(end) = bounded.filter(|_| next.specular.is_none_or(|s| !s.straight)) {
            return Err(end);
        }
        self.path.beta *= next.weight;
        if let Some(Refraction { eta }) = next.refracted {
            self.path.eta_scale *= eta * eta;
        }
        self.numbers &= self.path.beta.is_finite();
        if max_channel(self.path.beta) <= 0.0 || !self.path.beta.is_finite() {
            return Err(End::Nothing);
        }
        let survival = self.survival();
        if queue.notes.is_some() {
            self.next = Some(self.probed(&next, survival));
        }
        if survival < 1.0 && u.roulette() >= survival {
            return Err(End::Roulette);
        }
        self.path.beta /= survival;

        self.turn(&next);
        Ok(())
    }

    /// Gives the path its next ray, and the footprint of that.
    pub fn turn(&mut self, next: &BsdfSample) {
        if self.bounce.differentials {
            self.path.differential = next_differential(self.scene, self.path, self.point, next);
        }
        let from = self.vertex().receiver();
        let (path, surface) = (&mut *self.path, &self.point.surface);
        let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, next.wi);
        path.ray = Ray::new(origin, next.wi, path.ray.time);
        if next.specular.is_some_and(|s| s.straight) {
            // It is the same way still, seen from where the path was scattered last.
            path.passes += 1;
            path.passed += self.point.hit.t;
            return;
        }
        path.from = from;
        path.scattered |= next.specular.is_none();
        path.passed = 0.0;
        path.pdf = if next.specular.is_some() { f32::INFINITY } else { next.pdf };
    }

    /// Where light is gathered.
    pub fn vertex(&self) -> Vertex<'_> {
        Vertex { scene: self.scene, path: self.path, point: self.point, bsdf: self.bsdf }
    }

    /// Of Russian roulette: paths that carry little end early, the others carry their share.
    fn survival(&self) -> f32 {
        match self.bounce.depth < SURE_BOUNCES || !self.scene.integrator.roulette {
            true => 1.0,
            // Not for the scale of radiance in glass, which ends where the path leaves it.
            false => (max_channel(self.path.beta) * self.path.eta_scale).min(0.95),
        }
    }

    pub fn probed(&self, next: &BsdfSample, survival: f32) -> ProbedDirection {
        ProbedDirection {
            wi: next.wi.to_array(),
            pdf: next.pdf,
            weight: next.weight.to_array(),
            specular: next.specular.is_some(),
            refracted: next.refracted.is_some(),
            survival,
            differential: next_differential(self.scene, self.path, self.point, next).into(),
        }
    }

    /// Adds light that leaves the hit towards the viewer.
    pub fn add(&mut self, light: Vec3) {
        self.numbers &= self.path.add(self.path.beta * light);
    }
}
