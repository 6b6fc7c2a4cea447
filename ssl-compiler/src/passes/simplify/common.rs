//! Equal computations, of which one is kept: value numbering over the regions that are open.

use super::Simplifier;
use crate::ir::fold::{Folded, fold};
use crate::ir::*;
use smallvec::SmallVec;

impl Simplifier<'_> {
    pub(super) fn pure(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
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
    pub(super) fn external(&mut self, inst: Inst, op: Op, out: &mut Vec<Inst>) {
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

    pub(super) fn note(&mut self, op: Op, args: Values) {
        if let Some(list) = self.added.last_mut() {
            list.push((op, args));
        }
    }

    pub(super) fn constant(&mut self, c: Const, out: &mut Vec<Inst>) -> Value {
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

    pub(super) fn append(&mut self, op: Op, args: Values, ty: Ty, out: &mut Vec<Inst>) -> Value {
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
