//! Kernels as code: an operator appends its operation to the function being written.

use super::arithmetic::{Bool, Float, Int};
use crate::ir::builder::Builder;
use crate::ir::{BOOL, Checkpoint, Compare, FLOAT, Float1, Float2, Function, INT, Int2, Op, Ty, Value, Values};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// What code is written into. Kernels nest expressions, so they share it.
pub struct Writer(RefCell<Builder>);

macro_rules! values {
    ($($name:ident),*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            writer: &'a Writer,
            value: Value,
        }
    )*};
}

values!(FloatValue, IntValue, BoolValue);

/// Writes a function of floats: `kernel` is given its parameters and gives its results.
pub fn function<const N: usize, const M: usize>(
    name: &str,
    kernel: impl for<'a> FnOnce([FloatValue<'a>; N]) -> [FloatValue<'a>; M],
) -> Function {
    let function = Function::new(name, &[FLOAT; N], &[FLOAT; M]);
    let params = function.params().to_vec();
    let writer = Writer(RefCell::new(Builder::new(function)));
    let results = kernel(std::array::from_fn(|i| writer.float(params[i]))).map(|v| v.value);
    writer.0.into_inner().finish(results.into_iter().collect())
}

impl Writer {
    fn float(&self, value: Value) -> FloatValue<'_> {
        FloatValue { writer: self, value }
    }

    fn emit(&self, op: Op, args: &[Value], ty: Ty) -> Value {
        self.0.borrow_mut().emit(op, args, ty)
    }

    fn truth(&self, op: Op, args: &[Value]) -> BoolValue<'_> {
        BoolValue { writer: self, value: self.emit(op, args, BOOL) }
    }

    /// What is written by `part`, as a region.
    fn region<'a, const N: usize>(
        &'a self,
        params: usize,
        part: impl FnOnce(&[Value]) -> (Option<Value>, [FloatValue<'a>; N]),
    ) -> crate::ir::Region {
        let region = self.0.borrow_mut().open(&vec![FLOAT; params]);
        let params = self.0.borrow().params(region);
        let (condition, results) = part(&params);
        let results: Values = condition.into_iter().chain(results.map(|v| v.value)).collect();
        self.0.borrow_mut().close(results)
    }

    fn structured<const N: usize>(&self, op: Op, args: Values, regions: [crate::ir::Region; 2]) -> [FloatValue<'_>; N] {
        let mut builder = self.0.borrow_mut();
        let inst = builder.push(op, args, &[FLOAT; N], &regions);
        let results = builder.results(inst);
        std::array::from_fn(|i| self.float(results[i]))
    }
}

impl<'a> FloatValue<'a> {
    fn one(self, op: Float1) -> FloatValue<'a> {
        self.writer.float(self.writer.emit(Op::Float1(op), &[self.value], FLOAT))
    }

    fn two(self, op: Float2, other: FloatValue<'a>) -> FloatValue<'a> {
        self.writer.float(self.writer.emit(Op::Float2(op), &[self.value, other.value], FLOAT))
    }

    fn compare(self, op: Compare, other: FloatValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::FloatCompare(op), &[self.value, other.value])
    }
}

impl<'a> Float for FloatValue<'a> {
    type Int = IntValue<'a>;
    type Bool = BoolValue<'a>;

    fn constant(self, x: f32) -> FloatValue<'a> {
        let value = self.writer.0.borrow_mut().float(x);
        self.writer.float(value)
    }
    fn abs(self) -> FloatValue<'a> {
        self.one(Float1::Abs)
    }
    fn sqrt(self) -> FloatValue<'a> {
        self.one(Float1::Sqrt)
    }
    fn fused(self, factor: FloatValue<'a>, summand: FloatValue<'a>) -> FloatValue<'a> {
        let args = [self.value, factor.value, summand.value];
        self.writer.float(self.writer.emit(Op::Fma, &args, FLOAT))
    }
    fn trunc(self) -> FloatValue<'a> {
        self.one(Float1::Trunc)
    }
    fn bits(self) -> IntValue<'a> {
        IntValue { writer: self.writer, value: self.writer.emit(Op::FloatBits, &[self.value], INT) }
    }
    fn lt(self, other: FloatValue<'a>) -> BoolValue<'a> {
        self.compare(Compare::Lt, other)
    }
    fn eq(self, other: FloatValue<'a>) -> BoolValue<'a> {
        self.compare(Compare::Eq, other)
    }
    fn branch<const N: usize>(
        condition: BoolValue<'a>,
        then: impl FnOnce() -> [FloatValue<'a>; N],
        otherwise: impl FnOnce() -> [FloatValue<'a>; N],
    ) -> [FloatValue<'a>; N] {
        let writer = condition.writer;
        let then = writer.region(0, |_| (None, then()));
        let otherwise = writer.region(0, |_| (None, otherwise()));
        writer.structured(Op::If, Values::from_slice(&[condition.value]), [then, otherwise])
    }
    fn repeat<const N: usize>(
        start: [FloatValue<'a>; N],
        test: impl FnOnce([FloatValue<'a>; N]) -> BoolValue<'a> + Copy,
        step: impl FnOnce([FloatValue<'a>; N]) -> [FloatValue<'a>; N] + Copy,
    ) -> [FloatValue<'a>; N] {
        // A loop carries at least what it tests.
        let Some(writer) = start.first().map(|v| v.writer) else { return start };
        let state = |params: &[Value]| std::array::from_fn(|i| writer.float(params[i]));
        let condition = writer.region(N, |params| (Some(test(state(params)).value), state(params)));
        let body = writer.region(N, |params| (None, step(state(params))));
        writer.structured(Op::Loop(Checkpoint::Free), start.iter().map(|v| v.value).collect(), [condition, body])
    }
}

impl<'a> IntValue<'a> {
    fn two(self, op: Int2, other: IntValue<'a>) -> IntValue<'a> {
        IntValue { value: self.writer.emit(Op::Int2(op), &[self.value, other.value], INT), ..self }
    }
}

impl<'a> Int for IntValue<'a> {
    type Float = FloatValue<'a>;
    type Bool = BoolValue<'a>;

    fn constant(self, x: i32) -> IntValue<'a> {
        let value = self.writer.0.borrow_mut().int(x);
        IntValue { value, ..self }
    }
    fn float(self) -> FloatValue<'a> {
        self.writer.float(self.writer.emit(Op::BitsFloat, &[self.value], FLOAT))
    }
    fn to_float(self) -> FloatValue<'a> {
        self.writer.float(self.writer.emit(Op::IntToFloat, &[self.value], FLOAT))
    }
    fn shl(self, count: IntValue<'a>) -> IntValue<'a> {
        self.two(Int2::Shl, count)
    }
    fn shr(self, count: IntValue<'a>) -> IntValue<'a> {
        self.two(Int2::Shr, count)
    }
    fn ushr(self, count: IntValue<'a>) -> IntValue<'a> {
        self.two(Int2::Ushr, count)
    }
    fn eq(self, other: IntValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::IntCompare(Compare::Eq), &[self.value, other.value])
    }
    fn lt(self, other: IntValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::IntCompare(Compare::Lt), &[self.value, other.value])
    }
    fn choose(condition: BoolValue<'a>, a: IntValue<'a>, b: IntValue<'a>) -> IntValue<'a> {
        IntValue { value: a.writer.emit(Op::Select, &[condition.value, a.value, b.value], INT), ..a }
    }
}

impl<'a> Bool for BoolValue<'a> {
    type Float = FloatValue<'a>;

    fn choose(self, a: FloatValue<'a>, b: FloatValue<'a>) -> FloatValue<'a> {
        self.writer.float(self.writer.emit(Op::Select, &[self.value, a.value, b.value], FLOAT))
    }
    fn and(self, other: BoolValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::BoolAnd, &[self.value, other.value])
    }
    fn or(self, other: BoolValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::BoolOr, &[self.value, other.value])
    }
    fn xor(self, other: BoolValue<'a>) -> BoolValue<'a> {
        self.writer.truth(Op::BoolXor, &[self.value, other.value])
    }
    fn not(self) -> BoolValue<'a> {
        self.writer.truth(Op::BoolNot, &[self.value])
    }
}

impl<'a> Neg for FloatValue<'a> {
    type Output = FloatValue<'a>;
    fn neg(self) -> FloatValue<'a> {
        self.one(Float1::Neg)
    }
}

macro_rules! operators {
    ($($value:ident $number:ty: $($trait:ident $name:ident $op:expr),*;)*) => {$($(
        impl<'a> $trait for $value<'a> {
            type Output = $value<'a>;
            fn $name(self, other: $value<'a>) -> $value<'a> {
                self.two($op, other)
            }
        }
        impl<'a> $trait<$number> for $value<'a> {
            type Output = $value<'a>;
            fn $name(self, other: $number) -> $value<'a> {
                self.two($op, self.constant(other))
            }
        }
    )*)*};
}

operators! {
    FloatValue f32: Add add Float2::Add, Sub sub Float2::Sub, Mul mul Float2::Mul, Div div Float2::Div;
    IntValue i32: Add add Int2::Add, Sub sub Int2::Sub, Mul mul Int2::Mul,
        BitAnd bitand Int2::And, BitOr bitor Int2::Or, BitXor bitxor Int2::Xor;
}
