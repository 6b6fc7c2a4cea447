//! Values and densities of GGX microfacets, which rough lobes share.

use crate::bsdf::fresnel;
use crate::bsdf::ggx::{Ggx, Scattered};
use glam::{Vec2, Vec3};
use std::f32::consts::PI;

impl Ggx {
    /// A refracted direction; `None` above the surface and where all is reflected.
    pub fn sample_refracted(&self, o: Vec3, u: Vec2, eta: f32) -> Option<Scattered> {
        if o.z <= 0.0 {
            return None;
        }
        let half = self.visible_normal(o, u);
        let wi = refract(o, half, eta)?;
        (wi.z < 0.0).then_some(Scattered { wi, half })
    }

    /// The normal of a facet that `o` sees; `None` from below.
    pub fn sample_normal(&self, o: Vec3, u: Vec2) -> Option<Vec3> {
        (o.z > 0.0).then(|| self.visible_normal(o, u))
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

    /// GGX's density of microfacet normals.
    fn distribution(&self, h: Vec3) -> f32 {
        let a = self.alpha.x * self.alpha.y;
        // 1/(π αx αy (hx²/αx² + hy²/αy² + hz²)²), without its divisions.
        let d = Vec3::new(h.x * self.alpha.y, h.y * self.alpha.x, h.z * a).length_squared();
        if h.z <= 0.0 { 0.0 } else { a * a * a / (PI * d * d) }
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
    use super::*;
    use crate::bsdf::harness;
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
