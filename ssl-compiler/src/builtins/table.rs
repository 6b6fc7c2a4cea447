//! The rows of the built-ins, in the order of the reference.

use super::expand::{self, bits, matrix, spline::Basis};
use super::{Builtin, Expand, Gives, Param};
use crate::ir::Direction;

macro_rules! table {
    ($($section:literal { $($name:literal ($($param:ident),*) -> $gives:ident, $kind:ident $($expand:expr)?, $doc:literal;)* })*) => {
        pub static TABLE: &[Builtin] = &[$($(Builtin {
            section: $section,
            name: $name,
            params: &[$(Param::$param),*],
            gives: Gives::$gives,
            expand: Expand::$kind$(($expand))?,
            doc: $doc,
        }),*),*];
    };
}

table! {
    "Angles and trigonometry" {
        "sin" (Any) -> Any, One expand::sin, "Sine of an angle in radians.";
        "cos" (Any) -> Any, One expand::cos, "Cosine of an angle in radians.";
        "tan" (Any) -> Any, One expand::tan, "Tangent of an angle in radians.";
        "asin" (Any) -> Any, One expand::asin, "Inverse sine, in radians. Its derivative at ±1 and beyond is 0.";
        "acos" (Any) -> Any, One expand::acos, "Inverse cosine, in radians. Its derivative at ±1 and beyond is 0.";
        "atan" (Any) -> Any, One expand::atan, "Inverse tangent, in radians.";
        "atan" (Any, Any) -> Any, Two expand::atan2, "The angle of the point (x, y), given y first, in radians.";
        "atan2" (Any, Any) -> Any, Two expand::atan2, "The angle of the point (x, y), given y first, in radians. Its derivative at (0, 0) is 0.";
        "sinh" (Any) -> Any, One expand::sinh, "Hyperbolic sine.";
        "cosh" (Any) -> Any, One expand::cosh, "Hyperbolic cosine.";
        "tanh" (Any) -> Any, One expand::tanh, "Hyperbolic tangent.";
        "asinh" (Any) -> Any, One expand::asinh, "Inverse hyperbolic sine.";
        "acosh" (Any) -> Any, One expand::acosh, "Inverse hyperbolic cosine; NaN below 1. Its derivative at 1 and below is 0.";
        "atanh" (Any) -> Any, One expand::atanh, "Inverse hyperbolic tangent; infinite at ±1, NaN beyond.";
        "radians" (Any) -> Any, One expand::radians, "Degrees to radians.";
        "degrees" (Any) -> Any, One expand::degrees, "Radians to degrees.";
    }
    "Powers and logarithms" {
        "exp" (Any) -> Any, One expand::exp, "e to the power of x.";
        "exp2" (Any) -> Any, One expand::exp2, "2 to the power of x.";
        "expm1" (Any) -> Any, One expand::expm1, "exp(x) − 1, exact for small x.";
        "log" (Any) -> Any, One expand::log, "Natural logarithm.";
        "ln" (Any) -> Any, One expand::log, "The same as `log`.";
        "log" (Any, Any) -> Any, Two expand::log_of_base, "Logarithm of x to a base: log(x) / log(base).";
        "log2" (Any) -> Any, One expand::log2, "Logarithm to base 2.";
        "log10" (Any) -> Any, One expand::log10, "Logarithm to base 10.";
        "log1p" (Any) -> Any, One expand::log1p, "log(1 + x), exact for small x.";
        "pow" (Any, Any) -> Any, Two expand::pow, "t to the power of e. Its derivative by t is 0 at t = 0 if e < 1, and its derivative by e is 0 if t is not positive.";
        "sqrt" (Any) -> Any, One expand::sqrt, "Square root. Its derivative at 0 is 0.";
        "rsqrt" (Any) -> Any, One expand::rsqrt, "1 / sqrt(x).";
        "inversesqrt" (Any) -> Any, One expand::rsqrt, "The same as `rsqrt`.";
        "cbrt" (Any) -> Any, One expand::cbrt, "Cube root, also of negative numbers. Its derivative at 0 is 0.";
        "hypot" (Any, Any) -> Any, Two expand::hypot, "sqrt(a² + b²), without overflow in between. Its derivative at (0, 0) is 0.";
        "erf" (Any) -> Any, One expand::erf, "Error function.";
        "erfc" (Any) -> Any, One expand::erfc, "1 − erf(x), exact where erf(x) is near 1.";
    }
    "Parts of numbers" {
        "abs" (Int) -> Int, One expand::int_abs, "Absolute value.";
        "abs" (Any) -> Any, One expand::abs, "Absolute value. Its derivative at 0 is 0.";
        "fabs" (Any) -> Any, One expand::abs, "The same as `abs`.";
        "sign" (Int) -> Int, One expand::int_sign, "−1, 0 or 1.";
        "sign" (Any) -> Any, One expand::sign, "−1, 0 or 1. Its derivative is 0.";
        "copysign" (Any, Any) -> Any, Two expand::copysign, "|a| with the sign of b, also the sign of −0. Its derivative by b is 0.";
        "floor" (Any) -> Any, One expand::floor, "The largest integer that is not above x.";
        "ceil" (Any) -> Any, One expand::ceil, "The smallest integer that is not below x.";
        "round" (Any) -> Any, One expand::round, "The nearest integer; halves round away from zero.";
        "trunc" (Any) -> Any, One expand::trunc, "The next integer towards zero.";
        "fract" (Any) -> Any, One expand::fract, "x − floor(x).";
        "frac" (Any) -> Any, One expand::fract, "The same as `fract`.";
        "fmod" (Any, Any) -> Any, Two expand::fmod, "Remainder of a / b with the sign of a. The integer part of a / b has derivative 0.";
        "mod" (Int, Int) -> Int, Two expand::int_mod, "Remainder of a / b with the sign of b; 0 if b is 0.";
        "mod" (Any, Any) -> Any, Two expand::floored_mod, "Remainder of a / b with the sign of b, a − b floor(a / b) rounded once: from 0 up to b, also for negative a. The integer part has derivative 0.";
        "isnan" (Float) -> Bool, One expand::is_nan, "Whether x is not a number.";
        "isinf" (Float) -> Bool, One expand::is_infinite, "Whether x is infinite.";
        "isfinite" (Float) -> Bool, One expand::is_finite, "Whether x is neither infinite nor NaN.";
        "fma" (Any, Any, Any) -> Any, Three expand::fma, "a b + c, rounded once. The operators never fuse: this is the one way to ask for it.";
    }
    "Choosing and blending" {
        "min" (Int, Int) -> Int, Two expand::int_min, "The smaller one.";
        "min" (Any, Any) -> Any, Two expand::min, "The smaller one; the first on a tie.";
        "max" (Int, Int) -> Int, Two expand::int_max, "The larger one.";
        "max" (Any, Any) -> Any, Two expand::max, "The larger one; the first on a tie.";
        "clamp" (Int, Int, Int) -> Int, Three expand::int_clamp, "x, kept between low and high.";
        "clamp" (Any, Any, Any) -> Any, Three expand::clamp, "x, kept between low and high: min(max(x, low), high).";
        "saturate" (Any) -> Any, One expand::saturate, "x, kept between 0 and 1.";
        "mix" (Any, Any, Any) -> Any, Three expand::mix, "a (1 − t) + b t.";
        "mix" (Closure, Closure, Color) -> First, MixClosures, "The same for closures: their lobes, weighted by 1 − t and t. t is a number or a color, and is not clamped.";
        "lerp" (Any, Any, Any) -> Any, Three expand::mix, "The same as `mix`.";
        "lerp" (Closure, Closure, Color) -> First, MixClosures, "The same as `mix`.";
        "select" (Bool, Int, Int) -> Int, Whole expand::select, "a if the condition holds, otherwise b. It evaluates both; `?:` evaluates one.";
        "select" (Bool, Any, Any) -> Any, Whole expand::select, "a if the condition holds, otherwise b. It evaluates both; `?:` evaluates one.";
        "step" (Any, Any) -> Any, Two expand::step, "0 if x < edge, otherwise 1; the edge comes first. Its derivative is 0.";
        "linearstep" (Any, Any, Any) -> Any, Three expand::linearstep, "A straight rise from 0 at low to 1 at high; x comes last. It is a step if low = high.";
        "smoothstep" (Any, Any, Any) -> Any, Three expand::smoothstep, "A smooth rise from 0 at low to 1 at high; x comes last. It is a step if low = high.";
        "remap" (Any, Any, Any, Any, Any) -> Any, Five expand::remap, "x, mapped linearly from the range a to b onto the range c to d, also outside of the range; in the order (x, a, b, c, d).";
    }
    "Splines" {
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::CatmullRom, "A smooth curve through all values except the first and last, which shape its ends. x from 0 to 1 runs along the whole curve and is clamped. Values may be numbers or vectors, in an array or one by one, at least four.";
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::BSpline, "A smoother curve along the values, through none of them.";
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::Bezier, "Bézier curves end to end: 4, 7, 10, … values, of which every third lies on the curve.";
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::Hermite, "A curve through values followed by their slopes: 4, 6, 8, … in all.";
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::Linear, "Straight lines through all values except the first and last.";
        "spline" (Basis, Float, Knots) -> Any, Spline Basis::Constant, "Steps: each value but the first, and but the last two, for one stretch.";
        "splineinverse" (Basis, Float, Knots) -> Float, SplineInverse Basis::CatmullRom, "Where on the curve that `spline` gives, from 0 to 1, its value is the number. The values are floats, and the curve along them only rises or only falls; beyond its ends it stays 0 or 1. Its derivative where the curve is flat is 0.";
        "splineinverse" (Basis, Float, Knots) -> Float, SplineInverse Basis::BSpline, "The same along a B-spline.";
        "splineinverse" (Basis, Float, Knots) -> Float, SplineInverse Basis::Bezier, "The same along Bézier curves.";
        "splineinverse" (Basis, Float, Knots) -> Float, SplineInverse Basis::Hermite, "The same along values with slopes.";
        "splineinverse" (Basis, Float, Knots) -> Float, SplineInverse Basis::Linear, "The same along straight lines. Steps have no inverse.";
    }
    "Geometry" {
        "dot" (Any, Any) -> Float, Whole expand::dot, "Scalar product.";
        "cross" (Three, Three) -> First, Whole expand::cross, "Vector product.";
        "length" (Any) -> Float, Whole expand::length, "Euclidean length, without overflow in between. Its derivative at 0 is 0.";
        "distance" (Any, Any) -> Float, Whole expand::distance, "Length of a − b.";
        "normalize" (Any) -> Any, Whole expand::normalize, "x scaled to length 1; a zero vector stays zero, with derivative 0.";
        "reflect" (Three, Three) -> First, Whole expand::reflect, "I mirrored at the unit normal N: I − 2 (N·I) N.";
        "refract" (Three, Three, Float) -> First, Whole expand::refract, "The unit direction I, refracted at the unit normal N that faces it; eta is the index on the side of I over that on the other. Zero, with derivative 0, if all light is reflected.";
        "faceforward" (Three, Three) -> First, Whole expand::faceforward, "N if N·I < 0, otherwise −N.";
        "faceforward" (Three, Three, Three) -> First, Whole expand::faceforward, "N if R·I < 0, otherwise −N; in the order (N, I, R).";
    }
    "Matrices" {
        "transpose" (Matrix) -> Matrix, Whole matrix::transpose, "Rows and columns exchanged.";
        "determinant" (Matrix) -> Float, Whole matrix::determinant, "The determinant.";
        "inverse" (Matrix) -> Matrix, Whole matrix::inverse, "The inverse; zero, with derivative 0, if the determinant is 0.";
        "transform" (Matrix, Point) -> Last, Whole matrix::transform_point, "The point transformed by M, and divided by the fourth coordinate.";
        "transform" (Matrix, Vector) -> Last, Whole matrix::transform_vector, "The vector transformed by M without its translation.";
        "transform" (Matrix, Normal) -> Last, Whole matrix::transform_normal, "The normal of a surface that M transforms: by the inverse transpose, not normalised.";
        "transform" (Matrix, Three) -> Last, Whole matrix::transform_point, "As a point.";
        "translation" (Three) -> Matrix, Whole matrix::translation, "Moves points by t.";
        "scaling" (Three) -> Matrix, Whole matrix::scaling, "Scales along the axes.";
        "rotation" (Three, Float) -> Matrix, Whole matrix::rotation, "Turns about an axis through the origin, counterclockwise seen from its tip, by an angle in radians.";
        "rotate" (Three, Float, Three, Three) -> First, Whole matrix::rotate, "The point p turned about the line from one point to another, by an angle in radians.";
        "look_at" (Three, Three, Three) -> Matrix, Whole matrix::look_at, "From the world to a viewer at the first point who looks at the second along −z, with `up` upwards.";
    }
    "Bits" {
        "float_bits" (Float) -> Int, One bits::float_bits, "The IEEE bits of x; 0x7fc00000 for every NaN.";
        "asint" (Float) -> Int, One bits::float_bits, "The same as `float_bits`.";
        "bits_float" (Int) -> Float, One bits::bits_float, "The float of these IEEE bits.";
        "asfloat" (Int) -> Float, One bits::bits_float, "The same as `bits_float`.";
        "popcount" (Int) -> Int, One bits::popcount, "The number of bits that are set.";
        "clz" (Int) -> Int, One bits::clz, "The number of zeros before the highest bit that is set; 32 for 0.";
        "ctz" (Int) -> Int, One bits::ctz, "The number of zeros behind the lowest bit that is set; 32 for 0.";
        "reverse_bits" (Int) -> Int, One bits::reverse, "The bits in the opposite order.";
        "ushr" (Int, Int) -> Int, Two bits::ushr, "x shifted right by n modulo 32 bits, filled with zeros; `>>` keeps the sign instead.";
        "rotate_left" (Int, Int) -> Int, Two bits::rotate_left, "The bits of x rotated left by n modulo 32.";
        "rotate_right" (Int, Int) -> Int, Two bits::rotate_right, "The bits of x rotated right by n modulo 32.";
    }
    "Derivatives" {
        "ddx" (Any) -> Any, Derivative Direction::X, "The exact partial of x with respect to the pixel's x (to the right), per pixel.";
        "ddy" (Any) -> Any, Derivative Direction::Y, "The exact partial of x with respect to the pixel's y (downwards), per pixel.";
    }
}
