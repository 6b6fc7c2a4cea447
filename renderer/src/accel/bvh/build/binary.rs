//! Trees with two children per node, over a range of references.

use super::split::{Extent, Measure, Reference, split};
use std::ops::Range;

/// A node, which stands for a range of the references. The first child of an inner node is the next one in the list.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub extent: Extent,
    pub weight: u32,
    pub begin: u32,
    pub end: u32,
    /// The second child; 0 where there are none.
    pub second: u32,
}

impl Branch {
    /// Of the references.
    pub fn range(&self) -> Range<usize> {
        self.begin as usize..self.end as usize
    }
}

/// Levels from which on ranges are halved whatever it costs, so that no tree is much deeper.
const DEEP: usize = 64;

/// From how many references on both parts of a range are cut at the same time.
const LARGE: usize = 1 << 14;

/// Cuts references until `enough` says so of each part, or it is a single one. Children come after their parents.
///
/// There must be one reference at least.
pub fn tree(references: &mut [Reference], enough: impl Fn(&Branch) -> bool + Sync) -> Vec<Branch> {
    let mut branches = Vec::new();
    let whole = Measure::of(references);
    Growth { enough }.grow(references, 0, whole, 0, &mut branches);
    branches
}

struct Growth<F> {
    enough: F,
}

impl<F: Fn(&Branch) -> bool + Sync> Growth<F> {
    fn grow(&self, references: &mut [Reference], begin: usize, all: Measure, depth: usize, list: &mut Vec<Branch>) {
        let (here, end) = (list.len(), begin + references.len());
        let Measure { extent, weight, .. } = all;
        list.push(Branch { extent, weight, begin: begin as u32, end: end as u32, second: 0 });
        if references.len() == 1 || (self.enough)(&list[here]) {
            return;
        }
        let large = references.len() >= LARGE;
        let Some((middle, [left, right])) = split(references, &all, depth >= DEEP) else { return };
        let (first, second) = references.split_at_mut(middle);
        let middle = begin + middle;
        if !large {
            self.grow(first, begin, left, depth + 1, list);
            list[here].second = list.len() as u32;
            return self.grow(second, middle, right, depth + 1, list);
        }
        let aside = |references, begin, all| {
            let mut list = Vec::new();
            self.grow(references, begin, all, depth + 1, &mut list);
            list
        };
        let (first, second) = rayon::join(|| aside(first, begin, left), || aside(second, middle, right));
        append(list, first);
        list[here].second = list.len() as u32;
        append(list, second);
    }
}

fn append(list: &mut Vec<Branch>, part: Vec<Branch>) {
    let at = list.len() as u32;
    list.extend(part.into_iter().map(|b| Branch { second: if b.second == 0 { 0 } else { b.second + at }, ..b }));
}
