//! The tests of this crate in one program, as each program takes seconds to link.

mod buffers;
mod endings;
mod gradients;
mod graph;
mod graph_gradients;
mod integrals;
mod inverse_uv;
mod job_faults;
mod job_files;
mod jobs;
mod kernels;
mod launches;
mod mutated_jobs;
mod optimise;
mod packing;
mod raster;
mod raster_in_doubles;
mod raster_shading;
mod splats;
mod sums;
