//! How much light the rough boundary of a dielectric reflects, by itself, which coats and the gloss of plastics share: the rest is for
//! what lies beneath.
//!
//! [GGX microfacets](super::ggx) with Fresnel's equations. Single scattering only, so a layer and a white base reflect everything together.

use super::fresnel;
use super::ggx::Ggx;
use crate::math::Table;
use glam::{Vec2, Vec3};
use std::sync::LazyLock;

const COSINES: usize = 32;
const ROUGHNESSES: usize = 24;
const INDICES: usize = 16;
/// Directions that are averaged for one entry.
const POINTS: u32 = 256;
/// Of the amplitude that the boundary reflects straight on, (η − 1)/(η + 1): an index of 10.
pub const LARGEST_AMPLITUDE: f32 = 9.0 / 11.0;

/// What is reflected over what Fresnel's equations give for a smooth boundary under the angle of the viewer: it varies
/// slowly, and is 1 for what is smooth. By the root of the cosine, the roughness above the least, and the root of the amplitude over the
/// largest.
pub static TABLE: LazyLock<Table<3, f32>> = LazyLock::new(|| {
    let grid = (0..ROUGHNESSES).flat_map(|r| (0..COSINES).map(move |c| (cosine_of(c), roughness_of(r))));
    let rows: Vec<[f32; INDICES]> = grid.map(|(cosine, roughness)| ratios(cosine, roughness)).collect();
    let nodes = (0..INDICES).flat_map(|i| rows.iter().map(move |row| row[i])).collect();
    Table::from_nodes([COSINES, ROUGHNESSES, INDICES], nodes)
});

/// Close to each other at the silhouette.
fn cosine_of(entry: usize) -> f32 {
    let t = entry as f32 / (COSINES - 1) as f32;
    (t * t).max(1e-4)
}

/// The least roughness that [`Ggx`] knows.
pub const LEAST_ROUGHNESS: f32 = 0.031_623;

fn roughness_of(entry: usize) -> f32 {
    LEAST_ROUGHNESS + (1.0 - LEAST_ROUGHNESS) * (entry as f32 / (ROUGHNESSES - 1) as f32)
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
