//! Functions without rounding: round and fmod.

use super::arithmetic::{Bool, Float, Int};
use super::exponential::MAGIC;

/// Halves go away from zero.
pub fn round<F: Float>(x: F) -> F {
    let whole = x.trunc();
    let up = (x - whole).abs().below(0.5);
    let next = whole.abs() + 1.0;
    // NaN and infinity have no distance to their whole part.
    let keep = up.or(x.abs().below(8_388_608.0).not());
    keep.choose(whole, next.flipped(x.sign()))
}

/// The mantissa from 1 to 2, and the exponent.
fn normal<F: Float>(x: F) -> (F, F) {
    let tiny = x.below(f32::MIN_POSITIVE);
    let bits = tiny.choose(x * 16_777_216.0, x).bits();
    let exponent = bits.down(23).to_float();
    let mantissa = ((bits & 0x7f_ffff) | 0x3f80_0000).float();
    (mantissa, tiny.choose(exponent - 24.0, exponent))
}

/// The remainder of |a| by |b|, with the sign of a: long division, ten bits of the quotient in a round.
pub fn fmod<F: Float>(a: F, b: F) -> F {
    let (size, divisor) = (a.abs(), b.abs());
    let (top, top_exponent) = normal(size);
    let (bottom, exponent) = normal(divisor);
    // Twelve bits, rounded to nearest, so that the rest has eleven and a sign.
    let head = ((bottom.bits() + 0x800) & !0xfff).float();
    let tail = bottom - head;
    // The remainder by the nearest whole quotient of up to twelve bits. Every product and difference is exact.
    let remainder = |x: F| {
        let quotient = (x / bottom + MAGIC) - MAGIC;
        let rest = (x - quotient * head) - quotient * tail;
        rest.below(0.0).choose(rest + bottom, rest)
    };
    let [rest, _] = F::repeat(
        [remainder(top), top_exponent - exponent],
        |[_, bits]| bits.above(0.0),
        |[rest, bits]| {
            let now = bits.above(10.0).choose(bits.constant(10.0), bits);
            let power = ((now + MAGIC).bits().up(23) + 0x3f80_0000).float();
            [remainder(rest * power), bits - now]
        },
    );
    // Back to the divisor's exponent, in two steps: it may be subnormal.
    let unit = (exponent + MAGIC).bits() - (MAGIC.to_bits() as i32 + 127);
    let first = unit.down(1);
    let power = |n: F::Int| (n + 127).up(23).float();
    let result = rest * power(first) * power(unit - first);
    let smaller = size.lt(divisor).choose(size, result);
    let defined = size.below(f32::INFINITY).and(divisor.above(0.0));
    defined.choose(smaller.flipped(a.sign()), a.constant(f32::NAN))
}
