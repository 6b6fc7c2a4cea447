//! Terms that come alone. Points often read their own element, or that of a layer of their pixel, so their gradients add to
//! neighbouring elements, one term to each. Such a term is the whole sum: it stays the float that it is.
//!
//! The first term of an element is kept here, whichever that is; further ones go to integers. So the sum does not depend on
//! their order.

use super::fixed::LIMIT;
use super::lanes;
use ssl_compiler::runtime::{AddRequest, LANES, Row};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Elements of a word of `claimed`.
const GROUP: usize = 32;

pub struct Alone {
    len: usize,
    /// The words of a column in `claimed`.
    groups: usize,
    /// By column: a bit for each element that has a term here.
    claimed: Box<[AtomicU32]>,
    /// By column and element: floats, which mean something only where they are claimed.
    terms: Box<[AtomicU32]>,
}

impl Alone {
    /// `None` if there is no memory.
    pub fn new(len: usize, columns: usize) -> Option<Alone> {
        let groups = len.div_ceil(GROUP);
        Some(Alone { len, groups, claimed: zeros(groups * columns)?, terms: zeros(len * columns)? })
    }

    pub fn bytes_of(len: usize, columns: usize) -> usize {
        len.saturating_add(len.div_ceil(GROUP)).saturating_mul(columns).saturating_mul(size_of::<u32>())
    }

    pub fn clear(&mut self) {
        self.claimed.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// The element of lane 0, if all lanes of a request add to neighbours in their order, terms that sums can hold.
    #[inline]
    pub fn start(&self, request: &AddRequest) -> Option<usize> {
        let (first, last) = (request.mask.trailing_zeros(), request.mask.checked_ilog2()?);
        let start = request.index.0[first as usize].checked_sub(first)?;
        let other = |lane: usize| u32::from(request.index.0[lane] != start.wrapping_add(lane as u32)) << lane;
        let others = (0..LANES).fold(0, |others, lane| others | other(lane));
        let too_large = |row: &Row| {
            (0..LANES).fold(0, |bits, lane| bits | u32::from(row.0[lane].abs() < LIMIT as f32) << lane) & request.mask
                != request.mask
        };
        let fits = others & request.mask == 0
            && start.checked_add(last).is_some_and(|end| (end as usize) < self.len)
            && !request.values[..request.count as usize].iter().any(too_large);
        fits.then_some(start as usize)
    }

    /// Keeps a row of terms, and gives the lanes whose elements have a term already.
    #[inline]
    pub fn keep(&self, start: usize, column: usize, row: &Row, mask: u32) -> u32 {
        let (shift, word) = (start % GROUP, column * self.groups + start / GROUP);
        let bits = u64::from(mask) << shift;
        let claim = |word: usize, bits: u32| {
            let before = if bits == 0 { 0 } else { self.claimed[word].fetch_or(bits, Relaxed) };
            u64::from(before & bits)
        };
        let before = claim(word, bits as u32) | claim(word + 1, (bits >> GROUP) as u32) << GROUP;
        let late = (before >> shift) as u32;
        let kept = mask & !late;
        let first = column * self.len + start;
        for lane in (0..LANES).filter(|lane| kept >> lane & 1 != 0) {
            self.terms[first + lane].store(row.0[lane].to_bits(), Relaxed);
        }
        late
    }

    /// The term of an element, if it has one here.
    #[inline]
    pub fn get(&self, element: usize, column: usize) -> Option<f32> {
        let word = self.claimed[column * self.groups + element / GROUP].load(Relaxed);
        let term = || f32::from_bits(self.terms[column * self.len + element].load(Relaxed));
        (word >> (element % GROUP) & 1 != 0).then(term)
    }
}

/// A term as a sum: without what lies below a unit, and without the sign of a zero.
#[inline]
pub fn sum_of(term: f32) -> f32 {
    const UNITS: f32 = lanes::power(-lanes::UNITS[0]) as f32;
    // The lowest bit of larger ones is a unit at least.
    let small = ((term * UNITS) as i32) as f32 / UNITS;
    (if term.abs() < lanes::power(lanes::UNITS[0] + 23) as f32 { small } else { term }) + 0.0
}

fn zeros(count: usize) -> Option<Box<[AtomicU32]>> {
    let mut words = Vec::new();
    words.try_reserve_exact(count).ok()?;
    words.resize_with(count, AtomicU32::default);
    Some(words.into_boxed_slice())
}
