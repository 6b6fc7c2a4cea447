//! What can be known of a round from the state behind it, and in which order.
//!
//! The plan starts from what no round changes, from counters, and from what the round made of the variables. It then
//! goes over the round again and again. An instruction whose operands are known can run once more. An operation that
//! can be inverted gives its last unknown operand from its result. A call gives the state that it was given by the
//! function that its author wrote for that. In a branch, the same holds for what the branch hands out. What is known is
//! in scope where it is used, so that the plan is code in the order in which it was found.
//!
//! It loses ground where two values can only be found together (`a + b` and `a - b`), and where arithmetic says more
//! than its parts (`x * x` of a positive x).

use super::super::keep::{Counted, can_run_again};
use super::super::transpose::uses_inside;
use super::actions::{Action, Branch, Path, Unstep};
use crate::ir::*;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A parameter of the body that the condition passes through, and what the round makes of it.
pub(in super::super) type Carried = (Value, Value);

/// A call that can be taken back: by which function, and how many results its callee has.
#[derive(Clone, Copy)]
pub(in super::super) struct Step {
    pub undo: FuncId,
    pub results: usize,
}

/// What the plan is made of.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub module: &'a Module,
    pub f: &'a Function,
    pub body: Region,
    pub steps: &'a HashMap<Inst, Step>,
    /// By function, whether running it once more shows: it prints, or uses the tape.
    pub shows: &'a [bool],
    pub counters: &'a [Counted],
    /// Flags that are known in a round since the loop tested them.
    pub implied: &'a [(Value, bool)],
}

/// Whether a value comes back to the bit. Nothing may be decided by one that does not: the sweep could go another way
/// than the code went.
type Exact = bool;

/// How one value leads to others: each with the way to it.
type Reached = Vec<(Value, Rc<Path>, Exact)>;

#[derive(Clone)]
pub(super) struct Plan<'a> {
    pub(super) round: Round<'a>,
    /// Values of the round. All others are known.
    own: Rc<HashSet<Value>>,
    pub(super) definitions: Rc<HashMap<Value, Inst>>,
    constants: Rc<HashMap<Value, bool>>,
    known: HashMap<Value, Exact>,
    /// Whether a token passes where the plan is.
    token: bool,
}

impl<'a> Plan<'a> {
    pub fn new(round: Round<'a>) -> Plan<'a> {
        let f = round.f;
        let mut own: HashSet<Value> = f.region(round.body).params.iter().copied().collect();
        let mut definitions = HashMap::new();
        f.walk_region(round.body, &mut |inst, data| {
            own.extend(data.results.iter().copied());
            own.extend(data.regions.iter().flat_map(|&r| f.region(r).params.iter().copied()));
            definitions.extend(data.results.iter().map(|&r| (r, inst)));
        });
        let flag = |c: &Option<Const>| if let Some(Const::Bool(value)) = *c { Some(value) } else { None };
        let constants = f.constants();
        let constants = constants.iter().enumerate().filter_map(|(v, c)| Some((Value(v as u32), flag(c)?)));
        let constants = constants.chain(round.implied.iter().copied()).collect();
        let exact = round.implied.iter().map(|(v, _)| *v).chain(round.counters.iter().map(|c| c.value));
        Plan {
            round,
            own: Rc::new(own),
            definitions: Rc::new(definitions),
            constants: Rc::new(constants),
            known: exact.map(|v| (v, true)).collect(),
            token: true,
        }
    }

    /// Whether a value is known, and then whether it is so to the bit.
    pub fn knows(&self, v: Value) -> Option<Exact> {
        if self.own.contains(&v) { self.known.get(&v).copied() } else { Some(true) }
    }

    /// Notes what the sweep finds behind the round.
    pub fn learn(&mut self, v: Value, exact: Exact) -> bool {
        let new = self.knows(v).is_none();
        if new {
            self.known.insert(v, exact);
        }
        new
    }

    fn know_all(&self, values: impl IntoIterator<Item = Value>) -> Option<Exact> {
        values.into_iter().try_fold(true, |exact, v| Some(self.knows(v)? && exact))
    }

    /// What makes a value of the round.
    pub fn definition(&self, v: Value) -> Option<&'a InstData> {
        self.definitions.get(&v).map(|&inst| self.data(inst))
    }

    pub(super) fn data(&self, inst: Inst) -> &'a InstData {
        self.round.f.inst(inst)
    }

    /// All that can be found in a region, and by these instructions in front of it.
    fn deduce_with(&mut self, region: Region, more: &[Inst]) -> Vec<Action> {
        let insts = &self.round.f.region(region).insts;
        let mut actions = Vec::new();
        loop {
            let before = actions.len();
            insts.iter().for_each(|&inst| self.compute(inst, &mut actions));
            insts.iter().rev().chain(more).for_each(|&inst| self.invert(inst, &mut actions));
            if actions.len() == before {
                return actions;
            }
        }
    }

    /// All that can be found in a region.
    pub fn deduce(&mut self, region: Region) -> Vec<Action> {
        self.deduce_with(region, &[])
    }

    fn compute(&mut self, inst: Inst, actions: &mut Vec<Action>) {
        let data = self.data(inst);
        let f = self.round.f;
        let unknown = |v: &&Value| f.ty(**v) != Ty::Token && self.knows(**v).is_none();
        if !data.results.iter().any(|v| unknown(&v)) || !self.can_repeat(data) {
            return;
        }
        let takes = data.args.iter().copied().chain(uses_inside(f, &data.regions));
        let Some(exact) = self.know_all(takes.filter(|&v| f.ty(v) != Ty::Token)) else { return };
        data.results.iter().for_each(|&v| {
            self.learn(v, exact);
        });
        actions.push(Action::Compute(inst));
    }

    /// Whether an instruction can run once more, in scalars: with a token, too, where nobody sees it.
    fn can_repeat(&self, data: &InstData) -> bool {
        let f = self.round.f;
        if can_run_again(f, data, true) {
            return true;
        }
        let scalars = data.results.iter().all(|&v| !f.ty(v).is_array());
        match data.op {
            Op::ArrayGet => true,
            Op::Texture { .. } => self.token,
            Op::Call(callee) => {
                // What is written for this sweep itself is not of the module.
                let shows = self.round.shows.get(callee.index()).copied().unwrap_or(true);
                self.token && scalars && !shows
            }
            _ => false,
        }
    }

    fn invert(&mut self, inst: Inst, actions: &mut Vec<Action>) {
        let data = self.data(inst);
        match data.op {
            Op::If | Op::Select if self.knows(data.args[0]).is_none() => self.decide(inst, actions),
            Op::If => self.branch(inst, actions),
            Op::Call(_) => self.unstep(inst, actions),
            _ if data.results.len() != 1 => {}
            _ => {
                let from = data.results[0];
                let Some(exact) = self.knows(from) else { return };
                let reached = self.reach(from, &mut HashMap::new());
                let unknown = |(v, ..): &&(Value, Rc<Path>, Exact)| self.knows(*v).is_none();
                if let Some((sought, path, exactly)) = reached.iter().find(unknown).cloned() {
                    self.learn(sought, exact && exactly);
                    actions.push(Action::Invert { from, path: (*path).clone(), sought });
                }
            }
        }
    }

    /// What would be known if `v` was.
    fn reach(&self, v: Value, memo: &mut HashMap<Value, Rc<Reached>>) -> Rc<Reached> {
        if let Some(known) = memo.get(&v) {
            return known.clone();
        }
        let mut reached: Reached = vec![(v, Rc::new(Path::Here), true)];
        if let Some(&inst) = self.definitions.get(&v) {
            let data = self.data(inst);
            if data.op == Op::Select && self.knows(data.args[0]) == Some(true) {
                let [a, b] = [1, 2].map(|i| self.reach(data.args[i], memo));
                for (sought, first, exact) in a.iter() {
                    if let Some((_, second, exactly)) = b.iter().find(|(v, ..)| v == sought) {
                        let sides = [first.clone(), second.clone()];
                        let path = Path::Choice { condition: data.args[0], sides };
                        reached.push((*sought, Rc::new(path), *exact && *exactly));
                    }
                }
            } else if let Some((operand, exact)) = self.operand(data) {
                for (sought, rest, exactly) in self.reach(data.args[operand], memo).iter() {
                    let path = Path::Through { inst, operand, rest: rest.clone() };
                    reached.push((*sought, Rc::new(path), exact && *exactly));
                }
            }
        }
        let reached = Rc::new(reached);
        memo.insert(v, reached.clone());
        reached
    }

    /// The operand that can be found from the result: the only one that is not known.
    fn operand(&self, data: &InstData) -> Option<(usize, Exact)> {
        let unknown: Vec<usize> = (0..data.args.len()).filter(|&i| self.knows(data.args[i]).is_none()).collect();
        let [operand] = unknown[..] else { return None };
        let others = data.args.iter().copied().enumerate().filter(|(i, _)| *i != operand).map(|(_, v)| v);
        let exact = self.know_all(others)?;
        let other = |wanted: bool| self.constants.get(&data.args[1 - operand]) == Some(&wanted);
        match data.op {
            Op::Float1(Float1::Neg) | Op::Int1(Int1::Neg | Int1::Not) | Op::BoolNot => Some((operand, true)),
            Op::Float2(Float2::Add | Float2::Sub | Float2::Mul) => Some((operand, false)),
            // a / b: what is divided is a product; what it is divided by is known only where a is not 0.
            Op::Float2(Float2::Div) if operand == 0 => Some((operand, false)),
            Op::Int2(Int2::Add | Int2::Sub | Int2::Xor) | Op::BoolXor => Some((operand, exact)),
            Op::BoolOr if other(false) => Some((operand, true)),
            Op::BoolAnd if other(true) => Some((operand, true)),
            _ => None,
        }
    }

    /// Finds a condition from flags that the branches leave.
    fn decide(&mut self, inst: Inst, actions: &mut Vec<Action>) {
        let data = self.data(inst);
        let sides = |i: usize| match data.op {
            Op::Select => [data.args[1], data.args[2]],
            _ => [0, 1].map(|side| self.round.f.region(data.regions[side]).results[i]),
        };
        let found = data.results.iter().enumerate().find_map(|(i, &by)| {
            let [a, b] = sides(i).map(|v| self.constants.get(&v).copied());
            (self.knows(by) == Some(true) && a? != b?).then_some((by, a?))
        });
        if let Some((by, then)) = found {
            self.learn(data.args[0], true);
            actions.push(Action::Decide { condition: data.args[0], by, then });
        }
    }

    /// Where the condition came back to the bit, what the branches handed out says what they took; in any case they can
    /// run once more, in part.
    fn branch(&mut self, inst: Inst, actions: &mut Vec<Action>) {
        let (f, data) = (self.round.f, self.data(inst));
        let Some(exact) = self.knows(data.args[0]) else { return };
        let mut inside = HashSet::new();
        data.regions.iter().for_each(|&r| f.walk_region(r, &mut |_, d| inside.extend(d.results.iter().copied())));
        let token = data.results.iter().any(|&r| f.ty(r) == Ty::Token);
        let side = |region: Region| {
            let mut plan = Plan { token: self.token && token, ..self.clone() };
            let mut handed = Vec::new();
            let results = f.region(region).results.iter().zip(&data.results);
            for (&inner, &result) in results.filter(|(_, r)| exact && f.ty(**r) != Ty::Token) {
                if let Some(exact) = self.knows(result)
                    && plan.learn(inner, exact)
                {
                    handed.push((inner, result));
                }
            }
            let outer = handed.iter().filter(|(inner, _)| !inside.contains(inner));
            let outer: Vec<Inst> = outer.filter_map(|(inner, _)| self.definitions.get(inner).copied()).collect();
            let scalar = |inst: &Inst| !matches!(self.data(*inst).op, Op::If | Op::Call(_));
            let actions = plan.deduce_with(region, &outer.into_iter().filter(scalar).collect::<Vec<Inst>>());
            (plan, handed, actions)
        };
        let ((a, handed_a, actions_a), (b, handed_b, actions_b)) = (side(data.regions[0]), side(data.regions[1]));
        let taken = a.known.keys().filter(|v| !inside.contains(v)).map(|&v| (v, [v, v]));
        let sides = f.region(data.regions[0]).results.iter().zip(&f.region(data.regions[1]).results);
        let given = data.results.iter().zip(sides).filter(|(r, _)| f.ty(**r) != Ty::Token);
        let given = given.map(|(&r, (&x, &y))| (r, [x, y]));
        let mut found: Vec<(Value, [Value; 2])> = taken.chain(given).collect();
        found.retain(|(v, [x, y])| self.knows(*v).is_none() && a.knows(*x).is_some() && b.knows(*y).is_some());
        found.sort();
        if found.is_empty() {
            return;
        }
        for &(v, [x, y]) in &found {
            self.learn(v, exact && a.knows(x) == Some(true) && b.knows(y) == Some(true));
        }
        let (handed, sides) = ([handed_a, handed_b], [actions_a, actions_b]);
        actions.push(Action::Branch(Branch { inst, handed, sides, found }));
    }

    fn unstep(&mut self, inst: Inst, actions: &mut Vec<Action>) {
        let Some(step) = self.round.steps.get(&inst) else { return };
        let (f, data) = (self.round.f, self.data(inst));
        let gives = &self.round.module.function(step.undo).results;
        let token = gives[0] == Ty::Token;
        let count = gives.len() - 1 - usize::from(token);
        let plain: Values = data.args.iter().copied().filter(|&v| f.ty(v) != Ty::Token).collect();
        let (before, args) = plain.split_at(count);
        let after = &data.results[step.results - count..step.results];
        let scalars = before.iter().all(|&v| !f.ty(v).is_array());
        let known = self.know_all(after.iter().chain(args).copied()).is_some();
        if !known || !scalars || (token && !self.token) || before.iter().all(|&v| self.knows(v).is_some()) {
            return;
        }
        for &v in before {
            // The author says that it does; what is no float has no rounding.
            self.learn(v, f.ty(v) != FLOAT);
        }
        let [before, after, args] = [before, after, args].map(Values::from_slice);
        actions.push(Action::Unstep(Unstep { undo: step.undo, before, after, args }));
    }
}
