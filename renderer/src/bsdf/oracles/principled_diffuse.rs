//! The diffuse part of `Principled`: Burley's diffuse reflection with its grazing retro-reflection, its flat
//! approximation of subsurface scattering, and the rim of sheen.

use crate::bsdf::{LobeSample, Scatter};
use crate::math::{Frame, cosine_hemisphere};
use glam::{FloatExt, Vec2, Vec3};
use std::f32::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub struct PrincipledDiffuse {
    /// What a flat white surface would be multiplied by.
    pub color: Vec3,
    pub sheen: Vec3,
    pub roughness: f32,
    /// From Burley's reflection, 0, to what looks like light from below the surface, 1.
    pub flatness: f32,
    pub frame: Frame,
}

impl Scatter for PrincipledDiffuse {
    fn name(&self) -> &'static str {
        "Principled"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (wo.dot(self.frame.n), wi.dot(self.frame.n));
        if o <= 0.0 || i <= 0.0 {
            return Vec3::ZERO;
        }
        let half_cosine = (1.0 + wo.dot(wi)).max(0.0);
        // (o · h)² is half of 1 + o · i.
        let cosine = (0.5 * half_cosine).sqrt();
        let retro = self.roughness * half_cosine;
        let diffuse = burley(o, i, retro).lerp(subsurface(o, i, 0.5 * retro), self.flatness);
        (self.color * (diffuse * FRAC_1_PI) + self.sheen * schlick_weight(cosine)) * i
    }

    fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
        wi.dot(self.frame.n).max(0.0) * FRAC_1_PI
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let wi = self.frame.to_world(cosine_hemisphere(u));
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        // The rim is thin.
        self.color + 0.05 * self.sheen
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn is_diffuse(&self) -> bool {
        true
    }
}

/// `retro` is 2 roughness (o · h)².
fn burley(o: f32, i: f32, retro: f32) -> f32 {
    let (fo, fi) = (schlick_weight(o), schlick_weight(i));
    (1.0 - 0.5 * fo) * (1.0 - 0.5 * fi) + retro * (fo + fi + fo * fi * (retro - 1.0))
}

/// After Hanrahan and Krueger; `grazing` is what Fresnel's factors tend to.
fn subsurface(o: f32, i: f32, grazing: f32) -> f32 {
    let factor = 1.0.lerp(grazing, schlick_weight(o)) * 1.0.lerp(grazing, schlick_weight(i));
    1.25 * (factor * (1.0 / (o + i).max(1e-6) - 0.5) + 0.5)
}

/// (1 − cos θ)⁵.
pub fn schlick_weight(cosine: f32) -> f32 {
    let m = (1.0 - cosine).clamp(0.0, 1.0);
    m * m * m * m * m
}
