//! [`Dielectric`] in Rust.

use crate::bsdf::fresnel;
use crate::bsdf::{
    Dielectric, LobeSample, Lobes, Place, Reach, Refraction, Scatter, SurfaceClosure, bounded, reflectance, reflecting,
};
use glam::{Vec2, Vec3};
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug)]
pub struct DielectricLobe {
    pub transmittance: Vec3,
    /// On the side of `wo`.
    pub normal: Vec3,
    /// The index on the other side over that on the side of `wo`.
    eta: f32,
}

impl Dielectric {
    /// `inside`: `wo` is in what lies behind the surface.
    pub fn lobe(&self, gnormal: Vec3, wo: Vec3, inside: bool) -> DielectricLobe {
        let ior = bounded(self.ior, 1.0, 10.0, 1.0);
        DielectricLobe {
            transmittance: reflectance(self.transmittance),
            normal: reflecting(self.normal, gnormal, wo),
            eta: if inside { 1.0 / ior } else { ior },
        }
    }
}

impl SurfaceClosure for Dielectric {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place.gnormal, place.wo, place.inside));
    }
}

impl Scatter for DielectricLobe {
    fn name(&self) -> &'static str {
        "Dielectric"
    }

    fn eval(&self, _wo: Vec3, _wi: Vec3) -> Vec3 {
        Vec3::ZERO
    }

    fn pdf(&self, _wo: Vec3, _wi: Vec3) -> f32 {
        0.0
    }

    /// Reflects with the probability of what is reflected, else refracts.
    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let cosine = wo.dot(self.normal).clamp(0.0, 1.0);
        let (reflected, refracted_cosine) = fresnel::dielectric(cosine, self.eta);
        if u.x < reflected { self.reflect(wo, cosine) } else { self.refract(wo, cosine, refracted_cosine) }
    }

    fn albedo(&self) -> Vec3 {
        // What is reflected is not tinted, so it is never nothing.
        self.transmittance.max(Vec3::splat(0.1))
    }

    fn normal(&self) -> Vec3 {
        self.normal
    }

    fn reach(&self) -> Reach {
        Reach::Both
    }

    fn is_specular(&self) -> bool {
        true
    }

    /// What is reflected and what is refracted, each weighed by its share.
    fn specular_directions(&self, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        let cosine = wo.dot(self.normal).clamp(0.0, 1.0);
        let (reflected, refracted_cosine) = fresnel::dielectric(cosine, self.eta);
        let refracted = if reflected < 1.0 { self.refract(wo, cosine, refracted_cosine) } else { None };
        let both = [(self.reflect(wo, cosine), reflected), (refracted, 1.0 - reflected)];
        both.into_iter().filter_map(|(s, share)| s.map(|s| LobeSample { weight: s.weight * share, ..s })).collect()
    }

    /// The share that is reflected, and what the surface lets through of the rest.
    fn directional_albedo(&self, wo: Vec3) -> Vec3 {
        let (reflected, _) = fresnel::dielectric(wo.dot(self.normal).clamp(0.0, 1.0), self.eta);
        reflected + (1.0 - reflected) * self.transmittance
    }
}

impl DielectricLobe {
    fn reflect(&self, wo: Vec3, cosine: f32) -> Option<LobeSample> {
        let wi = (self.normal * (2.0 * cosine) - wo).try_normalize()?;
        Some(LobeSample { wi, weight: Vec3::ONE, pdf: 1.0, refracted: None })
    }

    fn refract(&self, wo: Vec3, cosine: f32, refracted_cosine: f32) -> Option<LobeSample> {
        // Snell: the part along the surface shrinks by η.
        let along = (self.normal * cosine - wo) / self.eta;
        let wi = (along - self.normal * refracted_cosine).try_normalize()?;
        let weight = self.transmittance / (self.eta * self.eta);
        Some(LobeSample { wi, weight, pdf: 1.0, refracted: Some(Refraction { eta: self.eta }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glass(wo: Vec3, inside: bool) -> DielectricLobe {
        Dielectric { transmittance: [1.0; 3], normal: [0.0, 0.0, 1.0], ior: 1.5 }.lobe(Vec3::Z, wo, inside)
    }

    /// Snell's law, Fresnel's shares, and the way back.
    #[test]
    fn refracts_by_snells_law_and_back() {
        for i in 1..100 {
            let sin = i as f32 / 100.0;
            let wo = Vec3::new(sin, 0.0, (1.0 - sin * sin).sqrt());
            let s = glass(wo, false).sample(wo, Vec2::splat(0.9999)).expect("most is refracted");
            let Some(Refraction { eta }) = s.refracted else { panic!("{sin}: reflected") };
            assert!(eta == 1.5 && (s.wi.x + sin / 1.5).abs() < 1e-6 && s.wi.z < 0.0);
            assert!((s.weight.x - 1.0 / 2.25).abs() < 1e-6);
            // From inside, with the normal on that side.
            let back = Dielectric { transmittance: [1.0; 3], normal: [0.0, 0.0, 1.0], ior: 1.5 };
            let back = back.lobe(Vec3::NEG_Z, s.wi, true).sample(s.wi, Vec2::splat(0.9999)).expect("it leaves");
            assert!((back.wi - wo).length() < 1e-3, "{sin}: {} {wo}", back.wi);
            assert!((back.weight.x - 2.25).abs() < 1e-5);
        }
    }

    #[test]
    fn as_much_is_reflected_as_fresnel_says_and_all_past_the_critical_angle() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        const N: u32 = 10_000;
        let count = (0..N).filter(|i| {
            let u = (*i as f32 + 0.5) / N as f32;
            glass(wo, false).sample(wo, Vec2::new(u, 0.5)).is_some_and(|s| s.refracted.is_none())
        });
        let share = count.count() as f32 / N as f32;
        assert!((share - fresnel::dielectric(0.8, 1.5).0).abs() < 2e-4, "{share}");
        let steep = Vec3::new(0.8, 0.0, 0.6);
        let s = glass(steep, true).sample(steep, Vec2::splat(0.9999)).expect("all is reflected");
        assert!(s.refracted.is_none() && (s.wi - Vec3::new(-0.8, 0.0, 0.6)).length() < 1e-6);
    }
}
