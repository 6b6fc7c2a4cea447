//! Isotropic GGX microfacets with Smith's height-correlated masking (Heitz, JCGT 2014), drawn from the visible normals
//! (Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps", 2023): what rough lobes have in common.
//!
//! Directions are local: z is the shading normal. Single scattering only.

use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

#[derive(Clone, Copy, Debug)]
pub struct Ggx {
    alpha: f32,
}

/// A direction of reflection, and the microfacet normal that it was reflected about.
pub struct Reflected {
    pub wi: Vec3,
    pub half: Vec3,
}

impl Ggx {
    /// α is the square of the roughness, 0 to 1, and at least 0.001; what is no number counts as 1.
    pub fn of_roughness(roughness: f32) -> Ggx {
        const LEAST_ALPHA: f32 = 1e-3;
        let roughness = if roughness.is_finite() { roughness.clamp(0.0, 1.0) } else { 1.0 };
        Ggx { alpha: (roughness * roughness).max(LEAST_ALPHA) }
    }

    /// D G / (4 cos θo): reflection with a Fresnel factor of 1, times the cosine of `i`. With the half vector.
    pub fn eval(&self, o: Vec3, i: Vec3) -> Option<(f32, Vec3)> {
        if o.z <= 0.0 || i.z <= 0.0 {
            return None;
        }
        let half = (o + i).normalize_or_zero();
        // cos θo (1 + Λo + Λi) is (so cos θi + si cos θo) / (2 cos θi).
        let masking = self.stretched(o) * i.z + self.stretched(i) * o.z;
        Some((self.distribution(half) * i.z / (2.0 * masking).max(f32::MIN_POSITIVE), half))
    }

    /// The density, per steradian, of `sample`.
    pub fn pdf(&self, o: Vec3, i: Vec3) -> f32 {
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        // D of visible normals over 4 o·h; the cosine o·h cancels.
        self.distribution((o + i).normalize_or_zero()) / (2.0 * (o.z + self.stretched(o)))
    }

    /// A reflected direction; `None` below the surface.
    pub fn sample(&self, o: Vec3, u: Vec2) -> Option<Reflected> {
        if o.z <= 0.0 {
            return None;
        }
        let half = self.visible_normal(o, u);
        let wi = half * (2.0 * o.dot(half)) - o;
        (wi.z > 0.0).then_some(Reflected { wi, half })
    }

    /// `eval/pdf` of a direction that `sample` drew, with a Fresnel factor of 1.
    pub fn weight(&self, o: Vec3, i: Vec3) -> f32 {
        let (so, si) = (self.stretched(o), self.stretched(i));
        i.z * (o.z + so) / (so * i.z + si * o.z).max(f32::MIN_POSITIVE)
    }

    /// GGX's density of microfacet normals.
    fn distribution(&self, h: Vec3) -> f32 {
        let a2 = self.alpha * self.alpha;
        // cos² (α² − 1) + 1, written without the cancellation at cos = 1.
        let d = h.x * h.x + h.y * h.y + h.z * h.z * a2;
        if h.z <= 0.0 { 0.0 } else { a2 / (PI * d * d) }
    }

    /// s in Smith's Λ = (s/cos θ − 1)/2: the length of the direction where the surface is stretched to a roughness of 1.
    fn stretched(&self, w: Vec3) -> f32 {
        Vec3::new(w.x * self.alpha, w.y * self.alpha, w.z).length()
    }

    fn visible_normal(&self, o: Vec3, u: Vec2) -> Vec3 {
        let stretched = Vec3::new(o.x * self.alpha, o.y * self.alpha, o.z).normalize();
        let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
        let (sin, phi) = ((1.0 - z * z).max(0.0).sqrt(), TAU * u.x);
        let h = Vec3::new(sin * phi.cos(), sin * phi.sin(), z) + stretched;
        Vec3::new(h.x * self.alpha, h.y * self.alpha, h.z.max(0.0)).normalize_or(Vec3::Z)
    }
}
