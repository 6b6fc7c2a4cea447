//! The differentials of the next ray, and so the footprints of all look-ups on its way.

use super::path::Path;
use crate::bsdf::{BsdfSample, Refraction, Specular};
use crate::geometry::{Wanted, surface};
use crate::material::ShadingPoint;
use crate::ray::RayDifferential;
use crate::scene::Scene;
use glam::Vec3;

/// Through a mirror or a smooth surface by Igehy's formulas with the interpolated normal's partials; else by the rule for
/// scattering.
pub fn next_differential(scene: &Scene, path: &Path, point: &ShadingPoint, next: &BsdfSample) -> RayDifferential {
    let Some(Specular { normal: turned_about, .. }) = next.specular else {
        return scattered(path, point, next.wi, next.pdf);
    };
    let wanted = Wanted { normal: true, ..Wanted::default() };
    let normal = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &point.hit, wanted).normal;
    // The partials are those of the outward normal, the lobe's faces the viewer.
    let sign = 1.0_f32.copysign(turned_about.dot(point.surface.normal));
    let (d, dp, dn) = (path.ray.direction, point.partials.position, normal.map(|n| n * sign));
    match next.refracted {
        None => path.differential.reflected(d, dp, turned_about, dn),
        Some(Refraction { eta }) => path.differential.refracted((d, next.wi), dp, turned_about, dn, eta),
    }
}

/// The differential after a bounce into `wi`, which the lobes draw with density `lobe_pdf`: the rule for all bounces but off
/// mirrors.
pub fn scattered(path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> RayDifferential {
    path.differential.scattered(point.partials.position, wi, lobe_pdf)
}
