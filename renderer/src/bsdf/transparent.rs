//! `Transparent(color transmittance)`: a hole or a color filter: light passes straight through.
//!
//! | parameter | what |
//! | --- | --- |
//! | transmittance | share of the light that passes, 0 to 1 per channel |
//!
//! For leaves and grids that a texture cuts out, `mix` it with the solid closure by the texture. It neither refracts nor
//! reflects; for glass, use `Dielectric`.

use super::{LobeSample, Lobes, Place, Reach, Refraction, Scatter, SurfaceClosure, reflectance};
use glam::{Vec2, Vec3};
use smallvec::SmallVec;

ssl_compiler::closure_type! {
    /// A surface that light passes straight, as shaders make it.
    pub struct Transparent { transmittance: color in (0.0..=1.0) = [1.0; 3] }
}

#[derive(Clone, Copy, Debug)]
pub struct TransparentLobe {
    transmittance: Vec3,
    /// The geometric normal, on the side of `wo`.
    normal: Vec3,
}

impl SurfaceClosure for Transparent {
    const PASSES: bool = true;

    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let transmittance = reflectance(self.transmittance);
        lobes.add(Vec3::ONE, TransparentLobe { transmittance, normal: place.gnormal });
    }
}

impl Scatter for TransparentLobe {
    fn name(&self) -> &'static str {
        "Transparent"
    }

    fn eval(&self, _wo: Vec3, _wi: Vec3) -> Vec3 {
        Vec3::ZERO
    }

    fn pdf(&self, _wo: Vec3, _wi: Vec3) -> f32 {
        0.0
    }

    fn sample(&self, wo: Vec3, _u: Vec2) -> Option<LobeSample> {
        let refracted = Some(Refraction { eta: 1.0 });
        Some(LobeSample { wi: -wo, weight: self.transmittance, pdf: 1.0, refracted })
    }

    fn albedo(&self) -> Vec3 {
        self.transmittance
    }

    fn normal(&self) -> Vec3 {
        self.normal
    }

    fn reach(&self) -> Reach {
        Reach::Transmits
    }

    fn is_specular(&self) -> bool {
        true
    }

    fn is_straight(&self) -> bool {
        true
    }

    fn specular_directions(&self, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        self.sample(wo, Vec2::ZERO).into_iter().collect()
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.transmittance
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BentNormals, Bsdf, harness};
    use super::*;

    #[test]
    fn light_goes_straight_on_tinted() {
        let tint = Vec3::new(1.0, 0.5, 0.25);
        for wo in harness::directions() {
            let mut lobes = Vec::new();
            let half = &mut Lobes::new(&mut lobes);
            half.set_weight(Vec3::splat(0.5));
            Transparent { transmittance: tint.to_array() }.scatter(&harness::Pose::upright(wo).place(), half);
            assert!(lobes[0].lobe.is_straight() && lobes[0].lobe.is_specular());
            let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
            let s = bsdf.sample(Vec2::new(0.1, 0.9)).expect("all of it passes");
            assert_eq!((s.wi, s.weight, s.refracted), (-wo, tint * 0.5, Some(Refraction { eta: 1.0 })));
            assert_eq!(bsdf.specular()[0].weight, tint * 0.5);
            assert_eq!(bsdf.directional_albedo(), tint * 0.5);
            assert_eq!(bsdf.eval(-wo), (Vec3::ZERO, 0.0));
        }
    }

    /// More than all would be light from nowhere.
    #[test]
    fn no_light_is_added() {
        let lobe =
            harness::only_lobe(&Transparent { transmittance: [7.0, f32::NAN, -1.0] }, &harness::Pose::upright(Vec3::Z));
        assert_eq!(lobe.directional_albedo(Vec3::Z), Vec3::new(1.0, 0.0, 0.0));
    }
}
