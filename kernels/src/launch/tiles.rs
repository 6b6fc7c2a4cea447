//! Binning: for each tile of a picture, which boxes touch it, in the order of the boxes.

use super::scan::{TooMany, offsets};
use super::{PART, Sorter};
use rayon::prelude::*;

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
}

/// The lists of all tiles, one behind the other.
#[derive(Default)]
pub struct TileLists {
    /// Where the list of each tile begins, tiles row by row; one more for the end of the last.
    pub starts: Vec<u32>,
    /// Indices of boxes.
    pub boxes: Vec<u32>,
    pairs: Vec<(u64, u32)>,
    counts: Vec<u32>,
    places: Vec<u32>,
    sorter: Sorter,
}

impl TileLists {
    /// The boxes of a tile, in ascending order.
    pub fn of(&self, tile: usize) -> &[u32] {
        &self.boxes[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    /// Fills the lists. If all of them together have more entries than indices go, they are left as they were.
    pub fn fill(&mut self, tiles: Tiles, boxes: &[Box2]) -> Result<(), TooMany> {
        self.counts.resize(boxes.len(), 0);
        self.counts.par_iter_mut().with_min_len(PART).zip(boxes).for_each(|(count, bounds)| {
            let [columns, rows] = tiles.touched(bounds);
            *count = (columns.len() * rows.len()) as u32;
        });
        offsets(&self.counts, &mut self.places)?;
        // `offsets` ends with the total.
        let total = self.places.last().map_or(0, |&total| total as usize);
        self.pairs.resize(total, (0, 0));
        let mut parts = Vec::with_capacity(boxes.len().div_ceil(PART));
        let mut rest = self.pairs.as_mut_slice();
        for (part, boxes) in boxes.chunks(PART).enumerate() {
            let [first, behind] = [part * PART, part * PART + boxes.len()].map(|i| self.places[i] as usize);
            let (place, others) = rest.split_at_mut(behind - first);
            parts.push((part * PART, boxes, place));
            rest = others;
        }
        parts.into_par_iter().for_each(|(first, boxes, place)| {
            let entries = boxes.iter().enumerate().flat_map(|(i, bounds)| {
                let [columns, rows] = tiles.touched(bounds);
                let index = (first + i) as u32;
                rows.flat_map(move |row| {
                    columns
                        .clone()
                        .map(move |column| (u64::from(row) * u64::from(tiles.count[0]) + u64::from(column), index))
                })
            });
            place.iter_mut().zip(entries).for_each(|(slot, entry)| *slot = entry);
        });
        self.sorter.sort(&mut self.pairs);
        self.lay_out(tiles);
        Ok(())
    }

    fn lay_out(&mut self, tiles: Tiles) {
        let all = tiles.count[0] as usize * tiles.count[1] as usize;
        let pairs = &self.pairs;
        self.boxes.resize(pairs.len(), 0);
        self.boxes.par_iter_mut().with_min_len(PART).zip(pairs).for_each(|(slot, pair)| *slot = pair.1);
        self.starts.resize(all + 1, 0);
        self.starts.par_iter_mut().with_min_len(64).enumerate().for_each(|(tile, start)| {
            *start = pairs.partition_point(|pair| pair.0 < tile as u64) as u32;
        });
    }
}
