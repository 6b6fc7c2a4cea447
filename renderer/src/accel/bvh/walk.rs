//! A ray's traversal of the tree of a group, in steps of one node or one leaf.
//!
//! The traversal is conservative: it skips a box only if no rounding, neither of its own test nor of the watertight
//! test at the leaves, could let the ray hit what is inside (after Woop, Benthin and Wald, JCGT 2013, section 4, and
//! Ize, "Robust BVH Ray Traversal", JCGT 2013). It ends whatever the numbers are: each node has one parent, and a
//! missing child is never hit.
//!
//! A step ends by prefetching what the next one reads. A caller with many rays lets several take turns, so that this
//! arrives while others step: scenes are larger than the nearest caches, and a single ray would wait most of its time.

use super::boxes::{Met, Slabs, WIDTH, distance_of};
use super::tree::Tree;
use crate::accel::ShearedRay;
use crate::geometry::Hit;
use crate::math::prefetch;
use crate::ray::Ray;
use std::ops::Range;

/// What is to be visited: a node, or `count` blocks of a leaf from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    first: u32,
    /// 0 for a node.
    count: u32,
}

const ROOT: Item = Item { first: 0, count: 0 };

pub struct Walk {
    pub ray: Ray,
    pub sheared: ShearedRay,
    /// Distances from here on do not count any more.
    pub t_max: f32,
    pub best: Option<Hit>,
    /// A shadow ray has met something that may let it pass.
    pub see_through: bool,
    slabs: Slabs,
    next: Item,
    stack: Stack,
}

impl Walk {
    /// From the root of a tree that is not empty.
    #[inline(always)]
    pub fn new(tree: &Tree, ray: &Ray) -> Walk {
        let slabs = Slabs::new(ray, tree.bounds);
        Walk {
            ray: *ray,
            sheared: ShearedRay::new(ray),
            t_max: reach(ray, &slabs),
            best: None,
            see_through: false,
            slabs,
            next: ROOT,
            stack: Stack::new(),
        }
    }

    /// As new, in the same memory.
    #[inline(always)]
    pub fn restart(&mut self, tree: &Tree, ray: &Ray) {
        (self.ray, self.sheared, self.slabs) = (*ray, ShearedRay::new(ray), Slabs::new(ray, tree.bounds));
        (self.t_max, self.best, self.next) = (reach(ray, &self.slabs), None, ROOT);
        self.see_through = false;
        self.stack.clear();
    }

    /// Finds the children of the node that is next, if it is one, that the ray meets; of a leaf, its blocks. If they are to be
    /// `ORDERED`, the nearest of the children is visited first.
    ///
    /// With `LANES` all boxes are tested at once, which the caller knows the processor can do.
    #[inline(always)]
    pub fn open<const ORDERED: bool, const LANES: bool>(&mut self, tree: &Tree) -> Option<Range<usize>> {
        let Item { first, count } = self.next;
        if count > 0 {
            return Some(first as usize..(first + count) as usize);
        }
        let node = &tree.nodes[first as usize];
        let met = self.slabs.meet::<ORDERED, LANES>(&node.boxes, self.ray.t_min, self.t_max);
        self.stack.push(&met, met.order::<LANES>(&node.first), met.order::<LANES>(&node.count));
        None
    }

    /// Goes on to what is next, of which a leaf's first block is shown to `soon`; false at the end.
    #[inline(always)]
    pub fn turn(&mut self, tree: &Tree, soon: impl Fn(usize)) -> bool {
        while let Some((key, next)) = self.stack.pop() {
            if distance_of(key) > self.t_max {
                continue;
            }
            self.next = next;
            match next.count {
                0 => prefetch(&tree.nodes[next.first as usize]),
                _ => soon(next.first as usize),
            }
            return true;
        }
        false
    }
}

/// How far a ray goes: nowhere where its numbers are such that the walk might not end.
#[inline(always)]
fn reach(ray: &Ray, slabs: &Slabs) -> f32 {
    if slabs.is_sound() { ray.t_max } else { -1.0 }
}

/// Children still to be visited, by their keys; near ones above, as far as is known. Where a child is stands here as well: its
/// parent may have left the nearest cache by the time of its turn.
struct Stack {
    keys: [u32; NEAR],
    firsts: [u32; NEAR],
    counts: [u32; NEAR],
    len: usize,
    /// What lies below, where a tree is that deep.
    below: Vec<(u32, Item)>,
}

/// Children that are held in place: the eight of each of fifteen levels.
const NEAR: usize = 120;

impl Stack {
    #[inline(always)]
    fn new() -> Stack {
        Stack { keys: [0; NEAR], firsts: [0; NEAR], counts: [0; NEAR], len: 0, below: Vec::new() }
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.len = 0;
        self.below.clear();
    }

    /// Children that are met, with what [`Item`] says of each.
    #[inline(always)]
    fn push(&mut self, met: &Met, firsts: [u32; WIDTH], counts: [u32; WIDTH]) {
        if self.len + WIDTH > NEAR {
            self.sink();
        }
        // All eight cost less than some of them.
        let place = self.len..self.len + WIDTH;
        self.keys[place.clone()].copy_from_slice(&met.keys);
        self.firsts[place.clone()].copy_from_slice(&firsts);
        self.counts[place].copy_from_slice(&counts);
        self.len += met.count;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, Item)> {
        if self.len == 0 {
            return self.below.pop();
        }
        self.len -= 1;
        Some(self.at(self.len))
    }

    #[inline(always)]
    fn at(&self, place: usize) -> (u32, Item) {
        (self.keys[place], Item { first: self.firsts[place], count: self.counts[place] })
    }

    #[cold]
    fn sink(&mut self) {
        for place in 0..self.len {
            self.below.push(self.at(place));
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// Deeper than what is held in place, and back, it is a stack still.
    #[test]
    fn the_last_child_comes_first_at_any_depth() {
        let mut random = Sampler::new(5, (0, 0), 0);
        let (mut stack, mut model) = (Stack::new(), Vec::new());
        let mut deepest = 0;
        for node in 0..4000 {
            let count = (random.next_1d() * 9.0) as usize;
            let keys = std::array::from_fn(|i| node * 8 + i as u32);
            let firsts = keys.map(|key| key + 1);
            stack.push(&Met { keys, count }, firsts, [node; WIDTH]);
            model.extend(keys[..count].iter().map(|key| (*key, Item { first: key + 1, count: node })));
            deepest = deepest.max(model.len());
            // Mostly growing, then mostly shrinking.
            let pops = if node % 1000 < 500 { 3 } else { 7 };
            for _ in 0..pops {
                assert_eq!(stack.pop(), model.pop());
            }
        }
        assert!(deepest > 3 * NEAR, "{deepest}");
        stack.clear();
        assert_eq!(stack.pop(), None);
    }
}
