//! [`OrenNayar`] in Rust.

use crate::bsdf::{LobeSample, Lobes, OrenNayar, Place, Scatter, SurfaceClosure, bounded, reflectance, seen};
use crate::math::{Frame, split, uniform_cone};
use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, PI, TAU};

#[derive(Clone, Copy, Debug)]
pub struct OrenNayarLobe {
    albedo: Vec3,
    /// Its first axis is below `wo`.
    frame: Frame,
    roughness: f32,
    /// The albedo of light that is scattered more than once.
    several: Vec3,
}

impl SurfaceClosure for OrenNayar {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let albedo = reflectance(self.albedo);
        let roughness = bounded(self.roughness, 0.0, 1.0, 0.0);
        let frame = Frame::along(seen(self.normal, place.gnormal, place.wo), place.wo);
        let mean = mean_albedo(roughness);
        let several = albedo * albedo * mean / (1.0 - albedo * (1.0 - mean));
        lobes.add(Vec3::ONE, OrenNayarLobe { albedo, frame, roughness, several });
    }
}

impl Scatter for OrenNayarLobe {
    fn name(&self) -> &'static str {
        "OrenNayar"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (wo.dot(self.frame.n), wi.dot(self.frame.n));
        if o <= 0.0 || i <= 0.0 {
            return Vec3::ZERO;
        }
        let s = wo.dot(wi) - o * i;
        // Fujii's s/t, times the cosine, which keeps it small at the horizon.
        let s_over_t = if s > 0.0 { s * (i / o.max(i)) } else { s * i };
        let once = (i + self.roughness * s_over_t) * scale(self.roughness);
        // What is missing of white, both ways. At a roughness of 0 nothing is.
        let left = (1.0 - mean_albedo(self.roughness)).max(1e-7);
        let missing = |cosine| (1.0 - once_albedo(cosine, self.roughness)).max(0.0);
        (self.albedo * once.max(0.0) + self.several * (missing(o) * missing(i) / left * i)) * FRAC_1_PI
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        let (o, i) = (wo.dot(self.frame.n), self.frame.to_local(wi));
        if o <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        let uniform = uniform_share(o, self.roughness);
        uniform / TAU + (1.0 - uniform) * Transformed::new(o, self.roughness).pdf(i)
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = wo.dot(self.frame.n);
        if o <= 0.0 {
            return None;
        }
        let (uniform, u) = split(u, uniform_share(o, self.roughness));
        let local = if uniform { uniform_cone(u, 1.0) } else { Transformed::new(o, self.roughness).sample(u) };
        let wi = self.frame.to_world(local).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.albedo
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn is_diffuse(&self) -> bool {
        true
    }

    fn directional_albedo(&self, wo: Vec3) -> Vec3 {
        let once = once_albedo(wo.dot(self.frame.n).clamp(0.0, 1.0), self.roughness);
        self.albedo * once + self.several * (1.0 - once)
    }
}

/// Fujii's A: what a white one reflects towards its normal.
fn scale(roughness: f32) -> f32 {
    1.0 / (1.0 + (0.5 - 2.0 / (3.0 * PI)) * roughness)
}

/// The directional albedo of light that a white one scatters once: the paper's fit of its equation for Ê.
fn once_albedo(cosine: f32, roughness: f32) -> f32 {
    const G: [f32; 4] = [0.057_108_53, 0.491_881_87, -0.332_181_45, 0.071_443];
    let x = 1.0 - cosine;
    let g = x * (G[0] + x * (G[1] + x * (G[2] + x * G[3])));
    (1.0 + roughness * g) * scale(roughness)
}

/// Its mean over the cosine-weighted hemisphere.
fn mean_albedo(roughness: f32) -> f32 {
    (1.0 + (2.0 / 3.0 - 28.0 / (15.0 * PI)) * roughness) * scale(roughness)
}

/// How often directions are drawn uniformly.
fn uniform_share(o: f32, roughness: f32) -> f32 {
    roughness.powf(0.1) * (0.162_925 + o * (-0.372_058 + (0.538_233 - 0.290_822 * o) * o))
}

/// A cosine lobe, transformed by a matrix and clipped to the part that ends up above the surface: local directions, x being
/// below `wo`.
struct Transformed {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
    /// The share of the half disk that the clipped lobe's projection covers.
    covered: f32,
}

impl Transformed {
    /// Fitted to the model by the paper's authors.
    fn new(o: f32, r: f32) -> Transformed {
        let d = r * (0.540_852 + (-1.016_25 + 0.475_392 * o) * o) / (-1.074_3 + o * (0.072_562_8 + o));
        Transformed {
            a: 1.0 + r * (0.303_392 + (-0.518_982 + 0.111_709 * o) * o + (-0.276_266 + 0.335_918 * o) * r),
            b: r * (-1.164_07 + 1.158_59 * o + (0.150_815 - 0.150_105 * o) * r) / (o * o * o - 1.435_45),
            c: 1.0 + (0.200_13 + (-0.506_373 + 0.261_777 * o) * o) * r,
            d,
            covered: 0.5 * (1.0 + 1.0 / (d * d + 1.0).sqrt()),
        }
    }

    fn sample(&self, u: Vec2) -> Vec3 {
        let disk = Vec2::from_angle(TAU * u.y) * u.x.sqrt();
        let edge = (1.0 - disk.y * disk.y).max(0.0).sqrt();
        let x = -(edge + (disk.x - edge) * self.covered);
        let h = Vec3::new(x, disk.y, (1.0 - x * x - disk.y * disk.y).max(0.0).sqrt());
        Vec3::new(self.a * h.x + self.b * h.z, self.c * h.y, self.d * h.x + h.z).normalize_or_zero()
    }

    fn pdf(&self, i: Vec3) -> f32 {
        let determinant = self.c * (self.a - self.b * self.d);
        let h = Vec3::new(
            self.c * (i.x - self.b * i.z),
            (self.a - self.b * self.d) * i.y,
            self.c * (self.a * i.z - self.d * i.x),
        );
        let squared = h.length_squared();
        determinant * determinant / (squared * squared) * h.z.max(0.0) / (PI * self.covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{Lambert, Lobe, harness};

    fn lobe(pose: &harness::Pose, albedo: f32, roughness: f32) -> Lobe {
        harness::only_lobe(&OrenNayar { albedo: [albedo; 3], normal: pose.normal.to_array(), roughness }, pose)
    }

    #[test]
    fn passes_the_harness() {
        for roughness in [0.0, 0.3, 1.0] {
            harness::check(&format!("OrenNayar {roughness}"), &|pose| lobe(pose, 0.9, roughness));
        }
    }

    #[test]
    fn a_white_furnace_hides_a_white_one() {
        for (wo, roughness) in harness::directions().into_iter().flat_map(|wo| [0.1, 0.5, 1.0].map(|r| (wo, r))) {
            let albedo = harness::albedo(&lobe(&harness::Pose::upright(wo), 1.0, roughness), wo);
            assert!((albedo - 1.0).abs() < 3e-3, "{roughness} {wo}: {albedo}");
        }
    }

    /// The closed form of the paper's equation for Ê, which the fit replaces.
    #[test]
    fn the_fit_of_the_albedo_is_close() {
        for i in 1..=100 {
            let cosine = i as f32 / 100.0;
            let sine = (1.0 - cosine * cosine).sqrt();
            let g =
                sine * (cosine.acos() - sine * cosine) + 2.0 / 3.0 * ((sine / cosine) * (1.0 - sine.powi(3)) - sine);
            let exact = scale(1.0) * (1.0 + FRAC_1_PI * g);
            assert!((once_albedo(cosine, 1.0) - exact).abs() < 2e-3, "{cosine}: {} {exact}", once_albedo(cosine, 1.0));
        }
    }

    #[test]
    fn a_smooth_one_is_lambert_and_a_rough_one_shines_back() {
        let wo = Vec3::new(0.8, 0.0, 0.6);
        let pose = harness::Pose::upright(wo);
        let lambert = harness::only_lobe(&Lambert { albedo: [0.5; 3], normal: [0.0, 0.0, 1.0] }, &pose);
        for wi in harness::directions() {
            assert!((lobe(&pose, 0.5, 0.0).eval(wo, wi) - lambert.eval(wo, wi)).abs().max_element() < 1e-6);
        }
        let rough = lobe(&pose, 0.5, 1.0);
        assert!(rough.eval(wo, wo).x > 1.5 * rough.eval(wo, Vec3::new(-0.8, 0.0, 0.6)).x);
    }
}
