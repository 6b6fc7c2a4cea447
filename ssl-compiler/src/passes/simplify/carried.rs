//! Values that a loop carries though no round changes them.

use super::Simplifier;
use crate::ir::*;

/// Values that are looked at to see whether one is unchanged.
const MAX_LOOKED_AT: u32 = 32;

impl Simplifier<'_> {
    /// Carried values that no round changes become what they start as.
    pub(super) fn drop_invariants(&mut self, inst: Inst) {
        let data = self.f.inst(inst).clone();
        let (condition, body) = (data.regions[0], data.regions[1]);
        if self.f.region(condition).params.len() != self.f.region(body).params.len() {
            return;
        }
        let keep: Vec<bool> = (0..data.args.len())
            .map(|i| {
                let (c, b) = (self.f.region(condition), self.f.region(body));
                self.f.ty(data.args[i]) == Ty::Token
                    || c.results[i + 1] != c.params[i]
                    || !self.comes_to(b.results[i], b.params[i], &mut { MAX_LOOKED_AT })
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

    /// Whether a value is another one, which every side of the `if`s on the way hands on. The body is not simplified yet:
    /// where a sweep goes back through an `if`, what the round left alone still takes this way.
    fn comes_to(&self, v: Value, wanted: Value, left: &mut u32) -> bool {
        if v == wanted {
            return true;
        }
        let Some(inst) = self.definitions[v.index()] else { return false };
        let data = self.f.inst(inst);
        let Some(place) = data.results.iter().position(|r| *r == v) else { return false };
        if data.op != Op::If || *left == 0 {
            return false;
        }
        *left -= 1;
        data.regions.iter().all(|&side| self.comes_to(self.f.region(side).results[place], wanted, left))
    }
}
