//! The adjoint of a graph: for each node between what gradients are taken by and the loss, a node that runs the gradient of its
//! kernel, in the opposite order. Between them are buffers: the gradient of a buffer is the cotangent of what wrote it.

use super::{BufferId, Extent, Graph, GraphError, Link, NodeId, Source, Work, order};
use crate::buffer::{Arrangement, Element};
use crate::kernel::Kernel;
use ssl_compiler::GradientRequest;
use ssl_compiler::types::Scalar;
use std::collections::HashMap;

/// What a gradient of a graph is taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// The elements of a buffer.
    Buffer(BufferId),
    /// A parameter of a node's kernel.
    Parameter(NodeId, &'a str),
}

/// What a graph is differentiated for.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// The buffer whose elements make up the loss.
    pub of: BufferId,
    /// By how much the loss grows with each scalar of these: a buffer of as many floats, such as a single 1.
    pub cotangent: BufferId,
    /// Buffers through which no gradient goes.
    pub constants: &'a [BufferId],
}

/// What makes the gradient of a kernel, as the host compiles it.
pub type Compile<'a> = dyn FnMut(&Kernel, GradientRequest) -> Result<Kernel, String> + 'a;

/// Buffers and nodes as the sweep finds them.
struct Sweep<'a> {
    by: &'a [By<'a>],
    /// By buffer and by node: whether they depend on what the gradient is taken by.
    varied: Vec<bool>,
    depends: Vec<bool>,
    cotangents: HashMap<BufferId, BufferId>,
    parameters: HashMap<(NodeId, String), BufferId>,
}

impl Graph {
    /// Adds what computes the gradient of a loss, and gives a buffer for each of `by`: sums of floats, one for each scalar of
    /// the buffer or parameter. `compile` makes the gradient of a kernel, which [`ssl_compiler::Program`] compiles by name.
    /// A parameter that [`Graph::set`] sets later is set for the gradient, too.
    ///
    /// # Errors
    /// A gradient would go through a function of the host, or does not compile. The graph is as it was then.
    pub fn differentiate(
        &mut self,
        loss: Loss<'_>,
        by: &[By<'_>],
        compile: &mut Compile<'_>,
    ) -> Result<Vec<BufferId>, GraphError> {
        let (slots, nodes) = (self.slots.len(), self.nodes.len());
        let found = self.sweep(loss, by, compile);
        if found.is_err() {
            self.slots.truncate(slots);
            self.nodes.truncate(nodes);
            self.nodes.iter_mut().for_each(|node| node.mirrors.retain(|mirror| mirror.0 < nodes));
            // What was in order still is.
            self.order = order::of(&self.nodes, slots).unwrap_or_default();
        }
        found
    }

    fn sweep(&mut self, loss: Loss<'_>, by: &[By<'_>], compile: &mut Compile<'_>) -> Result<Vec<BufferId>, GraphError> {
        let (varied, depends) = self.varied(loss, by);
        let cotangents = HashMap::from([(loss.of, loss.cotangent)]);
        let mut sweep = Sweep { by, varied, depends, cotangents, parameters: HashMap::new() };
        let order = self.order.clone();
        for node in order.into_iter().rev().filter(|&node| sweep.depends[node]).collect::<Vec<_>>() {
            self.transpose(node, &mut sweep, compile)?;
        }
        by.iter().map(|&by| self.gradient_of(by, self.scalars_of(by), &mut sweep)).collect()
    }

    /// What depends on what the gradient is taken by.
    fn varied(&self, loss: Loss<'_>, by: &[By<'_>]) -> (Vec<bool>, Vec<bool>) {
        let (mut varied, mut depends) = (vec![false; self.slots.len()], vec![false; self.nodes.len()]);
        for by in by {
            match *by {
                By::Buffer(buffer) => varied[buffer.0] = true,
                By::Parameter(node, _) => depends[node.0] = true,
            }
        }
        for &i in &self.order {
            let node = &self.nodes[i];
            depends[i] |= node.links.iter().filter_map(|link| link.reads()).any(|buffer| varied[buffer.0]);
            for buffer in node.gives().filter(|buffer| depends[i] && !loss.constants.contains(buffer)) {
                varied[buffer.0] |= self.buffer(buffer).element().scalars().contains(&Scalar::Float);
            }
        }
        (varied, depends)
    }

    /// Adds the transpose of a node, if anything that it gives has a cotangent.
    fn transpose(&mut self, number: usize, sweep: &mut Sweep<'_>, compile: &mut Compile<'_>) -> Result<(), GraphError> {
        let (name, links) = (self.nodes[number].name.clone(), self.nodes[number].links.clone());
        let given = |link: &Link| link.writes().or(link.adds()).filter(|to| sweep.cotangents.contains_key(to));
        let Some(first) = links.iter().find_map(given) else { return Ok(()) };
        let (kernel, extent) = match &self.nodes[number].work {
            Work::Kernel { kernel, extent } => (kernel.clone(), *extent),
            Work::Host(_) => {
                let buffer = self.slots[first.0].name.clone();
                return Err(GraphError::NoGradient { node: name, buffer });
            }
        };
        let ports: Vec<(String, Link)> = kernel.ports().iter().map(|port| port.name.clone()).zip(links).collect();
        let names = |wanted: &dyn Fn(&Link) -> bool| -> Vec<String> {
            ports.iter().filter(|(_, link)| wanted(link)).map(|(name, _)| name.clone()).collect()
        };
        let parameters = sweep.by.iter().filter_map(|by| match *by {
            By::Parameter(node, parameter) if node.0 == number => Some(parameter),
            _ => None,
        });
        let request = GradientRequest::of(names(&|link| given(link).is_some()))
            .by_buffers(names(&|link| link.reads().is_some_and(|buffer| sweep.varied[buffer.0])))
            .by_parameters(parameters);
        let error = |message| GraphError::Gradient { node: name.clone(), message };
        let gradient = compile(&kernel, request).map_err(error)?.with_parameters_of(&kernel);
        let mut links = Vec::new();
        let role = |port: &str| ports.iter().find(|(name, _)| name == port).map(|(_, link)| *link);
        for port in gradient.ports() {
            let link = if let Some(of) = port.name.strip_prefix("cotangent.") {
                role(of).and_then(|link| sweep.cotangents.get(&link.writes().or(link.adds())?)).map(|b| Link::Read(*b))
            } else if let Some(of) = port.name.strip_prefix("gradient.") {
                let by = match role(of).and_then(Link::reads) {
                    Some(buffer) => By::Buffer(buffer),
                    None => By::Parameter(NodeId(number), of),
                };
                Some(Link::Add(self.gradient_of(by, port.element.len(), sweep)?))
            } else {
                role(&port.name).and_then(Link::reads).map(Link::Read)
            };
            // A port without a link is refused below.
            links.extend(link.map(|link| (port.name.clone(), link)));
        }
        let links: Vec<(&str, Link)> = links.iter().map(|(name, link)| (name.as_str(), *link)).collect();
        let mirror = self.launch(&format!("gradient of {name}"), gradient, extent, &links)?;
        self.nodes[number].mirrors.push(mirror);
        Ok(())
    }

    /// The buffer of a gradient, of so many floats an element: zeros if nothing adds to it.
    fn gradient_of(&mut self, by: By<'_>, count: usize, sweep: &mut Sweep<'_>) -> Result<BufferId, GraphError> {
        let known = match by {
            By::Buffer(buffer) => sweep.cotangents.get(&buffer),
            By::Parameter(node, name) => sweep.parameters.get(&(node, name.to_owned())),
        };
        if let Some(&known) = known {
            return Ok(known);
        }
        let element = Element::floats(count);
        match by {
            By::Buffer(buffer) => {
                let name = format!("gradient of {}", self.slots[buffer.0].name);
                // Buffers that nodes write get their length when these run.
                let made = self.sums_like(&name, element, Arrangement::Rows, buffer)?;
                sweep.cotangents.insert(buffer, made);
                Ok(made)
            }
            By::Parameter(node, name) => {
                let title = format!("gradient of {name} of {}", self.nodes[node.0].name);
                let made = self.sums(&title, element, Arrangement::Rows, 1)?;
                sweep.parameters.insert((node, name.to_owned()), made);
                Ok(made)
            }
        }
    }

    /// The floats of what a gradient is taken by.
    fn scalars_of(&self, by: By<'_>) -> usize {
        match by {
            By::Buffer(buffer) => self.buffer(buffer).element().len(),
            By::Parameter(node, name) => match &self.nodes[node.0].work {
                Work::Kernel { kernel, .. } => {
                    let parameters = &kernel.shader().interface().parameters;
                    parameters.iter().find(|p| p.name == name).and_then(|p| p.ty.components()).unwrap_or(1)
                }
                Work::Host(_) => 1,
            },
        }
    }

    /// The bytes that all buffers and sums will take when everything has run; `None` if a function of the host decides on a
    /// length and has not run.
    pub fn bytes_needed(&self) -> Option<usize> {
        let mut lengths: Vec<Option<usize>> = vec![None; self.slots.len()];
        for (length, slot) in lengths.iter_mut().zip(&self.slots) {
            if !matches!(slot.source, Source::Written(_)) && slot.like.is_none() {
                *length = slot.buffer.as_ref().map(|buffer| buffer.len());
            }
        }
        for &i in &self.order {
            let node = &self.nodes[i];
            let length = match &node.work {
                Work::Kernel { extent: Extent::Fixed(grid), .. } => grid.points(),
                Work::Kernel { extent: Extent::Of(buffer), .. } => lengths[buffer.0],
                Work::Host(_) => None,
            };
            for to in node.links.iter().filter_map(|link| link.writes()) {
                let ran = (node.runs > 0 && matches!(node.work, Work::Host(_))).then(|| self.buffer(to).len());
                lengths[to.0] = length.or(ran);
            }
        }
        let mut bytes = 0usize;
        for (i, slot) in self.slots.iter().enumerate() {
            let element = slot.buffer.as_ref()?.element();
            let length = match slot.like {
                Some(like) => lengths[like.0]?,
                None => lengths[i]?,
            };
            bytes = bytes.saturating_add(crate::Buffer::bytes(element, length));
            if let Source::Sums(..) = slot.source {
                bytes = bytes.saturating_add(crate::sums::Sums::bytes_of(element, length));
            }
        }
        Some(bytes)
    }
}
