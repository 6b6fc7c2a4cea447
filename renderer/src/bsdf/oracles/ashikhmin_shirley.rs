//! [`AshikhminShirley`] in Rust.

use crate::bsdf::{
    AshikhminShirley, LobeSample, Lobes, Place, Scatter, SurfaceClosure, bounded, reflectance, reflecting,
};
use crate::math::{Frame, cosine_hemisphere, max_channel, split};
use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, PI, TAU};

#[derive(Clone, Copy, Debug)]
pub struct AshikhminShirleyLobe {
    diffuse: Vec3,
    specular: Vec3,
    frame: Frame,
    exponents: Vec2,
    /// How often the highlight is sampled.
    highlight: f32,
}

impl SurfaceClosure for AshikhminShirley {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let (diffuse, specular) = (reflectance(self.diffuse), reflectance(self.specular));
        let frame = Frame::along(reflecting(self.normal, place.gnormal, place.wo), self.tangent.into());
        let exponent = |x: f32| bounded(x, 0.0, 1e5, 0.0);
        let mirrored = max_channel(schlick(specular, place.wo.dot(frame.n)));
        let beneath = max_channel(diffuse * (1.0 - specular));
        lobes.add(
            Vec3::ONE,
            AshikhminShirleyLobe {
                diffuse,
                specular,
                frame,
                exponents: Vec2::new(exponent(self.exponent_along), exponent(self.exponent_across)),
                // A black one must draw something, too.
                highlight: mirrored / (mirrored + beneath).max(f32::MIN_POSITIVE),
            },
        );
    }
}

impl Scatter for AshikhminShirleyLobe {
    fn name(&self) -> &'static str {
        "AshikhminShirley"
    }

    /// Equations 4 and 5.
    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return Vec3::ZERO;
        }
        let rising = |cosine: f32| 1.0 - (1.0 - 0.5 * cosine).powi(5);
        let base = self.diffuse * (1.0 - self.specular) * (28.0 / (23.0 * PI) * rising(o.z) * rising(i.z) * i.z);
        let half = (o + i).normalize_or_zero();
        let facing = o.dot(half).clamp(0.0, 1.0);
        // Twice under the paper's 8π: the density of half vectors holds 2π.
        let highlight = self.half_pdf(half) * i.z / (4.0 * facing * o.z.max(i.z)).max(f32::MIN_POSITIVE);
        base + schlick(self.specular, facing) * highlight
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        let half = (o + i).normalize_or_zero();
        let highlight = self.half_pdf(half) / (4.0 * o.dot(half)).max(1e-20);
        (self.highlight * highlight + (1.0 - self.highlight) * i.z * FRAC_1_PI).min(f32::MAX)
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let (highlight, u) = split(u, self.highlight);
        let local = if highlight {
            let half = self.half(u);
            half * (2.0 * o.dot(half)) - o
        } else {
            cosine_hemisphere(u)
        };
        let wi = self.frame.to_world(local).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    /// The mean of Schlick's formula, which is not 0 of a black highlight, and what it leaves to the base.
    fn albedo(&self) -> Vec3 {
        self.specular + (1.0 - self.specular) * (self.diffuse + 1.0 / 21.0)
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

impl AshikhminShirleyLobe {
    /// The density of half vectors (equation 6).
    fn half_pdf(&self, half: Vec3) -> f32 {
        let across = Vec2::new(half.x * half.x, half.y * half.y);
        let exponent = self.exponents.dot(across) / across.element_sum().max(f32::MIN_POSITIVE);
        (self.exponents + 1.0).element_product().sqrt() / TAU * half.z.clamp(0.0, 1.0).powf(exponent)
    }

    /// Drawn by equations 9 and 10, all quadrants by one angle.
    fn half(&self, u: Vec2) -> Vec3 {
        let stretched =
            Vec2::from_angle(TAU * u.x) * Vec2::new(self.exponents.y + 1.0, self.exponents.x + 1.0).map(f32::sqrt);
        let direction = stretched.normalize_or(Vec2::X);
        let exponent = self.exponents.dot(direction * direction);
        let cosine = (1.0 - u.y).powf(1.0 / (exponent + 1.0));
        (direction * (1.0 - cosine * cosine).max(0.0).sqrt()).extend(cosine)
    }
}

fn schlick(f0: Vec3, cosine: f32) -> Vec3 {
    f0 + (1.0 - f0) * (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lobe, harness};

    fn lobe(pose: &harness::Pose, (diffuse, specular): (f32, f32), along: f32, across: f32) -> Lobe {
        let (normal, tangent) = (pose.normal.to_array(), pose.tangent.to_array());
        let (diffuse, specular, exponent_along, exponent_across) = ([diffuse; 3], [specular; 3], along, across);
        harness::only_lobe(
            &AshikhminShirley { diffuse, specular, normal, tangent, exponent_along, exponent_across },
            pose,
        )
    }

    #[test]
    fn passes_the_harness() {
        let all =
            [((0.9, 0.05), 10.0, 100.0), ((0.0, 1.0), 30.0, 5.0), ((1.0, 0.3), 0.0, 0.0), ((0.0, 0.0), 20.0, 20.0)];
        for (colors, along, across) in all {
            let name = format!("AshikhminShirley {colors:?} {along} {across}");
            harness::check(&name, &|pose| lobe(pose, colors, along, across));
        }
    }

    /// 28/23π makes the base reflect what it is given on average: ∫∫ over both hemispheres, each weighed by its cosine, is
    /// π Rd (1 − Rs), less what the highlight takes.
    #[test]
    fn the_base_keeps_its_albedo_on_average() {
        const N: u32 = 400;
        let rising = |c: f64| 1.0 - (1.0 - 0.5 * c).powi(5);
        // 2 ∫ rising cos dcos.
        let one: f64 = (0..N).map(|k| (f64::from(k) + 0.5) / f64::from(N)).map(|c| 2.0 * rising(c) * c).sum::<f64>()
            / f64::from(N);
        let found: f32 = (0..N)
            .map(|k| ((k as f32 + 0.5) / N as f32).sqrt())
            .map(|c| {
                let wo = Vec3::new((1.0 - c * c).sqrt(), 0.0, c);
                let lobe = lobe(&harness::Pose::upright(wo), (1.0, 0.0), 1e5, 1e5);
                lobe.eval(wo, Vec3::Z).x
            })
            .sum::<f32>()
            / N as f32;
        let expected = 28.0 / (23.0 * std::f64::consts::PI) * one * rising(1.0);
        assert!((f64::from(found) / expected - 1.0).abs() < 5e-3, "{found} {expected}");
    }

    /// Straight on, what is reflected at the middle of the highlight is √((nu + 1)(nv + 1))/8π times the reflectance.
    #[test]
    fn the_middle_of_the_highlight_is_as_bright_as_the_paper_says() {
        let lobe = lobe(&harness::Pose::upright(Vec3::Z), (0.0, 0.04), 9.0, 99.0);
        let expected = 1000.0_f32.sqrt() / (8.0 * PI) * 0.04;
        assert!((lobe.eval(Vec3::Z, Vec3::Z).x - expected).abs() < 1e-5);
    }
}
