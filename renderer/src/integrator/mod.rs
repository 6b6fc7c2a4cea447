//! The path tracer: a wavefront over one tile and one batch of samples at a time.

mod bounce;
pub mod messages;
mod path;
mod wavefront;

pub use messages::Messages;
pub use path::Workspace;
pub use wavefront::{BatchCounts, trace};
