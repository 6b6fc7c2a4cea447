//! sin, cos and tan: |x| = n π/2 + r with |r| ≤ π/4, then a polynomial in r, chosen by the lowest two bits of n.

use super::arithmetic::{Float, Int, fast_two_difference, fast_two_sum};
use super::exponential::MAGIC;
use super::reduction::far;

/// Up to here π/2 in four parts is enough: n has twelve bits, as has each of the first three parts, so that their products are exact.
pub const NEAR: f32 = 6400.0;
pub const TWO_OVER_PI: f32 = 0.636_619_75;
pub const HALF_PI: [f32; 4] = [1.570_800_8, -4.453_584_6e-6, -8.706_138e-10, 6.223_372e-14];
/// (sin r − r) / r³, (cos r − 1 + r²/2) / r⁴ and (tan r − r) / r³, in r².
const SIN: [f32; 3] = [-0.166_666_55, 0.008_332_19, -0.000_195_184_08];
const COS: [f32; 3] = [0.041_666_646, -0.001_388_730_1, 2.443_066_8e-5];
const TAN: [f32; 7] =
    [0.333_333_52, 0.133_325_85, 0.054_068_316, 0.021_241_104, 0.010_937_34, -3.383_316_3e-5, 0.004_434_873];

/// r, what its rounding left out, and [`MAGIC`] + n.
fn reduced<F: Float>(x: F) -> [F; 3] {
    let size = x.abs();
    F::branch(size.below(NEAR), || near(size), || far(size))
}

fn near<F: Float>(x: F) -> [F; 3] {
    let magic = x.fused_with(TWO_OVER_PI, x.constant(MAGIC));
    let n = magic - MAGIC;
    // The first difference is exact.
    let (first, lost) = fast_two_difference(n.fused_with(-HALF_PI[0], x), n * HALF_PI[1]);
    let (second, more) = fast_two_difference(first, n * HALF_PI[2]);
    let (r, rest) = fast_two_difference(second, n.fused_with(HALF_PI[3], -(lost + more)));
    [r, rest, magic]
}

pub fn sine<F: Float>(r: F, rest: F) -> F {
    let square = r * r;
    (r * square).fused(square.polynomial(&SIN), rest) + r
}

pub fn cosine<F: Float>(r: F, rest: F) -> F {
    let square = r * r;
    let small = (square * square).fused(square.polynomial(&COS), -(r * rest));
    square.fused_with(-0.5, small) + 1.0
}

/// The sine of n quarter turns and r.
///
/// Which of the two it is, no processor can predict; so it is chosen among ints, for which scalar code has an instruction.
pub fn turned<F: Float>(n: F::Int, sine: F, cosine: F) -> F {
    let odd = (n & 1).eq(n.constant(1));
    (F::Int::choose(odd, cosine.bits(), sine.bits()) ^ (n & 2).up(30)).float()
}

pub fn sin<F: Float>(x: F) -> F {
    let [r, rest, magic] = reduced(x);
    turned(magic.bits(), sine(r, rest), cosine(r, rest)).flipped(x.sign())
}

pub fn cos<F: Float>(x: F) -> F {
    let [r, rest, magic] = reduced(x);
    turned(magic.bits() + 1, sine(r, rest), cosine(r, rest))
}

/// Sine and cosine of one angle.
pub fn sin_cos<F: Float>(x: F) -> [F; 2] {
    let [r, rest, magic] = reduced(x);
    let (sine, cosine, n) = (sine(r, rest), cosine(r, rest), magic.bits());
    [turned(n, sine, cosine).flipped(x.sign()), turned(n + 1, sine, cosine)]
}

pub fn tan<F: Float>(x: F) -> F {
    let [r, rest, magic] = reduced(x);
    let square = r * r;
    let more = (r * square).fused(square.polynomial(&TAN), square.fused(rest, rest));
    let (tangent, lost) = fast_two_sum(r, more);
    let odd = (magic.bits() & 1).eq(magic.bits().constant(1));
    // −1 / (t + lost): the quotient, and what it lacks.
    let inverse = r.constant(-1.0) / tangent;
    let lacks = inverse.fused(lost, inverse.fused(tangent, r.constant(1.0)));
    let inverse = inverse.fused(lacks, inverse);
    (F::Int::choose(odd, inverse.bits(), tangent.bits()) ^ x.sign()).float()
}
