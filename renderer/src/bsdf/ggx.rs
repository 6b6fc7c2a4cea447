//! Directions of GGX microfacets and their weights, from which tables of lost energy are made. They have Smith's height-correlated masking (Heitz, JCGT 2014), sample the
//! visible normals (Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps", 2023), and reflect or
//! refract (Walter et al., EGSR 2007). Anisotropic ones are stretched along the first two axes.
//!
//! Directions are local: z is the shading normal, `o` is above it. Light is scattered once; see [`super::energy`].

use super::bounded;
use crate::math::sin_cos_turns;
use glam::{Vec2, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct Ggx {
    /// Along x and along y.
    pub(super) alpha: Vec2,
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

    /// Facets of any α, for nodes of tables below the least roughness of lobes.
    #[cfg(test)]
    pub fn of_alpha(alpha: Vec2) -> Ggx {
        Ggx { alpha }
    }

    pub fn alpha(&self) -> Vec2 {
        self.alpha
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

    /// `eval/pdf` of a direction that was drawn, with a Fresnel factor of 1, for energy: what is refracted as radiance has it
    /// divided by the square of the index.
    pub fn weight(&self, o: Vec3, i: Vec3) -> f32 {
        self.masking(o, i) / self.visible(o)
    }

    /// s in Smith's Λ = (s/cos θ − 1)/2: the length of the direction where the surface is stretched to a roughness of 1.
    fn stretched(&self, w: Vec3) -> f32 {
        Vec3::new(w.x * self.alpha.x, w.y * self.alpha.y, w.z).length()
    }

    /// G1/cos θo, which is 1/((1 + Λ) cos θ).
    pub(super) fn visible(&self, o: Vec3) -> f32 {
        2.0 / (o.z + self.stretched(o))
    }

    /// G2/cos θo, which is 1/((1 + Λo + Λi) cos θo).
    pub(super) fn masking(&self, o: Vec3, i: Vec3) -> f32 {
        let below = self.stretched(o) * i.z.abs() + self.stretched(i) * o.z;
        2.0 * i.z.abs() / below.max(f32::MIN_POSITIVE)
    }

    pub(super) fn visible_normal(&self, o: Vec3, u: Vec2) -> Vec3 {
        let stretched = Vec3::new(o.x * self.alpha.x, o.y * self.alpha.y, o.z).normalize();
        let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
        let (sin, (sin_phi, cos_phi)) = ((1.0 - z * z).max(0.0).sqrt(), sin_cos_turns(u.x));
        let h = Vec3::new(sin * cos_phi, sin * sin_phi, z) + stretched;
        Vec3::new(h.x * self.alpha.x, h.y * self.alpha.y, h.z.max(0.0)).normalize_or(Vec3::Z)
    }
}
