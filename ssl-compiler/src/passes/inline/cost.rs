//! What a function comes to at a call: its instructions but for those that the call's constants decide.

use crate::ir::fold::{Folded, fold};
use crate::ir::math::{is_binary, is_unary};
use crate::ir::*;

/// Instructions of code for a call of the host or of a mathematical function: operands are brought into place, and
/// results out of it.
const CALL: usize = 4;

/// The instructions that remain of a function for these arguments, as far as `limit`.
pub(super) fn remaining(f: &Function, arguments: &[Option<Const>], limit: usize) -> usize {
    let mut known = f.constants();
    f.params().iter().zip(arguments).for_each(|(p, c)| known[p.index()] = *c);
    let mut estimate = Estimate { f, known, size: 0, limit };
    estimate.region(f.body);
    estimate.size
}

struct Estimate<'a> {
    f: &'a Function,
    known: Vec<Option<Const>>,
    size: usize,
    limit: usize,
}

impl Estimate<'_> {
    fn region(&mut self, region: Region) {
        let f = self.f;
        for &inst in &f.region(region).insts {
            if self.size > self.limit {
                return;
            }
            self.inst(f.inst(inst));
        }
    }

    fn inst(&mut self, data: &InstData) {
        let f = self.f;
        match data.op {
            Op::Const(_) => {}
            Op::If => match self.known[data.args[0].index()] {
                Some(Const::Bool(taken)) => {
                    let side = data.regions[usize::from(!taken)];
                    self.region(side);
                    for (&r, given) in data.results.iter().zip(&f.region(side).results) {
                        self.known[r.index()] = self.known[given.index()];
                    }
                }
                _ => {
                    data.regions.iter().for_each(|&r| self.region(r));
                    self.size += 1 + data.results.len();
                }
            },
            Op::Loop(_) => {
                data.regions.iter().for_each(|&r| self.region(r));
                self.size += 1 + data.results.len();
            }
            op if op.is_pure() && data.results.len() == 1 => {
                let found = match fold(op, &data.args, f.precision, |v| self.known[v.index()]) {
                    Some(Folded::Const(c)) => Some(c),
                    Some(Folded::Value(v)) => {
                        self.known[data.results[0].index()] = self.known[v.index()];
                        return;
                    }
                    None => None,
                };
                self.known[data.results[0].index()] = found;
                self.size += if found.is_some() { 0 } else { size(op) };
            }
            op => self.size += size(op) + data.args.len() + data.results.len(),
        }
    }
}

fn size(op: Op) -> usize {
    match op {
        Op::Float1(op) if is_unary(op) => CALL,
        Op::Float2(op) if is_binary(op) => CALL,
        Op::Call(_) | Op::External(_) | Op::Print(_) => CALL,
        Op::Texture { .. } | Op::TextureAdjoint { .. } | Op::AddTo(_) | Op::Sample { .. } => CALL,
        _ => 1,
    }
}
