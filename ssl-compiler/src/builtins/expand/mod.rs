//! The built-ins as IR. They use only operations of the rule table, so all of them can be differentiated.

pub mod bits;
pub mod matrix;
pub mod spline;
mod vector;

use crate::ir::builder::Builder;
use crate::ir::{Compare, FLOAT, Float1, Float2, INT, Int1, Int2, Op, Value};
pub use vector::*;

macro_rules! float1 {
    ($($name:ident = $op:ident),* $(,)?) => {
        $(pub fn $name(b: &mut Builder, x: Value) -> Value { b.float1(Float1::$op, x) })*
    };
}

float1! {
    sin = Sin, cos = Cos, tan = Tan, asin = Asin, acos = Acos, atan = Atan, sinh = Sinh, cosh = Cosh, tanh = Tanh,
    asinh = Asinh, acosh = Acosh, atanh = Atanh, exp = Exp, exp2 = Exp2, expm1 = Expm1, log = Log, log2 = Log2,
    log10 = Log10, log1p = Log1p, cbrt = Cbrt, erf = Erf, erfc = Erfc, sqrt = Sqrt, abs = Abs, floor = Floor, ceil = Ceil, round = Round, trunc = Trunc,
}

macro_rules! float2 {
    ($($name:ident = $op:ident),* $(,)?) => {
        $(pub fn $name(b: &mut Builder, x: Value, y: Value) -> Value { b.float2(Float2::$op, x, y) })*
    };
}

float2! { atan2 = Atan2, pow = Pow, fmod = Fmod, min = Min, max = Max, hypot = Hypot }

pub fn int_min(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.int_compare(Compare::Lt, y, x);
    b.select(less, y, x)
}

pub fn int_max(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.int_compare(Compare::Lt, x, y);
    b.select(less, y, x)
}

pub fn int_clamp(b: &mut Builder, x: Value, low: Value, high: Value) -> Value {
    let x = int_max(b, x, low);
    int_min(b, x, high)
}

pub fn int_abs(b: &mut Builder, x: Value) -> Value {
    let zero = b.int(0);
    let negative = b.int_compare(Compare::Lt, x, zero);
    let negated = b.emit(Op::Int1(Int1::Neg), &[x], INT);
    b.select(negative, negated, x)
}

/// The floored remainder: C's, moved by b where its sign is not that of b.
pub fn int_mod(b: &mut Builder, x: Value, y: Value) -> Value {
    let remainder = b.int2(Int2::Rem, x, y);
    let signs = b.int2(Int2::Xor, remainder, y);
    let zero = b.int(0);
    let (opposite, some) = (b.int_compare(Compare::Lt, signs, zero), b.int_compare(Compare::Ne, remainder, zero));
    let wrong = b.and(opposite, some);
    let moved = b.int2(Int2::Add, remainder, y);
    b.select(wrong, moved, remainder)
}

fn difference(b: &mut Builder, above: Value, below: Value) -> Value {
    let (above, below) = (b.emit(Op::BoolToInt, &[above], INT), b.emit(Op::BoolToInt, &[below], INT));
    b.int2(Int2::Sub, above, below)
}

pub fn int_sign(b: &mut Builder, x: Value) -> Value {
    let zero = b.int(0);
    let (above, below) = (b.int_compare(Compare::Lt, zero, x), b.int_compare(Compare::Lt, x, zero));
    difference(b, above, below)
}

pub fn sign(b: &mut Builder, x: Value) -> Value {
    let zero = b.float(0.0);
    let (above, below) = (b.float_compare(Compare::Lt, zero, x), b.float_compare(Compare::Lt, x, zero));
    let difference = difference(b, above, below);
    b.emit(Op::IntToFloat, &[difference], FLOAT)
}

pub fn copysign(b: &mut Builder, x: Value, y: Value) -> Value {
    let magnitude = abs(b, x);
    let negated = b.neg(magnitude);
    let zero = b.int(0);
    let bits = bits::float_bits(b, y);
    let negative = b.int_compare(Compare::Lt, bits, zero);
    b.select(negative, negated, magnitude)
}

pub fn radians(b: &mut Builder, x: Value) -> Value {
    let scale = b.real(std::f64::consts::PI / 180.0);
    b.mul(x, scale)
}

pub fn degrees(b: &mut Builder, x: Value) -> Value {
    let scale = b.real(180.0 / std::f64::consts::PI);
    b.mul(x, scale)
}

pub fn log_of_base(b: &mut Builder, x: Value, base: Value) -> Value {
    let (x, base) = (log(b, x), log(b, base));
    b.div(x, base)
}

pub fn rsqrt(b: &mut Builder, x: Value) -> Value {
    let (one, root) = (b.float(1.0), sqrt(b, x));
    b.div(one, root)
}

/// The exact remainder, moved by b where its sign is not that of b: a rounded quotient may be the next whole number.
pub fn floored_mod(b: &mut Builder, x: Value, y: Value) -> Value {
    let zero = b.float(0.0);
    let remainder = fmod(b, x, y);
    let (below, above) = (b.float_compare(Compare::Lt, remainder, zero), b.float_compare(Compare::Lt, zero, remainder));
    let falling = b.float_compare(Compare::Lt, y, zero);
    let rising = b.not(falling);
    let (below, above) = (b.and(below, rising), b.and(above, falling));
    let opposite = b.or(below, above);
    let shift = b.select(opposite, y, zero);
    b.add(remainder, shift)
}

pub fn is_nan(b: &mut Builder, x: Value) -> Value {
    b.float_compare(Compare::Ne, x, x)
}

pub fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let (magnitude, infinity) = (abs(b, x), b.float(f32::INFINITY));
    b.float_compare(Compare::Eq, magnitude, infinity)
}

pub fn is_finite(b: &mut Builder, x: Value) -> Value {
    let (magnitude, infinity) = (abs(b, x), b.float(f32::INFINITY));
    b.float_compare(Compare::Lt, magnitude, infinity)
}

pub fn fma(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.emit(Op::Fma, &[x, y, z], FLOAT)
}

pub fn fract(b: &mut Builder, x: Value) -> Value {
    let whole = floor(b, x);
    b.sub(x, whole)
}

pub fn clamp(b: &mut Builder, x: Value, low: Value, high: Value) -> Value {
    let x = max(b, x, low);
    min(b, x, high)
}

pub fn saturate(b: &mut Builder, x: Value) -> Value {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    clamp(b, x, zero, one)
}

pub fn mix(b: &mut Builder, x: Value, y: Value, t: Value) -> Value {
    let one = b.float(1.0);
    let rest = b.sub(one, t);
    let (left, right) = (b.mul(x, rest), b.mul(y, t));
    b.add(left, right)
}

pub fn step(b: &mut Builder, edge: Value, x: Value) -> Value {
    let below = b.float_compare(Compare::Lt, x, edge);
    let (zero, one) = (b.float(0.0), b.float(1.0));
    b.select(below, zero, one)
}

/// (x − low) / (high − low), kept between 0 and 1; a step where low and high are one, which would
/// divide by zero.
pub fn linearstep(b: &mut Builder, low: Value, high: Value, x: Value) -> Value {
    let (offset, range) = (b.sub(x, low), b.sub(high, low));
    let t = b.div(offset, range);
    let t = saturate(b, t);
    let same = b.float_compare(Compare::Eq, low, high);
    let jump = step(b, low, x);
    b.select(same, jump, t)
}

pub fn smoothstep(b: &mut Builder, low: Value, high: Value, x: Value) -> Value {
    let t = linearstep(b, low, high, x);
    let (two, three) = (b.float(2.0), b.float(3.0));
    let twice = b.mul(two, t);
    let factor = b.sub(three, twice);
    let square = b.mul(t, t);
    b.mul(square, factor)
}

pub fn remap(b: &mut Builder, [x, from_low, from_high, to_low, to_high]: [Value; 5]) -> Value {
    let (offset, from, to) = (b.sub(x, from_low), b.sub(from_high, from_low), b.sub(to_high, to_low));
    let t = b.div(offset, from);
    let scaled = b.mul(t, to);
    b.add(to_low, scaled)
}
