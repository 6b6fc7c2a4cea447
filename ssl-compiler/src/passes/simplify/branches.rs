//! Decided branches, branches that cost less than a jump, and results that both branches have in common.

use super::Simplifier;
use crate::ir::*;

/// Operations that both branches of an `if` may have together to run unconditionally instead.
const MAX_FLATTENED: usize = 8;

impl Simplifier<'_> {
    pub(super) fn if_inst(&mut self, inst: Inst, out: &mut Vec<Inst>) {
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
        for (&region, taken) in regions.iter().zip([true, false]) {
            self.decided_region(region, condition, taken);
        }
        if self.is_cheap(inst) {
            return self.flatten(inst, out);
        }
        out.push(inst);
        self.merge_results(inst, out);
    }

    /// A side of an `if`: inside, its condition is known, and so is what was selected by it.
    fn decided_region(&mut self, region: Region, condition: Value, taken: bool) {
        if !self.with_identities {
            return self.region(region);
        }
        self.known[condition.index()] = Some(Const::Bool(taken));
        let chosen = self.chosen.get(&condition).cloned().unwrap_or_default();
        for (v, sides) in &chosen {
            self.alias[v.index()] = self.resolve(sides[usize::from(!taken)]);
        }
        self.region(region);
        self.known[condition.index()] = None;
        // Behind the `if` they are what they were, selected by the condition.
        chosen.iter().for_each(|(v, _)| self.alias[v.index()] = *v);
    }

    /// Remembers a value that is selected by a condition.
    pub(super) fn note_choice(&mut self, op: Op, args: &Values, result: Value) {
        if op == Op::Select {
            self.chosen.entry(args[0]).or_default().push((result, [args[1], args[2]]));
        }
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
            let ty = self.f.ty(r);
            self.alias[r.index()] = self.value_of(Op::Select, &[data.args[0], a, b], ty, out);
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
