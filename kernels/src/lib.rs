//! Programs over many points.
//!
//! Whatever is computed here comes out the same, to the byte, for any number of threads: work is cut into parts that
//! depend on the size of the data alone, parts are put together in their order, and sums into elements that many
//! points add to are exact ([`sums`]).

pub mod launch;
pub mod sums;
