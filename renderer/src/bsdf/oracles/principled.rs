//! [`Principled`] in Rust.

use super::clear_coat::ClearCoat;
use super::principled_diffuse::PrincipledDiffuse;
use super::principled_gloss::{PrincipledGloss, Reflectance};
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{Lobes, Place, Principled, RoughDielectric, SurfaceClosure, bounded, reflectance, reflecting};
use crate::math::{Frame, luminance};
use glam::{Vec2, Vec3};

fn unit(x: f32) -> f32 {
    bounded(x, 0.0, 1.0, 0.0)
}

impl SurfaceClosure for Principled {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let color = reflectance(self.base_color);
        let frame = Frame::along(reflecting(self.normal, place.gnormal, place.wo), self.tangent.into());
        let (metallic, transmission) = (unit(self.metallic), unit(self.transmission));
        let glass = (1.0 - metallic) * transmission;
        let opaque = 1.0 - glass;
        if glass < 1.0 {
            let diffuse = self.diffuse(color, (1.0 - metallic) * (1.0 - transmission), frame);
            if diffuse.color != Vec3::ZERO || diffuse.sheen != Vec3::ZERO {
                lobes.add(Vec3::ONE, diffuse);
            }
            // Glass reflects by itself.
            lobes.add(Vec3::ONE, self.gloss(color, opaque, frame, place.wo));
            lobes.add(
                Vec3::splat(opaque * unit(self.clearcoat)),
                ClearCoat::of_gloss(unit(self.clearcoat_gloss), frame),
            );
        }
        if glass > 0.0 {
            lobes.add_closure(Vec3::splat(glass), &self.glass(color), place);
        }
    }
}

impl Principled {
    fn eta(&self) -> f32 {
        if self.ior >= 1.0 {
            return bounded(self.ior, 1.02, 10.0, 1.5);
        }
        // That which reflects 8 % of `specular` straight on.
        let amplitude = (0.08 * bounded(self.specular, 0.0, 1.0, 0.5)).sqrt();
        ((1.0 + amplitude) / (1.0 - amplitude)).max(1.02)
    }

    fn roughness(&self) -> f32 {
        bounded(self.roughness, 0.0, 1.0, 0.5)
    }

    /// `share` of the surface is diffuse.
    fn diffuse(&self, color: Vec3, share: f32, frame: Frame) -> PrincipledDiffuse {
        let sheen = Vec3::ONE.lerp(hue(color), unit(self.sheen_tint)) * unit(self.sheen);
        PrincipledDiffuse {
            color: color * share,
            sheen: sheen * (1.0 - unit(self.metallic)) * (1.0 - unit(self.transmission)),
            roughness: self.roughness(),
            flatness: unit(self.flatness),
            frame,
        }
    }

    fn gloss(&self, color: Vec3, opaque: f32, frame: Frame, wo: Vec3) -> PrincipledGloss {
        let (metallic, tint) = (unit(self.metallic), unit(self.specular_tint));
        let plastic = opaque - metallic;
        let root = (self.eta() - 1.0) / (self.eta() + 1.0);
        let tinted = hue(color) * root * root;
        let reflectance = Reflectance {
            eta: self.eta(),
            dielectric: plastic * (1.0 - tint),
            front: color * metallic + tinted * (plastic * tint),
            rim: (1.0 - color) * metallic + (1.0 - tinted) * (plastic * tint),
        };
        let aspect = (1.0 - 0.9 * unit(self.anisotropic)).sqrt().sqrt();
        let facets = Ggx::of_roughnesses(Vec2::new(self.roughness() / aspect, self.roughness() * aspect));
        PrincipledGloss { reflectance, facets, frame, albedo: reflectance.at(wo.dot(frame.n)) }
    }

    fn glass(&self, color: Vec3) -> RoughDielectric {
        RoughDielectric {
            reflectance: [1.0; 3],
            transmittance: color.powf(0.5).to_array(),
            normal: self.normal,
            ior: self.eta(),
            roughness: self.roughness(),
        }
    }
}

/// The color at a luminance of 1; white for black.
fn hue(color: Vec3) -> Vec3 {
    let luminance = luminance(color);
    if luminance > 1e-6 { color / luminance } else { Vec3::ONE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, WeightedLobe, harness};

    const PLASTIC: Principled = Principled {
        base_color: [0.75, 0.35, 0.15],
        metallic: 0.0,
        roughness: 0.5,
        anisotropic: 0.0,
        specular: 0.5,
        specular_tint: 0.0,
        sheen: 0.0,
        sheen_tint: 0.0,
        flatness: 0.0,
        clearcoat: 0.0,
        clearcoat_gloss: 1.0,
        transmission: 0.0,
        ior: 0.0,
        normal: [0.0, 0.0, 1.0],
        tangent: [1.0, 0.0, 0.0],
    };

    fn lobes(closure: &Principled, place: &Place) -> Vec<WeightedLobe> {
        let mut list = Vec::new();
        closure.scatter(place, &mut Lobes::new(&mut list));
        list
    }

    fn lobe(closure: &Principled, pose: &harness::Pose, number: usize) -> Lobe {
        let turned = Principled { normal: pose.normal.to_array(), tangent: pose.tangent.to_array(), ..*closure };
        lobes(&turned, &pose.place())[number].lobe
    }

    #[test]
    fn each_lobe_passes_the_harness() {
        let all = Principled { metallic: 0.3, sheen: 0.5, clearcoat: 1.0, clearcoat_gloss: 0.0, ..PLASTIC };
        let cases = [
            ("diffuse", Principled { flatness: 0.4, ..all }, 0),
            ("gloss", Principled { anisotropic: 0.6, specular_tint: 0.4, roughness: 0.7, ..all }, 1),
            ("clear coat", all, 2),
        ];
        for (name, closure, number) in cases {
            harness::check(&format!("Principled, {name}"), &|pose| lobe(&closure, pose, number));
        }
    }

    fn direction(cosine: f64, azimuth: f64) -> Vec3 {
        let sine = (1.0 - cosine * cosine).sqrt();
        Vec3::new((sine * azimuth.cos()) as f32, (sine * azimuth.sin()) as f32, cosine as f32)
    }

    /// Smith's masking of both directions as if they were independent, over that which is height-correlated.
    fn separable(o: Vec3, i: Vec3, alpha: [f32; 2]) -> f32 {
        let lambda = |w: Vec3| {
            let slope = ((w.x * alpha[0]).powi(2) + (w.y * alpha[1]).powi(2)) / (w.z * w.z);
            ((1.0 + slope).sqrt() - 1.0) / 2.0
        };
        (1.0 + lambda(o) + lambda(i)) / ((1.0 + lambda(o)) * (1.0 + lambda(i)))
    }

    /// The BSDF times |cos θi| by `principled` of Mitsuba 3.9.1 for three pairs of directions, the outgoing one first.
    #[test]
    fn it_is_what_mitsuba_computes_but_for_the_masking() {
        let cases = [
            (
                Principled { roughness: 0.35, ..PLASTIC },
                [[0.143847, 0.067455, 0.029260], [0.868018, 0.812309, 0.784455], [0.205826, 0.100058, 0.047174]],
            ),
            (
                Principled { roughness: 0.35, metallic: 1.0, ..PLASTIC },
                [[0.010884, 0.005080, 0.002178], [5.940832, 2.937823, 1.436318], [0.091318, 0.043161, 0.019082]],
            ),
            (
                Principled { metallic: 0.8, anisotropic: 0.7, ..PLASTIC },
                [[0.033966, 0.015890, 0.006852], [1.119196, 0.570155, 0.295634], [0.087717, 0.041706, 0.018700]],
            ),
            (
                Principled { metallic: 0.2, specular: 0.3, sheen: 0.8, sheen_tint: 0.6, ..PLASTIC },
                [[0.123155, 0.058012, 0.025440], [0.554813, 0.338063, 0.229688], [0.228284, 0.113302, 0.055811]],
            ),
            (
                Principled { metallic: 0.2, specular: 0.8, specular_tint: 0.6, ..PLASTIC },
                [[0.125787, 0.059253, 0.025985], [0.652153, 0.381520, 0.246204], [0.237318, 0.116273, 0.055750]],
            ),
            (
                Principled { flatness: 0.7, ..PLASTIC },
                [[0.134452, 0.063834, 0.028525], [0.337060, 0.269451, 0.235647], [0.231235, 0.117970, 0.061338]],
            ),
        ];
        let pairs = [((0.8, 0.3), (0.6, 2.0)), ((0.5, 0.0), (0.45, 3.1)), ((0.2, 1.0), (0.9, 4.0))];
        for (closure, expected) in cases {
            let aspect = (1.0 - 0.9 * closure.anisotropic).sqrt();
            let alpha = [closure.roughness.powi(2) / aspect, closure.roughness.powi(2) * aspect];
            for ((outgoing, incoming), expected) in pairs.into_iter().zip(expected) {
                let (o, i) = (direction(outgoing.0, outgoing.1), direction(incoming.0, incoming.1));
                let list = lobes(&closure, &Place { wo: o, gnormal: Vec3::Z, inside: false });
                let (gloss, diffuse) = list.split_last().expect("the gloss is always there");
                let mut found = gloss.lobe.eval(o, i) * separable(o, i, alpha);
                found += diffuse.iter().map(|l| l.lobe.eval(o, i)).sum::<Vec3>();
                let expected = Vec3::from(expected);
                assert!(
                    (found - expected).abs().max_element() < 2e-4 * expected.max_element().max(0.1),
                    "{closure:?}: {found} {expected}"
                );
            }
        }
    }

    /// The clear coat by hand: 0.25 D F G/(4 cos θo), mirrored straight on.
    #[test]
    fn the_clear_coat_is_that_of_the_paper() {
        let coated = Principled { clearcoat: 1.0, clearcoat_gloss: 0.0, ..PLASTIC };
        let list = lobes(&coated, &Place { wo: Vec3::Z, gnormal: Vec3::Z, inside: false });
        let found = list[2].lobe.eval(Vec3::Z, Vec3::Z).x;
        // D is (α² − 1)/(π ln α² α²) there, α being 0.1.
        let d = 0.99 / (std::f32::consts::PI * 0.01 * 100_f32.ln());
        assert!((found - 0.25 * d * 0.04 / 4.0).abs() < 1e-4 * found, "{found}");
    }

    /// How far the parts, which are added, may go beyond all of the light; the page says so.
    #[test]
    fn a_white_one_gives_back_little_more_than_it_gets() {
        for (sheen, bound) in [(0.0, 1.66), (1.0, 1.75)] {
            for roughness in [0.1, 1.0] {
                for wo in harness::directions() {
                    let all = Principled { base_color: [1.0; 3], roughness, clearcoat: 1.0, sheen, ..PLASTIC };
                    let list = lobes(&all, &Place { wo, gnormal: Vec3::Z, inside: false });
                    let sum: f32 = list.iter().map(|l| l.weight.x * harness::albedo(&l.lobe, wo)).sum();
                    let bound = if wo.z > 0.5 { 1.07 } else { bound };
                    assert!(sum < bound, "{sheen} {roughness} {wo}: {sum}");
                    let metal = Principled { metallic: 1.0, clearcoat: 0.0, ..all };
                    let list = lobes(&metal, &Place { wo, gnormal: Vec3::Z, inside: false });
                    let sum: f32 = list.iter().map(|l| l.weight.x * harness::albedo(&l.lobe, wo)).sum();
                    assert!(sum <= 1.0005, "metal {roughness} {wo}: {sum}");
                }
            }
        }
    }

    /// Clear glass keeps all light, from either side; half of it is half plastic.
    #[test]
    fn what_is_transmissive_is_glass() {
        let glass = Principled { base_color: [1.0; 3], transmission: 1.0, ior: 1.5, roughness: 0.4, ..PLASTIC };
        for (wo, inside) in harness::directions().into_iter().flat_map(|wo| [(wo, false), (wo, true)]) {
            let list = lobes(&glass, &Place { wo, gnormal: Vec3::Z, inside });
            assert_eq!(list.iter().map(|l| l.lobe.name()).collect::<Vec<_>>(), ["RoughDielectric"]);
            assert!((harness::albedo(&list[0].lobe, wo) - 1.0).abs() < 0.04, "{wo} {inside}");
        }
        let half = Principled { transmission: 0.5, ..glass };
        let list = lobes(&half, &Place { wo: Vec3::Z, gnormal: Vec3::Z, inside: false });
        let names: Vec<_> = list.iter().map(|l| (l.lobe.name(), l.weight.x)).collect();
        assert_eq!(names, [("Principled", 1.0), ("Principled", 1.0), ("RoughDielectric", 0.5)]);
        assert!((list[0].lobe.albedo().x - 0.5).abs() < 1e-6 && (list[1].lobe.albedo().x - 0.02).abs() < 1e-3);
    }
}
