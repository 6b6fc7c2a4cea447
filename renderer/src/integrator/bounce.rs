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

/// Bounces that a path makes before Russian roulette may end it.
const SURE_BOUNCES: u32 = 3;

/// Takes the path of hit `met_index`, which lane `lane` of the block was shaded for, one step further.
pub fn advance(
    scene: &Scene,
    work: &mut Workspace,
    met_index: usize,
    lane: usize,
    (depth, last): (u32, bool),
    differentials: bool,
    counts: &mut BatchCounts,
) {
    let (met, shaded, point) = (&work.met[met_index], &work.shaded[lane], &work.points[lane]);
    let path = &mut work.paths[met.path as usize];
    let surface = &met.surface;
    let bsdf =
        Bsdf { lobes: &work.lobes[shaded.lobes.clone()], wo: -path.ray.direction, gnormal: surface.gnormal_seen() };
    if depth == 0 {
        let material = (met.material, &scene.materials[met.material as usize]);
        let (outputs, distance) = ((&work.scratch, lane), met.hit.t);
        let hit = FirstHit { point, bsdf: &bsdf, material, outputs, distance };
        work.recorded.record(scene, met.path as usize, &hit);
    }
    if let Some(view) = work.view {
        let goes_on = !last && !bsdf.lobes.is_empty() && !bsdf.has_smooth_lobe();
        if let Some(shown) = view.of_hit(&work.seen, lane, goes_on) {
            path.radiance = shown;
            return;
        }
    } else {
        path.radiance += path.beta * shaded.emission;
    }
    // A path that has left the mirrors only looks for light.
    let last = last || (scene.integrator.kind == IntegratorKind::Direct && path.pdf.is_finite());
    if last || bsdf.lobes.is_empty() {
        return;
    }
    let mut sampler = bounce_sampler(path, depth);
    let (u_lobe, u_bsdf, u_area, u_environment, u_roulette) =
        (sampler.next_1d(), sampler.next_2d(), sampler.next_2d(), sampler.next_2d(), sampler.next_1d());

    // Direct light.
    if bsdf.has_smooth_lobe() {
        let site = Site { scene, path, point, surface, bsdf: &bsdf };
        path.radiance += path.beta * site.gather(u_area, u_environment, counts);
    }

    // The next direction, from the lobes.
    let Some(next) = bsdf.sample(u_lobe, u_bsdf) else { return };
    path.beta *= next.weight;
    if let Some(Refraction { eta }) = next.specular.and_then(|s| s.refracted) {
        path.eta_scale *= eta * eta;
    }
    if max_channel(path.beta) <= 0.0 || !path.beta.is_finite() {
        return;
    }

    // Russian roulette: paths that carry little end early, the others carry their share.
    if depth >= SURE_BOUNCES {
        // Not for the scale of radiance in glass, which ends where the path leaves it.
        let survival = (max_channel(path.beta) * path.eta_scale).min(0.95);
        if u_roulette >= survival {
            return;
        }
        path.beta /= survival;
    }

    // The next ray, with its footprint.
    if differentials {
        path.differential = next_differential(scene, path, met, point, &next);
    }
    let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, next.wi);
    path.ray = Ray::new(origin, next.wi, path.ray.time);
    path.from = surface.position;
    path.pdf = if next.specular.is_some() { f32::INFINITY } else { next.pdf };
    work.active.push(met.path);
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
