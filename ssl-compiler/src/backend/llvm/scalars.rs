//! Operations on scalars.

use super::function::{Made, Translator, unexpected};
use crate::ir::{BOOL, Compare, Const, Float1, Float2, InstData, Int1, Int2, Op, Value};
use crate::runtime::BlockContext;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FloatValue, IntValue, PointerValue};
use inkwell::{FloatPredicate, IntPredicate};
use std::mem::offset_of;

impl<'ctx> Translator<'_, 'ctx> {
    pub(super) fn scalar(&mut self, data: &InstData) -> Made<BasicValueEnum<'ctx>> {
        let types = self.unit.types;
        let arg = |i: usize| data.args[i];
        Ok(match data.op {
            Op::Const(Const::Bool(x)) => types.bool.const_int(u64::from(x), false).into(),
            Op::Const(Const::Int(x)) => self.word(x as u32).into(),
            Op::Const(Const::Float(bits)) => self.b.build_bit_cast(self.word(bits), types.float, "")?,
            Op::Parameter { word, .. } => self.memory(data, self.block()?.parameters, 4 * word as usize)?,
            Op::Global { field, component, order } => {
                // Verified code reads rows that exist.
                let row = self.unit.module.globals[field as usize].row(component as usize, order).unwrap_or(0);
                self.memory(data, self.block()?.globals, 64 * row)?
            }
            Op::Float1(op) => self.float1(op, self.float(arg(0))?)?.into(),
            Op::Float2(op) => self.float2(op, self.float(arg(0))?, self.float(arg(1))?)?.into(),
            Op::Fma => {
                let fused = self.unit.intrinsic("llvm.fma.f32", &[types.float.into()])?;
                self.call_direct(fused, &[self.get(arg(0))?, self.get(arg(1))?, self.get(arg(2))?])?
            }
            Op::CubicRoot => {
                let operands: Vec<BasicValueEnum<'ctx>> =
                    data.args.iter().map(|&v| self.get(v)).collect::<Result<_, _>>()?;
                self.cubic_root(&operands)?.into()
            }
            Op::Int1(op) => self.int1(op, self.int(arg(0))?)?,
            Op::BoolNot => self.b.build_not(self.int(arg(0))?, "")?.into(),
            Op::Int2(op) => self.int2(op, self.int(arg(0))?, self.int(arg(1))?)?.into(),
            Op::BoolAnd => self.b.build_and(self.int(arg(0))?, self.int(arg(1))?, "")?.into(),
            Op::BoolOr => self.b.build_or(self.int(arg(0))?, self.int(arg(1))?, "")?.into(),
            Op::BoolXor => self.b.build_xor(self.int(arg(0))?, self.int(arg(1))?, "")?.into(),
            Op::FloatCompare(op) => {
                self.b.build_float_compare(float_predicate(op), self.float(arg(0))?, self.float(arg(1))?, "")?.into()
            }
            Op::IntCompare(op) => {
                self.b.build_int_compare(int_predicate(op), self.int(arg(0))?, self.int(arg(1))?, "")?.into()
            }
            Op::Select => self.b.build_select(self.int(arg(0))?, self.get(arg(1))?, self.get(arg(2))?, "")?,
            Op::IntToFloat => self.b.build_signed_int_to_float(self.int(arg(0))?, types.float, "")?.into(),
            Op::FloatToInt => {
                // Saturates and takes NaN to 0, where the plain instruction would be undefined.
                let convert =
                    self.unit.intrinsic("llvm.fptosi.sat.i32.f32", &[types.int.into(), types.float.into()])?;
                self.call_direct(convert, &[self.get(arg(0))?])?
            }
            Op::BoolToInt => self.b.build_int_z_extend(self.int(arg(0))?, types.int, "")?.into(),
            Op::FloatBits => self.b.build_bit_cast(self.get(arg(0))?, types.int, "")?,
            Op::BitsFloat => self.b.build_bit_cast(self.get(arg(0))?, types.float, "")?,
            Op::ClampIndex(n) => self.clamped(arg(0), n)?.into(),
            Op::Finite => self.finite(self.float(arg(0))?)?,
            // Gone after differentiation; a module that skipped it has no shadows.
            Op::Derivative(_) => types.float.const_zero().into(),
            // These have places of their own.
            Op::If | Op::Loop | Op::Call(_) | Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => {
                unexpected()?
            }
            Op::Texture { .. }
            | Op::Sample { .. }
            | Op::External(_)
            | Op::Print(_)
            | Op::Keep
            | Op::Burn(_)
            | Op::Enter
            | Op::Leave
            | Op::Probe(_) => unexpected()?,
        })
    }

    /// A word of the parameter block or of the lane's globals.
    fn memory(&self, data: &InstData, base: PointerValue<'ctx>, bytes: usize) -> Made<BasicValueEnum<'ctx>> {
        let word = self.load_invariant(self.memory_type(data.results[0]), base, bytes)?;
        self.narrowed(data.results[0], word)
    }

    /// One of LLVM's operations on a float.
    fn float_intrinsic(&self, name: &'static str, x: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        let function = self.unit.intrinsic(name, &[self.unit.types.float.into()])?;
        Ok(self.call_direct(function, &[x.into()])?.into_float_value())
    }

    fn float1(&self, op: Float1, x: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        match op {
            Float1::Neg => Ok(self.b.build_float_neg(x, "")?),
            Float1::Abs => self.float_intrinsic("llvm.fabs.f32", x),
            Float1::Sqrt => self.float_intrinsic("llvm.sqrt.f32", x),
            Float1::Floor => self.float_intrinsic("llvm.floor.f32", x),
            Float1::Ceil => self.float_intrinsic("llvm.ceil.f32", x),
            // Both round halves away from zero.
            Float1::Round => self.float_intrinsic("llvm.round.f32", x),
            Float1::Trunc => self.float_intrinsic("llvm.trunc.f32", x),
            _ => self.math1(op, x),
        }
    }

    fn float2(&self, op: Float2, a: FloatValue<'ctx>, b: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        Ok(match op {
            Float2::Add => self.b.build_float_add(a, b, "")?,
            Float2::Sub => self.b.build_float_sub(a, b, "")?,
            Float2::Mul => self.b.build_float_mul(a, b, "")?,
            Float2::Div => self.b.build_float_div(a, b, "")?,
            Float2::Min => self.second_if(self.b.build_float_compare(FloatPredicate::OLT, b, a, "")?, a, b)?,
            Float2::Max => self.second_if(self.b.build_float_compare(FloatPredicate::OLT, a, b, "")?, a, b)?,
            Float2::Fmod | Float2::Pow | Float2::Atan2 | Float2::Hypot => self.math2(op, a, b)?,
        })
    }

    fn second_if(&self, test: IntValue<'ctx>, a: FloatValue<'ctx>, b: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        Ok(self.b.build_select(test, b, a, "")?.into_float_value())
    }

    fn int1(&self, op: Int1, x: IntValue<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let types = self.unit.types;
        let intrinsic = |name| self.unit.intrinsic(name, &[types.int.into()]);
        // Without the promise that the argument is not 0, counting zeros gives 32 for it.
        let any = types.bool.const_zero();
        match op {
            Int1::Neg => Ok(self.b.build_int_neg(x, "")?.into()),
            Int1::Not => Ok(self.b.build_not(x, "")?.into()),
            Int1::Popcount => self.call_direct(intrinsic("llvm.ctpop.i32")?, &[x.into()]),
            Int1::Clz => self.call_direct(intrinsic("llvm.ctlz.i32")?, &[x.into(), any.into()]),
            Int1::Ctz => self.call_direct(intrinsic("llvm.cttz.i32")?, &[x.into(), any.into()]),
            Int1::Reverse => self.call_direct(intrinsic("llvm.bitreverse.i32")?, &[x.into()]),
        }
    }

    fn int2(&self, op: Int2, a: IntValue<'ctx>, b: IntValue<'ctx>) -> Made<IntValue<'ctx>> {
        Ok(match op {
            Int2::Add => self.b.build_int_add(a, b, "")?,
            Int2::Sub => self.b.build_int_sub(a, b, "")?,
            Int2::Mul => self.b.build_int_mul(a, b, "")?,
            Int2::And => self.b.build_and(a, b, "")?,
            Int2::Or => self.b.build_or(a, b, "")?,
            Int2::Xor => self.b.build_xor(a, b, "")?,
            Int2::Shl => self.b.build_left_shift(a, self.shift_count(b)?, "")?,
            Int2::Shr => self.b.build_right_shift(a, self.shift_count(b)?, true, "")?,
            Int2::Ushr => self.b.build_right_shift(a, self.shift_count(b)?, false, "")?,
            Int2::Rotl => {
                // A funnel shift of a number with itself takes its count modulo the width.
                let rotate = self.unit.intrinsic("llvm.fshl.i32", &[self.unit.types.int.into()])?;
                self.call_direct(rotate, &[a.into(), a.into(), b.into()])?.into_int_value()
            }
            Int2::Div | Int2::Rem => self.division(op, a, b)?,
        })
    }

    fn shift_count(&self, b: IntValue<'ctx>) -> Made<IntValue<'ctx>> {
        Ok(self.b.build_and(b, self.word(31), "")?)
    }

    /// By 0 gives 0; by −1, which would trap on the smallest int, is done without dividing.
    fn division(&self, op: Int2, a: IntValue<'ctx>, b: IntValue<'ctx>) -> Made<IntValue<'ctx>> {
        let zero = self.word(0);
        let by_zero = self.b.build_int_compare(IntPredicate::EQ, b, zero, "")?;
        let by_minus_one = self.b.build_int_compare(IntPredicate::EQ, b, self.word(u32::MAX), "")?;
        let special = self.b.build_or(by_zero, by_minus_one, "")?;
        let divisor = self.b.build_select(special, self.word(1), b, "")?.into_int_value();
        if op == Int2::Rem {
            let remainder = self.b.build_int_signed_rem(a, divisor, "")?;
            return Ok(self.b.build_select(special, zero, remainder, "")?.into_int_value());
        }
        let quotient = self.b.build_int_signed_div(a, divisor, "")?;
        let negated = self.b.build_int_neg(a, "")?;
        let quotient = self.b.build_select(by_minus_one, negated, quotient, "")?.into_int_value();
        Ok(self.b.build_select(by_zero, zero, quotient, "")?.into_int_value())
    }

    fn finite(&mut self, x: FloatValue<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let magnitude = self.float_intrinsic("llvm.fabs.f32", x)?;
        let infinity = self.unit.types.float.const_float(f64::INFINITY);
        let fine = self.b.build_float_compare(FloatPredicate::OLT, magnitude, infinity, "")?;
        let zero = self.unit.types.float.const_zero();
        self.unless(fine, x.into(), offset_of!(BlockContext, non_finite_derivatives), |_| Ok(zero.into()))
    }

    /// A volatile store keeps what computes a value.
    pub(super) fn keep(&mut self, v: Value) -> Made {
        let address = self.at(self.block()?.context, self.long(offset_of!(BlockContext, kept) as u64))?;
        self.b.build_store(address, self.get(v)?)?.set_volatile(true).or_else(|_| unexpected())
    }

    /// The type of a scalar in memory: bools take a word like everything else.
    pub(super) fn memory_type(&self, v: Value) -> BasicTypeEnum<'ctx> {
        if self.f.ty(v) == BOOL { self.unit.types.int.into() } else { self.unit.types.of(self.f.ty(v)) }
    }

    /// The scalar that such a word holds.
    pub(super) fn narrowed(&self, v: Value, word: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        match word {
            BasicValueEnum::IntValue(word) if self.f.ty(v) == BOOL => {
                Ok(self.b.build_int_compare(IntPredicate::NE, word, self.word(0), "")?.into())
            }
            word => Ok(word),
        }
    }

    /// The word that holds a scalar.
    pub(super) fn widened(&self, v: Value) -> Made<BasicValueEnum<'ctx>> {
        if self.f.ty(v) == BOOL {
            return Ok(self.b.build_int_z_extend(self.int(v)?, self.unit.types.int, "")?.into());
        }
        self.get(v)
    }
}

fn float_predicate(op: Compare) -> FloatPredicate {
    match op {
        Compare::Eq => FloatPredicate::OEQ,
        Compare::Ne => FloatPredicate::UNE,
        Compare::Lt => FloatPredicate::OLT,
        Compare::Le => FloatPredicate::OLE,
        Compare::Gt => FloatPredicate::OGT,
        Compare::Ge => FloatPredicate::OGE,
    }
}

fn int_predicate(op: Compare) -> IntPredicate {
    match op {
        Compare::Eq => IntPredicate::EQ,
        Compare::Ne => IntPredicate::NE,
        Compare::Lt => IntPredicate::SLT,
        Compare::Le => IntPredicate::SLE,
        Compare::Gt => IntPredicate::SGT,
        Compare::Ge => IntPredicate::SGE,
    }
}
