//! The operations: what each takes, gives and means. `fold` defines the meaning in Rust, `verify_ops` checks the types,
//! `passes::ad::rules` differentiates.

use crate::runtime::Order;
use crate::types::Scalar;

/// Floats are kept as bits, so that constants can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    Bool(bool),
    Int(i32),
    Float(u32),
}

impl Const {
    pub fn float(x: f32) -> Const {
        Const::Float(x.to_bits())
    }

    pub fn scalar(self) -> Scalar {
        match self {
            Const::Bool(_) => Scalar::Bool,
            Const::Int(_) => Scalar::Int,
            Const::Float(_) => Scalar::Float,
        }
    }

    pub fn zero(scalar: Scalar) -> Const {
        match scalar {
            Scalar::Bool => Const::Bool(false),
            Scalar::Int => Const::Int(0),
            Scalar::Float => Const::Float(0),
        }
    }
}

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant),* }
        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }
    };
}

names! {
    /// Float to float.
    Float1 {
        Neg = "fneg", Abs = "fabs", Sqrt = "sqrt",
        Floor = "floor", Ceil = "ceil", Round = "round", Trunc = "trunc",
        Sin = "sin", Cos = "cos", Tan = "tan", Asin = "asin", Acos = "acos", Atan = "atan",
        Sinh = "sinh", Cosh = "cosh", Tanh = "tanh", Asinh = "asinh", Acosh = "acosh", Atanh = "atanh",
        Exp = "exp", Exp2 = "exp2", Expm1 = "expm1", Log = "log", Log2 = "log2", Log10 = "log10", Log1p = "log1p",
        Cbrt = "cbrt", Erf = "erf", Erfc = "erfc",
    }
}

names! {
    /// Two floats to a float. `fmin` is `b < a ? b : a`, `fmax` is `a < b ? b : a`.
    Float2 {
        Add = "fadd", Sub = "fsub", Mul = "fmul", Div = "fdiv",
        Min = "fmin", Max = "fmax", Fmod = "fmod", Pow = "pow", Atan2 = "atan2", Hypot = "hypot",
    }
}

names! {
    /// `clz` and `ctz` count the zeros above and below, 32 of them in 0.
    Int1 { Neg = "ineg", Not = "inot", Popcount = "popcount", Clz = "clz", Ctz = "ctz", Reverse = "bitrev", }
}

names! {
    /// Two ints to an int. Everything wraps; division and remainder by zero give 0; shift counts are
    /// taken modulo 32, `ishr` keeps the sign, `iushr` shifts in zeros, `irotl` rotates to the left.
    Int2 {
        Add = "iadd", Sub = "isub", Mul = "imul", Div = "idiv", Rem = "irem",
        And = "iand", Or = "ior", Xor = "ixor", Shl = "ishl", Shr = "ishr",
        Ushr = "iushr", Rotl = "irotl",
    }
}

names! {
    /// On floats a NaN makes all but `ne` false.
    Compare { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", }
}

impl Compare {
    pub fn eval<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
}

names! {
    /// A screen-space direction.
    Direction { X = "ddx", Y = "ddy", }
}

names! {
    /// An axis of a texture.
    Axis { U = "u", V = "v", }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Const(Const),
    /// A word of the parameter block.
    Parameter {
        word: u32,
        scalar: Scalar,
    },
    /// A component of a global, or a partial of it.
    Global {
        field: u32,
        component: u32,
        order: Order,
    },
    Float1(Float1),
    Float2(Float2),
    /// a, b, c: `a * b + c`, rounded once.
    Fma,
    /// y, a, b, c, d: the t from 0 to 1 at which a t³ + b t² + c t + d, which only rises or only falls there, is y; an
    /// end where it nowhere is.
    CubicRoot,
    Int1(Int1),
    Int2(Int2),
    BoolNot,
    BoolAnd,
    BoolOr,
    BoolXor,
    FloatCompare(Compare),
    IntCompare(Compare),
    /// condition, a, b: `condition ? a : b`, on scalars.
    Select,
    IntToFloat,
    /// Towards zero, saturating; NaN gives 0.
    FloatToInt,
    BoolToInt,
    /// The bits of a float, and the float of such bits. Which bits a NaN has is not defined.
    FloatBits,
    BitsFloat,
    /// An array of its arguments.
    ArrayNew,
    /// An array whose elements all are the argument.
    ArrayFill,
    /// An index of a dimension of so many elements, clamped into it, and counted if it had to be.
    ClampIndex(u32),
    /// array, index → element. The index is clamped into the array, and counted if it had to be.
    ArrayGet,
    /// array, index, element → array.
    ArraySet,
    /// The partial of a float; exists until differentiation.
    Derivative(Direction),
    /// The argument if finite, otherwise 0, and counted; stands where a shadow reaches a sink.
    Finite,
    /// token, u, v → token, r, g, b, a; exists until differentiation.
    Sample {
        word: u32,
    },
    /// token, u, v, ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y → token, r, g, b, a, and with `gradient` ∂/∂u and
    /// ∂/∂v of the four. With `level` a mip level takes the place of the partials.
    Texture {
        word: u32,
        gradient: bool,
        level: bool,
    },
    /// nothing → how many texels the texture has along an axis.
    TextureSize {
        word: u32,
        axis: Axis,
    },
    /// token → token, whether the lane may go on. Takes fuel.
    Burn(u32),
    /// Like `Burn(1)`, for entering a recursive function; also counts its depth.
    Enter,
    /// token → token; undoes the depth of `Enter`.
    Leave,
    /// token, value, ∂x, ∂y → token. Tells the interpreter what reaches a sink; only where asked for.
    Probe(u32),
    /// value → nothing. Reads a float so that whatever computes it stays, in every pass and back end: for shadows
    /// that are there to be measured.
    Keep,
    Call(super::FuncId),
    /// Scalars → scalars, by a function of the host's that does nothing else.
    External(u32),
    /// token, scalars → token. Says something, by a format of the module's.
    Print(u32),
    /// condition → results of the region taken.
    If,
    /// initial values → what the condition region hands out when it says stop.
    Loop,
}
