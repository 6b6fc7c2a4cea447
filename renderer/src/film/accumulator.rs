//! The sums of all pixels of a window, tile by tile, and the picture made from them.

use super::layers::{Aov, Rule, shape};
use super::{Layer, Picture, Shape, TileSums};
use glam::Vec3;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pixels a side of a tile.
pub const TILE_SIDE: u32 = 16;

/// A rectangle of the image, `x0..x1` by `y0..y1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub x0: u32,
    pub y0: u32,
    pub x1: u32,
    pub y1: u32,
}

impl Tile {
    /// All of an image.
    pub fn whole((width, height): (u32, u32)) -> Tile {
        Tile { x0: 0, y0: 0, x1: width, y1: height }
    }

    pub fn width(&self) -> u32 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> u32 {
        self.y1 - self.y0
    }

    pub fn pixels(&self) -> u32 {
        self.width() * self.height()
    }

    /// The i-th pixel, row by row.
    pub fn pixel(&self, i: u32) -> (u32, u32) {
        (self.x0 + i % self.width(), self.y0 + i / self.width())
    }
}

/// All tiles of a window of an image, row by row.
pub struct Film {
    window: Tile,
    shape: Shape,
    tiles: Vec<(Tile, Mutex<TileSums>)>,
}

impl Film {
    pub fn new(window: Tile, shape: Shape) -> Film {
        let (columns, rows) = (window.width().div_ceil(TILE_SIDE), window.height().div_ceil(TILE_SIDE));
        let tile = |i: u32| {
            let (x0, y0) = (window.x0 + i % columns * TILE_SIDE, window.y0 + i / columns * TILE_SIDE);
            Tile { x0, y0, x1: (x0 + TILE_SIDE).min(window.x1), y1: (y0 + TILE_SIDE).min(window.y1) }
        };
        let tiles = (0..columns * rows).map(tile).map(|t| (t, Mutex::new(TileSums::new(t.pixels(), shape)))).collect();
        Film { window, shape, tiles }
    }

    /// What each pixel keeps.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub fn window(&self) -> Tile {
        self.window
    }

    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    pub fn tile(&self, index: usize) -> Tile {
        self.tiles[index].0
    }

    /// The sums of one tile so far.
    pub fn sums(&self, index: usize) -> MutexGuard<'_, TileSums> {
        // Sums are whole after every merge, so a poisoned lock still guards good ones.
        self.tiles[index].1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one batch of samples of a tile.
    pub fn add(&self, index: usize, batch: &TileSums) {
        self.sums(index).merge(batch);
    }

    /// Adds all samples of another film of the same window.
    pub fn add_all(&self, other: &Film) {
        for index in 0..self.tile_count() {
            self.add(index, &other.sums(index));
        }
    }

    /// The picture so far, in a frame of `frame` pixels, with its layers, which must be those that the film was made for:
    /// each pixel the mean of the samples that it has; black where it has none.
    pub fn picture(&self, frame: (u32, u32), aovs: &[Aov]) -> Picture {
        let Shape { means, nearest, .. } = shape(aovs);
        debug_assert_eq!((means, nearest), (self.shape.means, self.shape.nearest));
        let window = self.window;
        let area = window.width() as usize * window.height() as usize;
        let mut pixels = vec![Vec3::ZERO; area];
        let blank = |aov: &Aov| Layer { aov: aov.clone(), values: vec![0.0; area * aov.channels().len()] };
        let mut layers: Vec<Layer> = aovs.iter().map(blank).collect();
        for index in 0..self.tile_count() {
            let (tile, sums) = (self.tile(index), self.sums(index));
            for i in 0..tile.pixels() {
                let (x, y) = tile.pixel(i);
                let at = (y - window.y0) as usize * window.width() as usize + (x - window.x0) as usize;
                pixels[at] = sums.light(i as usize);
                develop(&sums, i as usize, at, &mut layers);
            }
        }
        Picture {
            width: window.width(),
            height: window.height(),
            pixels,
            origin: (window.x0, window.y0),
            frame,
            layers,
        }
    }
}

/// The layers' values of the tile's i-th pixel, into the picture's pixel number `at`.
fn develop(sums: &TileSums, i: usize, at: usize, layers: &mut [Layer]) {
    let (mut mean, mut nearest) = (0, 0);
    for Layer { aov, values } in layers {
        let n = aov.channels().len();
        let channels = &mut values[at * n..][..n];
        match (aov.rule(), &aov) {
            (Rule::Mean, _) => {
                channels.iter_mut().enumerate().for_each(|(c, value)| *value = sums.mean(i, mean + c));
                mean += n;
            }
            (Rule::Nearest, _) => {
                let value = |c| sums.nearest(i, nearest + c).unwrap_or(aov.background());
                channels.iter_mut().enumerate().for_each(|(c, channel)| *channel = value(c));
                nearest += n;
            }
            (Rule::Derived, Aov::Variance) => channels.copy_from_slice(&sums.variance(i).to_array()),
            (Rule::Derived, _) => channels.fill(sums.raw(i).count as f32),
        }
    }
}

impl Clone for Film {
    /// Each tile as it is; those that others add to meanwhile may have or lack what they add.
    fn clone(&self) -> Film {
        let tiles = (0..self.tile_count()).map(|i| (self.tile(i), Mutex::new(self.sums(i).clone()))).collect();
        Film { window: self.window, shape: self.shape, tiles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_window_once() {
        for window in
            [Tile::whole((37, 17)), Tile { x0: 5, y0: 31, x1: 42, y1: 48 }, Tile { x0: 9, y0: 9, x1: 10, y1: 10 }]
        {
            let film = Film::new(window, Shape::default());
            let mut seen = vec![0; window.pixels() as usize];
            for t in (0..film.tile_count()).map(|i| film.tile(i)) {
                for i in 0..t.pixels() {
                    let (x, y) = t.pixel(i);
                    seen[((y - window.y0) * window.width() + x - window.x0) as usize] += 1;
                }
            }
            assert!(seen.iter().all(|&n| n == 1));
        }
    }
}
