//! Floats that are worth trying on functions of one and two numbers.

use crate::generate::Random;

/// Zeros, ends of ranges, halves, whole numbers odd and even, with both signs.
pub fn special() -> Vec<f32> {
    let sizes = [
        0.0,
        f32::from_bits(1),
        f32::from_bits(3),
        f32::from_bits(0x7f_ffff),
        f32::MIN_POSITIVE,
        f32::from_bits(0x80_0001),
        1e-30,
        1e-20,
        1e-10,
        0.1,
        0.25,
        1.0 / 3.0,
        0.5,
        0.75,
        1.0 - f32::EPSILON / 2.0,
        1.0,
        1.0 + f32::EPSILON,
        // Where `acosh` once erred by more than two places.
        1.031_265_1,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        7.0,
        10.0,
        31.0,
        100.0,
        127.0,
        128.0,
        149.0,
        150.0,
        255.0,
        1e4,
        8_388_607.5,
        8_388_609.0,
        16_777_215.0,
        16_777_216.0,
        16_777_218.0,
        1e10,
        1e20,
        1e30,
        1e38,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    sizes.iter().flat_map(|&x| [x, -x]).collect()
}

/// Pairs of any bits, of moderate numbers, of such that are near in size, and of a base near 1 with a large exponent.
pub fn pair(seed: u64) -> (f32, f32) {
    let mut random = Random::new(seed);
    let mut word = || random.below(1 << 31) as u32 ^ ((random.below(1 << 31) as u32) << 1);
    let (a, b) = (word(), word());
    let unit = |w: u32| f64::from(w) / 4_294_967_296.0;
    match seed % 4 {
        0 => (f32::from_bits(a), f32::from_bits(b)),
        1 => ((8.0 * unit(a)) as f32, (40.0 * unit(b) - 20.0) as f32),
        2 => {
            let near = |w: u32, exponent: i32| ((1.0 + unit(w)) * 2f64.powi(exponent)) as f32;
            (near(a, (word() % 8) as i32 - 4), near(b, (word() % 64) as i32 - 32))
        }
        _ => {
            let base = (1.0 + (unit(a) - 0.5) * 2f64.powi(-((word() % 20) as i32))) as f32;
            (base, (300.0 * (unit(b) - 0.5) / f64::from(base).log2()) as f32)
        }
    }
}
