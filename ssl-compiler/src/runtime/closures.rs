//! Closure types, as the host registers them. The compiler itself knows none.

use super::Row;
use crate::types::Type;
use std::borrow::Cow;
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Index of a closure type in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClosureId(pub u32);

/// One parameter of a closure type.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosureParameter {
    /// Its name in shaders, for named arguments and tests.
    pub name: Cow<'static, str>,
    /// A scalar, a vector, a matrix, or `closure` for the base under a layer.
    pub ty: Type,
    /// The values that the host can use, for each component. It clamps other values.
    pub range: ValueRange,
    /// The value if a shader leaves the argument out. Without a default, the argument is required.
    pub default: Option<ClosureDefault>,
}

/// The range of values that are meaningful for a closure's parameter, with both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    /// The least value.
    pub low: f32,
    /// The greatest value.
    pub high: f32,
}

impl ValueRange {
    /// Any value.
    pub const ALL: ValueRange = ValueRange { low: f32::NEG_INFINITY, high: f32::INFINITY };

    /// The values of a range. An exclusive end counts as inclusive.
    pub fn of(range: impl RangeBounds<f32>) -> ValueRange {
        let end = |bound, open| match bound {
            Bound::Included(&x) | Bound::Excluded(&x) => x,
            Bound::Unbounded => open,
        };
        let ValueRange { low, high } = ValueRange::ALL;
        ValueRange { low: end(range.start_bound(), low), high: end(range.end_bound(), high) }
    }

    /// Whether the range allows a value. It allows NaN only if it allows everything.
    pub fn contains(self, x: f32) -> bool {
        self == ValueRange::ALL || (self.low <= x && x <= self.high)
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => write!(f, "{} to {}", self.low, self.high),
            (true, false) => write!(f, "at least {}", self.low),
            (false, true) => write!(f, "at most {}", self.high),
            (false, false) => f.write_str("any value"),
        }
    }
}

/// The value of a closure's parameter if a shader leaves it out. It converts to the parameter's type as in a shader.
#[derive(Clone, Debug, PartialEq)]
pub enum ClosureDefault {
    /// A number.
    Float(f32),
    /// A whole number.
    Int(i32),
    /// `true` or `false`.
    Bool(bool),
    /// Three components.
    Vector([f32; 3]),
    /// The global of this name, with its derivatives. If the host has no such global, there is no default.
    Global(&'static str),
    /// A closure without lobes.
    NoLobes,
}

impl From<f32> for ClosureDefault {
    fn from(x: f32) -> ClosureDefault {
        ClosureDefault::Float(x)
    }
}

impl From<i32> for ClosureDefault {
    fn from(x: i32) -> ClosureDefault {
        ClosureDefault::Int(x)
    }
}

impl From<bool> for ClosureDefault {
    fn from(x: bool) -> ClosureDefault {
        ClosureDefault::Bool(x)
    }
}

impl From<[f32; 3]> for ClosureDefault {
    fn from(v: [f32; 3]) -> ClosureDefault {
        ClosureDefault::Vector(v)
    }
}

/// What the compiler must know of a closure type.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosureType {
    /// Its name in `make_closure<NAME>(…)`.
    pub name: Cow<'static, str>,
    /// Its parameters, in order.
    pub parameters: Vec<ClosureParameter>,
}

/// What makes a struct of a file a closure type: it conforms to an interface of the library. The host then runs functions
/// that stand beside the interface, for each of these structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosureInterface {
    /// The file of the library.
    pub file: &'static str,
    /// The name of the interface.
    pub name: &'static str,
    /// Generic functions of the file with the struct as their only generic parameter, and without a result.
    pub functions: &'static [&'static str],
}

/// The closure types that a host's shaders may make.
#[derive(Clone, Debug, Default)]
pub struct ClosureRegistry {
    types: Vec<ClosureType>,
    interface: Option<ClosureInterface>,
}

impl ClosureRegistry {
    /// No closure types.
    pub fn new() -> ClosureRegistry {
        ClosureRegistry::default()
    }

    /// Registers a type. It replaces a type of the same name.
    pub fn register(&mut self, closure: ClosureType) -> ClosureId {
        let at = self.types.iter().position(|t| t.name == closure.name);
        match at {
            Some(i) => self.types[i] = closure,
            None => self.types.push(closure),
        }
        ClosureId(at.unwrap_or(self.types.len() - 1) as u32)
    }

    /// Lets files declare closure types themselves, as structs that conform to an interface.
    pub fn set_interface(&mut self, interface: ClosureInterface) {
        self.interface = Some(interface);
    }

    /// What makes a struct a closure type, if the host lets files declare some.
    pub fn interface(&self) -> Option<ClosureInterface> {
        self.interface
    }

    /// Adds the types that a program declares itself, behind those of the host. Their names may be those of others.
    pub(crate) fn append(&mut self, own: impl Iterator<Item = ClosureType>) {
        self.types.extend(own);
    }

    /// The type of this name.
    pub fn find(&self, name: &str) -> Option<(ClosureId, &ClosureType)> {
        let at = self.types.iter().position(|t| t.name == name)?;
        Some((ClosureId(at as u32), &self.types[at]))
    }

    /// The type of this number.
    ///
    /// # Panics
    /// If the number comes from another registry.
    pub fn get(&self, id: ClosureId) -> &ClosureType {
        &self.types[id.0 as usize]
    }

    /// All types, by their numbers.
    pub fn types(&self) -> &[ClosureType] {
        &self.types
    }
}

/// A closure type as a Rust struct of its parameters; made by [`closure_type!`](crate::closure_type).
pub trait Closure {
    /// What the compiler must know of it.
    fn closure_type() -> ClosureType;

    /// The parameters of one lane; `rows` starts at the lobe's first parameter row.
    fn read(rows: &[Row], lane: usize) -> Self;
}

/// Stands for the base of a layer: it has no rows, since its lobes are entries of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beneath;

/// Declares a closure type: the Rust struct of its parameters, its registration, and a method that reads the parameters
/// of a lane from the output rows.
///
/// Parameters have types of the language. A `matrix` is an array of its rows, and `closure` is the base under a layer. A
/// type may be followed by the range of values that the host can use, `in (low..=high)` or `in (low..)`; the compiler
/// warns of constants outside. Then `= …` may give the default: a number, `[f32; 3]`, a bool, or a [`ClosureDefault`].
///
/// ```
/// use ssl_compiler::runtime::{Closure, ClosureDefault, ClosureRegistry, Row};
/// ssl_compiler::closure_type! {
///     /// Ideal diffuse reflection.
///     pub struct Lambert {
///         albedo: color in (0.0..=1.0) = [0.8; 3],
///         normal: normal = ClosureDefault::Global("normal"),
///     }
/// }
/// let mut registry = ClosureRegistry::new();
/// let id = registry.register(Lambert::closure_type());
/// assert_eq!(registry.get(id).name, "Lambert");
/// let rows = [Row::splat(0.5); 6];
/// assert_eq!(Lambert::read(&rows, 0).albedo, [0.5; 3]);
/// ```
#[macro_export]
macro_rules! closure_type {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$fmeta:meta])* $field:ident : $ty:ident $(in ($range:expr))? $(= $default:expr)?),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$fmeta])* pub $field: $crate::closure_type!(@rust $ty),)*
        }
        impl $crate::runtime::Closure for $name {
            fn closure_type() -> $crate::runtime::ClosureType {
                $crate::runtime::ClosureType {
                    name: stringify!($name).into(),
                    parameters: vec![$($crate::runtime::ClosureParameter {
                        name: stringify!($field).into(),
                        ty: $crate::closure_type!(@type $ty),
                        range: $crate::closure_type!(@range $($range)?),
                        default: $crate::closure_type!(@default $($default)?),
                    }),*],
                }
            }
            #[allow(unused_assignments, unused_mut, unused_variables)]
            fn read(rows: &[$crate::runtime::Row], lane: usize) -> $name {
                let mut at = 0;
                $(
                    let $field = $crate::closure_type!(@read $ty, rows, at, lane);
                    at += $crate::closure_type!(@components $ty);
                )*
                $name { $($field),* }
            }
        }
    };
    (@range) => { $crate::runtime::ValueRange::ALL };
    (@range $range:expr) => { $crate::runtime::ValueRange::of($range) };
    (@default) => { None };
    (@default $default:expr) => { Some($crate::runtime::ClosureDefault::from($default)) };
    (@type closure) => { $crate::types::Type::Closure };
    (@type $ty:ident) => { $crate::shader_globals!(@type $ty) };
    (@components closure) => { 0 };
    (@components $ty:ident) => { $crate::shader_globals!(@components $ty) };
    (@rust closure) => { $crate::runtime::Beneath };
    (@rust float) => { f32 };
    (@rust int) => { i32 };
    (@rust bool) => { bool };
    (@rust float2) => { [f32; 2] };
    (@rust float4) => { [f32; 4] };
    (@rust matrix) => { [[f32; 4]; 4] };
    (@rust $three:ident) => { [f32; 3] };
    (@read closure, $rows:ident, $at:ident, $lane:ident) => { $crate::runtime::Beneath };
    (@read float, $rows:ident, $at:ident, $lane:ident) => { $rows[$at].0[$lane] };
    (@read int, $rows:ident, $at:ident, $lane:ident) => { $rows[$at].int($lane) };
    (@read bool, $rows:ident, $at:ident, $lane:ident) => { $rows[$at].int($lane) != 0 };
    (@read float2, $rows:ident, $at:ident, $lane:ident) => { $crate::runtime::read_rows::<2>($rows, $at, $lane) };
    (@read float4, $rows:ident, $at:ident, $lane:ident) => { $crate::runtime::read_rows::<4>($rows, $at, $lane) };
    (@read matrix, $rows:ident, $at:ident, $lane:ident) => {
        ::std::array::from_fn(|row| $crate::runtime::read_rows::<4>($rows, $at + 4 * row, $lane))
    };
    (@read $three:ident, $rows:ident, $at:ident, $lane:ident) => { $crate::runtime::read3($rows, $at, $lane) };
}
