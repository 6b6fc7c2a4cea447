//! Remainders as differences: a mod b is a − b trunc(a / b), and has the sign of a nearly everywhere.
//!
//! So what jumps is a rounding, whose places are known, and a comparison of a remainder with 0 is one of a. A remainder that is
//! moved by b where it has not the sign of b, as `mod` has it, is a − b floor(a / b).

use crate::ir::*;
use std::collections::HashMap;

const ADD: Op = Op::Float2(Float2::Add);

/// Writes out the remainders of an integrand.
pub(super) fn run(f: &mut Function) {
    let mut remainders = HashMap::new();
    f.walk(|_, data| {
        if data.op == Op::Float2(Float2::Fmod) {
            remainders.insert(data.results[0], data.args.clone());
        }
    });
    if remainders.is_empty() {
        return;
    }
    let floored = Floored::all(f, &remainders);
    let zero: Vec<bool> = f.constants().iter().map(|c| matches!(c, Some(Const::Float(b)) if b << 1 == 0)).collect();
    let is_zero = |v: Value| zero.get(v.index()).copied().unwrap_or(false);
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            let data = f.inst(inst).clone();
            match data.op {
                Op::Float2(Float2::Fmod | Float2::Add) if floored.contains_key(&inst) || data.op != ADD => {
                    let (a, b) = floored.get(&inst).copied().unwrap_or((data.args[0], data.args[1]));
                    let rounding = if data.op == ADD { Float1::Floor } else { Float1::Trunc };
                    let mut push = |f: &mut Function, op, args: &[Value]| {
                        let result = f.new_value(FLOAT);
                        let results = [result].into_iter().collect();
                        let data = InstData { op, args: Values::from_slice(args), results, ..data.clone() };
                        insts.push(f.new_inst(data));
                        result
                    };
                    let ratio = push(f, Op::Float2(Float2::Div), &[a, b]);
                    let whole = push(f, Op::Float1(rounding), &[ratio]);
                    let product = push(f, Op::Float2(Float2::Mul), &[b, whole]);
                    let written = &mut f.insts[inst.index()];
                    (written.op, written.args) = (Op::Float2(Float2::Sub), Values::from_slice(&[a, product]));
                }
                Op::FloatCompare(Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge) => {
                    for (at, other) in [(0, 1), (1, 0)] {
                        if let Some(args) = remainders.get(&data.args[at])
                            && is_zero(data.args[other])
                        {
                            f.insts[inst.index()].args[at] = args[0];
                        }
                    }
                }
                _ => {}
            }
            insts.push(inst);
        }
        f.regions[region].insts = insts;
    }
}

/// Looks for remainders that are moved to have the sign of the divisor.
struct Floored<'a> {
    definitions: HashMap<Value, &'a InstData>,
    constants: Vec<Option<Const>>,
}

impl Floored<'_> {
    /// The additions that move them, with dividend and divisor.
    fn all(f: &Function, remainders: &HashMap<Value, Values>) -> HashMap<Inst, (Value, Value)> {
        let mut definitions = HashMap::new();
        for data in &f.insts {
            definitions.extend(data.results.iter().map(|&r| (r, data)));
        }
        let floored = Floored { definitions, constants: f.constants() };
        let mut found = HashMap::new();
        f.walk(|inst, data| {
            let &[remainder, shift] = data.args.as_slice() else { return };
            if data.op == ADD
                && let Some(args) = remainders.get(&remainder)
                && floored.moves(remainder, args[1], shift)
            {
                found.insert(inst, (args[0], args[1]));
            }
        });
        found
    }

    fn float(&self, v: Value) -> Option<f32> {
        match self.constants.get(v.index()) {
            Some(Some(Const::Float(bits))) => Some(f32::from_bits(*bits)),
            _ => None,
        }
    }

    fn args(&self, v: Value, op: Op) -> Option<&[Value]> {
        let data: &InstData = self.definitions.get(&v)?;
        (data.op == op).then_some(data.args.as_slice())
    }

    /// Whether a value is b where the remainder has the other sign, and else 0.
    fn moves(&self, remainder: Value, b: Value, shift: Value) -> bool {
        let Some(&[condition, moved, zero]) = self.args(shift, Op::Select) else { return false };
        if moved != b && self.float(moved).is_none_or(|x| Some(x) != self.float(b)) || self.float(zero) != Some(0.0) {
            return false;
        }
        let less = |v: Value, low: Option<Value>, high: Option<Value>| {
            let Some(&[x, y]) = self.args(v, Op::FloatCompare(Compare::Lt)) else { return false };
            let is = |v: Value, wanted: Option<Value>| wanted.map_or(self.float(v) == Some(0.0), |w| w == v);
            is(x, low) && is(y, high)
        };
        let is_below = |v: Value| less(v, Some(remainder), None);
        let is_above = |v: Value| less(v, None, Some(remainder));
        match self.float(b) {
            Some(x) if x > 0.0 => is_below(condition),
            Some(_) => is_above(condition),
            None => {
                let Some(&[first, second]) = self.args(condition, Op::BoolOr) else { return false };
                let (Some(&[below, rising]), Some(&[above, falling])) =
                    (self.args(first, Op::BoolAnd), self.args(second, Op::BoolAnd))
                else {
                    return false;
                };
                let is_falling = |v: Value| less(v, Some(b), None);
                let is_rising = |v: Value| self.args(v, Op::BoolNot).is_some_and(|args| is_falling(args[0]));
                is_below(below) && is_rising(rising) && is_above(above) && is_falling(falling)
            }
        }
    }
}
