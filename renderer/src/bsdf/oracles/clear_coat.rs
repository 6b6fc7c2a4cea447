//! The clear coat of `Principled`.

use super::principled_diffuse::schlick_weight;
use crate::bsdf::{LobeSample, Scatter};
use crate::math::Frame;
use glam::{FloatExt, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Burley's clear coat: normals by GTR with an exponent of 1, whose tails are longer than GGX's, masking of a GGX
/// roughness α = 1/4 whatever the gloss, an index of 1.5, and a quarter of its strength.
#[derive(Clone, Copy, Debug)]
pub struct ClearCoat {
    frame: Frame,
    /// Of the normals' distribution.
    alpha: f32,
}

impl ClearCoat {
    /// `gloss` from 0, satin, to 1.
    pub fn of_gloss(gloss: f32, frame: Frame) -> ClearCoat {
        ClearCoat { frame, alpha: 0.1.lerp(0.001, gloss) }
    }

    fn distribution(&self, half: Vec3) -> f32 {
        let a2 = self.alpha * self.alpha;
        // 1 + (α² − 1) cos², written without the cancellation at cos = 1.
        let d = half.x * half.x + half.y * half.y + half.z * half.z * a2;
        if half.z <= 0.0 { 0.0 } else { (1.0 - a2) / (-PI * a2.ln() * d) }
    }

    /// A quarter of F G / (4 cos θo): what stands beside the distribution.
    fn factor(o: Vec3, i: Vec3, facing: f32) -> f32 {
        const ALPHA2: f32 = 0.25 * 0.25;
        // G1/cos θ of GGX.
        let masking = |w: Vec3| 2.0 / (w.z + (ALPHA2 + (1.0 - ALPHA2) * w.z * w.z).sqrt());
        let fresnel = 0.04.lerp(1.0, schlick_weight(facing));
        0.25 * fresnel * 0.25 * masking(o) * masking(i) * i.z
    }
}

impl Scatter for ClearCoat {
    fn name(&self) -> &'static str {
        "Principled"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return Vec3::ZERO;
        }
        let half = (o + i).normalize_or_zero();
        Vec3::splat(self.distribution(half) * ClearCoat::factor(o, i, o.dot(half)))
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        let half = (o + i).normalize_or_zero();
        self.distribution(half) * half.z / (4.0 * o.dot(half)).max(1e-9)
    }

    /// By the normals, D cos θh.
    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let a2 = self.alpha * self.alpha;
        // 1 − cos² = (α^(2 − 2u) − α²)/(1 − α²), the way round that is exact near the normal.
        let sine2 = ((a2.powf(1.0 - u.x) - a2) / (1.0 - a2)).clamp(0.0, 1.0);
        let half = (Vec2::from_angle(TAU * u.y) * sine2.sqrt()).extend((1.0 - sine2).sqrt());
        let wi = self.frame.to_world(half * (2.0 * o.dot(half)) - o).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        // A quarter of what its boundary reflects, more at grazing angles.
        Vec3::splat(0.03)
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}
