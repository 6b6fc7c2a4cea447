//! Equal computations, of which one is kept: value numbering over the regions that are open.

use super::Simplifier;
use super::identities::{Rewrite, canonical};
use crate::ir::fold::{Folded, fold};
use crate::ir::*;
use smallvec::SmallVec;

/// Identities that may follow each other on one operation.
const MAX_REWRITES: usize = 8;

impl Simplifier<'_> {
    pub(super) fn pure(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
        let (args, result) = (self.f.inst(inst).args.clone(), self.f.inst(inst).results[0]);
        let (op, args) = match self.rewritten(op, args, out) {
            Err(Folded::Value(v)) => return self.alias[result.index()] = v,
            Err(Folded::Const(c)) => return self.alias[result.index()] = self.constant(c, out),
            Ok(rewritten) => rewritten,
        };
        let data = &mut self.f.insts[inst.index()];
        (data.op, data.args) = (op, args.clone());
        let key = self.key(op, args.clone());
        match self.table.get(&key) {
            Some(&v) if self.f.ty(v) == self.f.ty(result) => self.alias[result.index()] = v,
            // Only `f.types` tells two fills of different lengths apart; the first one stays.
            Some(_) => out.push(inst),
            None => {
                self.note(key, result);
                self.note_choice(op, &args, result);
                out.push(inst);
            }
        }
    }

    /// What an operation comes to: a value or a constant that there is, or the operation to write.
    fn rewritten(&mut self, mut op: Op, mut args: Values, out: &mut Vec<Inst>) -> Result<(Op, Values), Folded> {
        for _ in 0..MAX_REWRITES {
            let folded = fold(op, &args, self.f.precision, |v| self.known[v.index()])
                .or_else(|| self.array_read(op, &args))
                .or_else(|| self.finite_already(op, &args));
            if let Some(folded) = folded {
                return Err(folded);
            }
            if !self.with_identities {
                break;
            }
            let Some((rewrite, why)) = self.identity(op, &args, out) else { break };
            self.remarks.say("identities", self.f, self.span, || why.to_owned());
            match rewrite {
                Rewrite::Value(v) => return Err(Folded::Value(v)),
                Rewrite::Const(c) => return Err(Folded::Const(c)),
                Rewrite::Op(o, a) => (op, args) = (o, a),
            }
        }
        Ok((op, args))
    }

    /// What an operation is looked up by.
    fn key(&self, op: Op, args: Values) -> (Op, Values) {
        if self.with_identities { canonical(op, args) } else { (op, args) }
    }

    /// A call that gives the same for the same arguments, and does nothing else.
    pub(super) fn pure_call(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
        let data = self.f.inst(inst);
        let (args, results) = (data.args.clone(), data.results.clone());
        match self.table.get(&(op, args.clone())).and_then(|v| self.definitions[v.index()]) {
            Some(earlier) => {
                let known = &self.f.inst(earlier).results;
                results.iter().zip(known).for_each(|(r, &k)| self.alias[r.index()] = k);
            }
            None => {
                if let Some(&first) = results.first() {
                    self.note((op, args), first);
                }
                out.push(inst);
            }
        }
    }

    /// Remembers a value until the open region ends.
    fn note(&mut self, key: (Op, Values), value: Value) {
        self.table.insert(key.clone(), value);
        if let Some(list) = self.added.last_mut() {
            list.push(key);
        }
    }

    pub(super) fn constant(&mut self, c: Const, out: &mut Vec<Inst>) -> Value {
        let key = (Op::Const(c), Values::new());
        if let Some(&v) = self.table.get(&key) {
            return v;
        }
        let v = self.append(key.0, Values::new(), Ty::Scalar(c.scalar()), out);
        self.known[v.index()] = Some(c);
        self.note(key, v);
        v
    }

    /// The value of a pure operation, which is written if there is none yet.
    pub(super) fn value_of(&mut self, op: Op, args: &[Value], ty: Ty, out: &mut Vec<Inst>) -> Value {
        let args = Values::from_slice(args);
        let (op, args) = match self.rewritten(op, args, out) {
            Err(Folded::Value(v)) => return v,
            Err(Folded::Const(c)) => return self.constant(c, out),
            Ok(rewritten) => rewritten,
        };
        let key = self.key(op, args.clone());
        if let Some(&v) = self.table.get(&key) {
            return v;
        }
        let v = self.append(op, args.clone(), ty, out);
        self.note(key, v);
        self.note_choice(op, &args, v);
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
}
