//! Which values of a function carry shadows (derivatives), for one signature under which it is called.
//!
//! Lineage runs forwards from seeded globals and shadowed parameters. Demand (the AD literature's *useful*) runs
//! backwards from sinks and demanded results. A shadow exists only where both hold. Both are per value and direction,
//! so flow-sensitive, and exact per component, struct member and constant-indexed element, since lowering took those
//! apart.
//!
//! It over-estimates if only one branch reaches a sink: `ddx` under an `if` demands its operand's shadow wherever the
//! operand is computed.

use super::derivatives::Derivatives;
use super::lineage::{Graph, Lineage, origins};
use crate::ir::{FuncId, Function, Module, Op, Value};

/// What crosses a call besides the values: for each parameter and result, its shadows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    pub params: Vec<Carried>,
    pub results: Vec<Shadows>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shadows {
    pub x: bool,
    pub y: bool,
}

/// A parameter's shadows, and whether it traces back to an unresolved derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Carried {
    pub shadows: Shadows,
    pub derived: bool,
}

impl Shadows {
    pub fn any(self) -> bool {
        self.x || self.y
    }

    pub fn get(self, direction: usize) -> bool {
        [self.x, self.y][direction]
    }

    pub fn or(self, other: Shadows) -> Shadows {
        Shadows { x: self.x || other.x, y: self.y || other.y }
    }
}

impl Signature {
    /// A signature that serves both.
    pub fn join(&self, other: &Signature) -> Signature {
        let carried =
            |a: &Carried, b: &Carried| Carried { shadows: a.shadows.or(b.shadows), derived: a.derived || b.derived };
        Signature {
            params: self.params.iter().zip(&other.params).map(|(a, b)| carried(a, b)).collect(),
            results: self.results.iter().zip(&other.results).map(|(a, b)| a.or(*b)).collect(),
        }
    }

    /// Whether nothing but values crosses.
    pub fn is_plain(&self) -> bool {
        self.params.iter().all(|p| !p.shadows.any()) && self.results.iter().all(|r| !r.any())
    }
}

/// The facts of one function under one signature, by value.
pub struct Activity {
    varied: [Vec<bool>; 2],
    demanded: [Vec<bool>; 2],
    /// Every value is demanded, not only these.
    forced: bool,
    /// What sinks and calls read, where all is forced.
    read: [Vec<bool>; 2],
    derived: Vec<bool>,
}

impl Activity {
    pub fn of(module: &Module, lineage: &Lineage, id: FuncId, signature: &Signature) -> Activity {
        let f = module.function(id);
        let graph = &lineage.graphs[id.index()];
        let (mut x, mut derived) = origins(module, f, &lineage.summaries, lineage.derivatives);
        let mut y = x.clone();
        for (&param, carried) in f.params().iter().zip(&signature.params) {
            x[param.index()] |= carried.shadows.x;
            y[param.index()] |= carried.shadows.y;
            derived[param.index()] |= carried.derived;
        }
        for marks in [&mut x, &mut y, &mut derived] {
            graph.forward.spread(marks);
        }
        let demanded = asked(f, graph, lineage, signature, &derived);
        let forced = lineage.derivatives == Derivatives::Forced;
        let read = if forced { read(f, graph, signature, &derived) } else { Default::default() };
        Activity { varied: [x, y], demanded, forced, read, derived }
    }

    pub fn is_varied(&self, v: Value) -> bool {
        self.varied[0][v.index()] || self.varied[1][v.index()]
    }

    pub fn is_derived(&self, v: Value) -> bool {
        self.derived[v.index()]
    }

    /// What something asks for.
    pub fn demand(&self, v: Value) -> Shadows {
        Shadows { x: self.demanded[0][v.index()], y: self.demanded[1][v.index()] }
    }

    /// The shadows that exist.
    pub fn shadows(&self, v: Value) -> Shadows {
        let i = v.index();
        let exists = |d: usize| self.varied[d][i] && (self.forced || self.demanded[d][i]);
        Shadows { x: exists(0), y: exists(1) }
    }

    /// The shadows of a value that exist because all were forced to, and that nothing would read.
    pub fn idle(&self, graph: &Graph, v: Value) -> Shadows {
        if !self.forced {
            return Shadows::default();
        }
        let directly = Shadows { x: self.read[0][v.index()], y: self.read[1][v.index()] };
        let read = graph.forward.of(v).iter().fold(directly, |all, &next| all.or(self.shadows(next)));
        let has = self.shadows(v);
        Shadows { x: has.x && !read.x, y: has.y && !read.y }
    }

    /// Whether a sink must wait for the derivatives that its operands are made of.
    pub fn postponed(&self, data: &crate::ir::InstData) -> bool {
        postponed(data, &self.derived)
    }
}

/// The operands of sinks, the arguments of calls, which take all shadows along, and the results that callers take.
fn read(f: &Function, graph: &Graph, signature: &Signature, derived: &[bool]) -> [Vec<bool>; 2] {
    let mut read = [vec![false; f.types.len()], vec![false; f.types.len()]];
    for sink in graph.flow.sinks.iter().filter(|s| !postponed(f.inst(s.inst), derived)) {
        read[0][sink.value.index()] |= sink.x;
        read[1][sink.value.index()] |= sink.y;
    }
    for v in graph.flow.calls.iter().flat_map(|&inst| &f.inst(inst).args) {
        read.iter_mut().for_each(|marks| marks[v.index()] = true);
    }
    for (&result, &shadows) in f.region(f.body).results.iter().zip(&signature.results) {
        read[0][result.index()] |= shadows.x;
        read[1][result.index()] |= shadows.y;
    }
    read
}

/// What sinks, calls with sinks inside and wanted results ask for.
fn asked(f: &Function, graph: &Graph, lineage: &Lineage, signature: &Signature, derived: &[bool]) -> [Vec<bool>; 2] {
    let mut demanded = [vec![false; f.types.len()], vec![false; f.types.len()]];
    let mut ask = |v: Value, shadows: Shadows| {
        demanded[0][v.index()] |= shadows.x;
        demanded[1][v.index()] |= shadows.y;
    };
    for sink in graph.flow.sinks.iter().filter(|s| !postponed(f.inst(s.inst), derived)) {
        ask(sink.value, Shadows { x: sink.x, y: sink.y });
    }
    for &inst in &graph.flow.calls {
        let data = f.inst(inst);
        if let Op::Call(callee) = data.op {
            let sinks = &lineage.summaries[callee.index()].sinks;
            for (p, &arg) in data.args.iter().enumerate() {
                ask(arg, Shadows { x: sinks[0].contains(p), y: sinks[1].contains(p) });
            }
        }
    }
    for (&result, &shadows) in f.region(f.body).results.iter().zip(&signature.results) {
        ask(result, shadows);
    }
    for marks in &mut demanded {
        graph.backward.spread(marks);
    }
    demanded
}

fn postponed(data: &crate::ir::InstData, derived: &[bool]) -> bool {
    let operands = match data.op {
        Op::Derivative(_) => &data.args[..],
        Op::Sample { .. } => &data.args[1..],
        _ => &[],
    };
    operands.iter().any(|v| derived[v.index()])
}
