//! [`Translucent`] in Rust.

use crate::bsdf::{
    LobeSample, Lobes, Place, Reach, Refraction, Scatter, SurfaceClosure, Translucent, reflectance, toward_viewer,
};
use crate::math::{Frame, cosine_hemisphere};
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub struct TranslucentLobe {
    transmittance: Vec3,
    frame: Frame,
}

impl SurfaceClosure for Translucent {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let frame = Frame::about(toward_viewer(self.normal, place.gnormal));
        lobes.add(Vec3::ONE, TranslucentLobe { transmittance: reflectance(self.transmittance), frame });
    }
}

impl Scatter for TranslucentLobe {
    fn name(&self) -> &'static str {
        "Translucent"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        self.transmittance * self.pdf(wo, wi)
    }

    fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
        (-wi.dot(self.frame.n)).max(0.0) * FRAC_1_PI
    }

    fn sample(&self, _wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let local = cosine_hemisphere(u);
        let pdf = local.z * FRAC_1_PI;
        let refracted = Some(Refraction { eta: 1.0 });
        (pdf > 0.0).then(|| LobeSample { wi: -self.frame.to_world(local), weight: self.transmittance, pdf, refracted })
    }

    fn albedo(&self) -> Vec3 {
        self.transmittance
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn is_diffuse(&self) -> bool {
        true
    }

    fn reach(&self) -> Reach {
        Reach::Transmits
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.transmittance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::harness;

    #[test]
    fn passes_the_harness_and_lets_all_light_through() {
        let make = |pose: &harness::Pose| {
            harness::only_lobe(&Translucent { transmittance: [1.0; 3], normal: pose.normal.to_array() }, pose)
        };
        harness::check("Translucent", &make);
        for wo in harness::directions() {
            assert!((harness::albedo(&make(&harness::Pose::upright(wo)), wo) - 1.0).abs() < 1e-4);
        }
    }
}
