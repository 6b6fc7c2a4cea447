//! Logarithms: x = 2ᵉ m with m from √½ to √2, and log m by a polynomial in f = m − 1, which is exact.

use super::arithmetic::{Bool, Float, Int, two_product, two_sum};
use super::exponential::LN2;

/// The bits of √½.
const SQRT_HALF: i32 = 0x3f35_04f3;
/// (log(1 + f) − f + f²/2) / f³.
const LOG: [f32; 8] =
    [0.333_333_3, -0.250_008_23, 0.200_012_5, -0.166_233_15, 0.142_012_73, -0.131_601_9, 0.127_647_62, -0.076_381_85];
/// 1 / log 2 and 1 / log 10 in two parts.
const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, 1.925_963e-8];
const LOG10_E: [f32; 2] = [std::f32::consts::LOG10_E, -1.010_305e-8];
/// log₁₀ 2 in two parts; the first has 14 bits.
const LOG10_2: [f32; 2] = [0.301_025_4, 4.605_039e-6];

/// e and m of a positive number; subnormal ones are made normal first.
pub fn split<F: Float>(x: F) -> (F, F) {
    let tiny = x.below(f32::MIN_POSITIVE);
    let normal = tiny.choose(x * 8_388_608.0, x);
    let (e, m) = split_normal(normal);
    (tiny.choose(e - 23.0, e), m)
}

fn split_normal<F: Float>(x: F) -> (F, F) {
    let bits = x.bits();
    let e = (bits - SQRT_HALF).down(23);
    (e.to_float(), (bits - e.up(23)).float())
}

/// log(1 + f) − f.
fn curve<F: Float>(f: F) -> F {
    let square = f * f;
    (square * f).fused(f.polynomial(&LOG), square * -0.5)
}

/// What logarithms give where the argument is not a positive number.
pub fn guarded<F: Float>(x: F, result: F) -> F {
    let outside = x.is(0.0).choose(x.constant(f32::NEG_INFINITY), x.constant(f32::NAN));
    let finite = x.below(f32::INFINITY).choose(result, x);
    x.above(0.0).choose(finite, outside)
}

pub fn log<F: Float>(x: F) -> F {
    let (e, m) = split(x);
    let f = m - 1.0;
    guarded(x, e.fused_with(LN2[0], f + e.fused_with(LN2[1], curve(f))))
}

/// log(m) times a constant in two parts: a product, and the rest with what the product's rounding left out.
fn times<F: Float>(m: F, constant: [f32; 2]) -> (F, F) {
    let f = m - 1.0;
    let (product, lost) = two_product(f, f.constant(constant[0]));
    let rest = f.fused_with(constant[1], curve(f) * constant[0]);
    (product, lost + rest)
}

pub fn log2<F: Float>(x: F) -> F {
    let (e, m) = split(x);
    let (product, rest) = times(m, LOG2_E);
    let (sum, lost) = two_sum(e, product);
    guarded(x, sum + (lost + rest))
}

pub fn log10<F: Float>(x: F) -> F {
    let (e, m) = split(x);
    let (product, rest) = times(m, LOG10_E);
    let (sum, lost) = two_sum(e * LOG10_2[0], product);
    guarded(x, sum + (lost + (rest + e * LOG10_2[1])))
}

/// log(u + c) for u from √½ and a c far below it.
pub fn log_of_sum<F: Float>(u: F, c: F) -> F {
    let (e, m) = split_normal(u);
    let f = m - 1.0;
    let correction = c / u;
    let (sum, lost) = two_sum(e * LN2[0], f);
    sum + (lost + (correction + e.fused_with(LN2[1], curve(f))))
}

pub fn log1p<F: Float>(x: F) -> F {
    let (u, c) = two_sum(x.constant(1.0), x);
    let result = guarded(u, log_of_sum(u, c));
    // Keeps −0, and numbers that are their own logarithm.
    x.abs().below(1e-9).choose(x, result)
}
