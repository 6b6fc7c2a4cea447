//! Counting: how many elements have each key.

use super::PART;
use rayon::prelude::*;

/// Counts into `bins` how often each key comes; gives how many keys have no bin. No derivative: counts have none.
pub fn histogram(keys: &[u32], bins: &mut [u32]) -> usize {
    // A part is as large as the bins, so that clearing and adding up those of each part costs no more than counting.
    let part = PART.max(bins.len());
    let (sums, outside) = keys
        .par_chunks(part)
        .map(|keys| {
            let mut own = vec![0; bins.len()];
            let mut outside = 0;
            for &key in keys {
                match own.get_mut(key as usize) {
                    Some(bin) => *bin += 1,
                    None => outside += 1,
                }
            }
            (own, outside)
        })
        .reduce(
            || (vec![0; bins.len()], 0),
            |(mut a, x), (b, y)| {
                a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
                (a, x + y)
            },
        );
    bins.copy_from_slice(&sums);
    outside
}
