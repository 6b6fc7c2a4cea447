//! What no kernel can do, since a point of a kernel reads nothing that another point writes: sums of all that comes before,
//! sorting, packing, counting. Each is a launch of its own, and each says what its transpose is.
//!
//! Every function here runs on rayon's current pool.

mod compact;
mod histogram;
mod reduce;
mod scan;
mod sort;
mod tiles;

pub use compact::compact;
pub use histogram::histogram;
pub use reduce::{max, min, sum};
pub use scan::{TooMany, offsets, prefix_sum, suffix_sum};
pub use sort::Sorter;
pub use tiles::{Box2, TileLists, Tiles};

/// Elements of one part of the work. A constant: if it depended on the number of threads, so would the order in which floats are
/// added.
const PART: usize = 1 << 14;
