//! Sample points as a pure function of (seed, pixel, sample index, dimension), so that an image does not
//! depend on which thread drew what when.
//!
//! Each pair of dimensions is the first two Sobol' dimensions, Owen-scrambled, with its index shuffled
//! anew for each pair ("padded"), all by hashing (Burley, "Practical Hash-based Owen Scrambling", JCGT
//! 2020; the permutation after Laine and Karras 2011).

mod pattern;
mod streams;

pub use pattern::{Noise, Pattern};
pub use streams::Streams;

use glam::Vec2;

/// A stream of sample points for one sample of one pixel.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    key: u32,
    /// Of the sample, its bits in reverse: the form in which indices are scrambled.
    reversed: u32,
    pair: u32,
}

impl Sampler {
    pub fn new(seed: u32, pixel: (u32, u32), index: u32) -> Sampler {
        Sampler::with_key(mix(mix(mix(seed) ^ pixel.0) ^ pixel.1.rotate_left(16)), index)
    }

    fn with_key(key: u32, index: u32) -> Sampler {
        Sampler { key, reversed: index.reverse_bits(), pair: 0 }
    }

    /// Goes on at the given pair of dimensions, so that a bounce begins at the same place whatever the
    /// bounces before it drew.
    pub fn start_at(&mut self, pair: u32) {
        self.pair = pair;
    }

    /// The next pair, each in [0, 1).
    pub fn next_2d(&mut self) -> Vec2 {
        let point = self.point();
        self.pair += 1;
        point
    }

    /// One number in [0, 1): the first of a pair, so that pairs stay aligned.
    pub fn next_1d(&mut self) -> f32 {
        let (index, key) = self.index_and_key();
        self.pair += 1;
        first(index, key)
    }

    #[inline(always)]
    fn point(&self) -> Vec2 {
        let (index, key) = self.index_and_key();
        let y = laine_karras(sobol_second_reversed(index), mix(key ^ 0x02e5_be93));
        Vec2::new(first(index, key), unit(y.reverse_bits()))
    }

    /// The shuffled index and the key of the next pair.
    #[inline(always)]
    fn index_and_key(&self) -> (u32, u32) {
        let key = mix(self.key ^ mix(self.pair.wrapping_mul(0x9e37_79b9).wrapping_add(1)));
        (laine_karras(self.reversed, key).reverse_bits(), key)
    }
}

/// Of a pair: Sobol's first dimension is the index with its bits in reverse.
#[inline(always)]
fn first(index: u32, key: u32) -> f32 {
    unit(laine_karras(index, mix(key ^ 0x68bc_21eb)).reverse_bits())
}

/// The highest 24 bits as a float in [0, 1): a 32-bit integer would round up to 1.
#[inline(always)]
fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 / (1 << 24) as f32
}

/// A finaliser that spreads every input bit over the word (Ellis's "lowbias32" constants).
#[inline(always)]
pub fn mix(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A permutation in which each bit depends on lower bits only. Between two reversals of bits it is Owen scrambling: each bit
/// is flipped by a hash of the bits above it.
#[inline(always)]
fn laine_karras(mut x: u32, key: u32) -> u32 {
    x = x.wrapping_add(key);
    for constant in [0x6c50_b47c, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6] {
        x ^= x.wrapping_mul(constant);
    }
    x
}

/// Sobol's second dimension. Its generator matrix is Pascal's triangle modulo 2: bit i of the product is
/// the parity of those bits j of the index whose number has every bit of i, which five steps sum up. Its bits are in reverse.
#[inline(always)]
fn sobol_second_reversed(index: u32) -> u32 {
    let mut x = index;
    x ^= (x >> 1) & 0x5555_5555;
    x ^= (x >> 2) & 0x3333_3333;
    x ^= (x >> 4) & 0x0f0f_0f0f;
    x ^= (x >> 8) & 0x00ff_00ff;
    x ^ x >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The net property that scrambling and shuffling must not break: the first 2^(2k) points put one in
    /// each cell of every elementary partition of the square.
    #[test]
    fn every_pair_of_dimensions_is_a_net() {
        const N: u32 = 256;
        for pair in 0..20 {
            let points: Vec<Vec2> = (0..N)
                .map(|i| {
                    let mut s = Sampler::new(7, (13, 5), i);
                    s.start_at(pair);
                    s.next_2d()
                })
                .collect();
            for split in 0..=8 {
                let (columns, rows) = (1 << split, N >> split);
                let mut seen = vec![0; N as usize];
                for p in &points {
                    seen[((p.x * columns as f32) as u32 * rows + (p.y * rows as f32) as u32) as usize] += 1;
                }
                assert!(seen.iter().all(|&n| n == 1), "pair {pair}, {columns}×{rows}");
            }
        }
    }

    /// Against the definition by direction numbers: v₁ = 1/2, vᵢ₊₁ = vᵢ ⊕ vᵢ/2.
    #[test]
    fn the_second_dimension_follows_its_direction_numbers() {
        for i in 0..2000 {
            let index = mix(i) >> (i % 31);
            let (mut expected, mut direction) = (0, 1_u32 << 31);
            for bit in 0..32 {
                expected ^= direction * (index >> bit & 1);
                direction ^= direction >> 1;
            }
            assert_eq!(sobol_second_reversed(index).reverse_bits(), expected, "index {index:#x}");
        }
    }

    #[test]
    fn pixels_and_pairs_are_uncorrelated() {
        let mean_product = |f: &dyn Fn(u32) -> (f32, f32)| {
            (0..4096).map(f).map(|(a, b)| f64::from((a - 0.5) * (b - 0.5))).sum::<f64>() / 4096.0
        };
        let pixels =
            mean_product(&|i| (Sampler::new(0, (i, 0), 0).next_1d(), Sampler::new(0, (i + 1, 0), 0).next_1d()));
        let pairs = mean_product(&|i| {
            let mut s = Sampler::new(0, (3, 4), i);
            (s.next_1d(), s.next_1d())
        });
        // The standard deviation of either mean is 1/(12·64) = 0.0013.
        assert!(pixels.abs() < 0.005 && pairs.abs() < 0.005, "{pixels} {pairs}");
    }
}
