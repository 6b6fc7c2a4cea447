//! Folds constants, merges equal computations, removes branches with a known condition and trivial ones.
//!
//! One walk in program order. An alias table maps each value to what it turned out to be, and the walk reads every
//! operand through it. It finds equal pure operations in a table that is scoped like the regions.

use crate::ir::fold::{Folded, fold};
use crate::ir::*;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Updates of an array that a read looks back past for its element.
const MAX_LOOK_BACK: usize = 64;

/// Operations that both branches of an `if` may have together to run unconditionally instead.
const MAX_FLATTENED: usize = 8;

pub fn run(module: &mut Module) {
    for f in &mut module.functions {
        Simplifier::new(f).run();
    }
}

struct Simplifier<'a> {
    f: &'a mut Function,
    alias: Vec<Value>,
    known: Vec<Option<Const>>,
    /// The instruction that defines each value.
    definitions: Vec<Option<Inst>>,
    /// Pure operations that are visible here.
    table: HashMap<(Op, Values), Value>,
    /// What each open region added to the table.
    added: Vec<Vec<(Op, Values)>>,
    span: crate::source::Span,
}

impl<'a> Simplifier<'a> {
    fn new(f: &'a mut Function) -> Simplifier<'a> {
        let n = f.types.len();
        let mut definitions = vec![None; n];
        f.walk(|inst, data| data.results.iter().for_each(|r| definitions[r.index()] = Some(inst)));
        Simplifier {
            alias: (0..n as u32).map(Value).collect(),
            known: f.constants(),
            definitions,
            table: HashMap::new(),
            added: Vec::new(),
            span: crate::source::Span::default(),
            f,
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
            Op::Loop => self.loop_inst(inst, out),
            op @ Op::External(_) => self.external(inst, op, out),
            op if op.is_pure() => self.pure(inst, op, out),
            _ => out.push(inst),
        }
    }

    fn pure(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
        let (args, result) = (self.f.inst(inst).args.clone(), self.f.inst(inst).results[0]);
        let folded = fold(op, &args, self.f.precision, |v| self.known[v.index()])
            .or_else(|| self.array_read(op, &args))
            .or_else(|| self.finite_already(op, &args));
        match folded {
            Some(Folded::Value(v)) => self.alias[result.index()] = v,
            Some(Folded::Const(c)) => self.alias[result.index()] = self.constant(c, out),
            None => match self.table.get(&(op, args.clone())) {
                Some(&v) if self.f.ty(v) == self.f.ty(result) => self.alias[result.index()] = v,
                // Only `f.types` tells two fills of different lengths apart; the first one stays.
                Some(_) => out.push(inst),
                None => {
                    self.table.insert((op, args.clone()), result);
                    self.note(op, args);
                    out.push(inst);
                }
            },
        }
    }

    /// The same function of the host's with the same arguments gives the same results.
    fn external(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
        let data = self.f.inst(inst);
        let (args, results) = (data.args.clone(), data.results.clone());
        match self.table.get(&(op, args.clone())).and_then(|v| self.definitions[v.index()]) {
            Some(earlier) => {
                let known = &self.f.inst(earlier).results;
                results.iter().zip(known).for_each(|(r, &k)| self.alias[r.index()] = k);
            }
            None => {
                self.table.insert((op, args.clone()), results[0]);
                self.note(op, args);
                out.push(inst);
            }
        }
    }

    fn note(&mut self, op: Op, args: Values) {
        if let Some(list) = self.added.last_mut() {
            list.push((op, args));
        }
    }

    fn constant(&mut self, c: Const, out: &mut Vec<Inst>) -> Value {
        let key = (Op::Const(c), Values::new());
        if let Some(&v) = self.table.get(&key) {
            return v;
        }
        let v = self.append(key.0, Values::new(), Ty::Scalar(c.scalar()), out);
        self.known[v.index()] = Some(c);
        self.table.insert(key.clone(), v);
        self.note(key.0, key.1);
        v
    }

    fn append(&mut self, op: Op, args: Values, ty: Ty, out: &mut Vec<Inst>) -> Value {
        let v = self.f.new_value(ty);
        let results = smallvec::smallvec![v];
        let inst = self.f.new_inst(InstData { op, args, results, regions: SmallVec::new(), span: self.span });
        self.alias.push(v);
        self.known.push(None);
        self.definitions.push(Some(inst));
        out.push(inst);
        v
    }

    /// A host's own partials are taken as they are, also where inlining brought one to its sink.
    fn finite_already(&self, op: Op, args: &Values) -> Option<Folded> {
        let definition = if op == Op::Finite { self.definitions[args[0].index()] } else { None };
        matches!(self.f.inst(definition?).op, Op::Global { .. } | Op::Finite).then_some(Folded::Value(args[0]))
    }

    /// An element that was put into the array or read from it before, if no update since then can have changed it.
    ///
    /// A read whose element is not known stays at the newest array. One that went back to an older array would keep it
    /// alive beside the newer one, and the update between the two would have to copy.
    fn array_read(&self, op: Op, args: &Values) -> Option<Folded> {
        if op != Op::ArrayGet {
            return None;
        }
        let (mut array, index) = (args[0], args[1]);
        let Ty::Array(_, n) = self.f.ty(array) else { return None };
        let Some(Const::Int(i)) = self.known[index.index()] else { return None };
        if i < 0 || (i as u32) >= n {
            return None;
        }
        for _ in 0..MAX_LOOK_BACK {
            if let Some(&read) = self.table.get(&(op, Values::from_slice(&[array, index]))) {
                return Some(Folded::Value(read));
            }
            let data = self.f.inst(self.definitions[array.index()]?);
            match data.op {
                Op::ArrayFill => return Some(Folded::Value(self.resolve(data.args[0]))),
                Op::ArrayNew => return Some(Folded::Value(self.resolve(data.args[i as usize]))),
                Op::ArraySet => match self.known[data.args[1].index()] {
                    Some(Const::Int(j)) if i == j => return Some(Folded::Value(self.resolve(data.args[2]))),
                    Some(Const::Int(j)) if j >= 0 && (j as u32) < n => array = self.resolve(data.args[0]),
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    fn if_inst(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let data = self.f.inst(inst);
        let (condition, regions) = (data.args[0], data.regions.clone());
        if let Some(Const::Bool(taken)) = self.known[condition.index()] {
            let region = regions[usize::from(!taken)];
            for inner in std::mem::take(&mut self.f.regions[region.index()].insts) {
                self.inst(inner, out);
            }
            let results = self.f.inst(inst).results.clone();
            for (i, r) in results.into_iter().enumerate() {
                self.alias[r.index()] = self.resolve(self.f.region(region).results[i]);
            }
            return;
        }
        regions.iter().for_each(|&r| self.region(r));
        if self.is_cheap(inst) {
            return self.flatten(inst, out);
        }
        out.push(inst);
        self.merge_results(inst, out);
    }

    /// Results that are the same on both sides leave the `if`: what stays would consume a token twice.
    fn merge_results(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let data = self.f.inst(inst).clone();
        for (i, &r) in data.results.iter().enumerate().rev() {
            let [a, b] = [0, 1].map(|n| self.f.region(data.regions[n]).results[i]);
            self.alias[r.index()] = match (self.known[a.index()], self.known[b.index()]) {
                _ if a == b => a,
                // Constants look alike on both sides without being one value.
                (Some(x), Some(y)) if x == y => self.constant(x, out),
                _ => continue,
            };
            self.f.insts[inst.index()].results.remove(i);
            data.regions.iter().for_each(|region| {
                self.f.regions[region.index()].results.remove(i);
            });
        }
    }

    /// Whether both branches together are small and harmless enough to run always.
    fn is_cheap(&self, inst: Inst) -> bool {
        let data = self.f.inst(inst);
        let scalars = data.results.iter().all(|r| matches!(self.f.ty(*r), Ty::Scalar(_)));
        let insts = || data.regions.iter().flat_map(|&r| &self.f.region(r).insts);
        let constants = insts().filter(|i| matches!(self.f.inst(**i).op, Op::Const(_))).count();
        scalars && insts().count() - constants <= MAX_FLATTENED && insts().all(|&i| cheap(self.f.inst(i).op))
    }

    fn flatten(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let data = self.f.inst(inst).clone();
        for &region in &data.regions {
            for inner in std::mem::take(&mut self.f.regions[region.index()].insts) {
                self.inst(inner, out);
            }
        }
        self.span = data.span;
        for (i, &r) in data.results.iter().enumerate() {
            let [a, b] = [0, 1].map(|n| self.resolve(self.f.region(data.regions[n]).results[i]));
            let args = Values::from_slice(&[data.args[0], a, b]);
            let selected = match fold(Op::Select, &args, self.f.precision, |v| self.known[v.index()]) {
                Some(Folded::Value(v)) => v,
                Some(Folded::Const(c)) => self.constant(c, out),
                None => match self.table.get(&(Op::Select, args.clone())) {
                    Some(&v) => v,
                    None => {
                        let ty = self.f.ty(r);
                        let v = self.append(Op::Select, args.clone(), ty, out);
                        self.table.insert((Op::Select, args.clone()), v);
                        self.note(Op::Select, args);
                        v
                    }
                },
            };
            self.alias[r.index()] = selected;
        }
    }

    fn loop_inst(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        self.drop_invariants(inst);
        for region in self.f.inst(inst).regions.clone() {
            self.region(region);
        }
        out.push(inst);
    }

    /// Carried values that no round changes become what they start as.
    fn drop_invariants(&mut self, inst: Inst) {
        let data = self.f.inst(inst).clone();
        let (condition, body) = (data.regions[0], data.regions[1]);
        if self.f.region(condition).params.len() != self.f.region(body).params.len() {
            return;
        }
        let keep: Vec<bool> = (0..data.args.len())
            .map(|i| {
                let (c, b) = (self.f.region(condition), self.f.region(body));
                self.f.ty(data.args[i]) == Ty::Token || c.results[i + 1] != c.params[i] || b.results[i] != b.params[i]
            })
            .collect();
        for i in (0..keep.len()).rev().filter(|&i| !keep[i]) {
            let initial = data.args[i];
            for v in [self.f.region(condition).params[i], self.f.region(body).params[i], data.results[i]] {
                self.alias[v.index()] = initial;
            }
            self.f.insts[inst.index()].args.remove(i);
            self.f.insts[inst.index()].results.remove(i);
            self.f.regions[condition.index()].params.remove(i);
            self.f.regions[condition.index()].results.remove(i + 1);
            self.f.regions[body.index()].params.remove(i);
            self.f.regions[body.index()].results.remove(i);
        }
    }
}

/// Operations of about one instruction that count nothing.
fn cheap(op: Op) -> bool {
    match op {
        Op::Const(_)
        | Op::Parameter { .. }
        | Op::Global { .. }
        | Op::Select
        | Op::IntToFloat
        | Op::FloatToInt
        | Op::BoolToInt
        | Op::FloatBits
        | Op::BitsFloat
        | Op::BoolNot
        | Op::BoolAnd
        | Op::BoolOr
        | Op::BoolXor
        | Op::FloatCompare(_)
        | Op::IntCompare(_)
        | Op::Int1(_) => true,
        Op::Float1(op) => matches!(op, Float1::Neg | Float1::Abs | Float1::Floor | Float1::Ceil | Float1::Trunc),
        Op::Float2(op) => matches!(op, Float2::Add | Float2::Sub | Float2::Mul | Float2::Min | Float2::Max),
        Op::Int2(op) => !matches!(op, Int2::Div | Int2::Rem),
        _ => false,
    }
}
