//! Where light comes from: emitting shapes, the environment, and lights without extent, with sampling and its densities.

mod area;
mod delta;
mod environment;
mod sampling;

pub use area::AreaLights;
pub use delta::DeltaLight;
pub use environment::{Environment, EnvironmentKind, level_sizes};
pub use sampling::LightSampling;

use glam::Vec3;

/// A direction towards a light, drawn from a shading point.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    /// Unit length.
    pub wi: Vec3,
    /// To the light.
    pub distance: f32,
    pub radiance: Vec3,
    /// Per steradian.
    pub pdf: f32,
}
