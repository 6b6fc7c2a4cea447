//! The path tracer: a wavefront over one tile and one batch of samples at a time.

mod bounce;
mod path;
mod wavefront;

pub use path::Workspace;
pub use wavefront::{BatchCounts, trace};
