//! Loops whose updates are taken back: the sweep restores the state before each round from the state behind it, in
//! place of a tape. Its memory does not grow with the rounds.
//!
//! A carried value that the sweep reads must change by sums, differences, products, quotients, exact integer steps,
//! moves to other variables, or choices between these, by amounts that are known: computed from loop counters, from
//! values of outside the loop, or from values that were restored already. The order is found.
//!
//! Floats come back with a rounding error a round. So the state itself goes on the tape every so many rounds, the
//! *anchors*, and wherever a product cannot be undone, since its factor is (nearly) 0. Both sides decide that alike:
//! factors must not depend on what was restored.

use super::keep::{Counted, Kept, can_run_again};
use super::linearise::{Lineariser, Rounds};
use super::transpose::{Sweep, uses_inside};
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::{HashMap, HashSet};

/// Rounds between anchors unless the author says: after so many the error is 2 · 2¹⁶ · 2⁻²⁴ of a value at worst, below
/// 1 %, and √(2¹⁶) · 2⁻²⁴, 2 · 10⁻⁵, if the roundings are independent.
const ANCHOR: u32 = 1 << 16;

/// Factors whose magnitude is below this are not divided by.
const SMALLEST: f32 = 1e-6;

/// How a loop's rounds are taken back.
pub(super) struct Undo {
    /// Carried values as the round finds them, in the order in which they can be restored.
    pub values: Vec<Value>,
    /// What each is when the loop is left, as a result of the loop.
    finals: Vec<Value>,
    /// By value, from what it is restored: what the round makes of one of them.
    from: Vec<Carried>,
    /// What is divided by.
    factors: Vec<Value>,
    /// Counters, by which factors and amounts may be computed.
    counted: Vec<Counted>,
    anchor: u32,
    site: Site,
}

/// Why a value cannot be restored.
pub(super) enum Obstacle {
    /// It is no carried value, and cannot be computed again.
    Untraceable,
    /// It is not updated by an operation that can be taken back.
    NoInverse,
    /// The amount of its update is not known before it is.
    Amount,
    /// The factor is known only from restored values.
    Factor,
}

impl Obstacle {
    pub fn text(&self) -> &'static str {
        match self {
            Obstacle::Untraceable => "the sweep needs a value of each round that cannot be computed again",
            Obstacle::NoInverse => "a variable is not changed by `+=`, `-=`, `*=`, `/=` or a move of another variable",
            Obstacle::Amount => "the amount by which a variable changes depends on the variable itself",
            Obstacle::Factor => "the factor by which a variable is multiplied depends on variables that change",
        }
    }
}

/// The body's region as the plan sees it.
struct Plan<'a> {
    f: &'a Function,
    definitions: HashMap<Value, Inst>,
    params: &'a [Value],
    counters: HashSet<Value>,
    restored: Vec<Value>,
    /// Values that others were found to need.
    asked: HashSet<Value>,
}

/// A parameter of the body that the condition passes through, and what the round makes of it.
type Carried = (Value, Value);

fn carried(condition: &RegionData, body: &RegionData) -> Vec<Carried> {
    let pairs = body.params.iter().zip(&condition.results[1..]);
    let place = |handed: &Value| condition.params.iter().position(|p| p == handed);
    pairs.filter_map(|(&param, handed)| Some((param, body.results[place(handed)?]))).collect()
}

/// How a value is restored: from what the round made of this parameter.
struct Found {
    param: Value,
    next: Value,
    factors: Vec<Value>,
}

impl Lineariser<'_, '_> {
    /// The plan for a loop whose sweep reads what is kept of the body; the finals are filled in behind the loop.
    pub(super) fn plan_undo(
        &mut self,
        [condition, body]: [Region; 2],
        kept: &Kept,
        counters: &[Counted],
        anchor: u32,
    ) -> Result<(Undo, Vec<usize>), Obstacle> {
        let site = self.output.own_site(self.b.span);
        let f = &self.b.function;
        let (condition, body) = (f.region(condition), f.region(body));
        let mut definitions = HashMap::new();
        for &inst in &body.insts {
            definitions.extend(f.inst(inst).results.iter().map(|&r| (r, inst)));
        }
        let counted = counters.to_vec();
        let counters = counters.iter().map(|c| c.value).collect();
        let mut plan =
            Plan { f, definitions, params: &body.params, counters, restored: Vec::new(), asked: HashSet::new() };
        let mut undo = Undo {
            values: Vec::new(),
            finals: Vec::new(),
            from: Vec::new(),
            factors: Vec::new(),
            counted,
            anchor,
            site,
        };
        let carried = carried(condition, body);
        let mut places = Vec::new();
        let mut wanted: Vec<Value> = kept.leaves.clone();
        while !wanted.is_empty() {
            let (mut progress, mut obstacle) = (false, Obstacle::Amount);
            let mut later: Vec<Value> = Vec::new();
            for v in std::mem::take(&mut wanted) {
                if undo.values.contains(&v) {
                    continue;
                }
                let Some(place) = plan.params.iter().position(|&p| p == v) else { return Err(Obstacle::Untraceable) };
                match plan.find(v, &carried) {
                    Ok(found) => {
                        progress = true;
                        plan.restored.push(v);
                        undo.values.push(v);
                        undo.factors.extend(found.factors);
                        undo.from.push((found.param, found.next));
                        places.push(place);
                        // What is behind one round must be known behind the one before.
                        later.push(found.param);
                    }
                    Err(Missing::Values(values)) => {
                        for w in values {
                            progress |= plan.asked.insert(w) && !kept.leaves.contains(&w);
                            later.push(w);
                        }
                        later.push(v);
                    }
                    Err(Missing::Never(why)) => {
                        obstacle = why;
                        later.push(v);
                    }
                }
            }
            later.retain(|v| !undo.values.contains(v));
            if !progress && !later.is_empty() {
                return Err(obstacle);
            }
            later.sort();
            later.dedup();
            wanted = later;
        }
        Ok((undo, places))
    }

    /// Writes at the end of the body: the state goes on the tape if the round cannot be undone.
    pub(super) fn push_anchors(&mut self, body: Region, undo: &Undo, index: Value) {
        let mut results = self.b.function.region(body).results.clone();
        let Some(place) = results.iter().position(|&v| self.b.ty(v) == Ty::Token) else { return };
        self.b.reopen(body);
        let anchor = anchored(&mut self.b, undo, &undo.factors, index);
        let then = self.b.open(&[]);
        let values = [results[place]].into_iter().chain(undo.values.iter().copied()).collect();
        let inst = self.b.push(Op::Push(undo.site), values, &[Ty::Token], &[]);
        let pushed = self.b.results(inst)[0];
        self.b.close(Values::from_slice(&[pushed]));
        let otherwise = self.b.open(&[]);
        self.b.close(Values::from_slice(&[results[place]]));
        let inst = self.b.push(Op::If, Values::from_slice(&[anchor]), &[Ty::Token], &[then, otherwise]);
        results[place] = self.b.results(inst)[0];
        self.b.close(results);
    }
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

/// Whether the state of a round is on the tape.
fn anchored(b: &mut Builder, undo: &Undo, factors: &[Value], index: Value) -> Value {
    let every = if undo.anchor == 0 { ANCHOR } else { undo.anchor };
    let (every, last) = (b.int(every as i32), b.int(every as i32 - 1));
    let place = b.int2(Int2::Rem, index, every);
    let mut anchor = b.int_compare(Compare::Eq, place, last);
    for &factor in factors {
        let size = b.float1(Float1::Abs, factor);
        let smallest = b.float(SMALLEST);
        // False for NaN, too.
        let fine = b.float_compare(Compare::Gt, size, smallest);
        let bad = b.not(fine);
        anchor = b.or(anchor, bad);
    }
    anchor
}

enum Missing {
    /// These have to be known first.
    Values(Vec<Value>),
    Never(Obstacle),
}

/// An operation whose first or second operand can be found from its result and the other one.
fn inverse(op: Op) -> bool {
    matches!(
        op,
        Op::Float2(Float2::Add | Float2::Sub | Float2::Mul | Float2::Div)
            | Op::Int2(Int2::Add | Int2::Sub | Int2::Xor)
            | Op::Float1(Float1::Neg)
            | Op::Int1(Int1::Neg | Int1::Not)
    )
}

impl Plan<'_> {
    /// From what a value can be restored: from what became of itself, or of another one.
    fn find(&self, sought: Value, carried: &[Carried]) -> Result<Found, Missing> {
        let own = carried.iter().filter(|(param, _)| *param == sought);
        let others = carried.iter().filter(|(param, _)| *param != sought && self.f.ty(*param) == self.f.ty(sought));
        let mut why = None;
        for &(param, next) in own.chain(others) {
            let mut factors = Vec::new();
            match self.invert(next, sought, &mut factors) {
                Ok(()) => return Ok(Found { param, next, factors }),
                Err(missing) => why = Some(why.unwrap_or(missing)),
            }
        }
        Err(why.unwrap_or(Missing::Never(Obstacle::NoInverse)))
    }

    /// Whether `sought` can be found from `next`, which was made of it; notes what is divided by.
    fn invert(&self, next: Value, sought: Value, factors: &mut Vec<Value>) -> Result<(), Missing> {
        if next == sought {
            return Ok(());
        }
        let Some(&inst) = self.definitions.get(&next) else { return Err(Missing::Never(Obstacle::NoInverse)) };
        let data = self.f.inst(inst);
        match data.op {
            op if inverse(op) && data.args.len() == 1 => self.invert(data.args[0], sought, factors),
            op if inverse(op) => {
                let (a, b) = (data.args[0], data.args[1]);
                let (inner, other) = match (self.depends(a, sought), self.depends(b, sought)) {
                    (true, false) => (a, b),
                    (false, true) => (b, a),
                    (true, true) => return Err(Missing::Never(Obstacle::Amount)),
                    (false, false) => return Err(Missing::Never(Obstacle::NoInverse)),
                };
                self.available(other, false)?;
                match op {
                    Op::Float2(Float2::Mul) => {
                        self.available(other, true)?;
                        factors.push(other);
                    }
                    // a / b: what is divided is found by a product, what it is divided by from the quotient.
                    Op::Float2(Float2::Div) if inner == b => return Err(Missing::Never(Obstacle::NoInverse)),
                    _ => {}
                }
                self.invert(inner, sought, factors)
            }
            Op::Select => {
                self.available(data.args[0], true)?;
                self.invert(data.args[1], sought, factors)?;
                self.invert(data.args[2], sought, factors)
            }
            _ => Err(Missing::Never(Obstacle::NoInverse)),
        }
    }

    /// What a value of the body is computed from: the body's parameters, as far as it can be computed again.
    fn sources(&self, v: Value) -> Option<HashSet<Value>> {
        let (mut found, mut seen, mut work) = (HashSet::new(), HashSet::new(), vec![v]);
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            if self.params.contains(&v) {
                found.insert(v);
            } else if let Some(&inst) = self.definitions.get(&v) {
                let data = self.f.inst(inst);
                if !can_run_again(self.f, data, true) {
                    return None;
                }
                work.extend(data.args.iter().copied());
                work.extend(uses_inside(self.f, &data.regions));
            }
        }
        Some(found)
    }

    fn depends(&self, v: Value, on: Value) -> bool {
        self.sources(v).is_none_or(|sources| sources.contains(&on))
    }

    /// Whether a value can be computed when the values restored so far are known; if it is to be exact, from none of
    /// them.
    fn available(&self, v: Value, exact: bool) -> Result<(), Missing> {
        let Some(sources) = self.sources(v) else { return Err(Missing::Never(Obstacle::Untraceable)) };
        let missing: Vec<Value> = sources.iter().copied().filter(|v| !self.counters.contains(v)).collect();
        if exact && !missing.is_empty() {
            return Err(Missing::Never(Obstacle::Factor));
        }
        let missing: Vec<Value> = missing.into_iter().filter(|v| !self.restored.contains(v)).collect();
        if missing.is_empty() { Ok(()) } else { Err(Missing::Values(missing)) }
    }
}

impl Sweep<'_, '_> {
    /// The state before a round, from the one behind it; makes it known.
    pub(super) fn restore(&mut self, rounds: &Rounds, undo: &Undo, behind: &[Value], index: Value) -> Values {
        let body = self.forwards.region(rounds.body.region);
        self.inside = (body.insts.iter())
            .flat_map(|&inst| self.forwards.inst(inst).results.iter().map(move |&r| (r, inst)))
            .collect();
        self.begin(&Kept { counted: undo.counted.clone(), ..Kept::default() }, &[], Some(index));
        undo.factors.iter().for_each(|&factor| self.compute(factor));
        let factors: Vec<Value> = undo.factors.iter().map(|&v| self.known(v)).collect();
        let environment = self.environment.clone();
        let anchor = anchored(&mut self.b, undo, &factors, index);
        let token = self.token;
        let mut types: Vec<Ty> = token.iter().map(|_| Ty::Token).collect();
        types.extend(behind.iter().map(|&v| self.b.ty(v)));

        let then = self.b.open(&[]);
        let popped = self.pop(undo.site, &undo.values);
        self.b.close(self.token.into_iter().chain(popped).collect());
        let otherwise = self.b.open(&[]);
        self.token = token;
        for (&v, &(param, next)) in undo.values.iter().zip(&undo.from) {
            // The plan is closed: what it restores from is restored, too.
            let place = undo.values.iter().position(|&p| p == param).unwrap_or(0);
            let now = behind[place];
            let before = self.inverted(next, v, now);
            self.environment.insert(v, before);
        }
        let restored: Values = undo.values.iter().map(|v| self.environment[v]).collect();
        self.b.close(token.into_iter().chain(restored).collect());
        self.environment = environment;
        let inst = self.b.push(Op::If, Values::from_slice(&[anchor]), &types, &[then, otherwise]);
        let mut results = Values::from_slice(self.b.results(inst));
        if token.is_some() {
            self.token = Some(results.remove(0));
        }
        self.environment.extend(undo.values.iter().copied().zip(results.iter().copied()));
        results
    }

    /// Computes a value of the way forwards from what is known.
    fn compute(&mut self, v: Value) {
        if self.environment.contains_key(&v) {
            return;
        }
        let Some(inst) = self.definition(v) else { return };
        let data = self.forwards.inst(inst);
        for v in data.args.iter().copied().chain(uses_inside(self.forwards, &data.regions)) {
            self.compute(v);
        }
        self.run_again(inst);
    }

    fn definition(&self, v: Value) -> Option<Inst> {
        self.inside.get(&v).copied()
    }

    /// What `sought` was, if `next`, which was made of it, is `now`.
    fn inverted(&mut self, next: Value, sought: Value, now: Value) -> Value {
        if next == sought {
            return now;
        }
        // The plan went the same way.
        let Some(inst) = self.definition(next) else { return now };
        let data = self.forwards.inst(inst);
        let (op, args) = (data.op, data.args.clone());
        match op {
            Op::Float1(_) | Op::Int1(_) => {
                let ty = self.b.ty(now);
                let inner = self.b.emit(op, &[now], ty);
                self.inverted(args[0], sought, inner)
            }
            Op::Select => {
                self.compute(args[0]);
                let condition = self.known(args[0]);
                let (a, b) = (self.inverted(args[1], sought, now), self.inverted(args[2], sought, now));
                self.b.select(condition, a, b)
            }
            op => {
                let first = self.leads_to(args[0], sought);
                let (inner, other) = if first { (args[0], args[1]) } else { (args[1], args[0]) };
                self.compute(other);
                let other = self.known(other);
                let value = match op {
                    Op::Float2(Float2::Add) => self.b.sub(now, other),
                    Op::Float2(Float2::Sub) if first => self.b.add(now, other),
                    Op::Float2(Float2::Sub) => self.b.sub(other, now),
                    Op::Float2(Float2::Mul) => self.b.div(now, other),
                    Op::Float2(_) => self.b.mul(now, other),
                    Op::Int2(Int2::Add) => self.b.int2(Int2::Sub, now, other),
                    Op::Int2(Int2::Sub) if first => self.b.int2(Int2::Add, now, other),
                    Op::Int2(Int2::Sub) => self.b.int2(Int2::Sub, other, now),
                    _ => self.b.int2(Int2::Xor, now, other),
                };
                self.inverted(inner, sought, value)
            }
        }
    }

    fn leads_to(&self, v: Value, sought: Value) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![v]);
        while let Some(v) = work.pop() {
            if v == sought {
                return true;
            }
            if let Some(inst) = self.definition(v).filter(|_| seen.insert(v)) {
                let data = self.forwards.inst(inst);
                work.extend(data.args.iter().copied());
                work.extend(uses_inside(self.forwards, &data.regions));
            }
        }
        false
    }
}
