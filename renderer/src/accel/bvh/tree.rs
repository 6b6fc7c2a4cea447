//! A hierarchy of boxes with eight children a node, and the walk of a ray through it.
//!
//! The walk is conservative: a box is passed over only where no rounding, neither of its own test nor of the
//! watertight test at the leaves, could let the ray meet what is inside (after Woop, Benthin and Wald, JCGT 2013,
//! section 4, and Ize, "Robust BVH Ray Traversal", JCGT 2013). The tree itself is built by obvhs.
//!
//! Where the processor has eight lanes, the eight boxes are tested at once; the numbers are the same without.

use super::boxes::{Boxes, Slabs, WIDTH};
use crate::math::prefetch;
use crate::ray::Ray;
use glam::Vec3;
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, builder::build_bvh2, node::Bvh2Node};
use smallvec::SmallVec;
use std::ops::Range;

/// The boxes of up to eight children, and where they are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Node {
    boxes: Boxes,
    /// The child node, or the first of a leaf's items.
    first: [u32; WIDTH],
    /// Items of a leaf; 0 for a node. A child that is not there has a box that no ray meets.
    count: [u32; WIDTH],
}

#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The largest and the smallest corner of all.
    bounds: (Vec3, Vec3),
}

/// The distance at which a walk gets to a child, and the child: a node, or a leaf's first item and their number.
type Item = (f32, u32, u32);

/// What a walk has still to visit.
type Stack = SmallVec<[Item; 64]>;

impl Tree {
    /// A tree over boxes, and the order into which the boxes' items must be brought: leaves are ranges of it.
    pub fn build(boxes: Vec<(Vec3, Vec3)>) -> (Tree, Vec<u32>) {
        let Some(bounds) = boxes.iter().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
            return (Tree { nodes: Vec::new(), bounds: (Vec3::ZERO, Vec3::ZERO) }, Vec::new());
        };
        let aabbs: Vec<Aabb> = boxes.into_iter().map(|b| Aabb::new(b.0.into(), b.1.into())).collect();
        let binary = build_bvh2(&aabbs, BvhBuildParams::medium_build(), &mut Default::default());
        let mut tree = Tree { nodes: Vec::with_capacity(binary.nodes.len() / 6 + 1), bounds };
        tree.widen(&binary);
        (tree, binary.primitive_indices)
    }

    /// Gives leaves other ranges of items than those of the order that the tree was built with.
    pub fn replace_leaves(&mut self, mut range: impl FnMut(Range<usize>) -> Range<usize>) {
        for node in &mut self.nodes {
            for slot in 0..WIDTH {
                if node.count[slot] == 0 {
                    continue;
                }
                let first = node.first[slot] as usize;
                let new = range(first..first + node.count[slot] as usize);
                (node.first[slot], node.count[slot]) = (new.start as u32, new.len() as u32);
            }
        }
    }

    /// Takes over a binary tree, about three of its levels in one.
    fn widen(&mut self, binary: &Bvh2) {
        self.nodes.push(Node::EMPTY);
        // Nodes of the new tree still to be filled, with the binary node that each stands for.
        let mut open = vec![(0_usize, 0_u32)];
        while let Some((index, from)) = open.pop() {
            let mut node = Node::EMPTY;
            for (slot, child) in children_of(binary, from).into_iter().enumerate() {
                let child = &binary.nodes[child as usize];
                node.put(slot, child);
                if !child.is_leaf() {
                    node.first[slot] = self.nodes.len() as u32;
                    // The children of a node are two in a row, so either names their parent: keep the first.
                    open.push((self.nodes.len(), child.first_index));
                    self.nodes.push(Node::EMPTY);
                }
            }
            self.nodes[index] = node;
        }
    }

    /// Shows `leaf` the ranges of items that the ray may meet, near ones first as far as is known, with the distance
    /// that still counts; it returns what counts from then on, −∞ to end the walk.
    ///
    /// With `LANES` all boxes of a node are tested at once, which the caller knows the processor can do.
    #[inline(always)]
    pub fn walk<const LANES: bool>(
        &self,
        ray: &Ray,
        soon: impl Fn(usize),
        mut leaf: impl FnMut(Range<usize>, f32) -> f32,
    ) {
        let soon = |(_, first, count): &Item| match count {
            0 => prefetch(&self.nodes[*first as usize]),
            _ => soon(*first as usize),
        };
        if self.nodes.is_empty() {
            return;
        }
        let slabs = Slabs::new(ray, self.bounds);
        let mut t_max = ray.t_max;
        let mut stack = Stack::new();
        let mut next = Some((ray.t_min, 0, 0));
        while let Some((t, first, count)) = next {
            next = if t > t_max {
                stack.pop()
            } else if count > 0 {
                t_max = leaf(first as usize..(first + count) as usize, t_max);
                stack.pop()
            } else {
                open::<LANES>(&slabs, &self.nodes[first as usize], ray.t_min, t_max, &mut stack, &soon)
            };
        }
    }
}

/// Up to eight descendants of a binary node, given by its children's first index or as the root: the boxes with the
/// largest surface are opened first.
fn children_of(binary: &Bvh2, from: u32) -> SmallVec<[u32; WIDTH]> {
    let root = &binary.nodes[0];
    let mut list: SmallVec<[u32; WIDTH]> = match from {
        0 if root.is_leaf() => return SmallVec::from_slice(&[0]),
        0 => SmallVec::from_slice(&[root.first_index, root.first_index + 1]),
        first => SmallVec::from_slice(&[first, first + 1]),
    };
    while list.len() < WIDTH {
        let area = |i: u32| binary.nodes[i as usize].aabb().half_area();
        let inner = list.iter().enumerate().filter(|(_, i)| !binary.nodes[**i as usize].is_leaf());
        let Some((place, _)) = inner.max_by(|a, b| area(*a.1).total_cmp(&area(*b.1))) else { break };
        let first = binary.nodes[list[place] as usize].first_index;
        list[place] = first;
        list.push(first + 1);
    }
    list
}

impl Node {
    /// Boxes that begin behind their end.
    const EMPTY: Node = Node { boxes: Boxes::EMPTY, first: [0; WIDTH], count: [0; WIDTH] };

    fn put(&mut self, slot: usize, child: &Bvh2Node) {
        self.boxes.put(slot, child.aabb().min.into(), child.aabb().max.into());
        self.first[slot] = child.first_index;
        self.count[slot] = if child.is_leaf() { child.prim_count } else { 0 };
    }
}

/// The nearest of a node's children that the ray meets between the distances, or else what the stack has; the other
/// children go onto the stack, nearer ones above.
#[inline(always)]
fn open<const LANES: bool>(
    slabs: &Slabs,
    node: &Node,
    t_min: f32,
    t_max: f32,
    stack: &mut Stack,
    soon: &impl Fn(&Item),
) -> Option<Item> {
    let (entry, mut met) = slabs.meet::<LANES>(&node.boxes, t_min, t_max);
    let mut take = || {
        let slot = met.trailing_zeros() as usize;
        met &= met.wrapping_sub(1);
        (slot < WIDTH).then(|| (entry[slot], node.first[slot], node.count[slot]))
    };
    let Some(mut nearest) = take() else { return stack.pop() };
    soon(&nearest);
    let bottom = stack.len();
    while let Some(mut item) = take() {
        soon(&item);
        if item.0 < nearest.0 {
            std::mem::swap(&mut item, &mut nearest);
        }
        let mut place = stack.len();
        stack.push(item);
        while place > bottom && stack[place - 1].0 < item.0 {
            stack[place] = stack[place - 1];
            place -= 1;
        }
        stack[place] = item;
    }
    Some(nearest)
}
