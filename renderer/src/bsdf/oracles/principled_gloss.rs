//! The reflection of `Principled`: GGX microfacets whose Fresnel factor goes from a dielectric's over a tinted one to a
//! metal's.

use super::principled_diffuse::schlick_weight;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{LobeSample, Scatter, fresnel};
use crate::math::Frame;
use glam::{Vec2, Vec3};

/// What microfacets reflect: a dielectric's share, and Schlick's approximation of colored ones.
#[derive(Clone, Copy, Debug)]
pub struct Reflectance {
    /// The index of refraction, and the share of what is a plain dielectric.
    pub eta: f32,
    pub dielectric: f32,
    /// Of all others: what is reflected straight on, and what comes to it at grazing angles.
    pub front: Vec3,
    pub rim: Vec3,
}

impl Reflectance {
    pub fn at(&self, cosine: f32) -> Vec3 {
        let cosine = cosine.clamp(0.0, 1.0);
        let plain = if self.dielectric > 0.0 { fresnel::dielectric(cosine, self.eta).0 } else { 0.0 };
        self.front + self.rim * schlick_weight(cosine) + self.dielectric * plain
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PrincipledGloss {
    pub reflectance: Reflectance,
    pub facets: Ggx,
    pub frame: Frame,
    /// About what it reflects towards the viewer.
    pub albedo: Vec3,
}

impl Scatter for PrincipledGloss {
    fn name(&self) -> &'static str {
        "Principled"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval(o, self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, half)| self.reflectance.at(o.dot(half)) * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval_and_pdf(o, self.frame.to_local(wi));
        found.map_or((Vec3::ZERO, 0.0), |(value, half, pdf)| (self.reflectance.at(o.dot(half)) * value, pdf))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let drawn = self.facets.sample(o, u)?;
        let wi = self.frame.to_world(drawn.wi).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.reflectance.at(o.dot(drawn.half)) * self.facets.weight(o, drawn.wi);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.albedo
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}
