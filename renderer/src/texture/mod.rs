//! Images as shaders see them: filtered, mipmapped, with their gradients.
//!
//! Texture space has (0,0) in the lower left corner and (1,1) in the upper right; texel centers lie at half-integers.
//! Footprints arrive per pixel of the film and are scaled by 1/√(samples per pixel), because the samples share the
//! pixel between them.

mod access;
pub mod cache;
pub mod file;
mod filter;
mod filtered;
mod footprint;
mod gradients;
mod held;
mod held_textures;
mod image_file;
mod kept_gradients;
mod layout;
pub mod make;
mod memory;
mod mip_mode;
pub mod not_finite;
mod quads;
mod scattered;
mod storage;
mod system;
mod texel;
mod udim;
mod wrap;

pub use filtered::Filtered;
pub use footprint::{Footprint, Places, Selection};
pub use gradients::{GradientPyramid, KeptGradient};
pub use image_file::load_pixels;
pub use layout::{Alpha, ColorSpace, Layout, Level, Sample, TileSource};
pub use memory::{MAX_SIDE, Pyramid};
pub use mip_mode::MipMode;
pub use not_finite::NotFinite;
pub use scattered::Scattered;
pub use storage::{Disk, Storage, StoredFile};
pub use system::{Images, TextureEntry, TextureOptions, TextureSystem};
pub use wrap::Wrap;
