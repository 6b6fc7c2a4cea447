//! pow, cbrt and hypot.

use super::arithmetic::{Bool, Float, Int};
use super::exponential::exp2_of_sum;
use super::logarithm::split;

/// 3/2 (log((1 + s) / (1 − s)) / s − 2 − 2 s²/3) / s⁴ in s².
const SERIES: [f32; 3] = [0.600_002_3, 0.428_206_18, 0.351_302_1];
/// 2 / (3 log 2) in two parts, the first of twelve bits.
const FACTOR: [f32; 2] = [0.961_914_06, -0.000_117_368_574];

/// log₂ of a positive number in two parts, good to some 36 bits, the first of twelve bits.
///
/// With s = (m − 1) / (m + 1), log m = 2/3 s (3 + s² + s⁴ …): all factors are kept in two parts.
fn log2_in_parts<F: Float>(x: F) -> (F, F) {
    let (e, m) = split(x);
    let (f, below) = (m - 1.0, m + 1.0);
    let below_head = below.head();
    let below_tail = (below - below_head) + (m - (below - 1.0));
    let inverse = below.constant(1.0) / below;
    let s = f * inverse;
    let head = s.head();
    let tail = (-head).fused(below_tail, (-head).fused(below_head, f)) * inverse;
    let square = s * s;
    let (square_head, square_tail) = (head * head, tail * (s + head));
    let series = (square * square).fused(square.polynomial(&SERIES), square_tail);
    let sum_head = ((square_head + 3.0) + series).head();
    let sum_tail = series - ((sum_head - 3.0) - square_head);
    // s times the sum.
    let (product, rest) = (head * sum_head, tail.fused(sum_head, sum_tail * s));
    let product_head = (product + rest).head();
    let product_tail = rest - (product_head - product);
    let scaled = product_head * FACTOR[0];
    let scaled_rest = product_head.fused_with(FACTOR[1], product_tail * (FACTOR[0] + FACTOR[1]));
    let total = ((scaled + scaled_rest) + e).head();
    (total, scaled_rest - ((total - e) - scaled))
}

/// |t|^e for finite t other than 0.
fn magnitude<F: Float>(t: F, e: F) -> F {
    let (log, log_rest) = log2_in_parts(t);
    // Beyond this, everything but 1 is 0 or infinite.
    let e = e.clamped(-1e12, 1e12);
    let head = e.head();
    let exponent = head * log;
    let rest = (e - head).fused(log, e * log_rest);
    let inside = exponent.abs().below(200.0);
    exp2_of_sum(exponent.clamped(-160.0, 160.0), inside.choose(rest, rest.constant(0.0)))
}

pub fn pow<F: Float>(t: F, e: F) -> F {
    as_in_c(t, e, |size| magnitude(size, e))
}

/// As in C: 1 where the exponent is 0 or the base 1, NaN for negative finite bases with exponents that are not whole.
pub fn as_in_c<F: Float>(t: F, e: F, magnitude: impl FnOnce(F) -> F) -> F {
    let size = t.abs();
    let ordinary = magnitude(size);
    let (zero, infinite) = (size.is(0.0), size.is(f32::INFINITY));
    let vanishes = zero.xor(e.below(0.0));
    let extreme = vanishes.choose(t.constant(0.0), t.constant(f32::INFINITY));
    let ends = zero.or(infinite).choose(extreme, ordinary);
    let half = e * 0.5;
    let whole = e.trunc().eq(e);
    let odd = whole.and(half.trunc().eq(half).not());
    let signed = odd.choose(ends.flipped(t.sign()), ends);
    let undefined = t.below(0.0).and(whole.not()).and(infinite.not());
    let number = t.eq(t).and(e.eq(e));
    let result = undefined.or(number.not()).choose(t.constant(f32::NAN), signed);
    e.is(0.0).or(t.is(1.0)).choose(t.constant(1.0), result)
}

/// Halley's step twice: from a guess by the exponent, and from eight bits of what that gives, whose cube is exact.
pub fn cbrt<F: Float>(x: F) -> F {
    let size = x.abs();
    // Away from where cubes overflow, or are subnormal.
    let small = size.below(1.0);
    let scaled = size * small.choose(x.constant(2f32.powi(48)), x.constant(2f32.powi(-24)));
    // A third of the bits, and what makes that the cube root's exponent.
    let bits = scaled.bits();
    let quarter = bits.down(2) + bits.down(4);
    let sixteenth = quarter + quarter.down(4);
    let guess = (sixteenth + sixteenth.down(8) + 0x2a51_1cd0).float();
    let step = |t: F| {
        let cube = t * t * t;
        t * ((scaled - cube) / (cube + cube + scaled))
    };
    let better = guess + step(guess);
    let short = ((better.bits() + 0x8000) & !0xffff).float();
    let root = (short + step(short)) * small.choose(x.constant(2f32.powi(-16)), x.constant(2f32.powi(8)));
    let regular = size.below(f32::INFINITY).and(size.above(0.0));
    regular.choose(root.flipped(x.sign()), x)
}

/// √(x² + y²) of numbers brought where squares neither overflow nor vanish.
pub fn hypot<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let larger = a.lt(b).choose(b, a);
    let one = a.constant(1.0);
    let (huge, small) = (larger.above(2f32.powi(50)), larger.below(2f32.powi(-40)));
    let (down, up) = (a.constant(2f32.powi(-90)), a.constant(2f32.powi(90)));
    let scale = huge.choose(down, small.choose(up, one));
    let back = huge.choose(up, small.choose(down, one));
    let (a_scaled, b_scaled) = (a * scale, b * scale);
    let root = (a_scaled * a_scaled + b_scaled * b_scaled).sqrt() * back;
    let infinite = a.is(f32::INFINITY).or(b.is(f32::INFINITY));
    infinite.choose(a.constant(f32::INFINITY), root)
}
