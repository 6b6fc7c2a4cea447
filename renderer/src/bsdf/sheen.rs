//! `Sheen(color tint, float roughness, normal normal, closure base)`: fibres that stand off a base, as on velvet, felt or
//! dusty surfaces, and catch light at grazing angles.
//!
//! | parameter | what |
//! | --- | --- |
//! | tint | color of the fibres, 0 to 1 per channel; darker ones also cover less of the base |
//! | roughness | 0.07 to 1: from a thin rim of light to a broad one |
//! | normal | unit shading normal |
//! | base | what the fibres stand on; a closure without a value means nothing |
//!
//! The inverted Gaussian microfacets, "Charlie", of Estevez and Kulla, "Production Friendly Microfacet Sheen BRDF" (2017),
//! with their fit to Smith's masking. The lobe leaves out their softened terminator, so it is reciprocal. It samples the
//! hemisphere uniformly, as the paper does. The weight of the base is 1 − max(tint) E(wo), where E is the directional
//! albedo, from a table.

use super::{SHADING_NORMAL, bounded};
use crate::math::Table;
use glam::{FloatExt, Vec2, Vec3};
use ssl_compiler::runtime::ClosureDefault;
use std::f32::consts::{PI, TAU};
use std::sync::LazyLock;

ssl_compiler::closure_type! {
    /// Fibres over a base, as shaders make them.
    pub struct Sheen {
        tint: color in (0.0..=1.0) = [1.0; 3],
        roughness: float in (0.07..=1.0) = 0.3,
        normal: normal = SHADING_NORMAL,
        base: closure = ClosureDefault::NoLobes,
    }
}

/// The distribution of the fibres' normals, and how they mask each other.
#[derive(Clone, Copy, Debug)]
pub struct Fibres {
    pub roughness: f32,
    /// a to e of the fit to Λ: between those of the paper's table for roughness 0 and 1.
    fit: [f32; 5],
}

/// Below, the fibres would scatter more light than there is.
pub const LEAST_ROUGHNESS: f32 = 0.07;

impl Fibres {
    pub fn of_roughness(roughness: f32) -> Fibres {
        const SMOOTH: [f32; 5] = [25.3245, 3.32435, 0.16801, -1.27393, -4.85967];
        const ROUGH: [f32; 5] = [21.5473, 3.82987, 0.19823, -1.97760, -4.32054];
        let roughness = bounded(roughness, LEAST_ROUGHNESS, 1.0, 1.0);
        let share = 1.0 - (1.0 - roughness) * (1.0 - roughness);
        Fibres { roughness, fit: std::array::from_fn(|i| SMOOTH[i].lerp(ROUGH[i], share)) }
    }

    /// D G / (4 cos θo), times the cosine of `i`; directions are local.
    pub fn eval(&self, o: Vec3, i: Vec3) -> f32 {
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        let half = (o + i).normalize_or_zero();
        let sine = (half.x * half.x + half.y * half.y).sqrt().min(1.0);
        let exponent = 1.0 / self.roughness;
        let distribution = (2.0 + exponent) * sine.powf(exponent) / TAU;
        distribution / ((1.0 + self.lambda(o.z) + self.lambda(i.z)) * 4.0 * o.z)
    }

    /// Smith's Λ, symmetric about a cosine of 1/2 in its logarithm.
    fn lambda(&self, cosine: f32) -> f32 {
        let [a, b, c, d, e] = self.fit;
        let fitted = |x: f32| a / (1.0 + b * x.powf(c)) + d * x + e;
        let exponent = if cosine < 0.5 { fitted(cosine) } else { 2.0 * fitted(0.5) - fitted((1.0 - cosine).max(0.0)) };
        exponent.exp()
    }
}

/// The share of light from all sides that untinted fibres scatter, by the root of the viewer's cosine and by the root of
/// how far the roughness is from the least: finer at the silhouette, and where the rim is thin.
pub static ALBEDOS: LazyLock<Table<2, f32>> = LazyLock::new(|| {
    Table::new([24, 12], |[c, r]| integrated((c * c).max(1e-4), LEAST_ROUGHNESS + (1.0 - LEAST_ROUGHNESS) * r * r))
});

/// ∫ eval dωi by midpoints, denser near the horizon.
fn integrated(cosine: f32, roughness: f32) -> f32 {
    const RINGS: u32 = 40;
    const STEPS: u32 = 24;
    let fibres = Fibres::of_roughness(roughness);
    let o = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
    let mut sum = 0.0;
    for ring in 0..RINGS {
        let t = (ring as f32 + 0.5) / RINGS as f32;
        let (z, sine) = (t * t, (1.0 - t * t * t * t).sqrt());
        // The half circle: the other is its mirror image.
        let angle = |step: u32| Vec2::from_angle((step as f32 + 0.5) / STEPS as f32 * PI);
        let around: f32 = (0..STEPS).map(|step| fibres.eval(o, (angle(step) * sine).extend(z))).sum();
        sum += around / STEPS as f32 * TAU * 2.0 * t / RINGS as f32;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the paper's formulas.
    #[test]
    fn the_distribution_is_that_of_the_paper() {
        // Straight on and mirrored about a normal 45° off, where sin² = 1/2: D = (2 + 2) (1/2)/(2π).
        let fibres = Fibres::of_roughness(0.5);
        let (o, i) = (Vec3::Z, Vec3::new(1.0, 0.0, 1e-6).normalize());
        let masking = 1.0 + fibres.lambda(1.0) + fibres.lambda(i.z);
        assert!((fibres.eval(o, i) * masking * 4.0 - 1.0 / PI).abs() < 1e-4);
        // The fit at a roughness of 1 and a cosine of 0.25, worked out by hand from the paper's table.
        let expected = (21.5473_f64 / (1.0 + 3.82987 * 0.25_f64.powf(0.19823)) - 1.97760 * 0.25 - 4.32054).exp();
        assert!((f64::from(Fibres::of_roughness(1.0).lambda(0.25)) - expected).abs() < 1e-4 * expected);
    }
}
