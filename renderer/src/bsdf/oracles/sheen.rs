//! [`Sheen`] in Rust.

use crate::bsdf::sheen::{ALBEDOS, Fibres, LEAST_ROUGHNESS};
use crate::bsdf::{LobeSample, Lobes, Place, Scatter, Sheen, SurfaceClosure, reflectance, reflecting};
use crate::math::{Frame, max_channel, uniform_cone};
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub struct SheenLobe {
    tint: Vec3,
    frame: Frame,
    fibres: Fibres,
    /// The share of the light that untinted fibres scatter towards the viewer.
    albedo: f32,
}

impl Sheen {
    fn tint(&self) -> Vec3 {
        reflectance(self.tint)
    }

    fn lobe(&self, place: &Place) -> SheenLobe {
        let normal = reflecting(self.normal, place.gnormal, place.wo);
        let fibres = Fibres::of_roughness(self.roughness);
        let albedo = scattered(place.wo.dot(normal), fibres.roughness);
        SheenLobe { tint: self.tint(), frame: Frame::about(normal), fibres, albedo }
    }
}

impl SurfaceClosure for Sheen {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place));
    }

    fn beneath(&self, place: &Place, _parameter: usize) -> Vec3 {
        Vec3::splat(1.0 - max_channel(self.lobe(place).albedo()))
    }
}

impl Scatter for SheenLobe {
    fn name(&self) -> &'static str {
        "Sheen"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        self.tint * self.fibres.eval(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let above = wo.dot(self.frame.n) > 0.0 && wi.dot(self.frame.n) > 0.0;
        if above { 0.5 * FRAC_1_PI } else { 0.0 }
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let wi = self.frame.to_world(uniform_cone(u, 1.0));
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.tint * self.albedo
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.albedo()
    }
}

fn scattered(cosine: f32, roughness: f32) -> f32 {
    ALBEDOS.at([cosine.max(0.0).sqrt(), ((roughness - LEAST_ROUGHNESS) / (1.0 - LEAST_ROUGHNESS)).sqrt()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::harness;
    use ssl_compiler::runtime::Beneath;

    fn sheen(roughness: f32) -> Sheen {
        Sheen { tint: [1.0; 3], roughness, normal: [0.0, 0.0, 1.0], base: Beneath }
    }

    #[test]
    fn passes_the_harness_at_several_roughnesses() {
        for roughness in [0.0, 0.3, 1.0] {
            let make = |pose: &harness::Pose| {
                harness::only_lobe(&Sheen { normal: pose.normal.to_array(), ..sheen(roughness) }, pose)
            };
            harness::check(&format!("Sheen {roughness}"), &make);
        }
    }

    /// What is beneath gets what the fibres leave, by independent samples of them.
    #[test]
    fn over_white_paint_it_loses_and_gains_nothing() {
        for roughness in [0.07, 0.1, 0.2, 0.45, 0.8, 1.0] {
            for wo in harness::directions() {
                let closure = sheen(roughness);
                let pose = harness::Pose::upright(wo);
                let scattered = harness::albedo(&harness::only_lobe(&closure, &pose), wo);
                let beneath = closure.beneath(&pose.place(), 3).x;
                assert!((scattered + beneath - 1.0).abs() < 0.015, "{roughness} {wo}: {scattered} + {beneath}");
            }
        }
    }

    /// Dark fibres neither scatter nor cover, colored ones cover evenly.
    #[test]
    fn its_tint_says_how_much_it_covers() {
        let wo = Vec3::new(0.8, 0.0, 0.6);
        let place = Place { wo, gnormal: Vec3::Z, inside: false };
        let white = 1.0 - sheen(0.5).beneath(&place, 3).x;
        let red = Sheen { tint: [0.5, 0.1, 0.0], ..sheen(0.5) };
        assert!((red.beneath(&place, 3) - (1.0 - 0.5 * white)).abs().max_element() < 1e-6);
        assert_eq!(Sheen { tint: [f32::NAN; 3], ..sheen(0.5) }.beneath(&place, 3), Vec3::ONE);
    }
}
