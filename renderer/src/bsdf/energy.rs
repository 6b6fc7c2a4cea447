//! How much light rough surfaces scatter once, and the compensation for the rest. A lobe by itself does not follow
//! light that meets several microfacets before it leaves, so it darkens with roughness.
//!
//! The compensation scales single scattering so that a surface without absorption loses nothing (Turquin, "Practical
//! multiple scattering compensation for microfacet models", 2019). The scale depends on the outgoing direction alone:
//! samples and their density stay as they are, but reciprocity is lost. Tables hold the albedos of single scattering;
//! they are computed from the lobes' own sampling when they are first needed.

use super::ggx::Ggx;
use super::{albedo, fresnel};
use crate::math::Table;
use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;
use std::sync::LazyLock;

/// By the angle from the smoother axis, too; the smaller roughness in relation to the larger.
pub static STRETCHED: LazyLock<Table<4, f32>> = LazyLock::new(|| {
    Table::new([16, 8, 8, 6], |[c, f, r, ratio]| {
        let facets = Ggx::of_roughnesses(Vec2::new(r * ratio, r));
        mean_reflected(&facets, Vec2::from_angle(f * f * FRAC_PI_2), c * c)
    })
});

/// By cosine, roughness and density, seen from where the index is lower, and from where it is higher.
pub static INTO: LazyLock<Table<3, Vec2>> = LazyLock::new(|| dielectric_table(|ior| ior));
pub static OUT_OF: LazyLock<Table<3, Vec2>> = LazyLock::new(|| dielectric_table(|ior| 1.0 / ior));

/// √F0 of an index of 10.
pub const GREATEST: f32 = 9.0 / 11.0;

fn dielectric_table(eta: impl Fn(f32) -> f32) -> Table<3, Vec2> {
    Table::new([16, 16, 18], |[c, r, density]| {
        let root = density * density * GREATEST;
        mean_dielectric(&Ggx::of_roughness(roughness_at(r)), c * c, eta((1.0 + root) / (1.0 - root)))
    })
}

/// The least roughness that [`Ggx`] knows.
pub const LEAST_ROUGHNESS: f32 = 0.031_623;

/// That of a table's axis: finer where surfaces are smooth.
pub fn roughness_at(x: f32) -> f32 {
    LEAST_ROUGHNESS + (1.0 - LEAST_ROUGHNESS) * x.powf(1.5)
}

/// A direction of that cosine above `azimuth`.
fn outgoing(azimuth: Vec2, cosine: f32) -> Vec3 {
    let cosine = cosine.max(1e-5);
    (azimuth * (1.0 - cosine * cosine).sqrt()).extend(cosine)
}

/// Over facets on both sides of the plane of `o`, or on one of them: the other is its image where both axes are as rough.
fn mean(sides: u32, of: impl Fn(Vec2) -> Vec2) -> Vec2 {
    let points = 128 * sides;
    let width = Vec2::new(0.5 * sides as f32, 1.0);
    albedo::lattice(points).map(|u| of(u * width)).sum::<Vec2>() / points as f32
}

pub fn mean_reflected(facets: &Ggx, azimuth: Vec2, cosine: f32) -> f32 {
    let o = outgoing(azimuth, cosine);
    let sides = if facets.alpha().x == facets.alpha().y { 1 } else { 2 };
    mean(sides, |u| Vec2::new(facets.sample(o, u).map_or(0.0, |s| facets.weight(o, s.wi)), 0.0)).x
}

fn mean_dielectric(facets: &Ggx, cosine: f32, eta: f32) -> Vec2 {
    let o = outgoing(Vec2::X, cosine);
    let share = |half: Vec3| fresnel::dielectric(o.dot(half).clamp(0.0, 1.0), eta).0;
    mean(1, |u| {
        let up = facets.sample(o, u).map_or(0.0, |s| share(s.half) * facets.weight(o, s.wi));
        let down = facets.sample_refracted(o, u, eta).map_or(0.0, |s| (1.0 - share(s.half)) * facets.weight(o, s.wi));
        Vec2::new(up, down)
    })
}
