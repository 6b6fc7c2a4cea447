//! Facts about each operation besides its meaning, one row each. From them passes, analyses and back ends decide what
//! they may merge, move, or run for inactive lanes, and what it costs.
//!
//! Derivatives have a table of their own, `passes::ad::rules`.

use super::ops::{Float1, Float2, Int2, Op};

/// How far an operation reaches beyond its arguments and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The same arguments always give the same results, and nothing else happens.
    Nothing,
    /// Likewise, and something is counted where an argument is not as it should be. The count is a hint to authors: a
    /// pass may merge or drop such operations, and with them the count.
    Counter,
    /// Reads what the host filled in.
    Block,
    /// Calls a function of the host's that is pure.
    PureHost,
    /// Speaks to the host, in an order that a token keeps.
    Host,
    /// Takes from the allowance that a token carries, or tells the interpreter something.
    Token,
    /// Writes or reads the lane's tape, in an order that a token keeps.
    Tape,
    /// Must stay where it is though nothing uses it.
    Stays,
    /// Whatever the regions or the function inside do.
    Inside,
    /// Goes with differentiation.
    Temporary,
}

/// The row of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub reach: Reach,
    /// What it costs, in simple instructions; arrays and what is inside not counted.
    pub price: u32,
}

impl Op {
    pub fn facts(self) -> Facts {
        let row = |reach, price| Facts { reach, price };
        match self {
            Op::Const(_) => row(Reach::Nothing, 1),
            Op::Parameter { .. } | Op::Global { .. } | Op::BufferLength(_) => row(Reach::Block, 1),
            // Lanes may read far from each other.
            Op::Element { .. } => row(Reach::Block, 4),
            Op::Float1(op) => row(Reach::Nothing, price1(op)),
            Op::Float2(op) => row(Reach::Nothing, price2(op)),
            Op::Fma | Op::Int1(_) => row(Reach::Nothing, 1),
            Op::Int2(Int2::Div | Int2::Rem) => row(Reach::Nothing, 8),
            Op::Int2(_) | Op::BoolNot | Op::BoolAnd | Op::BoolOr | Op::BoolXor => row(Reach::Nothing, 1),
            Op::FloatCompare(_) | Op::IntCompare(_) | Op::Select => row(Reach::Nothing, 1),
            Op::IntToFloat | Op::FloatToInt | Op::BoolToInt | Op::FloatBits | Op::BitsFloat => row(Reach::Nothing, 1),
            // Newton's steps; most ends are near.
            Op::CubicRoot => row(Reach::Nothing, 60),
            Op::ArrayNew | Op::ArrayFill => row(Reach::Nothing, 1),
            Op::ArrayGet | Op::ArraySet => row(Reach::Counter, 1),
            Op::ClampIndex(_) | Op::ClampElement(_) | Op::Finite => row(Reach::Counter, 1),
            Op::AddTo(_) => row(Reach::Host, 32),
            // A filtered look-up in a texture whose tiles are there takes some hundred nanoseconds.
            Op::Sample { .. } | Op::Texture { .. } | Op::TextureAdjoint { .. } => row(Reach::Host, 256),
            Op::External(_) => row(Reach::PureHost, 64),
            Op::TextureSize { .. } => row(Reach::PureHost, 16),
            // A formatted text.
            Op::Print(_) => row(Reach::Host, 1024),
            Op::Burn(_) | Op::Prepay(_) | Op::Enter | Op::Leave | Op::Probe(_) => row(Reach::Token, 1),
            // A comparison and what tokens become; a row for each value comes on top.
            Op::Push(_) | Op::Pop(_) => row(Reach::Tape, 4),
            Op::Keep => row(Reach::Stays, 1),
            Op::Derivative(_) | Op::Detach | Op::Boundary | Op::Cross | Op::Pin | Op::Barrier(_) => {
                row(Reach::Temporary, 1)
            }
            Op::Call(_) | Op::Jvp { .. } | Op::Vjp { .. } | Op::If | Op::Loop(_) => row(Reach::Inside, 1),
        }
    }

    /// Whether the same arguments always give the same results and nothing else happens, but for counting.
    pub fn is_pure(self) -> bool {
        let reach = self.facts().reach;
        matches!(reach, Reach::Nothing | Reach::Counter | Reach::Block | Reach::PureHost | Reach::Temporary)
    }

    /// Whether something is counted where an argument is not as it should be.
    pub fn counts(self) -> bool {
        self.facts().reach == Reach::Counter
    }

    /// Whether machine code needs the block for it.
    pub fn needs_block(self) -> bool {
        use Reach::{Block, Counter, Host, PureHost, Stays, Tape};
        matches!(self.facts().reach, Block | Counter | Host | PureHost | Stays | Tape)
    }

    /// Whether it asks the host for anything: what was filled in, or a call.
    pub fn asks_host(self) -> bool {
        matches!(self.facts().reach, Reach::Block | Reach::Host | Reach::PureHost)
    }
}

/// In instructions of the function's kernel.
fn price1(op: Float1) -> u32 {
    match op {
        Float1::Neg | Float1::Abs | Float1::Floor | Float1::Ceil | Float1::Trunc => 1,
        Float1::Round => 4,
        Float1::Sqrt => 6,
        Float1::Exp | Float1::Exp2 | Float1::Log | Float1::Log2 | Float1::Log10 | Float1::Log1p | Float1::Expm1 => 24,
        Float1::Sin | Float1::Cos | Float1::Tan | Float1::Asin | Float1::Acos | Float1::Atan => 32,
        Float1::Sinh | Float1::Cosh | Float1::Tanh | Float1::TanhSlope => 40,
        Float1::Asinh | Float1::Acosh | Float1::Atanh => 40,
        Float1::Cbrt | Float1::Erf | Float1::Erfc => 40,
    }
}

fn price2(op: Float2) -> u32 {
    match op {
        Float2::Add | Float2::Sub | Float2::Mul | Float2::Min | Float2::Max => 1,
        Float2::Div => 4,
        Float2::Hypot => 12,
        Float2::Atan2 => 40,
        Float2::Fmod | Float2::Pow => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row says that the token orders the operation exactly where the operation takes one.
    #[test]
    fn what_speaks_to_the_host_in_order_takes_a_token() {
        let adjoint = Op::TextureAdjoint { word: 0, level: false };
        for op in
            [Op::Texture { word: 0, gradient: false, level: false }, adjoint, Op::Sample { word: 0 }, Op::Print(0)]
        {
            assert_eq!(op.facts().reach, Reach::Host, "{op:?}");
            assert!(!op.is_pure(), "{op:?}");
        }
        assert!(Op::External(0).is_pure(), "calls of the host's functions may be merged");
        assert!(Op::Finite.is_pure() && Op::Finite.counts());
        assert!(!Op::Burn(1).is_pure() && !Op::Burn(1).needs_block());
        let site = crate::ir::Site { number: 0, tape: 1 };
        assert!([Op::Push(site), Op::Pop(site)].iter().all(|op| !op.is_pure() && op.needs_block()));
    }
}
