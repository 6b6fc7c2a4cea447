//! What the results of functions depend on, over calls: the framework of all analyses that follow values through a
//! whole module.
//!
//! A fact runs forwards: a result's own part of it, and the set of parameters from which more may come. Where shadows
//! are asked for runs backwards, to parameters. Both are found for all functions at once, callees first, to a fixpoint
//! where functions recurse. A summary is exact in its parameters, so each call is as precise as if it were inlined.
//!
//! It over-estimates along branches that cannot be taken together:
//! `if (c) t = x; else t = 0; if (!c) u = t; else u = 0;` makes `u` depend on `x`. And it takes all that ever goes on
//! the tape at one site to come off it wherever something does (see `tape`).

use super::axes::{MAX_AXES, Shadows};
use super::bits::BitSet;
use super::call_graph::CallGraph;
use super::flow::Flow;
use super::graph::{Fact, Neighbours};
use crate::ir::{FuncId, Function, InstData, Module, Op, Ty, Value};

/// What a result depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependence<F> {
    /// What it brings along whatever the parameters are.
    pub origin: F,
    pub parameters: BitSet,
}

/// What callers must know of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary<F> {
    pub results: Vec<Dependence<F>>,
    /// Of each parameter, the shadows that something inside asks for.
    pub sinks: Vec<Shadows>,
}

/// One function's edges, calls included.
pub struct Graph {
    pub forward: Neighbours,
    pub backward: Neighbours,
    pub flow: Flow,
}

/// What one analysis says of the operations of a function.
pub trait Relation {
    type Fact: Fact + std::fmt::Debug;

    /// The fact that a result of an operation brings along; calls aside.
    fn origin(&self, module: &Module, f: &Function, data: &InstData, result: usize) -> Self::Fact;

    /// The fact that all results of a call bring along, besides those of the callee's summary.
    fn call(&self, _module: &Module, _callee: FuncId, _summary: &Summary<Self::Fact>) -> Self::Fact {
        Self::Fact::default()
    }

    /// Whether the results of a function count as depending on all of its parameters, whatever its body says.
    fn depends_on_all(&self, _f: &Function) -> bool {
        false
    }

    /// Whether dependence on such a parameter is followed.
    fn follows(&self, ty: Ty) -> bool;
}

/// Summaries and graphs of all functions, whose edges but those of calls are given.
pub fn summarise<R: Relation>(
    module: &Module,
    calls: &CallGraph,
    flows: Vec<Flow>,
    relation: &R,
) -> (Vec<Summary<R::Fact>>, Vec<Graph>) {
    let mut flows: Vec<Option<Flow>> = flows.into_iter().map(Some).collect();
    let empty = |f: &Function| Summary {
        results: vec![Dependence::default(); f.results.len()],
        sinks: vec![Shadows::NONE; f.params().len()],
    };
    let mut summaries: Vec<Summary<R::Fact>> = module.functions.iter().map(empty).collect();
    let mut graphs: Vec<Option<Graph>> = module.functions.iter().map(|_| None).collect();
    for component in &calls.components {
        loop {
            let mut changed = false;
            for &id in component {
                let f = module.function(id);
                // A flow moves into its graph, and out of it for another round.
                let flow = flows[id.index()].take().or_else(|| graphs[id.index()].take().map(|g| g.flow));
                let graph = Graph::new(f, flow.unwrap_or_default(), &summaries);
                let summary = summary(module, f, &graph, &summaries, relation);
                changed |= summary != summaries[id.index()];
                summaries[id.index()] = summary;
                graphs[id.index()] = Some(graph);
            }
            if !changed || !calls.is_circle(component) {
                break;
            }
        }
    }
    (summaries, graphs.into_iter().flatten().collect())
}

impl Graph {
    fn new<F>(f: &Function, flow: Flow, summaries: &[Summary<F>]) -> Graph {
        let mut edges = flow.edges.clone();
        for &inst in &flow.calls {
            let data = f.inst(inst);
            if let Op::Call(callee) = data.op {
                for (dependence, &r) in summaries[callee.index()].results.iter().zip(&data.results) {
                    edges.extend(dependence.parameters.iter().map(|p| (data.args[p], r)));
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

/// The facts that values bring into a function.
pub fn origins<R: Relation>(
    module: &Module,
    f: &Function,
    summaries: &[Summary<R::Fact>],
    relation: &R,
) -> Vec<R::Fact> {
    let mut facts = vec![R::Fact::default(); f.types.len()];
    f.walk(|_, data| match data.op {
        Op::Call(callee) => {
            let summary = &summaries[callee.index()];
            let own = relation.call(module, callee, summary);
            for (&r, dependence) in
                data.results.iter().zip(&summary.results).filter(|(r, _)| relation.follows(f.ty(**r)))
            {
                facts[r.index()] = dependence.origin.join(own);
            }
        }
        _ => {
            for (i, &r) in data.results.iter().enumerate().filter(|(_, r)| relation.follows(f.ty(**r))) {
                facts[r.index()] = relation.origin(module, f, data, i);
            }
        }
    });
    facts
}

fn summary<R: Relation>(
    module: &Module,
    f: &Function,
    graph: &Graph,
    summaries: &[Summary<R::Fact>],
    relation: &R,
) -> Summary<R::Fact> {
    let mut facts = origins(module, f, summaries, relation);
    graph.forward.spread(&mut facts);
    let results = &f.region(f.body).results;
    let own = results.iter().map(|r| Dependence { origin: facts[r.index()], parameters: BitSet::default() });
    let mut summary = Summary { results: own.collect(), sinks: vec![Shadows::NONE; f.params().len()] };
    let asked = asked(f, graph, summaries);
    let followed: Vec<usize> = (0..f.params().len()).filter(|&p| relation.follows(f.ty(f.params()[p]))).collect();
    if relation.depends_on_all(f) {
        let all: BitSet = followed.iter().copied().collect();
        let counts = summary.results.iter_mut().zip(&f.results).filter(|(_, ty)| relation.follows(**ty));
        counts.for_each(|(dependence, _)| dependence.parameters = all.clone());
    }
    // As many parameters at once as a word has bits.
    for some in followed.chunks(64) {
        let mut reached = vec![0u64; f.types.len()];
        some.iter().enumerate().for_each(|(bit, &p)| reached[f.params()[p].index()] |= 1 << bit);
        graph.forward.spread(&mut reached);
        let members = |word: u64| some.iter().enumerate().filter(move |(bit, _)| word >> bit & 1 != 0).map(|(_, &p)| p);
        for (dependence, r) in summary.results.iter_mut().zip(results) {
            members(reached[r.index()]).for_each(|p| {
                dependence.parameters.insert(p);
            });
        }
        let mut words = [0u64; MAX_AXES];
        for &(v, axes) in &asked {
            axes.iter().for_each(|axis| words[axis] |= reached[v.index()]);
        }
        for (axis, word) in words.into_iter().enumerate() {
            let axis: Shadows = [axis].into_iter().collect();
            members(word).for_each(|p| summary.sinks[p] = summary.sinks[p].or(axis));
        }
    }
    summary
}

/// The values of which sinks ask for a shadow directly: operands, and arguments of calls with sinks inside.
pub fn asked<F>(f: &Function, graph: &Graph, summaries: &[Summary<F>]) -> Vec<(Value, Shadows)> {
    let mut asked: Vec<(Value, Shadows)> = graph.flow.sinks.iter().map(|s| (s.value, s.axes)).collect();
    asked_inside(f, graph, summaries, |v, axes| asked.push((v, axes)));
    asked
}

/// The arguments of calls, and of derivatives of functions, of which sinks inside ask for shadows.
pub fn asked_inside<F>(f: &Function, graph: &Graph, summaries: &[Summary<F>], mut ask: impl FnMut(Value, Shadows)) {
    for data in graph.flow.calls.iter().chain(&graph.flow.derivatives).map(|&inst| f.inst(inst)) {
        let Some(callee) = data.op.callee() else { continue };
        let sinks = &summaries[callee.index()].sinks;
        data.args.iter().zip(sinks).filter(|(_, axes)| axes.any()).for_each(|(&arg, &axes)| ask(arg, axes));
        if let Op::Jvp { .. } = data.op {
            // The tangent of a shadow is the shadow of the tangent.
            let differentiable = sinks.iter().zip(&data.args).filter(|(_, arg)| f.ty(**arg).is_differentiable());
            let tangents = differentiable.zip(&data.args[sinks.len()..]);
            tangents.filter(|((axes, _), _)| axes.any()).for_each(|((&axes, _), &tangent)| ask(tangent, axes));
        }
    }
}
