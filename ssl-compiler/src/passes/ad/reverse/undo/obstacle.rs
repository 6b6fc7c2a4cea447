//! Why a variable cannot be restored, for the author.

use super::super::transpose::uses_inside;
use super::plan::{Carried, Plan};
use crate::ir::*;
use std::collections::HashSet;

impl Plan<'_> {
    /// Why a value of the round stays unknown, and the variable whose fault it is.
    pub fn obstacle(&self, v: Value, carried: &[Carried]) -> (Obstacle, Value) {
        if carried.iter().any(|(param, _)| *param == v) || self.round.f.ty(v).is_array() {
            return (self.obstacle_of(v, carried), v);
        }
        if let Some(Op::Loop(_)) = self.definition(v).map(|data| data.op) {
            return (Obstacle::Loop, v);
        }
        let lost = |&&(param, _): &&Carried| self.knows(param).is_none() && self.leads_to(v, param);
        match carried.iter().find(lost) {
            Some(&(param, _)) => (self.obstacle_of(param, carried), param),
            None => (Obstacle::Untraceable, v),
        }
    }

    fn obstacle_of(&self, v: Value, carried: &[Carried]) -> Obstacle {
        let f = self.round.f;
        let Some(&(_, next)) = carried.iter().find(|(param, _)| *param == v) else { return Obstacle::Array };
        let mut now = next;
        loop {
            let Some(&inst) = self.definitions.get(&now) else { return Obstacle::NoInverse };
            let data = self.data(inst);
            let unknown: Vec<Value> = data.args.iter().copied().filter(|&a| self.knows(a).is_none()).collect();
            now = match (data.op, &unknown[..]) {
                (Op::If | Op::Select, _) if self.knows(data.args[0]) != Some(true) => return Obstacle::Condition,
                (Op::If, _) => {
                    let place = data.results.iter().position(|&r| r == now).unwrap_or(0);
                    let sides = data.regions.iter().map(|&r| f.region(r).results[place]);
                    match sides.into_iter().find(|&inner| self.knows(inner).is_none() && inner != v) {
                        Some(inner) => inner,
                        None => return Obstacle::NoInverse,
                    }
                }
                (Op::Select, &[a, b]) if a == v || b == v => {
                    if a == v {
                        b
                    } else {
                        a
                    }
                }
                (Op::Call(_), _) if self.round.steps.contains_key(&inst) => {
                    let itself = unknown.iter().any(|&a| a != v && self.leads_to(a, v));
                    return if itself { Obstacle::Amount } else { Obstacle::Together };
                }
                (Op::Call(_), _) => return Obstacle::Call,
                (op, &[_]) if !invertible(op) => return Obstacle::NoInverse,
                (_, &[inner]) => inner,
                (op, &[a, b]) if invertible(op) && self.leads_to(a, v) && self.leads_to(b, v) => {
                    return Obstacle::Amount;
                }
                (op, &[_, _]) if invertible(op) => return Obstacle::Together,
                _ => return Obstacle::NoInverse,
            };
        }
    }

    fn leads_to(&self, from: Value, to: Value) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![from]);
        while let Some(v) = work.pop() {
            if v == to {
                return true;
            }
            if let Some(&inst) = self.definitions.get(&v).filter(|_| seen.insert(v)) {
                let data = self.data(inst);
                work.extend(data.args.iter().copied());
                work.extend(uses_inside(self.round.f, &data.regions));
            }
        }
        false
    }
}

fn invertible(op: Op) -> bool {
    matches!(
        op,
        Op::Float2(Float2::Add | Float2::Sub | Float2::Mul | Float2::Div)
            | Op::Int2(Int2::Add | Int2::Sub | Int2::Xor)
            | Op::Float1(Float1::Neg)
            | Op::Int1(Int1::Neg | Int1::Not)
    )
}

/// Why a value cannot be restored.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Obstacle {
    Untraceable,
    Loop,
    Array,
    Test,
    NoInverse,
    Call,
    Amount,
    Together,
    Condition,
}

impl Obstacle {
    pub fn text(self) -> &'static str {
        match self {
            Obstacle::Untraceable => "the sweep needs a value of each round that cannot be computed again",
            Obstacle::Loop => "the sweep needs what a loop inside computes; a function of its own for that loop helps",
            Obstacle::Array => "an array changes that is indexed at run time",
            Obstacle::Test => "the condition of the loop computes what the sweep needs, as that of a `do` loop does",
            Obstacle::NoInverse => "a variable is not changed by `+=`, `-=`, `*=`, `/=` or a move of another variable",
            Obstacle::Call => "a variable is changed by a function without `[Undo(g)]`",
            Obstacle::Amount => "the amount by which a variable changes depends on the variable itself",
            Obstacle::Together => "two variables change each other, so that neither can be restored first",
            Obstacle::Condition => {
                "which way a branch went cannot be told afterwards: its condition depends on variables that change, and \
                 come back with rounding at best"
            }
        }
    }
}
