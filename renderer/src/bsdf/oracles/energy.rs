//! The tables of `bsdf/energy.rs` as the lobes in Rust look them up.

use crate::bsdf::energy::{GREATEST, INTO, LEAST_ROUGHNESS, OUT_OF, STRETCHED, mean_reflected, roughness_at};
use crate::bsdf::ggx::Ggx;
use crate::math::Table;
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;
use std::sync::LazyLock;

/// By cosine and roughness.
static ROUND: LazyLock<Table<2, f32>> = LazyLock::new(|| {
    Table::new([32, 32], |[c, r]| mean_reflected(&Ggx::of_roughness(roughness_at(r)), Vec2::X, c * c))
});

/// The share of light from everywhere that perfect mirrors for facets reflect to `o`, a local direction, once. Good to 1 %;
/// where the roughnesses along x and y differ, to 3 % at grazing directions.
pub fn reflected(facets: &Ggx, o: Vec3) -> f32 {
    let (alpha, cosine) = (facets.alpha(), along_cosine(o));
    if alpha.x == alpha.y {
        return ROUND.at([cosine, along_roughness(alpha.x)]);
    }
    let (smooth, rough) = if alpha.x < alpha.y { (o.x, o.y) } else { (o.y, o.x) };
    let angle = (rough.abs().atan2(smooth.abs()) / FRAC_PI_2).sqrt();
    let larger = alpha.max_element();
    STRETCHED.at([cosine, angle, larger.sqrt(), (alpha.min_element() / larger).sqrt()])
}

/// What scales light that is reflected once, if facets reflect `f0` of what comes from the front.
pub fn compensation(facets: &Ggx, o: Vec3, f0: Vec3) -> Vec3 {
    let once = reflected(facets, o);
    1.0 + f0.min(Vec3::ONE) * ((1.0 - once) / once)
}

/// The shares of light that facets of a dielectric, as rough along x as along y, reflect and refract once, seen from `o`,
/// where the index on the other side is `eta` times that on this one. The sum is good to 1 %; at grazing directions to
/// 3 %, and from inside of what has an index below 1.1 to 7 %.
pub fn dielectric(facets: &Ggx, o: Vec3, eta: f32) -> Vec2 {
    let table = if eta < 1.0 { &OUT_OF } else { &INTO };
    let ior = eta.max(1.0 / eta);
    // √F0 is (η − 1)/(η + 1); near an index of 1 much happens.
    let density = ((ior - 1.0) / (ior + 1.0) / GREATEST).sqrt();
    table.at([along_cosine(o), along_roughness(facets.alpha().x), density])
}

fn along_roughness(alpha: f32) -> f32 {
    ((alpha.sqrt() - LEAST_ROUGHNESS) / (1.0 - LEAST_ROUGHNESS)).max(0.0).powf(2.0 / 3.0)
}

/// Finer near the horizon.
fn along_cosine(o: Vec3) -> f32 {
    o.z.clamp(0.0, 1.0).sqrt()
}
