//! Which nodes run together, in one pass over their points. Greedy: a node takes with it those behind it that may run at the
//! same time, as far as limits allow.
//!
//! A node may join if it has the same points, if all that it depends on has run, and if each of its points reads no more than its
//! own element of what the others in the pack write. Nodes that add to the same sums stay apart, since what they leave out is
//! counted for each.

use super::{BufferId, Extent, Graph, Link, Source, Work};
use crate::kernel::{MOST_TOGETHER, Reach};
use smallvec::SmallVec;

/// Buffers of a pack, read, written and added to: what a part of its points has of them is to stay in a core's own caches.
const MOST_BUFFERS: usize = 32;

impl Graph {
    /// Whether nodes run together where they may, as they do if nobody says otherwise. The results are the
    /// same; what kernels print comes in another order.
    pub fn set_packed(&mut self, packed: bool) {
        self.apart = !packed;
    }

    /// The nodes that run together with the one at a place in the order, which comes first. `stale` says by node which have yet
    /// to run.
    pub(super) fn pack(&self, place: usize, stale: &[bool]) -> SmallVec<[usize; MOST_TOGETHER]> {
        let first = self.order[place];
        let mut pack = SmallVec::from_elem(first, 1);
        let Work::Kernel { extent, .. } = self.nodes[first].work else { return pack };
        let mut buffers = self.nodes[first].links.len();
        for &node in self.order[place + 1..].iter().filter(|node| stale[**node] && !self.apart) {
            if pack.len() == MOST_TOGETHER {
                break;
            }
            let more = buffers + self.nodes[node].links.len();
            if more <= MOST_BUFFERS && self.may_join(&pack, extent, node, stale) {
                pack.push(node);
                buffers = more;
            }
        }
        pack
    }

    fn may_join(&self, pack: &[usize], points: Extent, node: usize, stale: &[bool]) -> bool {
        let Work::Kernel { kernel, extent } = &self.nodes[node].work else { return false };
        if *extent != points {
            return false;
        }
        if let Extent::Of(buffer) = *extent
            && !self.is_there(buffer, stale)
        {
            return false;
        }
        let makes = |buffer: BufferId| pack.iter().any(|&other| self.nodes[other].gives().any(|given| given == buffer));
        self.nodes[node].links.iter().enumerate().all(|(port, &link)| match link {
            Link::Read(from) => {
                let made = matches!(self.slots[from.0].source, Source::Written(_)) && makes(from);
                self.is_there(from, stale) || made && matches!(kernel.reach(port), Reach::Nothing | Reach::Own)
            }
            Link::Change { from, .. } => self.is_there(from, stale),
            Link::Write(_) => true,
            // Sums like a buffer get its length before the pack runs.
            Link::Add(to) => !makes(to) && self.slots[to.0].like.is_none_or(|like| self.is_there(like, stale)),
        })
    }

    /// Whether all that makes a buffer has run.
    fn is_there(&self, buffer: BufferId, stale: &[bool]) -> bool {
        match &self.slots[buffer.0].source {
            Source::Host => true,
            Source::Written(node) => node.is_none_or(|node| !stale[node.0]),
            Source::Sums(_, nodes) => nodes.iter().all(|node| !stale[node.0]),
        }
    }
}
