//! Sums of samples as integers, so that they are the same in whatever order they are made: by any number
//! of threads, and by merging partial renders.

use super::Picture;
use glam::Vec3;
use std::sync::{Mutex, PoisonError};

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
    pub fn width(&self) -> u32 {
        self.x1 - self.x0
    }

    pub fn pixels(&self) -> u32 {
        self.width() * (self.y1 - self.y0)
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

    fn mean(&self, pixel: usize) -> Vec3 {
        let n = f64::from(self.counts[pixel].max(1)) * ONE;
        Vec3::from(self.sums[pixel].map(|s| (s as f64 / n) as f32))
    }
}

/// All tiles of an image.
pub struct Film {
    width: u32,
    height: u32,
    tiles: Vec<(Tile, Mutex<TileSums>)>,
}

impl Film {
    pub fn new(width: u32, height: u32) -> Film {
        let corner = |i: u32, columns: u32| (i % columns * TILE_SIDE, i / columns * TILE_SIDE);
        let (columns, rows) = (width.div_ceil(TILE_SIDE), height.div_ceil(TILE_SIDE));
        let tile = |i: u32| {
            let (x0, y0) = corner(i, columns);
            Tile { x0, y0, x1: (x0 + TILE_SIDE).min(width), y1: (y0 + TILE_SIDE).min(height) }
        };
        let tiles = (0..columns * rows).map(tile).map(|t| (t, Mutex::new(TileSums::new(t.pixels())))).collect();
        Film { width, height, tiles }
    }

    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    pub fn tile(&self, index: usize) -> Tile {
        self.tiles[index].0
    }

    /// Adds one batch of samples of a tile.
    pub fn add(&self, index: usize, batch: &TileSums) {
        // Sums are whole after every merge, so a poisoned lock still guards good ones.
        self.tiles[index].1.lock().unwrap_or_else(PoisonError::into_inner).merge(batch);
    }

    /// The picture so far: each pixel the mean of the samples that it has; black where it has none.
    pub fn picture(&self) -> Picture {
        let mut pixels = vec![Vec3::ZERO; self.width as usize * self.height as usize];
        for (tile, sums) in &self.tiles {
            let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            for i in 0..tile.pixels() {
                let (x, y) = tile.pixel(i);
                pixels[y as usize * self.width as usize + x as usize] = sums.mean(i as usize);
            }
        }
        Picture { width: self.width, height: self.height, pixels }
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
    fn tiles_cover_the_image_once() {
        let film = Film::new(37, 17);
        let mut seen = vec![0; 37 * 17];
        for t in (0..film.tile_count()).map(|i| film.tile(i)) {
            for i in 0..t.pixels() {
                let (x, y) = t.pixel(i);
                seen[(y * 37 + x) as usize] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n == 1));
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
