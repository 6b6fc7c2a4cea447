//! Which sample points the pixels of a picture have, and so how the errors of neighbouring pixels are related.
//!
//! With blue noise, all pixels draw from one sequence. Each takes a piece of it, in the order of a curve through the
//! picture that keeps neighbours close (Morton's). As any long enough piece of the sequence is well spread, so are the
//! samples of neighbouring pixels taken together. Errors differ from pixel to pixel and cancel over a few of them,
//! where the eye sees less of them (Ahmed and Wonka, "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error
//! via Hierarchical Ordering of Pixels", SIGGRAPH Asia 2020). The shuffling of the sequence's index, which exchanges
//! the halves of each of its halves at random, is the one that all pairs of dimensions have anyway.

use super::{Sampler, mix};

/// How the errors of neighbouring pixels go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Not at all.
    #[default]
    White,
    /// As differently as can be.
    Blue,
}

/// The sample points of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub seed: u32,
    pub noise: Noise,
    /// That are planned for each pixel.
    pub samples: u32,
    /// All go through the middle of their pixels, whatever the filter is.
    pub is_centered: bool,
}

/// Bits of a sequence's index.
const INDEX_BITS: u32 = u32::BITS;

impl Pattern {
    /// The points of one of a pixel's samples.
    pub fn sampler(&self, (x, y): (u32, u32), index: u32) -> Sampler {
        match self.noise {
            Noise::White => Sampler::new(self.seed, (x, y), index),
            Noise::Blue => {
                let bits = INDEX_BITS - self.samples.saturating_sub(1).leading_zeros();
                // Where a sequence is too short for a picture, each square block has its own.
                let side = ((INDEX_BITS - bits) / 2).min(15);
                let inside = (1 << side) - 1;
                let morton = spread(x & inside) | spread(y & inside) << 1;
                let key = mix(mix(mix(self.seed) ^ (x >> side)) ^ (y >> side).rotate_left(16));
                Sampler::with_key(key, morton.wrapping_shl(bits) | index)
            }
        }
    }
}

/// The lower sixteen bits, with a zero above each.
fn spread(mut x: u32) -> u32 {
    x = (x | x << 8) & 0x00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    fn point(pattern: &Pattern, pixel: (u32, u32), index: u32, pair: u32) -> Vec2 {
        let mut sampler = pattern.sampler(pixel, index);
        sampler.start_at(pair);
        sampler.next_2d()
    }

    /// Each pixel by itself, and aligned squares of them: one point in each cell of every elementary partition.
    #[test]
    fn pixels_and_their_squares_are_nets() {
        for samples in [1_u32, 4, 13, 16, 1 << 20] {
            let pattern = Pattern { seed: 3, noise: Noise::Blue, samples, is_centered: false };
            let bits = samples.next_power_of_two().ilog2().min(4);
            // Pieces of a pixel's samples are nets, too, if they begin where they should.
            for (side, used) in [(1_u32, 1_u32 << bits), (2, if samples == 16 { 16 } else { 1 }), (4, 1)] {
                if used > samples || (side > 1 && used == 1 && samples > 1) {
                    continue;
                }
                let count = side * side * used;
                let pixels = (0..side * side).map(|i| (36 + i % side, 52 + i / side));
                for pair in [0, 3, 9] {
                    let points: Vec<Vec2> = pixels
                        .clone()
                        .flat_map(|pixel| (0..used).map(move |s| (pixel, s)))
                        .map(|(pixel, s)| point(&pattern, pixel, s, pair))
                        .collect();
                    for split in 0..=count.ilog2() {
                        let (columns, rows) = (1 << split, count >> split);
                        let mut seen = vec![0; count as usize];
                        for p in &points {
                            seen[((p.x * columns as f32) as u32 * rows + (p.y * rows as f32) as u32) as usize] += 1;
                        }
                        assert!(
                            seen.iter().all(|&n| n == 1),
                            "{samples} samples, {side}², pair {pair}, {columns}×{rows}"
                        );
                    }
                }
            }
        }
    }

    /// The variance of a pixel's error, and 64 times that of the mean over 8×8 pixels, which for white noise is the same. The
    /// squares are not those of the curve.
    fn variances(noise: Noise, samples: u32, f: impl Fn(Vec2) -> f64, exact: f64) -> (f64, f64) {
        const SIDE: u32 = 96;
        let (mut fine, mut coarse) = (0.0, 0.0);
        for seed in 0..4 {
            let pattern = Pattern { seed, noise, samples, is_centered: false };
            let error = |x: u32, y: u32| {
                (0..samples).map(|s| f(point(&pattern, (x, y), s, 2))).sum::<f64>() / f64::from(samples) - exact
            };
            let errors: Vec<f64> = (0..SIDE * SIDE).map(|i| error(i % SIDE + 5, i / SIDE + 7)).collect();
            fine += errors.iter().map(|e| e * e).sum::<f64>() / f64::from(SIDE * SIDE) / 4.0;
            let block = |bx: u32, by: u32| {
                let inside = (0..64).map(|k| errors[((by * 8 + k / 8) * SIDE + bx * 8 + k % 8) as usize]);
                inside.sum::<f64>() / 64.0
            };
            let blocks = SIDE / 8;
            let squares = (0..blocks * blocks).map(|i| block(i % blocks, i / blocks).powi(2));
            coarse += 64.0 * squares.sum::<f64>() / f64::from(blocks * blocks) / 4.0;
        }
        (fine, coarse)
    }

    #[test]
    fn blue_noise_cancels_over_a_few_pixels() {
        let corner = |p: Vec2| f64::from(u8::from(p.length_squared() < 1.0));
        let smooth = |p: Vec2| f64::from(p.x * p.x * p.y);
        for samples in [1, 4, 16] {
            for (f, exact) in [(&corner as &dyn Fn(Vec2) -> f64, std::f64::consts::FRAC_PI_4), (&smooth, 1.0 / 6.0)] {
                let (white, white_coarse) = variances(Noise::White, samples, f, exact);
                let (blue, blue_coarse) = variances(Noise::Blue, samples, f, exact);
                assert!((white_coarse / white - 1.0).abs() < 0.2, "white: {white} {white_coarse}");
                // No worse by themselves, and much better together.
                assert!(blue < 1.3 * white, "{samples}: {blue} {white}");
                assert!(blue_coarse < 0.65 * white_coarse, "{samples}: {blue_coarse} {white_coarse}");
            }
        }
    }

    #[test]
    fn no_two_samples_of_a_picture_are_the_same() {
        let pattern = Pattern { seed: 0, noise: Noise::Blue, samples: 5, is_centered: false };
        let key = |(x, y): (u32, u32), s: u32| {
            let p = pattern.sampler((x, y), s);
            (p.key, p.reversed)
        };
        let all: std::collections::HashSet<_> =
            (0..40 * 40 * 5).map(|i| key((i % 40, i / 40 % 40 + 32_750), i / 1600)).collect();
        assert_eq!(all.len(), 40 * 40 * 5);
    }
}
