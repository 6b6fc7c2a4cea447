//! Values that a loop carries though no round changes them.

use super::Simplifier;
use crate::ir::*;

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
