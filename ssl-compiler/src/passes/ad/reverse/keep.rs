//! What the sweep gets from code that it cannot see into: which values are handed over, and which are computed again
//! from those.
//!
//! A value is computed again where that is cheap and needs at most one value more to be handed over; otherwise it is
//! handed over itself. Never is a loop, a call, a look-up or an array computed again. The choice is greedy, in program
//! order: of `a + b` and `a · b`, where only the two are read, it hands over both, though `a` and `b` would do as well.

use super::steps::Step;
use super::transpose::uses_inside;
use crate::ir::facts::Reach;
use crate::ir::*;
use std::collections::{HashMap, HashSet};

/// What is crossed, and so what handing over costs against computing again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// What computing a value again may cost, in the prices of `ir::facts`.
    price: u32,
    /// Values that may have to be handed over for it.
    more: usize,
    /// What is the same in all rounds costs nothing in each, at whatever price: it moves in front of the loop of the sweep.
    rounds: bool,
}

/// Up to here computing again costs less than a register over a branch or a call.
const CHEAP_IN_BRANCH: u32 = 3;
/// And less than writing to the tape and reading it.
const CHEAP_IN_LOOP: u32 = 12;

impl Boundary {
    fn new(price: u32, prefer: Prefer) -> Boundary {
        match prefer {
            Prefer::Free => Boundary { price, more: 1, rounds: false },
            Prefer::Recompute => Boundary::everything(),
            Prefer::Checkpoint => Boundary { price: 0, more: 0, rounds: false },
        }
    }

    /// Whatever can be computed again is, calls and branches too.
    pub fn everything() -> Boundary {
        Boundary { price: u32::MAX, more: usize::MAX, rounds: false }
    }

    pub fn branch(prefer: Prefer) -> Boundary {
        Boundary::new(CHEAP_IN_BRANCH, prefer)
    }

    pub fn rounds(prefer: Prefer) -> Boundary {
        Boundary { rounds: prefer == Prefer::Free, ..Boundary::new(CHEAP_IN_LOOP, prefer) }
    }
}

/// The decision about a region.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// What is handed over.
    pub leaves: Vec<Value>,
    /// What is computed again, in order.
    pub again: Vec<Inst>,
    /// Values from outside the region that this takes, or that the steps read.
    pub outer: Vec<Value>,
    /// Loops' counters: the value in round k is the first one + k times the step.
    pub counted: Vec<Counted>,
}

/// A carried value that goes up by a constant in every round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub value: Value,
    pub first: Value,
    pub step: i32,
}

pub(super) fn decide(f: &Function, region: Region, steps: &[Step], boundary: Boundary) -> Kept {
    decide_with(f, region, steps, boundary, &[])
}

/// Likewise, where some of the region's parameters are counters.
pub(super) fn decide_with(
    f: &Function,
    region: Region,
    steps: &[Step],
    boundary: Boundary,
    counters: &[Counted],
) -> Kept {
    let data = f.region(region);
    let mut inside: HashMap<Value, Option<(Inst, usize)>> = data.params.iter().map(|&p| (p, None)).collect();
    for (position, &inst) in data.insts.iter().enumerate() {
        inside.extend(f.inst(inst).results.iter().map(|&r| (r, Some((inst, position)))));
    }
    let counters = counters.iter().map(|c| (c.value, *c)).collect();
    let (unchanged, known) = (HashSet::new(), HashSet::new());
    let mut decision = Decision { f, inside, counters, boundary, unchanged, known, kept: Kept::default() };
    if boundary.rounds {
        decision.find_unchanged(region);
    }
    for step in steps {
        step.reads(&mut |v| decision.need(v));
    }
    let Decision { inside, mut kept, .. } = decision;
    // What is computed again stands in the order in which it was computed.
    kept.again.sort_by_key(|inst| inside[&f.inst(*inst).results[0]].map(|(_, position)| position));
    // A call may be there for several of its results.
    kept.again.dedup();
    kept
}

struct Decision<'a> {
    f: &'a Function,
    inside: HashMap<Value, Option<(Inst, usize)>>,
    counters: HashMap<Value, Counted>,
    boundary: Boundary,
    /// What is the same in all rounds and can be computed again.
    unchanged: HashSet<Value>,
    /// What the sweep will know.
    known: HashSet<Value>,
    kept: Kept,
}

impl Decision<'_> {
    fn find_unchanged(&mut self, region: Region) {
        for &inst in &self.f.region(region).insts {
            let data = self.f.inst(inst);
            let same = |v: &Value| !self.inside.contains_key(v) || self.unchanged.contains(v);
            if let [result] = data.results[..]
                && can_run_again(self.f, data, false)
                && data.args.iter().all(same)
            {
                self.unchanged.insert(result);
            }
        }
    }

    fn need(&mut self, v: Value) {
        if self.known.contains(&v) {
            return;
        }
        match self.again(v) {
            Some(closure) => closure.into_iter().for_each(|v| self.settle(v)),
            None => self.keep(v),
        }
    }

    fn keep(&mut self, v: Value) {
        self.known.insert(v);
        self.kept.leaves.push(v);
    }

    /// The values to be made known so that `v` is, itself among them; `None` where handing it over is better.
    fn again(&self, v: Value) -> Option<Vec<Value>> {
        let (mut found, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![v]);
        let (mut price, mut more) = (0u32, 0);
        while let Some(v) = work.pop() {
            if self.known.contains(&v) || !seen.insert(v) {
                continue;
            }
            found.push(v);
            if !self.inside.contains_key(&v) || self.counters.contains_key(&v) {
                continue;
            }
            match self.operation(v) {
                Some(data) => {
                    let read = matches!(data.op, Op::Element { .. } | Op::BufferLength(_));
                    let free = matches!(data.op, Op::Const(_) | Op::Parameter { .. } | Op::Global { .. })
                        || read
                        || data.op == Op::Detach
                        || self.unchanged.contains(&v);
                    price = price.saturating_add(if free { 0 } else { data.op.facts().price });
                    work.extend(&data.args);
                    work.extend(uses_inside(self.f, &data.regions));
                }
                None => more += 1,
            }
            if price > self.boundary.price || more > self.boundary.more {
                return (more == 1 && found.len() == 1).then_some(found);
            }
        }
        Some(found)
    }

    fn settle(&mut self, v: Value) {
        match self.inside.get(&v).copied() {
            _ if self.known.contains(&v) => return,
            None => self.kept.outer.push(v),
            Some(_) if self.counters.contains_key(&v) => {
                let counted = self.counters[&v];
                self.kept.counted.push(counted);
                self.settle(counted.first);
            }
            Some(place) => match (place, self.operation(v)) {
                (Some((inst, _)), Some(_)) => self.kept.again.push(inst),
                _ => self.kept.leaves.push(v),
            },
        }
        self.known.insert(v);
    }

    /// The operation that can give a value of the region once more.
    fn operation(&self, v: Value) -> Option<&InstData> {
        let (inst, _) = self.inside.get(&v).copied().flatten()?;
        let data = self.f.inst(inst);
        can_run_again(self.f, data, self.boundary.price == u32::MAX).then_some(data)
    }
}

/// Whether an instruction can be computed again from what it takes: a scalar operation, or, where it may cost anything,
/// whatever passes no token. (The latter counts again what it counts.)
pub(super) fn can_run_again(f: &Function, data: &InstData, at_any_price: bool) -> bool {
    let scalars = data.args.iter().chain(&data.results).all(|&v| !f.ty(v).is_array());
    match data.op.facts().reach {
        _ if data.op == Op::Detach => scalars,
        Reach::Nothing | Reach::Block => scalars && data.results.len() == 1,
        Reach::Counter | Reach::PureHost => at_any_price && scalars,
        Reach::Inside if at_any_price && scalars && !data.op.is_loop() => {
            let values = data.args.iter().chain(&data.results);
            let inside = |&region: &Region| f.region(region).insts.iter().all(|&i| can_run_again(f, f.inst(i), true));
            values.into_iter().all(|&v| f.ty(v) != Ty::Token) && data.regions.iter().all(inside)
        }
        _ => false,
    }
}
