//! One shaded hit of a path: its own light, direct light, and the ray that goes on.

use super::aov::FirstHit;
use super::direct::{Site, scattered};
use super::path::{Met, Path, Workspace};
use super::wavefront::{BatchCounts, bounce_sampler};
use crate::accel::offset_origin;
use crate::bsdf::{Bsdf, BsdfSample, Refraction, Specular};
use crate::geometry::{Wanted, surface};
use crate::material::ShadingPoint;
use crate::math::max_channel;
use crate::ray::{Ray, RayDifferential};
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;

/// Bounces that a path makes before Russian roulette may end it.
const SURE_BOUNCES: u32 = 3;

/// Which bounce it is.
#[derive(Clone, Copy)]
pub struct Bounce {
    /// 0 for what the camera sees.
    pub depth: u32,
    /// No path goes on from it.
    pub last: bool,
    /// Rays carry differentials.
    pub differentials: bool,
}

/// Takes the path of hit `met_index`, which lane `lane` of the block was shaded for, one step further.
pub fn advance(
    scene: &Scene,
    work: &mut Workspace,
    (met_index, lane): (usize, usize),
    bounce: Bounce,
    counts: &mut BatchCounts,
) {
    let (met, shaded, point) = (&work.met[met_index], &work.shaded[lane], &work.points[lane]);
    let path = &mut work.paths[met.path as usize];
    let (wo, gnormal) = (-path.ray.direction, met.surface.gnormal_seen());
    let bsdf = Bsdf { lobes: &work.lobes[shaded.lobes.clone()], wo, gnormal };
    let mut numbers = shaded.numbers;
    if bounce.depth == 0 {
        let material = (met.material, &scene.materials[met.material as usize]);
        let (outputs, distance) = ((&work.scratch, lane), met.hit.t);
        let hit = FirstHit { point, bsdf: &bsdf, material, outputs, distance };
        numbers &= work.recorded.record(scene, met.path as usize, &hit);
    }
    let mut step = Step { scene, path, met, point, bsdf: &bsdf, bounce, numbers };
    let goes_on = match work.view {
        Some(view) => {
            let mirrors = !bounce.last && !bsdf.lobes.is_empty() && !bsdf.has_smooth_lobe();
            match view.of_hit(&work.seen, lane, mirrors) {
                Some(shown) => {
                    step.path.radiance = shown;
                    false
                }
                None => step.scatter(counts),
            }
        }
        None => {
            step.add(shaded.emission);
            step.scatter(counts)
        }
    };
    if !step.numbers {
        path.faulty = true;
        work.faulty.push((met.path, bounce.depth, met.material));
    }
    if goes_on {
        work.active.push(met.path);
    }
}

/// A hit of a path on its way.
struct Step<'a> {
    scene: &'a Scene,
    path: &'a mut Path,
    met: &'a Met,
    point: &'a ShadingPoint,
    bsdf: &'a Bsdf<'a>,
    bounce: Bounce,
    /// All that it came to were numbers.
    numbers: bool,
}

impl Step<'_> {
    /// Gathers direct light and turns the path where it goes on; whether it does.
    fn scatter(&mut self, counts: &mut BatchCounts) -> bool {
        // A path that has left the mirrors only looks for light.
        let only_light = self.scene.integrator.kind == IntegratorKind::Direct && self.path.pdf.is_finite();
        if self.bounce.last || only_light || self.bsdf.lobes.is_empty() {
            return false;
        }
        let mut sampler = bounce_sampler(self.path, self.bounce.depth);
        let (u_lobe, u_bsdf, u_area, u_environment, u_roulette) =
            (sampler.next_1d(), sampler.next_2d(), sampler.next_2d(), sampler.next_2d(), sampler.next_1d());

        // Direct light.
        if self.bsdf.has_smooth_lobe() {
            let (path, surface) = (&*self.path, &self.met.surface);
            let site = Site { scene: self.scene, path, point: self.point, surface, bsdf: self.bsdf };
            let gathered = site.gather(u_area, u_environment, counts);
            self.add(gathered);
        }

        // The next direction, from the lobes.
        let Some(next) = self.bsdf.sample(u_lobe, u_bsdf) else { return false };
        self.path.beta *= next.weight;
        if let Some(Refraction { eta }) = next.specular.and_then(|s| s.refracted) {
            self.path.eta_scale *= eta * eta;
        }
        self.numbers &= self.path.beta.is_finite();
        if !self.survives(u_roulette) {
            return false;
        }

        // The next ray, with its footprint.
        if self.bounce.differentials {
            self.path.differential = next_differential(self.scene, self.path, self.met, self.point, &next);
        }
        let surface = &self.met.surface;
        let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, next.wi);
        self.path.ray = Ray::new(origin, next.wi, self.path.ray.time);
        self.path.from = surface.position;
        self.path.pdf = if next.specular.is_some() { f32::INFINITY } else { next.pdf };
        true
    }

    /// Adds light that leaves the hit towards the viewer.
    fn add(&mut self, light: Vec3) {
        self.numbers &= self.path.add(self.path.beta * light);
    }

    /// Whether the path carries anything, and Russian roulette lets it go on: paths that carry little end early, the
    /// others carry their share.
    fn survives(&mut self, u: f32) -> bool {
        let path = &mut *self.path;
        if max_channel(path.beta) <= 0.0 || !path.beta.is_finite() {
            return false;
        }
        if self.bounce.depth < SURE_BOUNCES || !self.scene.integrator.roulette {
            return true;
        }
        // Not for the scale of radiance in glass, which ends where the path leaves it.
        let survival = (max_channel(path.beta) * path.eta_scale).min(0.95);
        path.beta /= survival;
        u < survival
    }
}

/// Through a mirror or a smooth surface by Igehy's formulas with the interpolated normal's partials; else by the rule for
/// scattering.
pub fn next_differential(
    scene: &Scene,
    path: &Path,
    met: &Met,
    point: &ShadingPoint,
    next: &BsdfSample,
) -> RayDifferential {
    let Some(Specular { normal: turned_about, refracted }) = next.specular else {
        return scattered(path, point, next.wi, next.pdf);
    };
    let wanted = Wanted { normal: true, ..Wanted::default() };
    let normal = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &met.hit, wanted).normal;
    // The partials are those of the outward normal, the lobe's faces the viewer.
    let sign = 1.0_f32.copysign(turned_about.dot(met.surface.normal));
    let (d, dp, dn) = (path.ray.direction, point.partials.position, normal.map(|n| n * sign));
    match refracted {
        None => path.differential.reflected(d, dp, turned_about, dn),
        Some(Refraction { eta }) => path.differential.refracted((d, next.wi), dp, turned_about, dn, eta),
    }
}
