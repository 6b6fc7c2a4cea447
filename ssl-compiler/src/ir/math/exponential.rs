//! exp, exp2 and expm1: x = n log 2 + r with n a whole number and |r| ≤ log 2 / 2, then a polynomial in r, then the exponent.
//!
//! Coefficients here and in the neighbouring files are fits of our own: the error, relative to the function, is made as small
//! as possible in the maximum norm (Lawson's reweighted least squares on Chebyshev nodes, in multiple precision), with
//! the coefficients rounded to f32 one after another, most important first, and the rest fitted again each time.

use super::arithmetic::{Bool, Float, Int, fast_two_difference, fast_two_sum, two_sum};

/// 1.5 · 2²³: what is added to it is rounded to a whole number, and stands in its low bits.
pub const MAGIC: f32 = 12_582_912.0;
const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// log 2 in two parts; the first has 15 bits, so that its product with an exponent is exact.
pub const LN2: [f32; 2] = [0.693_145_75, 1.428_606_8e-6];
/// (eʳ − 1 − r) / r² for |r| ≤ log 2 / 2.
const EXP: [f32; 5] = [0.5, 0.166_665_2, 0.041_666_385, 0.008_368_849, 0.001_394_221_4];
/// (2ʳ − 1) / r for |r| ≤ 1/2.
const EXP2: [f32; 6] =
    [std::f32::consts::LN_2, 0.240_226_5, 0.055_503_592, 0.009_618_062, 0.001_339_120_2, 0.000_154_633_03];

/// x 2ⁿ for a number near 1 and `magic` = [`MAGIC`] + n, by two factors: 2ⁿ itself may be too large or too small.
fn scaled<F: Float>(x: F, magic: F) -> F {
    let n = magic.bits() - MAGIC.to_bits() as i32;
    let first = n.down(1);
    let power = |n: F::Int| (n + 127).up(23).float();
    x * power(first) * power(n - first)
}

/// [`MAGIC`] + n, and r with what its rounding left out.
fn reduced<F: Float>(x: F) -> (F, F, F) {
    let magic = x.fused_with(LOG2_E, x.constant(MAGIC));
    let n = magic - MAGIC;
    let near = n.fused_with(-LN2[0], x);
    let (r, rest) = fast_two_difference(near, n * LN2[1]);
    (magic, r, rest)
}

/// A number between √½ and √2, and [`MAGIC`] + n, whose product with 2ⁿ is eˣ.
fn grown<F: Float>(x: F) -> (F, F) {
    let magic = x.fused_with(LOG2_E, x.constant(MAGIC));
    let n = magic - MAGIC;
    let r = n.fused_with(-LN2[1], n.fused_with(-LN2[0], x));
    ((r * r).fused(r.polynomial(&EXP), r) + 1.0, magic)
}

/// eˣ 2^−`halvings`.
pub fn exp_halved<F: Float>(x: F, halvings: f32) -> F {
    let (grown, magic) = grown(x);
    scaled(grown, if halvings == 0.0 { magic } else { magic - halvings })
}

/// e^(x + rest) times a factor in two parts.
pub fn exp_times<F: Float>(x: F, rest: F, factor: (F, F)) -> F {
    let magic = x.fused_with(LOG2_E, x.constant(MAGIC));
    let n = magic - MAGIC;
    let near = n.fused_with(-LN2[0], x);
    let r = near - n.fused_with(LN2[1], -rest);
    let (grown, lost) = fast_two_sum(r.constant(1.0), (r * r).fused(r.polynomial(&EXP), r));
    scaled(grown.fused(factor.0, grown.fused(factor.1, lost * factor.0)), magic)
}

pub fn exp<F: Float>(x: F) -> F {
    exp_halved(x.clamped(-104.0, 89.0), 0.0)
}

/// From here on eˣ is so far from subnormal numbers that a quarter of it is none.
pub const NORMAL_FROM: f32 = -85.0;
/// Up to here it is below 2¹²⁷·√2.
pub const FINITE_TO: f32 = 88.0;

/// The same bits for x from [`NORMAL_FROM`] on: the exponent is added to that of a quarter, which has room for it.
pub fn exp_of_normal<F: Float>(x: F) -> F {
    let (grown, magic) = grown(x.above(89.0).choose(x.constant(89.0), x));
    // What stands above the low bits of `magic` is shifted out.
    (grown.bits() + (magic.bits().up(23) - (2 << 23))).float() * 4.0
}

/// Likewise for x up to [`FINITE_TO`], too.
pub fn exp_of_bounded<F: Float>(x: F) -> F {
    let (grown, magic) = grown(x);
    (grown.bits() + magic.bits().up(23)).float()
}

pub fn exp2<F: Float>(x: F) -> F {
    let x = x.clamped(-151.0, 129.0);
    exp2_of_sum(x, x.constant(0.0))
}

/// 2^(x + rest), for a small rest and what does not overflow by much.
pub fn exp2_of_sum<F: Float>(x: F, rest: F) -> F {
    let magic = (x + rest) + MAGIC;
    let r = (x - (magic - MAGIC)) + rest;
    scaled(r.fused(r.polynomial(&EXP2), r.constant(1.0)), magic)
}

/// 2ⁿ (eʳ − 1 + (1 − 2⁻ⁿ)), where 1 − 2⁻ⁿ is exact or does not matter.
pub fn expm1<F: Float>(x: F) -> F {
    let bounded = x.clamped(-18.0, 89.0);
    let (magic, r, rest) = reduced(bounded);
    // From 2⁻²⁵ on, 1 − 2⁻ⁿ is 1.
    let n = (magic - MAGIC).clamped(-30.0, 30.0);
    let inverse = (-n + (MAGIC + 127.0)).bits().up(23).float();
    let step = -inverse + 1.0;
    let grown = (r * r).fused(r.polynomial(&EXP), r.fused(rest, rest));
    let (sum, lost) = two_sum(step, r);
    let result = scaled(sum + (lost + grown), magic);
    // Keeps −0, and numbers whose square vanishes.
    x.is(0.0).choose(x, result)
}
