//! The tables of `bsdf/energy.rs` as the lobes in Rust look them up.

use crate::bsdf::energy::{INTO, OUT_OF, ROUND, STRETCHED};
use crate::bsdf::ggx::Ggx;
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

/// The share of light from everywhere that perfect mirrors for facets reflect to `o`, a local direction, once.
pub fn reflected(facets: &Ggx, o: Vec3) -> f32 {
    let alpha = facets.alpha();
    let stretched = stretched(facets, o);
    let (height, larger) = (height(stretched), alpha.max_element());
    if alpha.x == alpha.y {
        return ROUND.at([height, along_roughness(larger)]);
    }
    let (rough, smooth) = if alpha.x > alpha.y { (stretched.x, stretched.y) } else { (stretched.y, stretched.x) };
    let turn = smooth.abs().atan2(rough.abs()) / FRAC_PI_2;
    STRETCHED.at([height, turn, along_roughness(larger), (alpha.min_element() / larger).sqrt()])
}

/// What scales light that is reflected once, if facets reflect `f0` of what comes from the front.
pub fn compensation(facets: &Ggx, o: Vec3, f0: Vec3) -> Vec3 {
    let once = reflected(facets, o);
    1.0 + f0.min(Vec3::ONE) * ((1.0 - once) / once)
}

/// The shares of light that facets of a dielectric, as rough along x as along y, reflect and refract once, seen from
/// `o`. `eta` is the index on the other side over the index on this one.
pub fn dielectric(facets: &Ggx, o: Vec3, eta: f32) -> Vec2 {
    let (alpha, stretched) = (facets.alpha().x, stretched(facets, o));
    let (table, place) = if eta < 1.0 {
        (&OUT_OF, Crowded::about_critical(alpha, 1.0 / eta).place(depth(stretched)))
    } else {
        (&INTO, height(stretched))
    };
    let shares = table.at([place, along_roughness(alpha), density(eta)]);
    // Near the critical angle each may be off, and their sum is not.
    let all = shares.element_sum().max(1e-3);
    let reflected = shares.x.clamp(0.0, all);
    Vec2::new(reflected, all - reflected)
}

/// √F0 of an index of 10.
pub const GREATEST: f32 = 9.0 / 11.0;

/// Of the least index that the tables know, 1.02: the least density.
pub const LEAST_DENSITY: f32 = 0.3316;

/// The least roughness that [`Ggx`] knows.
pub const LEAST_ROUGHNESS: f32 = 0.031_623;

/// The roughness of facets above the least, from 0 to 1.
pub fn along_roughness(alpha: f32) -> f32 {
    (alpha.sqrt() - LEAST_ROUGHNESS) / (1.0 - LEAST_ROUGHNESS)
}

/// A local direction where facets are stretched to a roughness of 1, of any length.
pub fn stretched(facets: &Ggx, o: Vec3) -> Vec3 {
    let alpha = facets.alpha();
    Vec3::new(o.x * alpha.x, o.y * alpha.y, o.z.max(0.0))
}

/// How high such a direction is, from 0 at the horizon to 1: close to each other there.
pub fn height(stretched: Vec3) -> f32 {
    (2.0 * stretched.z / (along(stretched) * (1.0 + half_tangent(stretched)))).max(1e-8).sqrt()
}

/// 1 − [`height`], which keeps its digits near 0.
pub fn depth(stretched: Vec3) -> f32 {
    half_tangent(stretched) / (1.0 + height(stretched))
}

/// Of the direction's angle from above. Above smooth facets all are small, and their digits do not cancel.
fn half_tangent(stretched: Vec3) -> f32 {
    let along = along(stretched);
    (stretched.truncate().length_squared() / (along * along)).max(1e-12).sqrt()
}

fn along(stretched: Vec3) -> f32 {
    (stretched.z + stretched.length()).max(1e-9)
}

/// Places of depths, from 1 above to 0 at the horizon, on a hyperbolic sine: dense about one of them, over a width.
pub struct Crowded {
    about: f32,
    width: f32,
    /// How far both ends are.
    above: f32,
    below: f32,
}

impl Crowded {
    /// About the critical angle of an index above 1. Refraction ends there, the more suddenly the smoother the facets are. The width
    /// was fitted.
    pub fn about_critical(alpha: f32, ior: f32) -> Crowded {
        let tangent = alpha / (ior * ior - 1.0).max(0.04).sqrt();
        let about = depth(Vec3::new(tangent, 0.0, 1.0));
        let width = (0.5 * ior * (tangent + 0.06)).powi(2);
        Crowded { about, width, above: (about / width).asinh(), below: ((1.0 - about) / width).asinh() }
    }

    pub fn place(&self, depth: f32) -> f32 {
        (((self.about - depth) / self.width).asinh() + self.below) / (self.above + self.below)
    }

    /// The depth that has this place.
    #[cfg(test)]
    pub fn depth(&self, place: f32) -> f32 {
        let along = place * (self.above + self.below) - self.below;
        (self.about - self.width * along.sinh()).clamp(0.0, 1.0)
    }
}

/// Where an index, or its inverse, stands in tables of dielectrics: much happens near an index of 1.
pub fn density(eta: f32) -> f32 {
    let ior = eta.max(1.0 / eta);
    ((((ior - 1.0) / (ior + 1.0)).max(0.0) / GREATEST).sqrt().sqrt() - LEAST_DENSITY) / (1.0 - LEAST_DENSITY)
}
