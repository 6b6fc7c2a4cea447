//! The tables of `bsdf/energy.rs` as the lobes in Rust look them up.

use crate::bsdf::energy::{INTO, OUT_OF, ROUND, STRETCHED};
use crate::bsdf::ggx::Ggx;
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

/// The share of light from everywhere that perfect mirrors for facets reflect to `o`, a local direction, once.
pub fn reflected(facets: &Ggx, o: Vec3) -> f32 {
    let alpha = facets.alpha();
    let stretched = Vec3::new(o.x * alpha.x, o.y * alpha.y, o.z.max(0.0)).normalize_or(Vec3::Z);
    let (height, larger) = (height(stretched.z), alpha.max_element());
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
    let table = if eta < 1.0 { &OUT_OF } else { &INTO };
    let alpha = facets.alpha().x;
    let stretched = Vec3::new(o.x * alpha, o.y * alpha, o.z.max(0.0)).normalize_or(Vec3::Z);
    let shares = table.at([height(stretched.z), along_roughness(alpha), density(eta)]);
    // Near the critical angle each may be off, and their sum is not.
    let all = shares.element_sum().max(1e-3);
    let reflected = shares.x.clamp(0.0, all);
    Vec2::new(reflected, all - reflected)
}

/// √F0 of an index of 10.
pub const GREATEST: f32 = 9.0 / 11.0;

/// Of the least index that the tables know, 1.02: the least density.
pub const LEAST_DENSITY: f32 = 0.11;

/// The least roughness that [`Ggx`] knows.
pub const LEAST_ROUGHNESS: f32 = 0.031_623;

/// The roughness of facets above the least, from 0 to 1.
pub fn along_roughness(alpha: f32) -> f32 {
    (alpha.sqrt() - LEAST_ROUGHNESS) / (1.0 - LEAST_ROUGHNESS)
}

/// The height of a direction where facets are stretched to a roughness of 1, from 0 at the horizon to 1. Nodes are
/// close to each other at the horizon. `cosine` is the direction's there.
pub fn height(cosine: f32) -> f32 {
    let half_tangent = ((1.0 - cosine) / (1.0 + cosine)).max(1e-8).sqrt();
    (2.0 * cosine / ((1.0 + cosine) * (1.0 + half_tangent))).max(1e-8).sqrt()
}

/// Where an index, or its inverse, stands in tables of dielectrics: much happens near an index of 1.
pub fn density(eta: f32) -> f32 {
    let ior = eta.max(1.0 / eta);
    ((((ior - 1.0) / (ior + 1.0)).max(0.0) / GREATEST).sqrt() - LEAST_DENSITY) / (1.0 - LEAST_DENSITY)
}
