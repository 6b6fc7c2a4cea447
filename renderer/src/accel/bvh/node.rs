//! A node of a bounding volume hierarchy with eight children per node, in two cache lines.

use super::boxes::{Boxes, WIDTH};
use std::ops::Range;

/// The boxes of up to eight children, and what these are. The root of a tree is its first node.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Node {
    pub boxes: Boxes,
    pub children: [u32; WIDTH],
}

const _: () = assert!(size_of::<Node>() == 128);

/// What a child is: a node, or blocks of a leaf. The number of blocks, 0 for a node, stands in the last three bits, and the number
/// of the node, or of the first block, in the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Child(pub u32);

const COUNT: usize = 7;

/// Nodes, and blocks, that can be told apart in a tree: so many blocks take 90 GB.
const MOST: usize = 1 << 29;

impl Child {
    pub const ROOT: Child = Child(0);

    pub fn node(number: usize) -> Child {
        assert!(number < MOST, "a tree has at most {MOST} nodes");
        Child((number * (COUNT + 1)) as u32)
    }

    /// Of one block to seven.
    pub fn leaf(blocks: Range<usize>) -> Child {
        assert!(blocks.end <= MOST, "a tree has at most {MOST} blocks of primitives");
        assert!((1..=COUNT).contains(&blocks.len()), "a leaf of {} blocks", blocks.len());
        Child((blocks.start * (COUNT + 1) + blocks.len()) as u32)
    }

    /// What it is behind so many other nodes and blocks.
    pub fn behind(self, nodes: usize, blocks: usize) -> Child {
        match self.blocks() {
            None => Child::node(self.first() + nodes),
            Some(own) => Child::leaf(own.start + blocks..own.end + blocks),
        }
    }

    /// The number of the node, or of the first block.
    #[inline(always)]
    pub fn first(self) -> usize {
        self.0 as usize / (COUNT + 1)
    }

    /// Those of a leaf.
    #[inline(always)]
    pub fn blocks(self) -> Option<Range<usize>> {
        let count = self.0 as usize & COUNT;
        (count > 0).then(|| self.first()..self.first() + count)
    }
}
