//! Sums of floats that are the same for any order of their terms, in two thirds of the memory that [`Sums`](super::Sums) take:
//! integers of 128 bits in units of 2⁻⁷², and nothing that makes adding fast.

use super::CHUNK;
use crate::buffer::BufferError;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Units in 1.
const UNITS: f64 = (1u128 << 72) as f64;
/// Terms are smaller than this, so 2³² of them cannot overflow a sum.
const LIMIT: f64 = (1u128 << 23) as f64;

/// Floats that any thread adds to. A term goes in exactly if its lowest bit is at least 2⁻⁷² (2·10⁻²²); what lies below is cut
/// off. A term that is not finite, or not below 2²³ in size, adds nothing and is counted.
pub struct Compact {
    /// Of each the lower word and the upper one, in two's complement.
    sums: Box<[[AtomicU64; 2]]>,
    left_out: AtomicU64,
}

impl Compact {
    /// So many zeros.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn new(len: usize) -> Result<Compact, BufferError> {
        let mut sums = Vec::new();
        sums.try_reserve_exact(len).map_err(|_| BufferError::OutOfMemory { bytes: Compact::bytes_of(len) })?;
        sums.resize_with(len, Default::default);
        Ok(Compact { sums: sums.into_boxed_slice(), left_out: AtomicU64::new(0) })
    }

    /// The bytes that so many sums take.
    pub fn bytes_of(len: usize) -> usize {
        len.saturating_mul(2 * size_of::<AtomicU64>())
    }

    /// The number of sums.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether there are no sums.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Adds a term to a sum.
    ///
    /// # Panics
    /// If there is no such sum.
    pub fn add(&self, sum: usize, term: f64) {
        let [low, high] = &self.sums[sum];
        if term.is_nan() || term.abs() >= LIMIT {
            self.left_out.fetch_add(1, Relaxed);
            return;
        }
        let units = (term * UNITS) as i128;
        // Words are added modulo 2⁶⁴. Others may add in between: each carry reaches the upper word at last.
        let (lower, before) = (units as u64, low.fetch_add(units as u64, Relaxed));
        let carry = u64::from(before.overflowing_add(lower).1);
        match ((units >> 64) as u64).wrapping_add(carry) {
            0 => {}
            upper => _ = high.fetch_add(upper, Relaxed),
        }
    }

    /// A sum, to the nearest f32, ties to even.
    ///
    /// # Panics
    /// If there is no such sum.
    pub fn read(&self, sum: usize) -> f32 {
        let [low, high] = [0, 1].map(|word| u128::from(self.sums[sum][word].load(Relaxed)));
        // A unit is far above the subnormal numbers, so the product is exact.
        (high << 64 | low) as i128 as f32 * (1.0 / UNITS) as f32
    }

    /// How many terms were not finite or too large, and added nothing.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self) {
        *self.left_out.get_mut() = 0;
        let chunks = self.sums.par_chunks_mut(CHUNK);
        chunks.for_each(|sums| sums.iter_mut().flatten().for_each(|word| *word.get_mut() = 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms with few bits, whose sum an f64 has exactly.
    fn terms() -> Vec<f64> {
        let number = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 12) - f64::from(1 << 19);
        (0..1000).map(|i| number(i) * [2f64.powi(-25), 1.0, 2f64.powi(-12)][i as usize % 3]).collect()
    }

    #[test]
    fn sums_are_exact_in_any_order_and_by_threads() {
        let terms = terms();
        let expected = terms.iter().sum::<f64>() as f32;
        let (mut forwards, backwards) = (Compact::new(2).expect("memory"), Compact::new(2).expect("memory"));
        terms.iter().for_each(|term| forwards.add(1, *term));
        terms.par_iter().rev().for_each(|term| backwards.add(1, *term));
        assert_eq!([forwards.read(1), backwards.read(1)], [expected; 2]);
        // What was added goes away again, and words that were carried into with it.
        terms.iter().for_each(|term| backwards.add(1, -term));
        assert_eq!([backwards.read(0), backwards.read(1)], [0.0; 2]);
        forwards.clear();
        assert_eq!(forwards.read(1), 0.0);
    }

    #[test]
    fn small_terms_stay_beside_large_ones() {
        let sums = Compact::new(1).expect("memory");
        [8e6, 1e-12, -8e6, 1e-12].into_iter().for_each(|term| sums.add(0, term));
        // Each is cut off at 2⁻⁷².
        assert!((f64::from(sums.read(0)) - 2e-12).abs() < 2e-19);
        sums.add(0, -1.0);
        assert_eq!(sums.read(0), -1.0 + 2e-12_f64 as f32);
        assert_eq!(sums.left_out(), 0);
        for term in [f64::NAN, f64::INFINITY, 1e7, -1e7] {
            sums.add(0, term);
        }
        assert_eq!((sums.read(0), sums.left_out()), (-1.0 + 2e-12_f64 as f32, 4));
    }
}
