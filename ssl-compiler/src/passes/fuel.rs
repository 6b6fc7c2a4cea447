//! Sets what an iteration of a loop costs. Lowering writes loops that take one unit of fuel for each iteration, and
//! sweeps back through them, whose iterations are known, pay for all of them before the first; this pass sets the price by the work of an iteration, so that an allowance of fuel bounds time.
//!
//! It counts work in the prices of `ir::facts`, with that of called functions, and in words of arrays that are copied
//! or filled. It over-estimates: both branches of an `if` count.

use crate::analysis::call_graph::CallGraph;
use crate::analysis::storage::Storage;
use crate::ir::{Function, Inst, InstData, Module, Op, Region, Ty, Value};
use std::collections::HashMap;

/// Work that one unit of fuel stands for.
const UNIT: u64 = 64;

/// Sets the price of every round, and of every call that takes fuel.
pub fn run(module: &mut Module) {
    let graph = CallGraph::of(module);
    let mut work = vec![1u64; module.functions.len()];
    for &id in graph.components.iter().flatten() {
        let f = module.function(id);
        let mut meter = Meter { f, storage: Storage::of(f), work: &work, prices: Vec::new(), prepaid: HashMap::new() };
        let total = meter.region(f.body);
        meter.charge(f.body, total);
        let paid = !meter.prices.is_empty() && pays(f);
        let prices = meter.prices;
        for (inst, units) in prices {
            let op = &mut module.functions[id.index()].insts[inst.index()].op;
            if let Op::Burn(n) | Op::Prepay(n) = op {
                *n = (*n).max(units);
            }
        }
        // A function that takes its own fuel costs its callers no more than the call.
        work[id.index()] = if paid { 1 } else { total };
    }
}

/// Whether a function takes fuel for each call.
fn pays(f: &Function) -> bool {
    f.region(f.body).insts.iter().any(|&i| matches!(f.inst(i).op, Op::Burn(_)))
}

struct Meter<'a> {
    f: &'a Function,
    storage: Storage,
    work: &'a [u64],
    prices: Vec<(Inst, u32)>,
    /// Rounds, by what paid for them.
    prepaid: HashMap<Value, Inst>,
}

/// The units of fuel for so much work.
fn units(work: u64) -> u32 {
    u32::try_from(work / UNIT).unwrap_or(u32::MAX).max(1)
}

impl Meter<'_> {
    fn region(&mut self, region: Region) -> u64 {
        let f = self.f;
        f.region(region).insts.iter().fold(0u64, |sum, &i| {
            let data = f.inst(i);
            if let Op::Prepay(_) = data.op {
                self.prepaid.extend(data.results.get(1).map(|&rounds| (rounds, i)));
            }
            sum.saturating_add(self.inst(data))
        })
    }

    /// The units that the fuel operations directly in a region must take.
    fn charge(&mut self, region: Region, work: u64) {
        let f = self.f;
        let units = units(work);
        let burns = f.region(region).insts.iter().filter(|&&i| matches!(f.inst(i).op, Op::Burn(_)));
        self.prices.extend(burns.map(|&i| (i, units)));
    }

    fn inst(&mut self, data: &InstData) -> u64 {
        let f = self.f;
        match data.op {
            Op::If => {
                let inside: u64 = data.regions.iter().fold(0, |sum, &r| sum.saturating_add(self.region(r)));
                let copies =
                    data.regions.iter().map(|&r| self.copies(&f.region(r).results, &data.results)).sum::<u64>();
                inside.saturating_add(copies)
            }
            Op::Loop(_) => {
                let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
                let round = self
                    .region(data.regions[0])
                    .saturating_add(self.region(data.regions[1]))
                    .saturating_add(self.copies(condition.results.get(1..).unwrap_or(&[]), &body.params))
                    .saturating_add(self.copies(&body.results, &condition.params));
                self.charge(data.regions[0], round);
                let prepaid = data.args.iter().filter_map(|v| self.prepaid.get(v)).map(|&inst| (inst, units(round)));
                self.prices.extend(prepaid);
                self.copies(&data.args, &condition.params).saturating_add(round)
            }
            Op::Call(callee) => {
                let arrays: u64 = data.args.iter().chain(&data.results).map(|&v| self.words(v)).sum();
                self.work[callee.index()].saturating_add(arrays).saturating_add(1)
            }
            Op::ArrayFill | Op::ArrayNew => self.words(data.results[0]),
            Op::ArraySet => 1 + self.copies(&data.args[..1], &data.results),
            op @ (Op::Push(_) | Op::Pop(_)) => {
                let values = data.args.iter().chain(&data.results);
                values.map(|&v| u64::from(f.ty(v).rows())).sum::<u64>() + u64::from(op.facts().price)
            }
            op => u64::from(op.facts().price),
        }
    }

    fn words(&self, v: Value) -> u64 {
        match self.f.ty(v) {
            Ty::Array(_, n) => u64::from(n),
            _ => 0,
        }
    }

    /// Words that move where values of different slots are handed over.
    fn copies(&self, from: &[Value], to: &[Value]) -> u64 {
        let pairs = from.iter().zip(to).filter(|(a, b)| self.storage.slot(**a) != self.storage.slot(**b));
        pairs.map(|(a, _)| self.words(*a)).sum()
    }
}
