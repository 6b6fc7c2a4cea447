//! The numbers that the interpreter computes with: f32 as compiled code does, or f64 for checking
//! derivatives numerically.

use super::ops::{Float1, Float2};
use crate::runtime::math;

pub trait Real: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static {
    const ZERO: Self;
    fn from_f32(x: f32) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn from_i32(x: i32) -> Self;
    /// Towards zero, saturating; NaN gives 0.
    fn to_i32(self) -> i32;
    fn is_finite(self) -> bool;
    fn float1(op: Float1, x: Self) -> Self;
    fn float2(op: Float2, a: Self, b: Self) -> Self;
}

macro_rules! real {
    ($t:ident, $sin:path, $cos:path, $tan:path, $asin:path, $acos:path, $atan:path, $sinh:path, $cosh:path, $tanh:path,
        $exp:path, $log:path, $pow:path, $atan2:path, $fmod:expr) => {
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
            fn from_i32(x: i32) -> Self {
                x as $t
            }
            fn to_i32(self) -> i32 {
                self as i32
            }
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            fn float1(op: Float1, x: Self) -> Self {
                match op {
                    Float1::Neg => -x,
                    Float1::Abs => x.abs(),
                    Float1::Sqrt => x.sqrt(),
                    Float1::Floor => x.floor(),
                    Float1::Ceil => x.ceil(),
                    Float1::Round => x.round(),
                    Float1::Trunc => x.trunc(),
                    Float1::Sin => $sin(x),
                    Float1::Cos => $cos(x),
                    Float1::Tan => $tan(x),
                    Float1::Asin => $asin(x),
                    Float1::Acos => $acos(x),
                    Float1::Atan => $atan(x),
                    Float1::Sinh => $sinh(x),
                    Float1::Cosh => $cosh(x),
                    Float1::Tanh => $tanh(x),
                    Float1::Exp => $exp(x),
                    Float1::Log => $log(x),
                }
            }
            fn float2(op: Float2, a: Self, b: Self) -> Self {
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
                    Float2::Fmod => $fmod(a, b),
                    Float2::Pow => $pow(a, b),
                    Float2::Atan2 => $atan2(a, b),
                }
            }
        }
    };
}

real!(
    f32,
    math::ssl_sin,
    math::ssl_cos,
    math::ssl_tan,
    math::ssl_asin,
    math::ssl_acos,
    math::ssl_atan,
    math::ssl_sinh,
    math::ssl_cosh,
    math::ssl_tanh,
    math::ssl_exp,
    math::ssl_log,
    math::ssl_pow,
    math::ssl_atan2,
    math::ssl_fmod
);
real!(
    f64,
    f64::sin,
    f64::cos,
    f64::tan,
    f64::asin,
    f64::acos,
    f64::atan,
    f64::sinh,
    f64::cosh,
    f64::tanh,
    f64::exp,
    f64::ln,
    f64::powf,
    f64::atan2,
    |a: f64, b: f64| a % b
);
