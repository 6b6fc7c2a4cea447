//! Running what is stale, in order.

use super::{BufferId, Extent, Graph, GraphError, Link, Node, Slot, Source, Work};
use crate::buffer::{Buffer, BufferError};
use crate::kernel::{Binding, Control, Grid, LaunchError, MOST_TOGETHER, Member, Status};
use crate::sums::Sums;
use smallvec::SmallVec;
use std::sync::atomic::Ordering::Relaxed;

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// The number of nodes that ran.
    pub ran: usize,
    /// The passes over points or functions of the host that this took: fewer where nodes ran together.
    pub passes: usize,
    /// What their launches reported, together.
    pub status: Status,
}

/// What an update finds out about nodes and buffers, kept so that the next one takes no memory.
#[derive(Default)]
pub(super) struct Marks {
    /// By node.
    needed: Vec<bool>,
    stale: Vec<bool>,
    /// By buffer: whether a stale node makes it, and the nodes that have yet to add to it.
    changes: Vec<bool>,
    adders: Vec<usize>,
}

impl Graph {
    /// Brings buffers up to date: runs the nodes on which they depend, directly or not, if something that these read, or a
    /// parameter, changed since they ran. The results are the same bytes for any number of threads.
    ///
    /// # Errors
    /// A buffer does not have the length that a kernel needs, there is no memory, a function of the host failed, or the host
    /// cancelled the update. What did not run to its end is stale, so the next update runs it.
    pub fn update(&mut self, wanted: &[BufferId], control: &Control<'_>) -> Result<Updated, GraphError> {
        self.mark(wanted);
        let mut updated = Updated::default();
        for i in 0..self.order.len() {
            let node = self.order[i];
            if !self.marks.stale[node] {
                continue;
            }
            if control.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
                return Err(GraphError::Launch { node: self.nodes[node].name.clone(), error: LaunchError::Cancelled });
            }
            let pack = self.pack(i, &self.marks.stale);
            for &node in &pack {
                self.nodes[node].fresh = false;
                self.begin_sums(node)?;
            }
            let statuses = self.run(&pack, control)?;
            for (&node, status) in pack.iter().zip(statuses) {
                self.end_sums(node)?;
                self.note(node, status);
                self.marks.stale[node] = false;
                updated.ran += 1;
                updated.status.add(&status);
            }
            updated.passes += 1;
        }
        Ok(updated)
    }

    /// Finds the nodes that must run.
    fn mark(&mut self, wanted: &[BufferId]) {
        let Marks { needed, stale, changes, adders } = &mut self.marks;
        [&mut *needed, &mut *stale].into_iter().for_each(|marks| {
            marks.clear();
            marks.resize(self.nodes.len(), false);
        });
        changes.clear();
        changes.resize(self.slots.len(), false);
        adders.clear();
        adders.resize(self.slots.len(), 0);
        wanted.iter().for_each(|buffer| changes[buffer.0] = true);
        // A node that adds to sums runs with all that add to them, so these are needed, too, also earlier ones.
        loop {
            let mut again = false;
            for &i in self.order.iter().rev() {
                let node = &self.nodes[i];
                if !needed[i] && node.gives().any(|buffer| changes[buffer.0]) {
                    (needed[i], again) = (true, true);
                    let adds = node.links.iter().filter_map(|link| link.adds());
                    node.reads().chain(adds).for_each(|buffer| changes[buffer.0] = true);
                }
            }
            if !again {
                break;
            }
        }
        changes.fill(false);
        // Sums begin anew if any of their nodes runs, so all of them must. That may make others stale, also earlier ones.
        loop {
            let mut again = false;
            for &i in &self.order {
                let node = &self.nodes[i];
                let versions = || node.reads().map(|buffer| self.slots[buffer.0].version);
                let is_stale = !node.fresh
                    || !versions().eq(node.read.iter().copied())
                    || node.reads().any(|buffer| changes[buffer.0])
                    || node.links.iter().filter_map(|link| link.adds()).any(|buffer| changes[buffer.0]);
                if needed[i] && is_stale && !stale[i] {
                    (stale[i], again) = (true, true);
                    node.gives().for_each(|buffer| changes[buffer.0] = true);
                }
            }
            if !again {
                break;
            }
        }
        for (i, _) in stale.iter().enumerate().filter(|(_, stale)| **stale) {
            self.nodes[i].links.iter().filter_map(|link| link.adds()).for_each(|buffer| adders[buffer.0] += 1);
        }
    }

    /// Clears the sums to which the node is the first to add, and gives gradients the length of their buffers. All nodes that
    /// add to them follow.
    fn begin_sums(&mut self, node: usize) -> Result<(), GraphError> {
        for i in 0..self.nodes[node].links.len() {
            let Some(to) = self.nodes[node].links[i].adds() else { continue };
            let like = self.slots[to.0].like.map(|like| self.buffer(like).len());
            let (limit, held) = (self.limit.unwrap_or(usize::MAX), self.bytes());
            let Slot { name, buffer, source, .. } = &mut self.slots[to.0];
            let (Source::Sums(sums, nodes), Some(buffer)) = (source, buffer) else { continue };
            if self.marks.adders[to.0] != nodes.len() {
                continue;
            }
            match like.filter(|&length| length != sums.len()) {
                None => sums.clear(),
                Some(length) => {
                    let element = sums.element().clone();
                    let more = Sums::bytes_of(&element, length).saturating_add(Buffer::bytes(&element, length));
                    let needed = held.saturating_add(more);
                    if needed > limit {
                        return Err(GraphError::Memory { needed, limit });
                    }
                    let error = |e| GraphError::buffer(name, e);
                    **sums = Sums::new(&element, length).map_err(error)?;
                    *buffer = Buffer::new(element, buffer.arrangement(), length).map_err(error)?;
                }
            }
        }
        Ok(())
    }

    /// Rounds the sums to which the node was the last to add.
    fn end_sums(&mut self, node: usize) -> Result<(), GraphError> {
        for buffer in self.nodes[node].links.iter().filter_map(|link| link.adds()) {
            let left = &mut self.marks.adders[buffer.0];
            *left -= 1;
            let Slot { name, buffer, source, .. } = &mut self.slots[buffer.0];
            if let (0, Source::Sums(sums, _), Some(buffer)) = (*left, source, buffer) {
                sums.write(buffer.view_mut()).map_err(|e| GraphError::buffer(name, e))?;
            }
        }
        Ok(())
    }

    /// Keeps what a node has read, and that what it gives has changed.
    fn note(&mut self, node: usize, status: Status) {
        let node = &mut self.nodes[node];
        let mut read = std::mem::take(&mut node.read);
        read.clear();
        read.extend(node.reads().map(|buffer| self.slots[buffer.0].version));
        node.read = read;
        node.fresh = true;
        node.runs += 1;
        node.status = status;
        for buffer in node.gives() {
            self.slots[buffer.0].version += 1;
        }
    }

    /// Runs nodes together: takes the buffers that they write out of their places, and puts them back whatever happens.
    fn run(&mut self, pack: &[usize], control: &Control<'_>) -> Result<Statuses, GraphError> {
        let held = self.limit.map(|limit| Held { limit, bytes: self.bytes() });
        let mut written = SmallVec::<[Written; MOST_TOGETHER]>::new();
        for &node in pack {
            let to = self.nodes[node].links.iter().filter_map(|link| link.writes());
            written.push(to.filter_map(|to| self.slots[to.0].buffer.take()).collect());
        }
        let result = match pack {
            &[node] if matches!(self.nodes[node].work, Work::Host(_)) => self.run_host(node, &mut written[0]),
            _ => self.launch_together(pack, &mut written, held, control),
        };
        for (&node, written) in pack.iter().zip(written) {
            for (to, buffer) in self.nodes[node].links.iter().filter_map(|link| link.writes()).zip(written) {
                self.slots[to.0].buffer = Some(buffer);
            }
        }
        result
    }

    fn run_host(&mut self, node: usize, written: &mut [Buffer]) -> Result<Statuses, GraphError> {
        let (this, slots) = (&mut self.nodes[node], &self.slots);
        let Work::Host(work) = &mut this.work else { return Ok(Statuses::new()) };
        let reads: SmallVec<[&Buffer; 8]> =
            this.links.iter().filter_map(|link| slots[link.reads()?.0].buffer.as_ref()).collect();
        let done = work(&reads, written);
        let error = |message| GraphError::Host { node: this.name.clone(), message };
        done.map(|()| SmallVec::from_elem(Status::default(), 1)).map_err(error)
    }

    fn launch_together(
        &mut self,
        pack: &[usize],
        written: &mut [Written],
        mut held: Option<Held>,
        control: &Control<'_>,
    ) -> Result<Statuses, GraphError> {
        let (nodes, slots) = (&self.nodes, &self.slots);
        let Some(grid) = pack.first().and_then(|&node| grid(&nodes[node], slots)) else { return Ok(Statuses::new()) };
        for (&node, written) in pack.iter().zip(&mut *written) {
            make_room(grid, &nodes[node].links, slots, written, held.as_mut())?;
        }
        let mut all = SmallVec::<[Bindings<'_>; MOST_TOGETHER]>::new();
        for (number, written) in written.iter_mut().enumerate() {
            all.push(bindings(nodes, &pack[..=number], slots, written));
        }
        let kernels = pack.iter().filter_map(|&node| match &nodes[node].work {
            Work::Kernel { kernel, .. } => Some(kernel),
            Work::Host(_) => None,
        });
        let member = |(kernel, bindings)| Member { kernel, bindings };
        let mut members: SmallVec<[Member<'_, '_>; MOST_TOGETHER]> =
            kernels.zip(all.iter_mut().map(|bindings| bindings.as_mut_slice())).map(member).collect();
        let mut statuses = SmallVec::from_elem(Status::default(), pack.len());
        let launched = self.launch.run_together(&mut members, grid, control, &mut statuses);
        launched.map(|()| statuses).map_err(|(member, error)| GraphError::Launch {
            node: pack.get(member).map_or_else(String::new, |&node| nodes[node].name.clone()),
            error,
        })
    }
}

type Statuses = SmallVec<[Status; MOST_TOGETHER]>;
pub(super) type Bindings<'a> = SmallVec<[Binding<'a>; 16]>;
/// The outputs of a node, in the order of its links.
type Written = SmallVec<[Buffer; 8]>;

/// The bytes that a graph holds, and their limit.
pub(super) struct Held {
    limit: usize,
    bytes: usize,
}

/// The points of a node that runs a kernel.
pub(super) fn grid(node: &Node, slots: &[Slot]) -> Option<Grid> {
    match node.work {
        Work::Kernel { extent: Extent::Fixed(grid), .. } => Some(grid),
        // Buffers have fewer than 2³¹ elements.
        Work::Kernel { extent: Extent::Of(buffer), .. } => {
            Some(Grid::line(slots[buffer.0].buffer.as_ref().map_or(0, Buffer::len) as u32))
        }
        Work::Host(_) => None,
    }
}

/// Resizes written buffers to one element for each point, and copies their start into changed ones.
pub(super) fn make_room(
    grid: Grid,
    links: &[Link],
    slots: &[Slot],
    written: &mut [Buffer],
    held: Option<&mut Held>,
) -> Result<(), GraphError> {
    // A launch refuses grids that are too large.
    let points = grid.points().unwrap_or(0);
    let writes = || links.iter().filter(|link| link.writes().is_some());
    if let Some(Held { limit, bytes }) = held {
        // Buffers taken out to be written are counted already.
        let more = |buffer: &Buffer| Buffer::bytes(buffer.element(), points).saturating_sub(4 * buffer.words().len());
        let needed = written.iter().map(more).fold(*bytes, usize::saturating_add);
        if needed > *limit {
            return Err(GraphError::Memory { needed, limit: *limit });
        }
        // The next node of the pack takes its room beside this.
        *bytes = needed;
    }
    for (link, buffer) in writes().zip(written) {
        let name = |id: BufferId| slots[id.0].name.clone();
        if buffer.len() != points {
            let error = |e: BufferError| GraphError::buffer(&link.writes().map(name).unwrap_or_default(), e);
            *buffer = Buffer::new(buffer.element().clone(), buffer.arrangement(), points).map_err(error)?;
        }
        if let Link::Change { from, .. } = *link
            && let Some(start) = &slots[from.0].buffer
        {
            buffer.copy_from(start.view()).map_err(|e| GraphError::buffer(&name(from), e))?;
        }
    }
    Ok(())
}

/// Bindings of the last node of a pack, which may read the outputs of the others.
pub(super) fn bindings<'a>(
    nodes: &[Node],
    pack: &[usize],
    slots: &'a [Slot],
    written: &'a mut [Buffer],
) -> Bindings<'a> {
    let Some((&last, earlier)) = pack.split_last() else { return Bindings::new() };
    let mut written = written.iter_mut();
    let made = |buffer: BufferId| {
        earlier.iter().enumerate().find_map(|(member, &node)| {
            let port = nodes[node].links.iter().position(|link| link.writes() == Some(buffer))?;
            Some(Binding::Made { member, port })
        })
    };
    let bind = |link: &Link| match *link {
        Link::Read(from) => {
            made(from).or_else(|| slots[from.0].buffer.as_ref().map(|buffer| Binding::Read(buffer.view())))
        }
        Link::Write(_) | Link::Change { .. } => written.next().map(|buffer| Binding::Write(buffer.view_mut())),
        Link::Add(to) => match &slots[to.0].source {
            Source::Sums(sums, _) => Some(Binding::Add(sums)),
            _ => None,
        },
    };
    // A node cannot be made whose buffers are not there, and a launch refuses too few.
    nodes[last].links.iter().filter_map(bind).collect()
}
