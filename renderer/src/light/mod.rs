//! Where light comes from: emitting shapes, the environment, disks in the sky, and lights without extent, with sampling and its densities.

mod area;
mod delta;
mod environment;
mod ies;
mod profile;
mod sampling;
mod sun;

pub use area::AreaLights;
pub use delta::{AimedProfile, Cone, DeltaLight, PointLight};
pub use environment::{Environment, EnvironmentKind, level_sizes};
pub use ies::load as load_ies;
pub use profile::Profile;
pub use sampling::LightSampling;
pub use sun::Sun;

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
