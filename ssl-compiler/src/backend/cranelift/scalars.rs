//! Operations on scalars.

use super::function::{Translator, trusted};
use crate::ir::{Compare, Const, Float1, Float2, InstData, Int1, Int2, Op, Value};
use crate::runtime::BlockContext;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as cl, InstBuilder, immediates::Ieee32, types};
use std::mem::offset_of;

impl Translator<'_> {
    pub(super) fn scalar(&mut self, data: &InstData) -> cl::Value {
        let args: smallvec::SmallVec<[cl::Value; 4]> = data.args.iter().map(|&v| self.get(v)).collect();
        match data.op {
            Op::Const(Const::Bool(x)) => self.b.ins().iconst(types::I8, i64::from(x)),
            Op::Const(Const::Int(x)) => self.b.ins().iconst(types::I32, i64::from(x)),
            Op::Const(Const::Float(bits)) => self.b.ins().f32const(Ieee32::with_bits(bits)),
            Op::Parameter { word, .. } => self.memory(data, |t| t.block.map(|b| (b.parameters, 4 * word as i32))),
            Op::Global { field, component, order } => {
                // Verified code reads rows that exist.
                let row = self.module.globals[field as usize].row(component as usize, order).unwrap_or(0);
                self.memory(data, |t| t.block.map(|b| (b.globals, 64 * row as i32)))
            }
            Op::Float1(op) => self.float1(op, args[0]),
            Op::Float2(op) => self.float2(op, args[0], args[1]),
            Op::Fma => self.b.ins().fma(args[0], args[1], args[2]),
            Op::CubicRoot => self.cubic_root(&args),
            Op::Int1(op) => self.int1(op, args[0]),
            Op::Int2(op) => self.int2(op, args[0], args[1]),
            Op::BoolNot => self.b.ins().bxor_imm_s(args[0], 1),
            Op::BoolAnd => self.b.ins().band(args[0], args[1]),
            Op::BoolOr => self.b.ins().bor(args[0], args[1]),
            Op::BoolXor => self.b.ins().bxor(args[0], args[1]),
            Op::FloatCompare(op) => self.b.ins().fcmp(float_condition(op), args[0], args[1]),
            Op::IntCompare(op) => self.b.ins().icmp(int_condition(op), args[0], args[1]),
            Op::Select => self.b.ins().select(args[0], args[1], args[2]),
            Op::IntToFloat => self.b.ins().fcvt_from_sint(types::F32, args[0]),
            Op::FloatToInt => self.b.ins().fcvt_to_sint_sat(types::I32, args[0]),
            Op::BoolToInt => self.b.ins().uextend(types::I32, args[0]),
            Op::FloatBits => self.b.ins().bitcast(types::I32, cl::MemFlagsData::new(), args[0]),
            Op::BitsFloat => self.b.ins().bitcast(types::F32, cl::MemFlagsData::new(), args[0]),
            Op::ClampIndex(n) => self.clamped(data.args[0], n),
            Op::Finite => self.finite(args[0]),
            // Gone after differentiation; a module that skipped it has no shadows.
            Op::Derivative(_) => self.b.ins().f32const(0.0),
            op => unreachable!("{op:?} has a place of its own"),
        }
    }

    /// A word of the parameter block or of the lane's globals.
    fn memory(&mut self, data: &InstData, at: impl FnOnce(&Self) -> Option<(cl::Value, i32)>) -> cl::Value {
        let ty = self.f.ty(data.results[0]);
        // Functions that read the block are given it.
        let (base, offset) = at(self).expect("a function that reads the block has its pointers");
        if ty == crate::ir::BOOL {
            let word = self.b.ins().load(types::I32, trusted(), base, offset);
            return self.b.ins().icmp_imm_s(IntCC::NotEqual, word, 0);
        }
        self.b.ins().load(super::native(ty), trusted(), base, offset)
    }

    fn float1(&mut self, op: Float1, x: cl::Value) -> cl::Value {
        match op {
            Float1::Neg => self.b.ins().fneg(x),
            Float1::Abs => self.b.ins().fabs(x),
            Float1::Sqrt => self.b.ins().sqrt(x),
            Float1::Floor => self.b.ins().floor(x),
            Float1::Ceil => self.b.ins().ceil(x),
            Float1::Trunc => self.b.ins().trunc(x),
            _ => self.math1(op, x),
        }
    }

    fn float2(&mut self, op: Float2, a: cl::Value, b: cl::Value) -> cl::Value {
        match op {
            Float2::Add => {
                let (a, b) = self.constant_last(a, b);
                self.b.ins().fadd(a, b)
            }
            Float2::Sub => self.b.ins().fsub(a, b),
            Float2::Mul => {
                let (a, b) = self.constant_last(a, b);
                self.b.ins().fmul(a, b)
            }
            Float2::Div => self.b.ins().fdiv(a, b),
            Float2::Min => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, b, a);
                self.b.ins().select(less, b, a)
            }
            Float2::Max => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                self.b.ins().select(less, b, a)
            }
            Float2::Fmod | Float2::Pow | Float2::Atan2 | Float2::Hypot => self.math2(op, a, b),
        }
    }

    /// The operands of what commutes. On the right, a constant is read from memory by the instruction itself; on the
    /// left it is first moved into a register, by two instructions.
    fn constant_last(&self, a: cl::Value, b: cl::Value) -> (cl::Value, cl::Value) {
        let dfg = &self.b.func.dfg;
        let constant = |v| dfg.value_def(v).inst().is_some_and(|i| dfg.insts[i].opcode() == cl::Opcode::F32const);
        if constant(a) && !constant(b) { (b, a) } else { (a, b) }
    }

    fn int1(&mut self, op: Int1, x: cl::Value) -> cl::Value {
        match op {
            Int1::Neg => self.b.ins().ineg(x),
            Int1::Not => self.b.ins().bnot(x),
            Int1::Popcount => self.b.ins().popcnt(x),
            Int1::Clz => self.b.ins().clz(x),
            Int1::Ctz => self.b.ins().ctz(x),
            Int1::Reverse => self.b.ins().bitrev(x),
        }
    }

    fn int2(&mut self, op: Int2, a: cl::Value, b: cl::Value) -> cl::Value {
        match op {
            Int2::Add => self.b.ins().iadd(a, b),
            Int2::Sub => self.b.ins().isub(a, b),
            Int2::Mul => self.b.ins().imul(a, b),
            Int2::And => self.b.ins().band(a, b),
            Int2::Or => self.b.ins().bor(a, b),
            Int2::Xor => self.b.ins().bxor(a, b),
            // Cranelift takes counts modulo the width, as the IR does.
            Int2::Shl => self.b.ins().ishl(a, b),
            Int2::Shr => self.b.ins().sshr(a, b),
            Int2::Ushr => self.b.ins().ushr(a, b),
            Int2::Rotl => self.b.ins().rotl(a, b),
            Int2::Div | Int2::Rem => self.division(op, a, b),
        }
    }

    /// By 0 gives 0; by −1, which would trap on the smallest int, is done without dividing.
    fn division(&mut self, op: Int2, a: cl::Value, b: cl::Value) -> cl::Value {
        let (zero, one) = (self.b.ins().iconst(types::I32, 0), self.b.ins().iconst(types::I32, 1));
        let by_zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let by_minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let special = self.b.ins().bor(by_zero, by_minus_one);
        let divisor = self.b.ins().select(special, one, b);
        if op == Int2::Rem {
            let remainder = self.b.ins().srem(a, divisor);
            return self.b.ins().select(special, zero, remainder);
        }
        let quotient = self.b.ins().sdiv(a, divisor);
        let negated = self.b.ins().ineg(a);
        let quotient = self.b.ins().select(by_minus_one, negated, quotient);
        self.b.ins().select(by_zero, zero, quotient)
    }

    /// A store that nobody reads keeps what computes a value.
    pub(super) fn keep(&mut self, v: Value) {
        let value = self.get(v);
        if let Some(block) = self.block {
            self.b.ins().store(trusted(), value, block.context, offset_of!(BlockContext, kept) as i32);
        }
    }

    fn finite(&mut self, x: cl::Value) -> cl::Value {
        // x − x is 0 where x is finite and otherwise NaN; no constant is needed to see that.
        let rest = self.b.ins().fsub(x, x);
        let fine = self.b.ins().fcmp(FloatCC::Ordered, rest, rest);
        self.unless(fine, x, offset_of!(BlockContext, non_finite_derivatives), |t| t.b.ins().f32const(0.0))
    }
}

fn float_condition(op: Compare) -> FloatCC {
    match op {
        Compare::Eq => FloatCC::Equal,
        Compare::Ne => FloatCC::NotEqual,
        Compare::Lt => FloatCC::LessThan,
        Compare::Le => FloatCC::LessThanOrEqual,
        Compare::Gt => FloatCC::GreaterThan,
        Compare::Ge => FloatCC::GreaterThanOrEqual,
    }
}

fn int_condition(op: Compare) -> IntCC {
    match op {
        Compare::Eq => IntCC::Equal,
        Compare::Ne => IntCC::NotEqual,
        Compare::Lt => IntCC::SignedLessThan,
        Compare::Le => IntCC::SignedLessThanOrEqual,
        Compare::Gt => IntCC::SignedGreaterThan,
        Compare::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}
