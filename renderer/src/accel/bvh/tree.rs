//! A bounding volume hierarchy with eight children per node.

use super::boxes::{Boxes, WIDTH};
use glam::Vec3;

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
    /// Over nothing.
    pub const EMPTY: Tree = Tree { nodes: Vec::new(), bounds: (Vec3::ZERO, Vec3::ZERO) };
}

impl Node {
    /// Boxes that begin behind their end.
    pub const EMPTY: Node = Node { boxes: Boxes::EMPTY, first: [0; WIDTH], count: [0; WIDTH] };

    /// Says where a child is.
    pub fn refer(&mut self, slot: usize, first: u32, count: u32) {
        (self.first[slot], self.count[slot]) = (first, count);
    }
}
