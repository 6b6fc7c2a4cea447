//! Lineage across calls (the AD literature's *varied*): what a function's results can trace back to.
//!
//! The lineage of a result is what varies by itself (a seeded global, another derivative) and the set of parameters
//! that the result depends on. The analysis runs forwards over all functions at once, to a fixpoint where they recurse.
//! A summary is exact in its parameters, so each call is as precise as if it were inlined.
//!
//! It over-estimates along branches that cannot be taken together:
//! `if (c) t = x; else t = 0; if (!c) u = t; else u = 0;` gives `u` the lineage of `x`.

use super::bits::BitSet;
use super::call_graph::CallGraph;
use super::derivatives::Derivatives;
use super::flow::{Flow, Neighbours};
use crate::ir::{Function, Module, Op, Value};
use crate::runtime::Order;

/// What a value brings along, its function's parameters aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Traces back to a global that the host seeds.
    pub seeded: bool,
    /// Traces back to a derivative that still is an operation: deriving it again must wait a round.
    pub derived: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultLineage {
    pub origin: Origin,
    pub parameters: BitSet,
}

/// What callers must know of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub results: Vec<ResultLineage>,
    /// Parameters from which sinks inside can be reached, in x and in y.
    pub sinks: [BitSet; 2],
}

/// One function's derivative edges, calls included.
pub struct Graph {
    pub forward: Neighbours,
    pub backward: Neighbours,
    pub flow: Flow,
}

pub struct Lineage {
    /// What was asked for when this was found out.
    pub derivatives: Derivatives,
    pub summaries: Vec<Summary>,
    pub graphs: Vec<Graph>,
}

impl Lineage {
    pub fn of(module: &Module, calls: &CallGraph, derivatives: Derivatives) -> Lineage {
        let mut flows: Vec<Option<Flow>> =
            module.functions.iter().map(|f| Some(Flow::of(f, &module.externals))).collect();
        let mut summaries: Vec<Summary> = module
            .functions
            .iter()
            .map(|f| Summary { results: vec![ResultLineage::default(); f.results.len()], ..Summary::default() })
            .collect();
        let mut graphs: Vec<Option<Graph>> = module.functions.iter().map(|_| None).collect();
        for component in &calls.components {
            loop {
                let mut changed = false;
                for &id in component {
                    let f = module.function(id);
                    // A flow moves into its graph, and out of it for another round.
                    let flow = flows[id.index()]
                        .take()
                        .or_else(|| graphs[id.index()].take().map(|g| g.flow))
                        .unwrap_or_default();
                    let graph = Graph::new(f, flow, &summaries);
                    let summary = summarise(module, f, &graph, &summaries, derivatives);
                    changed |= summary != summaries[id.index()];
                    summaries[id.index()] = summary;
                    graphs[id.index()] = Some(graph);
                }
                if !changed || !calls.recursive[component[0].index()] {
                    break;
                }
            }
        }
        Lineage { derivatives, summaries, graphs: graphs.into_iter().flatten().collect() }
    }
}

impl Graph {
    fn new(f: &Function, flow: Flow, summaries: &[Summary]) -> Graph {
        let mut edges = flow.edges.clone();
        for &inst in &flow.calls {
            let data = f.inst(inst);
            if let Op::Call(callee) = data.op {
                for (r, lineage) in summaries[callee.index()].results.iter().enumerate() {
                    edges.extend(lineage.parameters.iter().map(|p| (data.args[p], data.results[r])));
                }
            }
        }
        let n = f.types.len();
        Graph {
            forward: Neighbours::new(n, edges.iter().copied()),
            backward: Neighbours::new(n, edges.iter().map(|&(a, b)| (b, a))),
            flow,
        }
    }
}

/// The values that bring a lineage of their own into a function.
pub fn origins(
    module: &Module,
    f: &Function,
    summaries: &[Summary],
    derivatives: Derivatives,
) -> (Vec<bool>, Vec<bool>) {
    let (mut seeded, mut derived) = (vec![false; f.types.len()], vec![false; f.types.len()]);
    f.walk(|_, data| match data.op {
        Op::Global { field, component, order } => {
            let global = &module.globals[field as usize];
            let given = partials(order).iter().any(|&o| global.row(component as usize, o).is_some());
            let result = data.results[0];
            seeded[result.index()] = f.ty(result).is_differentiable() && derivatives.seeds(given);
        }
        // Without derivatives there is nothing to wait for.
        Op::Derivative(_) => derived[data.results[0].index()] = derivatives != Derivatives::None,
        Op::Call(callee) => {
            for (&r, lineage) in data.results.iter().zip(&summaries[callee.index()].results) {
                seeded[r.index()] |= lineage.origin.seeded;
                derived[r.index()] |= lineage.origin.derived;
            }
        }
        _ => {}
    });
    (seeded, derived)
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

fn summarise(module: &Module, f: &Function, graph: &Graph, summaries: &[Summary], derivatives: Derivatives) -> Summary {
    let (mut seeded, mut derived) = origins(module, f, summaries, derivatives);
    graph.forward.spread(&mut seeded);
    graph.forward.spread(&mut derived);
    let results = &f.region(f.body).results;
    let mut summary = Summary::default();
    for &r in results {
        let origin = Origin { seeded: seeded[r.index()], derived: derived[r.index()] };
        summary.results.push(ResultLineage { origin, parameters: BitSet::default() });
    }
    let marks = sink_marks(f, graph, summaries);
    let differentiable: Vec<usize> =
        (0..f.params().len()).filter(|&p| f.ty(f.params()[p]).is_differentiable()).collect();
    // As many parameters at once as a word has bits.
    for some in differentiable.chunks(64) {
        let mut reached = vec![0u64; f.types.len()];
        some.iter().enumerate().for_each(|(bit, &p)| reached[f.params()[p].index()] |= 1 << bit);
        graph.forward.spread_sets(&mut reached);
        let members = |word: u64| some.iter().enumerate().filter(move |(bit, _)| word >> bit & 1 != 0).map(|(_, &p)| p);
        for (lineage, r) in summary.results.iter_mut().zip(results) {
            members(reached[r.index()]).for_each(|p| {
                lineage.parameters.insert(p);
            });
        }
        for (set, marks) in summary.sinks.iter_mut().zip(&marks) {
            let marked =
                marks.iter().zip(&reached).filter(|(marked, _)| **marked).fold(0, |all, (_, &word)| all | word);
            members(marked).for_each(|p| {
                set.insert(p);
            });
        }
    }
    summary
}

/// Values that a sink asks for directly, in x and in y: operands, and arguments of calls with sinks inside.
fn sink_marks(f: &Function, graph: &Graph, summaries: &[Summary]) -> [Vec<bool>; 2] {
    let mut marks = [vec![false; f.types.len()], vec![false; f.types.len()]];
    let mut mark = |value: Value, x: bool, y: bool| {
        marks[0][value.index()] |= x;
        marks[1][value.index()] |= y;
    };
    graph.flow.sinks.iter().for_each(|s| mark(s.value, s.x, s.y));
    for &inst in &graph.flow.calls {
        let data = f.inst(inst);
        if let Op::Call(callee) = data.op {
            let sinks = &summaries[callee.index()].sinks;
            data.args.iter().enumerate().for_each(|(p, &arg)| mark(arg, sinks[0].contains(p), sinks[1].contains(p)));
        }
    }
    marks
}
