//! Reflection off the rough boundary of a dielectric, by itself: what coats and the gloss of plastics have in common. What
//! is not reflected is for what lies beneath; how much that is comes from a table.
//!
//! [GGX microfacets](super::ggx) with Fresnel's equations. Single scattering only; the table holds just that, so a layer and
//! a white base reflect everything together.

use super::ggx::Ggx;
use super::{LobeSample, Scatter, fresnel};
use crate::math::{Frame, between};
use glam::{FloatExt, Vec2, Vec3};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug)]
pub struct RoughBoundary {
    pub name: &'static str,
    pub frame: Frame,
    pub facets: Ggx,
    /// The index of refraction behind the boundary over that before it, at least 1.
    pub eta: f32,
    /// Multiplies what is reflected.
    pub tint: Vec3,
    /// The share that is reflected towards the viewer, untinted.
    pub reflected: f32,
}

impl Scatter for RoughBoundary {
    fn name(&self) -> &'static str {
        self.name
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let o = self.frame.to_local(wo);
        let found = self.facets.eval(o, self.frame.to_local(wi));
        found.map_or(Vec3::ZERO, |(value, half)| self.reflectance(o.dot(half)) * value)
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.facets.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let o = self.frame.to_local(wo);
        let drawn = self.facets.sample(o, u)?;
        let wi = self.frame.to_world(drawn.wi).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        let weight = self.reflectance(o.dot(drawn.half)) * self.facets.weight(o, drawn.wi);
        (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.tint * self.reflected
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }

    fn directional_albedo(&self, _wo: Vec3) -> Vec3 {
        self.albedo()
    }
}

impl RoughBoundary {
    fn reflectance(&self, cosine: f32) -> Vec3 {
        self.tint * fresnel::dielectric(cosine.clamp(0.0, 1.0), self.eta).0
    }
}

const COSINES: usize = 32;
const ROUGHNESSES: usize = 24;
const INDICES: usize = 16;
/// Directions that are averaged for one entry.
const POINTS: u32 = 256;
/// Of the amplitude that the boundary reflects straight on, (η − 1)/(η + 1): an index of 10.
const LARGEST_AMPLITUDE: f32 = 9.0 / 11.0;

/// What is reflected over what Fresnel's equations give for a smooth boundary under the angle of the viewer: it varies
/// slowly, and is 1 for what is smooth.
type Table = Vec<[[f32; INDICES]; ROUGHNESSES]>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let rows = |c: usize| std::array::from_fn(|r| ratios(cosine_of(c), r as f32 / (ROUGHNESSES - 1) as f32));
    (0..COSINES).map(rows).collect()
});

/// Close to each other at the silhouette.
fn cosine_of(entry: usize) -> f32 {
    let t = entry as f32 / (COSINES - 1) as f32;
    (t * t).max(1e-4)
}

/// Close to each other where the boundary hardly reflects but at the silhouette.
fn index_of(entry: usize) -> f32 {
    let t = entry as f32 / (INDICES - 1) as f32;
    let amplitude = (t * t * LARGEST_AMPLITUDE).max(1e-3);
    (1.0 + amplitude) / (1.0 - amplitude)
}

fn ratios(cosine: f32, roughness: f32) -> [f32; INDICES] {
    const GOLDEN: f32 = 0.618_034;
    let facets = Ggx::of_roughness(roughness);
    let o = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
    let mut sums = [0.0; INDICES];
    for i in 0..POINTS {
        let u = Vec2::new((0.5 + i as f32 * GOLDEN).fract(), (i as f32 + 0.5) / POINTS as f32);
        let Some(drawn) = facets.sample(o, u) else { continue };
        let (weight, facing) = (facets.weight(o, drawn.wi), o.dot(drawn.half).clamp(0.0, 1.0));
        for (entry, sum) in sums.iter_mut().enumerate() {
            *sum += weight * fresnel::dielectric(facing, index_of(entry)).0;
        }
    }
    std::array::from_fn(|entry| sums[entry] / POINTS as f32 / fresnel::dielectric(cosine, index_of(entry)).0)
}

/// The share of light from all sides that a boundary of a roughness (0 to 1, GGX's √α) and a relative index of refraction
/// (1 to 10) reflects towards a viewer under an angle of the given cosine.
pub fn reflected(cosine: f32, roughness: f32, eta: f32) -> f32 {
    let cosine = cosine.clamp(1e-4, 1.0);
    let amplitude = (eta - 1.0) / (eta + 1.0);
    let (c, fc) = between(cosine.sqrt(), COSINES);
    let (r, fr) = between(roughness, ROUGHNESSES);
    let (i, fi) = between((amplitude / LARGEST_AMPLITUDE).sqrt(), INDICES);
    let across = |c: usize, r: usize| TABLE[c][r][i].lerp(TABLE[c][r][i + 1], fi);
    let along = |c: usize| across(c, r).lerp(across(c, r + 1), fr);
    (along(c).lerp(along(c + 1), fc) * fresnel::dielectric(cosine, eta).0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ eval dωi over directions evenly spread in solid angle: no part of the table's making.
    fn integrated(cosine: f32, roughness: f32, eta: f32) -> f64 {
        const M: u32 = 300;
        let facets = Ggx::of_roughness(roughness);
        let o = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
        let of = |i: u32| {
            let (z, phi) =
                (((i % M) as f32 + 0.5) / M as f32, ((i / M) as f32 + 0.5) / M as f32 * std::f32::consts::PI);
            let r = (1.0 - z * z).sqrt();
            let found = facets.eval(o, Vec3::new(r * phi.cos(), r * phi.sin(), z));
            found.map_or(0.0, |(v, h)| f64::from(v * fresnel::dielectric(o.dot(h).clamp(0.0, 1.0), eta).0))
        };
        (0..M * M).map(of).sum::<f64>() / f64::from(M * M) * std::f64::consts::TAU
    }

    #[test]
    fn the_table_is_what_integration_over_the_hemisphere_gives() {
        for cosine in [0.03, 0.1, 0.27, 0.5, 0.77, 1.0] {
            for roughness in [0.35, 0.52, 0.81, 1.0] {
                for eta in [1.1, 1.5, 2.4] {
                    let (found, expected) = (reflected(cosine, roughness, eta), integrated(cosine, roughness, eta));
                    let off = (f64::from(found) - expected).abs();
                    assert!(off < 5e-3, "{cosine} {roughness} {eta}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_smooth_boundary_reflects_by_fresnels_equations() {
        for i in 1..=50 {
            let cosine = i as f32 / 50.0;
            let expected = fresnel::dielectric(cosine, 1.5).0;
            let found = reflected(cosine, 0.0, 1.5);
            // It is as rough as α = 0.001.
            assert!((found - expected).abs() < 5e-3, "{cosine}: {found} {expected}");
        }
        assert_eq!(reflected(0.5, 0.3, 1.0), 0.0);
    }
}
