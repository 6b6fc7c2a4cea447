//! What a texture holds: the sizes of its levels and tiles, and how its texels are stored.

use super::{NotFinite, Wrap};
pub use formats::picture::{Alpha, ColorSpace, Sample};

/// One level of the mip pyramid, cut into tiles from the top left corner; tiles at the right and lower border reach
/// past the image, and what they hold there is never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// In texels; so are the tiles' sizes.
    pub width: u32,
    pub height: u32,
    pub tile_width: u32,
    pub tile_height: u32,
}

impl Level {
    /// Tiles beside each other.
    pub fn columns(&self) -> u32 {
        self.width.div_ceil(self.tile_width)
    }

    /// Tiles above each other.
    pub fn rows(&self) -> u32 {
        self.height.div_ceil(self.tile_height)
    }

    pub fn tiles(&self) -> u64 {
        u64::from(self.columns()) * u64::from(self.rows())
    }
}

/// A mip-mapped, tiled texture as seen by who reads its tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub sample: Sample,
    /// 1 (grey), 2 (grey and alpha), 3 (red, green, blue) or 4 (and alpha).
    pub channels: u32,
    pub alpha: Alpha,
    /// From the finest, level 0, on; at least one.
    pub levels: Vec<Level>,
    /// What the file says of its colors, where it does.
    pub color_space: Option<ColorSpace>,
    /// What the file says lies outside the unit square, in u and in v, where it does.
    pub wrap: Option<[Wrap; 2]>,
    /// What the file says that its texels, of all levels, come to: files of the same layout and fingerprint hold the
    /// same. Begins with the name of who made it up.
    pub fingerprint: Option<String>,
    /// Texels that were NaN or infinite in the image that the file was made from, where it says so.
    pub not_finite: Option<NotFinite>,
}

impl Layout {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> usize {
        self.channels as usize * self.sample.bytes()
    }

    /// Bytes of a tile of a level: rows from the top, each of `tile_width` texels, without gaps.
    pub fn tile_bytes(&self, level: usize) -> usize {
        let l = &self.levels[level];
        l.tile_width as usize * l.tile_height as usize * self.texel_bytes()
    }
}

/// Tiles of one texture: a file, or in tests and benches a formula.
pub trait TileSource: Send + Sync {
    fn layout(&self) -> &Layout;

    /// Sources of the same layout and identity hold the same texels; `None` is like no other.
    fn identity(&self) -> Option<&str> {
        self.layout().fingerprint.as_deref()
    }

    /// Writes the tile in column `x` and row `y` of a level into `out`, [`Layout::tile_bytes`] long. One read of the
    /// storage. What `out` held before means nothing, and what lies past the image may be left as it is. The error is a sentence for the user.
    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String>;
}
