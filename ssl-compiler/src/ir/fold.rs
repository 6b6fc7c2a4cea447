//! The results of operations on constants, and the identities that hold for every argument, NaN, infinities and signed
//! zeros included. The builder and the `simplify` pass share them. They also define the semantics of integers for the
//! interpreter.

use super::math::Class;
use super::ops::*;
use super::real::{Precision, Real};
use super::{Value, Values};

/// What an operation turned out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Folded {
    Const(Const),
    Value(Value),
}

pub fn int1(op: Int1, a: i32) -> i32 {
    match op {
        Int1::Neg => a.wrapping_neg(),
        Int1::Not => !a,
        Int1::Popcount => a.count_ones() as i32,
        Int1::Clz => a.leading_zeros() as i32,
        Int1::Ctz => a.trailing_zeros() as i32,
        Int1::Reverse => a.reverse_bits(),
    }
}

pub fn int2(op: Int2, a: i32, b: i32) -> i32 {
    match op {
        Int2::Add => a.wrapping_add(b),
        Int2::Sub => a.wrapping_sub(b),
        Int2::Mul => a.wrapping_mul(b),
        Int2::Div => {
            if b == 0 {
                0
            } else {
                a.wrapping_div(b)
            }
        }
        Int2::Rem => {
            if b == 0 {
                0
            } else {
                a.wrapping_rem(b)
            }
        }
        Int2::And => a & b,
        Int2::Or => a | b,
        Int2::Xor => a ^ b,
        Int2::Shl => a.wrapping_shl(b as u32),
        Int2::Shr => a.wrapping_shr(b as u32),
        Int2::Ushr => (a as u32).wrapping_shr(b as u32) as i32,
        Int2::Rotl => a.rotate_left(b as u32 & 31),
    }
}

/// Simplifies a pure scalar operation; `constant` tells which values are constants.
///
/// For [`Precision::Double`] nothing folds that f64 would compute otherwise.
pub fn fold(op: Op, args: &Values, precision: Precision, constant: impl Fn(Value) -> Option<Const>) -> Option<Folded> {
    let folded = fold_single(op, args, precision.class(), &constant)?;
    match folded {
        Folded::Const(Const::Float(bits)) if precision == Precision::Double => {
            is_exact(op, args, constant, f32::from_bits(bits)).then_some(folded)
        }
        _ => Some(folded),
    }
}

/// Whether f64 gives the same number.
fn is_exact(op: Op, args: &Values, constant: impl Fn(Value) -> Option<Const>, found: f32) -> bool {
    let number = |i: usize| match args.get(i).and_then(|&v| constant(v)) {
        Some(Const::Float(bits)) => Some(f64::from(f32::from_bits(bits))),
        _ => None,
    };
    let double = match op {
        Op::Float1(op) => number(0).map(|x| f64::float1(op, x, Class::Close)),
        Op::Float2(op) => number(0).zip(number(1)).map(|(x, y)| f64::float2(op, x, y, Class::Close)),
        Op::Fma => number(0).zip(number(1)).zip(number(2)).map(|((x, y), z)| f64::fma(x, y, z)),
        Op::CubicRoot => numbers(number).map(f64::cubic_root),
        // A choice, bits, or a conversion that rounds to a float in f64 too.
        _ => return true,
    };
    double.is_some_and(|x| x == f64::from(found) || (x.is_nan() && found.is_nan()))
}

/// All operands, if they are known.
fn numbers<T: Copy + Default, const N: usize>(number: impl Fn(usize) -> Option<T>) -> Option<[T; N]> {
    let mut found = [T::default(); N];
    for (i, x) in found.iter_mut().enumerate() {
        *x = number(i)?;
    }
    Some(found)
}

fn fold_single(op: Op, args: &Values, class: Class, constant: impl Fn(Value) -> Option<Const>) -> Option<Folded> {
    let c = |i: usize| args.get(i).and_then(|&v| constant(v));
    let float = |i| match c(i) {
        Some(Const::Float(bits)) => Some(f32::from_bits(bits)),
        _ => None,
    };
    let int = |i| match c(i) {
        Some(Const::Int(x)) => Some(x),
        _ => None,
    };
    let boolean = |i| match c(i) {
        Some(Const::Bool(x)) => Some(x),
        _ => None,
    };
    let give = |x: f32| Some(Folded::Const(Const::float(x)));
    let truth = |x: bool| Some(Folded::Const(Const::Bool(x)));
    match op {
        Op::Float1(op) => give(f32::float1(op, float(0)?, class)),
        Op::Float2(op) => match (float(0), float(1)) {
            (Some(a), Some(b)) => give(f32::float2(op, a, b, class)),
            (a, b) => float_identity(op, args, a, b),
        },
        Op::Fma => give(f32::fma(float(0)?, float(1)?, float(2)?)),
        Op::CubicRoot => give(f32::cubic_root(numbers(float)?)),
        Op::Int1(op) => Some(Folded::Const(Const::Int(int1(op, int(0)?)))),
        Op::Int2(op) => match (int(0), int(1)) {
            (Some(a), Some(b)) => Some(Folded::Const(Const::Int(int2(op, a, b)))),
            (a, b) => int_identity(op, args, a, b),
        },
        Op::BoolNot => truth(!boolean(0)?),
        Op::BoolAnd | Op::BoolOr | Op::BoolXor => bool_identity(op, args, boolean(0), boolean(1)),
        Op::FloatCompare(op) => truth(op.eval(float(0)?, float(1)?)),
        Op::IntCompare(op) => match (int(0), int(1)) {
            (Some(a), Some(b)) => truth(op.eval(a, b)),
            _ if args[0] == args[1] => truth(op.eval(0, 0)),
            _ => None,
        },
        Op::Select if args[1] == args[2] => Some(Folded::Value(args[1])),
        Op::Select => Some(match (boolean(0), c(1), c(2)) {
            (Some(taken), ..) => Folded::Value(if taken { args[1] } else { args[2] }),
            (None, Some(Const::Bool(true)), Some(Const::Bool(false))) => Folded::Value(args[0]),
            (None, Some(a), Some(b)) if a == b => Folded::Const(a),
            _ => return None,
        }),
        Op::ClampIndex(n) => {
            let i = int(0)?;
            (i >= 0 && (i as u32) < n).then_some(Folded::Value(args[0]))
        }
        Op::IntToFloat => give(int(0)? as f32),
        Op::FloatToInt => Some(Folded::Const(Const::Int(float(0)? as i32))),
        Op::BoolToInt => Some(Folded::Const(Const::Int(i32::from(boolean(0)?)))),
        Op::FloatBits => Some(Folded::Const(Const::Int(float(0)?.to_bits() as i32))),
        Op::BitsFloat => give(f32::from_bits(int(0)? as u32)),
        // A constant has no derivative that could be cut.
        Op::Detach => c(0).map(|_| Folded::Value(args[0])),
        Op::Finite => float(0)?.is_finite().then_some(Folded::Value(args[0])),
        _ => None,
    }
}

/// Only identities that change no bit: `x + 0` would turn −0 into +0, `x * 0` would lose a NaN.
fn float_identity(op: Float2, args: &Values, a: Option<f32>, b: Option<f32>) -> Option<Folded> {
    let is = |x: Option<f32>, wanted: f32| x.is_some_and(|x| x.to_bits() == wanted.to_bits());
    let side = match op {
        Float2::Mul if is(b, 1.0) => 0,
        Float2::Mul if is(a, 1.0) => 1,
        Float2::Div if is(b, 1.0) => 0,
        Float2::Sub if is(b, 0.0) => 0,
        Float2::Add if is(b, -0.0) => 0,
        Float2::Add if is(a, -0.0) => 1,
        Float2::Min | Float2::Max if args[0] == args[1] => 0,
        _ => return None,
    };
    Some(Folded::Value(args[side]))
}

fn int_identity(op: Int2, args: &Values, a: Option<i32>, b: Option<i32>) -> Option<Folded> {
    use Int2::{Add, And, Div, Mul, Or, Rotl, Shl, Shr, Sub, Ushr, Xor};
    let side = match (op, a, b) {
        (Add | Sub | Or | Xor | Shl | Shr | Ushr | Rotl, _, Some(0)) | (Mul | Div, _, Some(1)) | (And, _, Some(-1)) => {
            0
        }
        (Add | Or | Xor, Some(0), _) | (Mul, Some(1), _) | (And, Some(-1), _) => 1,
        (Mul | And, Some(0), _) | (Mul | And, _, Some(0)) => return Some(Folded::Const(Const::Int(0))),
        (Sub | Xor, ..) if args[0] == args[1] => return Some(Folded::Const(Const::Int(0))),
        _ => return None,
    };
    Some(Folded::Value(args[side]))
}

fn bool_identity(op: Op, args: &Values, a: Option<bool>, b: Option<bool>) -> Option<Folded> {
    if let (Some(a), Some(b)) = (a, b) {
        let value = match op {
            Op::BoolAnd => a && b,
            Op::BoolOr => a || b,
            _ => a != b,
        };
        return Some(Folded::Const(Const::Bool(value)));
    }
    let neutral = matches!(op, Op::BoolAnd);
    if op == Op::BoolXor {
        return match (a, b) {
            (Some(false), _) => Some(Folded::Value(args[1])),
            (_, Some(false)) => Some(Folded::Value(args[0])),
            _ => None,
        };
    }
    match (a, b) {
        (Some(x), _) if x == neutral => Some(Folded::Value(args[1])),
        (_, Some(x)) if x == neutral => Some(Folded::Value(args[0])),
        (Some(x), _) | (_, Some(x)) => Some(Folded::Const(Const::Bool(x))),
        _ => (args[0] == args[1]).then_some(Folded::Value(args[0])),
    }
}
