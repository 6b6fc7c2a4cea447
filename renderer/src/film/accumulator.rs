//! Sums of samples as integers, so that they are the same in whatever order they are made: by any number
//! of threads, and by merging partial renders.

use super::Picture;
use glam::Vec3;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pixels a side of a tile.
pub const TILE_SIDE: u32 = 16;

/// A sample of radiance 1 counts 2^40: sums of 2^40 such samples, and radiances down to 1e-12, fit 128
/// bits with room to spare.
const ONE: f64 = (1_u64 << 40) as f64;
/// Radiance above this counts as this, so that a sum cannot overflow.
const LARGEST: f32 = 1e18;

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

/// The sums of one tile's pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSums {
    sums: Vec<[i128; 3]>,
    counts: Vec<u32>,
}

impl TileSums {
    pub fn new(pixels: u32) -> TileSums {
        TileSums { sums: vec![[0; 3]; pixels as usize], counts: vec![0; pixels as usize] }
    }

    /// Adds a sample to the tile's i-th pixel. Returns whether it was a number; what is none counts as
    /// black.
    pub fn add(&mut self, pixel: usize, radiance: Vec3) -> bool {
        let finite = radiance.is_finite();
        if finite {
            let clamped = radiance.clamp(Vec3::splat(-LARGEST), Vec3::splat(LARGEST)).to_array();
            for (sum, value) in self.sums[pixel].iter_mut().zip(clamped) {
                *sum += (f64::from(value) * ONE) as i128;
            }
        }
        self.counts[pixel] += 1;
        finite
    }

    pub fn merge(&mut self, other: &TileSums) {
        for (a, b) in self.sums.iter_mut().zip(&other.sums) {
            for channel in 0..3 {
                a[channel] += b[channel];
            }
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// A pixel's sums of each channel, and how many samples they hold.
    pub fn raw(&self, pixel: usize) -> ([i128; 3], u32) {
        (self.sums[pixel], self.counts[pixel])
    }

    /// Sets what `raw` gives. False, with nothing changed, where no samples could come to so much.
    pub fn set_raw(&mut self, pixel: usize, sums: [i128; 3], count: u32) -> bool {
        let most = (f64::from(LARGEST) * ONE) as u128 * u128::from(count);
        let possible = sums.iter().all(|s| s.unsigned_abs() <= most);
        if possible {
            (self.sums[pixel], self.counts[pixel]) = (sums, count);
        }
        possible
    }

    fn mean(&self, pixel: usize) -> Vec3 {
        let n = f64::from(self.counts[pixel].max(1)) * ONE;
        Vec3::from(self.sums[pixel].map(|s| (s as f64 / n) as f32))
    }
}

/// All tiles of a window of an image, row by row.
pub struct Film {
    window: Tile,
    tiles: Vec<(Tile, Mutex<TileSums>)>,
}

impl Film {
    pub fn new(window: Tile) -> Film {
        let (columns, rows) = (window.width().div_ceil(TILE_SIDE), window.height().div_ceil(TILE_SIDE));
        let tile = |i: u32| {
            let (x0, y0) = (window.x0 + i % columns * TILE_SIDE, window.y0 + i / columns * TILE_SIDE);
            Tile { x0, y0, x1: (x0 + TILE_SIDE).min(window.x1), y1: (y0 + TILE_SIDE).min(window.y1) }
        };
        let tiles = (0..columns * rows).map(tile).map(|t| (t, Mutex::new(TileSums::new(t.pixels())))).collect();
        Film { window, tiles }
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

    /// The picture so far, in a frame of `frame` pixels: each pixel the mean of the samples that it has; black where it
    /// has none.
    pub fn picture(&self, frame: (u32, u32)) -> Picture {
        let window = self.window;
        let mut pixels = vec![Vec3::ZERO; window.width() as usize * window.height() as usize];
        for index in 0..self.tile_count() {
            let (tile, sums) = (self.tile(index), self.sums(index));
            for i in 0..tile.pixels() {
                let (x, y) = tile.pixel(i);
                let at = (y - window.y0) as usize * window.width() as usize + (x - window.x0) as usize;
                pixels[at] = sums.mean(i as usize);
            }
        }
        Picture { width: window.width(), height: window.height(), pixels, origin: (window.x0, window.y0), frame }
    }
}

impl Clone for Film {
    /// Each tile as it is; those that others add to meanwhile may have or lack what they add.
    fn clone(&self) -> Film {
        let tiles = (0..self.tile_count()).map(|i| (self.tile(i), Mutex::new(self.sums(i).clone()))).collect();
        Film { window: self.window, tiles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_samples_and_batches_does_not_matter() {
        let samples: Vec<Vec3> =
            (0..100).map(|i| Vec3::splat(1.0 / (i as f32 + 0.3)) * Vec3::new(1.0, 1e-6, 1e9)).collect();
        let sum = |parts: &[Vec<usize>]| {
            let mut total = TileSums::new(1);
            for part in parts {
                let mut batch = TileSums::new(1);
                part.iter().for_each(|&i| {
                    batch.add(0, samples[i]);
                });
                total.merge(&batch);
            }
            total
        };
        let forwards = sum(&[(0..100).collect()]);
        let shuffled = sum(&[(50..100).rev().collect(), (0..20).collect(), (20..50).rev().collect()]);
        assert_eq!(forwards, shuffled);
        let mean = samples.iter().map(|s| f64::from(s.z)).sum::<f64>() / 100.0;
        assert!((f64::from(forwards.mean(0).z) / mean - 1.0).abs() < 1e-6);
    }

    #[test]
    fn tiles_cover_the_window_once() {
        for window in
            [Tile::whole((37, 17)), Tile { x0: 5, y0: 31, x1: 42, y1: 48 }, Tile { x0: 9, y0: 9, x1: 10, y1: 10 }]
        {
            let film = Film::new(window);
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

    #[test]
    fn what_is_no_number_counts_as_black() {
        let mut t = TileSums::new(1);
        assert!(t.add(0, Vec3::splat(3.0)));
        assert!(!t.add(0, Vec3::new(0.0, f32::NAN, 0.0)));
        assert!(t.add(0, Vec3::splat(f32::MAX)));
        assert!(t.mean(0).is_finite());
    }
}
