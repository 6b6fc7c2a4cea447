//! All variants of all functions as one graph of values, and shortest ways through it.

use super::query::Subject;
use super::words::{Words, sink_name};
use super::{Chain, Step, defined};
use crate::analysis::activity::Activity;
use crate::analysis::axes::Shadows;
use crate::analysis::lineage::{Lineage, partials};
use crate::ir::{FuncId, Function, Inst, Module, Op, Value};
use crate::passes::ad;
use crate::passes::ad::round::Round;
use crate::passes::ad::variants::Variants;
use crate::source::Span;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// A value in one of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Occurrence {
    variant: usize,
    value: Value,
}

/// Where a way has got to. One that has entered a call ends inside: it would have to leave to the same caller, and
/// what lies there is reached directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    at: Occurrence,
    inside: bool,
}

struct Variant {
    function: FuncId,
    activity: Activity,
    /// Calls in it, and the variants that serve them.
    calls: Vec<(Inst, usize)>,
    /// Calls of it.
    callers: Vec<(usize, Inst)>,
}

pub(super) struct Net<'m> {
    module: &'m Module,
    lineage: &'m Lineage,
    variants: Vec<Variant>,
    words: Vec<Words>,
    defined: Vec<Vec<bool>>,
}

impl<'m> Net<'m> {
    pub fn new(round: &'m Round<'m>, found: &Variants) -> Net<'m> {
        let Round { module, lineage, .. } = round;
        let list: Vec<ad::Variant> = found
            .list(module)
            .into_iter()
            .map(|(function, signature)| {
                let activity = Activity::of(module, lineage, function, &signature);
                ad::Variant { function, signature, activity }
            })
            .collect();
        let index: HashMap<_, usize> = list.iter().enumerate().map(|(i, v)| ((v.function, &v.signature), i)).collect();
        let (mut calls, mut callers) = (vec![Vec::new(); list.len()], vec![Vec::new(); list.len()]);
        for (i, variant) in list.iter().enumerate() {
            let flow = &lineage.graphs[variant.function.index()].flow;
            let insts = flow.calls.iter().chain(&flow.derivatives).copied();
            for (inst, (callee, asked)) in insts.zip(round.served(variant)) {
                if let Some(&j) = index.get(&(callee, found.serving(callee, &asked))) {
                    calls[i].push((inst, j));
                    callers[j].push((i, inst));
                }
            }
        }
        let variants = list.into_iter().zip(calls.into_iter().zip(callers));
        let variants = variants.map(|(v, (calls, callers))| {
            let ad::Variant { function, activity, .. } = v;
            Variant { function, activity, calls, callers }
        });
        Net {
            module,
            lineage,
            variants: variants.collect(),
            words: module.functions.iter().map(|f| Words::of(module, f)).collect(),
            defined: module.functions.iter().map(defined).collect(),
        }
    }

    pub fn axes(&self) -> Shadows {
        self.lineage.axes.all()
    }

    /// Where the values of a subject stand; those that passes removed are left out.
    pub fn occurrences(&self, subject: &Subject) -> Vec<Occurrence> {
        let mut found = Vec::new();
        for (variant, v) in self.variants.iter().enumerate() {
            let values = subject.values(self.module.function(v.function));
            let alive = values.into_iter().filter(|value| self.defined[v.function.index()][value.index()]);
            found.extend(alive.map(|value| Occurrence { variant, value }));
        }
        found
    }

    pub fn shadows(&self, o: Occurrence) -> Shadows {
        self.variants[o.variant].activity.shadows(o.value)
    }

    pub fn is_derived(&self, o: Occurrence) -> bool {
        self.variants[o.variant].activity.is_derived(o.value)
    }

    fn function(&self, o: Occurrence) -> &'m Function {
        self.module.function(self.variants[o.variant].function)
    }

    /// The places that ask for a value's shadow along an axis, nearest first, with the ways down from each.
    pub fn demand(&self, from: Occurrence, axis: usize) -> Vec<(Span, Chain)> {
        let mut found: Vec<(Span, Chain)> = Vec::new();
        self.search(from, |net, node, way| {
            let graph = &net.lineage.graphs[net.variants[node.at.variant].function.index()];
            let f = net.function(node.at);
            let sinks = graph.flow.sinks.iter();
            for sink in sinks.filter(|s| s.value == node.at.value && s.axes.get(axis)) {
                let data = f.inst(sink.inst);
                if found.iter().all(|(span, _)| *span != data.span) {
                    let mut chain = vec![Step { span: data.span, operation: sink_name(data.op) }];
                    // Without the value itself.
                    let path = way();
                    chain.extend(path[1..].iter().rev().filter_map(|n| net.step(n.at)));
                    chain.dedup();
                    found.push((data.span, chain));
                }
            }
            net.forward(node, axis)
        });
        found
    }

    /// The ways from a value up to the globals that it traces back to, nearest first.
    pub fn lineage(&self, from: Occurrence) -> Vec<Chain> {
        let mut found: Vec<(u32, Chain)> = Vec::new();
        self.search(from, |net, node, way| {
            if let Some(field) = net.seed(node.at)
                && found.iter().all(|(f, _)| *f != field)
            {
                let mut chain: Chain = way().iter().filter_map(|n| net.step(n.at)).collect();
                chain.dedup();
                found.push((field, chain));
            }
            net.backward(node)
        });
        found.into_iter().map(|(_, chain)| chain).collect()
    }

    /// Breadth first; `visit` is given each node, and the way to it where it asks, and gives what comes next.
    fn search(&self, from: Occurrence, mut visit: impl FnMut(&Self, Node, &dyn Fn() -> Vec<Node>) -> Vec<Node>) {
        let start = Node { at: from, inside: false };
        let mut previous: HashMap<Node, Option<Node>> = HashMap::from([(start, None)]);
        let mut work = VecDeque::from([start]);
        while let Some(node) = work.pop_front() {
            let way = || {
                let mut path = vec![node];
                while let Some(Some(before)) = path.last().and_then(|n| previous.get(n)) {
                    path.push(*before);
                }
                path.reverse();
                path
            };
            for next in visit(self, node, &way) {
                if let Entry::Vacant(unseen) = previous.entry(next) {
                    unseen.insert(Some(node));
                    work.push_back(next);
                }
            }
        }
    }

    /// To where a value's derivative goes.
    fn forward(&self, node: Node, axis: usize) -> Vec<Node> {
        let Occurrence { variant, value } = node.at;
        let v = &self.variants[variant];
        let f = self.module.function(v.function);
        let graph = &self.lineage.graphs[v.function.index()];
        let mut next: Vec<Node> = graph.forward.of(value).iter().map(|&w| here(node, w)).collect();
        for &(inst, callee) in &v.calls {
            let data = f.inst(inst);
            let id = self.variants[callee].function;
            let sinks = &self.lineage.summaries[id.index()].sinks;
            let params = self.module.function(id).params();
            for p in (0..sinks.len()).filter(|&p| data.args[p] == value && sinks[p].get(axis)) {
                next.push(Node { at: Occurrence { variant: callee, value: params[p] }, inside: true });
            }
        }
        if !node.inside {
            for (r, _) in f.region(f.body).results.iter().enumerate().filter(|(_, r)| **r == value) {
                for &(caller, inst) in &v.callers {
                    let data = self.module.function(self.variants[caller].function).inst(inst);
                    if !matches!(data.op, Op::Call(_)) {
                        continue;
                    }
                    let value = data.results[r];
                    next.push(Node { at: Occurrence { variant: caller, value }, inside: false });
                }
            }
        }
        next
    }

    /// From where a value's derivative comes.
    fn backward(&self, node: Node) -> Vec<Node> {
        let Occurrence { variant, value } = node.at;
        let v = &self.variants[variant];
        let f = self.module.function(v.function);
        let graph = &self.lineage.graphs[v.function.index()];
        let mut next: Vec<Node> = graph.backward.of(value).iter().map(|&w| here(node, w)).collect();
        for &(inst, callee) in &v.calls {
            let data = f.inst(inst);
            let Some(r) = data.results.iter().position(|&r| r == value) else { continue };
            // What a derivative of a function gives waits for a later round.
            if !matches!(data.op, Op::Call(_)) {
                continue;
            }
            let id = self.variants[callee].function;
            if self.lineage.summaries[id.index()].results[r].origin.seeded.any() {
                let g = self.module.function(id);
                let value = g.region(g.body).results[r];
                next.push(Node { at: Occurrence { variant: callee, value }, inside: true });
            }
        }
        if let Some(p) = f.params().iter().position(|&p| p == value).filter(|_| !node.inside) {
            for &(caller, inst) in &v.callers {
                let value = self.module.function(self.variants[caller].function).inst(inst).args[p];
                next.push(Node { at: Occurrence { variant: caller, value }, inside: false });
            }
        }
        next
    }

    /// The global that a value is, if it brings a lineage.
    fn seed(&self, o: Occurrence) -> Option<u32> {
        let function = self.variants[o.variant].function;
        let inst = self.words[function.index()].definition(o.value)?;
        match self.module.function(function).inst(inst).op {
            Op::Global { field, component, order } => {
                let global = &self.module.globals[field as usize];
                let given = partials(order).iter().any(|&o| global.row(component as usize, o).is_some());
                self.lineage.derivatives.seeds(given).then_some(field)
            }
            _ => None,
        }
    }

    /// What makes a value.
    fn step(&self, o: Occurrence) -> Option<Step> {
        self.words[self.variants[o.variant].function.index()].step(o.value)
    }
}

fn here(node: Node, value: Value) -> Node {
    Node { at: Occurrence { value, ..node.at }, ..node }
}
