//! The cause of a NaN or a missing term in a buffer: the terms that its sums left out, and the first buffer with NaN or
//! infinity.

use super::run::{bindings, grid, make_room};
use super::{BufferId, Graph, GraphError, NodeId, Source, Work};
use crate::buffer::{Arrangement, Buffer};
use crate::kernel::{Control, Launch, LeftOut};
use smallvec::SmallVec;
use ssl_compiler::types::Scalar;

/// A float of a buffer that is NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFinite {
    /// The buffer.
    pub buffer: BufferId,
    /// The node that writes it; `None` for a buffer of the host's and for sums.
    pub writer: Option<NodeId>,
    /// The first element that is not finite.
    pub element: usize,
    /// What it holds.
    pub value: f32,
}

impl Graph {
    /// The first node whose terms a sum left out when it last ran, among all sums on which the buffer depends, directly
    /// or not.
    pub fn left_out_before(&self, buffer: BufferId) -> Option<NodeId> {
        let (mut seen, mut open) = (vec![false; self.slots.len()], vec![buffer]);
        let mut guilty: Vec<usize> = Vec::new();
        while let Some(buffer) = open.pop() {
            if std::mem::replace(&mut seen[buffer.0], true) {
                continue;
            }
            let makers: &[NodeId] = match &self.slots[buffer.0].source {
                Source::Host | Source::Written(None) => &[],
                Source::Written(Some(writer)) => std::slice::from_ref(writer),
                Source::Sums(sums, adders) => {
                    if sums.left_out() > 0 {
                        let left_out = adders.iter().filter(|node| self.nodes[node.0].status.left_out > 0);
                        guilty.extend(left_out.map(|node| node.0));
                    }
                    adders
                }
            };
            open.extend(makers.iter().flat_map(|node| self.nodes[node.0].reads()));
        }
        self.order.iter().find(|node| guilty.contains(node)).map(|&node| NodeId(node))
    }

    /// The first point of a node whose term its sums leave out, and the name of the buffer to which it adds. The node runs once
    /// more for it, and is stale then.
    ///
    /// # Errors
    /// As for [`Graph::update`].
    pub fn first_left_out(
        &mut self,
        node: NodeId,
        control: &Control<'_>,
    ) -> Result<Option<(String, LeftOut)>, GraphError> {
        let node = node.0;
        self.nodes[node].fresh = false;
        let Some(grid) = grid(&self.nodes[node], &self.slots) else { return Ok(None) };
        let writes: Vec<BufferId> = self.nodes[node].links.iter().filter_map(|link| link.writes()).collect();
        let mut written: SmallVec<[Buffer; 8]> =
            writes.iter().filter_map(|to| self.slots[to.0].buffer.take()).collect();
        let (nodes, slots) = (&self.nodes, &self.slots);
        let found = make_room(grid, &nodes[node].links, slots, &mut written, None).and_then(|()| {
            let Work::Kernel { kernel, .. } = &nodes[node].work else { return Ok(None) };
            let mut bindings = bindings(nodes, &[node], slots, &mut written);
            let found = Launch::first_left_out(kernel, grid, &mut bindings, control)
                .map_err(|error| GraphError::Launch { node: nodes[node].name.clone(), error })?;
            Ok(found.map(|found| {
                let port = kernel.ports().iter().position(|port| port.name == found.buffer);
                let to = port.and_then(|port| nodes[node].links[port].adds());
                (to.map_or(found.buffer.clone(), |to| slots[to.0].name.clone()), found)
            }))
        });
        for (to, buffer) in writes.into_iter().zip(written) {
            self.slots[to.0].buffer = Some(buffer);
        }
        found
    }

    /// Follows a NaN or infinity in a buffer back to its origin, through the inputs of nodes.
    pub fn not_finite_before(&self, buffer: BufferId) -> Option<NotFinite> {
        let mut found = self.not_finite(buffer)?;
        while let Some(earlier) = found.writer.and_then(|node| self.not_finite_input(node)) {
            found = earlier;
        }
        Some(found)
    }

    /// The same of the buffers that a node reads.
    pub fn not_finite_input(&self, node: NodeId) -> Option<NotFinite> {
        self.nodes[node.0].reads().find_map(|buffer| self.not_finite_before(buffer))
    }

    fn not_finite(&self, id: BufferId) -> Option<NotFinite> {
        let buffer = self.buffer(id);
        let (scalars, length) = (buffer.element().scalars(), buffer.len().max(1));
        let place = |at: usize| match buffer.arrangement() {
            Arrangement::Rows => (at / scalars.len().max(1), at % scalars.len().max(1)),
            Arrangement::Columns => (at % length, at / length),
        };
        let words = buffer.words().iter().enumerate().map(|(at, word)| (place(at), f32::from_bits(*word)));
        let bad = words.filter(|((_, scalar), x)| scalars[*scalar] == Scalar::Float && !x.is_finite());
        let ((element, _), value) = bad.min_by_key(|((element, _), _)| *element)?;
        let writer = match self.slots[id.0].source {
            Source::Written(writer) => writer,
            Source::Host | Source::Sums(..) => None,
        };
        Some(NotFinite { buffer: id, writer, element, value })
    }

    /// The name of a buffer.
    pub fn buffer_name(&self, id: BufferId) -> &str {
        &self.slots[id.0].name
    }
}
