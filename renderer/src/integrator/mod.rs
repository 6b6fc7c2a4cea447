//! The integrators: a wavefront over one tile and one batch of samples at a time, in stages over arrays; photons; and replays
//! for gradients.

mod accumulate;
mod ambient_occlusion;
mod aov;
mod camera_rays;
mod caustics;
pub mod clock;
mod counts;
mod differentials;
mod direct;
mod emission;
mod emit;
mod escape;
pub mod faults;
mod followed_lights;
mod guided;
mod guided_lanes;
mod intersect;
mod last_vertices;
mod light_directions;
mod light_samples;
mod light_weights;
pub mod messages;
mod narrow_shares;
mod numbers;
mod observers;
pub mod occupancy;
mod order;
mod palette;
mod path;
mod path_tracer;
pub mod photons;
pub mod probe;
mod probing;
mod ray_origins;
pub mod replay;
mod scatter;
#[cfg(test)]
mod scenes_for_tests;
mod shading;
mod termination;
mod vertices;
mod view;
mod visibility;
mod watch;
mod wavefront;
mod whitted;
mod workspace;

pub use aov::Recorded;
pub use counts::BatchCounts;
pub use faults::Faults;
pub use messages::Messages;
pub use view::View;
pub use wavefront::{Batch, trace};
pub use workspace::Workspace;
