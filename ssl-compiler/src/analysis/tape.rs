//! Which values on the tape take their shadows along.
//!
//! What one function pushes another may pop, so that all of a module must agree: each value of a site has one set of
//! axes wherever the site occurs. A value takes an axis if some push gives it something seeded along that, and what some
//! pop makes of it is asked for. The analysis does not tell the calls of a function apart.

use super::axes::{Axes, Shadows};
use super::derivatives::Derivatives;
use super::flow::{Flow, Sink};
use super::lineage::Origin;
use super::net::Net;
use crate::ir::{FuncId, Function, Inst, InstData, Module, Op, Site, Value};
use std::collections::HashMap;

#[derive(Default)]
pub struct Tape {
    /// By site, of each value.
    sites: HashMap<Site, Vec<Kept>>,
}

/// What is known of one value of a site.
#[derive(Clone, Copy, Default)]
struct Kept {
    carried: Shadows,
    /// Made of derivatives that are not resolved, so that its shadow waits as theirs does.
    derived: bool,
}

/// What begins and ends in functions themselves: of tangents, the parameters that `jvp`s give one, and the results of
/// which they take one.
#[derive(Default)]
pub struct Roots {
    pub params: Vec<(FuncId, usize)>,
    pub results: Vec<(FuncId, usize)>,
}

impl Tape {
    /// `starts` gives what the results of operations bring along without a tape.
    pub fn of(
        module: &Module,
        flows: &[Flow],
        axes: Axes,
        derivatives: Derivatives,
        roots: &Roots,
        starts: impl Fn(&Function, &InstData, usize) -> Origin,
    ) -> Tape {
        let mut net = Net::of(module, flows);
        let nodes = nodes(module, flows, &mut net);
        let mut facts = vec![Origin::default(); net.nodes()];
        let mut asked = vec![axes.all().when(derivatives == Derivatives::Forced); net.nodes()];
        for (id, f) in module.functions.iter().enumerate() {
            f.walk(|_, data| {
                for (i, &r) in data.results.iter().enumerate().filter(|(_, r)| f.ty(**r).is_differentiable()) {
                    facts[net.at(id, r).index()] = starts(f, data, i);
                }
            });
            for sink in &flows[id].sinks {
                let asked = &mut asked[net.at(id, sink.value).index()];
                *asked = asked.or(sink.axes);
            }
        }
        for &(id, p) in &roots.params {
            facts[net.at(id.index(), module.function(id).params()[p]).index()].seeded = axes.all();
        }
        for &(id, r) in &roots.results {
            let f = module.function(id);
            asked[net.at(id.index(), f.region(f.body).results[r]).index()] = axes.all();
        }
        net.forward().spread(&mut facts);
        net.backward().spread(&mut asked);
        let kept = |node: &Value| {
            let Origin { seeded, derived } = facts[node.index()];
            Kept { carried: seeded.and(asked[node.index()]).when(!derived), derived }
        };
        Tape { sites: nodes.iter().map(|(&site, nodes)| (site, nodes.iter().map(kept).collect())).collect() }
    }

    /// The axes along which a value of a site has a shadow on the tape.
    pub fn carried(&self, site: Site, value: usize) -> Shadows {
        self.kept(site, value).carried
    }

    fn kept(&self, site: Site, value: usize) -> Kept {
        self.sites.get(&site).and_then(|s| s.get(value)).copied().unwrap_or_default()
    }

    /// What a value brings along that comes off the tape.
    pub fn origin(&self, site: Site, value: usize) -> Origin {
        let Kept { carried, derived } = self.kept(site, value);
        Origin { seeded: carried, derived }
    }

    /// The shadows that go on the tape with values.
    pub fn sinks(&self, f: &Function, inst: Inst) -> Vec<Sink> {
        let data = f.inst(inst);
        let Op::Push(site) = data.op else { return Vec::new() };
        let values = data.args[1..].iter().enumerate();
        let sinks = values.map(|(i, &value)| Sink { value, inst, axes: self.carried(site, i) });
        sinks.filter(|s| s.axes.any()).collect()
    }
}

/// A node for each value of each site, between what goes in and what comes out; and the edges that `net` lacks.
fn nodes(module: &Module, flows: &[Flow], net: &mut Net) -> HashMap<Site, Vec<Value>> {
    let mut nodes: HashMap<Site, Vec<Value>> = HashMap::new();
    for (id, (f, flow)) in module.functions.iter().zip(flows).enumerate() {
        for data in flow.tape.iter().map(|&inst| f.inst(inst)) {
            let (Op::Push(site) | Op::Pop(site)) = data.op else { continue };
            let pushed = matches!(data.op, Op::Push(_));
            let values = if pushed { &data.args[1..] } else { &data.results[1..] };
            let nodes = nodes.entry(site).or_insert_with(|| values.iter().map(|_| net.node()).collect());
            for (&node, &v) in nodes.iter().zip(values).filter(|(_, v)| f.ty(**v).is_differentiable()) {
                let v = net.at(id, v);
                if pushed { net.edge(v, node) } else { net.edge(node, v) }
            }
        }
        for data in flow.calls.iter().chain(&flow.derivatives).map(|&inst| f.inst(inst)) {
            match data.op {
                // A custom derivative may depend on what the function itself does not.
                Op::Call(callee) if module.function(callee).custom.functions().next().is_some() => {
                    for &a in data.args.iter().filter(|a| f.ty(**a).is_differentiable()) {
                        data.results.iter().for_each(|&r| net.edge(net.at(id, a), net.at(id, r)));
                    }
                }
                Op::Jvp { function, .. } | Op::Vjp { function, .. } => {
                    // Sinks inside ask for the shadows of arguments and, see `relational`, of tangents.
                    let params = module.function(function).params();
                    let own = data.args.iter().zip(params).map(|(&a, &p)| (a, p));
                    let differentiable = params.iter().zip(&data.args).filter(|(_, a)| f.ty(**a).is_differentiable());
                    let tangents = differentiable.zip(&data.args[params.len()..]).map(|((&p, _), &t)| (t, p));
                    let is_jvp = matches!(data.op, Op::Jvp { .. });
                    for (a, p) in own.chain(tangents.take(if is_jvp { usize::MAX } else { 0 })) {
                        net.edge(net.at(id, a), net.at(function.index(), p));
                    }
                }
                _ => {}
            }
        }
    }
    nodes
}
