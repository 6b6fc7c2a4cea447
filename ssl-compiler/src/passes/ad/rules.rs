//! The derivative of every operation, one row each, in terms of local partials.
//!
//! A row says how the shadow of the result is made from the shadows of the operands. The caller applies it in both
//! directions, so each partial is computed once. Only partials for operands with a shadow are computed. At singular
//! points the partial is 0 instead of infinite, so that one such point does not poison a sum: `sqrt` and `cbrt` at 0,
//! `asin` and `acos` at ±1, `acosh` at 1, `atan2` and `hypot` at (0, 0), `pow` at base 0 with an exponent below 1, the
//! place on a curve where that is flat.

use crate::ir::builder::Builder;
use crate::ir::{Compare, FLOAT, Float1, Float2, Op, Value, Why};
use smallvec::{SmallVec, smallvec};

/// How a shadow is made.
pub enum Rule {
    /// Always zero.
    Zero,
    /// Σ coefficient · operand'
    Sum(SmallVec<[(usize, Coefficient); 2]>),
    /// The shadow of one operand or of another.
    Choose { condition: Value, then: usize, otherwise: usize },
    /// The shadow of the operand where the condition holds, otherwise zero.
    Where { condition: Value, operand: usize },
    /// (a' − v b') / b, which cannot overflow where b² would.
    Quotient { result: Value, divisor: Value },
}

#[derive(Clone, Copy)]
pub enum Coefficient {
    One,
    MinusOne,
    Times(Value),
}

use Coefficient::{MinusOne, One, Times};

/// The rule of a scalar operation without regions. `args` and `result` are its values; `active` tells
/// which operands carry a shadow.
pub fn rule(b: &mut Builder, op: Op, args: &[Value], result: Value, active: &[bool]) -> Rule {
    match op {
        Op::Float1(op) => float1(b, op, args[0], result),
        Op::Float2(op) => float2(b, op, args[0], args[1], result, active),
        Op::Select => Rule::Choose { condition: args[0], then: 1, otherwise: 2 },
        Op::Fma => Rule::Sum(smallvec![(0, Times(args[1])), (1, Times(args[0])), (2, One)]),
        Op::CubicRoot => cubic_root(b, args, result, active),
        // What was caught became the constant 0. Nothing else differs from its operand.
        Op::Finite => Rule::Where { condition: b.float_compare(Compare::Eq, args[0], result), operand: 0 },
        Op::Detach | Op::Barrier(_) => Rule::Sum(smallvec![(0, One)]),
        Op::Boundary => Rule::Sum(smallvec![(0, One), (2, Times(args[1]))]),
        Op::Cross if active[1] => Rule::Sum(smallvec![(0, One), (1, Times(first_order(b, args[2], args[3])))]),
        Op::Cross => Rule::Sum(smallvec![(0, One)]),
        Op::Pin => Rule::Zero,
        // Integers, booleans, constants and what only reads memory.
        Op::Const(_) | Op::Parameter { .. } | Op::TextureSize { .. } | Op::Int1(_) | Op::Int2(_) | Op::BoolNot | Op::BoolAnd | Op::BoolOr | Op::BoolXor
        | Op::FloatCompare(_) | Op::IntCompare(_) | Op::IntToFloat | Op::FloatToInt | Op::BoolToInt | Op::ClampIndex(_)
        | Op::FloatBits | Op::BitsFloat | Op::ClampElement(_) | Op::Element { .. } | Op::BufferLength(_)
        // Their shadows are operations of their own kind, see `forward`.
        | Op::Global { .. } | Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet | Op::Derivative(_) | Op::Sample { .. }
        | Op::Texture { .. } | Op::TextureAdjoint { .. } | Op::AddTo(_) | Op::Burn(_) | Op::Prepay(_) | Op::Enter | Op::Leave | Op::Probe(_) | Op::Print(_) | Op::Keep | Op::Call(_) | Op::Jvp { .. } | Op::Vjp { .. } | Op::Push(_) | Op::Pop(_) | Op::External(_) | Op::If
        | Op::Loop(_) => Rule::Zero,
    }
}

/// A value of 0 with the residual's derivative. A second derivative is refused where `whole` has one.
fn first_order(b: &mut Builder, whole: Value, residual: Value) -> Value {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let depends = b.emit(Op::Boundary, &[one, one, whole], FLOAT);
    let weight = b.emit(Op::Barrier(Why::Twice), &[depends], FLOAT);
    b.emit(Op::Boundary, &[zero, weight, residual], FLOAT)
}

/// With p(t) = y: (y' − a' t³ − b' t² − c' t − d') / p'(t), 0 where p'(t) is 0.
fn cubic_root(b: &mut Builder, args: &[Value], t: Value, active: &[bool]) -> Rule {
    let (zero, one, two, three) = (b.float(0.0), b.float(1.0), b.float(2.0), b.float(3.0));
    let (triple, double) = (b.mul(three, args[1]), b.mul(two, args[2]));
    let quadratic = b.mul(triple, t);
    let linear = b.add(quadratic, double);
    let product = b.mul(linear, t);
    let slope = b.add(product, args[3]);
    let reciprocal = b.div(one, slope);
    let flat = b.float_compare(Compare::Eq, slope, zero);
    let reciprocal = b.select(flat, zero, reciprocal);
    let mut sum = SmallVec::new();
    if active[0] {
        sum.push((0, Times(reciprocal)));
    }
    let mut power = b.neg(reciprocal);
    for operand in (1..5).rev() {
        if active[operand] {
            sum.push((operand, Times(power)));
        }
        power = b.mul(power, t);
    }
    Rule::Sum(sum)
}

fn scaled(coefficient: Value) -> Rule {
    Rule::Sum(smallvec![(0, Times(coefficient))])
}

fn float1(b: &mut Builder, op: Float1, t: Value, v: Value) -> Rule {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    scaled(match op {
        Float1::Neg => return Rule::Sum(smallvec![(0, MinusOne)]),
        Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc => return Rule::Zero,
        Float1::Abs => crate::builtins::expand::sign(b, t),
        Float1::Sqrt => {
            let half = b.float(0.5);
            let partial = b.div(half, v);
            let positive = b.float_compare(Compare::Gt, v, zero);
            b.select(positive, partial, zero)
        }
        Float1::Sin => b.float1(Float1::Cos, t),
        Float1::Cos => {
            let sine = b.float1(Float1::Sin, t);
            b.neg(sine)
        }
        Float1::Tan => {
            let square = b.mul(v, v);
            b.add(one, square)
        }
        Float1::Asin => arc(b, t, 1.0),
        Float1::Acos => arc(b, t, -1.0),
        Float1::Atan => {
            let square = b.mul(t, t);
            let sum = b.add(one, square);
            b.div(one, sum)
        }
        Float1::Sinh => b.float1(Float1::Cosh, t),
        Float1::Cosh => b.float1(Float1::Sinh, t),
        Float1::Tanh => b.float1(Float1::TanhSlope, t),
        Float1::TanhSlope => {
            let (value, scale) = (b.float1(Float1::Tanh, t), b.float(-2.0));
            let scaled = b.mul(scale, value);
            b.mul(scaled, v)
        }
        Float1::Asinh => {
            // √(1 + t²), where t² would overflow.
            let root = b.float2(Float2::Hypot, one, t);
            b.div(one, root)
        }
        Float1::Acosh => {
            let (below, above) = (b.sub(t, one), b.add(t, one));
            let (below, above) = (b.float1(Float1::Sqrt, below), b.float1(Float1::Sqrt, above));
            let root = b.mul(below, above);
            let partial = b.div(one, root);
            let inside = b.float_compare(Compare::Gt, t, one);
            b.select(inside, partial, zero)
        }
        Float1::Atanh => {
            let (below, above) = (b.sub(one, t), b.add(one, t));
            let product = b.mul(below, above);
            b.div(one, product)
        }
        Float1::Exp => v,
        Float1::Exp2 => {
            let scale = b.real(std::f64::consts::LN_2);
            b.mul(v, scale)
        }
        // Not v + 1, which has lost its digits where t is far below 0.
        Float1::Expm1 => b.float1(Float1::Exp, t),
        Float1::Log => b.div(one, t),
        Float1::Log2 => {
            let scale = b.real(std::f64::consts::LOG2_E);
            b.div(scale, t)
        }
        Float1::Log10 => {
            let scale = b.real(std::f64::consts::LOG10_E);
            b.div(scale, t)
        }
        Float1::Log1p => {
            let sum = b.add(one, t);
            b.div(one, sum)
        }
        Float1::Cbrt => {
            let three = b.float(3.0);
            let square = b.mul(v, v);
            let divisor = b.mul(three, square);
            let partial = b.div(one, divisor);
            let singular = b.float_compare(Compare::Eq, t, zero);
            b.select(singular, zero, partial)
        }
        Float1::Erf => gaussian(b, t, std::f64::consts::FRAC_2_SQRT_PI),
        Float1::Erfc => gaussian(b, t, -std::f64::consts::FRAC_2_SQRT_PI),
    })
}

/// scale · exp(−t²), with what rounding t² leaves out: far from 0 the exponential multiplies that by t².
fn gaussian(b: &mut Builder, t: Value, scale: f64) -> Value {
    let (zero, one, vanished) = (b.float(0.0), b.float(1.0), b.float(1000.0));
    let square = b.mul(t, t);
    let exponent = b.neg(square);
    let rest = b.emit(Op::Fma, &[t, t, exponent], FLOAT);
    // Far out the bell is 0, and the rest may be infinite.
    let there = b.float_compare(Compare::Lt, square, vanished);
    let rest = b.select(there, rest, zero);
    let correction = b.sub(one, rest);
    let (bell, scale) = (b.float1(Float1::Exp, exponent), b.real(scale));
    let scaled = b.mul(bell, scale);
    b.mul(scaled, correction)
}

/// ±1 / √(1 − t²), 0 where that is infinite.
fn arc(b: &mut Builder, t: Value, sign: f32) -> Value {
    let (zero, one, sign) = (b.float(0.0), b.float(1.0), b.float(sign));
    // (1 − t)(1 + t) keeps the digits that 1 − t² loses near ±1.
    let (below, above) = (b.sub(one, t), b.add(one, t));
    let square = b.mul(below, above);
    let root = b.float1(Float1::Sqrt, square);
    let partial = b.div(sign, root);
    let inside = b.float_compare(Compare::Gt, square, zero);
    b.select(inside, partial, zero)
}

fn float2(b: &mut Builder, op: Float2, x: Value, y: Value, v: Value, active: &[bool]) -> Rule {
    Rule::Sum(match op {
        Float2::Add => smallvec![(0, One), (1, One)],
        Float2::Sub => smallvec![(0, One), (1, MinusOne)],
        Float2::Mul => smallvec![(0, Times(y)), (1, Times(x))],
        Float2::Div => return Rule::Quotient { result: v, divisor: y },
        Float2::Min => {
            let condition = b.float_compare(Compare::Lt, y, x);
            return Rule::Choose { condition, then: 1, otherwise: 0 };
        }
        Float2::Max => {
            let condition = b.float_compare(Compare::Lt, x, y);
            return Rule::Choose { condition, then: 1, otherwise: 0 };
        }
        Float2::Fmod => {
            let mut sum = smallvec![(0, One)];
            if active[1] {
                sum.push((1, Times(minus_quotient(b, x, y, v))));
            }
            sum
        }
        Float2::Pow => {
            let mut sum = SmallVec::new();
            if active[0] {
                sum.push((0, Times(power_by_base(b, x, y, v))));
            }
            if active[1] {
                sum.push((1, Times(power_by_exponent(b, x, v))));
            }
            sum
        }
        Float2::Hypot => {
            let zero = b.float(0.0);
            let positive = b.float_compare(Compare::Gt, v, zero);
            let mut cosine = |side: Value| {
                let partial = b.div(side, v);
                b.select(positive, partial, zero)
            };
            smallvec![(0, Times(cosine(x))), (1, Times(cosine(y)))]
        }
        Float2::Atan2 => {
            let [by_ordinate, by_abscissa] = angle(b, x, y);
            smallvec![(0, Times(by_ordinate)), (1, Times(by_abscissa))]
        }
    })
}

/// −trunc(a / b), given the remainder. a / b may be rounded to the next whole number; a less the remainder is a multiple
/// of b but for its own rounding, so that the quotient lies near a whole number.
fn minus_quotient(b: &mut Builder, dividend: Value, divisor: Value, remainder: Value) -> Value {
    let multiple = b.sub(dividend, remainder);
    let ratio = b.div(multiple, divisor);
    let whole = b.float1(Float1::Round, ratio);
    b.neg(whole)
}

/// The partials of the angle of (x, y) by y and by x, x / (x² + y²) and −y / (x² + y²), by the ratio r of the smaller one
/// to the larger one: 1 / (1 + r²) over the larger one, and r times that. Both are 0 at (0, 0).
fn angle(b: &mut Builder, y: Value, x: Value) -> [Value; 2] {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let (height, width) = (b.float1(Float1::Abs, y), b.float1(Float1::Abs, x));
    let steep = b.float_compare(Compare::Lt, width, height);
    let (larger, smaller) = (b.select(steep, y, x), b.select(steep, x, y));
    let ratio = b.div(smaller, larger);
    let square = b.mul(ratio, ratio);
    let sum = b.add(one, square);
    let cosine_square = b.div(one, sum);
    let (by_smaller, by_larger) = (b.div(cosine_square, larger), b.mul(ratio, cosine_square));
    let by_larger = b.div(by_larger, larger);
    let origin = b.float_compare(Compare::Eq, larger, zero);
    let (by_smaller, by_larger) = (b.select(origin, zero, by_smaller), b.select(origin, zero, by_larger));
    let (by_y, by_x) = (b.select(steep, by_larger, by_smaller), b.select(steep, by_smaller, by_larger));
    [by_y, b.neg(by_x)]
}

/// e t^(e−1); 0 at t = 0 where e < 1. Below ½, e − 1 would be rounded, and e v / t neither overflows nor underflows
/// before the partial does.
fn power_by_base(b: &mut Builder, t: Value, e: Value, v: Value) -> Value {
    let (zero, half, one) = (b.float(0.0), b.float(0.5), b.float(1.0));
    let less = b.sub(e, one);
    let power = b.float2(Float2::Pow, t, less);
    let by_power = b.mul(e, power);
    let scaled = b.mul(e, v);
    let by_value = b.div(scaled, t);
    let low = b.float_compare(Compare::Lt, e, half);
    let partial = b.select(low, by_value, by_power);
    let (at_zero, steep) = (b.float_compare(Compare::Eq, t, zero), b.float_compare(Compare::Lt, e, one));
    let singular = b.and(at_zero, steep);
    b.select(singular, zero, partial)
}

/// t^e ln t; 0 where t is not positive.
fn power_by_exponent(b: &mut Builder, t: Value, v: Value) -> Value {
    let zero = b.float(0.0);
    let logarithm = b.float1(Float1::Log, t);
    let partial = b.mul(v, logarithm);
    let positive = b.float_compare(Compare::Gt, t, zero);
    b.select(positive, partial, zero)
}
