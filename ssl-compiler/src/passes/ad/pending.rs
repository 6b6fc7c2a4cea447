//! What of a module differentiation has not resolved, and what of that can be resolved now: innermost first.

use super::Refused;
use super::round::places;
use crate::analysis::call_graph::CallGraph;
use crate::analysis::lineage::Lineage;
use crate::ir::{FuncId, Function, Module, Op};
use crate::source::Span;

/// The derivatives in what the entry reaches.
#[derive(Default)]
pub struct Pending {
    /// The first derivative along the screen.
    pub screen: Option<Span>,
    /// The first one that is a derivative of a function.
    pub function: Option<Span>,
    /// By function: whether all that it calls is free of derivatives, so that its own can be written.
    ready: Vec<bool>,
    pub jvp: bool,
    pub vjp: bool,
}

impl Pending {
    pub fn of(module: &Module) -> Pending {
        let mut pending = Pending::default();
        let mut holds = vec![false; module.functions.len()];
        let reached = reached(module);
        for (id, f) in module.functions.iter().enumerate() {
            f.walk(|_, data| {
                let found = match data.op {
                    Op::Derivative(_) | Op::Sample { .. } => &mut pending.screen,
                    Op::Jvp { .. } | Op::Vjp { .. } => &mut pending.function,
                    _ => return,
                };
                holds[id] = true;
                if reached[id] {
                    *found = found.or(Some(data.span));
                }
            });
        }
        if pending.function.is_none() {
            return pending;
        }
        pending.ready = ready(module, &holds);
        for f in &module.functions {
            f.walk(|_, data| match data.op {
                Op::Jvp { function, .. } => pending.jvp |= pending.ready[function.index()],
                Op::Vjp { function, .. } => pending.vjp |= pending.ready[function.index()],
                _ => {}
            });
        }
        pending
    }

    /// The functions whose derivatives can be written.
    pub fn into_ready(self) -> Vec<bool> {
        self.ready
    }

    /// Whether an operation is a derivative of a function that can be written.
    pub fn is_ready(&self, op: Op) -> bool {
        matches!(op, Op::Jvp { .. } | Op::Vjp { .. }) && op.callee().is_some_and(|f| self.ready[f.index()])
    }

    /// Fails where a gradient that somebody uses would have to go on through a derivative along the screen, whose
    /// transpose is not a matter of one point.
    pub fn check_screen(&self, module: &Module) -> Result<(), Refused> {
        let through = |f: &Function| {
            let mut found = Vec::new();
            f.walk(|_, data| match data.op {
                Op::Vjp { function, screen } if screen > 0 && self.is_ready(data.op) => {
                    found.push((function, screen as usize, data.results.clone(), data.span));
                }
                _ => {}
            });
            found
        };
        let all: Vec<_> = module.functions.iter().map(through).collect();
        if all.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let calls = CallGraph::of(module);
        let lineage = Lineage::of_tangents(module, &calls);
        for (f, found) in module.functions.iter().zip(all) {
            let used = if found.is_empty() { Vec::new() } else { used(f) };
            for (function, screen, results, span) in found {
                let g = module.function(function);
                let (n, m) = (g.params().len(), g.results.len());
                let gradients = places(g, &g.params()[..n - screen]).into_iter().flatten();
                let summary = &lineage.summaries[function.index()].results;
                let depends = summary.iter().any(|r| r.parameters.iter().any(|p| p >= n - screen));
                if depends && gradients.into_iter().any(|place| used[results[m + place].index()]) {
                    return Err(Refused::ThroughScreen(span));
                }
            }
        }
        Ok(())
    }
}

/// By value, whether anything uses it.
fn used(f: &Function) -> Vec<bool> {
    let mut used = vec![false; f.types.len()];
    f.walk(|_, data| {
        let regions = data.regions.iter().flat_map(|&r| &f.region(r).results);
        data.args.iter().chain(regions).for_each(|v| used[v.index()] = true);
    });
    f.region(f.body).results.iter().for_each(|v| used[v.index()] = true);
    used
}

/// The functions of which neither they nor what they call holds a derivative. What has a custom derivative is not
/// looked into: it is not differentiated itself.
fn ready(module: &Module, holds: &[bool]) -> Vec<bool> {
    let has_custom = |id: &FuncId| module.function(*id).custom.functions().next().is_some();
    let mut ready = vec![true; module.functions.len()];
    let calls = CallGraph::of(module);
    for component in &calls.components {
        let inside = |id: &FuncId| holds[id.index()] || calls.callees[id.index()].iter().any(|c| !ready[c.index()]);
        if component.iter().any(|id| !has_custom(id) && inside(id)) {
            component.iter().filter(|id| !has_custom(id)).for_each(|id| ready[id.index()] = false);
        }
    }
    ready
}

/// The functions that run: not those that only stand for derivatives which nobody asks for.
fn reached(module: &Module) -> Vec<bool> {
    let mut reached = vec![false; module.functions.len()];
    let mut work = vec![module.entry];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut reached[id.index()], true) {
            module.function(id).walk(|_, data| work.extend(data.op.callee()));
        }
    }
    reached
}
