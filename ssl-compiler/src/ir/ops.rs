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
    /// Float to float. `tanh_slope` is 1 − tanh², without what the difference would cancel.
    Float1 {
        Neg = "fneg", Abs = "fabs", Sqrt = "sqrt",
        Floor = "floor", Ceil = "ceil", Round = "round", Trunc = "trunc",
        Sin = "sin", Cos = "cos", Tan = "tan", Asin = "asin", Acos = "acos", Atan = "atan",
        Sinh = "sinh", Cosh = "cosh", Tanh = "tanh", TanhSlope = "tanh_slope",
        Asinh = "asinh", Acosh = "acosh", Atanh = "atanh",
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
    /// token, u, v, ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y, and a cotangent each for r, g, b, a → token. The transpose of
    /// [`Op::Texture`]: the host adds to each texel's gradient what the texel's weight in the look-up says. With `level` a
    /// mip level takes the place of the partials. A lane that has ended adds nothing.
    TextureAdjoint {
        word: u32,
        level: bool,
    },
    /// index → index. Clamped into a buffer, by the buffer's first column, and counted if it had to be.
    ClampElement(u32),
    /// index → a word of an element of a buffer. The index is clamped.
    Element {
        column: u32,
        scalar: Scalar,
    },
    /// nothing → how many elements a buffer has, by its first column.
    BufferLength(u32),
    /// token, index, values → token. Adds to an element of a buffer: to this column and those behind it, one for each
    /// value. The index is inside, or clamped. A lane that has ended adds nothing.
    AddTo(u32),
    /// nothing → how many texels the texture has along an axis.
    TextureSize {
        word: u32,
        axis: Axis,
    },
    /// token → token, whether the lane may go on. Takes fuel.
    Burn(u32),
    /// token, rounds → token, rounds. Takes so much fuel for each of the rounds that a loop is about to go, none of which
    /// takes any then. Gives no round where the fuel does not last.
    Prepay(u32),
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
    /// The callee's parameters, then a tangent for each differentiable one → the callee's results, then a tangent for
    /// each differentiable one. The last `screen` parameters are screen-space shadows of others. Exists until
    /// differentiation.
    Jvp {
        function: super::FuncId,
        screen: u32,
    },
    /// The callee's parameters, then a cotangent for each differentiable result → the callee's results, then a
    /// cotangent for each differentiable parameter; the token comes from behind the reverse sweep. Exists until
    /// differentiation.
    Vjp {
        function: super::FuncId,
        screen: u32,
    },
    /// float → float, or an array of them: its value, without the derivative of `jvp` and `vjp`; exists until
    /// differentiation.
    Detach,
    /// value, weight, residual → the value. Its derivative is the value's derivative plus the weight times the
    /// residual's: the change of an integral where its integrand jumps. Exists until differentiation.
    Boundary,
    /// value, weight, whole, residual → the value. Its derivative is the value's derivative. A second derivative, by
    /// another parameter, also has a product: the weight's derivative by the first parameter times the residual's by
    /// the second. So the jumps of the integrand's derivative count. `whole` has the same value as the weight, and
    /// depends on at least as much; a third derivative by its inputs is refused. Exists until differentiation.
    Cross,
    /// float → float: its value, without any derivative. Exists until differentiation.
    Pin,
    /// float → float: its value. A derivative of it is refused. Exists until differentiation.
    Barrier(Why),
    /// token, values → token. Puts the values on one of the lane's tapes, or ends the lane if they are full. The site says
    /// which [`Op::Pop`]s take them off.
    Push(Site),
    /// token → token, values: those that were put on the tape last, in the order in which they were given.
    Pop(Site),
    /// Scalars → scalars, by a function of the host's that does nothing else.
    External(u32),
    /// token, scalars → token. Says something, by a format of the module's.
    Print(u32),
    /// condition → results of the region taken.
    If,
    /// initial values → what the condition region hands out when it says stop.
    Loop(Checkpoint),
}

/// Why a derivative of an integral cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The condition cannot be solved for a polynomial of at most the second degree in the variables of integration.
    Curved,
    /// What jumps is no condition: rounding, a remainder, a conversion to `int`.
    Rounding,
    /// It stands in a loop that is not unrolled, or in a recursive function.
    Loop,
    /// The integrand does more than compute.
    Effects,
    /// A condition depends on what a texture gives.
    LookUp,
    /// It is the derivative of a boundary term, which is not known.
    Twice,
    /// A linked method jumps, or may jump, where nobody can tell: its arguments are curved in the variables of integration.
    Linked,
}

/// How the reverse sweep through a loop comes by the values of its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// As the function says, or else by what it costs.
    #[default]
    Free,
    /// All that the sweep reads goes on the tape.
    Keep,
    /// The state goes on the tape every so many rounds, and the rounds between run again.
    Every(u32),
    /// O(log n) states are held at once, and each round runs O(log n) times (Griewank's revolve).
    Log,
    /// Updates are taken back; the state goes on the tape every so many rounds, 0 for as many as keep the drift small.
    Undo(u32),
    /// Likewise, if that can be; else all goes on the tape. Forward mode leaves this of what is to be taken back, since the
    /// inverse that an author wrote knows no derivatives.
    TryUndo(u32),
    /// As `Free`. The first value counts the rounds that are left: back ends that run lanes together may let those with
    /// fewer rounds wait until the others have as few, so that all lanes are in the same round.
    Falling,
}

impl Checkpoint {
    /// As text has it, behind `loop`.
    pub fn name(self) -> String {
        match self {
            Checkpoint::Free => String::new(),
            Checkpoint::Keep => ".keep".to_owned(),
            Checkpoint::Every(n) => format!(".every{n}"),
            Checkpoint::Log => ".log".to_owned(),
            Checkpoint::Falling => ".falling".to_owned(),
            Checkpoint::Undo(n) => format!(".undo{n}"),
            Checkpoint::TryUndo(n) => format!(".tryundo{n}"),
        }
    }

    /// Reads what [`Checkpoint::name`] writes.
    pub fn from_name(text: &str) -> Option<Checkpoint> {
        let number = |prefix: &str| text.strip_prefix(prefix).and_then(|n| n.parse().ok());
        match text {
            "" => Some(Checkpoint::Free),
            ".keep" => Some(Checkpoint::Keep),
            ".log" => Some(Checkpoint::Log),
            ".falling" => Some(Checkpoint::Falling),
            _ => None
                .or_else(|| number(".every").map(Checkpoint::Every))
                .or_else(|| number(".undo").map(Checkpoint::Undo))
                .or_else(|| number(".tryundo").map(Checkpoint::TryUndo)),
        }
    }
}

impl Op {
    /// The function that it calls, or a derivative of which it calls.
    pub fn callee(self) -> Option<super::FuncId> {
        match self {
            Op::Call(function) | Op::Jvp { function, .. } | Op::Vjp { function, .. } => Some(function),
            _ => None,
        }
    }

    /// Likewise, to be replaced.
    pub fn callee_mut(&mut self) -> Option<&mut super::FuncId> {
        match self {
            Op::Call(function) | Op::Jvp { function, .. } | Op::Vjp { function, .. } => Some(function),
            _ => None,
        }
    }

    pub fn is_loop(self) -> bool {
        matches!(self, Op::Loop(_))
    }
}

/// What pushes and the pops that take their values off have in common. In text `3`, or `3.1` if it is on tape 1.
///
/// What is on one tape comes off in the opposite order. Sweeps of several orders, each of which keeps values until it is
/// done, have a tape each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    pub number: u32,
    pub tape: u8,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tape {
            0 => write!(f, "{}", self.number),
            tape => write!(f, "{}.{tape}", self.number),
        }
    }
}

impl std::str::FromStr for Site {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Site, Self::Err> {
        let (number, tape) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Site { number: number.parse()?, tape: tape.parse()? })
    }
}
