//! Sorting by key: a radix sort from the lowest digit up, which leaves elements of one key in their order.

use super::PART;
use rayon::prelude::*;
use std::marker::PhantomData;

const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;

/// Sorts pairs of a key and a value. It holds the memory that it needs besides the pairs, so that sorting again takes none.
#[derive(Default)]
pub struct Sorter {
    pairs: Vec<(u64, u32)>,
    counts: Vec<[u32; DIGITS]>,
}

impl Sorter {
    /// Sorts by key; pairs of the same key stay in their order. The values are a permutation: what is gathered by them has as its
    /// transpose a scatter to them.
    ///
    /// # Panics
    /// If there are more than 2³² pairs.
    pub fn sort(&mut self, pairs: &mut Vec<(u64, u32)>) {
        assert!(u32::try_from(pairs.len()).is_ok(), "an index has 32 bits");
        self.pairs.resize(pairs.len(), (0, 0));
        let differ = self.differ(pairs);
        for shift in (0..u64::BITS).step_by(DIGIT as usize) {
            // A digit that is the same in all keys moves nothing.
            if differ >> shift & (DIGITS as u64 - 1) != 0 {
                self.by_digit(pairs, shift);
                std::mem::swap(pairs, &mut self.pairs);
            }
        }
    }

    /// The bits in which keys differ from the first one.
    fn differ(&self, pairs: &[(u64, u32)]) -> u64 {
        let Some(&(first, _)) = pairs.first() else { return 0 };
        pairs
            .par_chunks(PART)
            .map(|part| part.iter().fold(0, |bits, p| bits | (p.0 ^ first)))
            .reduce(|| 0, |a, b| a | b)
    }

    /// Writes the pairs to `self.pairs`, ordered by one digit.
    fn by_digit(&mut self, pairs: &[(u64, u32)], shift: u32) {
        let digit = |key: u64| (key >> shift) as usize & (DIGITS - 1);
        self.counts.clear();
        self.counts.resize(pairs.len().div_ceil(PART), [0; DIGITS]);
        self.counts.par_iter_mut().zip(pairs.par_chunks(PART)).for_each(|(counts, part)| {
            part.iter().for_each(|&(key, _)| counts[digit(key)] += 1);
        });
        // Where the pairs of a digit of a part begin: behind those of smaller digits, and of the same one in parts before.
        let mut before = 0;
        for d in 0..DIGITS {
            for counts in &mut self.counts {
                before += std::mem::replace(&mut counts[d], before);
            }
        }
        let target = Slots::new(&mut self.pairs);
        self.counts.par_iter_mut().zip(pairs.par_chunks(PART)).for_each(|(places, part)| {
            for &pair in part {
                let place = &mut places[digit(pair.0)];
                // SAFETY: the places of all parts and digits are ranges of their own, together as long as the target.
                unsafe { target.write(*place as usize, pair) };
                *place += 1;
            }
        });
    }
}

/// A slice into which several threads write, each to places of its own.
struct Slots<'a> {
    first: *mut (u64, u32),
    len: usize,
    slice: PhantomData<&'a mut [(u64, u32)]>,
}

// SAFETY: see `write`, the only use of the pointer.
unsafe impl Sync for Slots<'_> {}

impl<'a> Slots<'a> {
    fn new(slice: &'a mut [(u64, u32)]) -> Self {
        Self { first: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// # Safety
    /// Nobody else writes to that place as long as this lives.
    unsafe fn write(&self, place: usize, pair: (u64, u32)) {
        assert!(place < self.len, "a place of the slice");
        // SAFETY: within the slice, which is borrowed for `'a`; the caller sees to it that no other thread has this place.
        unsafe { self.first.add(place).write(pair) };
    }
}
