//! Sums of all elements before each, or behind it.

use super::PART;
use rayon::prelude::*;

/// More elements than an index of 32 bits counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    /// How many there are.
    pub total: u64,
}

impl std::fmt::Display for TooMany {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} entries do not fit into a list; at most {} do", self.total, u32::MAX)
    }
}

impl std::error::Error for TooMany {}

/// Where the entries of each element begin, if `counts` says how many each has and they lie one behind the other.
/// `offsets` gets one number more than there are counts: the last one is the total. No derivative: counts have none.
pub fn offsets(counts: &[u32], offsets: &mut Vec<u32>) -> Result<(), TooMany> {
    let mut firsts: Vec<u64> = counts.par_chunks(PART).map(|part| part.iter().map(|&c| u64::from(c)).sum()).collect();
    let total = exclusive(&mut firsts);
    let last = u32::try_from(total).map_err(|_| TooMany { total })?;
    offsets.resize(counts.len(), 0);
    let parts = offsets.par_chunks_mut(PART).zip(counts.par_chunks(PART)).zip(firsts);
    parts.for_each(|((offsets, counts), first)| {
        let mut before = first as u32;
        for (offset, &count) in offsets.iter_mut().zip(counts) {
            *offset = before;
            // Below the total, which fits.
            before += count;
        }
    });
    offsets.push(last);
    Ok(())
}

/// Puts before each number the sum of those before it in its place; gives the sum of all.
fn exclusive(numbers: &mut [u64]) -> u64 {
    numbers.iter_mut().fold(0, |before, x| before + std::mem::replace(x, before))
}

/// `sums[i]` = `values[0]` + … + `values[i]`, carried in f64. Its transpose is [`suffix_sum`].
///
/// # Panics
/// If the lengths differ.
pub fn prefix_sum(values: &[f32], sums: &mut [f32]) {
    assert_eq!(values.len(), sums.len(), "a sum for each value");
    let mut firsts: Vec<f64> = values.par_chunks(PART).map(|part| part.iter().map(|&x| f64::from(x)).sum()).collect();
    let mut before = 0.0;
    for first in &mut firsts {
        before += std::mem::replace(first, before);
    }
    let parts = sums.par_chunks_mut(PART).zip(values.par_chunks(PART)).zip(firsts);
    parts.for_each(|((sums, values), mut sum)| {
        for (out, &x) in sums.iter_mut().zip(values) {
            sum += f64::from(x);
            *out = sum as f32;
        }
    });
}

/// `sums[i]` = `values[i]` + … + `values[n − 1]`, carried in f64. Its transpose is [`prefix_sum`].
///
/// # Panics
/// If the lengths differ.
pub fn suffix_sum(values: &[f32], sums: &mut [f32]) {
    assert_eq!(values.len(), sums.len(), "a sum for each value");
    let mut behind: Vec<f64> = values.par_chunks(PART).map(|part| part.iter().map(|&x| f64::from(x)).sum()).collect();
    let mut sum = 0.0;
    for part in behind.iter_mut().rev() {
        sum += std::mem::replace(part, sum);
    }
    let parts = sums.par_chunks_mut(PART).zip(values.par_chunks(PART)).zip(behind);
    parts.for_each(|((sums, values), mut sum)| {
        for (out, &x) in sums.iter_mut().zip(values).rev() {
            sum += f64::from(x);
            *out = sum as f32;
        }
    });
}
