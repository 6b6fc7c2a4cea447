//! Which values can differ between the points of a surface: those that depend, by any operation or by control flow, on
//! a global with partials from the host.
//!
//! This is more than lineage: `floor` and conversions to `int` end derivatives, but their results still vary. A value
//! that does not vary is the same at every point. The analysis runs forwards and is relational, like lineage; then it
//! goes down from the entry: a function's value varies if it does in some call. Tokens do not count: running out of
//! fuel is no variation.

use super::bits::BitSet;
use super::call_graph::CallGraph;
use super::flow::Neighbours;
use crate::ir::{Function, Module, Op, Region, Ty, Value};
use crate::runtime::Order;
use crate::source::Span;

/// By function and value, whether it varies in some call.
pub struct Variation {
    varies: Vec<Vec<bool>>,
}

/// What a result depends on.
#[derive(Clone, Debug, Default, PartialEq)]
struct Dependence {
    varies: bool,
    parameters: BitSet,
}

impl Variation {
    pub fn of(module: &Module, calls: &CallGraph) -> Variation {
        let edges: Vec<Vec<(Value, Value)>> = module.functions.iter().map(edges).collect();
        let mut summaries: Vec<Vec<Dependence>> =
            module.functions.iter().map(|f| vec![Dependence::default(); f.results.len()]).collect();
        for component in &calls.components {
            loop {
                let mut changed = false;
                for id in component.iter().map(|id| id.index()) {
                    let f = &module.functions[id];
                    let summary = summarise(module, f, &graph(f, &edges[id], &summaries), &summaries);
                    changed |= summary != summaries[id];
                    summaries[id] = summary;
                }
                if !changed || !calls.recursive[component[0].index()] {
                    break;
                }
            }
        }
        let mut variation = Variation { varies: module.functions.iter().map(|f| vec![false; f.types.len()]).collect() };
        for component in calls.components.iter().rev() {
            while component.iter().any(|id| variation.enter(module, id.index(), &edges[id.index()], &summaries))
                && calls.recursive[component[0].index()]
            {}
        }
        variation
    }

    /// Spreads what varies in a function and hands it to what it calls; whether a function of its cycle learnt more.
    fn enter(&mut self, module: &Module, id: usize, edges: &[(Value, Value)], summaries: &[Vec<Dependence>]) -> bool {
        let f = &module.functions[id];
        let mut marks = sources(module, f, summaries);
        marks.iter_mut().zip(&self.varies[id]).for_each(|(new, old)| *new |= old);
        graph(f, edges, summaries).spread(&mut marks);
        let mut learnt = false;
        f.walk(|_, data| {
            if let Op::Call(callee) = data.op {
                for (&param, arg) in module.function(callee).params().iter().zip(&data.args) {
                    let known = &mut self.varies[callee.index()][param.index()];
                    learnt |= marks[arg.index()] && !*known;
                    *known |= marks[arg.index()];
                }
            }
        });
        // A function that calls itself has just learnt about its own parameters.
        self.varies[id].iter_mut().zip(marks).for_each(|(known, new)| *known |= new);
        learnt
    }

    pub fn varies(&self, function: usize, v: Value) -> bool {
        self.varies[function][v.index()]
    }
}

/// The look-ups whose coordinates vary nowhere, in the order of the source. What was written into several places is one.
pub fn flat_look_ups(module: &Module) -> Vec<Span> {
    let mut looks = false;
    module.functions.iter().for_each(|f| f.walk(|_, data| looks |= matches!(data.op, Op::Sample { .. })));
    if !looks {
        return Vec::new();
    }
    let variation = Variation::of(module, &CallGraph::of(module));
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

/// From each value to those that depend on it, calls aside.
fn edges(f: &Function) -> Vec<(Value, Value)> {
    let mut edges = Vec::new();
    let mut all = |from: &[Value], to: &[Value]| {
        let counts = |v: &&Value| f.ty(**v) != Ty::Token;
        for &a in from.iter().filter(counts) {
            edges.extend(to.iter().filter(counts).map(|&b| (a, b)));
        }
    };
    let results = |r: Region| &f.region(r).results;
    f.walk(|_, data| match data.op {
        Op::Call(_) => {}
        Op::If => {
            all(&data.args, &data.results);
            for &region in &data.regions {
                results(region).iter().zip(&data.results).for_each(|(&a, &b)| all(&[a], &[b]));
            }
        }
        Op::Loop(_) => {
            let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
            let test = &condition.results[..1];
            [&condition.params[..], &body.params, &data.results].into_iter().for_each(|to| all(test, to));
            data.args.iter().zip(&condition.params).for_each(|(&a, &b)| all(&[a], &[b]));
            body.results.iter().zip(&condition.params).for_each(|(&a, &b)| all(&[a], &[b]));
            condition.results[1..].iter().zip(&body.params).for_each(|(&a, &b)| all(&[a], &[b]));
            condition.results[1..].iter().zip(&data.results).for_each(|(&a, &b)| all(&[a], &[b]));
        }
        _ => all(&data.args, &data.results),
    });
    edges
}

fn graph(f: &Function, edges: &[(Value, Value)], summaries: &[Vec<Dependence>]) -> Neighbours {
    let mut through: Vec<(Value, Value)> = edges.to_vec();
    f.walk(|_, data| {
        if let Op::Call(callee) = data.op {
            for (dependence, &result) in summaries[callee.index()].iter().zip(&data.results) {
                through.extend(dependence.parameters.iter().map(|p| (data.args[p], result)));
            }
        }
    });
    Neighbours::new(f.types.len(), through.iter().copied())
}

/// What varies by itself: globals with partials, and results of calls that bring some along.
fn sources(module: &Module, f: &Function, summaries: &[Vec<Dependence>]) -> Vec<bool> {
    let mut marks = vec![false; f.types.len()];
    f.walk(|_, data| match data.op {
        Op::Global { field, component, .. } => {
            let given = module.globals[field as usize].row(component as usize, Order::Ddx).is_some();
            marks[data.results[0].index()] = given;
        }
        Op::Call(callee) => {
            for (dependence, result) in summaries[callee.index()].iter().zip(&data.results) {
                marks[result.index()] |= dependence.varies;
            }
        }
        _ => {}
    });
    marks
}

fn summarise(module: &Module, f: &Function, graph: &Neighbours, summaries: &[Vec<Dependence>]) -> Vec<Dependence> {
    let mut marks = sources(module, f, summaries);
    graph.spread(&mut marks);
    let results = &f.region(f.body).results;
    let mut out: Vec<Dependence> =
        results.iter().map(|r| Dependence { varies: marks[r.index()], ..Dependence::default() }).collect();
    for (p, &param) in f.params().iter().enumerate().filter(|(_, p)| f.ty(**p) != Ty::Token) {
        let mut reached = vec![false; f.types.len()];
        reached[param.index()] = true;
        graph.spread(&mut reached);
        for (dependence, r) in out.iter_mut().zip(results) {
            if reached[r.index()] {
                dependence.parameters.insert(p);
            }
        }
    }
    out
}
