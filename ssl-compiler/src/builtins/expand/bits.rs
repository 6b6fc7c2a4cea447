//! Built-ins that read the bits of a number.

use crate::ir::builder::Builder;
use crate::ir::{Compare, FLOAT, INT, Int1, Int2, Op, Value};

macro_rules! int1 {
    ($($name:ident = $op:ident),* $(,)?) => {
        $(pub fn $name(b: &mut Builder, x: Value) -> Value { b.emit(Op::Int1(Int1::$op), &[x], INT) })*
    };
}

int1! { popcount = Popcount, clz = Clz, ctz = Ctz, reverse = Reverse }

/// Which NaN an operation gives is up to the machine, so all of them count as one.
pub fn float_bits(b: &mut Builder, x: Value) -> Value {
    let nan = b.float_compare(Compare::Ne, x, x);
    let (bits, canonical) = (b.emit(Op::FloatBits, &[x], INT), b.int(f32::NAN.to_bits() as i32));
    b.select(nan, canonical, bits)
}

pub fn bits_float(b: &mut Builder, x: Value) -> Value {
    b.emit(Op::BitsFloat, &[x], FLOAT)
}

pub fn ushr(b: &mut Builder, x: Value, n: Value) -> Value {
    b.int2(Int2::Ushr, x, n)
}

pub fn rotate_left(b: &mut Builder, x: Value, n: Value) -> Value {
    b.int2(Int2::Rotl, x, n)
}

pub fn rotate_right(b: &mut Builder, x: Value, n: Value) -> Value {
    let back = b.emit(Op::Int1(Int1::Neg), &[n], INT);
    b.int2(Int2::Rotl, x, back)
}
