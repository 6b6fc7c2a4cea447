//! Images as shaders see them: filtered, mipmapped, with their gradients.
//!
//! Texture space has (0,0) in the lower left corner and (1,1) in the upper right; texel centers lie at
//! half-integers. Footprints arrive per pixel of the film and are scaled by 1/√(samples a pixel), because
//! that many samples share the pixel between them.

mod filter;
mod footprint;
mod image_file;
mod pyramid;
mod system;

pub use filter::{Filtered, MipMode};
pub use image_file::{load, load_pixels};
pub use pyramid::{MAX_SIDE, Pyramid, TexelSource, Wrap};
pub use system::TextureSystem;
