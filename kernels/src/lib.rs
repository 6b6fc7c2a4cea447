//! Programs over many points.
//!
//! A *kernel* is a program that runs for every point of a grid. It reads, writes and adds to *buffers*. A [`Launch`] runs a
//! [`Kernel`] on all cores.
//!
//! Whatever is computed here comes out the same, to the byte, for any number of threads: work is cut into parts that
//! depend on the size of the data alone, parts are put together in their order, and sums into elements that many
//! points add to are exact ([`sums`]).

#![warn(missing_docs)]

pub mod buffer;
pub mod graph;
pub mod jobs;
pub mod kernel;
pub mod launch;
pub mod optimise;
pub mod sums;

pub use buffer::{Arrangement, Buffer, BufferError, Element, View, ViewMut};
pub use kernel::{
    Binding, Control, Grid, Kernel, KernelError, Launch, LaunchError, LeftOut, Member, Port, Reach, Status,
};

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/kernels.md")]
struct KernelsPage;
