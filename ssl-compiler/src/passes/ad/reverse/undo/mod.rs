//! Loops whose updates are taken back: the sweep restores the state before each round from the state behind it, in
//! place of a tape. Its memory does not grow with the rounds.
//!
//! What the sweep reads of a round must be known from the variables as the round left them, from loop counters, and
//! from values of outside the loop (`plan`). The author can say how a call is taken back.
//!
//! Floats come back with a rounding error a round. So the state itself goes on the tape every so many rounds, the
//! *anchors*, and wherever a round cannot be taken back: a product destroys its operand if the factor is 0, or if the
//! result is so small that it lost digits, and the author's function may say no. That is asked on the way forwards only.
//! Each state on the tape says in which round the one before it was put there, so that the sweep knows which round to
//! take from the tape next, and needs not find it out from values with rounding errors.

mod actions;
mod obstacle;
mod plan;
mod restore;

use super::keep::{Counted, Kept};
use super::linearise::Lineariser;
use crate::ir::builder::Builder;
use crate::ir::*;
use actions::{Action, Branch, Path, Unstep, prune};
pub(super) use obstacle::Obstacle;
pub(super) use plan::{Carried, Step};
use plan::{Plan, Round};
use std::collections::HashSet;

/// Rounds between anchors unless the author says: after so many the error is 2 · 2¹⁶ · 2⁻²⁴ of a value at worst, below
/// 1 %, and √(2¹⁶) · 2⁻²⁴, 2 · 10⁻⁵, if the roundings are independent.
const ANCHOR: u32 = 1 << 16;

/// Factors whose magnitude is below this are not divided by.
const SMALLEST: f32 = 1e-6;

/// How a loop's rounds are taken back.
pub(super) struct Undo {
    /// The variables that the sweep holds as each round left them.
    pub tracked: Vec<Carried>,
    /// What goes on the tape of a round that is not taken back.
    values: Vec<Value>,
    /// What restores them.
    actions: Vec<Action>,
    /// What computes all else that the sweep reads, from them.
    again: Vec<Action>,
    counted: Vec<Counted>,
    implied: Vec<(Value, bool)>,
    /// What that reads from outside of the loop.
    pub outer: Vec<Value>,
    /// When the loop is left: what the tracked variables are, and the last round on the tape.
    finals: Vec<Value>,
    anchor: u32,
    site: Site,
    pub drift: Option<Drift>,
}

/// How what is restored is compared with what was: that is on the tape, too, at this site.
pub(super) struct Drift {
    site: Site,
    /// Variables, by the numbers of the probes that tell.
    numbers: Vec<(Value, u32)>,
}

impl Undo {
    /// Where the loop's results hold the state at its end.
    pub fn ends_in(&mut self, finals: Vec<Value>) {
        self.finals = finals;
    }

    pub fn finals(&self) -> &[Value] {
        &self.finals
    }
}

/// The carried values that the condition passes through.
fn carried(f: &Function, condition: &RegionData, body: &RegionData) -> Vec<Carried> {
    let pairs = body.params.iter().zip(&condition.results[1..]);
    let place = |handed: &Value| condition.params.iter().position(|p| p == handed);
    let all = pairs.filter_map(|(&param, handed)| Some((param, body.results[place(handed)?])));
    all.filter(|(param, _)| matches!(f.ty(*param), Ty::Scalar(_))).collect()
}

/// Flags that are known in each round, since the loop goes on only where they are so.
fn implied(f: &Function, condition: &RegionData, body: &RegionData) -> Vec<(Value, bool)> {
    let mut facts = Vec::new();
    let definition = |v: Value| condition.insts.iter().map(|&i| f.inst(i)).find(|data| data.results.contains(&v));
    let mut work = vec![(condition.results[0], true)];
    while let Some((v, value)) = work.pop() {
        facts.push((v, value));
        let Some(data) = definition(v) else { continue };
        let never = |v: Value| f.constants()[v.index()] == Some(Const::Bool(!value));
        match data.op {
            Op::BoolNot => work.push((data.args[0], !value)),
            Op::BoolAnd if value => work.extend([(data.args[0], true), (data.args[1], true)]),
            Op::BoolOr if !value => work.extend([(data.args[0], false), (data.args[1], false)]),
            Op::Select if never(data.args[2]) => work.extend([(data.args[0], true), (data.args[1], value)]),
            Op::Select if never(data.args[1]) => work.extend([(data.args[0], false), (data.args[2], value)]),
            Op::If => {
                let place = data.results.iter().position(|&r| r == v).unwrap_or(0);
                match [0, 1].map(|side| never(f.region(data.regions[side]).results[place])) {
                    [false, true] => work.push((data.args[0], true)),
                    [true, false] => work.push((data.args[0], false)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let handed = body.params.iter().zip(&condition.results[1..]);
    handed.filter_map(|(&p, v)| facts.iter().find(|(fact, _)| fact == v).map(|(_, value)| (p, *value))).collect()
}

impl Lineariser<'_, '_> {
    /// The plan for a loop whose sweep reads what is kept of the body; the finals are filled in behind the loop. Behind
    /// it, the places of the tracked variables among what the body takes.
    pub(super) fn plan_undo(
        &mut self,
        [condition, body]: [Region; 2],
        kept: &Kept,
        counters: &[Counted],
        anchor: u32,
    ) -> Result<(Undo, Vec<usize>), (Obstacle, Value)> {
        let site = self.output.own_site(self.b.span);
        let f = &self.b.function;
        let (tests, rounds) = (f.region(condition), f.region(body));
        let implied = implied(f, tests, rounds);
        let all = carried(f, tests, rounds);
        let (module, shows) = (self.output.module, &self.output.shows[..]);
        let round = Round { module, f, body, steps: &self.back, shows, counters, implied: &implied };
        let mut tracked = all.clone();
        let (plan, actions) = greatest(round, &mut tracked);
        if let Some(&v) = kept.leaves.iter().find(|v| plan.knows(**v).is_none()) {
            return Err(plan.obstacle(v, &all));
        }
        let (again, later) = computed(round, &tracked, &kept.leaves);
        let mut goals: HashSet<Value> = tracked.iter().map(|(param, _)| *param).filter(|v| later.contains(v)).collect();
        goals.extend(later.iter().filter(|v| kept.leaves.contains(v)));
        let (actions, need) = loop {
            let mut need = goals.clone();
            let actions = prune(f, &actions, &mut need);
            need.extend(&later);
            let before = goals.len();
            // What is behind one round must be known behind the one before.
            goals.extend(tracked.iter().filter(|(_, next)| need.contains(next)).map(|(param, _)| *param));
            if goals.len() == before {
                break (actions, need);
            }
        };
        tracked.retain(|(param, next)| goals.contains(param) && need.contains(next));
        let found = |v: &Value| {
            let free = implied.iter().any(|(flag, _)| flag == v) || counters.iter().any(|c| c.value == *v);
            !free && !tracked.iter().any(|(_, next)| next == v)
        };
        let mut values: Vec<Value> = goals.iter().copied().filter(found).collect();
        values.sort();
        let counted: Vec<Counted> = counters.iter().copied().filter(|c| need.contains(&c.value)).collect();
        let inside: HashSet<Value> = self.inside(body);
        let outer = need.into_iter().filter(|v| !inside.contains(v) && f.ty(*v) != Ty::Token);
        let mut outer: Vec<Value> = outer.chain(counted.iter().map(|c| c.first)).collect();
        outer.sort();
        outer.dedup();
        let place = |(param, _): &Carried| rounds.params.iter().position(|p| p == param);
        let places = tracked.iter().filter_map(place).collect();
        let undo = Undo {
            tracked,
            values,
            actions,
            again,
            counted,
            implied,
            outer,
            finals: Vec::new(),
            anchor,
            site,
            drift: None,
        };
        Ok((undo, places))
    }

    /// What the author calls a parameter of the body, if lowering noted that.
    pub(super) fn variable(&self, body: Region, data: &InstData, v: Value) -> Option<String> {
        let place = self.b.function.region(body).params.iter().position(|&p| p == v)?;
        let old = *self.source.region(data.regions[1]).params.get(place)?;
        self.source.bindings.iter().find(|b| b.value == old).map(|b| b.part.clone())
    }

    /// The numbers among the variables, to be compared with what they were, if that is wanted.
    pub(super) fn measured(&mut self, body: Region, data: &InstData, undo: &Undo) -> Option<Drift> {
        if !self.output.measures_drift() {
            return None;
        }
        let site = self.output.own_site(data.span);
        let mut numbers = Vec::new();
        for &v in undo.values.iter().filter(|v| [FLOAT, INT].contains(&self.b.ty(**v))) {
            let name = self.variable(body, data, v).unwrap_or_else(|| "a variable".to_owned());
            numbers.push((v, self.output.drift(name)?));
        }
        Some(Drift { site, numbers })
    }

    /// All values of a region, and of those in it.
    fn inside(&self, region: Region) -> HashSet<Value> {
        let f = &self.b.function;
        let mut inside: HashSet<Value> = f.region(region).params.iter().copied().collect();
        f.walk_region(region, &mut |_, data| {
            inside.extend(data.results.iter().copied());
            inside.extend(data.regions.iter().flat_map(|&r| f.region(r).params.iter().copied()));
        });
        inside
    }

    /// Writes at the end of the body: the state goes on the tape if the round is not taken back. The body's last
    /// parameters are the number of the round, and of the last one on the tape.
    pub(super) fn push_anchors(&mut self, body: Region, undo: &Undo) {
        let mut results = self.b.function.region(body).results.clone();
        let params = self.b.params(body);
        let [.., index, last] = params[..] else { return };
        let Some(place) = results.iter().position(|&v| self.b.ty(v) == Ty::Token) else { return };
        self.b.reopen(body);
        let mut token = Some(results[place]);
        let lost = self.lost(&undo.actions, &mut token);
        let token = token.unwrap_or(results[place]);
        let every = if undo.anchor == 0 { ANCHOR } else { undo.anchor };
        let end = self.b.int(every as i32 - 1);
        // Rounds are not negative.
        let phase = match every.is_power_of_two() {
            true => self.b.int2(Int2::And, index, end),
            false => {
                let every = self.b.int(every as i32);
                self.b.int2(Int2::Rem, index, every)
            }
        };
        let mut keep = self.b.int_compare(Compare::Eq, phase, end);
        if let Some(lost) = lost {
            keep = self.b.or(keep, lost);
        }
        let then = self.b.open(&[]);
        let values = [token, last].into_iter().chain(undo.values.iter().copied()).collect();
        let inst = self.b.push(Op::Push(undo.site), values, &[Ty::Token], &[]);
        let pushed = self.b.results(inst)[0];
        self.b.close(Values::from_slice(&[pushed, index]));
        let otherwise = self.b.open(&[]);
        self.b.close(Values::from_slice(&[token, last]));
        let types = [Ty::Token, INT];
        let inst = self.b.push(Op::If, Values::from_slice(&[keep]), &types, &[then, otherwise]);
        let given = Values::from_slice(self.b.results(inst));
        results[place] = given[0];
        if let Some(drift) = &undo.drift {
            let values = given[..1].iter().copied().chain(drift.numbers.iter().map(|(v, _)| *v)).collect();
            let inst = self.b.push(Op::Push(drift.site), values, &[Ty::Token], &[]);
            results[place] = self.b.results(inst)[0];
        }
        if let Some(last) = results.last_mut() {
            *last = given[1];
        }
        self.b.close(results);
    }

    /// Whether a round lost what these need to restore it; `None` where it never does.
    fn lost(&mut self, actions: &[Action], token: &mut Option<Value>) -> Option<Value> {
        let mut lost = None;
        for action in actions {
            let one = match action {
                Action::Invert { path, .. } => lost_on(&mut self.b, path),
                Action::Unstep(step) => Some(self.refused(step, token)),
                Action::Branch(branch) => self.lost_inside(branch),
                Action::Compute(_) | Action::Decide { .. } => None,
            };
            lost = either(&mut self.b, lost, one);
        }
        lost
    }

    /// Likewise in the branches of an `if`, which then says so, too.
    fn lost_inside(&mut self, branch: &Branch) -> Option<Value> {
        let regions = self.b.function.inst(branch.inst).regions.clone();
        let mut flags = Vec::new();
        for (&region, actions) in regions.iter().zip(&branch.sides) {
            let mut results = self.b.function.region(region).results.clone();
            let place = results.iter().position(|&v| self.b.ty(v) == Ty::Token);
            let mut token = place.map(|place| results[place]);
            self.b.reopen(region);
            flags.push(self.lost(actions, &mut token));
            if let (Some(place), Some(token)) = (place, token) {
                results[place] = token;
            }
            self.b.close(results);
        }
        if flags.iter().all(Option::is_none) {
            return None;
        }
        for (&region, flag) in regions.iter().zip(flags) {
            let results = self.b.function.region(region).results.clone();
            self.b.reopen(region);
            let flag = flag.unwrap_or_else(|| self.b.bool(false));
            self.b.close(results.into_iter().chain([flag]).collect());
        }
        let flag = self.b.function.new_value(BOOL);
        self.b.function.insts[branch.inst.index()].results.push(flag);
        Some(flag)
    }

    /// Whether the author's function says that a step cannot be taken back.
    fn refused(&mut self, step: &Unstep, token: &mut Option<Value>) -> Value {
        let types = self.output.module.function(step.undo).results.clone();
        let first = usize::from(types[0] == Ty::Token);
        let takes: Values = token.filter(|_| first == 1).into_iter().collect();
        let args = takes.into_iter().chain(step.after.iter().chain(&step.args).copied()).collect();
        let inst = self.b.push(Op::Call(step.undo), args, &types, &[]);
        let given = Values::from_slice(self.b.results(inst));
        if first == 1 {
            *token = Some(given[0]);
        }
        self.b.not(given[first])
    }
}

/// What can be known of a round if as much as possible is known behind it. Leaves the carried values that are tracked.
fn greatest<'a>(round: Round<'a>, tracked: &mut Vec<Carried>) -> (Plan<'a>, Vec<Action>) {
    let mut exact: HashSet<Value> = tracked.iter().map(|(param, _)| *param).collect();
    loop {
        let mut plan = Plan::new(round);
        let mut actions = plan.deduce(round.body);
        // What is known without looking behind the round need not be tracked.
        let mut behind = HashSet::new();
        for &(param, next) in tracked.iter() {
            if plan.learn(next, exact.contains(&param)) {
                behind.insert(next);
            }
        }
        actions.extend(plan.deduce(round.body));
        let before = (tracked.len(), exact.len());
        exact.retain(|param| plan.knows(*param) == Some(true));
        tracked.retain(|(param, _)| plan.knows(*param).is_some());
        if (tracked.len(), exact.len()) == before {
            let mut seen = HashSet::new();
            tracked.retain(|(_, next)| behind.contains(next) && seen.insert(*next));
            return (plan, actions);
        }
    }
}

/// How what the sweep reads is computed from the variables before the round, and what that takes. What a call made of
/// the variables is rather taken from behind the round than computed again.
fn computed(round: Round<'_>, tracked: &[Carried], reads: &[Value]) -> (Vec<Action>, HashSet<Value>) {
    let mut plan = Plan::new(round);
    let is_call = |v: Value| matches!(plan.definition(v).map(|data| data.op), Some(Op::Call(_)));
    let (called, others): (Vec<Carried>, Vec<Carried>) = tracked.iter().copied().partition(|(_, next)| is_call(*next));
    for &(param, _) in tracked {
        plan.learn(param, false);
    }
    for &(_, next) in &called {
        plan.learn(next, false);
    }
    let mut actions = plan.deduce(round.body);
    for &(_, next) in &others {
        plan.learn(next, false);
    }
    actions.extend(plan.deduce(round.body));
    let mut need: HashSet<Value> = reads.iter().copied().collect();
    let actions = prune(round.f, &actions, &mut need);
    let found: HashSet<Value> = actions.iter().flat_map(|action| action.finds(round.f)).collect();
    need.retain(|v| !found.contains(v));
    (actions, need)
}

fn either(b: &mut Builder, first: Option<Value>, second: Option<Value>) -> Option<Value> {
    match (first, second) {
        (Some(x), Some(y)) => Some(b.or(x, y)),
        (one, other) => one.or(other),
    }
}

/// Whether a product on the way lost what it was made of.
fn lost_on(b: &mut Builder, path: &Path) -> Option<Value> {
    match path {
        Path::Here => None,
        Path::Through { inst, operand, rest } => {
            let data = b.function.inst(*inst);
            let product = (data.op == Op::Float2(Float2::Mul)).then(|| (data.args[*operand], data.args[1 - operand]));
            let result = data.results[0];
            let here = product.map(|(inner, factor)| {
                let size = b.float1(Float1::Abs, factor);
                let smallest = b.float(SMALLEST);
                // False for NaN, too.
                let fine = b.float_compare(Compare::Gt, size, smallest);
                let size = b.float1(Float1::Abs, result);
                let normal = b.float(f32::MIN_POSITIVE);
                let small = b.float_compare(Compare::Lt, size, normal);
                let zero = b.float(0.0);
                let was = b.float_compare(Compare::Ne, inner, zero);
                let (none, few) = (b.not(fine), b.and(small, was));
                b.or(none, few)
            });
            let rest = lost_on(b, rest);
            either(b, here, rest)
        }
        Path::Choice { condition, sides } => {
            let [a, c] = [0, 1].map(|i| lost_on(b, &sides[i]));
            let no = b.bool(false);
            match (a, c) {
                (None, None) => None,
                (a, c) => Some(b.select(*condition, a.unwrap_or(no), c.unwrap_or(no))),
            }
        }
    }
}
