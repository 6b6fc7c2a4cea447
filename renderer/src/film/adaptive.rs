//! More samples where a picture is still noisy: which tiles need them, and when the renderer judges that.
//!
//! The samples of a tile depend only on its own earlier ones, counted at fixed numbers of samples per pixel, so the
//! picture is the same with any number of threads. Since the samples themselves decide when there are enough of them,
//! pixels that happen to miss rare light stop early: the mean is too dark by that.

use super::{Tile, TileSums};

/// When a tile has samples enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// The standard error of a pixel that is small enough, as a share of what a screen can show.
    pub threshold: f32,
    /// Samples a pixel that every tile gets.
    pub least: u32,
}

/// Pixels a side of the blocks that are looked at: small, so that a few noisy pixels count beside many that are not.
const BLOCK: u32 = 4;
/// Light that is told from black, so that the last traces of it need no more samples.
const DARK: f64 = 1e-3;

impl Adaptive {
    /// The numbers of samples a pixel after which tiles are looked at, up to `most`: multiples of `batch` but for the last,
    /// each half as much again as the one before.
    pub fn stops(&self, most: u32, batch: u32) -> Vec<u32> {
        let mut stops = Vec::new();
        let mut next = self.least.max(1).next_multiple_of(batch);
        while next < most {
            stops.push(next);
            next += (next / 2).next_multiple_of(batch);
        }
        stops.push(most);
        stops
    }

    /// Whether any block of a tile is noisier than allowed, by the root of its pixels' mean square error. The film must
    /// keep squares.
    pub fn is_noisy(&self, tile: Tile, sums: &TileSums) -> bool {
        let (columns, rows) = (tile.width().div_ceil(BLOCK), tile.height().div_ceil(BLOCK));
        let mut blocks = vec![(0.0, 0.0); (columns * rows) as usize];
        for i in 0..tile.pixels() {
            let (x, y) = (i % tile.width() / BLOCK, i / tile.width() / BLOCK);
            let (sum, count) = &mut blocks[(y * columns + x) as usize];
            *sum += square_error(sums, i as usize);
            *count += 1.0;
        }
        let allowed = f64::from(self.threshold) * f64::from(self.threshold);
        blocks.iter().any(|(sum, count)| *sum > allowed * count)
    }
}

/// The variance of a pixel as a screen shows it, where light L has the value √L: by first order that of L over 4 L.
fn square_error(sums: &TileSums, pixel: usize) -> f64 {
    let (light, variance) = (sums.light(pixel), sums.variance(pixel));
    let one = |c: usize| f64::from(variance[c]) / (4.0 * (f64::from(light[c].abs()) + DARK));
    (one(0) + one(1) + one(2)) / 3.0
}

#[cfg(test)]
mod tests {
    use super::super::{FilmSample, Shape};
    use super::*;
    use glam::Vec3;

    #[test]
    fn tiles_are_looked_at_more_seldom_the_more_they_have() {
        let stops = |least, most| Adaptive { threshold: 0.1, least }.stops(most, 4);
        assert_eq!(stops(16, 100), [16, 24, 36, 56, 84, 100]);
        assert_eq!(stops(1, 9), [4, 8, 9]);
        assert_eq!(stops(16, 16), [16]);
        assert_eq!(stops(30, 8), [8]);
    }

    /// A pixel of n samples that are L ± d has the standard error d/√(n − 1), which a screen shows as d/(2 √(n − 1) √L).
    #[test]
    fn noise_is_what_a_screen_shows_of_it() {
        let tile = Tile { x0: 3, y0: 5, x1: 19, y1: 12 };
        let sums = |noisy: u32| {
            let mut sums = TileSums::new(tile.pixels(), Shape { squares: true, ..Shape::default() });
            for pixel in 0..tile.pixels() {
                for i in 0..16 {
                    let d = if pixel == noisy { 0.25 } else { 0.0 };
                    let radiance = Vec3::splat(0.25 + if i % 2 == 0 { d } else { -d });
                    sums.add(pixel as usize, &FilmSample { radiance, means: &[], nearest: &[], rank: 0 });
                }
            }
            sums
        };
        let error = 0.25 / (2.0 * 15.0_f32.sqrt() * 0.251_f32.sqrt());
        let is_noisy = |noisy, threshold| Adaptive { threshold, least: 4 }.is_noisy(tile, &sums(noisy));
        // In a block of 16 pixels, and in one of 12 at the lower edge.
        for (pixel, pixels) in [(0, 16.0_f32), (16 * 6 + 15, 12.0)] {
            let of_block = error / pixels.sqrt();
            assert!(is_noisy(pixel, of_block * 0.99) && !is_noisy(pixel, of_block * 1.01), "{pixel}");
        }
        assert!(!is_noisy(9999, 1e-6));
    }
}
