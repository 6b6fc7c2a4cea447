//! Conditions on powers, and on quotients of affine values.

use super::forms::Form;
use super::solve::{Claim, Solver};
use crate::ir::*;

/// Factors of a product that are looked at.
const MAX_FACTORS: usize = 16;

impl Solver<'_, '_> {
    /// Solves a product for the one factor in which a coordinate is, however often it stands there.
    pub(super) fn power(&mut self, factors: [Value; 2], t: Value, claim: Claim) -> Option<()> {
        let (mut open, mut base, mut count, mut scale) = (factors.to_vec(), None, 0, None);
        while let Some(v) = open.pop() {
            if let Some(k) = self.fixed(v) {
                scale = Some(scale.map_or(k, |scale| self.b.mul(scale, k)));
                continue;
            }
            match self.forms.copies.definition(v) {
                // A product that stands twice is one factor.
                Some(data) if data.op == Op::Float2(Float2::Mul) && !open.contains(&v) && base != Some(v) => {
                    open.extend(&data.args);
                }
                _ if base.is_none_or(|base| base == v) => {
                    base = Some(v);
                    count += 1;
                }
                _ => return None,
            }
            if open.len() + count > MAX_FACTORS {
                return None;
            }
        }
        let (t, claim) = match scale {
            Some(k) => self.divided(t, k, claim),
            None => (t, claim),
        };
        self.whole_power(base?, count as i32, t, claim)
    }

    /// `aⁿ` against t.
    fn whole_power(&mut self, a: Value, n: i32, t: Value, claim: Claim) -> Option<()> {
        if n == 1 {
            return self.solve(a, t, claim);
        }
        let size = self.b.float1(Float1::Abs, t);
        let some = self.compare(Compare::Gt, size, 0.0);
        let size = self.where_holds(some, size, 1.0);
        let exponent = self.b.real(1.0 / f64::from(n));
        let root = self.b.float2(Float2::Pow, size, exponent);
        let opposite = self.b.neg(root);
        if n % 2 == 0 {
            let positive = self.compare(Compare::Gt, t, 0.0);
            let claim = self.only(claim, positive);
            self.solve(a, root, claim)?;
            let turned = self.turned(claim, None);
            return self.solve(a, opposite, turned);
        }
        let negative = self.compare(Compare::Lt, t, 0.0);
        let root = self.b.select(negative, opposite, root);
        let t = self.where_holds(some, root, 0.0);
        self.solve(a, t, claim)
    }

    /// `pow(a, k)` against t, for a positive constant k. If k is no whole number, a negative a gives NaN.
    pub(super) fn power_by(&mut self, a: Value, k: Value, t: Value, claim: Claim) -> Option<()> {
        let Some(Const::Float(bits)) = self.b.constant_of(k) else { return None };
        let k = f32::from_bits(bits);
        if !(k > 0.0 && k <= MAX_FACTORS as f32) {
            return None;
        }
        if k.fract() == 0.0 {
            return self.whole_power(a, k as i32, t, claim);
        }
        let (positive, negative) = (self.compare(Compare::Gt, t, 0.0), self.compare(Compare::Lt, t, 0.0));
        // At t = 0 no power is less, and all but one are greater.
        let not_negative = self.b.not(negative);
        let crossed = self.b.select(claim.above, not_negative, positive);
        let base = self.where_holds(positive, t, 1.0);
        let exponent = self.b.real(1.0 / f64::from(k));
        let root = self.b.float2(Float2::Pow, base, exponent);
        let root = self.where_holds(positive, root, 0.0);
        let there = self.only(claim, crossed);
        self.solve(a, root, there)?;
        if self.sizes.is_size(a) {
            return Some(());
        }
        let holds = self.b.select(claim.above, negative, positive);
        self.end(a, 0.0, claim, holds)
    }

    /// `pow(k, a)` against t.
    pub(super) fn exponential(&mut self, k: Value, a: Value, t: Value, claim: Claim) -> Option<()> {
        let [base, value] = [k, t].map(|v| self.compare(Compare::Gt, v, 0.0));
        let (falls, moves) = (self.compare(Compare::Lt, k, 1.0), self.compare(Compare::Ne, k, 1.0));
        let valid = [value, moves].into_iter().fold(base, |all, c| self.b.and(all, c));
        let claim = self.turned(claim, Some(falls));
        let claim = self.only(claim, valid);
        let [k, t] = [(k, 2.0), (t, 1.0)].map(|(v, otherwise)| {
            let v = self.where_holds(valid, v, otherwise);
            self.b.float1(Float1::Log, v)
        });
        let t = self.b.div(t, k);
        self.solve(a, t, claim)
    }

    /// `n / d` against t, where both are affine: (n − t d) d is as positive as the difference.
    pub(super) fn quotient(&mut self, n: Value, d: Value, t: Value, claim: Claim) -> Option<()> {
        let n = self.forms.of(self.b, n).filter(Form::is_affine)?;
        let d = self.forms.of(self.b, d).filter(Form::is_affine)?;
        let scaled = d.scaled(self.b, t);
        let difference = n.sub(self.b, &scaled);
        let product = difference.mul(self.b, &d)?;
        self.push(product, claim, None);
        Some(())
    }
}
