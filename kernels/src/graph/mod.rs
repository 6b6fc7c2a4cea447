//! A graph of launches: which node reads and writes which buffer, so that only what is stale runs again.
//!
//! A buffer has one source: the host, or one node that writes it, or any number of nodes that add to it. Nothing changes a
//! buffer while others still need it, so what a node has read stays there until the node's own results are stale. A state
//! that changes from step to step is two buffers, which [`Graph::swap`] exchanges.

mod adjoint;
mod drawing;
mod error;
mod not_finite;
mod order;
mod packing;
mod run;

pub use adjoint::{By, Compile, Loss};
pub use drawing::Drawing;
pub use error::GraphError;
pub use not_finite::NotFinite;
pub use run::Updated;

use crate::buffer::{Arrangement, Buffer, Element};
use crate::kernel::{Grid, Kernel, Launch, Status};
use crate::sums::Sums;
use ssl_compiler::runtime::{BufferRole, ParameterValue};

/// A buffer of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(usize);

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(usize);

/// The points of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Always the same.
    Fixed(Grid),
    /// A point for each element that the buffer has when the node runs.
    Of(BufferId),
}

impl From<Grid> for Extent {
    fn from(grid: Grid) -> Extent {
        Extent::Fixed(grid)
    }
}

impl From<BufferId> for Extent {
    fn from(buffer: BufferId) -> Extent {
        Extent::Of(buffer)
    }
}

/// Which buffers a node has for a buffer of its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// For `in` buffers.
    Read(BufferId),
    /// For `out` buffers. The node gives the buffer an element for each point.
    Write(BufferId),
    /// For `inout` buffers: what is read, and where the changed elements go.
    Change {
        /// Has an element for each point.
        from: BufferId,
        /// Gets as many.
        to: BufferId,
    },
    /// For `add` buffers.
    Add(BufferId),
}

impl Link {
    fn reads(self) -> Option<BufferId> {
        match self {
            Link::Read(from) | Link::Change { from, .. } => Some(from),
            Link::Write(_) | Link::Add(_) => None,
        }
    }

    fn writes(self) -> Option<BufferId> {
        match self {
            Link::Write(to) | Link::Change { to, .. } => Some(to),
            Link::Read(_) | Link::Add(_) => None,
        }
    }

    fn adds(self) -> Option<BufferId> {
        if let Link::Add(to) = self { Some(to) } else { None }
    }

    fn role(self) -> BufferRole {
        match self {
            Link::Read(_) => BufferRole::In,
            Link::Write(_) => BufferRole::Out,
            Link::Change { .. } => BufferRole::InOut,
            Link::Add(_) => BufferRole::Add,
        }
    }
}

/// Where a buffer's elements come from.
enum Source {
    Host,
    /// A node, once there is one.
    Written(Option<NodeId>),
    /// Nodes that add.
    Sums(Box<Sums>, Vec<NodeId>),
}

struct Slot {
    name: String,
    /// Taken out while a node writes it.
    buffer: Option<Buffer>,
    source: Source,
    /// The buffer whose length the sums have, if they are its gradient.
    like: Option<BufferId>,
    /// Grows with each change.
    version: u64,
}

type HostWork = Box<dyn FnMut(&[&Buffer], &mut [Buffer]) -> Result<(), String> + Send>;

enum Work {
    Kernel { kernel: Kernel, extent: Extent },
    Host(HostWork),
}

struct Node {
    name: String,
    work: Work,
    /// In the order of the kernel's buffers.
    links: Vec<Link>,
    /// The versions of what was read when the node last ran to its end.
    read: Vec<u64>,
    /// Whether it ran to its end, and no parameter was set since then.
    fresh: bool,
    runs: u64,
    status: Status,
    /// The nodes of its gradient, which have its parameters.
    mirrors: Vec<NodeId>,
}

impl Node {
    fn reads(&self) -> impl Iterator<Item = BufferId> {
        let extent = match self.work {
            Work::Kernel { extent: Extent::Of(buffer), .. } => Some(buffer),
            _ => None,
        };
        self.links.iter().filter_map(|link| link.reads()).chain(extent)
    }

    fn gives(&self) -> impl Iterator<Item = BufferId> {
        self.links.iter().filter_map(|link| link.writes().or(link.adds()))
    }
}

/// Buffers, and the nodes that make some of them from others.
///
/// ```
/// use kernels::graph::{Graph, Link};
/// use kernels::{Arrangement, Buffer, Control, Element, Grid, Kernel};
/// use ssl_compiler::Compiler;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut compiler = Compiler::new();
/// let file = compiler.add_source("mean.ssl", "
///     kernel square(in buffer<float> x, out buffer<float> y) { y = x[index] * x[index]; }
///     kernel mean(in buffer<float> y, add buffer<float> sum) { sum[0] += y[index] / y.length; }");
/// let [square, mean] = ["square", "mean"].map(|name| Kernel::new(compiler.compile(file, name).unwrap()).unwrap());
///
/// let mut graph = Graph::new();
/// let x = graph.input("x", Buffer::from_values(Arrangement::Columns, &[1.0f32, 2.0, 4.0])?);
/// let y = graph.output("y", Element::floats(1), Arrangement::Columns)?;
/// let sum = graph.sums("sum", Element::floats(1), Arrangement::Columns, 1)?;
/// graph.launch("mean", mean, x, &[("y", Link::Read(y)), ("sum", Link::Add(sum))])?;
/// graph.launch("square", square, x, &[("x", Link::Read(x)), ("y", Link::Write(y))])?;
/// assert_eq!(graph.update(&[sum], &Control::default())?.ran, 2);
/// assert_eq!(graph.buffer(sum).values::<f32>()?, [7.0]);
/// assert_eq!(graph.update(&[sum], &Control::default())?.ran, 0);
/// graph.change(x)?.set(0, 2.0f32)?;
/// assert_eq!(graph.update(&[sum], &Control::default())?.ran, 2);
/// assert_eq!(graph.buffer(sum).values::<f32>()?, [8.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Graph {
    slots: Vec<Slot>,
    nodes: Vec<Node>,
    /// Nodes behind all that they read from.
    order: Vec<usize>,
    launch: Launch,
    marks: run::Marks,
    limit: Option<usize>,
    /// Whether each node runs by itself.
    apart: bool,
}

impl Graph {
    /// Without buffers and nodes.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Refuses to run a node if its buffers would take the graph above so many bytes.
    pub fn set_memory_limit(&mut self, bytes: Option<usize>) {
        self.limit = bytes;
    }

    fn add_slot(&mut self, name: &str, buffer: Buffer, source: Source) -> BufferId {
        self.slots.push(Slot { name: name.to_owned(), buffer: Some(buffer), source, like: None, version: 0 });
        BufferId(self.slots.len() - 1)
    }

    /// A buffer of the host's.
    pub fn input(&mut self, name: &str, buffer: Buffer) -> BufferId {
        self.add_slot(name, buffer, Source::Host)
    }

    /// A buffer that a node will write. It has no elements until then.
    ///
    /// # Errors
    /// As for [`Buffer::new`].
    pub fn output(&mut self, name: &str, element: Element, arrangement: Arrangement) -> Result<BufferId, GraphError> {
        let buffer = Buffer::new(element, arrangement, 0).map_err(|e| GraphError::buffer(name, e))?;
        Ok(self.add_slot(name, buffer, Source::Written(None)))
    }

    /// A buffer of so many sums, to which any number of nodes will add.
    ///
    /// # Errors
    /// As for [`Buffer::new`] and [`Sums::new`].
    pub fn sums(
        &mut self,
        name: &str,
        element: Element,
        arrangement: Arrangement,
        length: usize,
    ) -> Result<BufferId, GraphError> {
        let error = |e| GraphError::buffer(name, e);
        let sums = Sums::new(&element, length).map_err(error)?;
        let buffer = Buffer::new(element, arrangement, length).map_err(error)?;
        Ok(self.add_slot(name, buffer, Source::Sums(Box::new(sums), Vec::new())))
    }

    /// As many sums as a buffer has elements when the nodes run.
    ///
    /// # Errors
    /// As for [`Buffer::new`] and [`Sums::new`].
    pub fn sums_like(
        &mut self,
        name: &str,
        element: Element,
        arrangement: Arrangement,
        like: BufferId,
    ) -> Result<BufferId, GraphError> {
        let made = self.sums(name, element, arrangement, self.buffer(like).len())?;
        self.slots[made.0].like = Some(like);
        Ok(made)
    }

    /// A node that runs a kernel. `links` says by name what each buffer of the kernel is.
    ///
    /// # Errors
    /// A link is missing or of another role or type than the kernel takes, a buffer has another source already, or the node
    /// would read what is made from its own results.
    pub fn launch(
        &mut self,
        name: &str,
        kernel: Kernel,
        extent: impl Into<Extent>,
        links: &[(&str, Link)],
    ) -> Result<NodeId, GraphError> {
        let unknown = links.iter().find(|(port, _)| kernel.port(port).is_none());
        if let Some((port, _)) = unknown {
            return Err(GraphError::UnknownPort { node: name.to_owned(), port: (*port).to_owned() });
        }
        let mut ordered = Vec::with_capacity(links.len());
        for port in kernel.ports() {
            let mut named = links.iter().filter(|(name, _)| *name == port.name);
            let (Some(&(_, link)), None) = (named.next(), named.next()) else {
                return Err(GraphError::Links { node: name.to_owned(), port: port.name.clone() });
            };
            if link.role() != port.role {
                let (node, port, role) = (name.to_owned(), port.name.clone(), port.role);
                return Err(GraphError::Role { node, port, role });
            }
            for buffer in [link.reads(), link.writes(), link.adds()].into_iter().flatten() {
                self.check_type(name, &port.name, &port.element, buffer)?;
            }
            ordered.push(link);
        }
        self.add_node(name, Work::Kernel { kernel, extent: extent.into() }, ordered)
    }

    /// A node that runs a function of the host, for what no kernel can do: sorting, say. It gets the buffers that it reads
    /// and those that it writes, in these orders. Its results must depend on what it reads alone.
    ///
    /// # Errors
    /// As for [`Graph::launch`].
    pub fn host(
        &mut self,
        name: &str,
        reads: &[BufferId],
        writes: &[BufferId],
        work: impl FnMut(&[&Buffer], &mut [Buffer]) -> Result<(), String> + Send + 'static,
    ) -> Result<NodeId, GraphError> {
        let links = reads.iter().map(|&id| Link::Read(id)).chain(writes.iter().map(|&id| Link::Write(id)));
        self.add_node(name, Work::Host(Box::new(work)), links.collect())
    }

    fn check_type(&self, node: &str, port: &str, wanted: &Element, buffer: BufferId) -> Result<(), GraphError> {
        let found = self.buffer(buffer).element();
        if found == wanted {
            return Ok(());
        }
        Err(GraphError::Type {
            node: node.to_owned(),
            port: port.to_owned(),
            buffer: self.slots[buffer.0].name.clone(),
            wanted: wanted.to_string(),
            found: found.to_string(),
        })
    }

    fn add_node(&mut self, name: &str, work: Work, links: Vec<Link>) -> Result<NodeId, GraphError> {
        let id = NodeId(self.nodes.len());
        for (i, link) in links.iter().enumerate() {
            let Some(buffer) = link.writes().or(link.adds()) else { continue };
            let slot = &self.slots[buffer.0];
            let twice = links[..i].iter().any(|other| other.writes().or(other.adds()) == Some(buffer));
            let free = match (&slot.source, link.adds()) {
                (Source::Written(None), None) => !twice,
                (Source::Sums(..), Some(_)) => true,
                _ => false,
            };
            if !free {
                let source = match &slot.source {
                    _ if twice => name.to_owned(),
                    Source::Host => "the host".to_owned(),
                    Source::Written(Some(writer)) => self.nodes[writer.0].name.clone(),
                    Source::Written(None) => "a node that writes".to_owned(),
                    Source::Sums(..) => "nodes that add".to_owned(),
                };
                return Err(GraphError::Source { node: name.to_owned(), buffer: slot.name.clone(), source });
            }
        }
        let node = Node {
            name: name.to_owned(),
            work,
            links,
            read: Vec::new(),
            fresh: false,
            runs: 0,
            status: Status::default(),
            mirrors: Vec::new(),
        };
        self.nodes.push(node);
        match order::of(&self.nodes, self.slots.len()) {
            Ok(order) => self.order = order,
            Err(cycle) => {
                let nodes = cycle.into_iter().map(|node| self.nodes[node].name.clone()).collect();
                self.nodes.pop();
                return Err(GraphError::Cycle { nodes });
            }
        }
        for link in &self.nodes[id.0].links {
            if let Some(to) = link.writes() {
                self.slots[to.0].source = Source::Written(Some(id));
            } else if let Some(to) = link.adds()
                && let Source::Sums(_, adders) = &mut self.slots[to.0].source
            {
                adders.push(id);
            }
        }
        Ok(id)
    }

    /// What a buffer holds, which is stale if something that it depends on changed since the last update.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        // Buffers are taken out only while the graph is borrowed to be updated, and always put back.
        self.slots[id.0].buffer.as_ref().expect("buffers are in their places")
    }

    /// A buffer of the host's, to change. What depends on it is stale then.
    ///
    /// # Errors
    /// A node makes the buffer.
    pub fn change(&mut self, id: BufferId) -> Result<&mut Buffer, GraphError> {
        let slot = &mut self.slots[id.0];
        if !matches!(slot.source, Source::Host) {
            return Err(GraphError::NotOfHost { buffer: slot.name.clone() });
        }
        slot.version += 1;
        // As above.
        Ok(slot.buffer.as_mut().expect("buffers are in their places"))
    }

    /// Changes a buffer of the host's by another buffer of the graph: a gradient, say.
    ///
    /// # Errors
    /// A node makes the first buffer, or both are the same.
    pub fn change_by<R>(
        &mut self,
        id: BufferId,
        by: BufferId,
        work: impl FnOnce(&mut Buffer, &Buffer) -> R,
    ) -> Result<R, GraphError> {
        let [slot, by] = match self.slots.get_disjoint_mut([id.0, by.0]) {
            Ok(both) if matches!(both[0].source, Source::Host) => both,
            _ => return Err(GraphError::NotOfHost { buffer: self.slots[id.0].name.clone() }),
        };
        slot.version += 1;
        match (&mut slot.buffer, &by.buffer) {
            (Some(buffer), Some(by)) => Ok(work(buffer, by)),
            // Buffers are taken out only during an update.
            _ => Err(GraphError::NotOfHost { buffer: slot.name.clone() }),
        }
    }

    /// Exchanges what two buffers hold: the state of the host's, and what a node has made of it. So the next update goes on
    /// from there, and nothing is copied.
    ///
    /// # Errors
    /// The first one is not the host's, or no node writes the second one, or their types, lengths or arrangements differ.
    pub fn swap(&mut self, state: BufferId, next: BufferId) -> Result<(), GraphError> {
        let [a, b] = [state, next].map(|id| &self.slots[id.0]);
        let [x, y] = [state, next].map(|id| self.buffer(id));
        let alike = x.element() == y.element() && x.arrangement() == y.arrangement() && x.len() == y.len();
        let (Source::Host, &Source::Written(Some(writer)), true) = (&a.source, &b.source, alike) else {
            return Err(GraphError::Swap { state: a.name.clone(), next: b.name.clone() });
        };
        // What stands there now is not what the node would write.
        self.nodes[writer.0].fresh = false;
        let old = self.slots[state.0].buffer.take();
        let new = std::mem::replace(&mut self.slots[next.0].buffer, old);
        self.slots[state.0].buffer = new;
        self.slots[state.0].version += 1;
        self.slots[next.0].version += 1;
        Ok(())
    }

    /// Sets a parameter of a node's kernel. The node is stale then, if the value is another one.
    ///
    /// # Errors
    /// There is no such parameter, or the value does not fit.
    pub fn set(&mut self, node: NodeId, name: &str, value: impl Into<ParameterValue>) -> Result<(), GraphError> {
        let value = value.into();
        for i in std::iter::once(node).chain(self.nodes[node.0].mirrors.clone()) {
            let node = &mut self.nodes[i.0];
            let error = |message| GraphError::Parameter { node: node.name.clone(), message };
            let Work::Kernel { kernel, .. } = &mut node.work else {
                return Err(error(format!("a function of the host has no parameter `{name}`")));
            };
            let before = kernel.parameters().clone();
            kernel.set(name, value.clone()).map_err(|e| error(e.message(name)))?;
            node.fresh &= *kernel.parameters() == before;
        }
        Ok(())
    }

    /// How often a node has run.
    pub fn runs(&self, node: NodeId) -> u64 {
        self.nodes[node.0].runs
    }

    /// What the last launch of a node reported.
    pub fn status(&self, node: NodeId) -> &Status {
        &self.nodes[node.0].status
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.0].name
    }

    /// The bytes that all buffers and sums take now.
    pub fn bytes(&self) -> usize {
        let bytes = |slot: &Slot| {
            let sums = if let Source::Sums(sums, _) = &slot.source { sums.bytes() } else { 0 };
            sums + slot.buffer.as_ref().map_or(0, |buffer| 4 * buffer.words().len())
        };
        self.slots.iter().map(bytes).sum()
    }
}
