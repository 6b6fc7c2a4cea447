//! Which kernels and operations run, and which buffers they read and write.

use super::gradients::{OwnGradient, gradient_of};
use super::{Id, Planner};
use crate::buffer::Element;
use crate::graph::Link;
use crate::jobs::codes;
use crate::jobs::context::meant;
use crate::jobs::file::{Bound, LaunchTable};
use crate::jobs::host::Operation;
use crate::kernel::{Grid, Kernel};
use ssl_compiler::ir::Op;
use ssl_compiler::runtime::{BufferRole, ParameterValue};
use ssl_compiler::tree::Place;
use ssl_compiler::{CompileError, GradientRequest, Program, ShaderRequest};
use std::sync::Arc;
use toml::Spanned;

pub(in crate::jobs) struct PlannedLaunch {
    /// For messages.
    pub name: String,
    pub work: Work,
    pub links: Vec<PlannedLink>,
    pub over: Over,
    /// What the kernel's parameters were set to.
    pub values: Vec<(String, ParameterValue)>,
    /// The names of the parameters that have the job's value of the same name.
    pub shared: Vec<String>,
    /// The gradient that it gives, if it gives one.
    pub gives: Option<OwnGradient>,
    /// The launch of the job, unless it is the loss.
    pub table: Option<usize>,
    pub at: Place,
}

pub(in crate::jobs) enum Work {
    Kernel { program: Arc<Program>, kernel: Kernel },
    Run(Operation),
}

/// The points of a launch.
#[derive(Clone, Copy, Debug)]
pub(in crate::jobs) enum Over {
    /// Not known yet, or none.
    Nothing,
    Grid(Grid),
    /// An element each.
    Buffer(Id),
}

/// A buffer of a kernel, and what it is here.
#[derive(Clone, Debug)]
pub(in crate::jobs) struct PlannedLink {
    pub port: String,
    pub role: BufferRole,
    /// What is read, and what is written or added to.
    pub from: Option<Id>,
    pub to: Option<Id>,
}

impl PlannedLink {
    pub fn link(&self, ids: &[crate::graph::BufferId]) -> Option<Link> {
        match (self.role, self.from.map(|id| ids[id]), self.to.map(|id| ids[id])) {
            (BufferRole::In, Some(from), _) => Some(Link::Read(from)),
            (BufferRole::Out, _, Some(to)) => Some(Link::Write(to)),
            (BufferRole::InOut, Some(from), Some(to)) => Some(Link::Change { from, to }),
            (BufferRole::Add, _, Some(to)) => Some(Link::Add(to)),
            _ => None,
        }
    }
}

impl PlannedLaunch {
    pub fn reads(&self) -> impl Iterator<Item = Id> {
        self.links.iter().filter_map(|link| link.from)
    }

    pub fn writes(&self) -> impl Iterator<Item = Id> {
        self.links.iter().filter_map(|link| link.to)
    }

    /// The gradient of the kernel: of some of its buffers by others, with the values that the kernel has.
    pub fn gradient(&self, of: Vec<String>, by: Vec<String>) -> Result<Option<Kernel>, String> {
        let Work::Kernel { program, kernel } = &self.work else { return Ok(None) };
        let compiled = program.compile(request(kernel, of, by)).map_err(|e| summary(&e))?;
        let mut gradient = Kernel::new(compiled).map_err(|e| e.to_string())?;
        for (name, value) in &self.values {
            gradient.set(name, value.clone()).map_err(|e| e.message(name))?;
        }
        Ok(Some(gradient))
    }

    /// The buffers among `by` for which derivatives do not vanish as a matter of course.
    pub fn counting(&self, of: Vec<String>, by: Vec<String>) -> Result<Vec<String>, String> {
        let Work::Kernel { program, kernel } = &self.work else { return Ok(Vec::new()) };
        let lowered = program.lower(request(kernel, of, by)).map_err(|e| summary(&e))?;
        let mut added: Vec<usize> = Vec::new();
        for function in &lowered.module.functions {
            function.walk(|_, data| {
                added.extend(if let Op::AddTo(column) = data.op { Some(column as usize) } else { None })
            });
        }
        let gradients = lowered.interface.gradient.iter().flat_map(|gradient| &gradient.gradient_columns);
        let counts = gradients.filter(|columns| {
            added.iter().any(|at| (columns.first_column..columns.first_column + columns.count).contains(at))
        });
        Ok(counts.map(|columns| columns.buffer.clone()).collect())
    }
}

fn request(kernel: &Kernel, of: Vec<String>, by: Vec<String>) -> ShaderRequest {
    let gradient = Some(GradientRequest::of(of).by_buffers(by));
    ShaderRequest { gradient, ..ShaderRequest::from(kernel.name()) }
}

/// The first message.
fn summary(error: &CompileError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_start_matches("error").to_owned()
}

impl Planner<'_> {
    pub(super) fn plan_launches(&mut self) {
        let job = self.job;
        for (number, table) in job.launches.iter().enumerate() {
            let at = table.at.span();
            let planned = match (&table.kernel, &table.run) {
                (Some(kernel), None) => self.plan_kernel(table, kernel),
                (None, Some(run)) => self.plan_operation(table, run),
                _ => {
                    let message = "a launch has either a `kernel` or a `run`";
                    let hint = "`kernel` names a kernel of the file; `run` is something that no kernel can do";
                    self.context.error(&codes::CONFLICT, at, message, hint);
                    None
                }
            };
            if let Some((name, work, links)) = planned {
                let (name, at) = (table.name.clone().unwrap_or(name), table.at.span());
                let (over, table) = (Over::Nothing, Some(number));
                self.launches.push(PlannedLaunch {
                    name,
                    work,
                    links,
                    over,
                    values: Vec::new(),
                    shared: Vec::new(),
                    gives: None,
                    table,
                    at,
                });
            }
        }
    }

    fn plan_kernel(&mut self, table: &LaunchTable, name: &Spanned<String>) -> Option<(String, Work, Vec<PlannedLink>)> {
        let file = table.file.as_ref().map(|file| file.get_ref().as_str());
        let program = Arc::clone(self.programs.of(file)?);
        // Whether the file has errors was looked at before.
        let kernels = program.kernels().unwrap_or_default();
        if !kernels.contains(&name.get_ref().as_str()) {
            let message = format!("the file has no kernel `{}`", name.get_ref());
            self.context.unknown(name.span(), message, name.get_ref(), kernels.into_iter());
            return None;
        }
        let kernel = match program.compile(name.get_ref().as_str()) {
            Ok(shader) => shader,
            Err(e) => {
                self.context.diagnostics.extend(e.into_diagnostics());
                return None;
            }
        };
        if let Some(texture) = kernel.interface().textures.first() {
            let message = format!("the kernel `{}` reads the texture `{}`", name.get_ref(), texture.name);
            self.context.error(&codes::CONFLICT, name.span(), message, "a job has no textures: read a buffer");
            return None;
        }
        let paths: Vec<Vec<String>> = kernel.interface().buffers.iter().map(|b| b.paths.clone()).collect();
        let kernel = Kernel::new(kernel)
            .map_err(|e| self.context.error(&codes::MISFIT, name.span(), e.to_string(), "change the kernel"))
            .ok()?;
        let ports: Vec<(String, BufferRole, Element, Vec<String>)> = kernel
            .ports()
            .iter()
            .zip(paths)
            .map(|(port, paths)| (port.name.clone(), port.role, port.element.clone(), paths))
            .collect();
        let links = self.links(table, name, ports)?;
        Some((name.get_ref().clone(), Work::Kernel { program, kernel }, links))
    }

    fn plan_operation(
        &mut self,
        table: &LaunchTable,
        run: &Spanned<String>,
    ) -> Option<(String, Work, Vec<PlannedLink>)> {
        // The check knows the names.
        let operation = Operation::named(run.get_ref())?;
        if let Some(over) = &table.over {
            let message = format!("`{}` runs over what it reads", run.get_ref());
            self.context.error(&codes::CONFLICT, over.span(), message, "leave out `over`");
        }
        let port = |(name, role, element): (&str, BufferRole, Element)| (name.to_owned(), role, element, Vec::new());
        let links = self.links(table, run, operation.ports().into_iter().map(port).collect())?;
        Some((run.get_ref().clone(), Work::Run(operation), links))
    }

    /// The buffers of a kernel by the names that the job has for them.
    fn links(
        &mut self,
        table: &LaunchTable,
        kernel: &Spanned<String>,
        ports: Vec<(String, BufferRole, Element, Vec<String>)>,
    ) -> Option<Vec<PlannedLink>> {
        for (port, bound) in &table.buffers {
            if !ports.iter().any(|(name, ..)| name == port) {
                let message = format!("`{}` has no buffer `{port}`", kernel.get_ref());
                let hint = meant(port, ports.iter().map(|(name, ..)| name.as_str()));
                self.context.error(&codes::UNKNOWN_NAME, bound.span(), message, hint);
            }
        }
        let mut links = Vec::new();
        // What is the gradient of a buffer is linked when all buffers are known.
        let of_buffers = |(port, ..): &(String, BufferRole, Element, Vec<String>)| gradient_of(table, port).is_none();
        for (port, role, element, paths) in ports.into_iter().filter(of_buffers) {
            let bound = table.buffers.get(&port);
            let at = bound.map_or(table.at.span(), Spanned::span);
            let names = match bound.map(Spanned::get_ref) {
                None => [port.clone(), port.clone()],
                Some(Bound::One(name)) => [name.clone(), name.clone()],
                Some(Bound::Two(names)) => names.clone(),
            };
            if (names[0] != names[1]) != (role == BufferRole::InOut) {
                let (message, hint) = match role {
                    BufferRole::InOut => (
                        format!("`{}` changes `{port}`, and a launch changes no buffer in place", kernel.get_ref()),
                        format!("name two buffers: `buffers = {{ {port} = [\"before\", \"after\"] }}`"),
                    ),
                    _ => (format!("`{port}` is one buffer of `{}`", kernel.get_ref()), "write one name".to_owned()),
                };
                self.context.error(&codes::MISFIT, at, message, hint);
                continue;
            }
            let reads = matches!(role, BufferRole::In | BufferRole::InOut);
            let [mut from, mut to] = [reads, role != BufferRole::In].map(|wanted| wanted.then_some(0));
            for (id, name) in [(&mut from, &names[0]), (&mut to, &names[1])] {
                if id.is_some() {
                    *id = self.buffer(name, (&element, &paths), at.clone());
                }
            }
            links.push(PlannedLink { port, role, from, to });
        }
        Some(links)
    }
}
