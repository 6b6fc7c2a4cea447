//! Where a condition of an integrand changes: the zeros of polynomials in the coordinates of the unit cube.
//!
//! A condition compares two values. If their difference is affine, it changes at one plane. Else, if one of the two has no
//! coordinate in it, the other one is taken apart from outside: `exp(a) > t` is `a > log(t)`, `abs(a) > t` is `a > t` or
//! `a < −t`. Each branch of an inverse gives a *piece* of the boundary, with what has to hold for the piece to be one. What
//! is left in the end is a polynomial of the first or second degree.
//!
//! A comparison with NaN does not hold. So where a root or a logarithm ends, the condition changes if it holds before.

use super::forms::{Form, Forms};
use super::jumps::{Jump, Kind};
use super::sizes::Sizes;
use crate::ir::builder::Builder;
use crate::ir::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A part of the place where a condition changes.
#[derive(Clone)]
pub(super) struct Piece {
    /// The place is where this is 0.
    pub form: Form,
    /// Whether the condition holds where the form is positive, rather than negative.
    pub above: Value,
    /// Whether the piece is one at all.
    pub valid: Value,
    /// The place repeats where the form is a multiple of this.
    pub period: Option<f64>,
}

/// A place where a function has a value whose inverse the author gave.
pub(super) struct Declared {
    /// Of the integrand: a number that the function gives.
    pub value: Value,
    /// The value of that number there.
    pub against: Value,
    /// As of a piece.
    pub above: Value,
    pub valid: Value,
}

/// All places where a condition changes.
pub(super) struct Places {
    pub pieces: Vec<Piece>,
    pub declared: Vec<Declared>,
}

/// Pieces of one condition.
const MAX_PIECES: usize = 32;

/// Where a condition changes; `None` where it cannot be solved.
pub(super) fn places<'f>(b: &mut Builder, forms: &mut Forms<'f>, sizes: &Sizes<'f>, jump: &Jump) -> Option<Places> {
    let compare = match jump.kind {
        Kind::Compare(compare) | Kind::Kink(compare) => compare,
        Kind::Rounding(op) => {
            return Some(Places { pieces: vec![steps(b, forms, op, jump.args[0])?], declared: Vec::new() });
        }
        Kind::Unknown(_) => return None,
    };
    let above = b.bool(matches!(compare, Compare::Gt | Compare::Ge));
    let valid = b.bool(true);
    let mut solver = Solver { b, forms, sizes, pieces: Vec::new(), declared: Vec::new() };
    let start = Claim { above, valid };
    match *jump.args {
        [left, right] => solver.compared(left, right, start)?,
        _ => {
            let zero = solver.b.float(0.0);
            solver.solve(jump.args[0], zero, start)?;
        }
    }
    let Solver { pieces, declared, .. } = solver;
    (pieces.len() + declared.len() <= MAX_PIECES).then_some(Places { pieces, declared })
}

/// Where something affine that is rounded passes from one whole number to the next.
fn steps(b: &mut Builder, forms: &mut Forms<'_>, op: Float1, v: Value) -> Option<Piece> {
    let form = forms.of(b, v).filter(Form::is_affine)?;
    let shift = b.real(if op == Float1::Round { 0.5 } else { 0.0 });
    let form = form.sub(b, &Form::constant(form.dimensions, shift));
    let yes = b.bool(true);
    Some(Piece { form, above: yes, valid: yes, period: Some(1.0) })
}

/// `above`: the condition is that a value is greater than another one, rather than less. `valid`: it may change here.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub above: Value,
    pub valid: Value,
}

pub(super) struct Solver<'s, 'f> {
    pub b: &'s mut Builder,
    pub forms: &'s mut Forms<'f>,
    pub sizes: &'s Sizes<'f>,
    pieces: Vec<Piece>,
    declared: Vec<Declared>,
}

impl Solver<'_, '_> {
    pub(super) fn push(&mut self, form: Form, claim: Claim, period: Option<f64>) {
        self.pieces.push(Piece { form, above: claim.above, valid: claim.valid, period });
    }

    /// Solves `left > right`, or `left < right`.
    fn compared(&mut self, left: Value, right: Value, start: Claim) -> Option<()> {
        let difference = self.difference(left, right);
        if let Some(form) = difference.as_ref().filter(|form| form.is_affine()) {
            self.push(form.clone(), start, None);
            return Some(());
        }
        let turned = self.turned(start, None);
        let solved = match (self.fixed(left), self.fixed(right)) {
            (None, Some(t)) => self.solve(left, t, start),
            (Some(t), None) => self.solve(right, t, turned),
            _ => None,
        };
        if solved.is_none() {
            self.pieces.clear();
            self.declared.clear();
            self.push(difference?, start, None);
        }
        Some(())
    }

    fn difference(&mut self, left: Value, right: Value) -> Option<Form> {
        let (x, y) = (self.forms.of(self.b, left)?, self.forms.of(self.b, right)?);
        Some(x.sub(self.b, &y))
    }

    pub(super) fn fixed(&mut self, v: Value) -> Option<Value> {
        self.forms.fixed(self.b, v)
    }

    /// The claim turned round, where a condition holds or always.
    pub(super) fn turned(&mut self, claim: Claim, where_holds: Option<Value>) -> Claim {
        let above = match where_holds {
            Some(condition) => self.b.emit(Op::BoolXor, &[claim.above, condition], BOOL),
            None => self.b.not(claim.above),
        };
        Claim { above, ..claim }
    }

    pub(super) fn only(&mut self, claim: Claim, condition: Value) -> Claim {
        Claim { valid: self.b.and(claim.valid, condition), ..claim }
    }

    /// A value where a condition holds. Elsewhere it is one that has a derivative: nothing there counts, but 0 times what is
    /// no number would be none.
    pub(super) fn where_holds(&mut self, condition: Value, v: Value, otherwise: f64) -> Value {
        let otherwise = self.b.real(otherwise);
        self.b.select(condition, v, otherwise)
    }

    pub(super) fn compare(&mut self, op: Compare, x: Value, y: f64) -> Value {
        let y = self.b.real(y);
        self.b.float_compare(op, x, y)
    }

    /// Solves `v > t`, or `v < t`.
    pub(super) fn solve(&mut self, v: Value, t: Value, claim: Claim) -> Option<()> {
        if self.pieces.len() > MAX_PIECES {
            return None;
        }
        let form = self.forms.of(self.b, v);
        if let Some(form) = form.as_ref().filter(|form| form.is_affine()) {
            return self.leaf(form, t, claim, None);
        }
        let before = (self.pieces.len(), self.declared.len());
        if self.apart(v, t, claim).is_none() {
            self.pieces.truncate(before.0);
            self.declared.truncate(before.1);
            return self.leaf(&form?, t, claim, None);
        }
        Some(())
    }

    pub(super) fn leaf(&mut self, form: &Form, t: Value, claim: Claim, period: Option<f64>) -> Option<()> {
        let t = Form::constant(form.dimensions, t);
        let form = form.sub(self.b, &t);
        self.push(form, claim, period);
        Some(())
    }

    /// Solves for an operand of what makes the value.
    fn apart(&mut self, v: Value, t: Value, claim: Claim) -> Option<()> {
        let data = self.forms.copies.definition(v)?;
        let args = &data.args;
        match data.op {
            Op::Float1(op) => self.inverse(op, args[0], t, claim),
            Op::Float2(op) => match (self.fixed(args[0]), self.fixed(args[1])) {
                (None, Some(k)) => self.left(op, args[0], k, t, claim),
                (Some(k), None) => self.right(op, k, args[1], t, claim),
                _ => match op {
                    Float2::Mul if args[0] == args[1] => self.both(args[0], claim, t, Float1::Sqrt),
                    Float2::Mul => self.power([args[0], args[1]], t, claim),
                    Float2::Sub => self.saw(args[0], args[1], t, claim),
                    Float2::Div => self.quotient(args[0], args[1], t, claim),
                    _ => None,
                },
            },
            Op::Fma => {
                let k = self.fixed(args[2])?;
                let t = self.b.sub(t, k);
                match (self.fixed(args[0]), self.fixed(args[1])) {
                    (None, Some(k)) => self.left(Float2::Mul, args[0], k, t, claim),
                    (Some(k), None) => self.left(Float2::Mul, args[1], k, t, claim),
                    _ if args[0] == args[1] => self.both(args[0], claim, t, Float1::Sqrt),
                    _ => self.power([args[0], args[1]], t, claim),
                }
            }
            // Nothing but functions with an inverse is called here.
            Op::Call(_) => {
                self.declared.push(Declared { value: v, against: t, above: claim.above, valid: claim.valid });
                Some(())
            }
            Op::Select => self.either(args[0], args[1], args[2], t, claim),
            Op::If => {
                let at = data.results.iter().position(|&r| r == v)?;
                let [then, otherwise] = [0, 1].map(|i| self.forms.f.region(data.regions[i]).results[at]);
                self.either(args[0], then, otherwise, t, claim)
            }
            _ => None,
        }
    }

    /// One value or another, by what no coordinate is in.
    fn either(&mut self, condition: Value, then: Value, otherwise: Value, t: Value, claim: Claim) -> Option<()> {
        let condition = self.fixed(condition)?;
        let opposite = self.b.not(condition);
        for (v, condition) in [(then, condition), (otherwise, opposite)] {
            if self.forms.is_drawn(v) {
                let claim = self.only(claim, condition);
                self.solve(v, t, claim)?;
            }
        }
        Some(())
    }

    /// A factor to divide by, and a claim on its cofactor.
    fn factor(&mut self, k: Value, claim: Claim) -> (Value, Claim) {
        let negative = self.compare(Compare::Lt, k, 0.0);
        let some = self.compare(Compare::Ne, k, 0.0);
        let claim = self.turned(claim, Some(negative));
        let claim = self.only(claim, some);
        (self.where_holds(some, k, 1.0), claim)
    }

    /// The cofactor of k, against t.
    pub(super) fn divided(&mut self, t: Value, k: Value, claim: Claim) -> (Value, Claim) {
        let (k, claim) = self.factor(k, claim);
        (self.b.div(t, k), claim)
    }

    /// `a ∘ k` against t.
    fn left(&mut self, op: Float2, a: Value, k: Value, t: Value, claim: Claim) -> Option<()> {
        match op {
            Float2::Add => {
                let t = self.b.sub(t, k);
                self.solve(a, t, claim)
            }
            Float2::Sub => {
                let t = self.b.add(t, k);
                self.solve(a, t, claim)
            }
            Float2::Mul | Float2::Div => {
                let (k, claim) = self.factor(k, claim);
                let t = if op == Float2::Mul { self.b.div(t, k) } else { self.b.mul(t, k) };
                self.solve(a, t, claim)
            }
            Float2::Pow => self.power_by(a, k, t, claim),
            // Elsewhere it is k, whatever the coordinates are.
            Float2::Min | Float2::Max => {
                let beyond = if op == Float2::Max { Compare::Lt } else { Compare::Gt };
                let condition = self.b.float_compare(beyond, k, t);
                let claim = self.only(claim, condition);
                self.solve(a, t, claim)
            }
            _ => None,
        }
    }

    /// `k ∘ a` against t.
    fn right(&mut self, op: Float2, k: Value, a: Value, t: Value, claim: Claim) -> Option<()> {
        match op {
            Float2::Add | Float2::Mul | Float2::Min | Float2::Max => self.left(op, a, k, t, claim),
            Float2::Sub => {
                let t = self.b.sub(k, t);
                let claim = self.turned(claim, None);
                self.solve(a, t, claim)
            }
            Float2::Pow => self.exponential(k, a, t, claim),
            // k / a falls as a rises, if k is positive, and changes sign at the pole.
            Float2::Div => {
                let positive = self.compare(Compare::Gt, k, 0.0);
                let negative = self.compare(Compare::Lt, k, 0.0);
                let some = self.b.or(positive, negative);
                let claim = self.only(claim, some);
                let pole = self.turned(claim, Some(negative));
                let zero = self.b.float(0.0);
                self.solve(a, zero, pole)?;
                let crossed = self.compare(Compare::Ne, t, 0.0);
                let claim = self.turned(claim, Some(positive));
                let claim = self.only(claim, crossed);
                let t = self.where_holds(crossed, t, 1.0);
                let t = self.b.div(k, t);
                self.solve(a, t, claim)
            }
            _ => None,
        }
    }

    /// An even function that grows away from 0, with its inverse.
    fn both(&mut self, a: Value, claim: Claim, t: Value, inverse: Float1) -> Option<()> {
        let positive = self.compare(Compare::Gt, t, 0.0);
        let claim = self.only(claim, positive);
        // Where a hyperbolic cosine begins, above 1, too.
        let t = self.where_holds(claim.valid, t, 2.0);
        let high = if inverse == Float1::Abs { t } else { self.b.float1(inverse, t) };
        let low = self.b.neg(high);
        self.solve(a, high, claim)?;
        let turned = self.turned(claim, None);
        self.solve(a, low, turned)
    }

    /// A function of one variable against t.
    fn inverse(&mut self, op: Float1, a: Value, t: Value, claim: Claim) -> Option<()> {
        match op {
            Float1::Neg => {
                let t = self.b.neg(t);
                let claim = self.turned(claim, None);
                self.solve(a, t, claim)
            }
            Float1::Abs => self.both(a, claim, t, Float1::Abs),
            Float1::Cosh => {
                let above = self.compare(Compare::Gt, t, 1.0);
                let claim = self.only(claim, above);
                self.both(a, claim, t, Float1::Acosh)
            }
            Float1::Exp => self.rising(a, Float1::Log, t, claim, Some((0.0, f64::INFINITY))),
            Float1::Exp2 => self.rising(a, Float1::Log2, t, claim, Some((0.0, f64::INFINITY))),
            Float1::Expm1 => self.rising(a, Float1::Log1p, t, claim, Some((-1.0, f64::INFINITY))),
            Float1::Sinh => self.rising(a, Float1::Asinh, t, claim, None),
            Float1::Asinh => self.rising(a, Float1::Sinh, t, claim, None),
            Float1::Tanh => self.rising(a, Float1::Atanh, t, claim, Some((-1.0, 1.0))),
            Float1::Atan => self.rising(a, Float1::Tan, t, claim, Some((-FRAC_PI_2, FRAC_PI_2))),
            Float1::Cbrt => {
                let square = self.b.mul(t, t);
                let t = self.b.mul(square, t);
                self.solve(a, t, claim)
            }
            Float1::Sqrt => self.root(a, t, claim),
            Float1::Log => self.logarithm(a, Float1::Exp, t, claim, 0.0),
            Float1::Log2 => self.logarithm(a, Float1::Exp2, t, claim, 0.0),
            Float1::Log1p => self.logarithm(a, Float1::Expm1, t, claim, -1.0),
            Float1::Sin | Float1::Cos => self.wave(op, a, t, claim),
            _ => None,
        }
    }

    /// A function that rises, takes every value of a range, and is defined everywhere.
    fn rising(&mut self, a: Value, inverse: Float1, t: Value, claim: Claim, range: Option<(f64, f64)>) -> Option<()> {
        let mut claim = claim;
        if let Some((low, high)) = range {
            let condition = self.compare(Compare::Gt, t, low);
            claim = self.only(claim, condition);
            if high.is_finite() {
                let condition = self.compare(Compare::Lt, t, high);
                claim = self.only(claim, condition);
            }
        }
        let inside = if range == Some((0.0, f64::INFINITY)) { 1.0 } else { 0.0 };
        let t = self.where_holds(claim.valid, t, inside);
        let t = self.b.float1(inverse, t);
        self.solve(a, t, claim)
    }

    /// The condition holds just above the end of a domain, and not below it.
    pub(super) fn end(&mut self, a: Value, end: f64, claim: Claim, holds: Value) -> Option<()> {
        let claim = self.only(claim, holds);
        let (end, above) = (self.b.real(end), self.b.bool(true));
        self.solve(a, end, Claim { above, ..claim })
    }

    /// Where there is no root, the comparison does not hold.
    fn root(&mut self, a: Value, t: Value, claim: Claim) -> Option<()> {
        let (positive, negative) = (self.compare(Compare::Gt, t, 0.0), self.compare(Compare::Lt, t, 0.0));
        // At t = 0 no root is less, and all but one are greater.
        let not_negative = self.b.not(negative);
        let crossed = self.b.select(claim.above, not_negative, positive);
        let square = self.b.mul(t, t);
        let there = self.only(claim, crossed);
        self.solve(a, square, there)?;
        if self.sizes.is_size(a) {
            return Some(());
        }
        let holds = self.b.select(claim.above, negative, positive);
        self.end(a, 0.0, claim, holds)
    }

    fn logarithm(&mut self, a: Value, inverse: Float1, t: Value, claim: Claim, end: f64) -> Option<()> {
        let inverted = self.b.float1(inverse, t);
        self.solve(a, inverted, claim)?;
        let holds = self.b.not(claim.above);
        self.end(a, end, claim, holds)
    }

    /// A sine or cosine of something affine. It rises to t once in each period, and falls to it once.
    fn wave(&mut self, op: Float1, a: Value, t: Value, claim: Claim) -> Option<()> {
        let form = self.forms.of(self.b, a).filter(Form::is_affine)?;
        let size = self.b.float1(Float1::Abs, t);
        let inside = self.compare(Compare::Lt, size, 1.0);
        let claim = self.only(claim, inside);
        let t = self.where_holds(inside, t, 0.0);
        let falling = self.turned(claim, None);
        let (up, down) = if op == Float1::Sin {
            let up = self.b.float1(Float1::Asin, t);
            let half = self.b.real(PI);
            (up, self.b.sub(half, up))
        } else {
            let down = self.b.float1(Float1::Acos, t);
            (self.b.neg(down), down)
        };
        self.leaf(&form, up, claim, Some(TAU))?;
        self.leaf(&form, down, falling, Some(TAU))
    }
}
