//! [`Glossy`] in Rust.

use super::energy;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{Glossy, LobeSample, Lobes, Place, Scatter, SurfaceClosure, reflectance, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct GlossyLobe {
    pub reflectance: Vec3,
    pub frame: Frame,
    facets: Ggx,
    /// The reflectance, light that meets several facets made up for.
    scattered: Vec3,
}

impl Glossy {
    pub fn lobe(&self, gnormal: Vec3, wo: Vec3) -> GlossyLobe {
        let reflectance = reflectance(self.reflectance);
        let frame = Frame::about(reflecting(self.normal, gnormal, wo));
        let facets = Ggx::of_roughness(self.roughness);
        let scattered = reflectance * energy::compensation(&facets, frame.to_local(wo), reflectance);
        GlossyLobe { reflectance, frame, facets, scattered }
    }
}

impl SurfaceClosure for Glossy {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place.gnormal, place.wo));
    }
}

impl Scatter for GlossyLobe {
    fn name(&self) -> &'static str {
        "Glossy"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let found = self.facets.eval(self.frame.to_local(wo), self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, _)| self.scattered * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let i = self.facets.sample(o, u)?.wi;
        let wi = self.frame.to_world(i).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.scattered * self.facets.weight(o, i);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.reflectance
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::harness;

    #[test]
    fn passes_the_harness_at_several_roughnesses() {
        for roughness in [0.4, 0.7, 1.0] {
            let lobe = |pose: &harness::Pose| {
                harness::only_lobe(&Glossy { reflectance: [1.0; 3], normal: pose.normal.to_array(), roughness }, pose)
            };
            harness::check_one_way(&format!("Glossy {roughness}"), &lobe);
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
