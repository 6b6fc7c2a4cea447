//! Makes buffers, launches and optimisers of a plan.

use super::adjoint::Backward;
use super::context::{Context, megabytes};
use super::fit::{Fit, Fitted, Write};
use super::plan::{Id, Over, Plan, PlannedBuffer, Source, Start, Work};
use super::ramps::Ramped;
use super::{Job, codes, data};
use crate::buffer::{Arrangement, Buffer, BufferError, Element};
use crate::graph::{BufferId, Extent, Graph, GraphError, Link, NodeId};
use crate::optimise::{OptimiseError, Optimiser};
use ssl_compiler::Compiler;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics};
use ssl_compiler::runtime::BufferRole;
use ssl_compiler::source::SourceMap;

impl Job {
    /// Takes the memory and builds everything. With a limit in bytes, a job that needs more is refused. The threads are those
    /// of rayon's current pool.
    ///
    /// # Errors
    /// The job needs more memory than it may or than there is, or launches depend on each other in a circle.
    pub fn build(self, limit: Option<usize>) -> Result<Fit, (Diagnostics, SourceMap)> {
        let Job { mut plan, adjoint, fingerprint, mut context, target } = self;
        let needed = plan.bytes(adjoint.buffers.iter().copied(), rayon::current_num_threads());
        if let Some(limit) = limit.filter(|limit| needed > *limit) {
            let message = format!("the job needs {}, and it may take {}", megabytes(needed), megabytes(limit));
            let hint = "fit less, or raise `--memory`";
            context.diagnostics.push(Diagnostic::without_place(&codes::MEMORY, message, hint));
            return Err((context.diagnostics, context.sources));
        }
        let room = limit.map(|limit| limit - needed);
        let mut graph = Graph::new();
        graph.set_memory_limit(limit);
        let mut builder = Builder {
            plan: &mut plan,
            graph,
            ids: Vec::new(),
            gradients: Vec::new(),
            nodes: Vec::new(),
            mirrors: Vec::new(),
            context: &mut context,
        };
        let built = builder.buffers().and_then(|()| {
            builder.gradients(&adjoint.buffers)?;
            builder.launches(room)?;
            builder.backward(adjoint.launches)?;
            builder.optimisers(target)
        });
        let ramps = builder.ramps();
        let Builder { graph, ids, nodes, .. } = builder;
        let Some(fitted) = built else { return Err((context.diagnostics, context.sources)) };
        let loss = plan.loss.as_ref().map(|loss| ids[loss.buffer]);
        let write = |write: super::plan::PlannedWrite| Write {
            buffer: ids[write.buffer],
            size: plan.buffers[write.buffer].size,
            planned: write,
        };
        let writes = std::mem::take(&mut plan.writes).into_iter().map(write).collect();
        Ok(Fit::new(graph, nodes, (loss, fitted), (writes, ramps), fingerprint, &plan))
    }
}

struct Builder<'a> {
    plan: &'a mut Plan,
    graph: Graph,
    /// By buffer of the plan.
    ids: Vec<BufferId>,
    /// Those that have a gradient, by buffer of the plan.
    gradients: Vec<Option<BufferId>>,
    nodes: Vec<NodeId>,
    /// The gradients' nodes, and the launches that they belong to.
    mirrors: Vec<(usize, NodeId)>,
    context: &'a mut Context,
}

impl Builder<'_> {
    fn buffers(&mut self) -> Option<()> {
        for id in 0..self.plan.buffers.len() {
            let seed = self.plan.seed;
            let planned = &self.plan.buffers[id];
            let (name, element, arrangement) = (&planned.name, planned.element.clone(), planned.arrangement);
            let at = planned.at.clone();
            let made = match &planned.source {
                Source::Start(_) => start(planned, seed)
                    .map(|buffer| self.graph.input(name, buffer))
                    .map_err(|error| GraphError::Buffer { buffer: name.clone(), error }),
                Source::Sums => self.graph.sums(name, element, arrangement, planned.length.unwrap_or(1)),
                Source::Written | Source::Unknown => self.graph.output(name, element, arrangement),
            };
            match made {
                Ok(made) => self.ids.push(made),
                Err(e) => {
                    self.refuse(&e, at);
                    return None;
                }
            }
            // It is in the graph now.
            if let Source::Start(Start::Words(words)) = &mut self.plan.buffers[id].source {
                *words = Vec::new();
            }
        }
        Some(())
    }

    fn launches(&mut self, room: Option<usize>) -> Option<()> {
        for number in 0..self.plan.launches.len() {
            let launch = &self.plan.launches[number];
            let node = match &launch.work {
                Work::Kernel { kernel, .. } => {
                    let links: Vec<(&str, Link)> = launch
                        .links
                        .iter()
                        .filter_map(|link| Some((link.port.as_str(), link.link(&self.ids)?)))
                        .chain(launch.gives.iter().flat_map(|own| &own.links).filter_map(|link| {
                            let gradient = self.gradients[link.of]?;
                            let is_read = link.role == BufferRole::In;
                            Some((link.port.as_str(), if is_read { Link::Read(gradient) } else { Link::Add(gradient) }))
                        }))
                        .collect();
                    self.graph.launch(&launch.name, kernel.clone(), extent(launch.over, &self.ids), &links)
                }
                Work::Run(operation) => {
                    let all = |wanted: BufferRole| -> Vec<BufferId> {
                        let links = launch.links.iter().filter(|link| link.role == wanted);
                        links.filter_map(|link| link.from.or(link.to).map(|id| self.ids[id])).collect()
                    };
                    let (reads, writes) = (all(BufferRole::In), all(BufferRole::Out));
                    self.graph.host(&launch.name, &reads, &writes, operation.work(room))
                }
            };
            let node = node.map_err(|e| self.refuse(&e, self.plan.launches[number].at.clone())).ok()?;
            self.nodes.push(node);
        }
        Some(())
    }

    /// The sums of gradients.
    fn gradients(&mut self, buffers: &[Id]) -> Option<()> {
        self.gradients = vec![None; self.ids.len()];
        let Some((loss, at)) = self.plan.loss.as_ref().map(|loss| (loss.buffer, loss.at.clone())) else {
            return Some(());
        };
        let one = Buffer::from_values(Arrangement::Rows, &[1.0f32]);
        let one = one.map_err(|error| GraphError::Buffer { buffer: "gradient of the loss".to_owned(), error });
        let one = one.map_err(|e| self.refuse(&e, at)).ok()?;
        self.gradients[loss] = Some(self.graph.input("gradient of the loss", one));
        for &id in buffers {
            let buffer = &self.plan.buffers[id];
            let (name, element) = (format!("gradient of {}", buffer.name), Element::floats(buffer.element.len()));
            let made = match buffer.length {
                Some(length) => self.graph.sums(&name, element, buffer.arrangement, length),
                // It is known only when the launches have run.
                None => self.graph.sums_like(&name, element, buffer.arrangement, self.ids[id]),
            };
            self.gradients[id] = Some(made.map_err(|e| self.refuse(&e, self.plan.buffers[id].at.clone())).ok()?);
        }
        Some(())
    }

    /// The launches that the compiler makes, which add to gradients.
    fn backward(&mut self, launches: Vec<Backward>) -> Option<()> {
        for Backward { launch: number, kernel } in launches {
            let launch = &self.plan.launches[number];
            let of = |port: &str| launch.links.iter().find(|link| link.port == port);
            let mut links: Vec<(String, Link)> = Vec::new();
            for port in kernel.ports() {
                let name = port.name.as_str();
                let link = if let Some(cotangent) = name.strip_prefix("cotangent.") {
                    of(cotangent).and_then(|link| self.gradients[link.to?]).map(Link::Read)
                } else if let Some(gradient) = name.strip_prefix("gradient.") {
                    of(gradient).and_then(|link| self.gradients[link.from?]).map(Link::Add)
                } else {
                    of(name).and_then(|link| link.from).map(|id| Link::Read(self.ids[id]))
                };
                links.extend(link.map(|link| (port.name.clone(), link)));
            }
            let links: Vec<(&str, Link)> = links.iter().map(|(name, link)| (name.as_str(), *link)).collect();
            let name = format!("gradient of {}", launch.name);
            let node = self.graph.launch(&name, kernel, extent(launch.over, &self.ids), &links);
            let node = node.map_err(|e| self.refuse(&e, self.plan.launches[number].at.clone())).ok()?;
            self.nodes.push(node);
            self.mirrors.push((number, node));
        }
        Some(())
    }

    /// The ramps, with the nodes of launches and of gradients that take their values.
    fn ramps(&mut self) -> Vec<Ramped> {
        let launches = &self.plan.launches;
        let forward = self.nodes.iter().take(launches.len()).copied().enumerate();
        let all: Vec<(usize, NodeId)> = forward.chain(self.mirrors.iter().copied()).collect();
        let ramps = std::mem::take(&mut self.plan.ramps).into_iter();
        let ramped = ramps.map(|ramp| {
            let takes = |number: usize| launches[number].shared.iter().any(|name| name == ramp.name());
            let nodes: Vec<NodeId> = all.iter().filter(|(number, _)| takes(*number)).map(|(_, node)| *node).collect();
            Ramped::new(ramp, nodes)
        });
        ramped.collect()
    }

    fn optimisers(&mut self, target: ssl_compiler::Target) -> Option<Vec<Fitted>> {
        let mut compiler = Compiler::new();
        compiler.set_target(target);
        let mut all = Vec::new();
        for fit in &self.plan.fits {
            let (buffer, gradient) = (self.ids[fit.buffer], self.gradients[fit.buffer]?);
            let made = Optimiser::new(&mut compiler, fit.method, &fit.groups, self.graph.buffer(buffer));
            match made {
                Ok(mut optimiser) => {
                    optimiser.set_schedule(fit.schedule);
                    let name = self.plan.buffers[fit.buffer].name.clone();
                    all.push(Fitted { name, buffer, gradient, optimiser });
                }
                Err(OptimiseError::Buffer(BufferError::OutOfMemory { bytes })) => {
                    self.out_of_memory(bytes);
                    return None;
                }
                Err(e) => {
                    self.context.error(
                        &codes::BAD_NUMBER,
                        fit.at.clone(),
                        e.to_string(),
                        "correct the settings of the fit",
                    );
                    return None;
                }
            }
        }
        Some(all)
    }

    fn out_of_memory(&mut self, bytes: usize) {
        let message = format!("there is no memory for {} more", megabytes(bytes));
        let diagnostic = Diagnostic::without_place(&codes::MEMORY, message, "fit less");
        self.context.diagnostics.push(diagnostic);
    }

    fn refuse(&mut self, error: &GraphError, at: ssl_compiler::tree::Place) {
        match error {
            GraphError::Buffer { error: BufferError::OutOfMemory { bytes }, .. } => self.out_of_memory(*bytes),
            _ => {
                let hint = "each buffer has one source, and no launch reads what is made from its own results";
                self.context.error(&codes::MISFIT, at, error.to_string(), hint);
            }
        }
    }
}

fn extent(over: Over, ids: &[BufferId]) -> Extent {
    match over {
        Over::Grid(grid) => Extent::Fixed(grid),
        Over::Buffer(id) => Extent::Of(ids[id]),
        Over::Nothing => Extent::Fixed(crate::kernel::Grid::line(0)),
    }
}

/// The buffer of a planned one that has a start.
fn start(planned: &PlannedBuffer, seed: u64) -> Result<Buffer, BufferError> {
    let (element, arrangement, length) = (&planned.element, planned.arrangement, planned.length.unwrap_or(0));
    let Source::Start(start) = &planned.source else { return Buffer::new(element.clone(), arrangement, 0) };
    match start {
        Start::Words(words) => data::buffer(element, arrangement, words),
        Start::Constant(one) => fill(element, arrangement, length, |_, scalar| one[scalar]),
        Start::Random(random) => {
            let draw = random.of(element, seed, &planned.name);
            fill(element, arrangement, length, draw)
        }
    }
}

fn fill(
    element: &Element,
    arrangement: Arrangement,
    length: usize,
    word: impl Fn(usize, usize) -> u32,
) -> Result<Buffer, BufferError> {
    let mut buffer = Buffer::new(element.clone(), arrangement, length)?;
    let columns = element.len().max(1);
    for (at, to) in buffer.words_mut().iter_mut().enumerate() {
        *to = match arrangement {
            Arrangement::Rows => word(at / columns, at % columns),
            Arrangement::Columns => word(at % length.max(1), at / length.max(1)),
        };
    }
    Ok(buffer)
}
