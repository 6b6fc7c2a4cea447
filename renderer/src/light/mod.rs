//! Where light comes from: emitting shapes and the environment, with sampling and its densities.

mod area;
mod environment;

pub use area::AreaLights;
pub use environment::{Environment, EnvironmentKind};

use glam::Vec3;

/// A direction towards a light, drawn from a shading point.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Unit length.
    pub wi: Vec3,
    /// To the light; infinite for the environment.
    pub distance: f32,
    pub radiance: Vec3,
    /// Per steradian.
    pub pdf: f32,
}

/// The share of a sample of density `a` where one of density `b` could have drawn the same (Veach's
/// power heuristic with exponent 2).
pub fn power_heuristic(a: f32, b: f32) -> f32 {
    if a.is_infinite() {
        return 1.0;
    }
    let ratio = b / a;
    1.0 / (1.0 + ratio * ratio)
}
