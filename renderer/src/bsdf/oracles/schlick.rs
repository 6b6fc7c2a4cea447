//! [`Schlick`] in Rust.

use super::energy;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{LobeSample, Lobes, Place, Scatter, Schlick, SurfaceClosure, bounded, clean, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct SchlickLobe {
    curve: Curve,
    frame: Frame,
    facets: Ggx,
    /// Makes up for light that meets several facets.
    compensation: Vec3,
}

/// Reflectance over the cosine.
#[derive(Clone, Copy, Debug)]
struct Curve {
    f0: Vec3,
    f90: Vec3,
    exponent: f32,
    /// Of the term that makes the dip.
    dip: Vec3,
}

impl Curve {
    fn new(f0: Vec3, f82: Vec3, f90: Vec3, exponent: f32) -> Curve {
        const COSINE: f32 = 1.0 / 7.0;
        let base = f0.lerp(f90, (1.0 - COSINE).powf(exponent));
        Curve { f0, f90, exponent, dip: base * (1.0 - f82) / (COSINE * (1.0 - COSINE).powi(6)) }
    }

    fn at(&self, cosine: f32) -> Vec3 {
        let x = cosine.clamp(0.0, 1.0);
        let base = self.f0.lerp(self.f90, (1.0 - x).powf(self.exponent));
        (base - self.dip * (x * (1.0 - x).powi(6))).max(Vec3::ZERO)
    }
}

impl SurfaceClosure for Schlick {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let color = |c| clean(c).min(Vec3::ONE);
        let curve =
            Curve::new(color(self.f0), color(self.f82), color(self.f90), bounded(self.exponent, 0.1, 100.0, 5.0));
        let frame = Frame::along(reflecting(self.normal, place.gnormal, place.wo), self.tangent.into());
        let facets = Ggx::of_roughnesses(Vec2::new(self.roughness_along, self.roughness_across));
        let compensation = energy::compensation(&facets, frame.to_local(place.wo), curve.f0);
        lobes.add(Vec3::ONE, SchlickLobe { curve, frame, facets, compensation });
    }
}

impl Scatter for SchlickLobe {
    fn name(&self) -> &'static str {
        "Schlick"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval(o, self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, half)| self.scattered(o, half) * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval_and_pdf(o, self.frame.to_local(wi));
        found.map_or((Vec3::ZERO, 0.0), |(value, half, pdf)| (self.scattered(o, half) * value, pdf))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let drawn = self.facets.sample(o, u)?;
        let wi = self.frame.to_world(drawn.wi).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.scattered(o, drawn.half) * self.facets.weight(o, drawn.wi);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    /// Somewhat more than straight on: the curve rises towards its end.
    fn albedo(&self) -> Vec3 {
        self.curve.f0.lerp(self.curve.f90, 0.05)
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

impl SchlickLobe {
    fn scattered(&self, o: Vec3, half: Vec3) -> Vec3 {
        self.curve.at(o.dot(half)) * self.compensation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, harness};

    fn lobe(pose: &harness::Pose, f0: f32, along: f32, across: f32) -> Lobe {
        let (normal, tangent) = (pose.normal.to_array(), pose.tangent.to_array());
        let (f82, f90, exponent) = ([0.9; 3], [1.0; 3], 5.0);
        let closure = Schlick {
            f0: [f0; 3],
            f82,
            f90,
            exponent,
            normal,
            tangent,
            roughness_along: along,
            roughness_across: across,
        };
        harness::only_lobe(&closure, pose)
    }

    #[test]
    fn passes_the_harness() {
        for (f0, along, across) in [(0.04, 0.5, 0.5), (0.9, 0.4, 0.8)] {
            harness::check_one_way(&format!("Schlick {f0} {along} {across}"), &|pose| lobe(pose, f0, along, across));
        }
    }

    /// What the curve is given at its three angles is what it gives there.
    #[test]
    fn the_curve_meets_its_parameters() {
        let (f0, f82, f90) = (Vec3::new(0.9, 0.5, 0.04), Vec3::new(1.0, 0.8, 0.5), Vec3::new(1.0, 0.9, 0.7));
        for exponent in [1.0, 5.0, 9.0] {
            let curve = Curve::new(f0, f82, f90, exponent);
            let plain = Curve::new(f0, Vec3::ONE, f90, exponent);
            assert!((curve.at(1.0) - f0).length() < 1e-6 && (curve.at(0.0) - f90).length() < 1e-6);
            assert!((curve.at(1.0 / 7.0) - plain.at(1.0 / 7.0) * f82).length() < 1e-5);
        }
        // Schlick's own: f0 + (1 − f0)(1 − cos)⁵, whose half way is 0.04 + 0.96/32.
        assert!((Curve::new(Vec3::splat(0.04), Vec3::ONE, Vec3::ONE, 5.0).at(0.5).x - 0.07).abs() < 1e-6);
    }
}
