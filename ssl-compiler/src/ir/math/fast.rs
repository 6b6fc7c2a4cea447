//! The faster, less exact class. It trades digits, the ends of ranges and subnormal numbers for time. Functions that
//! are not here are the same as in the default class.

use super::arithmetic::{Float, Int};
use super::exponential::{LN2, MAGIC};
use super::power;
use super::reduction::far;
use super::trigonometric::{HALF_PI, NEAR, TWO_OVER_PI, cosine, sine, turned};
use crate::ir::ops::{Float1, Float2};

/// (eʳ − 1 − r) / r² for |r| ≤ log 2 / 2.
const EXP: [f32; 4] = [0.499_991_4, 0.166_664_62, 0.041_899_342, 0.008_374_265];
/// (2ʳ − 1) / r for |r| ≤ 1/2.
const EXP2: [f32; 5] = [0.693_147_24, 0.240_222_36, 0.055_502_824, 0.009_671_858, 0.001_341_330_6];
/// (log(1 + f) − f + f²/2) / f³.
const LOG: [f32; 7] =
    [0.333_339_12, -0.250_013_38, 0.199_629_9, -0.165_774_93, 0.149_154_86, -0.142_686_29, 0.086_998_925];
const SQRT_HALF: i32 = 0x3f35_04f3;

pub fn unary<F: Float>(op: Float1, x: F) -> Option<F> {
    Some(match op {
        Float1::Sin => {
            let [r, magic] = reduced(x);
            turned(magic.bits(), sine(r, r.constant(0.0)), cosine(r, r.constant(0.0))).flipped(x.sign())
        }
        Float1::Cos => {
            let [r, magic] = reduced(x);
            turned(magic.bits() + 1, sine(r, r.constant(0.0)), cosine(r, r.constant(0.0)))
        }
        Float1::Tan => {
            let [sine, cosine] = sin_cos(x);
            sine / cosine
        }
        Float1::Exp => exp(x),
        Float1::Exp2 => exp2(x),
        Float1::Log => logarithm(x, [LN2[0], LN2[1], 1.0]),
        Float1::Log2 => logarithm(x, [1.0, 0.0, std::f32::consts::LOG2_E]),
        Float1::Log10 => logarithm(x, [0.301_025_4, 4.605_039e-6, std::f32::consts::LOG10_E]),
        _ => return None,
    })
}

pub fn binary<F: Float>(op: Float2, a: F, b: F) -> Option<F> {
    match op {
        Float2::Pow => Some(power::as_in_c(a, b, |size| {
            let log = logarithm_of_positive(size, [1.0, 0.0, std::f32::consts::LOG2_E]);
            exp2(b.clamped(-1e12, 1e12) * log)
        })),
        _ => None,
    }
}

pub fn sin_cos<F: Float>(x: F) -> [F; 2] {
    let [r, magic] = reduced(x);
    let zero = r.constant(0.0);
    let (sine, cosine, n) = (sine(r, zero), cosine(r, zero), magic.bits());
    [turned(n, sine, cosine).flipped(x.sign()), turned(n + 1, sine, cosine)]
}

/// r and [`MAGIC`] + n, without what r's rounding left out.
fn reduced<F: Float>(x: F) -> [F; 2] {
    let size = x.abs();
    let near = || {
        let magic = size.fused_with(TWO_OVER_PI, size.constant(MAGIC));
        let n = magic - MAGIC;
        let parts = HALF_PI.iter().fold(size, |rest, &part| n.fused_with(-part, rest));
        [parts, magic]
    };
    F::branch(size.below(NEAR), near, || {
        let [r, _, magic] = far(size);
        [r, magic]
    })
}

/// x 2ⁿ for `magic` = [`MAGIC`] + n, n from −127, which gives 0, to 128, which gives infinity.
fn scaled<F: Float>(x: F, magic: F) -> F {
    x * (magic.bits().up(23) + 0x3f80_0000).float()
}

fn exp<F: Float>(x: F) -> F {
    let x = x.clamped(-88.0, 88.7);
    let magic = x.fused_with(std::f32::consts::LOG2_E, x.constant(MAGIC));
    let n = magic - MAGIC;
    let r = n.fused_with(-LN2[1], n.fused_with(-LN2[0], x));
    scaled((r * r).fused(r.polynomial(&EXP), r) + 1.0, magic)
}

fn exp2<F: Float>(x: F) -> F {
    let x = x.clamped(-127.0, 128.0);
    let magic = x + MAGIC;
    let r = x - (magic - MAGIC);
    scaled(r.fused(r.polynomial(&EXP2), r.constant(1.0)), magic)
}

/// A logarithm: e times a constant in two parts, and log m times another.
fn logarithm_of_positive<F: Float>(x: F, [whole, rest, factor]: [f32; 3]) -> F {
    let bits = x.bits();
    let exponent = (bits - SQRT_HALF).down(23);
    let (e, f) = (exponent.to_float(), (bits - exponent.up(23)).float() - 1.0);
    let square = f * f;
    let curve = (square * f).fused(f.polynomial(&LOG), square * -0.5);
    e.fused_with(whole, f.fused_with(factor, curve.fused_with(factor, e * rest)))
}

fn logarithm<F: Float>(x: F, constants: [f32; 3]) -> F {
    super::logarithm::guarded(x, logarithm_of_positive(x, constants))
}
