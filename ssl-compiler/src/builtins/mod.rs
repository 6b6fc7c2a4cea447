//! The built-in functions, one row each: name, signature, documentation, and how a call becomes IR.
//!
//! Derivatives need no row of their own: a built-in expands to IR operations, and each of those has
//! its rule in `passes::ad::rules`.

pub mod expand;

use crate::ir::builder::Builder;
use crate::ir::{Direction, Value};
use crate::types::{FLOAT3, Type};
use smallvec::SmallVec;

/// Index into [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BuiltinId(pub u16);

/// The scalars of one argument or result.
pub type Parts = SmallVec<[Value; 4]>;

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    Int,
    Float,
    /// A float or vector; all of a call's are brought to one type.
    Any,
    /// A vector of three.
    Three,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Int,
    Float,
    /// The common type of the [`Param::Any`] arguments.
    Any,
    /// The type of the first argument.
    First,
}

/// How a call is written in IR.
#[derive(Clone, Copy)]
pub enum Expand {
    /// The same for every component.
    One(fn(&mut Builder, Value) -> Value),
    Two(fn(&mut Builder, Value, Value) -> Value),
    Three(fn(&mut Builder, Value, Value, Value) -> Value),
    /// All components at once.
    Whole(fn(&mut Builder, &[Parts]) -> Parts),
    /// `ddx`, `ddy`: componentwise, on floats only.
    Derivative(Direction),
}

pub struct Builtin {
    pub name: &'static str,
    pub params: &'static [Param],
    pub gives: Gives,
    pub expand: Expand,
    pub doc: &'static str,
}

impl Builtin {
    pub fn get(id: BuiltinId) -> &'static Builtin {
        &TABLE[usize::from(id.0)]
    }

    /// `float mix(T, T, T)`, for messages and the reference.
    pub fn signature(&self) -> String {
        let name = |p: &Param| match p {
            Param::Int => "int",
            Param::Float => "float",
            Param::Any => "T",
            Param::Three => "float3",
        };
        let result = match self.gives {
            Gives::Int => "int",
            Gives::Float => "float",
            Gives::Any => "T",
            Gives::First => name(&self.params[0]),
        };
        format!("{result} {}({})", self.name, self.params.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// The rows of a name, in table order.
pub fn overloads(name: &str) -> impl Iterator<Item = (BuiltinId, &'static Builtin)> {
    TABLE.iter().enumerate().filter(move |(_, b)| b.name == name).map(|(i, b)| (BuiltinId(i as u16), b))
}

/// The type to which a call's [`Param::Any`] arguments are brought: that of the first vector among
/// them, or float.
pub fn common_type<'a>(mut arguments: impl Iterator<Item = &'a Type>) -> Type {
    arguments.find(|t| matches!(t, Type::Vector(_))).cloned().unwrap_or(Type::Float)
}

/// What a parameter wants, the common type being known.
pub fn wanted(param: Param, common: &Type) -> Type {
    match param {
        Param::Int => Type::Int,
        Param::Float => Type::Float,
        Param::Any => common.clone(),
        Param::Three => FLOAT3,
    }
}

macro_rules! table {
    ($($name:literal ($($param:ident),*) -> $gives:ident, $kind:ident $expand:expr, $doc:literal;)*) => {
        pub static TABLE: &[Builtin] = &[$(Builtin {
            name: $name, params: &[$(Param::$param),*], gives: Gives::$gives, expand: Expand::$kind($expand), doc: $doc,
        }),*];
    };
}

table! {
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
    "exp" (Any) -> Any, One expand::exp, "e to the power of x.";
    "log" (Any) -> Any, One expand::log, "Natural logarithm.";
    "ln" (Any) -> Any, One expand::log, "Natural logarithm.";
    "sqrt" (Any) -> Any, One expand::sqrt, "Square root. Its derivative at 0 is 0.";
    "pow" (Any, Any) -> Any, Two expand::pow, "t to the power of e. At t = 0 and e < 1 its derivative is 0, as is that by e where t is not positive.";
    "abs" (Int) -> Int, One expand::int_abs, "Absolute value.";
    "abs" (Any) -> Any, One expand::abs, "Absolute value. Its derivative at 0 is 0.";
    "sign" (Any) -> Any, One expand::sign, "−1, 0 or 1.";
    "floor" (Any) -> Any, One expand::floor, "The next integer below or at x.";
    "ceil" (Any) -> Any, One expand::ceil, "The next integer above or at x.";
    "round" (Any) -> Any, One expand::round, "The nearest integer; halves go away from zero.";
    "trunc" (Any) -> Any, One expand::trunc, "The next integer towards zero.";
    "fract" (Any) -> Any, One expand::fract, "x − floor(x).";
    "fmod" (Any, Any) -> Any, Two expand::fmod, "Remainder of a / b with the sign of a. The integer part of a / b has derivative 0.";
    "min" (Int, Int) -> Int, Two expand::int_min, "The smaller one.";
    "min" (Any, Any) -> Any, Two expand::min, "The smaller one; the first on a tie.";
    "max" (Int, Int) -> Int, Two expand::int_max, "The larger one.";
    "max" (Any, Any) -> Any, Two expand::max, "The larger one; the first on a tie.";
    "clamp" (Int, Int, Int) -> Int, Three expand::int_clamp, "x, kept between low and high.";
    "clamp" (Any, Any, Any) -> Any, Three expand::clamp, "x, kept between low and high: min(max(x, low), high).";
    "saturate" (Any) -> Any, One expand::saturate, "x, kept between 0 and 1.";
    "mix" (Any, Any, Any) -> Any, Three expand::mix, "a (1 − t) + b t.";
    "step" (Any, Any) -> Any, Two expand::step, "0 where x < edge, otherwise 1; the edge comes first.";
    "smoothstep" (Any, Any, Any) -> Any, Three expand::smoothstep, "A smooth rise from 0 at low to 1 at high; x comes last.";
    "dot" (Any, Any) -> Float, Whole expand::dot, "Scalar product.";
    "cross" (Three, Three) -> First, Whole expand::cross, "Vector product.";
    "length" (Any) -> Float, Whole expand::length, "Euclidean length. Its derivative at 0 is 0.";
    "distance" (Any, Any) -> Float, Whole expand::distance, "Length of a − b.";
    "normalize" (Any) -> Any, Whole expand::normalize, "x scaled to length 1; a zero vector stays zero, with derivative 0.";
    "reflect" (Three, Three) -> First, Whole expand::reflect, "I mirrored at the unit normal N: I − 2 (N·I) N.";
    "ddx" (Any) -> Any, Derivative Direction::X, "The exact partial of x with respect to the pixel's x (to the right), per pixel.";
    "ddy" (Any) -> Any, Derivative Direction::Y, "The exact partial of x with respect to the pixel's y (downwards), per pixel.";
}
