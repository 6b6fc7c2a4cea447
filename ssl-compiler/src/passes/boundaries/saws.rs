//! Conditions on the remainder of a rounded affine value: `fract(u) > t`, `mod(x, k) < t`, `abs(u - round(u)) < t`.
//!
//! In each period, u − floor(u) rises from 0 to 1 and falls back at once. So it passes a value between these twice: where u
//! is this value and a whole number more, and where u is a whole number.

use super::forms::Form;
use super::solve::{Claim, Solver};
use crate::ir::*;

/// A value that is factor · (form − its whole part) + offset.
struct Saw {
    form: Form,
    op: Float1,
    factor: Option<Value>,
    offset: Value,
}

impl Solver<'_, '_> {
    /// `whole − part > t`, or less, where one of them is rounded.
    pub(super) fn saw(&mut self, whole: Value, part: Value, t: Value, claim: Claim) -> Option<()> {
        let (mut t, mut claim) = (t, claim);
        let saw = match self.saw_of(whole, part) {
            Some(saw) => saw,
            None => {
                (t, claim) = (self.b.neg(t), self.turned(claim, None));
                self.saw_of(part, whole)?
            }
        };
        let Saw { form, op, factor, offset } = saw;
        t = self.b.sub(t, offset);
        if let Some(factor) = factor {
            (t, claim) = self.divided(t, factor, claim);
        }
        let (low, step) = match op {
            Float1::Floor => (0.0, 0.0),
            Float1::Ceil => (-1.0, 0.0),
            Float1::Round => (-0.5, 0.5),
            _ => return None,
        };
        let (above, below) = (self.compare(Compare::Gt, t, low), self.compare(Compare::Lt, t, low + 1.0));
        let inside = self.b.and(above, below);
        let claim = self.only(claim, inside);
        let t = self.where_holds(inside, t, low + 0.5);
        self.leaf(&form, t, claim, Some(1.0))?;
        let (step, falling) = (self.b.real(step), self.turned(claim, None));
        self.leaf(&form, step, falling, Some(1.0))
    }

    fn saw_of(&mut self, whole: Value, part: Value) -> Option<Saw> {
        let (factor, rounded) = self.scaled(part);
        let rounding = self.forms.copies.definition(rounded)?;
        let Op::Float1(op) = rounding.op else { return None };
        let mut inner = rounding.args[0];
        let form = self.forms.of(self.b, inner).filter(Form::is_affine)?;
        if let Some(factor) = factor {
            // k · floor(x / k)
            inner = self.dividend(inner, factor)?;
        }
        let (whole, inner) = (self.forms.of(self.b, whole)?, self.forms.of(self.b, inner)?);
        if !whole.is_affine() || whole.coefficients[1..] != inner.coefficients[1..] {
            return None;
        }
        let zero = self.b.float(0.0);
        let [whole, inner] = [whole, inner].map(|form| form.coefficients[0].unwrap_or(zero));
        Some(Saw { form, op, factor, offset: self.b.sub(whole, inner) })
    }

    /// The dividend by k in a value, or the factor of 1 / k.
    fn dividend(&mut self, v: Value, k: Value) -> Option<Value> {
        let data = self.forms.copies.definition(v)?;
        if data.op == Op::Float2(Float2::Div) {
            return (self.fixed(data.args[1])? == k).then_some(data.args[0]);
        }
        let (Some(reciprocal), x) = self.scaled(v) else { return None };
        let float = |v: Value| match self.b.constant_of(v) {
            Some(Const::Float(bits)) => Some(f32::from_bits(bits)),
            _ => None,
        };
        (float(reciprocal)? * float(k)? == 1.0).then_some(x)
    }

    /// A value as a product with one that no coordinate is in.
    fn scaled(&mut self, v: Value) -> (Option<Value>, Value) {
        let Some(data) = self.forms.copies.definition(v) else { return (None, v) };
        if data.op != Op::Float2(Float2::Mul) {
            return (None, v);
        }
        match (self.fixed(data.args[0]), self.fixed(data.args[1])) {
            (Some(factor), None) => (Some(factor), data.args[1]),
            (None, Some(factor)) => (Some(factor), data.args[0]),
            _ => (None, v),
        }
    }
}
