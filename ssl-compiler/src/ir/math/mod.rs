//! The math library: each function once, generic over its number type.

mod arithmetic;
mod emit;
mod error_function;
mod exact;
mod exponential;
mod fast;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod reduction;
mod single;
mod trigonometric;

use super::Function;
use super::ops::{Float1, Float2};
use super::ranges::Range;
use arithmetic::Float;

/// How close to the true values functions come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// Within two units in the last place, for every argument; the slope of tanh, which only derivatives have, within 2.5.
    #[default]
    Close,
    /// What the manual says of it.
    Fast,
}

/// The function in f32; `None` for what every back end has an instruction for.
pub fn unary(op: Float1, x: f32, class: Class) -> Option<f32> {
    unary_kernel(op, x, class)
}

pub fn binary(op: Float2, a: f32, b: f32, class: Class) -> Option<f32> {
    binary_kernel(op, a, b, class)
}

/// Whether there is a kernel.
pub fn is_unary(op: Float1) -> bool {
    unary(op, 0.0, Class::Close).is_some()
}

pub fn is_binary(op: Float2) -> bool {
    binary(op, 0.0, 1.0, Class::Close).is_some()
}

/// The function as code. What has no kernel gives its argument.
pub fn unary_function(op: Float1, class: Class, name: &str) -> Function {
    emit::function(name, |[x]| [unary_kernel(op, x, class).unwrap_or(x)])
}

pub fn binary_function(op: Float2, class: Class, name: &str) -> Function {
    emit::function(name, |[a, b]| [binary_kernel(op, a, b, class).unwrap_or(a)])
}

/// How little is left of `exp` in places whose bounds are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpOf {
    /// From −85 on, so that no result is subnormal.
    Normal,
    /// From −85 to 88, so that no result is infinite either.
    Bounded,
}

impl ExpOf {
    /// What serves for arguments in a range, with the bits of the whole function; `None` where only that serves.
    pub fn within(range: Range, class: Class) -> Option<ExpOf> {
        // The fast function has no more than this already.
        let is_normal = class == Class::Close && range.low >= f64::from(exponential::NORMAL_FROM);
        let is_bounded = range.high <= f64::from(exponential::FINITE_TO);
        is_normal.then_some(if is_bounded { ExpOf::Bounded } else { ExpOf::Normal })
    }

    /// The function as code.
    pub fn function(self, name: &str) -> Function {
        emit::function(name, |[x]| [self.kernel(x)])
    }

    fn kernel<F: Float>(self, x: F) -> F {
        match self {
            ExpOf::Normal => exponential::exp_of_normal(x),
            ExpOf::Bounded => exponential::exp_of_bounded(x),
        }
    }
}

/// Sine and cosine of one angle, as code.
pub fn sin_cos_function(class: Class, name: &str) -> Function {
    emit::function(name, |[x]| match class {
        Class::Close => trigonometric::sin_cos(x),
        Class::Fast => fast::sin_cos(x),
    })
}

/// The hyperbolic tangent and its slope at one place, as code.
pub fn tanh_and_slope_function(name: &str) -> Function {
    emit::function(name, |[x]| hyperbolic::tanh_and_slope(x))
}

fn unary_kernel<F: Float>(op: Float1, x: F, class: Class) -> Option<F> {
    match class {
        Class::Close => close_unary(op, x),
        Class::Fast => fast::unary(op, x).or_else(|| close_unary(op, x)),
    }
}

fn binary_kernel<F: Float>(op: Float2, a: F, b: F, class: Class) -> Option<F> {
    match class {
        Class::Close => close_binary(op, a, b),
        Class::Fast => fast::binary(op, a, b).or_else(|| close_binary(op, a, b)),
    }
}

fn close_unary<F: Float>(op: Float1, x: F) -> Option<F> {
    use {
        error_function as error, exponential as exp, hyperbolic as hyp, inverse, logarithm as log,
        trigonometric as trig,
    };
    Some(match op {
        Float1::Neg | Float1::Abs | Float1::Sqrt | Float1::Floor | Float1::Ceil | Float1::Trunc => return None,
        Float1::Round => exact::round(x),
        Float1::Sin => trig::sin(x),
        Float1::Cos => trig::cos(x),
        Float1::Tan => trig::tan(x),
        Float1::Asin => inverse::asin(x),
        Float1::Acos => inverse::acos(x),
        Float1::Atan => inverse::atan(x),
        Float1::Sinh => hyp::sinh(x),
        Float1::Cosh => hyp::cosh(x),
        Float1::Tanh => hyp::tanh(x),
        Float1::TanhSlope => hyp::tanh_slope(x),
        Float1::Asinh => hyp::asinh(x),
        Float1::Acosh => hyp::acosh(x),
        Float1::Atanh => hyp::atanh(x),
        Float1::Exp => exp::exp(x),
        Float1::Exp2 => exp::exp2(x),
        Float1::Expm1 => exp::expm1(x),
        Float1::Log => log::log(x),
        Float1::Log2 => log::log2(x),
        Float1::Log10 => log::log10(x),
        Float1::Log1p => log::log1p(x),
        Float1::Cbrt => power::cbrt(x),
        Float1::Erf => error::erf(x),
        Float1::Erfc => error::erfc(x),
    })
}

fn close_binary<F: Float>(op: Float2, a: F, b: F) -> Option<F> {
    Some(match op {
        Float2::Add | Float2::Sub | Float2::Mul | Float2::Div | Float2::Min | Float2::Max => return None,
        Float2::Fmod => exact::fmod(a, b),
        Float2::Pow => power::pow(a, b),
        Float2::Atan2 => inverse::atan2(a, b),
        Float2::Hypot => power::hypot(a, b),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every float from −85 on, in the debug build every 97th one.
    #[test]
    fn exp_of_bounded_numbers_has_the_bits_of_exp() {
        let (low, high) = (f64::from(exponential::NORMAL_FROM), f64::from(exponential::FINITE_TO));
        let within = |low, high| ExpOf::within(Range { low, high }, Class::Close);
        assert_eq!(within(low, high), Some(ExpOf::Bounded));
        assert_eq!(within(low, f64::INFINITY), Some(ExpOf::Normal));
        assert_eq!(within(low - 1.0, high), None);
        let step = if cfg!(debug_assertions) { 97 } else { 1 };
        for x in (0..=u32::MAX).step_by(step).map(f32::from_bits).filter(|x| *x >= exponential::NORMAL_FROM) {
            let whole = exponential::exp(x);
            assert_eq!(ExpOf::Normal.kernel(x).to_bits(), whole.to_bits(), "{x}");
            if x <= exponential::FINITE_TO {
                assert_eq!(ExpOf::Bounded.kernel(x).to_bits(), whole.to_bits(), "{x}");
            }
        }
    }
}
