//! What a cache keeps of each texture as long as it lives.

use super::statistics::Counters;
use crate::texture::TileSource;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A texture whose tiles the cache keeps.
pub(super) struct Cached {
    pub name: String,
    pub source: Arc<dyn TileSource>,
    /// The number of each level's first tile, and at the end that of all tiles.
    pub first_tiles: Vec<u64>,
    /// A bit for each tile that was ever read.
    pub seen: Box<[AtomicU64]>,
    /// A bit for each tile that could not be read, and is not read again.
    failed: Box<[AtomicU64]>,
    pub counters: Counters,
}

impl Cached {
    pub fn new(name: String, source: Arc<dyn TileSource>) -> Cached {
        let mut first_tiles = vec![0];
        for level in &source.layout().levels {
            first_tiles.push(first_tiles[first_tiles.len() - 1] + level.tiles());
        }
        let tiles = first_tiles[first_tiles.len() - 1];
        let bits = || (0..tiles.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Cached { name, source, first_tiles, seen: bits(), failed: bits(), counters: Counters::default() }
    }

    /// What is kept of the texture as long as the cache lives, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Cached>()
            + self.name.len()
            + 8 * (self.first_tiles.len() + self.seen.len() + self.failed.len())
            + size_of_val(self.source.layout().levels.as_slice())
    }

    /// Whether a tile could not be read.
    pub fn has_failed(&self, tile: u64) -> bool {
        self.failed[(tile / 64) as usize].load(Ordering::Relaxed) >> (tile % 64) & 1 != 0
    }

    /// Keeps that a tile could not be read.
    pub fn fail(&self, tile: u64) {
        self.failed[(tile / 64) as usize].fetch_or(1 << (tile % 64), Ordering::Relaxed);
    }

    /// Level, column and row of a tile.
    pub fn place(&self, tile: u64) -> (usize, u32, u32) {
        let level = self.first_tiles.partition_point(|&first| first <= tile) - 1;
        let columns = u64::from(self.source.layout().levels[level].columns());
        let within = tile - self.first_tiles[level];
        (level, (within % columns) as u32, (within / columns) as u32)
    }
}
