//! All directions into which smooth surfaces send light, without random numbers.

use super::{Bsdf, BsdfSample};
use smallvec::SmallVec;

impl Bsdf<'_> {
    /// Every direction of all specular lobes, on the sides of the geometric surface that they are meant for. The weights
    /// add up to those of the samples.
    pub fn specular(&self) -> SmallVec<[BsdfSample; 4]> {
        let mut all = SmallVec::new();
        for l in self.all() {
            for drawn in l.lobe.specular_directions(self.wo) {
                if let Some((drawn, weight)) = self.settled(l.lobe, drawn) {
                    all.push(l.specular_sample(&drawn, weight));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BentNormals, Dielectric, Lambert, Mirror, WeightedLobe};
    use super::*;
    use crate::bsdf::Scatter;
    use crate::sampler::Sampler;
    use glam::Vec3;

    /// The mean of what sampling brings in each direction is what is listed.
    #[test]
    fn samples_bring_what_is_listed() {
        let n = [0.0, 0.0, 1.0];
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let glass = Dielectric { transmittance: [0.9, 0.5, 0.1], normal: n, ior: 1.5 }.lobe(Vec3::Z, wo, false);
        let mirror = Mirror { reflectance: [0.2, 0.4, 0.6], normal: n }.lobe(Vec3::Z, wo);
        let lobes = [
            WeightedLobe::new(glass, Vec3::splat(0.5)),
            WeightedLobe::new(mirror, Vec3::splat(0.3)),
            WeightedLobe::new(Lambert { albedo: [0.3; 3], normal: n }.lobe(Vec3::Z), Vec3::ONE),
        ];
        let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
        let listed = bsdf.specular();
        assert_eq!(listed.len(), 3);
        let (mut up, mut down) = (Vec3::ZERO, Vec3::ZERO);
        const N: u32 = 1 << 14;
        for i in 0..N {
            let mut s = Sampler::new(3, (0, 0), i);
            let Some(drawn) = bsdf.sample(s.next_2d()).filter(|b| b.specular.is_some()) else { continue };
            *(if drawn.wi.z > 0.0 { &mut up } else { &mut down }) += drawn.weight / N as f32;
        }
        let sum = |upwards: bool| listed.iter().filter(|s| (s.wi.z > 0.0) == upwards).map(|s| s.weight).sum::<Vec3>();
        assert!((up - sum(true)).abs().max_element() < 2e-3, "{up} {}", sum(true));
        assert!((down - sum(false)).abs().max_element() < 2e-3, "{down} {}", sum(false));
    }

    #[test]
    fn past_the_critical_angle_there_is_one_way() {
        let wo = Vec3::new(0.8, 0.0, 0.6);
        let glass = Dielectric { transmittance: [1.0; 3], normal: [0.0, 0.0, 1.0], ior: 1.5 }.lobe(Vec3::Z, wo, true);
        let ways = glass.specular_directions(wo);
        assert!(ways.len() == 1 && ways[0].weight == Vec3::ONE && ways[0].wi.z > 0.0);
    }
}
