//! Which values of a function carry shadows (derivatives), for one signature under which it is called.
//!
//! Lineage runs forwards from seeded globals and shadowed parameters. Demand (the AD literature's *useful*) runs
//! backwards from sinks and demanded results. A shadow exists only where both hold. Both are per value and axis,
//! so flow-sensitive, and exact per component, struct member and constant-indexed element, since lowering took those
//! apart.
//!
//! It over-estimates if only one branch reaches a sink: `ddx` under an `if` demands its operand's shadow wherever the
//! operand is computed.

use super::axes::{Axes, Shadows};
use super::derivatives::Derivatives;
use super::lineage::{Graph, Lineage, Origin};
use super::relational;
use crate::ir::{FuncId, Function, InstData, Module, Op, Value};

/// What crosses a call besides the values: for each parameter and result, its shadows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    pub params: Vec<Carried>,
    pub results: Vec<Shadows>,
    /// Whether what it puts on the tape goes there with tangents, and comes off with them.
    pub tape: bool,
}

/// A parameter's shadows, and whether it traces back to an unresolved derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Carried {
    pub shadows: Shadows,
    pub derived: bool,
}

impl Signature {
    /// That of a function of which nothing but values crosses.
    pub fn plain(f: &Function) -> Signature {
        Signature {
            params: vec![Carried::default(); f.params().len()],
            results: vec![Shadows::NONE; f.results.len()],
            tape: false,
        }
    }

    /// A signature that serves both.
    pub fn join(&self, other: &Signature) -> Signature {
        let carried =
            |a: &Carried, b: &Carried| Carried { shadows: a.shadows.or(b.shadows), derived: a.derived || b.derived };
        Signature {
            params: self.params.iter().zip(&other.params).map(|(a, b)| carried(a, b)).collect(),
            results: self.results.iter().zip(&other.results).map(|(a, b)| a.or(*b)).collect(),
            tape: self.tape || other.tape,
        }
    }

    /// Whether nothing but values crosses.
    pub fn is_plain(&self) -> bool {
        self.params.iter().all(|p| !p.shadows.any()) && self.results.iter().all(|r| !r.any()) && !self.tape
    }
}

/// The facts of one function under one signature, by value.
pub struct Activity {
    origins: Vec<Origin>,
    demanded: Vec<Shadows>,
    /// Every value is demanded, not only these.
    forced: bool,
    /// What sinks and calls read, where all is forced.
    read: Vec<Shadows>,
    axes: Axes,
}

impl Activity {
    pub fn of(module: &Module, lineage: &Lineage, id: FuncId, signature: &Signature) -> Activity {
        let f = module.function(id);
        let axes = lineage.axes;
        if axes == Axes::Tangent && signature.is_plain() {
            let nothing = vec![Shadows::NONE; f.types.len()];
            let origins = vec![Origin::default(); f.types.len()];
            return Activity { origins, demanded: nothing, forced: false, read: Vec::new(), axes };
        }
        let graph = &lineage.graphs[id.index()];
        let mut origins = lineage.origins(module, f);
        for (&param, carried) in f.params().iter().zip(&signature.params) {
            let origin = &mut origins[param.index()];
            origin.seeded = origin.seeded.or(carried.shadows);
            origin.derived |= carried.derived;
        }
        graph.forward.spread(&mut origins);
        let demanded = asked(f, graph, lineage, signature, &origins);
        let forced = lineage.derivatives == Derivatives::Forced && axes == Axes::Screen;
        let read = if forced { read(f, graph, axes, signature, &origins) } else { Vec::new() };
        Activity { origins, demanded, forced, read, axes }
    }

    /// The letters of the axes along which a value carries a shadow.
    pub fn marks(&self, v: Value) -> String {
        self.shadows(v).iter().map(|axis| self.axes.letters()[axis]).collect()
    }

    pub fn axes(&self) -> Axes {
        self.axes
    }

    pub fn is_varied(&self, v: Value) -> bool {
        self.origins[v.index()].seeded.any()
    }

    pub fn is_derived(&self, v: Value) -> bool {
        self.origins[v.index()].derived
    }

    /// What something asks for.
    pub fn demand(&self, v: Value) -> Shadows {
        self.demanded[v.index()]
    }

    /// The shadows that exist.
    pub fn shadows(&self, v: Value) -> Shadows {
        let varied = self.origins[v.index()].seeded;
        if self.forced { varied } else { varied.and(self.demanded[v.index()]) }
    }

    /// The shadows of a value that exist because all were forced to, and that nothing would read.
    pub fn idle(&self, graph: &Graph, v: Value) -> Shadows {
        if !self.forced {
            return Shadows::NONE;
        }
        let directly = self.read[v.index()];
        let read = graph.forward.of(v).iter().fold(directly, |all, &next| all.or(self.shadows(next)));
        self.shadows(v).without(read)
    }

    /// Whether a sink must wait: for the derivatives that its operands are made of, or for a round along its axes.
    pub fn postponed(&self, data: &InstData) -> bool {
        self.axes != Axes::Screen || postponed(data, &self.origins)
    }
}

/// The operands of sinks, the arguments of calls, which take all shadows along, and the results that callers take.
fn read(f: &Function, graph: &Graph, axes: Axes, signature: &Signature, origins: &[Origin]) -> Vec<Shadows> {
    let mut read = vec![Shadows::NONE; f.types.len()];
    for sink in graph.flow.sinks.iter().filter(|s| !postponed(f.inst(s.inst), origins)) {
        read[sink.value.index()] = read[sink.value.index()].or(sink.axes);
    }
    for v in graph.flow.calls.iter().flat_map(|&inst| &f.inst(inst).args) {
        read[v.index()] = axes.all();
    }
    for (&result, &shadows) in f.region(f.body).results.iter().zip(&signature.results) {
        read[result.index()] = read[result.index()].or(shadows);
    }
    read
}

/// What sinks, calls with sinks inside and wanted results ask for.
fn asked(f: &Function, graph: &Graph, lineage: &Lineage, signature: &Signature, origins: &[Origin]) -> Vec<Shadows> {
    let mut demanded = vec![Shadows::NONE; f.types.len()];
    let mut ask = |v: Value, shadows: Shadows| demanded[v.index()] = demanded[v.index()].or(shadows);
    for sink in graph.flow.sinks.iter().filter(|s| !postponed(f.inst(s.inst), origins)) {
        ask(sink.value, sink.axes);
    }
    relational::asked_inside(f, graph, &lineage.summaries, &mut ask);
    for (&result, &shadows) in f.region(f.body).results.iter().zip(&signature.results) {
        ask(result, shadows);
    }
    graph.backward.spread(&mut demanded);
    demanded
}

fn postponed(data: &InstData, origins: &[Origin]) -> bool {
    let operands = match data.op {
        Op::Derivative(_) => &data.args[..],
        Op::Sample { .. } => &data.args[1..],
        _ => &[],
    };
    operands.iter().any(|v| origins[v.index()].derived)
}
