//! pow, cbrt and hypot.

use super::arithmetic::{Bool, Float, Int, fast_two_sum, two_product, two_sum};
use super::exponential::exp2_of_sum;
use super::logarithm::split;

/// 3/2 (log((1 + s) / (1 − s)) / s − 2 − 2 s²/3) / s⁴ in s².
const SERIES: [f32; 3] = [0.600_002_3, 0.428_206_18, 0.351_302_1];
/// 2 / (3 log 2) in two parts.
const FACTOR: [f32; 2] = [0.961_796_7, -7.028_462e-9];

/// log₂ of a positive number in two parts, good to some 36 bits.
///
/// With s = (m − 1) / (m + 1), log m = 2/3 s (3 + s² + s⁴ …): all factors are kept in two parts.
fn log2_in_parts<F: Float>(x: F) -> (F, F) {
    let (e, m) = split(x);
    let (f, below) = (m - 1.0, m + 1.0);
    let below_tail = m - (below - 1.0);
    let inverse = below.constant(1.0) / below;
    let s = f * inverse;
    let tail = (-s).fused(below_tail, (-s).fused(below, f)) * inverse;
    let (square, lost) = two_product(s, s);
    let square_tail = (s + s).fused(tail, lost);
    let series = (square * square).fused(square.polynomial(&SERIES), square_tail);
    let (sum, lost) = fast_two_sum(s.constant(3.0), square);
    let (sum, sum_tail) = fast_two_sum(sum, lost + series);
    let (product, lost) = two_product(s, sum);
    let product_tail = s.fused(sum_tail, tail.fused(sum, lost));
    let (scaled, lost) = two_product(product, product.constant(FACTOR[0]));
    let scaled_tail = product.fused_with(FACTOR[1], product_tail.fused_with(FACTOR[0], lost));
    let (total, lost) = two_sum(e, scaled);
    (total, lost + scaled_tail)
}

/// |t|^e for finite t other than 0.
fn magnitude<F: Float>(t: F, e: F) -> F {
    let (log, log_rest) = log2_in_parts(t);
    // Beyond this, everything but 1 is 0 or infinite.
    let e = e.clamped(-1e12, 1e12);
    let (exponent, lost) = two_product(e, log);
    let rest = e.fused(log_rest, lost);
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
