//! An offline CPU path tracer that shades with SSL.
//!
//! Modules stand in the order of their layers; one may use those above it, never those below. `geometry` and `accel` are one
//! layer: groups of shapes hold structures over shapes.

pub mod caches;

pub mod math;

pub mod memory;
pub mod photon_map;

pub mod ray;

pub mod sampler;

pub mod geometry;

pub mod accel;

pub mod fiber;

pub mod texture;

pub mod bsdf;

pub mod material;

pub mod light;

pub mod guide;

pub mod camera;

pub mod film;

pub mod scene;

pub mod integrator;

pub mod render;

pub mod inverse;
