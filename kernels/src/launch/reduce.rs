//! One number from many. The transpose of [`sum`] gives its cotangent to every element; that of [`min`] and [`max`] gives
//! it to the first element that has the value.

use super::PART;
use rayon::prelude::*;

/// The sum of all values, in f64: each part from its first element to its last, then the parts in their order.
pub fn sum(values: &[f32]) -> f64 {
    let parts: Vec<f64> = values.par_chunks(PART).map(|part| part.iter().map(|&x| f64::from(x)).sum::<f64>()).collect();
    parts.iter().sum()
}

/// The smallest value and where it stands first. A NaN is smaller than nothing; none of no values, or of NaNs alone.
pub fn min(values: &[f32]) -> Option<(usize, f32)> {
    best(values, |x, y| x < y)
}

/// The largest value and where it stands first. A NaN is larger than nothing; none of no values, or of NaNs alone.
pub fn max(values: &[f32]) -> Option<(usize, f32)> {
    best(values, |x, y| x > y)
}

fn best(values: &[f32], better: impl Fn(f32, f32) -> bool + Sync) -> Option<(usize, f32)> {
    let of_part = |(part, values): (usize, &[f32])| {
        let indexed = values.iter().enumerate().map(|(i, &x)| (part * PART + i, x));
        indexed.filter(|(_, x)| !x.is_nan()).reduce(|a, b| if better(b.1, a.1) { b } else { a })
    };
    let parts: Vec<_> = values.par_chunks(PART).enumerate().map(of_part).collect();
    parts.into_iter().flatten().reduce(|a, b| if better(b.1, a.1) { b } else { a })
}
