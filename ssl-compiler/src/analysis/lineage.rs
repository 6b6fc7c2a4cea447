//! Lineage across calls (the AD literature's *varied*): what a function's results can trace back to.
//!
//! The lineage of a result is what varies by itself (a seeded global, another derivative) and the set of parameters
//! that the result depends on. See `relational` for what it is exact in, and where it over-estimates.

use super::axes::{Axes, Shadows};
use super::call_graph::CallGraph;
use super::derivatives::Derivatives;
use super::flow::{Along, Flow, Sink};
use super::graph::Fact;
pub use super::relational::Graph;
use super::relational::{self, Relation};
use super::tape::{Roots, Tape};
use crate::ir::{Custom, FuncId, Function, InstData, Module, Op, Ty};
use crate::runtime::Order;

/// What a value brings along, its function's parameters aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The axes along which something that it traces back to is seeded.
    pub seeded: Shadows,
    /// Traces back to a derivative that still is an operation: deriving it again must wait a round.
    pub derived: bool,
}

impl Fact for Origin {
    fn join(self, other: Origin) -> Origin {
        Origin { seeded: self.seeded.or(other.seeded), derived: self.derived | other.derived }
    }
}

pub type Summary = relational::Summary<Origin>;

pub struct Lineage {
    pub axes: Axes,
    /// What was asked for when this was found out.
    pub derivatives: Derivatives,
    pub tape: Tape,
    pub summaries: Vec<Summary>,
    pub graphs: Vec<Graph>,
}

/// Where lineage begins.
struct Origins<'a> {
    axes: Axes,
    derivatives: Derivatives,
    tape: &'a Tape,
}

impl Lineage {
    /// The lineage of a module's values along the screen.
    pub fn of(module: &Module, calls: &CallGraph, derivatives: Derivatives) -> Lineage {
        Lineage::along(module, calls, Axes::Screen, derivatives, &Roots::default())
    }

    /// What tangents flow through, whoever gives them.
    pub fn of_tangents(module: &Module, calls: &CallGraph) -> Lineage {
        Lineage::along(module, calls, Axes::Tangent, Derivatives::Asked, &Roots::default())
    }

    /// Likewise along some axes.
    pub fn along(module: &Module, calls: &CallGraph, axes: Axes, derivatives: Derivatives, roots: &Roots) -> Lineage {
        let along = Along::Derivatives(axes);
        let mut flows: Vec<Flow> = module.functions.iter().map(|f| Flow::of(f, &module.externals, along)).collect();
        let mut tape = Tape::default();
        if flows.iter().any(|flow| !flow.tape.is_empty()) {
            let origins = Origins { axes, derivatives, tape: &Tape::default() };
            let starts = |f: &Function, data: &InstData, i| origins.origin(module, f, data, i);
            tape = Tape::of(module, &flows, axes, derivatives, roots, starts);
            // A pushed value's shadow is kept with it.
            for (f, flow) in module.functions.iter().zip(&mut flows) {
                let pushes: Vec<Sink> = flow.tape.iter().flat_map(|&inst| tape.sinks(f, inst)).collect();
                flow.sinks.extend(pushes);
            }
        }
        let origins = Origins { axes, derivatives, tape: &tape };
        let (summaries, graphs) = relational::summarise(module, calls, flows, &origins);
        Lineage { axes, derivatives, tape, summaries, graphs }
    }

    /// The lineage that values of a function bring along, before it spreads.
    pub fn origins(&self, module: &Module, f: &Function) -> Vec<Origin> {
        let origins = Origins { axes: self.axes, derivatives: self.derivatives, tape: &self.tape };
        relational::origins(module, f, &self.summaries, &origins)
    }
}

impl Relation for Origins<'_> {
    type Fact = Origin;

    fn origin(&self, module: &Module, f: &Function, data: &InstData, result: usize) -> Origin {
        debug_assert!(self.follows(f.ty(data.results[result])));
        match data.op {
            Op::Global { field, component, order } if self.axes == Axes::Screen => {
                let global = &module.globals[field as usize];
                let given = partials(order).iter().any(|&o| global.row(component as usize, o).is_some());
                Origin { seeded: self.axes.all().when(self.derivatives.seeds(given)), derived: false }
            }
            // Behind the token.
            Op::Pop(site) => self.tape.origin(site, result - 1),
            // Without derivatives there is nothing to wait for.
            Op::Derivative(_) | Op::Jvp { .. } | Op::Vjp { .. } if self.axes == Axes::Screen => {
                Origin { seeded: Shadows::NONE, derived: self.derivatives != Derivatives::None }
            }
            _ => Origin::default(),
        }
    }

    /// The derivative of a function by its parameters is the custom one, that by what it reads itself is its body's.
    /// Where its body looks at shadows of parameters, they come apart once these are values.
    fn call(&self, module: &Module, callee: FuncId, summary: &Summary) -> Origin {
        let custom = module.function(callee).custom != Custom::default();
        let waits = custom && self.axes == Axes::Screen && summary.sinks.iter().any(|s| s.any());
        Origin { seeded: Shadows::NONE, derived: waits && self.derivatives != Derivatives::None }
    }

    /// A custom derivative may depend on what the function itself does not.
    fn depends_on_all(&self, f: &Function) -> bool {
        f.custom != Custom::default()
    }

    fn follows(&self, ty: Ty) -> bool {
        ty.is_differentiable()
    }
}

/// Which rows hold the x and y partials of a row.
pub fn partials(order: Order) -> &'static [Order] {
    match order {
        Order::Value => &[Order::Ddx, Order::Ddy],
        Order::Ddx => &[Order::Dxx, Order::Dxy],
        Order::Ddy => &[Order::Dxy, Order::Dyy],
        Order::Dxx | Order::Dxy | Order::Dyy => &[],
    }
}
