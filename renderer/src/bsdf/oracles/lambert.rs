//! [`Lambert`] in Rust.

use crate::bsdf::{Lambert, LobeSample, Lobes, Place, Scatter, SurfaceClosure, reflectance, toward_viewer};
use crate::math::{Frame, cosine_hemisphere};
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub struct LambertLobe {
    pub albedo: Vec3,
    pub frame: Frame,
}

impl Lambert {
    pub fn lobe(&self, gnormal: Vec3) -> LambertLobe {
        LambertLobe { albedo: reflectance(self.albedo), frame: Frame::about(toward_viewer(self.normal, gnormal)) }
    }
}

impl SurfaceClosure for Lambert {
    // Most surfaces are of this: its parameters stay in registers.
    #[inline(always)]
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place.gnormal));
    }
}

impl Scatter for LambertLobe {
    fn name(&self) -> &'static str {
        "Lambert"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        self.albedo * self.pdf(wo, wi)
    }

    fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
        wi.dot(self.frame.n).max(0.0) * FRAC_1_PI
    }

    fn sample(&self, _wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let local = cosine_hemisphere(u);
        let pdf = local.z * FRAC_1_PI;
        (pdf > 0.0).then(|| LobeSample { wi: self.frame.to_world(local), weight: self.albedo, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.albedo
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn is_diffuse(&self) -> bool {
        true
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.albedo
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, harness};

    fn lobe(pose: &harness::Pose) -> Lobe {
        harness::only_lobe(&Lambert { albedo: [1.0; 3], normal: pose.normal.to_array() }, pose)
    }

    #[test]
    fn passes_the_harness() {
        harness::check("Lambert", &lobe);
    }

    #[test]
    fn reflects_everything_in_a_white_furnace() {
        for wo in harness::directions() {
            assert!((harness::albedo(&lobe(&harness::Pose::upright(wo)), wo) - 1.0).abs() < 1e-3);
        }
    }
}
