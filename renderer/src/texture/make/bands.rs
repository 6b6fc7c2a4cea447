//! The rows of tiles of one level, filled by rows in any order.

use crate::texture::Level;
use rayon::prelude::*;
use std::collections::BTreeMap;

pub struct Bands {
    level: Level,
    row_bytes: usize,
    /// By row of tiles: its texels and how many of its rows are there.
    begun: BTreeMap<u32, (Vec<u8>, u32)>,
}

/// A row of tiles of a level: which, and its texels, as many rows as lie inside the image.
pub type Band = (u32, Vec<u8>);

impl Bands {
    pub fn new(level: Level, texel_bytes: usize) -> Bands {
        Bands { level, row_bytes: level.width as usize * texel_bytes, begun: BTreeMap::new() }
    }

    /// Takes rows, which `encode` stores, and gives the rows of tiles that are full.
    pub fn push(&mut self, rows: &[(u32, Vec<f32>)], encode: impl Fn(&[f32], &mut [u8]) + Sync) -> Vec<Band> {
        let one = |(y, row): &(u32, Vec<f32>)| {
            let mut bytes = vec![0; self.row_bytes];
            encode(row, &mut bytes);
            (*y, bytes)
        };
        let stored: Vec<(u32, Vec<u8>)> = rows.par_iter().map(one).collect();
        let mut full = Vec::new();
        for (y, bytes) in stored {
            let band = y / self.level.tile_height;
            let first = band * self.level.tile_height;
            let height = self.level.tile_height.min(self.level.height - first);
            let empty = || (vec![0; height as usize * self.row_bytes], 0);
            let (texels, count) = self.begun.entry(band).or_insert_with(empty);
            texels[(y - first) as usize * self.row_bytes..][..self.row_bytes].copy_from_slice(&bytes);
            *count += 1;
            if *count == height {
                full.extend(self.begun.remove(&band).map(|(texels, _)| (band, texels)));
            }
        }
        full
    }
}
