//! A hierarchy of boxes with eight children a node, built by obvhs.

use super::boxes::{Boxes, WIDTH};
use glam::Vec3;
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, builder::build_bvh2, node::Bvh2Node};
use smallvec::SmallVec;
use std::ops::Range;

/// The boxes of up to eight children, and where they are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Node {
    pub boxes: Boxes,
    /// The child node, or the first of a leaf's items.
    pub first: [u32; WIDTH],
    /// Items of a leaf; 0 for a node. A child that is not there has a box that no ray meets.
    pub count: [u32; WIDTH],
}

#[derive(Debug)]
pub struct Tree {
    /// The root is the first; none if there is nothing.
    pub nodes: Vec<Node>,
    /// The smallest and the largest corner of all.
    pub bounds: (Vec3, Vec3),
}

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
