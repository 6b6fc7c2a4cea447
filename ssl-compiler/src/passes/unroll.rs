//! Writes out the rounds of short loops whose number is known.
//!
//! Requires verified code; keeps what it computes, and what it takes of the fuel: one operation takes what all rounds
//! took. A point whose fuel ends in the middle ends with zeros either way, and since a loop that is written out does
//! nothing but compute, nobody sees that it computed on. So a loop that prints, looks textures up, calls what takes
//! fuel, or holds another loop stays; and in a module that prints or tells the interpreter what reaches a sink, all stay,
//! since what comes behind the loop could tell.
//!
//! The rounds are counted by running the test and what it needs on constants, as `ir::fold` defines them. What is written
//! out is left to `simplify`.

use super::copies::{self, Copies, mapped};
use super::remarks::Remarks;
use crate::ir::fold::{Folded, fold};
use crate::ir::{Const, Function, Inst, InstData, Module, Op, Region, Ty, Value, Values};
use std::collections::HashMap;

/// Rounds up to which a loop is written out.
const MAX_ROUNDS: usize = 16;

/// Instructions to which a loop may grow by that, before they are simplified.
const MAX_SIZE: usize = 256;

pub fn run(module: &mut Module, remarks: &mut Remarks) {
    if module.prints() || module.has_probes() {
        return;
    }
    for f in &mut module.functions {
        let body = f.body;
        Unroller { known: f.constants(), f, remarks }.region(body);
    }
}

struct Unroller<'a> {
    f: &'a mut Function,
    /// By value: the constant that it is, where that is known so far.
    known: Vec<Option<Const>>,
    remarks: &'a mut Remarks,
}

/// A loop that can be written out.
struct Plan {
    rounds: usize,
    /// Where the token is among the carried values.
    token: usize,
    /// The fuel that all rounds take.
    price: u32,
}

/// What one run of a region comes to.
struct Cost {
    /// In instructions.
    size: usize,
    fuel: u32,
}

impl Unroller<'_> {
    fn region(&mut self, region: Region) {
        let insts = std::mem::take(&mut self.f.regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        let mut replaced = Copies::new();
        for inst in insts {
            self.substitute(inst, &replaced);
            for inner in self.f.inst(inst).regions.clone() {
                self.region(inner);
            }
            match self.plan(inst) {
                Some(plan) => {
                    let first = out.len();
                    self.write_out(inst, &plan, &mut out, &mut replaced);
                    out[first..].iter().for_each(|&inst| self.learn(inst));
                }
                None => {
                    out.push(inst);
                    self.learn(inst);
                }
            }
        }
        let data = &mut self.f.regions[region.index()];
        data.insts = out;
        data.results.iter_mut().for_each(|v| *v = mapped(&replaced, *v));
    }

    /// Reads what a loop in front gave from what its rounds give.
    fn substitute(&mut self, inst: Inst, replaced: &Copies) {
        if replaced.is_empty() {
            return;
        }
        let data = &mut self.f.insts[inst.index()];
        data.args.iter_mut().for_each(|v| *v = mapped(replaced, *v));
        for region in data.regions.clone() {
            for inner in self.f.region(region).insts.clone() {
                self.substitute(inner, replaced);
            }
            let results = &mut self.f.regions[region.index()].results;
            results.iter_mut().for_each(|v| *v = mapped(replaced, *v));
        }
    }

    fn plan(&self, inst: Inst) -> Option<Plan> {
        let data = self.f.inst(inst);
        let (Op::Loop(_), &[condition, body]) = (data.op, data.regions.as_slice()) else { return None };
        let token = data.args.iter().position(|&v| self.f.ty(v) == Ty::Token)?;
        let (tested, done) = (self.cost(condition)?, self.cost(body)?);
        let size = |rounds: usize| (rounds + 1) * tested.size + rounds * done.size;
        let most = (0..=MAX_ROUNDS).rev().find(|&rounds| size(rounds) <= MAX_SIZE)?;
        let rounds = self.rounds(data, most)?;
        let times = u32::try_from(rounds).ok()?;
        let price = tested.fuel.checked_mul(times + 1)?.checked_add(done.fuel.checked_mul(times)?)?;
        Some(Plan { rounds, token, price })
    }

    /// What a region of a loop comes to; `None` where it does more than compute and take fuel.
    fn cost(&self, region: Region) -> Option<Cost> {
        let mut cost = Some(Cost { size: 0, fuel: 0 });
        self.f.walk_region(region, &mut |_, data| {
            let has_token = data.args.iter().chain(&data.results).any(|&v| self.f.ty(v) == Ty::Token);
            let Some(sum) = &mut cost else { return };
            match data.op {
                Op::Const(_) => {}
                // What takes fuel on one side of an `if` only makes the `if` give a token.
                Op::Burn(price) => sum.fuel = sum.fuel.saturating_add(price),
                Op::Loop(_) | Op::Keep => cost = None,
                _ if has_token => cost = None,
                _ => sum.size += 1,
            }
        });
        cost
    }

    /// How many rounds a loop goes while there is fuel; `None` where that is not known, or more than `most`.
    fn rounds(&self, data: &InstData, most: usize) -> Option<usize> {
        let (condition, body) = (self.f.region(data.regions[0]), self.f.region(data.regions[1]));
        let mut carried: Vec<Option<Const>> = data.args.iter().map(|&v| self.known[v.index()]).collect();
        for round in 0..=most {
            let mut known: HashMap<Value, Const> = HashMap::new();
            let enter = |known: &mut HashMap<Value, Const>, params: &[Value], from: &[Option<Const>]| {
                known.extend(params.iter().zip(from).filter_map(|(&p, c)| Some((p, (*c)?))));
            };
            enter(&mut known, &condition.params, &carried);
            self.evaluate(data.regions[0], &mut known);
            match self.constant(condition.results[0], &known)? {
                Const::Bool(false) => return Some(round),
                _ => carried = condition.results[1..].iter().map(|&v| self.constant(v, &known)).collect(),
            }
            enter(&mut known, &body.params, &carried);
            self.evaluate(data.regions[1], &mut known);
            carried = body.results.iter().map(|&v| self.constant(v, &known)).collect();
        }
        None
    }

    fn constant(&self, v: Value, known: &HashMap<Value, Const>) -> Option<Const> {
        known.get(&v).copied().or(self.known[v.index()])
    }

    /// Notes the constants that an instruction gives whatever the way to it.
    fn learn(&mut self, inst: Inst) {
        let data = self.f.inst(inst);
        if let (Op::Prepay(_), Some(rounds)) = (data.op, data.args.get(1)) {
            // As long as there is fuel.
            self.known[data.results[1].index()] = self.known[rounds.index()];
        }
        if matches!(data.op, Op::Burn(_) | Op::Prepay(_) | Op::Loop(_)) {
            return;
        }
        let mut found = HashMap::new();
        self.evaluate_one(data, &mut found);
        found.into_iter().for_each(|(v, c)| self.known[v.index()] = Some(c));
    }

    /// Computes what constants decide, as long as there is fuel.
    fn evaluate(&self, region: Region, known: &mut HashMap<Value, Const>) {
        self.f.region(region).insts.iter().for_each(|&inst| self.evaluate_one(self.f.inst(inst), known));
    }

    fn evaluate_one(&self, data: &InstData, known: &mut HashMap<Value, Const>) {
        match data.op {
            Op::Burn(_) => {
                known.insert(data.results[1], Const::Bool(true));
            }
            Op::If => {
                let Some(Const::Bool(taken)) = self.constant(data.args[0], known) else { return };
                let side = data.regions[usize::from(!taken)];
                self.evaluate(side, known);
                for (&r, &given) in data.results.iter().zip(&self.f.region(side).results) {
                    let given = self.constant(given, known);
                    known.extend(given.map(|c| (r, c)));
                }
            }
            op if op.is_pure() && data.results.len() == 1 => {
                let found = match fold(op, &data.args, self.f.precision, |v| self.constant(v, known)) {
                    Some(Folded::Const(c)) => Some(c),
                    Some(Folded::Value(v)) => self.constant(v, known),
                    None => None,
                };
                known.extend(found.map(|c| (data.results[0], c)));
            }
            _ => {}
        }
    }

    fn write_out(&mut self, inst: Inst, plan: &Plan, out: &mut Vec<Inst>, replaced: &mut Copies) {
        let data = self.f.inst(inst).clone();
        let rounds = plan.rounds;
        self.remarks.say("unroll", self.f, data.span, || {
            format!("the loop is written out: it goes {rounds} rounds, which come to at most {MAX_SIZE} instructions")
        });
        // Where the rounds were paid for before the loop, they take none.
        let mut token = data.args[plan.token];
        if plan.price > 0 {
            let (left, alive) = (self.f.new_value(Ty::Token), self.f.new_value(crate::ir::BOOL));
            out.push(self.append(Op::Burn(plan.price), &[token], &[left, alive], &data));
            token = left;
        }
        let constant = self.f.new_value(crate::ir::BOOL);
        out.push(self.append(Op::Const(Const::Bool(true)), &[], &[constant], &data));
        let mut carried: Values = data.args.clone();
        for round in 0..=rounds {
            let mut map = Copies::new();
            carried = self.copy_round(data.regions[0], &carried, constant, &mut map, out);
            carried.remove(0);
            if round < rounds {
                carried = self.copy_round(data.regions[1], &carried, constant, &mut map, out);
            }
        }
        carried[plan.token] = token;
        replaced.extend(data.results.iter().copied().zip(carried));
    }

    fn append(&mut self, op: Op, args: &[Value], results: &[Value], like: &InstData) -> Inst {
        self.known.resize(self.f.types.len(), None);
        if let Op::Const(c) = op {
            self.known[results[0].index()] = Some(c);
        }
        let (args, results) = (Values::from_slice(args), results.iter().copied().collect());
        self.f.new_inst(InstData { op, args, results, regions: Default::default(), span: like.span })
    }

    /// Copies the instructions of one of a loop's regions but for what takes fuel; gives what the region hands out.
    fn copy_round(
        &mut self,
        region: Region,
        carried: &[Value],
        alive: Value,
        map: &mut Copies,
        out: &mut Vec<Inst>,
    ) -> Values {
        let data = self.f.region(region).clone();
        map.extend(data.params.iter().copied().zip(carried.iter().copied()));
        for inst in data.insts {
            let inner = self.f.inst(inst);
            if let Op::Burn(_) = inner.op {
                let token = mapped(map, inner.args[0]);
                map.extend([(inner.results[0], token), (inner.results[1], alive)]);
            } else {
                out.push(self.copy(inst, map));
            }
        }
        data.results.iter().map(|v| mapped(map, *v)).collect()
    }

    fn copy(&mut self, inst: Inst, map: &mut Copies) -> Inst {
        let copy = copies::copy(self.f, inst, map);
        let Unroller { f, known, .. } = self;
        known.resize(f.types.len(), None);
        let mut note = |data: &InstData| {
            if let Op::Const(c) = data.op {
                known[data.results[0].index()] = Some(c);
            }
        };
        note(f.inst(copy));
        f.inst(copy).regions.iter().for_each(|&region| f.walk_region(region, &mut |_, data| note(data)));
        copy
    }
}
