//! [`Phong`] in Rust.

use crate::bsdf::{LobeSample, Lobes, Phong, Place, Scatter, SurfaceClosure, bounded, reflectance, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

#[derive(Clone, Copy, Debug)]
pub struct PhongLobe {
    reflectance: Vec3,
    normal: Vec3,
    exponent: f32,
}

impl SurfaceClosure for Phong {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let normal = reflecting(self.normal, place.gnormal, place.wo);
        let exponent = bounded(self.exponent, 0.0, 1e5, 0.0);
        lobes.add(Vec3::ONE, PhongLobe { reflectance: reflectance(self.reflectance), normal, exponent });
    }
}

impl Scatter for PhongLobe {
    fn name(&self) -> &'static str {
        "Phong"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let cosine = wi.dot(self.normal).max(0.0);
        self.reflectance * ((self.exponent + 2.0) / TAU * self.power(wo, wi) * cosine)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        (self.exponent + 1.0) / TAU * self.power(wo, wi)
    }

    /// About the mirror's direction.
    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let cosine = (1.0 - u.y).powf(1.0 / (self.exponent + 1.0));
        let around = Vec2::from_angle(TAU * u.x) * (1.0 - cosine * cosine).max(0.0).sqrt();
        let wi = Frame::about(self.mirrored(wo)?).to_world(around.extend(cosine)).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.reflectance
    }

    fn normal(&self) -> Vec3 {
        self.normal
    }
}

impl PhongLobe {
    fn mirrored(&self, wo: Vec3) -> Option<Vec3> {
        let cosine = wo.dot(self.normal);
        (cosine > 0.0).then(|| self.normal * (2.0 * cosine) - wo)?.try_normalize()
    }

    /// The power of the cosine to the mirror's direction; nothing below the surface.
    fn power(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self.mirrored(wo) {
            Some(mirrored) if wi.dot(self.normal) > 0.0 => mirrored.dot(wi).clamp(0.0, 1.0).powf(self.exponent),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, harness};

    fn lobe(pose: &harness::Pose, exponent: f32) -> Lobe {
        harness::only_lobe(&Phong { reflectance: [1.0; 3], normal: pose.normal.to_array(), exponent }, pose)
    }

    #[test]
    fn passes_the_harness() {
        for exponent in [1.0, 10.0, 60.0] {
            harness::check(&format!("Phong {exponent}"), &|pose| lobe(pose, exponent));
        }
    }

    /// ∫ (n + 2)/2π cosⁿ⁺¹ over the hemisphere is 1: straight on, all is reflected.
    #[test]
    fn straight_on_all_light_is_reflected() {
        for exponent in [0.0, 3.0, 100.0] {
            let albedo = harness::albedo(&lobe(&harness::Pose::upright(Vec3::Z), exponent), Vec3::Z);
            assert!((albedo - 1.0).abs() < 1e-3, "{exponent}: {albedo}");
        }
    }
}
