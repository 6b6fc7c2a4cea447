//! Where the tiles of a file stand: eight bytes a tile.

use super::FileError;
use crate::texture::Level;

const LENGTH_BITS: u32 = 26;

/// The largest tile, stored or unpacked: 64 MiB.
pub const MAX_TILE_BYTES: u64 = (1 << LENGTH_BITS) - 1;

/// The longest file that fits: 256 GiB.
pub const MAX_OFFSET: u64 = (1 << (64 - LENGTH_BITS)) - 1;

/// Offset and stored length of each tile, level after level, rows from the top.
pub struct TileTable {
    packed: Box<[u64]>,
}

impl TileTable {
    /// From pairs of offset and length.
    pub fn new(tiles: impl Iterator<Item = (u64, u64)>) -> Result<TileTable, FileError> {
        let mut table = TileTableBuilder::default();
        table.extend(tiles)?;
        Ok(table.build())
    }

    /// Offset and stored length of a tile; `None` where there is no such tile.
    pub fn get(&self, levels: &[Level], level: usize, x: u32, y: u32) -> Option<(u64, usize)> {
        let here = levels.get(level).filter(|l| x < l.columns() && y < l.rows())?;
        let before: u64 = levels[..level].iter().map(Level::tiles).sum();
        let index = before + u64::from(y) * u64::from(here.columns()) + u64::from(x);
        let packed = *self.packed.get(usize::try_from(index).ok()?)?;
        Some((packed >> LENGTH_BITS, (packed & MAX_TILE_BYTES) as usize))
    }

    /// Bytes stored for all tiles of a level.
    pub fn stored(&self, levels: &[Level], level: usize) -> u64 {
        let before: u64 = levels[..level].iter().map(Level::tiles).sum();
        let tiles = self.packed.iter().skip(before as usize).take(levels[level].tiles() as usize);
        tiles.map(|p| p & MAX_TILE_BYTES).sum()
    }

    /// Where the last tile ends.
    pub fn end(&self) -> u64 {
        self.packed.iter().map(|p| (p >> LENGTH_BITS) + (p & MAX_TILE_BYTES)).max().unwrap_or(0)
    }

    /// Memory beside the struct itself.
    pub fn bytes(&self) -> usize {
        self.packed.len() * size_of::<u64>()
    }
}

/// A table while it is put together, level after level: large files have large ones, of which there should be no copies.
#[derive(Default)]
pub struct TileTableBuilder {
    packed: Vec<u64>,
}

impl TileTableBuilder {
    /// Adds pairs of offset and length.
    pub fn extend(&mut self, tiles: impl Iterator<Item = (u64, u64)>) -> Result<(), FileError> {
        self.packed.reserve_exact(tiles.size_hint().0);
        for (offset, length) in tiles {
            if length > MAX_TILE_BYTES {
                return Err(FileError::unsupported("a file with tiles beyond 64 MiB"));
            }
            if offset > MAX_OFFSET {
                return Err(FileError::unsupported("a file beyond 256 GiB"));
            }
            self.packed.push(offset << LENGTH_BITS | length);
        }
        Ok(())
    }

    pub fn build(self) -> TileTable {
        TileTable { packed: self.packed.into() }
    }
}
