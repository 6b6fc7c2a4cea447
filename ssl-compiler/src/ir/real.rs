//! The numbers that the interpreter computes with: f32 as compiled code does, or f64 for checking
//! derivatives numerically.

use super::math::{self, Class};
use super::ops::{Float1, Float2};

/// What a module is going to be run in, and so what folding may round to.
///
/// Code is compiled for f32. To compare derivatives with those of exact arithmetic, a module can be made for
/// f64: then only that folds which loses nothing in f64 either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    #[default]
    Single,
    /// As `Single`, with the faster class of the math library.
    Fast,
    Double,
}

impl Precision {
    pub fn class(self) -> Class {
        match self {
            Precision::Fast => Class::Fast,
            Precision::Single | Precision::Double => Class::Close,
        }
    }
}

/// The platform's functions in f64: derivatives are compared with differences, which need digits, not bits.
mod double {
    use super::{Class, Float1, Float2};
    use crate::runtime::math::double as math;

    pub fn unary(op: Float1, x: f64, _: Class) -> Option<f64> {
        Some(match op {
            Float1::Neg | Float1::Abs | Float1::Sqrt | Float1::Floor | Float1::Ceil | Float1::Trunc => return None,
            Float1::Round => x.round(),
            Float1::Sin => math::ssl_sin(x),
            Float1::Cos => math::ssl_cos(x),
            Float1::Tan => math::ssl_tan(x),
            Float1::Asin => math::ssl_asin(x),
            Float1::Acos => math::ssl_acos(x),
            Float1::Atan => math::ssl_atan(x),
            Float1::Sinh => math::ssl_sinh(x),
            Float1::Cosh => math::ssl_cosh(x),
            Float1::Tanh => math::ssl_tanh(x),
            Float1::TanhSlope => math::tanh_slope(x),
            Float1::Asinh => math::ssl_asinh(x),
            Float1::Acosh => math::ssl_acosh(x),
            Float1::Atanh => math::ssl_atanh(x),
            Float1::Exp => math::ssl_exp(x),
            Float1::Exp2 => math::ssl_exp2(x),
            Float1::Expm1 => math::ssl_expm1(x),
            Float1::Log => math::ssl_log(x),
            Float1::Log2 => math::ssl_log2(x),
            Float1::Log10 => math::ssl_log10(x),
            Float1::Log1p => math::ssl_log1p(x),
            Float1::Cbrt => math::ssl_cbrt(x),
            Float1::Erf => math::ssl_erf(x),
            Float1::Erfc => math::ssl_erfc(x),
        })
    }

    pub fn binary(op: Float2, a: f64, b: f64, _: Class) -> Option<f64> {
        Some(match op {
            Float2::Add | Float2::Sub | Float2::Mul | Float2::Div | Float2::Min | Float2::Max => return None,
            Float2::Fmod => a % b,
            Float2::Pow => math::ssl_pow(a, b),
            Float2::Atan2 => math::ssl_atan2(a, b),
            Float2::Hypot => math::ssl_hypot(a, b),
        })
    }
}

pub trait Real: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static {
    const ZERO: Self;
    fn from_f32(x: f32) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    /// Whether this is f64.
    const IS_DOUBLE: bool;
    fn from_f64(x: f64) -> Self;
    /// The float nearest to an integer: the language rounds here, so f64 does too.
    fn from_i32(x: i32) -> Self;
    /// Towards zero, saturating; NaN gives 0.
    fn to_i32(self) -> i32;
    fn is_finite(self) -> bool;
    fn float1(op: Float1, x: Self, class: Class) -> Self;
    fn float2(op: Float2, a: Self, b: Self, class: Class) -> Self;
    /// `a * b + c`, rounded once.
    fn fma(a: Self, b: Self, c: Self) -> Self;
    /// See `Op::CubicRoot`.
    fn cubic_root(operands: [Self; 5]) -> Self;
}

macro_rules! real {
    ($t:ident, $unary:path, $binary:path, $cubic_root:path) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            fn from_f32(x: f32) -> Self {
                x.into()
            }
            fn to_f32(self) -> f32 {
                self as f32
            }
            fn to_f64(self) -> f64 {
                self.into()
            }
            const IS_DOUBLE: bool = size_of::<$t>() == 8;
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            fn from_i32(x: i32) -> Self {
                (x as f32).into()
            }
            fn to_i32(self) -> i32 {
                self as i32
            }
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            fn fma(a: Self, b: Self, c: Self) -> Self {
                a.mul_add(b, c)
            }
            fn cubic_root([y, a, b, c, d]: [Self; 5]) -> Self {
                $cubic_root(y, a, b, c, d)
            }
            fn float1(op: Float1, x: Self, class: Class) -> Self {
                match op {
                    Float1::Neg => -x,
                    Float1::Abs => x.abs(),
                    Float1::Sqrt => x.sqrt(),
                    Float1::Floor => x.floor(),
                    Float1::Ceil => x.ceil(),
                    Float1::Trunc => x.trunc(),
                    // The functions above are all that have no kernel.
                    op => $unary(op, x, class).unwrap_or(x),
                }
            }
            fn float2(op: Float2, a: Self, b: Self, class: Class) -> Self {
                match op {
                    Float2::Add => a + b,
                    Float2::Sub => a - b,
                    Float2::Mul => a * b,
                    Float2::Div => a / b,
                    Float2::Min => {
                        if b < a {
                            b
                        } else {
                            a
                        }
                    }
                    Float2::Max => {
                        if a < b {
                            b
                        } else {
                            a
                        }
                    }
                    op => $binary(op, a, b, class).unwrap_or(a),
                }
            }
        }
    };
}

real!(f32, math::unary, math::binary, crate::runtime::math::ssl_cubic_root);
real!(f64, double::unary, double::binary, crate::runtime::math::double::ssl_cubic_root);
