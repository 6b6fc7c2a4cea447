//! Which values can differ between the points of a surface: those that depend, by any operation or by control flow, on
//! a global with partials from the host.
//!
//! This is more than lineage: `floor` and conversions to `int` end derivatives, but their results still vary. A value
//! that does not vary is the same at every point. The analysis runs forwards and is relational, like lineage; then it
//! goes down from the entry: a function's value varies if it does in some call. Tokens do not count: running out of
//! fuel is no variation.

use super::call_graph::CallGraph;
use super::flow::{Along, Flow};
use super::relational::{self, Relation, Summary};
use crate::ir::{Function, InstData, Module, Op, Ty, Value};
use crate::runtime::Order;
use crate::source::Span;
use std::ops::Range;

/// By function and value, whether it varies in some call.
pub struct Variation {
    varies: Vec<Vec<bool>>,
}

/// The sources of variation: globals with partials, and these words of the parameter block.
struct Given<'a>(&'a [Range<usize>]);

impl Relation for Given<'_> {
    type Fact = bool;

    fn origin(&self, module: &Module, _: &Function, data: &InstData, _: usize) -> bool {
        match data.op {
            Op::Global { field, component, .. } => {
                module.globals[field as usize].row(component as usize, Order::Ddx).is_some()
            }
            Op::Parameter { word, .. } => self.0.iter().any(|open| open.contains(&(word as usize))),
            _ => false,
        }
    }

    fn follows(&self, ty: Ty) -> bool {
        ty != Ty::Token
    }
}

impl Variation {
    /// `open` are the words of parameters that may stand for varying values.
    pub fn of(module: &Module, calls: &CallGraph, open: &[Range<usize>]) -> Variation {
        let given = Given(open);
        let flow = |f: &Function| Flow::of(f, &module.externals, Along::Influence);
        let flows = module.functions.iter().map(flow).collect();
        let (summaries, graphs) = relational::summarise(module, calls, flows, &given);
        let mut variation = Variation { varies: module.functions.iter().map(|f| vec![false; f.types.len()]).collect() };
        for component in calls.components.iter().rev() {
            while component
                .iter()
                .any(|id| variation.enter(module, id.index(), &graphs[id.index()], (&summaries, &given)))
                && calls.is_circle(component)
            {}
        }
        variation
    }

    /// Spreads variation in a function and hands it to its callees. Gives whether a function of its cycle learnt more.
    fn enter(
        &mut self,
        module: &Module,
        id: usize,
        graph: &relational::Graph,
        (summaries, given): (&[Summary<bool>], &Given<'_>),
    ) -> bool {
        let f = &module.functions[id];
        let mut marks = relational::origins(module, f, summaries, given);
        marks.iter_mut().zip(&self.varies[id]).for_each(|(new, old)| *new |= old);
        graph.forward.spread(&mut marks);
        let mut learnt = false;
        for data in graph.flow.calls.iter().chain(&graph.flow.derivatives).map(|&inst| f.inst(inst)) {
            let Some(callee) = data.op.callee() else { continue };
            for (&param, arg) in module.function(callee).params().iter().zip(&data.args) {
                let known = &mut self.varies[callee.index()][param.index()];
                learnt |= marks[arg.index()] && !*known;
                *known |= marks[arg.index()];
            }
        }
        // A function that calls itself has just learnt about its own parameters.
        self.varies[id].iter_mut().zip(marks).for_each(|(known, new)| *known |= new);
        learnt
    }

    pub fn varies(&self, function: usize, v: Value) -> bool {
        self.varies[function][v.index()]
    }
}

/// The look-ups whose coordinates vary nowhere, in the order of the source. A look-up that is written into several
/// places counts once. The words of parameters in `open` may stand for varying values.
pub fn flat_look_ups(module: &Module, open: &[Range<usize>]) -> Vec<Span> {
    let mut looks = false;
    module.functions.iter().for_each(|f| f.walk(|_, data| looks |= matches!(data.op, Op::Sample { .. })));
    if !looks {
        return Vec::new();
    }
    let variation = Variation::of(module, &CallGraph::of(module), open);
    let mut found: Vec<(Span, bool)> = Vec::new();
    for (id, f) in module.functions.iter().enumerate() {
        f.walk(|_, data| {
            if let Op::Sample { .. } = data.op {
                found.push((data.span, data.args[1..].iter().any(|&v| variation.varies(id, v))));
            }
        });
    }
    // Those that vary first, so that the others of the place are dropped.
    found.sort_by_key(|(span, varies)| (span.file, span.start, span.end, !varies));
    found.dedup_by_key(|(span, _)| *span);
    found.into_iter().filter(|(_, varies)| !varies).map(|(span, _)| span).collect()
}
