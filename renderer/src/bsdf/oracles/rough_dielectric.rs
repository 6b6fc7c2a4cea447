//! [`RoughDielectric`] in Rust.

use super::energy;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{
    LobeSample, Lobes, Place, Reach, Refraction, RoughDielectric, Scatter, SurfaceClosure, bounded, fresnel,
    reflectance, reflecting,
};
use crate::math::{Frame, cosine_hemisphere, max_channel, split};
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_1_PI;

#[derive(Clone, Copy, Debug)]
pub struct RoughDielectricLobe {
    reflectance: Vec3,
    transmittance: Vec3,
    frame: Frame,
    facets: Ggx,
    /// The index on the other side over that on the side of `wo`.
    eta: f32,
    /// The shares of light that are reflected and refracted once, before the tints.
    once: Vec2,
    /// Scales light that is scattered once.
    scale: f32,
    /// The part that leaves evenly to both sides: its shares, and the probabilities of drawing it and of a reflection
    /// there.
    even: Vec2,
    draws_even: f32,
    even_reflects: f32,
}

/// The largest scale of light that is scattered once.
const GREATEST_SCALE: f32 = 2.0;

impl RoughDielectric {
    fn lobe(&self, place: &Place) -> RoughDielectricLobe {
        let frame = Frame::about(reflecting(self.normal, place.gnormal, place.wo));
        // At 1 nothing would be scattered, and half vectors would not be defined.
        let ior = bounded(self.ior, 1.02, 10.0, 1.02);
        let eta = if place.inside { 1.0 / ior } else { ior };
        let facets = Ggx::of_roughness(self.roughness);
        let once = energy::dielectric(&facets, frame.to_local(place.wo), eta);
        let (reflectance, transmittance) = (reflectance(self.reflectance), reflectance(self.transmittance));
        let all = once.element_sum().max(1e-6);
        let scale = (1.0 / all).min(GREATEST_SCALE);
        let missing = (1.0 - scale * all).max(0.0);
        let even = once * (missing / all);
        let brightest = even * Vec2::new(max_channel(reflectance), max_channel(transmittance));
        let draws_even = if brightest.element_sum() > 0.0 { missing.min(0.5) } else { 0.0 };
        let even_reflects = share_of(brightest.x, brightest.y);
        RoughDielectricLobe {
            reflectance,
            transmittance,
            frame,
            facets,
            eta,
            once,
            scale,
            even,
            draws_even,
            even_reflects,
        }
    }
}

/// The first of two parts in their sum.
fn share_of(first: f32, second: f32) -> f32 {
    if first > 0.0 { first / (first + second) } else { 0.0 }
}

impl SurfaceClosure for RoughDielectric {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        lobes.add(Vec3::ONE, self.lobe(place));
    }
}

impl Scatter for RoughDielectricLobe {
    fn name(&self) -> &'static str {
        "RoughDielectric"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 {
            return Vec3::ZERO;
        }
        let diffuse = i.z.abs() * FRAC_1_PI;
        if i.z > 0.0 {
            let found = self.facets.eval(o, i);
            let once = found.map_or(0.0, |(value, half)| self.scale * self.reflected(o, half) * value);
            self.reflectance * (once + self.even.x * diffuse)
        } else {
            let found = self.facets.eval_refracted(o, i, self.eta);
            let once = found.map_or(0.0, |(value, half)| self.scale * (1.0 - self.reflected(o, half)) * value);
            self.transmittance * (once + self.even.y * diffuse / (self.eta * self.eta))
        }
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 {
            return 0.0;
        }
        let (diffuse, reflects) = (i.z.abs() * FRAC_1_PI, |half| self.reflects(self.reflected(o, half)));
        let (facets, even) = if i.z > 0.0 {
            (self.facets.eval_and_pdf(o, i).map_or(0.0, |(_, half, pdf)| pdf * reflects(half)), self.even_reflects)
        } else {
            let found = self.facets.eval_refracted(o, i, self.eta);
            let pdf = self.facets.pdf_refracted(o, i, self.eta);
            (found.map_or(0.0, |(_, half)| pdf * (1.0 - reflects(half))), 1.0 - self.even_reflects)
        };
        (1.0 - self.draws_even) * facets + self.draws_even * even * diffuse
    }

    /// A facet that `wo` sees, which reflects as often as Fresnel's equations say, else refracts.
    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let (even, within) = split(u, self.draws_even);
        let third = third_number(u);
        let i = if even {
            let up = cosine_hemisphere(within);
            if third < self.even_reflects { up } else { -up }
        } else {
            let half = self.facets.sample_normal(o, within)?;
            if third < self.reflects(self.reflected(o, half)) {
                self.facets.sample(o, within)?.wi
            } else {
                self.facets.sample_refracted(o, within, self.eta)?.wi
            }
        };
        let wi = self.frame.to_world(i).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let refracted = (i.z < 0.0).then_some(Refraction { eta: self.eta });
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted })
    }

    fn albedo(&self) -> Vec3 {
        (self.reflectance * self.once.x + self.transmittance * self.once.y) / self.once.element_sum().max(1e-6)
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn reach(&self) -> Reach {
        Reach::Both
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.albedo()
    }
}

impl RoughDielectricLobe {
    /// Fresnel's share.
    fn reflected(&self, o: Vec3, half: Vec3) -> f32 {
        fresnel::dielectric(o.dot(half).clamp(0.0, 1.0), self.eta).0
    }

    /// How often a facet of this share is drawn to reflect.
    fn reflects(&self, share: f32) -> f32 {
        share_of(share * max_channel(self.reflectance), (1.0 - share) * max_channel(self.transmittance))
    }
}

/// As good as independent of both numbers: their bits, mixed (the finaliser of MurmurHash3).
fn third_number(u: Vec2) -> f32 {
    let mut x = u.x.to_bits() ^ u.y.to_bits().rotate_left(16).wrapping_mul(0x9e37_79b9);
    for by in [0x85eb_ca6b_u32, 0xc2b2_ae35] {
        x = (x ^ (x >> 15)).wrapping_mul(by);
    }
    ((x ^ (x >> 16)) >> 8) as f32 / (1 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, harness};

    fn glass(pose: &harness::Pose, ior: f32, roughness: f32) -> Lobe {
        let normal = pose.normal.to_array();
        let (reflectance, transmittance) = ([1.0; 3], [1.0; 3]);
        harness::only_lobe(&RoughDielectric { reflectance, transmittance, normal, ior, roughness }, pose)
    }

    #[test]
    fn passes_the_harness() {
        for (ior, roughness) in [(1.5, 0.5), (1.33, 0.9), (2.4, 0.7)] {
            let lobe = |pose: &harness::Pose| glass(pose, ior, roughness);
            harness::check_one_way(&format!("RoughDielectric {ior} {roughness}"), &lobe);
        }
    }

    /// Clear glass is as bright as what it stands in, rough or not, from both sides.
    #[test]
    fn a_white_furnace_hides_a_clear_one() {
        for (ior, inside) in [1.33, 1.5, 2.4].into_iter().flat_map(|ior| [(ior, false), (ior, true)]) {
            // A hash of each sample chooses the side, so samples vary, most from inside, where most is scattered more than once.
            let bound = if inside { 0.02 } else { 6e-3 };
            for wo in harness::directions() {
                let pose = harness::Pose { inside, ..harness::Pose::upright(wo) };
                for roughness in (0..=5).map(|r| r as f32 / 5.0) {
                    let lobe = glass(&pose, ior, roughness);
                    // What makes up for light that meets several facets is in what the lobe says of itself, too.
                    assert!((lobe.directional_albedo(wo).x - 1.0).abs() < 1e-5, "{ior} {inside} {roughness} at {wo}");
                    let albedo = harness::albedo(&lobe, wo);
                    assert!((albedo - 1.0).abs() < bound, "{ior} {inside} {roughness} at {wo}: {albedo}");
                }
            }
        }
    }

    /// It becomes the smooth one: Fresnel's share is reflected in the mirror's direction, the rest follows Snell's law.
    #[test]
    fn a_polished_one_is_smooth_glass() {
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let lobe = glass(&harness::Pose::upright(wo), 1.5, 0.0);
        let (reflected, cosine) = fresnel::dielectric(0.8, 1.5);
        let expected = [Vec3::new(-0.6, 0.0, 0.8), Vec3::new(-0.4, 0.0, -cosine)];
        let (mut up, mut down) = (0.0, 0.0);
        const N: u32 = 1000;
        for k in 0..N {
            let u = Vec2::new((k as f32 + 0.5) / N as f32, (k as f32 * 0.618_034).fract());
            let Some(s) = lobe.sample(wo, u) else { continue };
            let side = usize::from(s.refracted.is_some());
            // The tails of GGX are long, but thin.
            assert!((s.wi - expected[side]).length() < 0.2);
            *(if side == 0 { &mut up } else { &mut down }) += s.weight.x / N as f32;
        }
        assert!((up - reflected).abs() < 2e-3 && (down - (1.0 - reflected) / 2.25).abs() < 2e-3, "{up} {down}");
    }

    /// Seen from inside at an angle at which facets refract next to nothing, directions of that part can still be drawn.
    #[test]
    fn what_is_scattered_can_be_drawn() {
        let pose = harness::Pose { inside: true, ..harness::Pose::upright(Vec3::new(0.924_033, 0.0, 0.382_318)) };
        let lobe = glass(&pose, 3.6, 0.225);
        let (value, density) = lobe.eval_and_pdf(pose.wo, Vec3::new(-0.7, 0.33, -0.632_125).normalize());
        assert!(value.x > 0.0 && density > 0.0, "{value} {density}");
    }

    #[test]
    fn tints_scale_what_they_belong_to() {
        let pose = harness::Pose::upright(Vec3::new(0.6, 0.0, 0.8));
        let (reflectance, transmittance) = ([1.0, 0.5, 0.0], [0.0, 0.5, 1.0]);
        let tinted = RoughDielectric { reflectance, transmittance, normal: [0.0, 0.0, 1.0], ior: 1.5, roughness: 0.4 };
        let (tinted, clear) = (harness::only_lobe(&tinted, &pose), glass(&pose, 1.5, 0.4));
        let (up, down) = (Vec3::new(-0.6, 0.0, 0.8), Vec3::new(-0.4, 0.0, -0.916_5));
        let close = |a: Vec3, b: Vec3| (a - b).abs().max_element() < 1e-6;
        assert!(close(tinted.eval(pose.wo, up), clear.eval(pose.wo, up) * Vec3::from(reflectance)));
        assert!(close(tinted.eval(pose.wo, down), clear.eval(pose.wo, down) * Vec3::from(transmittance)));
    }
}
