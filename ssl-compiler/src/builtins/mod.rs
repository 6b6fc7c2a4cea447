//! The built-in functions, one row each: name, signature, documentation, and how a call becomes IR.
//!
//! Derivatives need no row of their own: a built-in expands to IR operations, and each of those has
//! its rule in `passes::ad::rules`.

pub mod constants;
pub mod expand;
pub mod library;
mod table;

use crate::ir::builder::Builder;
use crate::ir::{Direction, Value};
use crate::types::{COLOR, FLOAT3, Type, VectorKind};
use expand::spline::{self, Basis};
use smallvec::SmallVec;
pub use table::TABLE;

/// Index into [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BuiltinId(pub u16);

/// The scalars of one argument or result.
pub type Parts = SmallVec<[Value; 4]>;

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    Bool,
    Int,
    Float,
    /// A float or vector; all of a call's are brought to one type.
    Any,
    /// A vector of three.
    Three,
    /// A vector of three, by what it means.
    Point,
    Vector,
    Normal,
    Matrix,
    /// The name of the row's basis, for `spline` and its inverse, which the compiled call no longer has.
    Basis,
    /// An array of floats or vectors; the values of a `spline`.
    Knots,
    Closure,
    Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Bool,
    Int,
    Float,
    /// The common type of the [`Param::Any`] arguments.
    Any,
    /// The type of the first argument.
    First,
    /// The type of the last argument.
    Last,
    Matrix,
}

/// How a call is written in IR.
#[derive(Clone, Copy)]
pub enum Expand {
    /// The same for every component.
    One(fn(&mut Builder, Value) -> Value),
    Two(fn(&mut Builder, Value, Value) -> Value),
    Three(fn(&mut Builder, Value, Value, Value) -> Value),
    Five(fn(&mut Builder, [Value; 5]) -> Value),
    /// `mix` of closures, whose lobes are no scalars: lowering weighs them.
    MixClosures,
    /// All components at once.
    Whole(fn(&mut Builder, &[Parts]) -> Parts),
    /// `ddx`, `ddy`: componentwise, on floats only.
    Derivative(Direction),
    /// `spline`, of one basis: the number first, then the values as one array for each component.
    Spline(Basis),
    /// `splineinverse`, likewise, of numbers.
    SplineInverse(Basis),
}

pub struct Builtin {
    /// The heading of the reference under which it stands.
    pub section: &'static str,
    pub name: &'static str,
    pub params: &'static [Param],
    pub gives: Gives,
    pub expand: Expand,
    pub doc: &'static str,
}

impl Expand {
    /// Writes a call; `derivative` writes a partial of one scalar.
    pub fn write(
        self,
        b: &mut Builder,
        args: &[Parts],
        derivative: impl Fn(&mut Builder, Direction, Value) -> Value,
    ) -> Parts {
        match self {
            Expand::One(f) => args[0].iter().map(|&x| f(b, x)).collect(),
            Expand::Two(f) => args[0].iter().zip(&args[1]).map(|(&x, &y)| f(b, x, y)).collect(),
            Expand::Three(f) => (0..args[0].len()).map(|i| f(b, args[0][i], args[1][i], args[2][i])).collect(),
            Expand::Five(f) => (0..args[0].len()).map(|i| f(b, std::array::from_fn(|k| args[k][i]))).collect(),
            Expand::Whole(f) => f(b, args),
            // Written by lowering.
            Expand::MixClosures => Parts::new(),
            Expand::Spline(basis) => spline::write(b, basis, args[0][0], &args[1]),
            Expand::SplineInverse(basis) => spline::inverse(b, basis, args[0][0], args[1][0]).into_iter().collect(),
            Expand::Derivative(d) => args[0].iter().map(|&x| derivative(b, d, x)).collect(),
        }
    }
}

impl Builtin {
    pub fn get(id: BuiltinId) -> &'static Builtin {
        &TABLE[usize::from(id.0)]
    }

    /// `float mix(T, T, T)`, for messages and the reference.
    pub fn signature(&self) -> String {
        let name = |p: &Param| match p {
            Param::Bool => "bool",
            Param::Int => "int",
            Param::Float => "float",
            Param::Any => "T",
            Param::Three => "float3",
            Param::Basis => "string",
            Param::Knots => "T[]",
            Param::Point => "point",
            Param::Vector => "vector",
            Param::Normal => "normal",
            Param::Matrix => "matrix",
            Param::Closure => "closure",
            Param::Color => "color",
        };
        let result = match self.gives {
            Gives::Bool => "bool",
            Gives::Int => "int",
            Gives::Float => "float",
            Gives::Any => "T",
            Gives::First => name(&self.params[0]),
            Gives::Last => name(&self.params[self.params.len() - 1]),
            Gives::Matrix => "matrix",
        };
        match self.expand {
            Expand::Spline(basis) => return format!("T spline(\"{}\", float, T[])", basis.name()),
            Expand::SplineInverse(basis) => {
                return format!("float splineinverse(\"{}\", float, float[])", basis.name());
            }
            _ => {}
        }
        format!("{result} {}({})", self.name, self.params.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// Functions that have no row, since no signature says what they take.
pub const FORMS: &[&str] = &["printf", "transformc", "arraylength", "detach", "diffPair"];

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
        Param::Bool => Type::Bool,
        Param::Int => Type::Int,
        Param::Float => Type::Float,
        Param::Any | Param::Knots => common.clone(),
        Param::Basis => Type::String,
        Param::Three => FLOAT3,
        Param::Closure => Type::Closure,
        Param::Color => COLOR,
        Param::Point => Type::Vector(VectorKind::Point),
        Param::Vector => Type::Vector(VectorKind::Vector),
        Param::Normal => Type::Vector(VectorKind::Normal),
        Param::Matrix => Type::Matrix,
    }
}
