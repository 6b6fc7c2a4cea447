//! Small mathematics that every part of the renderer shares: frames, warps of the unit square, color.

pub mod ball;
mod color;
mod distribution;
pub mod figures;
mod frame;
pub mod lanes;
mod prefetch;
mod table;
pub mod tree;
mod trig;
mod warp;

pub use color::{blackbody, linear_to_srgb, luminance, of_xyz, srgb_to_linear};
pub use distribution::Distribution;
pub use frame::Frame;
pub use prefetch::{prefetch, prefetch_at};
pub use table::{Table, between};
pub use trig::{sin_cos_octant, sin_cos_turns, turns_of};
pub use warp::{concentric_disk, cosine_hemisphere, split, uniform_cone, uniform_triangle};

/// The component-wise largest of a color's channels.
pub fn max_channel(c: glam::Vec3) -> f32 {
    c.max_element()
}
