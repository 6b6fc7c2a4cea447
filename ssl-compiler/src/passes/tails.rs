//! Tail duplication: what follows an `if` in a round of a loop moves into both of its sides, where that spares work.
//!
//! Requires verified code; keeps what it computes, and what happens in which order. It is done in two cases:
//!
//! - The rest of the round asks for the same condition again, as a sweep back through an `if` does for what it takes back and
//!   then for cotangents. On each side the answer is known, and what the first `if` handed to the later ones has no other way
//!   to take: neither zeros for the side that did nothing, nor places in which it waits.
//! - A side hands values on as they were, and the rest of the round still reads the old ones: a round of a loop that is taken
//!   back keeps the state from before if an update cannot be undone. Old and new ones are then two values, of which one is
//!   copied into the other's place in each round, even if nothing happened in it. In the side that changes nothing
//!   they become one.
//!
//! All lanes of a block must agree on the condition: under masks, both sides run, and the rest would run twice. What follows
//! has to be short, since there are two of it afterwards; `simplify` then decides conditions on each side.

use super::copies::{Copies, copy, mapped, renew};
use super::remarks::Remarks;
use super::simplify;
use crate::analysis::pure_functions;
use crate::analysis::storage::Storage;
use crate::analysis::uniformity::{self, Facts};
use crate::ir::{Const, Function, Inst, InstData, Module, Op, Region, Ty, Value, Values};
use smallvec::SmallVec;
use std::collections::HashSet;

/// Instructions that may stand twice afterwards.
const MAX_TAIL: usize = 48;
/// Values that are copied in each round, from which it is worth while.
const MIN_COPIED: usize = 2;

/// What makes an `if` worth to be split.
enum Reason {
    AsksAgain,
    Copies(usize),
}

/// An `if` in a round of a loop.
struct Candidate {
    body: Region,
    /// Where it stands in the body.
    at: usize,
    inst: Inst,
    reason: Reason,
}

pub fn run(module: &mut Module, remarks: &mut Remarks) {
    let mut candidates: Vec<Vec<Candidate>> = module.functions.iter().map(candidates).collect();
    if candidates.iter().all(Vec::is_empty) {
        return;
    }
    let storage: Vec<Storage> = module.functions.iter().map(Storage::of).collect();
    let facts = uniformity::of(module, &storage);
    let pure = pure_functions::of(module);
    for ((f, facts), candidates) in module.functions.iter_mut().zip(&facts).zip(&mut candidates) {
        if split_all(f, facts, std::mem::take(candidates), remarks) {
            simplify::one(f, &pure, remarks);
        }
    }
}

/// Whether anything was split. Of a round, the first `if` that can be is.
fn split_all(f: &mut Function, facts: &Facts, candidates: Vec<Candidate>, remarks: &mut Remarks) -> bool {
    let mut split: HashSet<Region> = HashSet::new();
    for Candidate { body, at, inst, reason } in candidates {
        if !facts.reached || facts.diverges(inst) || split.contains(&body) {
            continue;
        }
        split.insert(body);
        remarks.say("tails", f, f.inst(inst).span, || match reason {
            Reason::AsksAgain => "each side goes on by itself: what follows asks for the condition again".to_owned(),
            Reason::Copies(n) => format!("each side goes on by itself: else {n} values would be copied in each round"),
        });
        duplicate(f, body, at);
    }
    !split.is_empty()
}

/// In the order in which they stand, outer loops first.
fn candidates(f: &Function) -> Vec<Candidate> {
    let constants = f.constants();
    let mut found = Vec::new();
    f.walk(|_, data| {
        if let (Op::Loop(_), &[_, body]) = (data.op, data.regions.as_slice()) {
            let insts = &f.region(body).insts;
            let splits = insts.iter().enumerate().filter(|(_, inst)| f.inst(**inst).op == Op::If);
            found.extend(splits.filter_map(|(at, &inst)| {
                let reason = reason(f, &constants, body, at)?;
                Some(Candidate { body, at, inst, reason })
            }));
        }
    });
    found
}

fn reason(f: &Function, constants: &[Option<Const>], body: Region, at: usize) -> Option<Reason> {
    let (insts, split) = (&f.region(body).insts, f.inst(f.region(body).insts[at]));
    let condition = split.args[0];
    let mut tail = Tail { condition, size: 0, read: HashSet::new(), asks_again: false, has_arrays: false };
    insts[at + 1..].iter().for_each(|&inst| tail.add(f, inst));
    let gives_array = |v: &Value| f.ty(*v).is_array();
    if tail.size > MAX_TAIL || tail.has_arrays || split.results.iter().any(gives_array) {
        return None;
    }
    if tail.asks_again {
        return Some(Reason::AsksAgain);
    }
    let copied = |side: &Region| {
        let mut own = HashSet::new();
        f.walk_region(*side, &mut |_, data| own.extend(data.results.iter().copied()));
        let is_old = |v: &&Value| !own.contains(*v) && constants[v.index()].is_none() && f.ty(**v) != Ty::Token;
        f.region(*side).results.iter().filter(is_old).filter(|v| tail.read.contains(*v)).count()
    };
    let most = split.regions.iter().map(copied).max()?;
    (most >= MIN_COPIED).then_some(Reason::Copies(most))
}

/// What follows an `if`.
struct Tail {
    condition: Value,
    /// Instructions; of those behind the condition each stands once afterwards, too.
    size: usize,
    read: HashSet<Value>,
    asks_again: bool,
    has_arrays: bool,
}

impl Tail {
    fn add(&mut self, f: &Function, inst: Inst) {
        let data = f.inst(inst);
        self.read.extend(data.args.iter().copied());
        self.has_arrays |= data.results.iter().chain(&data.args).any(|&v| f.ty(v).is_array());
        let again = data.op == Op::If && data.args[0] == self.condition;
        self.asks_again |= again;
        let before = self.size;
        for &region in &data.regions {
            f.region(region).insts.iter().for_each(|&inner| self.add(f, inner));
            self.read.extend(f.region(region).results.iter().copied());
        }
        self.size = if again { before } else { self.size + 1 };
    }
}

/// Puts what follows an `if` of a loop's body into both of its sides.
fn duplicate(f: &mut Function, body: Region, at: usize) {
    let behind = f.regions[body.index()].insts.split_off(at + 1);
    let Some(split) = f.regions[body.index()].insts.pop() else { return };
    let data = f.inst(split).clone();
    // What needs nothing of the `if`, as a counter does, moves in front of it and stays the round's own.
    let mut made: HashSet<Value> = data.results.iter().copied().collect();
    let mut tail = Vec::new();
    for inst in behind {
        let InstData { op, args, results, .. } = f.inst(inst);
        if op.is_pure() && args.iter().all(|v| !made.contains(v)) {
            f.regions[body.index()].insts.push(inst);
        } else {
            made.extend(results.iter().copied());
            tail.push(inst);
        }
    }
    // What was there before goes on as it is.
    let handed: Values = f.region(body).results.iter().copied().filter(|v| made.contains(v)).collect();
    for &side in &data.regions {
        let given = f.region(side).results.clone();
        let mut map: Copies = data.results.iter().copied().zip(given).collect();
        let copies: Vec<Inst> = tail.iter().map(|&inst| copy(f, inst, &mut map)).collect();
        let side = &mut f.regions[side.index()];
        side.insts.extend(copies);
        side.results = handed.iter().map(|v| mapped(&map, *v)).collect();
    }
    let mut map = Copies::new();
    let mut results: SmallVec<[Value; 1]> = handed.iter().copied().collect();
    renew(f, &mut results, &mut map);
    let joined = f.new_inst(InstData { results, ..data });
    let body = &mut f.regions[body.index()];
    body.insts.push(joined);
    body.results.iter_mut().for_each(|v| *v = mapped(&map, *v));
}
