//! Reflection off the rough boundary of a dielectric, in Rust, for the parts of coats, plastics and cloth.

use super::energy;
use crate::bsdf::energy::{BOUNDARY, BOUNDARY_STRETCHED, LARGEST_AMPLITUDE};
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{LobeSample, Scatter, fresnel};
use crate::math::Frame;
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

#[derive(Clone, Copy, Debug)]
pub struct RoughBoundary {
    name: &'static str,
    frame: Frame,
    facets: Ggx,
    /// The index of refraction behind the boundary over that before it, at least 1.
    eta: f32,
    /// Multiplies what is reflected.
    tint: Vec3,
    /// The share that is reflected towards the viewer, untinted.
    pub reflected: f32,
}

impl Scatter for RoughBoundary {
    fn name(&self) -> &'static str {
        self.name
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval(o, self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, half)| self.reflectance(o.dot(half)) * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval_and_pdf(o, self.frame.to_local(wi));
        found.map_or((Vec3::ZERO, 0.0), |(value, half, pdf)| (self.reflectance(o.dot(half)) * value, pdf))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let drawn = self.facets.sample(o, u)?;
        let wi = self.frame.to_world(drawn.wi).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.reflectance(o.dot(drawn.half)) * self.facets.weight(o, drawn.wi);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.tint * self.reflected
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.albedo()
    }
}

impl RoughBoundary {
    /// That of a part of the closure `name`, seen from `wo`, with an index of refraction of `eta`.
    pub fn new(name: &'static str, frame: Frame, facets: Ggx, eta: f32, wo: Vec3) -> RoughBoundary {
        let reflected = reflected(&facets, frame.to_local(wo), eta);
        RoughBoundary { name, frame, facets, eta, tint: Vec3::ONE, reflected }
    }

    /// With its reflection tinted. What is beneath still gets what an untinted one leaves.
    pub fn tinted(self, tint: Vec3) -> RoughBoundary {
        RoughBoundary { tint, ..self }
    }

    fn reflectance(&self, cosine: f32) -> Vec3 {
        self.tint * fresnel::dielectric(cosine.clamp(0.0, 1.0), self.eta).0
    }
}

/// The share of light from all sides that a boundary with a relative index of refraction of 1 to 10 reflects towards `o`, a
/// local direction. Good to 0.2 %; where the roughnesses along x and y differ, to 0.5 % but next to the horizon.
pub fn reflected(facets: &Ggx, o: Vec3, eta: f32) -> f32 {
    let (alpha, cosine) = (facets.alpha(), o.z.clamp(1e-4, 1.0));
    let amplitude = ((eta - 1.0) / (eta + 1.0) / LARGEST_AMPLITUDE).max(0.0).sqrt();
    let (larger, roughness) = (alpha.max_element(), energy::along_roughness(alpha.max_element()));
    let root = if alpha.x == alpha.y {
        BOUNDARY.at([amplitude, cosine.sqrt(), roughness])
    } else {
        let (rough, smooth) = if alpha.x > alpha.y { (o.x, o.y) } else { (o.y, o.x) };
        let turn = smooth.abs().atan2(rough.abs()) / FRAC_PI_2;
        BOUNDARY_STRETCHED.at([amplitude, cosine.sqrt(), turn, roughness, (alpha.min_element() / larger).sqrt()])
    };
    (energy::reflected(facets, o) * root * root).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::PI;

    /// ∫ eval dωi over directions evenly spread in solid angle: no part of the table's making.
    fn integrated(facets: &Ggx, o: Vec3, eta: f32) -> f64 {
        const M: u32 = 200;
        let of = |k: u32| {
            // Closer to each other towards the horizon and around the azimuth of the mirror direction.
            let (t, s) = (((k % M) as f32 + 0.5) / M as f32, ((k / M) as f32 + 0.5) / M as f32 * 2.0 - 1.0);
            let (z, turn) = (t * t, Vec2::from_angle(PI * s * s * s).rotate(-o.truncate().normalize_or(Vec2::X)));
            let density = 2.0 * t * 6.0 * PI * s * s;
            let found = facets.eval(o, (turn * (1.0 - z * z).sqrt()).extend(z));
            found.map_or(0.0, |(v, h)| f64::from(density * v * fresnel::dielectric(o.dot(h).clamp(0.0, 1.0), eta).0))
        };
        (0..M * M).map(of).sum::<f64>() / f64::from(M * M)
    }

    #[test]
    fn the_table_is_what_integration_over_the_hemisphere_gives() {
        let stretched = |along, across| Ggx::of_roughnesses(Vec2::new(along, across));
        let cases = [
            (stretched(0.35, 0.35), 2e-3),
            (stretched(0.52, 0.52), 2e-3),
            (stretched(0.81, 0.81), 2e-3),
            (stretched(1.0, 1.0), 2e-3),
            (stretched(0.35, 0.6), 4e-3),
            (stretched(0.5, 1.0), 4e-3),
            (stretched(0.35, 1.0), 4e-3),
        ];
        for (facets, may) in cases {
            for cosine in [0.05, 0.27, 0.5, 0.77, 1.0] {
                for (azimuth, eta) in [(0.0, 1.1), (0.8, 1.5), (1.57, 2.4)] {
                    let o = (Vec2::from_angle(azimuth) * (1.0_f32 - cosine * cosine).sqrt()).extend(cosine);
                    let (found, expected) = (reflected(&facets, o, eta), integrated(&facets, o, eta));
                    assert!((f64::from(found) - expected).abs() < may, "{facets:?} {o} {eta}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_smooth_boundary_reflects_by_fresnels_equations() {
        let facets = Ggx::of_roughness(0.0);
        for i in 1..=50 {
            let cosine = i as f32 / 50.0;
            let o = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
            let (found, expected) = (reflected(&facets, o, 1.5), fresnel::dielectric(cosine, 1.5).0);
            // It is as rough as α = 0.001.
            assert!((found - expected).abs() < 5e-3, "{cosine}: {found} {expected}");
        }
        assert_eq!(reflected(&Ggx::of_roughness(0.3), Vec3::new(0.6, 0.0, 0.8), 1.0), 0.0);
    }
}
