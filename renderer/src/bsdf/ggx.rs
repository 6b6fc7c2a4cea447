//! GGX microfacets, which rough lobes share. They have Smith's height-correlated masking (Heitz, JCGT 2014), sample the
//! visible normals (Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps", 2023), and reflect or
//! refract (Walter et al., EGSR 2007). Anisotropic ones are stretched along the first two axes.
//!
//! Directions are local: z is the shading normal, `o` is above it. Light is scattered once; see [`super::energy`].

use super::{bounded, fresnel};
use crate::math::sin_cos_turns;
use glam::{Vec2, Vec3};
use std::f32::consts::PI;

#[derive(Clone, Copy, Debug)]
pub struct Ggx {
    /// Along x and along y.
    alpha: Vec2,
}

/// A direction, and the microfacet normal that it was reflected or refracted about.
pub struct Scattered {
    pub wi: Vec3,
    pub half: Vec3,
}

impl Ggx {
    /// α is the square of the roughness, 0 to 1, and at least 0.001; what is no number counts as 1.
    pub fn of_roughness(roughness: f32) -> Ggx {
        Ggx::of_roughnesses(Vec2::splat(roughness))
    }

    /// As above, of the roughnesses along x and along y.
    pub fn of_roughnesses(roughnesses: Vec2) -> Ggx {
        const LEAST_ALPHA: f32 = 1e-3;
        let alpha = |roughness: f32| bounded(roughness, 0.0, 1.0, 1.0).powi(2).max(LEAST_ALPHA);
        Ggx { alpha: Vec2::new(alpha(roughnesses.x), alpha(roughnesses.y)) }
    }

    pub fn alpha(&self) -> Vec2 {
        self.alpha
    }

    /// D G / (4 cos θo): reflection with a Fresnel factor of 1, times the cosine of `i`. With the half vector.
    #[inline]
    pub fn eval(&self, o: Vec3, i: Vec3) -> Option<(f32, Vec3)> {
        self.eval_and_pdf(o, i).map(|(value, half, _)| (value, half))
    }

    /// The density, per steradian, of `sample`.
    #[inline]
    pub fn pdf(&self, o: Vec3, i: Vec3) -> f32 {
        self.eval_and_pdf(o, i).map_or(0.0, |(.., pdf)| pdf)
    }

    /// `eval`, its half vector, and `pdf`, which have most in common.
    #[inline]
    pub fn eval_and_pdf(&self, o: Vec3, i: Vec3) -> Option<(f32, Vec3, f32)> {
        if o.z <= 0.0 || i.z <= 0.0 {
            return None;
        }
        let half = (o + i).normalize_or_zero();
        // D of visible normals over 4 o·h; the cosine o·h cancels.
        let distribution = self.distribution(half) * 0.25;
        Some((distribution * self.masking(o, i), half, distribution * self.visible(o)))
    }

    /// A reflected direction; `None` below the surface.
    pub fn sample(&self, o: Vec3, u: Vec2) -> Option<Scattered> {
        if o.z <= 0.0 {
            return None;
        }
        let half = self.visible_normal(o, u);
        let wi = half * (2.0 * o.dot(half)) - o;
        (wi.z > 0.0).then_some(Scattered { wi, half })
    }

    /// The BTDF with a Fresnel factor of 1, times the cosine of `i`, which is below the surface in a medium whose index is
    /// `eta` times that above (Walter et al., equation 21, for radiance). With the half vector.
    pub fn eval_refracted(&self, o: Vec3, i: Vec3, eta: f32) -> Option<(f32, Vec3)> {
        let (half, cosines) = refracting_half(o, i, eta)?;
        let value =
            self.distribution(half) * cosines.x * cosines.y * self.masking(o, i) / (o + i * eta).length_squared();
        Some((value, half))
    }

    /// The density, per steradian, of `sample_refracted`.
    pub fn pdf_refracted(&self, o: Vec3, i: Vec3, eta: f32) -> f32 {
        let Some((half, cosines)) = refracting_half(o, i, eta) else { return 0.0 };
        let jacobian = eta * eta * cosines.y / (o + i * eta).length_squared();
        self.distribution(half) * cosines.x * self.visible(o) * jacobian
    }

    /// A refracted direction; `None` above the surface and where all is reflected.
    pub fn sample_refracted(&self, o: Vec3, u: Vec2, eta: f32) -> Option<Scattered> {
        if o.z <= 0.0 {
            return None;
        }
        let half = self.visible_normal(o, u);
        let wi = refract(o, half, eta)?;
        (wi.z < 0.0).then_some(Scattered { wi, half })
    }

    /// `eval/pdf` of a direction that was drawn, with a Fresnel factor of 1, for energy: what is refracted as radiance has it
    /// divided by the square of the index.
    pub fn weight(&self, o: Vec3, i: Vec3) -> f32 {
        self.masking(o, i) / self.visible(o)
    }

    /// GGX's density of microfacet normals.
    fn distribution(&self, h: Vec3) -> f32 {
        let a = self.alpha.x * self.alpha.y;
        // 1/(π αx αy (hx²/αx² + hy²/αy² + hz²)²), without its divisions.
        let d = Vec3::new(h.x * self.alpha.y, h.y * self.alpha.x, h.z * a).length_squared();
        if h.z <= 0.0 { 0.0 } else { a * a * a / (PI * d * d) }
    }

    /// s in Smith's Λ = (s/cos θ − 1)/2: the length of the direction where the surface is stretched to a roughness of 1.
    fn stretched(&self, w: Vec3) -> f32 {
        Vec3::new(w.x * self.alpha.x, w.y * self.alpha.y, w.z).length()
    }

    /// G1/cos θo, which is 1/((1 + Λ) cos θ).
    fn visible(&self, o: Vec3) -> f32 {
        2.0 / (o.z + self.stretched(o))
    }

    /// G2/cos θo, which is 1/((1 + Λo + Λi) cos θo).
    fn masking(&self, o: Vec3, i: Vec3) -> f32 {
        let below = self.stretched(o) * i.z.abs() + self.stretched(i) * o.z;
        2.0 * i.z.abs() / below.max(f32::MIN_POSITIVE)
    }

    fn visible_normal(&self, o: Vec3, u: Vec2) -> Vec3 {
        let stretched = Vec3::new(o.x * self.alpha.x, o.y * self.alpha.y, o.z).normalize();
        let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
        let (sin, (sin_phi, cos_phi)) = ((1.0 - z * z).max(0.0).sqrt(), sin_cos_turns(u.x));
        let h = Vec3::new(sin * cos_phi, sin * sin_phi, z) + stretched;
        Vec3::new(h.x * self.alpha.x, h.y * self.alpha.y, h.z.max(0.0)).normalize_or(Vec3::Z)
    }
}

/// By Snell's law; `None` where all is reflected.
fn refract(o: Vec3, half: Vec3, eta: f32) -> Option<Vec3> {
    let cosine = o.dot(half).clamp(0.0, 1.0);
    let (reflected, refracted_cosine) = fresnel::dielectric(cosine, eta);
    (reflected < 1.0).then(|| (half * cosine - o) / eta - half * refracted_cosine)
}

/// The normal that refracts `i` to `o`, above the surface, with |o·h| and |i·h|; `None` where none does.
fn refracting_half(o: Vec3, i: Vec3, eta: f32) -> Option<(Vec3, Vec2)> {
    if o.z <= 0.0 || i.z >= 0.0 {
        return None;
    }
    let along = (o + i * eta).try_normalize()?;
    let half = if along.z < 0.0 { -along } else { along };
    let cosines = Vec2::new(o.dot(half), -i.dot(half));
    (cosines.min_element() > 0.0).then_some((half, cosines))
}

#[cfg(test)]
mod tests {
    use super::super::harness;
    use super::*;
    use std::f32::consts::TAU;

    /// Without the factors that make up for lost energy, scattering is reciprocal (Walter et al., equations 20 and 21).
    #[test]
    fn single_scattering_is_reciprocal() {
        for roughnesses in [Vec2::splat(0.3), Vec2::new(0.2, 0.9), Vec2::ONE] {
            let facets = Ggx::of_roughnesses(roughnesses);
            let pairs =
                harness::directions().into_iter().flat_map(|o| harness::directions().into_iter().map(move |i| (o, i)));
            for (o, i) in pairs {
                let reflected = |o: Vec3, i: Vec3| facets.eval(o, i).map_or(0.0, |(value, _)| value / i.z);
                assert!((reflected(o, i) / reflected(i, o) - 1.0).abs() < 1e-3);
                for eta in [1.5, 1.0 / 1.5] {
                    // Seen from below, the surface is turned about the x axis.
                    let turned = |w: Vec3| Vec3::new(w.x, -w.y, -w.z);
                    let below = turned(i);
                    let there = facets.eval_refracted(o, below, eta).map_or(0.0, |(value, _)| value / i.z) * eta * eta;
                    let back = facets.eval_refracted(i, turned(o), 1.0 / eta).map_or(0.0, |(value, _)| value / o.z);
                    assert!((there - back).abs() <= 1e-3 * there, "{roughnesses} {o} {i} {eta}: {there} {back}");
                }
            }
        }
    }

    /// The projected area of the microfacets that are seen is that of the surface: ∫ G1 (o·h) D dωh = cos θo.
    #[test]
    fn visible_normals_cover_what_is_seen() {
        const M: u32 = 1000;
        for (roughnesses, o) in [(Vec2::new(0.5, 0.9), Vec3::new(0.6, 0.48, 0.64)), (Vec2::splat(0.6), Vec3::Z)] {
            let facets = Ggx::of_roughnesses(roughnesses);
            let of = |k: u32| {
                let (z, phi) = (((k % M) as f32 + 0.5) / M as f32, ((k / M) as f32 + 0.5) / M as f32 * TAU);
                let h = (Vec2::from_angle(phi) * (1.0 - z * z).sqrt()).extend(z);
                f64::from(facets.visible(o) * o.dot(h).max(0.0) * facets.distribution(h))
            };
            let area = (0..M * M).map(of).sum::<f64>() / f64::from(M * M) * f64::from(TAU);
            assert!((area - 1.0).abs() < 2e-3, "{roughnesses}: {area}");
        }
    }
}
