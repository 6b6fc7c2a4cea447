//! The path tracer: a wavefront over one tile and one batch of samples at a time.

mod aov;
mod bounce;
pub mod clock;
mod direct;
pub mod faults;
pub mod messages;
mod numbers;
mod occlusion;
pub mod occupancy;
mod order;
mod own_light;
mod palette;
mod path;
pub mod probe;
mod sent;
mod step;
mod view;
mod visible;
mod watch;
mod wavefront;
mod whitted;

pub use aov::Recorded;
pub use faults::Faults;
pub use messages::Messages;
pub use path::Workspace;
pub use view::View;
pub use wavefront::{BatchCounts, trace};
