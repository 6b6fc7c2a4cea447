//! Which units of a render are finished: almost a prefix, as threads begin them in order.

use std::collections::BTreeSet;

/// All units below one, and some beyond it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    below: u64,
    /// All above `below`, which itself is not finished.
    beyond: BTreeSet<u64>,
    /// Samples of a pixel before this one are in, also of units that are not finished: an earlier render ended with them,
    /// in the middle of a batch.
    held: u32,
}

impl Done {
    /// `None` unless `beyond` ascends from above `below`, and to below the largest number: no render has so many units.
    pub fn new(below: u64, beyond: Vec<u64>) -> Option<Done> {
        if beyond.last() == Some(&u64::MAX) {
            return None;
        }
        let ascends = beyond.first().is_none_or(|&b| b > below) && beyond.windows(2).all(|w| w[0] < w[1]);
        ascends.then(|| Done { below, beyond: beyond.into_iter().collect(), held: 0 })
    }

    /// All of so many units.
    pub fn all(units: u64) -> Done {
        Done { below: units, beyond: BTreeSet::new(), held: 0 }
    }

    /// The same units; and of the others, the samples before this one.
    pub fn holding(self, held: u32) -> Done {
        Done { held, ..self }
    }

    pub fn held(&self) -> u32 {
        self.held
    }

    pub fn insert(&mut self, unit: u64) {
        if unit >= self.below {
            self.beyond.insert(unit);
        }
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
    }

    pub fn contains(&self, unit: u64) -> bool {
        unit < self.below || self.beyond.contains(&unit)
    }

    /// The first unit that is not finished.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// The finished ones after that, ascending.
    pub fn beyond(&self) -> impl ExactSizeIterator<Item = u64> {
        self.beyond.iter().copied()
    }

    /// How many are finished.
    pub fn count(&self) -> u64 {
        self.below + self.beyond.len() as u64
    }

    /// All are below this.
    pub fn end(&self) -> u64 {
        self.beyond.last().map_or(self.below, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_may_finish_in_any_order() {
        let mut done = Done::default();
        for (n, unit) in [3, 0, 5, 1, 2, 4].into_iter().enumerate() {
            assert!(!done.contains(unit));
            done.insert(unit);
            assert!(done.contains(unit) && done.count() == n as u64 + 1);
        }
        assert_eq!((done.below(), done.beyond().len(), done.end()), (6, 0, 6));
        done.insert(8);
        assert_eq!((done.below(), done.count(), done.end()), (6, 7, 9));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(Done::new(3, vec![4, 7]).is_some());
        assert!(Done::new(3, vec![3]).is_none());
        assert!(Done::new(3, vec![5, 5]).is_none());
        assert!(Done::new(3, vec![5, u64::MAX]).is_none());
    }
}
