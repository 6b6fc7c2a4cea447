//! `AnisotropicConductor(color eta, color k, normal normal, vector tangent, float roughness_along, float roughness_across)`:
//! a brushed metal.
//!
//! | parameter | what |
//! | --- | --- |
//! | eta, k | the complex index of refraction η + ik for red, green and blue; at least 0 |
//! | normal | unit shading normal |
//! | tangent | along the scratches; the lobe takes its part perpendicular to the normal, or any direction if that is zero |
//! | roughness_along, roughness_across | along the tangent and across it, 0 to 1; α is the square of each, at least 0.001 |
//!
//! Anisotropic [GGX microfacets](super::ggx) reflect by Fresnel's equations. If both roughnesses are equal, the lobe is a
//! `Conductor`. Scratches spread light across, so brushed metal has the larger roughness there. The lobe
//! [compensates](super::energy) for light that meets several microfacets (Turquin 2019). It keeps energy within 1 %, or about
//! 3 % at grazing directions, and is not reciprocal.

use super::conductor::ConductorLobe;
use super::ggx::Ggx;
use super::{Lobes, Place, SHADING_NORMAL, SHADING_TANGENT, SurfaceClosure, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

ssl_compiler::closure_type! {
    /// A brushed metal, as shaders make it.
    pub struct AnisotropicConductor {
        eta: color in (0.0..),
        k: color in (0.0..),
        normal: normal = SHADING_NORMAL,
        tangent: vector = SHADING_TANGENT,
        roughness_along: float in (0.0..=1.0),
        roughness_across: float in (0.0..=1.0),
    }
}

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
    use super::super::{Conductor, Lobe, harness};
    use super::*;

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
