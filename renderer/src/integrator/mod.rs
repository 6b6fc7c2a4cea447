//! The path tracer: a wavefront over one tile and one batch of samples at a time.

mod aov;
mod arrival;
mod bounce;
pub mod clock;
mod counts;
mod direct;
mod emission;
pub mod faults;
mod light_samples;
pub mod messages;
mod numbers;
mod occlusion;
pub mod occupancy;
mod order;
mod own_light;
mod palette;
mod path;
pub mod probe;
mod step;
mod view;
mod visibility;
mod watch;
mod wavefront;
mod whitted;

pub use aov::Recorded;
pub use counts::BatchCounts;
pub use faults::Faults;
pub use messages::Messages;
pub use path::Workspace;
pub use view::View;
pub use wavefront::trace;
