//! Binning: for each tile of a picture, which boxes touch it, in the order of the boxes.
//!
//! Parts of the boxes count what they have for each tile. From the counts follows where a part writes its entries, so that the
//! lists are the same for any number of threads.

use super::PART;
use super::scan::TooMany;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A picture cut into square tiles, the first at the origin; the last ones of a row or column may stick out.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Tiles of a row, and rows.
    pub count: [u32; 2],
    /// Pixels of a side.
    pub side: u32,
}

/// Bounds in pixels, from `min` to `max`, both inside.
#[derive(Clone, Copy, Debug)]
pub struct Box2 {
    /// The lower left corner.
    pub min: [f32; 2],
    /// The upper right corner.
    pub max: [f32; 2],
}

impl Tiles {
    /// Tiles that cover a picture of so many pixels.
    ///
    /// # Panics
    /// If a tile has no pixels.
    pub fn covering(width: u32, height: u32, side: u32) -> Self {
        Self { count: [width.div_ceil(side), height.div_ceil(side)], side }
    }

    /// How many entries the lists of boxes have in all.
    pub fn entries(self, boxes: &[Box2]) -> u64 {
        boxes.par_iter().with_min_len(PART).map(|bounds| self.count_of(bounds)).sum()
    }

    /// The tiles that a box touches: from the first column and row to behind the last ones. A box with a NaN touches none.
    fn touched(self, bounds: &Box2) -> [std::ops::Range<u32>; 2] {
        [0, 1].map(|axis| {
            let (min, max) = (bounds.min[axis], bounds.max[axis]);
            let side = self.side as f32;
            // With a NaN no comparison holds. The casts saturate.
            let (ordered, reaches) = (min <= max, max >= 0.0);
            if !ordered || !reaches {
                return 0..0;
            }
            let first = (min / side).floor().max(0.0) as u32;
            let behind = ((max / side).floor() as u32).saturating_add(1);
            first..behind.min(self.count[axis]).max(first)
        })
    }

    fn count_of(self, bounds: &Box2) -> u64 {
        let [columns, rows] = self.touched(bounds);
        columns.len() as u64 * rows.len() as u64
    }

    /// The numbers of the tiles that a box touches.
    fn of(self, bounds: &Box2) -> impl Iterator<Item = usize> {
        let [columns, rows] = self.touched(bounds);
        let width = self.count[0] as usize;
        rows.flat_map(move |row| columns.clone().map(move |column| row as usize * width + column as usize))
    }
}

/// The lists of all tiles, one behind the other.
#[derive(Default)]
pub struct TileLists {
    /// Where the list of each tile begins, tiles row by row; one more for the end of the last.
    pub starts: Vec<u32>,
    /// Indices of boxes.
    pub boxes: Vec<u32>,
    /// By part and tile: how many entries there are, then the place of the next one.
    places: Vec<u32>,
    entries: Vec<AtomicU32>,
}

/// Counts by part and tile that there are at most, unless the tiles alone are more.
const COUNTS: usize = 1 << 20;

impl TileLists {
    /// The boxes of a tile, in ascending order.
    pub fn of(&self, tile: usize) -> &[u32] {
        &self.boxes[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    /// Fills the lists. If all of them together have more entries than indices go, they are left as they were.
    pub fn fill(&mut self, tiles: Tiles, boxes: &[Box2]) -> Result<(), TooMany> {
        let all = tiles.count[0] as usize * tiles.count[1] as usize;
        let parts = (4 * rayon::current_num_threads()).min(COUNTS / all.max(1)).min(boxes.len() / PART).max(1);
        let size = boxes.len().div_ceil(parts).max(1);
        let total = tiles.entries(boxes);
        if total > u64::from(u32::MAX) {
            return Err(TooMany { total });
        }
        self.places.clear();
        self.places.resize(parts * all, 0);
        self.places.par_chunks_mut(all.max(1)).zip(boxes.par_chunks(size)).for_each(|(counts, boxes)| {
            boxes.iter().for_each(|bounds| tiles.of(bounds).for_each(|tile| counts[tile] += 1));
        });
        self.starts.resize(all + 1, 0);
        let mut place = 0;
        for (tile, start) in self.starts[..all].iter_mut().enumerate() {
            *start = place;
            for part in 0..parts {
                place += std::mem::replace(&mut self.places[part * all + tile], place);
            }
        }
        self.starts[all] = place;
        self.entries.resize_with(place as usize, AtomicU32::default);
        let entries = &self.entries;
        let parts = self.places.par_chunks_mut(all.max(1)).zip(boxes.par_chunks(size)).enumerate();
        parts.for_each(|(part, (places, boxes))| {
            for (i, bounds) in boxes.iter().enumerate() {
                tiles.of(bounds).for_each(|tile| {
                    entries[places[tile] as usize].store((part * size + i) as u32, Relaxed);
                    places[tile] += 1;
                });
            }
        });
        self.boxes.clear();
        self.boxes.extend(self.entries.iter_mut().map(|entry| *entry.get_mut()));
        Ok(())
    }
}
