//! [`AnisotropicConductor`] in Rust.

use super::conductor::ConductorLobe;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{AnisotropicConductor, Lobes, Place, SurfaceClosure, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

impl SurfaceClosure for AnisotropicConductor {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let frame = Frame::along(reflecting(self.normal, place.gnormal, place.wo), self.tangent.into());
        let facets = Ggx::of_roughnesses(Vec2::new(self.roughness_along, self.roughness_across));
        let metal = (self.eta, self.k);
        lobes.add(Vec3::ONE, ConductorLobe::new("AnisotropicConductor", metal, frame, facets, place.wo));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Conductor, Lobe, harness};

    fn metal(pose: &harness::Pose, k: f32, along: f32, across: f32) -> Lobe {
        let (normal, tangent) = (pose.normal.to_array(), pose.tangent.to_array());
        let (eta, k, roughness_along, roughness_across) = ([0.0; 3], [k; 3], along, across);
        let closure = AnisotropicConductor { eta, k, normal, tangent, roughness_along, roughness_across };
        harness::only_lobe(&closure, pose)
    }

    #[test]
    fn passes_the_harness() {
        for (along, across) in [(0.4, 0.7), (0.9, 0.5)] {
            let lobe = |pose: &harness::Pose| metal(pose, 3.0, along, across);
            harness::check_one_way(&format!("AnisotropicConductor {along} {across}"), &lobe);
        }
    }

    #[test]
    fn a_white_furnace_hides_a_lossless_one() {
        for (along, across) in [(0.1, 0.5), (0.3, 0.9), (0.05, 1.0), (0.7, 0.45), (0.2, 0.3)] {
            for (wo, bound) in harness::directions().into_iter().zip([0.01, 0.01, 0.01, 0.015, 0.03]) {
                let albedo = harness::albedo(&metal(&harness::Pose::upright(wo), 1.0, along, across), wo);
                assert!((albedo - 1.0).abs() < bound, "{along} {across} at {wo}: {albedo}");
            }
        }
    }

    /// Light is spread across the scratches.
    #[test]
    fn the_highlight_is_stretched_across_the_tangent() {
        let lobe = metal(&harness::Pose::upright(Vec3::Z), 1.0, 0.2, 0.7);
        let at = |x: f32, y: f32| lobe.eval(Vec3::Z, Vec3::new(x, y, 1.0).normalize()).x;
        assert!(at(0.0, 0.5) > 10.0 * at(0.5, 0.0));
        // By D: at half the angle whose tangent is 0.5, both against the middle.
        let tan = (0.5 * 0.5_f32.atan()).tan();
        let expected = |alpha: f32| (1.0 + tan * tan / (alpha * alpha)).powi(-2);
        assert!((at(0.0, 0.5) / at(0.5, 0.0) / (expected(0.49) / expected(0.04)) - 1.0).abs() < 0.03);
    }

    #[test]
    fn equal_roughnesses_make_a_conductor() {
        let wo = Vec3::new(0.3, 0.4, 0.866).normalize();
        let pose = harness::Pose::upright(wo);
        let closure = Conductor { eta: [0.0; 3], k: [2.0; 3], normal: [0.0, 0.0, 1.0], roughness: 0.4 };
        let round = harness::only_lobe(&closure, &pose);
        for wi in harness::directions() {
            let (found, expected) = (metal(&pose, 2.0, 0.4, 0.4).eval(wo, wi).x, round.eval(wo, wi).x);
            assert!((found - expected).abs() <= 1e-4 * expected, "{found} {expected}");
        }
    }
}
