//! Moves what no round of a loop changes in front of the loop, where that is worth it.
//!
//! Requires verified code; keeps what it computes. Everything is defined, so an operation may run though the loop goes
//! no round, and pays off from the second round on. What moves is pure and takes scalars to scalars; calls of functions
//! that only compute are among it. What counts clamped indices or derivatives that are not finite moves only where it
//! runs in any case, so that nothing is counted that did not happen.
//!
//! Operations of a few instructions move only with a dear one that needs them: back ends move them by themselves, and
//! know how many registers there are. What stands behind an `if` inside the loop stays. A `loop` is left to the rounds of
//! the loop around it, since it takes fuel.
//!
//! What several loops computed, as a loop and the sweep back through it do, is computed once when it stands in front of
//! them.
//!
//! In front of a reverse sweep it is the other way round (`cheap`): then the cotangent of −x², say, adds up over the
//! rounds, and that of x is computed from it once. Only plain arithmetic moves there. A quotient whose divisor is 0 would
//! give a cotangent of 0 · ∞ though the loop goes no round.

use super::remarks::Remarks;
use super::simplify;
use crate::analysis::pure_functions::{self, Pure};
use crate::ir::facts::Reach;
use crate::ir::{Float1, Float2, Function, Inst, InstData, Module, Op, Region, Ty, Value};
use std::collections::HashSet;

/// The price from which an operation moves for its own sake.
const WORTH: u64 = 4;

/// The price up to which an operation moves though the loop may go no round.
const MAX_SPECULATED: u64 = 256;

pub fn run(module: &mut Module, remarks: &mut Remarks) {
    let pure = pure_functions::of(module);
    let names: Vec<String> = module.functions.iter().map(|f| f.name.clone()).collect();
    for f in &mut module.functions {
        let level = vec![0; f.types.len()];
        let body = f.body;
        let mut hoister = Hoister { f, pure: &pure, names: &names, level, remarks, moves: Moves::Dear, loops: 0 };
        hoister.region(body, 0);
        if hoister.loops > 1 {
            simplify::merge(f, &pure);
        }
    }
}

/// Moves plain arithmetic in front of the loops of a function that is about to be swept back through.
pub fn cheap(f: &mut Function) {
    let (level, body) = (vec![0; f.types.len()], f.body);
    let remarks = &mut Remarks::unheard();
    Hoister { f, pure: &[], names: &[], level, remarks, moves: Moves::Cheap, loops: 0 }.region(body, 0);
}

/// What moves for its own sake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Dear,
    Cheap,
}

/// Whether the derivatives are finite wherever what they are by is.
fn is_plain(op: Op) -> bool {
    match op {
        Op::Float1(op) => matches!(op, Float1::Neg | Float1::Abs),
        Op::Float2(op) => matches!(op, Float2::Add | Float2::Sub | Float2::Mul | Float2::Min | Float2::Max),
        op => op.facts().reach == Reach::Nothing && op.facts().price == 1,
    }
}

struct Hoister<'a> {
    f: &'a mut Function,
    pure: &'a [Option<Pure>],
    /// Of the functions, for remarks.
    names: &'a [String],
    /// By value: how many loops there are around its definition.
    level: Vec<u32>,
    remarks: &'a mut Remarks,
    moves: Moves,
    /// Those that something left.
    loops: usize,
}

impl Hoister<'_> {
    /// Visits a region with so many loops around it, inner loops first.
    fn region(&mut self, region: Region, level: u32) {
        let insts = std::mem::take(&mut self.f.regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let data = self.f.inst(inst);
            let (op, regions) = (data.op, data.regions.clone());
            let inside = level + u32::from(op.is_loop());
            for &inner in &regions {
                let params = self.f.region(inner).params.clone();
                self.define(&params, inside);
                self.region(inner, inside);
            }
            if op.is_loop() {
                // The test runs at least once.
                let before = out.len();
                for (which, &inner) in regions.iter().enumerate() {
                    out.extend(self.leaving(inner, level, which == 0));
                }
                self.loops += usize::from(out.len() > before);
            }
            let results = self.f.inst(inst).results.clone();
            self.define(&results, level);
            out.push(inst);
        }
        self.f.regions[region.index()].insts = out;
    }

    fn define(&mut self, values: &[Value], level: u32) {
        values.iter().for_each(|v| self.level[v.index()] = level);
    }

    /// Takes out of a loop's region what is to stand in front of the loop, which has `level` loops around it.
    fn leaving(&mut self, region: Region, level: u32, is_certain: bool) -> Vec<Inst> {
        let insts = std::mem::take(&mut self.f.regions[region.index()].insts);
        let mut free: HashSet<Value> = HashSet::new();
        for &inst in &insts {
            let data = self.f.inst(inst);
            let is_invariant = data.args.iter().all(|v| self.level[v.index()] <= level || free.contains(v));
            if is_invariant && self.price(data, is_certain).is_some() {
                free.extend(&data.results);
            }
        }
        let mut wanted: HashSet<Value> = HashSet::new();
        for &inst in insts.iter().rev() {
            let data = self.f.inst(inst);
            if !data.results.iter().any(|r| free.contains(r)) {
                continue;
            }
            let is_worth_it = match self.moves {
                Moves::Dear => self.price(data, is_certain).is_some_and(|price| price >= WORTH),
                Moves::Cheap => !matches!(data.op, Op::Const(_)),
            };
            if is_worth_it || data.results.iter().any(|r| wanted.contains(r)) {
                wanted.extend(data.results.iter().chain(&data.args).filter(|v| free.contains(v)));
            }
        }
        let leaves = |f: &Function, inst: Inst| f.inst(inst).results.iter().any(|r| wanted.contains(r));
        let (moved, stay) = insts.into_iter().partition(|&inst| leaves(self.f, inst));
        self.f.regions[region.index()].insts = stay;
        self.explain(&moved, is_certain);
        for &inst in &moved {
            let results = self.f.inst(inst).results.clone();
            self.define(&results, level);
        }
        moved
    }

    /// What an operation costs that may run in front of the loop; `None` where it may not.
    fn price(&self, data: &InstData, is_certain: bool) -> Option<u64> {
        if self.moves == Moves::Cheap && !is_plain(data.op) {
            return None;
        }
        let is_scalar = |v: &Value| matches!(self.f.ty(*v), Ty::Scalar(_));
        let called = pure_functions::called(self.pure, data.op);
        let (price, counts) = match (data.op, called) {
            // Reading an element is no copy of the array.
            (Op::ArrayGet, _) => (1, true),
            _ if !data.args.iter().all(is_scalar) => return None,
            (_, Some(callee)) => (callee.work, callee.counts),
            (op, None) => match op.facts().reach {
                Reach::Nothing | Reach::Block | Reach::PureHost => (u64::from(op.facts().price), false),
                Reach::Counter => (u64::from(op.facts().price), true),
                _ => return None,
            },
        };
        let is_allowed = is_certain || (!counts && price <= MAX_SPECULATED);
        (data.results.iter().all(is_scalar) && is_allowed).then_some(price)
    }

    fn explain(&mut self, moved: &[Inst], is_certain: bool) {
        for &inst in moved {
            let data = self.f.inst(inst);
            let Some(price) = self.price(data, is_certain).filter(|&price| price >= WORTH) else { continue };
            let names = self.names;
            self.remarks.say("hoist", self.f, data.span, || {
                let what = match data.op {
                    Op::Call(callee) => format!("the call of @{}", names[callee.index()]),
                    Op::External(_) => "the call of a function of the host's".to_owned(),
                    Op::Float1(op) => format!("`{}`", op.name()),
                    Op::Float2(op) => format!("`{}`", op.name()),
                    Op::Int2(op) => format!("`{}`", op.name()),
                    _ => "an operation".to_owned(),
                };
                format!("{what} moves in front of the loop: no round changes it, and it costs {price} instructions")
            });
        }
    }
}
