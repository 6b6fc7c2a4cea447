//! The built-ins as IR. Only operations of the rule table are used, so all of them differentiate.

use super::Parts;
use crate::ir::builder::Builder;
use crate::ir::{Compare, FLOAT, Float1, Float2, INT, Int1, Op, Value};

macro_rules! float1 {
    ($($name:ident = $op:ident),* $(,)?) => {
        $(pub fn $name(b: &mut Builder, x: Value) -> Value { b.float1(Float1::$op, x) })*
    };
}

float1! {
    sin = Sin, cos = Cos, tan = Tan, asin = Asin, acos = Acos, atan = Atan, sinh = Sinh, cosh = Cosh, tanh = Tanh,
    exp = Exp, log = Log, sqrt = Sqrt, abs = Abs, floor = Floor, ceil = Ceil, round = Round, trunc = Trunc,
}

macro_rules! float2 {
    ($($name:ident = $op:ident),* $(,)?) => {
        $(pub fn $name(b: &mut Builder, x: Value, y: Value) -> Value { b.float2(Float2::$op, x, y) })*
    };
}

float2! { atan2 = Atan2, pow = Pow, fmod = Fmod, min = Min, max = Max }

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

pub fn sign(b: &mut Builder, x: Value) -> Value {
    let zero = b.float(0.0);
    let (above, below) = (b.float_compare(Compare::Lt, zero, x), b.float_compare(Compare::Lt, x, zero));
    let (above, below) = (b.emit(Op::BoolToInt, &[above], INT), b.emit(Op::BoolToInt, &[below], INT));
    let difference = b.int2(crate::ir::Int2::Sub, above, below);
    b.emit(Op::IntToFloat, &[difference], FLOAT)
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

pub fn smoothstep(b: &mut Builder, low: Value, high: Value, x: Value) -> Value {
    let (offset, range) = (b.sub(x, low), b.sub(high, low));
    let t = b.div(offset, range);
    let t = saturate(b, t);
    let (two, three) = (b.float(2.0), b.float(3.0));
    let twice = b.mul(two, t);
    let factor = b.sub(three, twice);
    let square = b.mul(t, t);
    b.mul(square, factor)
}

fn dot_parts(b: &mut Builder, x: &[Value], y: &[Value]) -> Value {
    let mut sum = b.mul(x[0], y[0]);
    for (&x, &y) in x[1..].iter().zip(&y[1..]) {
        let product = b.mul(x, y);
        sum = b.add(sum, product);
    }
    sum
}

fn one(value: Value) -> Parts {
    Parts::from_slice(&[value])
}

pub fn dot(b: &mut Builder, args: &[Parts]) -> Parts {
    one(dot_parts(b, &args[0], &args[1]))
}

pub fn cross(b: &mut Builder, args: &[Parts]) -> Parts {
    let (x, y) = (&args[0], &args[1]);
    let mut component = |i: usize, j: usize| {
        let (left, right) = (b.mul(x[i], y[j]), b.mul(x[j], y[i]));
        b.sub(left, right)
    };
    Parts::from_slice(&[component(1, 2), component(2, 0), component(0, 1)])
}

pub fn length(b: &mut Builder, args: &[Parts]) -> Parts {
    let square = dot_parts(b, &args[0], &args[0]);
    one(sqrt(b, square))
}

pub fn distance(b: &mut Builder, args: &[Parts]) -> Parts {
    let difference: Parts = args[0].iter().zip(&args[1]).map(|(&x, &y)| b.sub(x, y)).collect();
    length(b, &[difference])
}

pub fn normalize(b: &mut Builder, args: &[Parts]) -> Parts {
    let square = dot_parts(b, &args[0], &args[0]);
    let (zero, unit) = (b.float(0.0), b.float(1.0));
    let positive = b.float_compare(Compare::Gt, square, zero);
    let root = sqrt(b, square);
    // Where the vector is zero the divisor is 1, so that nothing becomes NaN, and the scale 0, so that
    // the shadow is 0 too.
    let divisor = b.select(positive, root, unit);
    let scale = b.div(unit, divisor);
    let scale = b.select(positive, scale, zero);
    args[0].iter().map(|&x| b.mul(x, scale)).collect()
}

pub fn reflect(b: &mut Builder, args: &[Parts]) -> Parts {
    let (incoming, normal) = (&args[0], &args[1]);
    let cosine = dot_parts(b, normal, incoming);
    let two = b.float(2.0);
    let scale = b.mul(two, cosine);
    incoming
        .iter()
        .zip(normal)
        .map(|(&i, &n)| {
            let along = b.mul(scale, n);
            b.sub(i, along)
        })
        .collect()
}
