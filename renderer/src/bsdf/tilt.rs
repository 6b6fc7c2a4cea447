//! What becomes of the light that a lobe about a bent normal would send through the surface.
//!
//! An interpolated or bumped normal n is not the geometric one g, so part of what a lobe scatters would go below the
//! surface, and dropping it would darken the facets of a coarse mesh. Two things keep the energy:
//!
//! - A diffuse lobe is made brighter by what a Lambertian one loses, 2/(1 + n·g). So irradiance stays as smooth over
//!   facets as the normals are, up to the terminator.
//! - Of other lobes, directions that end on the wrong side of the surface are mirrored by it: the surface between the bumps
//!   is a mirror, as in Schüssler, Heitz, Hanika and Dachsbacher, "Microfacet-based normal mapping for robust Monte Carlo path
//!   tracing" (SIGGRAPH Asia 2017), without their masking. What is left of the lobe adds up to what it was.
//!
//! Neither is reciprocal; shading normals are not either.

use super::{Bsdf, LobeSample, Reach};
use crate::bsdf::Lobe;
use glam::Vec3;

/// A direction on the side of the surface that it is meant for.
pub struct Settled {
    pub wi: Vec3,
    /// Above the geometric surface, on the side of `wo`.
    pub height: f32,
    /// It was mirrored by the surface to get there.
    pub mirrored: bool,
}

impl Bsdf<'_> {
    /// Where a lobe's sample goes; `None` where it goes nowhere.
    pub(super) fn settled(&self, lobe: &Lobe, drawn: &LobeSample) -> Option<Settled> {
        let height = drawn.wi.dot(self.gnormal);
        let meant = if drawn.refracted.is_some() { -height } else { height };
        if meant > 0.0 {
            return Some(Settled { wi: drawn.wi, height, mirrored: false });
        }
        let lost = height == 0.0 || lobe.is_straight() || lobe.is_diffuse();
        (!lost).then(|| Settled { wi: mirrored(drawn.wi, height, self.gnormal), height: -height, mirrored: true })
    }

    /// What a lobe that is not specular has in a direction `height` above the geometric surface, and its density there.
    /// `known` is what the lobe alone has.
    pub(super) fn of_lobe(&self, lobe: &Lobe, wi: Vec3, height: f32, known: Option<(Vec3, f32)>) -> (Vec3, f32) {
        let (normal, reach) = (lobe.normal(), lobe.reach());
        let reached = match reach {
            Reach::Reflects => height > 0.0,
            Reach::Transmits => height < 0.0,
            Reach::Both => true,
        };
        if !reached {
            return (Vec3::ZERO, 0.0);
        }
        let own = reach != Reach::Both || height * wi.dot(normal) > 0.0;
        let of = |wi| lobe.eval_and_pdf(self.wo, wi);
        let (value, pdf) = if own { known.unwrap_or_else(|| of(wi)) } else { (Vec3::ZERO, 0.0) };
        if lobe.is_diffuse() {
            return (value * gain(normal, self.gnormal), pdf);
        }
        // The direction that the surface mirrors to this one, where the lobe takes it for one of this side.
        let other = mirrored(wi, height, self.gnormal);
        if other.dot(normal) * height <= 0.0 {
            return (value, pdf);
        }
        let (more, density) = of(other);
        (value + more, pdf + density)
    }
}

fn mirrored(wi: Vec3, height: f32, gnormal: Vec3) -> Vec3 {
    wi - gnormal * (2.0 * height)
}

/// One over the share of a Lambertian lobe that is above the surface. Both normals are on one side.
fn gain(normal: Vec3, gnormal: Vec3) -> f32 {
    2.0 / (1.0 + normal.dot(gnormal).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::{
        Glossy, Lambert, Lobes, Mirror, OrenNayar, Place, RoughDielectric, SurfaceClosure, Translucent, WeightedLobe,
    };
    use super::*;
    use crate::math::uniform_cone;
    use crate::sampler::Sampler;

    const N: u32 = 1 << 13;

    /// The mean weight of samples, and the integral of `eval` over the sphere.
    fn both_ways(bsdf: &Bsdf<'_>) -> (Vec3, Vec3) {
        let (mut sampled, mut summed) = (Vec3::ZERO, Vec3::ZERO);
        for i in 0..N {
            let mut s = Sampler::new(5, (2, 3), i);
            let (pick, u) = (s.next_1d(), s.next_2d());
            if let Some(sample) = bsdf.sample(pick, u) {
                let side = sample.wi.dot(bsdf.gnormal);
                assert!(if sample.refracted.is_some() { side < 0.0 } else { side > 0.0 });
                assert!((sample.wi.length() - 1.0).abs() < 1e-5);
                sampled += sample.weight / N as f32;
            }
            summed += bsdf.eval(uniform_cone(s.next_2d(), 2.0)).0 * (4.0 * std::f32::consts::PI / N as f32);
        }
        (sampled, summed)
    }

    fn lobes(closure: &impl SurfaceClosure, wo: Vec3) -> Vec<WeightedLobe> {
        let mut list = Vec::new();
        closure.scatter(&Place { wo, gnormal: Vec3::Z, inside: false }, &mut Lobes::new(&mut list));
        list
    }

    /// Each white closure about normals that are bent by so many degrees, seen from several sides, in a furnace: nothing is
    /// lost. What is drawn is what there is.
    #[test]
    fn nothing_is_lost_about_bent_normals() {
        for degrees in [0.0_f32, 5.0, 20.0, 40.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            for wo in [Vec3::Z, Vec3::new(0.5, 0.2, 0.6), Vec3::new(-0.8, 0.1, 0.5), Vec3::new(-0.1, -0.9, 0.2)] {
                let (wo, normal) = (wo.normalize(), [sin, 0.0, cos]);
                let (white, roughness) = ([1.0; 3], 0.5);
                let all = [
                    ("Lambert", lobes(&Lambert { albedo: white, normal }, wo), 0.01),
                    ("Translucent", lobes(&Translucent { transmittance: white, normal }, wo), 0.01),
                    // Not quite as a Lambertian one over its directions.
                    ("OrenNayar", lobes(&OrenNayar { albedo: white, normal, roughness }, wo), 0.08),
                    ("Glossy", lobes(&Glossy { reflectance: white, normal, roughness }, wo), 0.03),
                    ("Mirror", lobes(&Mirror { reflectance: white, normal }, wo), 1e-4),
                ];
                for (name, lobes, tolerance) in all {
                    let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z };
                    let (sampled, summed) = both_ways(&bsdf);
                    let told = format!("{name}, {degrees}°, {wo}: {} {}", sampled.x, summed.x);
                    assert!((sampled.x - 1.0).abs() < tolerance, "{told}");
                    assert!(name == "Mirror" || (sampled.x - summed.x).abs() < 0.05, "{told}");
                }
                // Light that enters glass is less by the square of the index: only drawn and summed are compared.
                let glass = lobes(
                    &RoughDielectric { reflectance: white, transmittance: white, normal, roughness, ior: 1.5 },
                    wo,
                );
                let (sampled, summed) = both_ways(&Bsdf { lobes: &glass, wo, gnormal: Vec3::Z });
                assert!((sampled.x - summed.x).abs() < 0.05, "glass, {degrees}°, {wo}: {} {}", sampled.x, summed.x);
            }
        }
    }

    /// Several lobes together, of which each may have drawn what another has, too.
    #[test]
    fn sums_about_bent_normals_are_sampled_as_they_are() {
        let (normal, wo) = ([0.4, 0.1, 0.8], Vec3::new(-0.6, 0.3, 0.5).normalize());
        let mut list = lobes(&Lambert { albedo: [0.5; 3], normal }, wo);
        list.extend(lobes(&Glossy { reflectance: [0.9, 0.5, 0.3], normal, roughness: 0.4 }, wo));
        list.extend(lobes(
            &RoughDielectric { reflectance: [1.0; 3], transmittance: [0.8; 3], normal, roughness: 0.6, ior: 1.3 },
            wo,
        ));
        let (sampled, summed) = both_ways(&Bsdf { lobes: &list, wo, gnormal: Vec3::Z });
        assert!((sampled - summed).abs().max_element() < 0.05, "{sampled} {summed}");
    }
}
