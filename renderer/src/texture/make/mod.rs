//! Makes textures: any image becomes a tiled, mip-mapped file, in one pass over its rows.
//!
//! Rows are decoded once and go down a chain of levels. Each level holds only the rows that its filter still needs and
//! the row of tiles that is being filled. So the memory is that of some rows for each level, whatever the image's
//! height. Formats that cannot be decoded by rows are held whole while they are read.

mod bands;
mod conversion;
mod convert;
mod exr_writer;
mod kernel;
mod light;
mod normals;
mod not_finite;
mod pack;
mod partial;
mod shrink;
mod store;
mod tiff_writer;
mod writer;

pub use conversion::{Compression, Conversion, MipFilter};
pub use convert::{MakeError, convert};
pub(super) use kernel::Taps;
pub use partial::Partial;
pub use store::{default_folder, make_folder, prepared, temporary_folder};
