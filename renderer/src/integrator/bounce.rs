//! One shaded hit of a path: its own light, direct light, and the ray that goes on.

use super::aov::FirstHit;
use super::direct::{Ledger, Site, scattered};
use super::path::{Met, Path, Workspace};
use super::probe::{ProbedDirection, ProbedHit};
use super::view::Shown;
use super::watch::Seen;
use super::wavefront::{BatchCounts, bounce_sampler};
use crate::accel::offset_origin;
use crate::bsdf::{Bsdf, BsdfSample, Refraction, Specular};
use crate::geometry::{Wanted, surface};
use crate::material::{Scratch, Shaded, ShadingPoint};
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
    let view = work.view_of_hits();
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
    let mut lights = work.probe.is_some().then(Vec::new);
    let beta = path.beta;
    let mut ledger = Ledger { counts, lights: lights.as_mut() };
    let mut step = Step { scene, path, met, point, bsdf: &bsdf, bounce, numbers, next: None };
    let shown = view.map(|view| {
        let mirrors = !bounce.last && !bsdf.lobes.is_empty() && !bsdf.has_smooth_lobe();
        let seen = (&work.seen, lane);
        view.of_hit(scene, &Shown { point, shaded, bsdf: &bsdf, seen, mirrors })
    });
    let end = match shown {
        Some(Some(shown)) => {
            step.path.radiance = shown;
            Some(End::Shown)
        }
        Some(None) => step.scatter(&mut ledger).err(),
        None => {
            step.add(shaded.emission);
            step.scatter(&mut ledger).err()
        }
    };
    let (numbers, next) = (step.numbers, step.next.take());
    if let Some(probe) = &mut work.probe {
        let radiance = path.radiance.to_array();
        let of_shader = (&work.scratch, &work.seen, lane);
        let hit = probed(scene, met, shaded, point, of_shader);
        let lights = lights.unwrap_or_default();
        let (bounce, throughput, end) = (bounce.depth, beta.to_array(), end.map(End::text));
        probe.hits.push(ProbedHit { bounce, throughput, numbers, lights, next, end, radiance, ..hit });
    }
    if !numbers {
        path.faulty = true;
        work.faulty.push((met.path, bounce.depth, met.material));
    }
    if end.is_none() {
        work.active.push(met.path);
    }
}

/// What is known of a hit before the path goes on.
fn probed(
    scene: &Scene,
    met: &Met,
    shaded: &Shaded,
    point: &ShadingPoint,
    (scratch, seen, lane): (&Scratch, &Seen, usize),
) -> ProbedHit {
    let material = &scene.materials[met.material as usize];
    ProbedHit {
        material: material.name.clone(),
        distance: met.hit.t,
        globals: scene.values.all(point, scene.surroundings()),
        look_ups: seen.look_ups.iter().filter(|(l, _)| *l == lane).map(|(_, look_up)| look_up.clone()).collect(),
        lobes: material.lobe_values(scratch, lane),
        emission: shaded.emission.to_array(),
        shape_emission: met.light.emission.to_array(),
        shape_emission_share: met.light.share,
        ..ProbedHit::default()
    }
}

/// Why a path goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// A view shows this hit.
    Shown,
    Depth,
    OnlyLight,
    NoLobes,
    NoDirection,
    Nothing,
    Roulette,
}

impl End {
    fn text(self) -> &'static str {
        match self {
            End::Shown => "it is shown",
            End::Depth => "it has made all the bounces that the scene allows",
            End::OnlyLight => "the integrator follows paths through mirrors alone",
            End::NoLobes => "the surface scatters nothing",
            End::NoDirection => "the sample of the lobes carries nothing",
            End::Nothing => "its throughput is nothing, or no number",
            End::Roulette => "Russian roulette ended it",
        }
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
    /// For who writes paths down.
    next: Option<ProbedDirection>,
}

impl Step<'_> {
    /// Gathers direct light and turns the path where it goes on.
    fn scatter(&mut self, ledger: &mut Ledger<'_>) -> Result<(), End> {
        if self.bounce.last {
            return Err(End::Depth);
        }
        if self.bsdf.lobes.is_empty() {
            return Err(End::NoLobes);
        }
        // A path that has left the mirrors only looks for light.
        if self.scene.integrator.kind == IntegratorKind::Direct && self.path.pdf.is_finite() {
            return Err(End::OnlyLight);
        }
        let mut sampler = bounce_sampler(self.path, self.bounce.depth);
        let (u_lobe, u_bsdf, u_area, u_environment, u_roulette) =
            (sampler.next_1d(), sampler.next_2d(), sampler.next_2d(), sampler.next_2d(), sampler.next_1d());

        // Direct light.
        if self.bsdf.has_smooth_lobe() {
            let (path, surface) = (&*self.path, &self.met.surface);
            let site = Site { scene: self.scene, path, point: self.point, surface, bsdf: self.bsdf };
            let gathered = site.gather(u_area, u_environment, ledger);
            self.add(gathered);
        }

        // The next direction, from the lobes.
        let next = self.bsdf.sample(u_lobe, u_bsdf).ok_or(End::NoDirection)?;
        self.path.beta *= next.weight;
        if let Some(Refraction { eta }) = next.specular.and_then(|s| s.refracted) {
            self.path.eta_scale *= eta * eta;
        }
        self.numbers &= self.path.beta.is_finite();
        if max_channel(self.path.beta) <= 0.0 || !self.path.beta.is_finite() {
            return Err(End::Nothing);
        }
        let survival = self.survival();
        if ledger.lights.is_some() {
            self.next = Some(self.probed(&next, survival));
        }
        if u_roulette >= survival {
            return Err(End::Roulette);
        }
        self.path.beta /= survival;

        // The next ray, with its footprint.
        if self.bounce.differentials {
            self.path.differential = next_differential(self.scene, self.path, self.met, self.point, &next);
        }
        let surface = &self.met.surface;
        let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, next.wi);
        self.path.ray = Ray::new(origin, next.wi, self.path.ray.time);
        self.path.from = surface.position;
        self.path.pdf = if next.specular.is_some() { f32::INFINITY } else { next.pdf };
        Ok(())
    }

    /// Of Russian roulette: paths that carry little end early, the others carry their share.
    fn survival(&self) -> f32 {
        match self.bounce.depth < SURE_BOUNCES || !self.scene.integrator.roulette {
            true => 1.0,
            // Not for the scale of radiance in glass, which ends where the path leaves it.
            false => (max_channel(self.path.beta) * self.path.eta_scale).min(0.95),
        }
    }

    fn probed(&self, next: &BsdfSample, survival: f32) -> ProbedDirection {
        ProbedDirection {
            wi: next.wi.to_array(),
            pdf: next.pdf,
            weight: next.weight.to_array(),
            specular: next.specular.is_some(),
            refracted: next.specular.is_some_and(|s| s.refracted.is_some()),
            survival,
            differential: next_differential(self.scene, self.path, self.met, self.point, next).into(),
        }
    }

    /// Adds light that leaves the hit towards the viewer.
    fn add(&mut self, light: Vec3) {
        self.numbers &= self.path.add(self.path.beta * light);
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
