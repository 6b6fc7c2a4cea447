//! Named numbers, as in C and Open Shading Language: each stands for its value wherever an expression may stand. A
//! file's own declaration of the name hides them.

use std::f64::consts as exact;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i32),
    Float(f32),
}

/// A name that stands for a number.
pub struct Named {
    pub name: &'static str,
    pub value: Number,
    pub text: &'static str,
}

const fn float(name: &'static str, value: f64, text: &'static str) -> Named {
    Named { name, value: Number::Float(value as f32), text }
}

/// In the order of the reference page. Floats are those nearest to the exact values.
pub const TABLE: &[Named] = &[
    float("M_PI", exact::PI, "π"),
    float("M_PI_2", exact::FRAC_PI_2, "π / 2"),
    float("M_PI_4", exact::FRAC_PI_4, "π / 4"),
    float("M_1_PI", exact::FRAC_1_PI, "1 / π"),
    float("M_2_PI", exact::FRAC_2_PI, "2 / π"),
    float("M_2PI", exact::TAU, "2π"),
    float("M_4PI", 2.0 * exact::TAU, "4π"),
    float("M_2_SQRTPI", exact::FRAC_2_SQRT_PI, "2 / √π"),
    float("M_E", exact::E, "e"),
    float("M_LN2", exact::LN_2, "the natural logarithm of 2"),
    float("M_LN10", exact::LN_10, "the natural logarithm of 10"),
    float("M_LOG2E", exact::LOG2_E, "the logarithm of e to base 2"),
    float("M_LOG10E", exact::LOG10_E, "the logarithm of e to base 10"),
    float("M_SQRT2", exact::SQRT_2, "√2"),
    float("M_SQRT1_2", exact::FRAC_1_SQRT_2, "√½"),
    float("FLT_MAX", f32::MAX as f64, "the largest finite float, 3.4028235e38"),
    float("FLT_MIN", f32::MIN_POSITIVE as f64, "the smallest positive float that is no denormal, 1.1754944e-38"),
    float("FLT_EPSILON", f32::EPSILON as f64, "the distance from 1 to the next float, 2⁻²³"),
    float("INFINITY", f64::INFINITY, "infinity"),
    Named { name: "INT_MAX", value: Number::Int(i32::MAX), text: "2147483647" },
    Named { name: "INT_MIN", value: Number::Int(i32::MIN), text: "−2147483648" },
];

pub fn find(name: &str) -> Option<Number> {
    TABLE.iter().find(|c| c.name == name).map(|c| c.value)
}
