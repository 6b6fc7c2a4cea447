//! [`Conductor`] in Rust.

use super::{energy, fresnel};
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{Conductor, LobeSample, Lobes, Place, Scatter, SurfaceClosure, clean, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct ConductorLobe {
    eta: Vec3,
    k: Vec3,
    pub frame: Frame,
    facets: Ggx,
    /// Makes up for light that meets several facets.
    compensation: Vec3,
    name: &'static str,
}

impl Conductor {
    pub fn lobe(&self, gnormal: Vec3, wo: Vec3) -> ConductorLobe {
        let frame = Frame::about(reflecting(self.normal, gnormal, wo));
        ConductorLobe::new("Conductor", (self.eta, self.k), frame, Ggx::of_roughness(self.roughness), wo)
    }
}

impl SurfaceClosure for Conductor {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place.gnormal, place.wo));
    }
}

impl Scatter for ConductorLobe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval(o, self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, half)| self.scattered(o.dot(half)) * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval_and_pdf(o, self.frame.to_local(wi));
        found.map_or((Vec3::ZERO, 0.0), |(value, half, pdf)| (self.scattered(o.dot(half)) * value, pdf))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let drawn = self.facets.sample(o, u)?;
        let wi = self.frame.to_world(drawn.wi).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.scattered(o.dot(drawn.half)) * self.facets.weight(o, drawn.wi);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    /// Seen straight from the front.
    fn albedo(&self) -> Vec3 {
        self.reflectance(1.0)
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

impl ConductorLobe {
    /// That of the closure `name`, of the index η + ik.
    pub fn new(
        name: &'static str,
        (eta, k): ([f32; 3], [f32; 3]),
        frame: Frame,
        facets: Ggx,
        wo: Vec3,
    ) -> ConductorLobe {
        // Squares of larger ones would not fit.
        let (eta, k) = (clean(eta).min(Vec3::splat(1e6)), clean(k).min(Vec3::splat(1e6)));
        let compensation = energy::compensation(&facets, frame.to_local(wo), fresnel::conductor(1.0, eta, k));
        ConductorLobe { eta, k, frame, facets, compensation, name }
    }

    fn scattered(&self, cosine: f32) -> Vec3 {
        self.reflectance(cosine) * self.compensation
    }

    fn reflectance(&self, cosine: f32) -> Vec3 {
        fresnel::conductor(cosine.clamp(0.0, 1.0), self.eta, self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::harness;

    #[test]
    fn passes_the_harness_at_several_roughnesses() {
        for (roughness, eta) in [(0.4, 0.2), (0.7, 1.5), (1.0, 3.0)] {
            let lobe = |pose: &harness::Pose| {
                let normal = pose.normal.to_array();
                harness::only_lobe(&Conductor { eta: [eta; 3], k: [3.9, 2.4, 2.1], normal, roughness }, pose)
            };
            harness::check_one_way(&format!("Conductor {roughness}"), &lobe);
        }
    }

    /// What absorbs nothing is as bright as what it stands in, rough or not.
    #[test]
    fn a_white_furnace_hides_a_lossless_one() {
        for (wo, roughness) in
            harness::directions().into_iter().flat_map(|wo| (0..=10).map(move |r| (wo, r as f32 / 10.0)))
        {
            let pose = harness::Pose::upright(wo);
            let metal = Conductor { eta: [0.0; 3], k: [1.0; 3], normal: [0.0, 0.0, 1.0], roughness };
            let albedo = harness::albedo(&harness::only_lobe(&metal, &pose), wo);
            assert!((albedo - 1.0).abs() < 2e-3, "{roughness} at {wo}: {albedo}");
        }
    }

    /// A smooth one reflects what Fresnel's equations say, in the mirror's direction.
    #[test]
    fn a_smooth_one_is_a_mirror_of_its_metal() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let (eta, k) = ([0.14, 0.37, 1.44], [3.98, 2.38, 1.6]);
        let lobe = Conductor { eta, k, normal: [0.0, 0.0, 1.0], roughness: 0.0 }.lobe(Vec3::Z, wo);
        let s = lobe.sample(wo, Vec2::new(0.3, 0.4)).expect("above the surface");
        assert!((s.wi - Vec3::new(-0.6, 0.0, 0.8)).length() < 0.01);
        assert!((s.weight - fresnel::conductor(0.8, eta.into(), k.into())).abs().max_element() < 2e-3, "{}", s.weight);
    }
}
