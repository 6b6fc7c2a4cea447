//! Sines, cosines and angles by polynomials, for warps: cheaper than a library's, and the same on every machine.
//!
//! The coefficients are minimax fits of f64, errors those of f32 arithmetic measured against f64.

use std::f32::consts::FRAC_PI_4;

/// sin and cos of `q` eighths of a turn, `q` from −1 to 1; the error is below 1.2e-7.
#[inline(always)]
pub fn sin_cos_octant(q: f32) -> (f32, f32) {
    let z = q * q;
    let sin = q * (FRAC_PI_4 + z * (-0.080_745_37 + z * (0.002_489_872 + z * -3.587_726e-5)));
    let cos = 1.0 + z * (-0.308_425_14 + z * (0.015_854_328 + z * (-3.259_42e-4 + z * 3.531_335e-6)));
    (sin, cos)
}

/// sin and cos of so many turns, from −1e6 to 1e6; the error is below 1.2e-7 beyond that of `turns` itself.
#[inline(always)]
pub fn sin_cos_turns(turns: f32) -> (f32, f32) {
    // The nearest quarter turn, and what is left, in eighths.
    let quarters = turns * 4.0;
    let nearest = (quarters + 0.5_f32.copysign(quarters)) as i32;
    let (sin, cos) = sin_cos_octant(2.0 * (quarters - nearest as f32));
    let (sin, cos) = if nearest & 1 == 0 { (sin, cos) } else { (cos, -sin) };
    if nearest & 2 == 0 { (sin, cos) } else { (-sin, -cos) }
}

/// The angle of the direction (x, y) from the x axis in turns, from −½ to ½; 0 for no direction. The error is below 5e-8.
#[inline(always)]
pub fn turns_of(y: f32, x: f32) -> f32 {
    let (large, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let t = if large > 0.0 { small / large } else { 0.0 };
    let z = t * t;
    let high = -0.022_136_271 + z * (0.015_346_033 + z * (-0.008_898_722 + z * (0.003_479_597 + z * -6.453_042e-4)));
    let of_octant = t * (0.159_154_84 + z * (-0.053_046_12 + z * (0.031_745_945 + z * high)));
    let of_quadrant = if y.abs() > x.abs() { 0.25 - of_octant } else { of_octant };
    (if x < 0.0 { 0.5 - of_quadrant } else { of_quadrant }).copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn error(found: (f32, f32), angle: f64) -> f64 {
        (f64::from(found.0) - angle.sin()).abs().max((f64::from(found.1) - angle.cos()).abs())
    }

    #[test]
    fn sines_and_cosines_are_those_of_f64() {
        for i in -10_000..=10_000 {
            let q = i as f32 / 10_000.0;
            assert!(error(sin_cos_octant(q), f64::from(q) * TAU / 8.0) < 1.2e-7, "{q}");
            for turns in [q, 3.0 * q, 0.25 * q + 100.0] {
                assert!(error(sin_cos_turns(turns), f64::from(turns) * TAU) < 1.2e-7, "{turns}");
            }
        }
        assert_eq!([0.0, 0.25, 0.5, -0.25].map(sin_cos_turns), [(0.0, 1.0), (1.0, -0.0), (-0.0, -1.0), (-1.0, 0.0)]);
    }

    #[test]
    fn angles_are_those_of_f64_in_every_octant() {
        for i in 0..40_000 {
            let angle = (f64::from(i) / 40_000.0 - 0.5) * TAU;
            for length in [1.0, 1e-30, 3e30] {
                let (y, x) = ((angle.sin() * length) as f32, (angle.cos() * length) as f32);
                let expected = f64::from(y).atan2(f64::from(x)) / TAU;
                assert!((f64::from(turns_of(y, x)) - expected).abs() < 5e-8, "{x} {y}");
            }
        }
        assert_eq!((turns_of(0.0, 0.0), turns_of(0.0, -1.0), turns_of(-2.0, 0.0)), (0.0, 0.5, -0.25));
    }
}
