//! erf and erfc.

use super::arithmetic::{Bool, Float, fast_two_sum, two_product, two_sum};
use super::exponential::{exp_halved, exp_times};

/// erf x / x − 1 in x², to 0.84.
const ERF: [f32; 6] = [0.128_379_17, -0.376_125_93, 0.112_829_19, -0.026_810_098, 0.005_063_182, -0.000_638_437_9];
/// −log erfc x, from 0.84 to 3.95.
const TAIL: [f32; 7] =
    [9.287_991e-5, 1.128_111_7, 0.636_429_2, 0.104_608_44, -0.022_560_582, 0.003_128_696, -0.000_204_823_34];
/// (1 + 2x) exp(x²) erfc x in (x − 2) / (x + 2), from 0.45 to 10.1.
const ERFC: [f32; 10] = [
    1.276_978_4,
    -0.092_763_81,
    -0.166_030_48,
    0.164_049_94,
    -0.054_213_41,
    -0.008_015_428,
    0.008_662_361,
    0.001_178_994_2,
    -0.001_264_098_8,
    -0.000_263_923,
];

/// For |x| to 0.84.
fn near<F: Float>(x: F) -> F {
    x.fused((x * x).polynomial(&ERF), x)
}

pub fn erf<F: Float>(x: F) -> F {
    let size = x.abs();
    let bounded = size.clamped(0.0, 4.0);
    let far = -exp_halved(-bounded.polynomial(&TAIL), 0.0) + 1.0;
    size.below(0.84).choose(near(x), far.flipped(x.sign()))
}

pub fn erfc<F: Float>(x: F) -> F {
    let size = x.abs().clamped(0.0, 10.5);
    let (head, tail) = two_product(size, size);
    let t = (size - 2.0) / (size + 2.0);
    let [first, rest @ ..] = ERFC;
    let (numerator, lost) = fast_two_sum(t.constant(first), t * t.polynomial(&rest));
    // The quotient by 1 + 2x, and what its rounding left out.
    let (divisor, divisor_lost) = two_sum(t.constant(1.0), size * 2.0);
    let quotient = numerator / divisor;
    let remainder = (-quotient).fused(divisor, numerator);
    let correction = (remainder + lost - quotient * divisor_lost) / divisor;
    let far = exp_times(-head, -tail, (quotient, correction));
    let beyond = x.below(0.0).choose(-far + 2.0, far);
    size.below(0.45).choose(-near(x) + 1.0, beyond)
}
