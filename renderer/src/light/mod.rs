//! Where light comes from: emitting shapes, the environment, disks in the sky, and delta lights, with sampling and
//! its densities.

mod area;
mod bounds;
mod delta;
mod emission;
mod emission_sampler;
mod environment;
mod flat;
mod ies;
mod links;
mod profile;
mod sampling;
mod scene_lights;
mod solid_angle;
mod sun;
#[cfg(test)]
mod tests;
mod tree;

pub use area::ShapeSample;
pub use delta::{AimedProfile, Cone, LightLiSample, ParallelLight, PointLight};
pub use emission::{EmissionContext, MaterialEmission};
pub use emission_sampler::{EmissionSampler, Left, sends_photons};
pub use environment::{
    Daylight, DirectionFootprint, DrawnDirections, Environment, EnvironmentKind, Others, level_sizes,
};
pub use ies::load as load_ies;
pub use links::{LightName, LinkList, Links};
pub use profile::Profile;
pub use sampling::{LightChoice, LightSampling};
pub use scene_lights::{LightSample, SceneLights};
pub use sun::Sun;

use crate::math::lanes::Row3;
use glam::Vec3;

/// A light that is neither a shape nor the environment, by its number among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightId {
    /// A point or spot light.
    Point(u32),
    Parallel(u32),
    Sun(u32),
}

/// Where light is gathered, as far as its sampling depends on that.
#[derive(Clone, Copy, Debug, Default)]
pub struct LightSampleContext {
    pub position: Vec3,
    /// Unit length, on the side from which alone light counts; 0 where that of all sides does.
    pub normal: Vec3,
    /// The list of lights that light it: see [`Links`].
    pub list: u32,
}

/// Where the lanes of a block gather light.
struct Receivers {
    position: Row3,
    normal: Row3,
}

impl Receivers {
    fn new(receivers: &[LightSampleContext]) -> Receivers {
        let mut rows = Receivers { position: Row3::ZERO, normal: Row3::ZERO };
        for (lane, receiver) in receivers.iter().enumerate() {
            rows.position.set(lane, receiver.position);
            rows.normal.set(lane, receiver.normal);
        }
        rows
    }

    /// That of a lane, but for its list.
    #[inline(always)]
    fn get(&self, lane: usize) -> LightSampleContext {
        LightSampleContext { position: self.position.get(lane), normal: self.normal.get(lane), list: 0 }
    }
}
