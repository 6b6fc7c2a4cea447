//! A ray's traversal of the tree of a group, in steps of one node or one leaf.
//!
//! The traversal is conservative: it skips a box only if no rounding, neither of its own test nor of the watertight
//! test at the leaves, could let the ray hit the triangles inside (after Woop, Benthin and Wald, JCGT 2013, section 4, and
//! Ize, "Robust BVH Ray Traversal", JCGT 2013). It ends whatever the numbers are: each node has one parent, and a
//! missing child is never hit.
//!
//! A step ends by prefetching what the next one reads. A caller with many rays lets several take turns, so that this
//! arrives while others step: scenes are larger than the nearest caches, and a single ray would wait most of its time.

use super::boxes::WIDTH;
use super::node::{Child, Node};
use super::slabs::{Met, Slabs, distance_of};
use crate::accel::ShearedRay;
use crate::geometry::Hit;
use crate::math::prefetch_at;
use crate::ray::Ray;
use std::hint::select_unpredictable;
use std::ops::Range;

pub struct Walk {
    pub ray: Ray,
    pub sheared: ShearedRay,
    /// Distances from here on do not count any more.
    pub t_max: f32,
    pub best: Option<Hit>,
    /// A shadow ray has met something that may let it pass.
    pub see_through: bool,
    slabs: Slabs,
    next: Child,
    stack: Stack,
}

impl Walk {
    /// From the root of a tree that is not empty.
    #[inline(always)]
    pub fn new(ray: &Ray) -> Walk {
        let slabs = Slabs::new(ray);
        Walk {
            ray: *ray,
            sheared: ShearedRay::new(ray),
            t_max: reach(ray, &slabs),
            best: None,
            see_through: false,
            slabs,
            next: Child::ROOT,
            stack: Stack::new(),
        }
    }

    /// As new, in the same memory.
    #[inline(always)]
    pub fn restart(&mut self, ray: &Ray) {
        (self.ray, self.sheared, self.slabs) = (*ray, ShearedRay::new(ray), Slabs::new(ray));
        (self.t_max, self.best, self.next) = (reach(ray, &self.slabs), None, Child::ROOT);
        self.see_through = false;
        self.stack.clear();
    }

    /// Finds the children of the node that is next, if it is one, that the ray meets; of a leaf, its blocks. If they are to be
    /// `ORDERED`, the nearest of the children is visited first.
    ///
    /// With `LANES` all boxes are tested at once, which the caller knows the processor can do.
    #[inline(always)]
    pub fn open<const ORDERED: bool, const LANES: bool>(&mut self, tree: &[Node]) -> Option<Range<usize>> {
        if let Some(blocks) = self.next.blocks() {
            return Some(blocks);
        }
        let node = &tree[self.next.first()];
        let met = self.slabs.meet::<ORDERED, LANES>(&node.boxes, self.ray.t_min, self.t_max);
        self.stack.push(&met, met.order::<LANES>(&node.children));
        None
    }

    /// Goes on to what is next, which is prefetched, of a leaf its first block; false at the end.
    #[inline(always)]
    pub fn turn<B>(&mut self, tree: &[Node], blocks: &[B]) -> bool {
        while let Some((key, next)) = self.stack.pop() {
            if distance_of(key) > self.t_max {
                continue;
            }
            self.next = next;
            // A branch here would be known only after all that found out what is next, and is as often wrong as right.
            let leaf = next.blocks().is_some();
            let (nodes, blocks) = (tree.as_ptr().cast::<u8>(), blocks.as_ptr().cast::<u8>());
            let start = select_unpredictable(leaf, blocks, nodes);
            let size = select_unpredictable(leaf, size_of::<B>(), size_of::<Node>());
            prefetch_at(
                start.wrapping_add(next.first() * size),
                const { if size_of::<B>() > size_of::<Node>() { size_of::<B>() } else { size_of::<Node>() } },
            );
            return true;
        }
        false
    }
}

/// How far a ray goes: nowhere where it has no origin or no direction.
#[inline(always)]
fn reach(ray: &Ray, slabs: &Slabs) -> f32 {
    if slabs.is_sound() { ray.t_max } else { -1.0 }
}

/// Children still to be visited, by their keys; near ones above, as far as is known. Where a child is stands here as well: its
/// parent may have left the nearest cache by the time of its turn.
struct Stack {
    keys: [u32; NEAR],
    children: [u32; NEAR],
    len: usize,
    /// What lies below, where a tree is that deep.
    below: Vec<(u32, Child)>,
}

/// Children that are held in place: the eight of each of fifteen levels.
const NEAR: usize = 120;

impl Stack {
    #[inline(always)]
    fn new() -> Stack {
        Stack { keys: [0; NEAR], children: [0; NEAR], len: 0, below: Vec::new() }
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.len = 0;
        self.below.clear();
    }

    /// Children that are met, by their keys.
    #[inline(always)]
    fn push(&mut self, met: &Met, children: [u32; WIDTH]) {
        if self.len + WIDTH > NEAR {
            self.sink();
        }
        // All eight cost less than some of them.
        let place = self.len..self.len + WIDTH;
        self.keys[place.clone()].copy_from_slice(&met.keys);
        self.children[place].copy_from_slice(&children);
        self.len += met.count;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, Child)> {
        if self.len == 0 {
            return self.below.pop();
        }
        self.len -= 1;
        Some(self.at(self.len))
    }

    #[inline(always)]
    fn at(&self, place: usize) -> (u32, Child) {
        (self.keys[place], Child(self.children[place]))
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
            stack.push(&Met { keys, count }, keys.map(|key| key + 1));
            model.extend(keys[..count].iter().map(|key| (*key, Child(key + 1))));
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
