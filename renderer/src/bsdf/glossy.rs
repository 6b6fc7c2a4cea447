//! `Glossy(color reflectance, normal normal, float roughness)`: a rough conductor-like reflection.
//!
//! | parameter | what |
//! | --- | --- |
//! | reflectance | Fresnel reflectance, 0 to 1 a channel, whatever the angle |
//! | normal | unit shading normal |
//! | roughness | 0 to 1; GGX's α is its square, at least 0.001 |
//!
//! Isotropic GGX microfacets with Smith's height-correlated masking (Heitz, JCGT 2014), drawn from the
//! visible normals (Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps", 2023). Single
//! scattering only: a rough lobe darkens.

use super::{LobeSample, clean, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

ssl_compiler::closure_type! {
    /// A rough conductor-like reflection, as shaders make it.
    pub struct Glossy { reflectance: color, normal: normal, roughness: float }
}

#[derive(Clone, Copy, Debug)]
pub struct GlossyLobe {
    pub reflectance: Vec3,
    pub frame: Frame,
    pub alpha: f32,
}

impl Glossy {
    pub fn lobe(&self, gnormal: Vec3, wo: Vec3) -> GlossyLobe {
        const LEAST_ALPHA: f32 = 1e-3;
        let roughness = if self.roughness.is_finite() { self.roughness.clamp(0.0, 1.0) } else { 1.0 };
        GlossyLobe {
            reflectance: clean(self.reflectance),
            frame: Frame::about(reflecting(self.normal, gnormal, wo)),
            alpha: (roughness * roughness).max(LEAST_ALPHA),
        }
    }
}

impl GlossyLobe {
    pub fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return Vec3::ZERO;
        }
        let masking = 1.0 / (1.0 + self.lambda(o) + self.lambda(i));
        self.reflectance * (self.distribution((o + i).normalize_or_zero()) * masking / (4.0 * o.z))
    }

    pub fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        // D of visible normals over 4 o·h; the cosine o·h cancels.
        self.distribution((o + i).normalize_or_zero()) / ((1.0 + self.lambda(o)) * 4.0 * o.z)
    }

    pub fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        if o.z <= 0.0 {
            return None;
        }
        let h = self.visible_normal(o, u);
        let i = h * (2.0 * o.dot(h)) - o;
        if i.z <= 0.0 {
            return None;
        }
        let wi = self.frame.to_world(i).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.reflectance * ((1.0 + self.lambda(o)) / (1.0 + self.lambda(o) + self.lambda(i)));
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf })
    }

    /// GGX's density of microfacet normals.
    fn distribution(&self, h: Vec3) -> f32 {
        let a2 = self.alpha * self.alpha;
        // cos² (α² − 1) + 1, written without the cancellation at cos = 1.
        let d = h.x * h.x + h.y * h.y + h.z * h.z * a2;
        if h.z <= 0.0 { 0.0 } else { a2 / (PI * d * d) }
    }

    /// Smith's Λ.
    fn lambda(&self, w: Vec3) -> f32 {
        let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
        // (√(1 + x) − 1)/2 without cancellation.
        let x = self.alpha * self.alpha * tan2;
        if x.is_finite() { 0.5 * x / (1.0 + (1.0 + x).sqrt()) } else { f32::MAX.sqrt() }
    }

    fn visible_normal(&self, o: Vec3, u: Vec2) -> Vec3 {
        let stretched = Vec3::new(o.x * self.alpha, o.y * self.alpha, o.z).normalize();
        let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
        let (sin, phi) = ((1.0 - z * z).max(0.0).sqrt(), TAU * u.x);
        let h = Vec3::new(sin * phi.cos(), sin * phi.sin(), z) + stretched;
        Vec3::new(h.x * self.alpha, h.y * self.alpha, h.z.max(0.0)).normalize_or(Vec3::Z)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lobe, harness};
    use super::*;

    #[test]
    fn passes_the_harness_at_several_roughnesses() {
        for roughness in [0.4, 0.7, 1.0] {
            let lobe = |wo: Vec3, n: Vec3| {
                Lobe::Glossy(Glossy { reflectance: [1.0; 3], normal: n.to_array(), roughness }.lobe(n, wo))
            };
            harness::check(&format!("Glossy {roughness}"), &lobe);
        }
    }

    #[test]
    fn a_smooth_one_is_nearly_a_mirror() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let lobe = Glossy { reflectance: [1.0; 3], normal: [0.0, 0.0, 1.0], roughness: 0.0 }.lobe(Vec3::Z, wo);
        let s = lobe.sample(wo, Vec2::new(0.3, 0.4)).expect("above the surface");
        assert!((s.wi - Vec3::new(-0.6, 0.0, 0.8)).length() < 0.01);
        assert!((s.weight.x - 1.0).abs() < 1e-3);
    }
}
