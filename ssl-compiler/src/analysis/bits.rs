//! A set of small integers: the words of a bit set that are not zero, in order.
//!
//! Sets of neighbours stay small however large the numbers are. Operations on whole sets go word by word.

use smallvec::SmallVec;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BitSet {
    /// The number of a word, and its bits; none is zero.
    words: SmallVec<[(u32, u64); 1]>,
}

impl BitSet {
    fn find(&self, word: u32) -> Result<usize, usize> {
        // Most sets grow at their end.
        match self.words.last() {
            Some((last, _)) if *last >= word => self.words.binary_search_by_key(&word, |(n, _)| *n),
            _ => Err(self.words.len()),
        }
    }

    /// Adds a member; whether it was new.
    pub fn insert(&mut self, i: usize) -> bool {
        self.insert_word((i / 64) as u32, 1 << (i % 64))
    }

    fn insert_word(&mut self, word: u32, bits: u64) -> bool {
        match self.find(word) {
            Ok(at) => {
                let old = self.words[at].1;
                self.words[at].1 |= bits;
                old & bits != bits
            }
            Err(at) => {
                self.words.insert(at, (word, bits));
                true
            }
        }
    }

    pub fn remove(&mut self, i: usize) {
        if let Ok(at) = self.find((i / 64) as u32) {
            self.words[at].1 &= !(1u64 << (i % 64));
            if self.words[at].1 == 0 {
                self.words.remove(at);
            }
        }
    }

    pub fn contains(&self, i: usize) -> bool {
        self.find((i / 64) as u32).is_ok_and(|at| self.words[at].1 >> (i % 64) & 1 != 0)
    }

    /// Adds all members of another set, of which there should not be many more than of this one.
    pub fn union(&mut self, other: &BitSet) {
        if self.words.is_empty() {
            self.words.clone_from(&other.words);
        } else if other.words.len() < 8 {
            other.words.iter().for_each(|&(word, bits)| {
                self.insert_word(word, bits);
            });
        } else {
            self.words = merged(&self.words, &other.words);
        }
    }

    /// Whether a member of one is in the other.
    pub fn intersects(&self, other: &BitSet) -> bool {
        let (small, large) = if self.size() <= other.size() { (self, other) } else { (other, self) };
        small.words.iter().any(|&(word, bits)| large.find(word).is_ok_and(|at| large.words[at].1 & bits != 0))
    }

    /// How much there is to go through.
    pub fn size(&self) -> usize {
        self.words.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().flat_map(|&(n, bits)| {
            let without_lowest = |w: &u64| Some(w & (w - 1)).filter(|rest| *rest != 0);
            let rest = std::iter::successors(Some(bits), without_lowest);
            rest.map(move |w| n as usize * 64 + w.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for BitSet {
    fn from_iter<T: IntoIterator<Item = usize>>(members: T) -> BitSet {
        let mut set = BitSet::default();
        members.into_iter().for_each(|i| {
            set.insert(i);
        });
        set
    }
}

fn merged(a: &[(u32, u64)], b: &[(u32, u64)]) -> SmallVec<[(u32, u64); 1]> {
    let mut out = SmallVec::<[(u32, u64); 1]>::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        out.push(match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => *x,
            std::cmp::Ordering::Greater => *y,
            std::cmp::Ordering::Equal => (x.0, x.1 | y.1),
        });
        let reached = out[out.len() - 1].0;
        a.next_if(|x| x.0 <= reached);
        b.next_if(|y| y.0 <= reached);
    }
    out.extend(a.chain(b));
    out
}

#[cfg(test)]
mod tests {
    use super::BitSet;
    use std::collections::BTreeSet;

    /// Numbers that look random, near and far.
    fn numbers(seed: u64, n: usize) -> Vec<usize> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        (0..n).map(|_| next() % [70, 1000, 100_000][next() % 3]).collect()
    }

    #[test]
    fn it_is_a_set() {
        for seed in 0..40 {
            let (mut bits, mut set) = (BitSet::default(), BTreeSet::new());
            for (i, n) in numbers(seed, 200).into_iter().enumerate() {
                if i % 5 == 4 {
                    bits.remove(n);
                    set.remove(&n);
                } else {
                    assert_eq!(bits.insert(n), set.insert(n));
                }
            }
            assert!(bits.iter().eq(set.iter().copied()));
            assert!((0..1100).all(|n| bits.contains(n) == set.contains(&n)));
            let other = numbers(seed + 100, 1 + seed as usize * 3);
            let others: BitSet = other.iter().copied().collect();
            assert_eq!(bits.intersects(&others), other.iter().any(|n| set.contains(n)));
            assert_eq!(others.intersects(&bits), bits.intersects(&others));
            bits.union(&others);
            set.extend(other);
            assert!(bits.iter().eq(set.iter().copied()));
            assert_eq!(bits, set.into_iter().rev().collect());
        }
    }
}
