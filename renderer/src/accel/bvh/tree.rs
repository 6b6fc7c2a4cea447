//! A hierarchy of boxes with four children a node, and the walk of a ray through it.
//!
//! The walk is conservative: a box is passed over only where no rounding, neither of its own test nor of the
//! watertight test at the leaves, could let the ray meet what is inside (after Woop, Benthin and Wald, JCGT 2013,
//! section 4, and Ize, "Robust BVH Ray Traversal", JCGT 2013). The tree itself is built by obvhs.

use crate::ray::Ray;
use glam::{Vec3, Vec4};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, builder::build_bvh2, node::Bvh2Node};
use smallvec::SmallVec;
use std::ops::Range;

/// The boxes of four children, and where they are.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [Vec4; 3],
    high: [Vec4; 3],
    /// The child node, or the first of a leaf's items.
    first: [u32; 4],
    /// Items of a leaf; 0 for a node. A child that is not there has a box that no ray meets.
    count: [u32; 4],
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
        let mut tree = Tree { nodes: Vec::with_capacity(binary.nodes.len() / 3 + 1), bounds };
        tree.widen(&binary);
        (tree, binary.primitive_indices)
    }

    /// Gives leaves other ranges of items than those of the order that the tree was built with.
    pub fn replace_leaves(&mut self, mut range: impl FnMut(Range<usize>) -> Range<usize>) {
        for node in &mut self.nodes {
            for slot in (0..4).filter(|&slot| node.count[slot] > 0).collect::<SmallVec<[usize; 4]>>() {
                let first = node.first[slot] as usize;
                let new = range(first..first + node.count[slot] as usize);
                (node.first[slot], node.count[slot]) = (new.start as u32, new.len() as u32);
            }
        }
    }

    /// Takes over a binary tree, two of its levels in one.
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
    #[inline]
    pub fn walk(&self, ray: &Ray, mut leaf: impl FnMut(Range<usize>, f32) -> f32) {
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
                slabs.open(&self.nodes[first as usize], ray.t_min, t_max, &mut stack)
            };
        }
    }
}

/// Up to four descendants of a binary node, given by its children's first index or as the root: the boxes with the
/// largest surface are opened first.
fn children_of(binary: &Bvh2, from: u32) -> SmallVec<[u32; 4]> {
    let root = &binary.nodes[0];
    let mut list: SmallVec<[u32; 4]> = match from {
        0 if root.is_leaf() => return SmallVec::from_slice(&[0]),
        0 => SmallVec::from_slice(&[root.first_index, root.first_index + 1]),
        first => SmallVec::from_slice(&[first, first + 1]),
    };
    while list.len() < 4 {
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
    const EMPTY: Node = Node { low: [Vec4::INFINITY; 3], high: [Vec4::NEG_INFINITY; 3], first: [0; 4], count: [0; 4] };

    fn put(&mut self, slot: usize, child: &Bvh2Node) {
        let (low, high) = (child.aabb().min, child.aabb().max);
        for axis in 0..3 {
            self.low[axis][slot] = low[axis];
            self.high[axis][slot] = high[axis];
        }
        self.first[slot] = child.first_index;
        self.count[slot] = if child.is_leaf() { child.prim_count } else { 0 };
    }
}

/// A ray prepared for tests of boxes: for each axis where to subtract from for the near and the far plane, and
/// the reciprocal of the direction.
struct Slabs {
    near_origin: [Vec4; 3],
    far_origin: [Vec4; 3],
    reciprocal: [Vec4; 3],
    /// Whether the near planes are the high ones.
    backwards: [bool; 3],
}

impl Slabs {
    fn new(ray: &Ray, bounds: (Vec3, Vec3)) -> Slabs {
        let (o, d) = (ray.origin, ray.direction);
        // Where the watertight test rounds, it does so in proportion to how far the vertices are along the axis in
        // question and along the ray's largest axis.
        let reach = (o - bounds.0).abs().max((bounds.1 - o).abs());
        let error = (reach + reach[d.abs().max_position()]) * (5.0 * 0.5 * f32::EPSILON);
        let error = error.map(f32::next_up);
        // No component is so small beside the others that its reciprocal would overflow.
        let least = d.abs().max_element() * 1e-18;
        let reciprocal = Vec3::from_array(std::array::from_fn(|i| 1.0 / d[i].abs().max(least).copysign(d[i])));
        // What the ray must have passed to be inside: planes nearer by the error, or further.
        let sign = Vec3::from_array(std::array::from_fn(|i| 1.0_f32.copysign(d[i])));
        let splat = |v: Vec3| [Vec4::splat(v.x), Vec4::splat(v.y), Vec4::splat(v.z)];
        Slabs {
            near_origin: splat(o + sign * error),
            far_origin: splat(o - sign * error),
            reciprocal: splat(reciprocal),
            backwards: std::array::from_fn(|i| d[i].is_sign_negative()),
        }
    }

    /// The nearest of a node's children that the ray meets between the distances, or else what the stack has; the other
    /// children go onto the stack, nearer ones above.
    #[inline]
    fn open(&self, node: &Node, t_min: f32, t_max: f32, stack: &mut Stack) -> Option<Item> {
        let (entry, mut met) = self.meet(node, t_min, t_max);
        let entry = entry.to_array();
        let mut take = || {
            let slot = met.trailing_zeros() as usize;
            met &= met.wrapping_sub(1);
            (slot < 4).then(|| (entry[slot], node.first[slot], node.count[slot]))
        };
        let Some(mut nearest) = take() else { return stack.pop() };
        let bottom = stack.len();
        while let Some(mut item) = take() {
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

    /// Where the ray enters each of a node's boxes, and which of them it meets between the distances.
    #[inline]
    fn meet(&self, node: &Node, t_min: f32, t_max: f32) -> (Vec4, u32) {
        let plane = |axis: usize, far: bool| {
            if self.backwards[axis] != far { node.high[axis] } else { node.low[axis] }
        };
        let near = |axis: usize| (plane(axis, false) - self.near_origin[axis]) * self.reciprocal[axis];
        let far = |axis: usize| (plane(axis, true) - self.far_origin[axis]) * self.reciprocal[axis];
        let entry = near(0).max(near(1)).max(near(2));
        let exit = far(0).min(far(1)).min(far(2));
        // Three roundings on either side. Where the exit is negative there is no hit, whatever they do.
        const SLACK: f32 = 1.0 + 8.0 * f32::EPSILON;
        let entry = entry.max(Vec4::splat(t_min));
        let exit = (exit * SLACK).min(Vec4::splat(t_max));
        (entry, entry.cmple(exit).bitmask())
    }
}
