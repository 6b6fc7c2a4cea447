//! [`Coat`] in Rust.

use super::rough_boundary::RoughBoundary;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{Coat, Lobes, Place, Scatter, SurfaceClosure, bounded, clean, reflecting};
use crate::math::Frame;
use glam::Vec3;

impl Coat {
    fn ior(&self) -> f32 {
        bounded(self.ior, 1.0, 10.0, 1.0)
    }

    fn weight(&self) -> f32 {
        bounded(self.weight, 0.0, 1.0, 0.0)
    }

    fn boundary(&self, place: &Place) -> RoughBoundary {
        let frame = Frame::about(reflecting(self.normal, place.gnormal, place.wo));
        RoughBoundary::new("Coat", frame, Ggx::of_roughness(self.roughness), self.ior(), place.wo)
    }
}

impl SurfaceClosure for Coat {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::splat(self.weight()), self.boundary(place));
    }

    fn beneath(&self, place: &Place, _parameter: usize) -> Vec3 {
        let boundary = self.boundary(place);
        let cosine = place.wo.dot(boundary.normal());
        let through = (1.0 - boundary.reflected) * absorbed(clean(self.tint), cosine, self.ior());
        Vec3::ONE.lerp(through, self.weight())
    }
}

/// What a layer leaves of light that goes through it twice, if it leaves `tint` straight on.
pub fn absorbed(tint: Vec3, cosine: f32, ior: f32) -> Vec3 {
    let tint = tint.min(Vec3::ONE);
    if tint == Vec3::ONE {
        return tint;
    }
    let refracted = (1.0 - (1.0 - cosine * cosine).max(0.0) / (ior * ior)).max(1e-4).sqrt();
    tint.powf(1.0 / refracted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{BentNormals, Bsdf, Lambert, WeightedLobe, harness};

    const N: [f32; 3] = [0.0, 0.0, 1.0];

    fn coat(roughness: f32, ior: f32) -> Coat {
        let base = ssl_compiler::runtime::Beneath;
        Coat { ior, roughness, tint: [1.0; 3], weight: 1.0, normal: N, base }
    }

    fn place(wo: Vec3) -> Place {
        Place { wo, gnormal: Vec3::Z, inside: false }
    }

    /// A coat over a white Lambert, as a shader's table holds them.
    fn coated(coat: Coat, wo: Vec3) -> Vec<WeightedLobe> {
        let mut list = Vec::new();
        let mut lobes = Lobes::new(&mut list);
        coat.scatter(&place(wo), &mut lobes);
        lobes.set_weight(coat.beneath(&place(wo), 5));
        Lambert { albedo: [1.0; 3], normal: N }.scatter(&place(wo), &mut lobes);
        list
    }

    #[test]
    fn passes_the_harness_at_several_roughnesses() {
        for (roughness, ior) in [(0.4, 1.3), (0.7, 1.5), (1.0, 2.5)] {
            let make = |pose: &harness::Pose| {
                harness::only_lobe(&Coat { normal: pose.normal.to_array(), ..coat(roughness, ior) }, pose)
            };
            harness::check(&format!("Coat {roughness}"), &make);
        }
    }

    /// Integrated by the harness's independent samples, not by the table that shares the light out.
    #[test]
    fn over_white_paint_it_loses_and_gains_nothing() {
        for roughness in [0.0, 0.1, 0.25, 0.5, 0.8, 1.0] {
            for ior in [1.0, 1.5, 2.2] {
                for wo in harness::directions() {
                    let list = coated(coat(roughness, ior), wo);
                    let each = list.iter().map(|l| l.weight.x * harness::albedo(&l.lobe, wo));
                    let all: f32 = each.sum();
                    assert!((all - 1.0).abs() < 0.01, "{roughness} {ior} {wo}: {all}");
                    let bsdf =
                        Bsdf { lobes: &list, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
                    assert!((bsdf.directional_albedo().x - 1.0).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn its_weight_and_tint_scale_what_is_beneath() {
        // Straight on the light's way is as long as the varnish is thick, at 60° 1/cos θt as long.
        for (cosine, way) in [(1.0_f32, 1.0), (0.5, 1.0 / (1.0_f32 - 0.75 / 2.25).sqrt())] {
            let wo = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
            let tinted = Coat { tint: [0.5, 1.0, 0.0], ..coat(0.0, 1.5) };
            let passing = 1.0 - crate::bsdf::fresnel::dielectric(cosine, 1.5).0;
            let expected = Vec3::new(passing * 0.5_f32.powf(way), passing, 0.0);
            assert!((tinted.beneath(&place(wo), 5) - expected).abs().max_element() < 2e-3);
            let half = Coat { weight: 0.5, ..tinted }.beneath(&place(wo), 5);
            assert!((half - (expected + 1.0) / 2.0).abs().max_element() < 2e-3);
        }
    }

    #[test]
    fn what_is_no_number_passes_all_the_light() {
        let broken =
            Coat { ior: f32::NAN, roughness: f32::NAN, tint: [f32::NAN; 3], weight: f32::NAN, ..coat(0.0, 1.5) };
        assert_eq!(broken.beneath(&place(Vec3::Z), 5), Vec3::ONE);
        let mut list = Vec::new();
        broken.scatter(&place(Vec3::Z), &mut Lobes::new(&mut list));
        assert!(list.is_empty());
    }
}
