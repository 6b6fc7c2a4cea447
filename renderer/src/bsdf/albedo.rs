//! Directional albedos without noise: the share of light from all sides that a lobe scatters towards the viewer.

use super::{Bsdf, LobeSample};
use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;

/// So many points over the unit square: steps by the golden ratio one way, evenly the other.
pub fn lattice(points: u32) -> impl Iterator<Item = Vec2> {
    /// Over 2³².
    const GOLDEN: u32 = 0x9e37_79b9;
    let fraction = |i: u32| (i.wrapping_mul(GOLDEN).wrapping_add(1 << 31) >> 8) as f32 / (1 << 24) as f32;
    (0..points).map(move |i| Vec2::new(fraction(i), (i as f32 + 0.5) / points as f32))
}

/// Points of the lattice for a mean.
const POINTS: u32 = 64;

impl LobeSample {
    /// Its weight as energy, without the scale of radiance in glass.
    pub fn energy(&self) -> Vec3 {
        self.weight * self.refracted.map_or(1.0, |r| r.eta * r.eta)
    }
}

/// The mean of the weights of samples, taken at the points of a fixed lattice.
pub fn mean_weight(sample: impl Fn(Vec2) -> Option<LobeSample>) -> Vec3 {
    let sum: Vec3 = lattice(POINTS).filter_map(sample).map(|s| s.energy()).sum();
    sum / POINTS as f32
}

/// Likewise of a lobe that draws for several points at once. If its first samples weigh the same, as those of a Lambertian one do,
/// so do all.
pub fn mean_of<L: IntoIterator<Item = Option<LobeSample>>>(samples: impl Fn(&[Vec2]) -> L) -> Vec3 {
    // The first block is spread over the whole square.
    const APART: usize = POINTS as usize / LANES;
    let mut points: SmallVec<[Vec2; POINTS as usize]> = lattice(POINTS).collect();
    (1..LANES).for_each(|lane| points.swap(lane, lane * APART));
    let energies = |some: &[Vec2]| -> SmallVec<[Vec3; LANES]> {
        samples(some).into_iter().map(|s| s.map_or(Vec3::ZERO, |s| s.energy())).collect()
    };
    let (first, others) = points.split_at(LANES);
    let first = energies(first);
    if first.iter().all(|energy| *energy == first[0]) {
        return first[0];
    }
    let others = others.chunks(LANES).flat_map(energies);
    first.into_iter().chain(others).sum::<Vec3>() / POINTS as f32
}

impl Bsdf<'_> {
    /// The sum of the lobes' directional albedos.
    pub fn directional_albedo(&self) -> Vec3 {
        self.all().map(|l| l.weight * l.lobe.directional_albedo(self.wo)).sum()
    }

    /// The lobes' normals by their shares of the light, on the side of `wo`; `None` where there are no lobes.
    pub fn mean_normal(&self) -> Option<Vec3> {
        let sum: Vec3 = self.all().map(|l| l.lobe.normal() * l.choice).sum();
        sum.try_normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        BentNormals, Conductor, Dielectric, Glossy, Lambert, Lobe, Mirror, WeightedLobe, fresnel, harness,
    };
    use super::*;
    use std::f32::consts::TAU;

    const N: [f32; 3] = [0.0, 0.0, 1.0];

    /// ∫ eval dωi over directions evenly spread in solid angle.
    fn over_the_hemisphere(lobe: &Lobe, wo: Vec3) -> f32 {
        const M: u32 = 400;
        let of = |i: u32| {
            let (z, phi) = (((i % M) as f32 + 0.5) / M as f32, ((i / M) as f32 + 0.5) / M as f32 * TAU);
            let r = (1.0 - z * z).sqrt();
            f64::from(lobe.eval(wo, Vec3::new(r * phi.cos(), r * phi.sin(), z)).x)
        };
        ((0..M * M).map(of).sum::<f64>() / f64::from(M * M)) as f32 * TAU
    }

    #[test]
    fn rough_lobes_scatter_what_uniform_directions_find() {
        for wo in harness::directions() {
            for roughness in [0.5, 0.7, 1.0] {
                let glossy = Lobe::new(Glossy { reflectance: [1.0; 3], normal: N, roughness }.lobe(Vec3::Z, wo));
                let metal = Conductor { eta: [0.2; 3], k: [3.9; 3], normal: N, roughness };
                let metal = Lobe::new(metal.lobe(Vec3::Z, wo));
                for lobe in [glossy, metal] {
                    let (found, expected) = (lobe.directional_albedo(wo).x, over_the_hemisphere(&lobe, wo));
                    assert!((found - expected).abs() < 0.015, "{wo} {roughness}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn glass_keeps_what_it_does_not_tint() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let glass =
            |inside| Dielectric { transmittance: [1.0, 0.5, 0.0], normal: N, ior: 1.5 }.lobe(Vec3::Z, wo, inside);
        for inside in [false, true] {
            let reflected = fresnel::dielectric(0.8, if inside { 1.0 / 1.5 } else { 1.5 }).0;
            let expected = Vec3::new(1.0, 0.5 + 0.5 * reflected, reflected);
            let found = Lobe::new(glass(inside)).directional_albedo(wo);
            assert!((found - expected).abs().max_element() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn weights_count_and_normals_are_by_share() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let tilted = Lambert { albedo: [0.5; 3], normal: [1.0, 0.0, 0.0] };
        let lobes = [
            WeightedLobe::new(tilted.lobe(Vec3::Z), Vec3::ONE),
            WeightedLobe::new(Mirror { reflectance: [1.0, 0.5, 0.0], normal: N }.lobe(Vec3::Z, wo), Vec3::splat(0.5)),
        ];
        let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
        assert_eq!(bsdf.directional_albedo(), Vec3::new(1.0, 0.75, 0.5));
        let normal = bsdf.mean_normal().expect("there are lobes");
        assert!((normal - Vec3::new(1.0, 0.0, 1.0).normalize()).length() < 1e-6);
        assert_eq!(
            Bsdf { lobes: &[], wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() }.mean_normal(),
            None
        );
    }
}
