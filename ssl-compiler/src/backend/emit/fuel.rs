//! The operations on tokens: taking fuel, for a round or for all of them, and counting open calls.

use super::function::Emitter;
use super::{Assembler, Beside, Made, unexpected};
use crate::ir::{Compare, Const, InstData, Int2, Op, Region, Value};
use crate::runtime::block::{MAX_RECURSION, TOO_DEEP};
use std::collections::{HashMap, HashSet};

/// Fuel that the test of a loop takes, and that is there wherever the loop goes on.
pub(super) struct Toll<V> {
    /// The token behind it.
    paid: Value,
    before: V,
    cost: u32,
}

/// Which tokens have fuel in any case where the code that is being emitted runs.
#[derive(Default)]
pub(super) struct Fuelled {
    tokens: HashSet<Value>,
    /// By the rounds that were granted: the token that is left, which has fuel unless they are none.
    prepaid: HashMap<Value, Value>,
}

impl Fuelled {
    pub fn contains(&self, token: Value) -> bool {
        self.tokens.contains(&token)
    }

    /// The one has fuel if the other has.
    pub fn follow(&mut self, token: Value, from: Value) {
        if self.contains(from) {
            self.tokens.insert(token);
        }
    }
}

impl<A: Assembler> Emitter<'_, A> {
    pub fn token_op(&mut self, data: &InstData) -> Made {
        let (token, result) = (data.args[0], data.results[0]);
        let (before, mut depth) = (self.get(token)?, self.beside(token, Beside::Depth));
        let (mut fuel, wide) = (before, self.plan.is_wide(token));
        match data.op {
            Op::Leave => depth = self.deeper(depth, wide, -1)?,
            // Only the interpreter listens.
            Op::Probe(_) => {}
            Op::Burn(cost) => fuel = self.burn(fuel, wide, cost)?,
            _ => {
                fuel = self.burn(fuel, wide, 1)?;
                depth = self.deeper(depth, wide, 1)?;
                if let Some(d) = depth {
                    let (f, d) = self.bound_depth(fuel, d, wide)?;
                    (fuel, depth) = (f, Some(d));
                }
            }
        }
        self.set(result, fuel);
        self.pass_beside(token, result);
        if let Some(depth) = depth {
            self.set_beside(result, Beside::Depth, depth);
        }
        if let Some(&alive) = data.results.get(1) {
            let value = match data.op {
                // Does not wait for what is left. Vectors compare with 0 at less cost.
                Op::Burn(cost) if !wide => {
                    let cost = self.number(cost as i32, false)?;
                    self.asm.below(cost, before)?
                }
                _ => {
                    let none = self.number(0, wide)?;
                    self.asm.compare_ints(Compare::Ne, fuel, none)?
                }
            };
            self.set(alive, value);
        }
        Ok(())
    }

    /// Takes fuel for the rounds of a loop before the first.
    pub fn prepay(&mut self, data: &InstData, cost: u32) -> Made {
        let &[token, rounds] = data.args.as_slice() else { return unexpected() };
        let &[left, granted] = data.results.as_slice() else { return unexpected() };
        let wide = self.plan.is_wide(left);
        let (fuel, rounds) = (self.in_shape(token, wide)?, self.in_shape(rounds, wide)?);
        // See `Token::prepay`.
        let (most, price) = (self.number((u32::MAX / cost.max(1)) as i32, wide)?, self.number(cost as i32, wide)?);
        let paid = self.asm.unsigned_min(rounds, most)?;
        let cost = self.arithmetic(Int2::Mul, paid, price)?;
        let taken = self.asm.unsigned_min(fuel, cost)?;
        let fuel = self.arithmetic(Int2::Sub, fuel, taken)?;
        let none = self.number(0, wide)?;
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        let rounds = self.asm.select(alive, rounds, none)?;
        self.set(left, fuel);
        self.set(granted, rounds);
        self.fuelled.prepaid.insert(granted, left);
        for what in self.unit.beside.iter() {
            if let Some(carried) = self.carried(token, *what, wide)? {
                self.set_beside(left, *what, carried);
            }
        }
        Ok(())
    }

    /// What the test of a loop takes in any round that it lets through; the test's region has been emitted.
    pub fn toll(&self, condition: Region) -> Made<Option<Toll<A::Value>>> {
        let region = self.f.region(condition);
        let Some(&test) = region.results.first() else { return unexpected() };
        for data in region.insts.iter().map(|&inst| self.f.inst(inst)) {
            if let (Op::Burn(cost), &[paid, alive]) = (data.op, data.results.as_slice())
                && !self.plan.is_wide(data.args[0])
                && self.needs(condition, test, alive)
            {
                return Ok(Some(Toll { paid, before: self.get(data.args[0])?, cost }));
            }
        }
        Ok(None)
    }

    /// Where the loop goes on, taking fuel is a subtraction: there is more than it costs. Gives the token with what it
    /// has where the loop is over.
    pub fn pay(&mut self, toll: &Toll<A::Value>) -> Made<(Value, A::Value)> {
        let otherwise = self.get(toll.paid)?;
        let cost = self.number(toll.cost as i32, false)?;
        let left = self.arithmetic(Int2::Sub, toll.before, cost)?;
        self.set(toll.paid, left);
        Ok((toll.paid, otherwise))
    }

    /// Notes that the rounds of a loop have fuel if all of them were paid for, and nothing in them takes any. Then a pop in
    /// them need not ask.
    pub fn note_prepaid(&mut self, data: &InstData) {
        let &[condition, body] = data.regions.as_slice() else { return };
        let (tested, rounds) = (self.f.region(condition), self.f.region(body));
        let paid = |(&granted, &counter): (&Value, &Value)| {
            let token = *self.fuelled.prepaid.get(&granted)?;
            self.goes_on_above_zero(condition, counter).then_some(token)
        };
        let Some(token) = data.args.iter().zip(&tested.params).find_map(paid) else { return };
        if self.takes_fuel(condition) || self.takes_fuel(body) {
            return;
        }
        let carried = data.args.iter().position(|&v| v == token).map(|i| tested.params[i]);
        let handed = tested.results[1..].iter().position(|&v| Some(v) == carried);
        self.fuelled.tokens.extend(handed.map(|i| rounds.params[i]));
    }

    /// Whether a loop goes another round where a number is not 0, and only there.
    fn goes_on_above_zero(&self, condition: Region, number: Value) -> bool {
        let region = self.f.region(condition);
        let tests = |data: &InstData| data.results.first() == region.results.first();
        let is_zero = |v: Value| self.constant(v) == Some(Const::Int(0));
        region.insts.iter().map(|&inst| self.f.inst(inst)).any(|data| {
            data.op == Op::IntCompare(Compare::Ne)
                && tests(data)
                && matches!(data.args[..], [a, b] if a == number && is_zero(b) || b == number && is_zero(a))
        })
    }

    /// Whether anything in a region may take fuel from the token that passes through it.
    fn takes_fuel(&self, region: Region) -> bool {
        let mut takes = false;
        self.f.walk_region(region, &mut |_, data| {
            takes |= matches!(data.op, Op::Burn(_) | Op::Prepay(_) | Op::Enter | Op::Push(_) | Op::Call(_));
        });
        takes
    }

    /// Whether a test can hold only where a condition of the same region does. Under-estimates: it sees through
    /// conjunctions, and branches whose other side is false.
    fn needs(&self, region: Region, test: Value, condition: Value) -> bool {
        let is_false = |v: Value| self.constant(v) == Some(Const::Bool(false));
        let mut needed = HashSet::from([test]);
        for data in self.f.region(region).insts.iter().rev().map(|&inst| self.f.inst(inst)) {
            if !data.results.first().is_some_and(|r| needed.contains(r)) {
                continue;
            }
            match (data.op, data.args.as_slice()) {
                (Op::BoolAnd, &[a, b]) => needed.extend([a, b]),
                (Op::Select, &[chosen, then, otherwise]) if is_false(otherwise) => needed.extend([chosen, then]),
                // Only the first result of a branch is followed.
                (Op::If, &[chosen]) => {
                    let otherwise = data.regions.get(1).and_then(|&r| self.f.region(r).results.first());
                    needed.extend(otherwise.filter(|v| is_false(**v)).map(|_| chosen));
                }
                _ => {}
            }
        }
        needed.contains(&condition)
    }

    /// Takes fuel, down to none.
    fn burn(&mut self, fuel: A::Value, wide: bool, cost: u32) -> Made<A::Value> {
        let cost = self.number(cost as i32, wide)?;
        let taken = self.asm.unsigned_min(fuel, cost)?;
        self.arithmetic(Int2::Sub, fuel, taken)
    }

    fn deeper(&mut self, depth: Option<A::Value>, wide: bool, by: i32) -> Made<Option<A::Value>> {
        let Some(depth) = depth else { return Ok(None) };
        let by = self.number(by, wide)?;
        self.arithmetic(Int2::Add, depth, by).map(Some)
    }

    /// Too deep a call takes all fuel, so that the lane ends.
    fn bound_depth(&mut self, fuel: A::Value, depth: A::Value, wide: bool) -> Made<(A::Value, A::Value)> {
        let levels = self.number(!TOO_DEEP as i32, wide)?;
        let open = self.arithmetic(Int2::And, depth, levels)?;
        let limit = self.number(MAX_RECURSION as i32, wide)?;
        let too_deep = self.asm.below(limit, open)?;
        let flag = self.number(TOO_DEEP as i32, wide)?;
        let ended = self.arithmetic(Int2::Or, depth, flag)?;
        let none = self.number(0, wide)?;
        Ok((self.asm.select(too_deep, none, fuel)?, self.asm.select(too_deep, ended, depth)?))
    }
}
