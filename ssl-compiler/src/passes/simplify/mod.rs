//! Folds constants, merges equal computations, removes branches with a known condition and trivial ones.
//!
//! Each idea has a file: equal computations (`common`), reads of known elements (`array_reads`), branches (`branches`),
//! values that no round of a loop changes (`carried`), pops without pushes (`orphans`), and identities of arithmetic
//! (`identities`). They share one walk
//! because each makes work for the others.
//!
//! One walk in program order. An alias table maps each value to what it turned out to be, and the walk reads every
//! operand through it. It finds equal pure operations in a table that is scoped like the regions.

mod array_reads;
mod branches;
mod carried;
mod common;
mod identities;
mod orphans;

use super::remarks::Remarks;
use crate::analysis::pure_functions::{self, Pure};
use crate::ir::fold::Folded;
use crate::ir::*;
use std::collections::HashMap;

/// Without identities: for code that is yet to be differentiated.
pub fn run(module: &mut Module) {
    simplify(module, false, &mut Remarks::unheard());
}

/// With identities.
pub fn with_identities(module: &mut Module, remarks: &mut Remarks) {
    simplify(module, true, remarks);
}

/// One function, after code in it moved to where equal computations see each other.
pub fn merge(f: &mut Function, pure: &[Option<Pure>]) {
    Simplifier::new(f, pure, false, &mut Remarks::unheard()).run();
}

/// One function, with identities.
pub fn one(f: &mut Function, pure: &[Option<Pure>], remarks: &mut Remarks) {
    Simplifier::new(f, pure, true, remarks).run();
}

fn simplify(module: &mut Module, with_identities: bool, remarks: &mut Remarks) {
    let pure = pure_functions::of(module);
    for f in &mut module.functions {
        Simplifier::new(f, &pure, with_identities, remarks).run();
    }
    orphans::remove(module);
}

struct Simplifier<'a> {
    f: &'a mut Function,
    /// Functions of which equal calls are one.
    pure: &'a [Option<Pure>],
    with_identities: bool,
    remarks: &'a mut Remarks,
    alias: Vec<Value>,
    known: Vec<Option<Const>>,
    /// By condition: what was selected by it, and between what.
    chosen: HashMap<Value, Vec<(Value, [Value; 2])>>,
    /// The instruction that defines each value.
    definitions: Vec<Option<Inst>>,
    /// Pure operations that are visible here.
    table: HashMap<(Op, Values), Value>,
    /// What each open region added to the table.
    added: Vec<Vec<(Op, Values)>>,
    span: crate::source::Span,
}

impl<'a> Simplifier<'a> {
    fn new(
        f: &'a mut Function,
        pure: &'a [Option<Pure>],
        with_identities: bool,
        remarks: &'a mut Remarks,
    ) -> Simplifier<'a> {
        let n = f.types.len();
        let mut definitions = vec![None; n];
        f.walk(|inst, data| data.results.iter().for_each(|r| definitions[r.index()] = Some(inst)));
        Simplifier {
            alias: (0..n as u32).map(Value).collect(),
            known: f.constants(),
            chosen: HashMap::new(),
            definitions,
            table: HashMap::new(),
            added: Vec::new(),
            span: crate::source::Span::default(),
            f,
            pure,
            with_identities,
            remarks,
        }
    }

    fn run(mut self) {
        self.region(self.f.body);
        let mut bindings = std::mem::take(&mut self.f.bindings);
        bindings.iter_mut().for_each(|b| b.value = self.resolve(b.value));
        self.f.bindings = bindings;
    }

    fn resolve(&self, v: Value) -> Value {
        let mut v = v;
        while self.alias[v.index()] != v {
            v = self.alias[v.index()];
        }
        v
    }

    fn region(&mut self, region: Region) {
        self.added.push(Vec::new());
        let insts = std::mem::take(&mut self.f.regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.inst(inst, &mut out);
        }
        let data = &mut self.f.regions[region.index()];
        data.insts = out;
        let results = std::mem::take(&mut data.results);
        self.f.regions[region.index()].results = results.into_iter().map(|v| self.resolve(v)).collect();
        for key in self.added.pop().unwrap_or_default() {
            self.table.remove(&key);
        }
    }

    fn inst(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let args = std::mem::take(&mut self.f.insts[inst.index()].args);
        self.f.insts[inst.index()].args = args.into_iter().map(|v| self.resolve(v)).collect();
        self.span = self.f.inst(inst).span;
        match self.f.inst(inst).op {
            Op::If => self.if_inst(inst, out),
            Op::Loop(_) => self.loop_inst(inst, out),
            op @ Op::External(_) => self.pure_call(inst, op, out),
            op @ Op::Call(_) if pure_functions::called(self.pure, op).is_some() => self.pure_call(inst, op, out),
            op if op.is_pure() => self.pure(inst, op, out),
            _ => out.push(inst),
        }
    }

    /// A host's own partials are taken as they are, also where inlining brought one to its sink.
    fn finite_already(&self, op: Op, args: &Values) -> Option<Folded> {
        let definition = if op == Op::Finite { self.definitions[args[0].index()] } else { None };
        matches!(self.f.inst(definition?).op, Op::Global { .. } | Op::Finite).then_some(Folded::Value(args[0]))
    }

    fn loop_inst(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        self.drop_invariants(inst);
        for region in self.f.inst(inst).regions.clone() {
            self.region(region);
        }
        out.push(inst);
    }
}
