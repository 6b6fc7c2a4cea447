//! Reduction of large angles, after Payne and Hanek (1983): only the two bits above the point of x · 2/π and the bits
//! below it matter, so only a window of 2/π is multiplied. All of it is integer arithmetic, and selects choose the
//! words of the window.

use super::arithmetic::{Float, Int, fast_two_sum};
use super::exponential::MAGIC;

/// The bits of 2/π behind the point; a word of zeros in front.
const TWO_OVER_PI: [u32; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];
const HALF_PI: [f32; 2] = [1.570_796_4, -4.371_139e-8];

/// r, what its rounding left out, and [`MAGIC`] + n, of which only the lowest two bits are right. For x from 2⁷ on; NaN for infinity
/// and NaN.
pub fn far<F: Float>(x: F) -> [F; 3] {
    let bits = x.bits();
    let mantissa = (bits & 0x7f_ffff) | 0x80_0000;
    // x = mantissa · 2^(exponent − 150). The window begins with the bit of 2/π that is worth 2 there.
    let offset = bits.down(23) - 120;
    let [top, middle, low] = window(offset);
    let (middle_high, middle_low) = wide_product(mantissa, middle);
    let (low_high, _) = wide_product(mantissa, low);
    let fraction = middle_low + low_high;
    let carry = bit(unsigned_lt(fraction, low_high), bits);
    let whole = mantissa * top + middle_high + carry;
    // Two bits in front of the point; what is behind is rounded to nearest.
    let high = whole.up(2) | fraction.unsigned_down(30);
    let rest = fraction.up(2);
    let n = whole.unsigned_down(30) + high.unsigned_down(31);
    let [r, lost] = quarter_turns(high, rest);
    // NaN where x is not finite.
    #[expect(clippy::eq_op, reason = "0 of a finite number, NaN of another")]
    let nothing = x - x;
    [r + nothing, lost, ((n & 3) + MAGIC.to_bits() as i32).float()]
}

/// The 96 bits of 2/π from a place on.
fn window<I: Int>(offset: I) -> [I; 3] {
    let index = offset.down(5);
    let word = |i: usize| offset.constant(TWO_OVER_PI.get(i).map_or(0, |w| *w as i32));
    let step = |mask: i32, a: I, b: I| I::choose((index & mask).eq(index.constant(0)), a, b);
    // Words from 0, or from 4 on; then from 0, 2; then from 0, 1.
    let by_four: [I; 7] = std::array::from_fn(|i| step(4, word(i), word(i + 4)));
    let by_two: [I; 5] = std::array::from_fn(|i| step(2, by_four[i], by_four[i + 2]));
    let by_one: [I; 4] = std::array::from_fn(|i| step(1, by_two[i], by_two[i + 1]));
    let shift = offset & 31;
    let back = offset.constant(31) - shift;
    std::array::from_fn(|i| by_one[i].shl(shift) | by_one[i + 1].unsigned_down(1).ushr(back))
}

/// A number of 24 bits times one of 32, as two words.
fn wide_product<I: Int>(a: I, b: I) -> (I, I) {
    let (a_high, a_low) = (a.unsigned_down(8), a & 0xff);
    let (b_high, b_low) = (b.unsigned_down(16), b & 0xffff);
    let (near, far) = (a_low * b_low, a_high * b_low);
    // What stands below 2¹⁶, for its carry.
    let below = (near & 0xffff) + (far & 0xff).up(8);
    let middle = near.unsigned_down(16) + a_low * b_high + far.unsigned_down(8) + below.unsigned_down(16);
    let top = a_high * b_high;
    let high = top.unsigned_down(8) + ((top & 0xff).up(8) + middle).unsigned_down(16);
    (high, a * b)
}

fn unsigned_lt<I: Int>(a: I, b: I) -> I::Bool {
    (a ^ i32::MIN).lt(b ^ i32::MIN)
}

fn bit<I: Int>(condition: I::Bool, like: I) -> I {
    I::choose(condition, like.constant(1), like.constant(0))
}

/// A signed fraction of 64 bits, times π/2.
fn quarter_turns<I: Int>(high: I, low: I) -> [I::Float; 2] {
    // Its size: all bits turned round where it is negative, which is off by 2⁻⁶⁴.
    let sign = high.down(31);
    let (high, low) = (high ^ sign, low ^ sign);
    let first = high.unsigned_down(8).to_float() * 2f32.powi(-24);
    let second = ((high & 0xff).up(16) | low.unsigned_down(16)).to_float() * 2f32.powi(-48);
    let third = (low & 0xffff).to_float() * 2f32.powi(-64);
    let (sum, lost) = fast_two_sum(first, second);
    let lost = lost + third;
    // sum · π/2, exact but for the last line's roundings.
    let product = sum * HALF_PI[0];
    let head = sum.head();
    let tail = sum - head;
    let (pi_head, pi_tail) = (1.570_800_8, HALF_PI[0] - 1.570_800_8);
    let error = ((head * pi_head - product) + head * pi_tail + tail * pi_head) + tail * pi_tail;
    let error = error + (sum * HALF_PI[1] + lost * HALF_PI[0]);
    let (r, rest) = fast_two_sum(product, error);
    [r.flipped(sign & i32::MIN), rest.flipped(sign & i32::MIN)]
}
