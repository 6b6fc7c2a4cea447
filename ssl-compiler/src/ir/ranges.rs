//! Between which numbers a float lies, told from the few operations that lead to it.
//!
//! Bounds hold in f32 and in f64: what rounds widens them by a unit in the last place of f32. A value without a range may be
//! anything, NaN included. It over-estimates: parameters, loads, and what a loop carries or an `if` gives have no range, operands
//! count as if they did not depend on each other (so x·x may be negative), and the search ends after a few operations.

use super::{Const, Float1, Float2, Op, Value, Values};

/// Operations in a row that are looked at.
const DEPTH: u32 = 6;

/// A closed interval. What lies in it is no NaN; the bounds may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// The range of a value; `definition` gives the operation that it is the result of.
    pub fn of(v: Value, definition: &impl Fn(Value) -> Option<(Op, Values)>) -> Option<Range> {
        Range::within(v, definition, DEPTH)
    }

    fn within(v: Value, definition: &impl Fn(Value) -> Option<(Op, Values)>, depth: u32) -> Option<Range> {
        let (op, args) = definition(v)?;
        let depth = depth.checked_sub(1)?;
        let of = |i: usize| Range::within(*args.get(i)?, definition, depth);
        match op {
            Op::Const(Const::Float(bits)) => Range::new(f32::from_bits(bits).into(), f32::from_bits(bits).into()),
            Op::IntToFloat => Range::new(f64::from(i32::MIN), -f64::from(i32::MIN)),
            // What is not finite becomes 0, also in f64.
            Op::Finite => of(0).filter(|range| range.is_finite()),
            Op::Float1(op) => of(0)?.unary(op),
            // The first operand is what is left where the second one is NaN.
            Op::Float2(Float2::Max) => {
                let (a, b) = (of(0)?, of(1));
                Range::new(b.map_or(a.low, |b| a.low.max(b.low)), b.map_or(f64::INFINITY, |b| a.high.max(b.high)))
            }
            Op::Float2(Float2::Min) => {
                let (a, b) = (of(0)?, of(1));
                Range::new(b.map_or(f64::NEG_INFINITY, |b| a.low.min(b.low)), b.map_or(a.high, |b| a.high.min(b.high)))
            }
            Op::Float2(Float2::Add) => of(0)?.plus(of(1)?),
            Op::Float2(Float2::Sub) => of(0)?.plus(of(1)?.negated()),
            Op::Float2(Float2::Mul) => of(0)?.times(of(1)?),
            Op::Select => {
                let (a, b) = (of(1)?, of(2)?);
                Range::new(a.low.min(b.low), a.high.max(b.high))
            }
            _ => None,
        }
    }

    fn new(low: f64, high: f64) -> Option<Range> {
        (low <= high).then_some(Range { low, high })
    }

    /// Whether nothing in it is infinite, in f32.
    pub fn is_finite(self) -> bool {
        let most = f64::from(f32::MAX);
        -most <= self.low && self.high <= most
    }

    fn unary(self, op: Float1) -> Option<Range> {
        match op {
            Float1::Neg => Some(self.negated()),
            Float1::Abs if self.low >= 0.0 => Some(self),
            Float1::Abs if self.high <= 0.0 => Some(self.negated()),
            Float1::Abs => Range::new(0.0, self.high.max(-self.low)),
            // Both round correctly, so they keep the order.
            Float1::Sqrt if self.low >= 0.0 => Range::new(0.0, self.high.sqrt()).map(Range::widened),
            Float1::Exp | Float1::Exp2 => Range::new(0.0, f64::INFINITY),
            // Fast ones may be off by a little.
            Float1::Sin | Float1::Cos if self.is_finite() => Range::new(-1.01, 1.01),
            Float1::Tanh => Range::new(-1.01, 1.01),
            _ => None,
        }
    }

    fn negated(self) -> Range {
        Range { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Range) -> Option<Range> {
        // ∞ − ∞ is NaN.
        let meets = |a: f64, b: f64| a == f64::INFINITY && b == f64::NEG_INFINITY;
        if meets(self.high, other.low) || meets(other.high, self.low) {
            return None;
        }
        let sum = Range::new(self.low + other.low, self.high + other.high)?.widened();
        // A sum that rounds keeps its sign.
        let low = if self.low >= 0.0 && other.low >= 0.0 { sum.low.max(0.0) } else { sum.low };
        let high = if self.high <= 0.0 && other.high <= 0.0 { sum.high.min(0.0) } else { sum.high };
        Range::new(low, high)
    }

    fn times(self, other: Range) -> Option<Range> {
        // 0 · ∞ is NaN. Numbers of f64 that f32 has no room for are as good as infinite.
        let meets = |a: Range, b: Range| a.low <= 0.0 && a.high >= 0.0 && !b.is_finite();
        if meets(self, other) || meets(other, self) {
            return None;
        }
        let products = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let (least, most) = products
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)));
        let product = Range::new(least, most)?.widened();
        let low = if least >= 0.0 { product.low.max(0.0) } else { product.low };
        let high = if most <= 0.0 { product.high.min(0.0) } else { product.high };
        Range::new(low, high)
    }

    /// With room for rounding. What f32 cannot hold becomes infinite there.
    fn widened(self) -> Range {
        let (low, high) = (self.low as f32, self.high as f32);
        Range { low: f64::from(low.next_down()).min(self.low), high: f64::from(high.next_up()).max(self.high) }
    }

    /// Of two numbers: whether the first is below the second one, where that is known.
    pub fn below(self, other: Range) -> Option<bool> {
        match (self.high < other.low, self.low >= other.high) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Whether two numbers are equal, where that is known.
    pub fn equal(self, other: Range) -> Option<bool> {
        (self.high < other.low || other.high < self.low).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Draws numbers from a few ranges, computes in f32 and in f64, and looks whether the result is in the range told.
    #[test]
    fn what_is_computed_lies_in_its_range() {
        let most = f32::MAX;
        let bounds = [
            (-16.0f32, -16.0f32),
            (0.0, 0.0),
            (-1.0, 1.0),
            (0.0, 1.0),
            (-0.0, 0.0),
            (1e-38, 3e-38),
            (-most, most),
            (0.99, 0.99),
            (1.0, 1.0),
            (most, f32::INFINITY),
            (f32::NEG_INFINITY, -3.0),
        ];
        let mut state = 1u64;
        let mut draw = |low: f32, high: f32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match state >> 62 {
                0 => low,
                1 => high,
                _ => {
                    let t = (state >> 32 & 0xff_ffff) as f32 / 16777216.0;
                    (low.max(-most) * (1.0 - t) + high.min(most) * t).clamp(low, high)
                }
            }
        };
        let range = |(low, high): (f32, f32)| Range { low: low.into(), high: high.into() };
        for a in bounds {
            for b in bounds {
                let (sum, difference) = (range(a).plus(range(b)), range(a).plus(range(b).negated()));
                let product = range(a).times(range(b));
                for _ in 0..200 {
                    let (x, y) = (draw(a.0, a.1), draw(b.0, b.1));
                    let (wide_x, wide_y) = (f64::from(x), f64::from(y));
                    let cases = [
                        (sum, x + y, wide_x + wide_y),
                        (difference, x - y, wide_x - wide_y),
                        (product, x * y, wide_x * wide_y),
                        (range(a).unary(Float1::Abs), x.abs(), wide_x.abs()),
                        (range(a).unary(Float1::Sqrt), x.sqrt(), wide_x.sqrt()),
                    ];
                    for (told, single, double) in cases {
                        let Some(told) = told else { continue };
                        for found in [f64::from(single), double] {
                            assert!(told.low <= found && found <= told.high, "{a:?} {b:?} {x} {y}: {found} {told:?}");
                        }
                    }
                    if let Some(below) = range(a).below(range(b)) {
                        assert_eq!(below, x < y);
                    }
                    if let Some(equal) = range(a).equal(range(b)) {
                        assert_eq!(equal, x == y);
                    }
                }
            }
        }
    }

    /// `max(a, b)` is `a < b ? b : a`, so a NaN leaves the first operand only.
    #[test]
    fn nan_is_kept_out_by_a_number_that_comes_first() {
        let [number, unknown, kept, lost] = [0, 1, 2, 3].map(Value);
        let max = |a, b| (Op::Float2(Float2::Max), Values::from_slice(&[a, b]));
        let known: HashMap<Value, (Op, Values)> = [
            (number, (Op::Const(Const::float(-16.0)), Values::new())),
            (kept, max(number, unknown)),
            (lost, max(unknown, number)),
        ]
        .into();
        let of = |v| Range::of(v, &|v| known.get(&v).cloned());
        assert_eq!(of(kept), Some(Range { low: -16.0, high: f64::INFINITY }));
        assert_eq!((of(lost), of(unknown)), (None, None));
    }
}
