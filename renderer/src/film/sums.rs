//! Sums of a tile's samples as integers, so that they are the same in every order: with any number of threads, and when
//! partial renders are merged.

use glam::Vec3;

/// A value of 1 counts 2^40: sums of 2^40 such samples, and values down to 1e-12, fit 128 bits with room to spare.
const ONE: f64 = (1_u64 << 40) as f64;
/// A value above this counts as this, so that a sum cannot overflow.
const LARGEST: f64 = 1e18;
/// Channels of light.
const LIGHT: usize = 3;

/// What a pixel keeps beside its light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The squares of the light's channels.
    pub squares: bool,
    /// Channels whose mean is wanted.
    pub means: usize,
    /// Channels that are those of the sample nearest the pixel's middle.
    pub nearest: usize,
}

impl Shape {
    /// Sums a pixel.
    pub fn sums(&self) -> usize {
        LIGHT + if self.squares { LIGHT } else { 0 } + self.means
    }

    /// Bytes that a pixel takes.
    pub fn bytes(&self) -> usize {
        let nearest = if self.nearest > 0 { size_of::<u64>() + self.nearest * size_of::<f32>() } else { 0 };
        self.sums() * size_of::<i128>() + size_of::<u32>() + nearest
    }

    fn first_mean(&self) -> usize {
        self.sums() - self.means
    }
}

/// One sample of a pixel; as many further values as the shape says.
#[derive(Clone, Copy, Debug)]
pub struct FilmSample<'a> {
    pub radiance: Vec3,
    pub means: &'a [f32],
    pub nearest: &'a [f32],
    /// Ascends with the distance from the pixel's middle; no two samples of a pixel have the same.
    pub rank: u64,
}

impl FilmSample<'_> {
    /// The rank of the pixel's sample number `sample`, so far from the pixel's middle.
    pub fn rank(distance: f32, sample: u32) -> u64 {
        // The bits of floats that are not negative ascend as they do.
        u64::from(distance.abs().to_bits()) << 32 | u64::from(sample)
    }
}

/// What a pixel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPixel<'a> {
    pub count: u32,
    pub sums: &'a [i128],
    /// Of the sample that `nearest` is from; the highest there is where there is none.
    pub rank: u64,
    /// As bits.
    pub nearest: &'a [u32],
}

/// The sums of one tile's pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSums {
    shape: Shape,
    counts: Vec<u32>,
    sums: Vec<i128>,
    ranks: Vec<u64>,
    nearest: Vec<u32>,
}

impl TileSums {
    pub fn new(pixels: u32, shape: Shape) -> TileSums {
        let n = pixels as usize;
        let ranked = if shape.nearest > 0 { n } else { 0 };
        TileSums {
            shape,
            counts: vec![0; n],
            sums: vec![0; n * shape.sums()],
            ranks: vec![u64::MAX; ranked],
            nearest: vec![0; n * shape.nearest],
        }
    }

    /// Adds a sample to the tile's i-th pixel. Returns whether its light was a number; what is none counts as black.
    pub fn add(&mut self, pixel: usize, sample: &FilmSample<'_>) -> bool {
        let shape = self.shape;
        let sums = &mut self.sums[pixel * shape.sums()..][..shape.sums()];
        let finite = sample.radiance.is_finite();
        if finite {
            for (channel, value) in sample.radiance.to_array().map(f64::from).into_iter().enumerate() {
                sums[channel] += fixed(value);
                if shape.squares {
                    sums[LIGHT + channel] += fixed(value * value);
                }
            }
        }
        for (sum, value) in sums[shape.first_mean()..].iter_mut().zip(sample.means) {
            *sum += fixed(f64::from(*value));
        }
        if shape.nearest > 0 && sample.rank < self.ranks[pixel] {
            self.ranks[pixel] = sample.rank;
            let kept = &mut self.nearest[pixel * shape.nearest..][..shape.nearest];
            kept.iter_mut().zip(sample.nearest).for_each(|(kept, value)| *kept = value.to_bits());
        }
        self.counts[pixel] += 1;
        finite
    }

    /// Adds the samples of another tile of the same shape.
    pub fn merge(&mut self, other: &TileSums) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        let n = self.shape.nearest;
        for pixel in 0..self.ranks.len() {
            if other.ranks[pixel] < self.ranks[pixel] {
                self.ranks[pixel] = other.ranks[pixel];
                self.nearest[pixel * n..][..n].copy_from_slice(&other.nearest[pixel * n..][..n]);
            }
        }
    }

    pub fn raw(&self, pixel: usize) -> RawPixel<'_> {
        let (sums, nearest) = (self.shape.sums(), self.shape.nearest);
        RawPixel {
            count: self.counts[pixel],
            sums: &self.sums[pixel * sums..][..sums],
            rank: self.ranks.get(pixel).copied().unwrap_or(u64::MAX),
            nearest: &self.nearest[pixel * nearest..][..nearest],
        }
    }

    /// Sets what `raw` gives. False, with nothing changed, where no samples could come to so much.
    pub fn set_raw(&mut self, pixel: usize, raw: RawPixel<'_>) -> bool {
        let most = fixed(LARGEST) as u128 * u128::from(raw.count);
        let (sums, nearest) = (self.shape.sums(), self.shape.nearest);
        let fits = raw.sums.len() == sums && raw.nearest.len() == nearest;
        if !fits || raw.sums.iter().any(|s| s.unsigned_abs() > most) {
            return false;
        }
        self.counts[pixel] = raw.count;
        self.sums[pixel * sums..][..sums].copy_from_slice(raw.sums);
        if nearest > 0 {
            self.ranks[pixel] = raw.rank;
            self.nearest[pixel * nearest..][..nearest].copy_from_slice(raw.nearest);
        }
        true
    }

    /// The pixel's light; black without samples.
    pub fn light(&self, pixel: usize) -> Vec3 {
        Vec3::from([0, 1, 2].map(|channel| self.mean_of(pixel, channel) as f32))
    }

    /// The mean of one of the further channels.
    pub fn mean(&self, pixel: usize, channel: usize) -> f32 {
        self.mean_of(pixel, self.shape.first_mean() + channel) as f32
    }

    /// One of the channels of the nearest sample; `None` without samples.
    pub fn nearest(&self, pixel: usize, channel: usize) -> Option<f32> {
        let raw = self.raw(pixel);
        (raw.rank != u64::MAX).then(|| f32::from_bits(raw.nearest[channel]))
    }

    /// The variance of the mean that `light` gives, as independent samples would have it: (Σx² − (Σx)²/n) / (n (n − 1)).
    /// 0 with fewer than two samples.
    pub fn variance(&self, pixel: usize) -> Vec3 {
        let raw = self.raw(pixel);
        let n = f64::from(raw.count);
        if raw.count < 2 || !self.shape.squares {
            return Vec3::ZERO;
        }
        let one = |channel: usize| {
            let (sum, squares) = (raw.sums[channel] as f64 / ONE, raw.sums[LIGHT + channel] as f64 / ONE);
            ((squares - sum * sum / n).max(0.0) / (n * (n - 1.0))) as f32
        };
        Vec3::new(one(0), one(1), one(2))
    }

    fn mean_of(&self, pixel: usize, sum: usize) -> f64 {
        let raw = self.raw(pixel);
        raw.sums[sum] as f64 / (f64::from(raw.count.max(1)) * ONE)
    }
}

/// The nearest, halves away from 0. What is NaN or infinite counts as 0.
fn fixed(value: f64) -> i128 {
    let scaled = value.clamp(-LARGEST, LARGEST) * ONE;
    if value.is_finite() { (scaled + 0.5_f64.copysign(scaled)) as i128 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { squares: true, means: 2, nearest: 1 };

    fn sample(radiance: Vec3) -> FilmSample<'static> {
        FilmSample { radiance, means: &[], nearest: &[], rank: 0 }
    }

    /// Of a quarter, a half and three quarters of a unit; else faint light would always lose.
    #[test]
    fn values_are_rounded_to_the_nearest_unit() {
        for (units, rounded) in [(0.25, 0), (0.5, 1), (0.75, 1), (1.75, 2), (-0.25, 0), (-0.75, -1), (-1.25, -1)] {
            assert_eq!(fixed(units / ONE), rounded, "{units}");
        }
    }

    #[test]
    fn the_order_of_samples_and_batches_does_not_matter() {
        let radiance = |i: usize| Vec3::splat(1.0 / (i as f32 + 0.3)) * Vec3::new(1.0, 1e-6, 1e6);
        let sum = |parts: &[Vec<usize>]| {
            let mut total = TileSums::new(1, SHAPE);
            for part in parts {
                let mut batch = TileSums::new(1, SHAPE);
                for &i in part {
                    let (means, nearest) = ([i as f32, -0.1 * i as f32], [i as f32]);
                    let rank = FilmSample::rank((i as f32 - 41.7).abs(), i as u32);
                    batch.add(0, &FilmSample { radiance: radiance(i), means: &means, nearest: &nearest, rank });
                }
                total.merge(&batch);
            }
            total
        };
        let forwards = sum(&[(0..100).collect()]);
        let shuffled = sum(&[(50..100).rev().collect(), (0..20).collect(), (20..50).rev().collect()]);
        assert_eq!(forwards, shuffled);
        let of = |f: &dyn Fn(f64) -> f64| (0..100).map(|i| f(f64::from(radiance(i).z))).sum::<f64>() / 100.0;
        let mean = of(&|x| x);
        assert!((f64::from(forwards.light(0).z) / mean - 1.0).abs() < 1e-6);
        let variance = of(&|x| (x - mean) * (x - mean)) / 99.0;
        assert!((f64::from(forwards.variance(0).z) / variance - 1.0).abs() < 1e-6);
        assert!((forwards.mean(0, 0) - 49.5).abs() < 1e-5 && (forwards.mean(0, 1) + 4.95).abs() < 1e-5);
        assert_eq!(forwards.nearest(0, 0), Some(42.0));
    }

    #[test]
    fn what_is_no_number_counts_as_black() {
        let mut t = TileSums::new(1, Shape::default());
        assert!(t.add(0, &sample(Vec3::splat(3.0))));
        assert!(!t.add(0, &sample(Vec3::new(0.0, f32::NAN, 0.0))));
        assert_eq!(t.light(0), Vec3::splat(1.5));
        assert!(t.add(0, &sample(Vec3::splat(f32::MAX))));
        assert!(t.light(0).is_finite());
        let mut t = TileSums::new(1, Shape { means: 2, ..Shape::default() });
        t.add(0, &FilmSample { means: &[f32::INFINITY, f32::NAN], ..sample(Vec3::ONE) });
        assert_eq!((t.mean(0, 0), t.mean(0, 1)), (0.0, 0.0));
    }

    #[test]
    fn without_samples_there_is_nothing() {
        let t = TileSums::new(2, SHAPE);
        assert_eq!((t.light(1), t.variance(1), t.nearest(1, 0)), (Vec3::ZERO, Vec3::ZERO, None));
    }
}
