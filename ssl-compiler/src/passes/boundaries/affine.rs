//! What a condition compares, as an affine function of the variables of integration, written where none of them is known.

use super::jumps::{Jump, Taint};
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;

/// slopes · u + offset, over the unit cube. A slope that is missing is 0.
#[derive(Clone)]
pub(super) struct Form {
    pub slopes: Vec<Option<Value>>,
    pub offset: Value,
}

/// Copies of an integrand's values in another function.
pub(super) struct Copies<'a> {
    f: &'a Function,
    definitions: HashMap<Value, Inst>,
    known: HashMap<Value, Option<Value>>,
}

impl<'a> Copies<'a> {
    /// For the integrand's parameters stand what it sees and the variables of integration, as far as they are given.
    pub fn new(f: &'a Function, seen: &[Value], drawn: &[Value]) -> Copies<'a> {
        let mut definitions = HashMap::new();
        f.walk(|inst, data| definitions.extend(data.results.iter().map(|&r| (r, inst))));
        let given = seen.iter().chain(drawn).map(|&v| Some(v));
        let params = f.params().iter().copied().filter(|&v| f.ty(v) != Ty::Token);
        Copies { f, definitions, known: params.zip(given).collect() }
    }

    /// The copy of a value; `None` where it is made in a loop, or by more than plain operations. Both sides of an `if` are
    /// computed.
    pub fn of(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        if let Some(known) = self.known.get(&v) {
            return *known;
        }
        let copy = self.made(b, v);
        self.known.insert(v, copy);
        copy
    }

    fn made(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        let f = self.f;
        let data = f.inst(*self.definitions.get(&v)?);
        match data.op {
            Op::If => {
                let at = data.results.iter().position(|&r| r == v)?;
                let condition = self.of(b, data.args[0])?;
                let [then, otherwise] = [0, 1].map(|i| f.region(data.regions[i]).results[at]);
                let (then, otherwise) = (self.of(b, then)?, self.of(b, otherwise)?);
                matches!(b.ty(then), Ty::Scalar(_)).then(|| b.select(condition, then, otherwise))
            }
            Op::Const(c) => Some(b.constant(c)),
            op if op.is_pure() && data.regions.is_empty() && data.results.len() == 1 => {
                let args: Option<Values> = data.args.iter().map(|&a| self.of(b, a)).collect();
                Some(b.emit(op, &args?, f.ty(v)))
            }
            _ => None,
        }
    }
}

/// The affine forms of an integrand's values.
pub(super) struct Forms<'a> {
    f: &'a Function,
    taint: &'a Taint,
    bounds: &'a [[Value; 2]],
    drawn: Vec<Value>,
    copies: Copies<'a>,
    known: HashMap<Value, Option<Form>>,
}

impl<'a> Forms<'a> {
    pub fn new(f: &'a Function, taint: &'a Taint, bounds: &'a [[Value; 2]], copies: Copies<'a>) -> Forms<'a> {
        let drawn = f.params()[f.params().len() - bounds.len()..].to_vec();
        Forms { f, taint, bounds, drawn, copies, known: HashMap::new() }
    }

    /// What is positive where the comparison holds, and negative where not.
    pub fn residual(&mut self, b: &mut Builder, jump: &Jump) -> Option<Form> {
        let (left, right) = (self.of(b, jump.args[0])?, self.of(b, jump.args[1])?);
        Some(match jump.compare {
            Compare::Lt | Compare::Le => combine(b, Float2::Sub, &right, &left),
            _ => combine(b, Float2::Sub, &left, &right),
        })
    }

    fn of(&mut self, b: &mut Builder, v: Value) -> Option<Form> {
        if let Some(known) = self.known.get(&v) {
            return known.clone();
        }
        let form = self.made(b, v);
        self.known.insert(v, form.clone());
        form
    }

    fn made(&mut self, b: &mut Builder, v: Value) -> Option<Form> {
        let none = vec![None; self.bounds.len()];
        if !self.taint.is_drawn(v) {
            return Some(Form { slopes: none, offset: self.copies.of(b, v)? });
        }
        if let Some(d) = self.drawn.iter().position(|&x| x == v) {
            let [low, high] = self.bounds[d];
            let mut slopes = none;
            slopes[d] = Some(b.sub(high, low));
            return Some(Form { slopes, offset: low });
        }
        let f = self.f;
        let data = f.inst(*self.copies.definitions.get(&v)?);
        let args = &data.args;
        match data.op {
            Op::Float1(Float1::Neg) => {
                let form = self.of(b, args[0])?;
                Some(each(b, &form, |b, v| b.neg(v)))
            }
            Op::Detach => {
                let form = self.of(b, args[0])?;
                Some(each(b, &form, |b, v| b.emit(Op::Detach, &[v], FLOAT)))
            }
            Op::Boundary => self.of(b, args[0]),
            Op::Float2(op @ (Float2::Add | Float2::Sub)) => {
                let (x, y) = (self.of(b, args[0])?, self.of(b, args[1])?);
                Some(combine(b, op, &x, &y))
            }
            Op::Float2(Float2::Mul) => self.product(b, args[0], args[1]),
            Op::Float2(Float2::Div) if !self.taint.is_drawn(args[1]) => {
                let (x, y) = (self.of(b, args[0])?, self.copies.of(b, args[1])?);
                Some(each(b, &x, |b, v| b.div(v, y)))
            }
            Op::Fma => {
                let (product, sum) = (self.product(b, args[0], args[1])?, self.of(b, args[2])?);
                Some(combine(b, Float2::Add, &product, &sum))
            }
            Op::Select if !self.taint.is_drawn(args[0]) => self.choice(b, args[0], args[1], args[2]),
            Op::If if !self.taint.is_drawn(args[0]) => {
                let at = data.results.iter().position(|&r| r == v)?;
                let [then, otherwise] = [0, 1].map(|i| f.region(data.regions[i]).results[at]);
                self.choice(b, args[0], then, otherwise)
            }
            _ => None,
        }
    }

    fn product(&mut self, b: &mut Builder, x: Value, y: Value) -> Option<Form> {
        let (x, y) = if self.taint.is_drawn(y) { (y, x) } else { (x, y) };
        if self.taint.is_drawn(y) {
            return None;
        }
        let (form, factor) = (self.of(b, x)?, self.copies.of(b, y)?);
        Some(each(b, &form, |b, v| b.mul(v, factor)))
    }

    fn choice(&mut self, b: &mut Builder, condition: Value, x: Value, y: Value) -> Option<Form> {
        let condition = self.copies.of(b, condition)?;
        let (x, y) = (self.of(b, x)?, self.of(b, y)?);
        let zero = b.float(0.0);
        let slopes = x.slopes.iter().zip(&y.slopes).map(|pair| match pair {
            (None, None) => None,
            (x, y) => Some(b.select(condition, x.unwrap_or(zero), y.unwrap_or(zero))),
        });
        let slopes = slopes.collect();
        Some(Form { slopes, offset: b.select(condition, x.offset, y.offset) })
    }
}

fn each(b: &mut Builder, form: &Form, mut write: impl FnMut(&mut Builder, Value) -> Value) -> Form {
    let slopes = form.slopes.iter().map(|s| s.map(|s| write(b, s))).collect();
    Form { slopes, offset: write(b, form.offset) }
}

/// The sum or difference.
fn combine(b: &mut Builder, op: Float2, x: &Form, y: &Form) -> Form {
    let slopes = x.slopes.iter().zip(&y.slopes).map(|pair| match (pair, op) {
        ((None, None), _) => None,
        ((Some(x), Some(y)), _) => Some(b.float2(op, *x, *y)),
        ((Some(x), None), _) => Some(*x),
        ((None, Some(y)), Float2::Sub) => Some(b.neg(*y)),
        ((None, Some(y)), _) => Some(*y),
    });
    let slopes = slopes.collect();
    Form { slopes, offset: b.float2(op, x.offset, y.offset) }
}
