//! Tiles in memory, and their names.

use std::sync::Arc;

/// Which tile of which texture: the number of the texture, then that of the tile, counted through all levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileKey(u64);

/// Bits for the number of a tile within its texture.
const TILE_BITS: u32 = 40;

impl TileKey {
    /// No tile's key.
    pub const NONE: TileKey = TileKey(u64::MAX);

    /// `tile` is less than 2⁴⁰, and `texture` less than 2²⁴ − 1.
    pub fn new(texture: u32, tile: u64) -> TileKey {
        TileKey(u64::from(texture) << TILE_BITS | tile)
    }

    pub fn texture(self) -> u32 {
        (self.0 >> TILE_BITS) as u32
    }

    pub fn tile(self) -> u64 {
        self.0 & ((1 << TILE_BITS) - 1)
    }

    /// Well mixed in its upper bits (Fibonacci hashing; Knuth, TAOCP 3, 6.4).
    pub fn hash(self) -> u64 {
        (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The texels of a tile, as [`super::super::TileSource::read_tile`] writes them; none where it could not be read. They
/// live as long as someone holds them; the cache drops its own hold only while nobody else has one.
pub type Texels = Arc<[u8]>;

/// What a tile and the cache's entry for it take beside the texels, in bytes.
pub const OVERHEAD: usize = 192;
