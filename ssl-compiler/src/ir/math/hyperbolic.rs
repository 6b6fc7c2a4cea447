//! Hyperbolic functions and their inverses, made of exponentials and logarithms; near 0, polynomials of their own.

use super::arithmetic::{Bool, Float, fast_two_difference, two_sum};
use super::exponential::exp_halved;
use super::logarithm::log_of_sum;

/// (sinh x − x) / x³ in x², to 1.
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_310_5, 0.000_198_428_96, 2.782_213_2e-6];
/// (tanh x − x) / x³ in x², to 5/8.
const TANH: [f32; 5] = [-0.333_332_8, 0.133_314_07, -0.053_736_787, 0.020_629_529, -0.005_694_327_4];

pub fn sinh<F: Float>(x: F) -> F {
    let size = x.abs();
    let square = x * x;
    let near = (x * square).fused(square.polynomial(&SINH), x);
    let half = exp_halved(size.clamped(0.0, 91.0), 1.0);
    let far = (half - half.constant(0.25) / half).flipped(x.sign());
    size.below(1.0).choose(near, far)
}

pub fn cosh<F: Float>(x: F) -> F {
    let half = exp_halved(x.abs().clamped(0.0, 91.0), 1.0);
    half + half.constant(0.25) / half
}

/// tanh x up to 5/8, and 1 − |tanh x| = 2 / (1 + exp 2|x|) from there on. Both terms of the quotient are made smaller by
/// 2⁶⁴, so that it comes down to 0 by subnormal numbers.
fn tanh_parts<F: Float>(x: F) -> (F, F) {
    const SMALLER: f32 = 1.0 / (1u128 << 64) as f32;
    let size = x.abs();
    let square = x * x;
    let near = (size * square).fused(square.polynomial(&TANH), size);
    let grown = exp_halved((size * 2.0).clamped(0.0, 108.0), 64.0);
    (near, grown.constant(2.0 * SMALLER) / (grown + SMALLER))
}

fn tanh_of<F: Float>(x: F, (near, rest): (F, F)) -> F {
    // The sign comes last, for that of −0: the sum of a small x would lose it.
    x.abs().below(0.625).choose(near, -rest + 1.0).flipped(x.sign())
}

/// 1 − tanh² x = (1 − |tanh x|) (1 + |tanh x|).
fn slope_of<F: Float>(x: F, (near, rest): (F, F)) -> F {
    let flat = (-near).fused(near, near.constant(1.0));
    x.abs().below(0.625).choose(flat, (-rest).fused(rest, rest * 2.0))
}

pub fn tanh<F: Float>(x: F) -> F {
    tanh_of(x, tanh_parts(x))
}

pub fn tanh_slope<F: Float>(x: F) -> F {
    slope_of(x, tanh_parts(x))
}

pub fn tanh_and_slope<F: Float>(x: F) -> [F; 2] {
    let parts = tanh_parts(x);
    [tanh_of(x, parts), slope_of(x, parts)]
}

/// log(|x| + √(x² + 1)), with |x| + x² / (1 + √(x² + 1)) above 1 where |x| is small.
pub fn asinh<F: Float>(x: F) -> F {
    let size = x.abs();
    let large = size.above(8192.0);
    let bounded = size.clamped(0.0, 8192.0);
    let square = bounded * bounded;
    let more = square / ((square + 1.0).sqrt() + 1.0);
    let (first, lost) = two_sum(bounded.constant(1.0), bounded);
    let (u, c) = two_sum(first, more);
    let log = log_of_sum(large.choose(size, u), large.choose(size.constant(0.0), lost + c));
    let result = large.choose(log + std::f32::consts::LN_2, log);
    let finite = size.below(f32::INFINITY).choose(result, size);
    finite.flipped(x.sign())
}

/// log(x + √(x² − 1)), in which x² − 1 is rounded once: near 1 it is most of the error.
pub fn acosh<F: Float>(x: F) -> F {
    let large = x.above(8192.0);
    let bounded = x.clamped(0.0, 8192.0);
    let root = bounded.fused(bounded, bounded.constant(-1.0)).sqrt();
    let (u, c) = two_sum(bounded, root);
    let log = log_of_sum(large.choose(x, u), large.choose(x.constant(0.0), c));
    let result = large.choose(log + std::f32::consts::LN_2, log);
    let finite = x.below(f32::INFINITY).choose(result, x);
    x.below(1.0).choose(x.constant(f32::NAN), finite)
}

/// log(1 + 2x / (1 − x)) / 2.
pub fn atanh<F: Float>(x: F) -> F {
    let size = x.abs();
    let (below, below_lost) = fast_two_difference(size.constant(1.0), size);
    let twice = size * 2.0;
    let quotient = twice / below;
    // What the quotient lacks.
    let remainder = (-quotient).fused(below, twice);
    let correction = (-quotient).fused(below_lost, remainder) / below;
    let (u, c) = two_sum(quotient.constant(1.0), quotient);
    let result = log_of_sum(u, c + correction) * 0.5;
    let inside =
        size.below(1.0).choose(result, size.is(1.0).choose(size.constant(f32::INFINITY), size.constant(f32::NAN)));
    size.below(1e-4).choose(size, inside).flipped(x.sign())
}
