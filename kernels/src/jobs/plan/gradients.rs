//! Launches that give the gradient of another launch, in place of the compiler: an approximation, or a faster way to the same.
//!
//! The kernel of such a launch has gradients beside buffers. Their names are those that the compiler gives them, with `_` for the
//! dot: it reads `cotangent_shaded`, and adds to `gradient_texture`.

use super::{Id, Planner, Work};
use crate::buffer::Element;
use crate::jobs::codes;
use crate::jobs::file::{Bound, LaunchTable};
use ssl_compiler::runtime::BufferRole;
use toml::Spanned;

/// What a launch gives in place of the compiler.
pub(in crate::jobs) struct OwnGradient {
    /// The launch whose gradient it is.
    pub of: usize,
    pub links: Vec<GradientLink>,
}

/// A buffer of a kernel that is the gradient of a buffer of the job: a cotangent is read, a gradient is added to.
pub(in crate::jobs) struct GradientLink {
    pub port: String,
    pub role: BufferRole,
    pub of: Id,
}

/// The buffer whose gradient a buffer of a kernel is by its name, and the role that it has then; `None` if it is a buffer like
/// any other.
pub(super) fn gradient_of<'a>(table: &LaunchTable, port: &'a str) -> Option<(&'a str, BufferRole)> {
    table.gradient_of.as_ref()?;
    let cotangent = port.strip_prefix("cotangent_").map(|of| (of, BufferRole::In));
    cotangent.or_else(|| port.strip_prefix("gradient_").map(|of| (of, BufferRole::Add)))
}

impl Planner<'_> {
    pub(super) fn plan_own_gradients(&mut self) {
        let job = self.job;
        for number in 0..self.launches.len() {
            let Some(table) = self.launches[number].table.map(|table| &job.launches[table]) else { continue };
            let Some(name) = &table.gradient_of else { continue };
            if job.loss.is_none() {
                let hint = "add `[loss]`, or leave out the launch";
                return self.context.error(
                    &codes::CONFLICT,
                    name.span(),
                    "a job without a loss has no gradients",
                    hint,
                );
            }
            let Some(of) = self.differentiated(name) else { continue };
            if let Some(links) = self.gradient_links(number, of, table) {
                self.launches[number].gives = Some(OwnGradient { of, links });
            }
        }
    }

    /// The launch of this name, which runs a kernel that has a gradient.
    fn differentiated(&mut self, name: &Spanned<String>) -> Option<usize> {
        let has_gradient = |table: Option<usize>| table.is_some_and(|t| self.job.launches[t].gradient_of.is_none());
        let kernels = self
            .launches
            .iter()
            .enumerate()
            .filter(|(_, launch)| matches!(launch.work, Work::Kernel { .. }) && has_gradient(launch.table));
        let all: Vec<(usize, String)> = kernels.map(|(number, launch)| (number, launch.name.clone())).collect();
        let mut found = all.iter().filter(|(_, other)| other == name.get_ref());
        match (found.next(), found.next()) {
            (Some((number, _)), None) => return Some(*number),
            (None, _) => {
                let message = format!("no launch of a kernel is named `{}`", name.get_ref());
                self.context.unknown(name.span(), message, name.get_ref(), all.iter().map(|(_, name)| name.as_str()));
            }
            (Some(_), Some(_)) => {
                let message = format!("several launches are named `{}`", name.get_ref());
                self.context.error(&codes::CONFLICT, name.span(), message, "give each of them a `name`");
            }
        }
        None
    }

    fn gradient_links(&mut self, number: usize, of: usize, table: &LaunchTable) -> Option<Vec<GradientLink>> {
        let ports: Vec<(String, BufferRole, Element)> = match &self.launches[number].work {
            Work::Kernel { kernel, .. } => {
                kernel.ports().iter().map(|port| (port.name.clone(), port.role, port.element.clone())).collect()
            }
            Work::Run(_) => Vec::new(),
        };
        let mut links = Vec::new();
        for (port, role, element) in ports {
            if let Some((name, wanted)) = gradient_of(table, &port) {
                let name = match table.buffers.get(&port).map(|bound| (bound.get_ref(), bound.span())) {
                    Some((Bound::One(name), _)) => name.clone(),
                    Some((Bound::Two(_), at)) => {
                        let message = format!("`{port}` is one buffer of `{}`", self.launches[number].name);
                        self.context.error(&codes::MISFIT, at, message, "write one name");
                        return None;
                    }
                    None => name.to_owned(),
                };
                links.push(self.gradient_link((&port, role, element), (&name, wanted), of, table)?);
            }
        }
        let has = |role: BufferRole| links.iter().any(|link: &GradientLink| link.role == role);
        if !has(BufferRole::In) || !has(BufferRole::Add) {
            let message = format!("`{}` gives no gradient", self.launches[number].name);
            let hint = "a kernel that does reads `in` buffers whose names begin with `cotangent_`, and adds to `add` \
                        buffers whose names begin with `gradient_`";
            self.context.error(&codes::CONFLICT, table.at.span(), message, hint);
            return None;
        }
        Some(links)
    }

    /// A buffer of a kernel as the gradient of a buffer of the job.
    fn gradient_link(
        &mut self,
        (port, role, element): (&str, BufferRole, Element),
        (name, wanted): (&str, BufferRole),
        of: usize,
        table: &LaunchTable,
    ) -> Option<GradientLink> {
        let at = table.buffers.get(port).map_or(table.at.span(), Spanned::span);
        let id = self.known(name, at.clone())?;
        let floats = Element::floats(self.buffers[id].element.len());
        let launch = &self.launches[of];
        let (does, is_of_launch) = match wanted {
            BufferRole::In => ("write", launch.writes().any(|to| to == id)),
            _ => ("read", launch.reads().any(|from| from == id)),
        };
        let (message, hint) = if role != wanted {
            (format!("`{port}` is an `{}` buffer", role.name()), format!("make it an `{}` buffer", wanted.name()))
        } else if element != floats {
            let message =
                format!("an element of `{port}` is {element}, and one of the gradient of `{name}` is {floats}");
            (message, "a gradient has a float for each scalar".to_owned())
        } else if !is_of_launch {
            let hint = "cotangents are of what the launch writes, gradients of what it reads".to_owned();
            (format!("`{}` does not {does} `{name}`", launch.name), hint)
        } else {
            return Some(GradientLink { port: port.to_owned(), role, of: id });
        };
        self.context.error(&codes::MISFIT, at, message, hint);
        None
    }
}
