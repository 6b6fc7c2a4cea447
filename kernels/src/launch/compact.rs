//! Packing: the elements that are wanted, one behind the other.

use super::PART;
use rayon::prelude::*;

/// The indices for which `keep` holds, in their order. What is gathered by them has as its transpose a scatter to them.
///
/// # Panics
/// If there are 2³² elements or more.
pub fn compact(len: usize, keep: impl Fn(u32) -> bool + Sync, kept: &mut Vec<u32>) {
    let len = u32::try_from(len).expect("an index has 32 bits");
    let starts: Vec<u32> = (0..len).step_by(PART).collect();
    let range = |start: u32| start..len.min(start.saturating_add(PART as u32));
    let counts: Vec<usize> = starts.par_iter().map(|&start| range(start).filter(|&i| keep(i)).count()).collect();
    kept.resize(counts.iter().sum(), 0);
    let mut rest = kept.as_mut_slice();
    let mut places = Vec::with_capacity(counts.len());
    for (&start, count) in starts.iter().zip(counts) {
        let (place, behind) = rest.split_at_mut(count);
        places.push((start, place));
        rest = behind;
    }
    places.into_par_iter().for_each(|(start, place)| {
        for (slot, index) in place.iter_mut().zip(range(start).filter(|&i| keep(i))) {
            *slot = index;
        }
    });
}
