//! [`Mirror`] in Rust.

use crate::bsdf::{LobeSample, Lobes, Mirror, Place, Scatter, SurfaceClosure, reflectance, reflecting};
use glam::{Vec2, Vec3};
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug)]
pub struct MirrorLobe {
    pub reflectance: Vec3,
    pub normal: Vec3,
}

impl Mirror {
    /// The normal is bent where it would reflect `wo` into the surface.
    pub fn lobe(&self, gnormal: Vec3, wo: Vec3) -> MirrorLobe {
        MirrorLobe { reflectance: reflectance(self.reflectance), normal: reflecting(self.normal, gnormal, wo) }
    }
}

impl SurfaceClosure for Mirror {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place.gnormal, place.wo));
    }
}

impl Scatter for MirrorLobe {
    fn name(&self) -> &'static str {
        "Mirror"
    }

    fn eval(&self, _wo: Vec3, _wi: Vec3) -> Vec3 {
        Vec3::ZERO
    }

    fn pdf(&self, _wo: Vec3, _wi: Vec3) -> f32 {
        0.0
    }

    fn sample(&self, wo: Vec3, _u: Vec2) -> Option<LobeSample> {
        let wi = reflect(wo, self.normal).try_normalize()?;
        Some(LobeSample { wi, weight: self.reflectance, pdf: 1.0, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.reflectance
    }

    fn normal(&self) -> Vec3 {
        self.normal
    }

    fn is_specular(&self) -> bool {
        true
    }

    fn specular_directions(&self, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        self.sample(wo, Vec2::ZERO).into_iter().collect()
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.reflectance
    }
}

fn reflect(wo: Vec3, n: Vec3) -> Vec3 {
    n * (2.0 * wo.dot(n)) - wo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflects_about_the_normal_and_never_into_the_surface() {
        let gnormal = Vec3::Z;
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let flat = Mirror { reflectance: [0.9; 3], normal: [0.0, 0.0, 1.0] }.lobe(gnormal, wo);
        let s = flat.sample(wo, Vec2::ZERO).expect("a mirror always reflects");
        assert!((s.wi - Vec3::new(-0.6, 0.0, 0.8)).length() < 1e-6);
        for wo in crate::bsdf::harness::directions() {
            for n in [[0.9, 0.0, 0.2], [-0.8, 0.3, 0.1], [0.0, 0.99, 0.05]] {
                let lobe = Mirror { reflectance: [1.0; 3], normal: n }.lobe(gnormal, wo);
                assert!(lobe.sample(wo, Vec2::ZERO).expect("as above").wi.z > 0.0, "{wo} {n:?}");
            }
        }
    }
}
