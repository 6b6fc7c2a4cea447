//! The values of all functions of a module as one graph. All calls of a function count alike, so a way through it may
//! enter by one call and leave by another; `relational` is exact there, and costs more.

use super::flow::Flow;
use super::graph::Neighbours;
use crate::ir::{FuncId, InstData, Module, Op, Value};

pub struct Net {
    /// Where a function's values begin.
    bases: Vec<u32>,
    nodes: u32,
    edges: Vec<(Value, Value)>,
}

impl Net {
    /// The edges of all functions and those through calls.
    pub fn of(module: &Module, flows: &[Flow]) -> Net {
        let mut net = Net { bases: Vec::new(), nodes: 0, edges: Vec::new() };
        for f in &module.functions {
            net.bases.push(net.nodes);
            net.nodes += f.types.len() as u32;
        }
        for (id, (f, flow)) in module.functions.iter().zip(flows).enumerate() {
            let own = flow.edges.iter().map(|&(a, b)| (Value(net.bases[id] + a.0), Value(net.bases[id] + b.0)));
            net.edges.extend(own);
            for data in flow.calls.iter().map(|&inst| f.inst(inst)) {
                net.through(module, id, data);
            }
        }
        net
    }

    fn through(&mut self, module: &Module, id: usize, data: &InstData) {
        let Op::Call(FuncId(callee)) = data.op else { return };
        let callee = callee as usize;
        let g = &module.functions[callee];
        for (&p, &a) in g.params().iter().zip(&data.args) {
            self.edge(self.at(id, a), self.at(callee, p));
        }
        for (&r, &b) in g.region(g.body).results.iter().zip(&data.results) {
            self.edge(self.at(callee, r), self.at(id, b));
        }
    }

    /// The node of a function's value.
    pub fn at(&self, function: usize, v: Value) -> Value {
        Value(self.bases[function] + v.0)
    }

    /// A node that is no value.
    pub fn node(&mut self) -> Value {
        self.nodes += 1;
        Value(self.nodes - 1)
    }

    pub fn edge(&mut self, from: Value, to: Value) {
        self.edges.push((from, to));
    }

    pub fn nodes(&self) -> usize {
        self.nodes as usize
    }

    pub fn forward(&self) -> Neighbours {
        Neighbours::new(self.nodes(), self.edges.iter().copied())
    }

    pub fn backward(&self) -> Neighbours {
        Neighbours::new(self.nodes(), self.edges.iter().map(|&(a, b)| (b, a)))
    }
}
