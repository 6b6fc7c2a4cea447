//! Cranelift's instructions. A wide value is a vector of 128 bits, a wide bool a vector of ints, all bits or none.

use super::calls::Services;
use super::error;
use crate::backend::emit::{
    Assembler, Conversion, Kind, Logic, Made, Odds, Service, Shape, Stability, Target, unexpected,
};
use crate::backend::plan::Version;
use crate::ir::{Compare, Const, Float1, Float2, FuncId, Int1, Int2};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, V128Imm};
use cranelift_codegen::ir::{self as cl, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId as NativeId, Module as _};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Whether a product with −1 takes fewer instructions than flipping the sign: on x86-64 it reads the −1 from memory, where
/// Cranelift first makes the sign's bit in a register.
const PRODUCTS_NEGATE: bool = cfg!(target_arch = "x86_64");

/// Lanes of its vectors.
pub(super) const LANES: u32 = 4;

pub(super) struct Cranelift<'a> {
    pub b: FunctionBuilder<'a>,
    pub jit: &'a mut JITModule,
    pub services: &'a Services,
    pub ids: &'a HashMap<(FuncId, Version), NativeId>,
    pub start: cl::Block,
    pub lanes: u32,
    /// Whether the machine has an instruction that chooses lanes by a mask's highest bits.
    pub blends: bool,
}

/// Loads and stores here neither trap nor are misaligned.
fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// What is invariant moves in front of loops, and of the branches in them.
fn flags(stability: Stability) -> MemFlagsData {
    match stability {
        Stability::Invariant => trusted().with_readonly().with_can_move(),
        Stability::Unwritten | Stability::Changing => trusted(),
    }
}

/// The machine type of a shape.
pub(super) fn native(shape: Shape) -> cl::Type {
    match (shape.kind, shape.wide) {
        (Kind::Bool, false) => types::I8,
        (Kind::Int, false) => types::I32,
        (Kind::Float, false) => types::F32,
        (Kind::Float, true) => types::F32X4,
        (Kind::Bool | Kind::Int, true) => types::I32X4,
        (Kind::Pointer, _) => types::I64,
    }
}

impl Cranelift<'_> {
    fn ty(&self, v: cl::Value) -> cl::Type {
        self.b.func.dfg.value_type(v)
    }

    fn is_wide(&self, v: cl::Value) -> bool {
        self.ty(v).is_vector()
    }

    fn lane_type(kind: Kind) -> cl::Type {
        if kind == Kind::Float { types::F32 } else { types::I32 }
    }

    /// The operands of what commutes. On the right, a constant is read from memory by the instruction itself; on the
    /// left it is first moved into a register, by two instructions.
    fn constant_last(&self, a: cl::Value, b: cl::Value) -> (cl::Value, cl::Value) {
        let dfg = &self.b.func.dfg;
        let constant = |v| dfg.value_def(v).inst().is_some_and(|i| dfg.insts[i].opcode() == cl::Opcode::F32const);
        if constant(a) && !constant(b) { (b, a) } else { (a, b) }
    }

    /// A product with −1, which has the bits of −x.
    fn negated(&mut self, x: cl::Value) -> Made<cl::Value> {
        let wide = self.is_wide(x);
        let minus_one = self.constant(Const::float(-1.0));
        let minus_one = if wide { self.splat(Kind::Float, minus_one)? } else { minus_one };
        Ok(self.b.ins().fmul(x, minus_one))
    }

    /// A number whose sign a fused multiplication and addition can flip by itself, where `negated` made it.
    fn fused_sign(&mut self, v: cl::Value) -> cl::Value {
        let dfg = &self.b.func.dfg;
        let product = dfg.value_def(v).inst().map(|i| dfg.insts[i]);
        match product {
            Some(cl::InstructionData::Binary { opcode: cl::Opcode::Fmul, args: [x, y] }) if self.is_minus_one(y) => {
                self.b.ins().fneg(x)
            }
            _ => v,
        }
    }

    fn is_minus_one(&self, v: cl::Value) -> bool {
        let dfg = &self.b.func.dfg;
        match dfg.value_def(v).inst().map(|i| dfg.insts[i]) {
            Some(cl::InstructionData::UnaryConst { constant_handle, .. }) => {
                let word = (-1f32).to_le_bytes();
                dfg.constants.get(constant_handle).iter().copied().eq([word; 4].concat())
            }
            _ => self.constant_word(v) == Some((-1f32).to_bits()),
        }
    }

    fn v128(&mut self, ty: cl::Type, words: [u32; 4]) -> cl::Value {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let constant = self.b.func.dfg.constants.insert(V128Imm::from(&bytes[..]).into());
        self.b.ins().vconst(ty, constant)
    }

    /// What a single value is in a lane of a vector, if it is a constant.
    fn constant_word(&self, x: cl::Value) -> Option<u32> {
        let dfg = &self.b.func.dfg;
        match dfg.insts[dfg.value_def(x).inst()?] {
            cl::InstructionData::UnaryIeee32 { opcode: cl::Opcode::F32const, imm } => Some(imm.bits()),
            // No bits or all for a bool.
            cl::InstructionData::UnaryImm { opcode: cl::Opcode::Iconst, imm } => {
                let word = imm.bits() as u32;
                Some(if self.ty(x) == types::I8 { word.wrapping_neg() } else { word })
            }
            _ => None,
        }
    }

    /// Whether a mask is the result of comparing floats.
    fn compares_floats(&self, mask: cl::Value) -> bool {
        let dfg = &self.b.func.dfg;
        dfg.value_def(mask).inst().is_some_and(|i| dfg.insts[i].opcode() == cl::Opcode::Fcmp)
    }
}

impl Assembler for Cranelift<'_> {
    type Value = cl::Value;
    type Block = cl::Block;
    type Slot = cl::StackSlot;

    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn arguments(&self) -> Vec<cl::Value> {
        self.b.block_params(self.start).to_vec()
    }

    fn block(&mut self, params: &[Shape]) -> Made<cl::Block> {
        let block = self.b.create_block();
        for &shape in params {
            self.b.append_block_param(block, native(shape));
        }
        Ok(block)
    }

    fn params(&self, block: cl::Block) -> Vec<cl::Value> {
        self.b.block_params(block).to_vec()
    }

    fn enter(&mut self, block: cl::Block) {
        self.b.switch_to_block(block);
    }

    fn jump(&mut self, to: cl::Block, arguments: &[cl::Value]) -> Made {
        let arguments: Vec<cl::BlockArg> = arguments.iter().map(|&v| v.into()).collect();
        self.b.ins().jump(to, &arguments);
        Ok(())
    }

    fn branch(&mut self, test: cl::Value, first: cl::Block, second: cl::Block, odds: Odds) -> Made {
        match odds {
            Odds::Even => {}
            Odds::First => self.b.set_cold_block(second),
            // Cranelift visits the target that is named last first, and moves invariant instructions in front of a loop
            // only until it visits what follows the loop.
            Odds::Round => {
                let over = self.b.ins().icmp_imm_s(IntCC::Equal, test, 0);
                self.b.ins().brif(over, second, &[], first, &[]);
                return Ok(());
            }
        }
        self.b.ins().brif(test, first, &[], second, &[]);
        Ok(())
    }

    fn give_back(&mut self, results: &[cl::Value]) -> Made {
        self.b.ins().return_(results);
        Ok(())
    }

    fn constant(&mut self, constant: Const) -> cl::Value {
        match constant {
            Const::Bool(x) => self.b.ins().iconst(types::I8, i64::from(x)),
            Const::Int(x) => self.b.ins().iconst(types::I32, i64::from(x)),
            Const::Float(bits) => self.b.ins().f32const(Ieee32::with_bits(bits)),
        }
    }

    fn zero(&mut self, shape: Shape) -> cl::Value {
        match (shape.kind, shape.wide) {
            (Kind::Float, false) => self.b.ins().f32const(0.0),
            (_, false) => self.b.ins().iconst(native(shape), 0),
            (_, true) => self.v128(native(shape), [0; 4]),
        }
    }

    fn float1(&mut self, op: Float1, x: cl::Value) -> Made<Option<cl::Value>> {
        if op == Float1::Neg && PRODUCTS_NEGATE {
            return self.negated(x).map(Some);
        }
        let ins = self.b.ins();
        Ok(Some(match op {
            Float1::Neg => ins.fneg(x),
            Float1::Abs => ins.fabs(x),
            Float1::Sqrt => ins.sqrt(x),
            Float1::Floor => ins.floor(x),
            Float1::Ceil => ins.ceil(x),
            Float1::Trunc => ins.trunc(x),
            _ => return Ok(None),
        }))
    }

    fn float2(&mut self, op: Float2, a: cl::Value, b: cl::Value) -> Made<Option<cl::Value>> {
        let (first, last) = self.constant_last(a, b);
        let ins = self.b.ins();
        Ok(Some(match op {
            Float2::Add => ins.fadd(first, last),
            Float2::Sub => ins.fsub(a, b),
            Float2::Mul => ins.fmul(first, last),
            Float2::Div => ins.fdiv(a, b),
            _ => return Ok(None),
        }))
    }

    fn fma(&mut self, a: cl::Value, b: cl::Value, c: cl::Value) -> Made<cl::Value> {
        let [a, b, c] = [a, b, c].map(|v| self.fused_sign(v));
        Ok(self.b.ins().fma(a, b, c))
    }

    fn int1(&mut self, op: Int1, x: cl::Value) -> Made<Option<cl::Value>> {
        let wide = self.is_wide(x);
        let ins = self.b.ins();
        Ok(Some(match op {
            Int1::Neg => ins.ineg(x),
            Int1::Not => ins.bnot(x),
            _ if wide => return Ok(None),
            Int1::Popcount => ins.popcnt(x),
            Int1::Clz => ins.clz(x),
            Int1::Ctz => ins.ctz(x),
            Int1::Reverse => ins.bitrev(x),
        }))
    }

    fn int2(&mut self, op: Int2, a: cl::Value, b: cl::Value) -> Made<Option<cl::Value>> {
        let wide = self.is_wide(a);
        let ins = self.b.ins();
        Ok(Some(match op {
            Int2::Add => ins.iadd(a, b),
            Int2::Sub => ins.isub(a, b),
            Int2::Mul => ins.imul(a, b),
            Int2::And => ins.band(a, b),
            Int2::Or => ins.bor(a, b),
            Int2::Xor => ins.bxor(a, b),
            // Vectors are shifted by one count only.
            _ if wide => return Ok(None),
            // Counts are taken modulo the width, as the IR takes them.
            Int2::Shl => ins.ishl(a, b),
            Int2::Shr => ins.sshr(a, b),
            Int2::Ushr => ins.ushr(a, b),
            Int2::Rotl => ins.rotl(a, b),
            Int2::Div => ins.sdiv(a, b),
            Int2::Rem => ins.srem(a, b),
        }))
    }

    fn shift(&mut self, op: Int2, a: cl::Value, count: cl::Value) -> Made<Option<cl::Value>> {
        Ok(Some(match op {
            Int2::Shl => self.b.ins().ishl(a, count),
            Int2::Shr => self.b.ins().sshr(a, count),
            Int2::Ushr => self.b.ins().ushr(a, count),
            _ => return Ok(None),
        }))
    }

    fn logic(&mut self, op: Logic, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        Ok(match op {
            Logic::And => self.b.ins().band(a, b),
            Logic::Or => self.b.ins().bor(a, b),
            Logic::Xor => self.b.ins().bxor(a, b),
            Logic::AndNot if self.is_wide(a) => self.b.ins().band_not(a, b),
            Logic::AndNot => {
                let not = self.not(b)?;
                self.b.ins().band(a, not)
            }
        })
    }

    fn not(&mut self, a: cl::Value) -> Made<cl::Value> {
        Ok(if self.is_wide(a) { self.b.ins().bnot(a) } else { self.b.ins().bxor_imm_s(a, 1) })
    }

    fn compare_floats(&mut self, op: Compare, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().fcmp(float_condition(op), a, b))
    }

    fn compare_ints(&mut self, op: Compare, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().icmp(int_condition(op), a, b))
    }

    fn select(&mut self, condition: cl::Value, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        if !self.is_wide(condition) {
            return Ok(self.b.ins().select(condition, a, b));
        }
        let ty = self.ty(a);
        // Cranelift knows a minimum, a maximum, and that the lanes of what was just compared are all bits or none. Of other
        // masks it does not know the latter.
        if !self.blends || self.compares_floats(condition) {
            let condition = if ty == types::F32X4 { self.b.ins().bitcast(ty, little(), condition) } else { condition };
            return Ok(self.b.ins().bitselect(condition, a, b));
        }
        let words = |b: &mut FunctionBuilder<'_>, v| {
            if ty == types::F32X4 { b.ins().bitcast(types::I32X4, little(), v) } else { v }
        };
        let (a, b) = (words(&mut self.b, a), words(&mut self.b, b));
        let blended = self.b.ins().blendv(condition, a, b);
        Ok(if ty == types::F32X4 { self.b.ins().bitcast(ty, little(), blended) } else { blended })
    }

    fn convert(&mut self, conversion: Conversion, x: cl::Value) -> Made<cl::Value> {
        let wide = self.is_wide(x);
        let (int, float) = if wide { (types::I32X4, types::F32X4) } else { (types::I32, types::F32) };
        Ok(match conversion {
            Conversion::IntToFloat => self.b.ins().fcvt_from_sint(float, x),
            Conversion::FloatToInt => self.b.ins().fcvt_to_sint_sat(int, x),
            Conversion::BoolToInt if wide => {
                let one = self.v128(types::I32X4, [1; 4]);
                self.b.ins().band(x, one)
            }
            Conversion::BoolToInt => self.b.ins().uextend(types::I32, x),
            Conversion::IntToBool if wide => {
                let zero = self.v128(types::I32X4, [0; 4]);
                self.b.ins().icmp(IntCC::NotEqual, x, zero)
            }
            Conversion::IntToBool => self.b.ins().icmp_imm_s(IntCC::NotEqual, x, 0),
            Conversion::FloatBits => self.b.ins().bitcast(int, if wide { little() } else { MemFlagsData::new() }, x),
            Conversion::BitsFloat => self.b.ins().bitcast(float, if wide { little() } else { MemFlagsData::new() }, x),
        })
    }

    fn unsigned_min(&mut self, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().umin(a, b))
    }

    fn below(&mut self, a: cl::Value, b: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().icmp(IntCC::UnsignedLessThan, a, b))
    }

    fn is_finite(&mut self, x: cl::Value) -> Made<cl::Value> {
        // x − x is 0 where x is finite and otherwise NaN; no constant is needed to see that.
        let rest = self.b.ins().fsub(x, x);
        let condition = if self.is_wide(x) { FloatCC::Equal } else { FloatCC::Ordered };
        Ok(self.b.ins().fcmp(condition, rest, rest))
    }

    fn splat(&mut self, kind: Kind, x: cl::Value) -> Made<cl::Value> {
        let ty = native(Shape::new(kind, true));
        // A vector lies in memory as it is. A single constant would first be moved into a register, by two instructions.
        if let Some(word) = self.constant_word(x) {
            return Ok(self.v128(ty, [word; 4]));
        }
        if kind != Kind::Bool {
            return Ok(self.b.ins().splat(ty, x));
        }
        // 0 and 1 become no bits and all.
        let word = self.b.ins().uextend(types::I32, x);
        let bits = self.b.ins().ineg(word);
        Ok(self.b.ins().splat(ty, bits))
    }

    fn extract(&mut self, _kind: Kind, x: cl::Value, lane: u32) -> Made<cl::Value> {
        Ok(self.b.ins().extractlane(x, lane as u8))
    }

    fn insert(&mut self, _kind: Kind, x: cl::Value, lane: u32, element: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().insertlane(x, element, lane as u8))
    }

    fn any(&mut self, mask: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().vany_true(mask))
    }

    fn bits(&mut self, mask: cl::Value) -> Made<cl::Value> {
        Ok(self.b.ins().vhigh_bits(types::I32, mask))
    }

    fn mask(&mut self, bits: cl::Value) -> Made<cl::Value> {
        let all = self.b.ins().splat(types::I32X4, bits);
        let own = self.v128(types::I32X4, [1, 2, 4, 8]);
        let left = self.b.ins().band(all, own);
        Ok(self.b.ins().icmp(IntCC::Equal, left, own))
    }

    fn element(&mut self, base: cl::Value, index: cl::Value, stride: u32) -> Made<cl::Value> {
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_s(index, i64::from(stride.trailing_zeros()));
        Ok(self.b.ins().iadd(base, offset))
    }

    fn load(&mut self, shape: Shape, base: cl::Value, offset: usize, stability: Stability) -> Made<cl::Value> {
        Ok(self.b.ins().load(native(shape), flags(stability), base, offset as i32))
    }

    fn pointer(&mut self, context: cl::Value, field: usize, _target: Target) -> Made<cl::Value> {
        self.load(Shape::POINTER, context, field, Stability::Invariant)
    }

    fn store(&mut self, value: cl::Value, base: cl::Value, offset: usize) -> Made {
        self.b.ins().store(trusted(), value, base, offset as i32);
        Ok(())
    }

    fn keep(&mut self, value: cl::Value, base: cl::Value, offset: usize) -> Made {
        self.store(value, base, offset)
    }

    fn gather(&mut self, kind: Kind, base: cl::Value, index: cl::Value) -> Made<cl::Value> {
        let mut out = self.zero(Shape::new(kind, true));
        for lane in 0..LANES as u8 {
            let i = self.b.ins().extractlane(index, lane);
            let address = self.element(base, i, 4)?;
            let word = self.b.ins().load(Self::lane_type(kind), trusted(), address, 0);
            out = self.b.ins().insertlane(out, word, lane);
        }
        Ok(out)
    }

    fn scatter(&mut self, value: cl::Value, base: cl::Value, index: cl::Value, mask: cl::Value) -> Made {
        // A lane that is not meant writes back what is there.
        let old = self.gather(if self.ty(value) == types::F32X4 { Kind::Float } else { Kind::Int }, base, index)?;
        let value = self.select(mask, value, old)?;
        for lane in 0..LANES as u8 {
            let i = self.b.ins().extractlane(index, lane);
            let address = self.element(base, i, 4)?;
            let word = self.b.ins().extractlane(value, lane);
            self.b.ins().store(trusted(), word, address, 0);
        }
        Ok(())
    }

    fn slot(&mut self, bytes: u32) -> Made<cl::StackSlot> {
        let align = if self.lanes > 1 { 4 } else { 2 };
        Ok(self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, align)))
    }

    fn address(&mut self, slot: cl::StackSlot) -> Made<cl::Value> {
        Ok(self.b.ins().stack_addr(types::I64, slot, 0))
    }

    fn copy(&mut self, target: cl::Value, source: cl::Value, bytes: u32) -> Made {
        let copy = self.jit.declare_func_in_func(self.services.copy, self.b.func);
        let bytes = self.b.ins().iconst(types::I64, i64::from(bytes));
        self.b.ins().call(copy, &[target, source, bytes]);
        Ok(())
    }

    fn fill(&mut self, target: cl::Value, word: cl::Value, length: u32) -> Made {
        let fill = self.jit.declare_func_in_func(self.services.fill, self.b.func);
        let length = self.b.ins().iconst(types::I64, i64::from(length));
        self.b.ins().call(fill, &[target, word, length]);
        Ok(())
    }

    fn call(&mut self, callee: (FuncId, Version), arguments: &[cl::Value]) -> Made<SmallVec<[cl::Value; 4]>> {
        let Some(&id) = self.ids.get(&callee) else { return unexpected() };
        let callee = self.jit.declare_func_in_func(id, self.b.func);
        let call = self.b.ins().call(callee, arguments);
        Ok(self.b.inst_results(call).iter().copied().collect())
    }

    fn math(&mut self, symbol: &'static str, arguments: &[cl::Value]) -> Made<cl::Value> {
        let id = self.services.math.get(symbol).ok_or_else(|| error("a math function has no symbol"))?;
        let callee = self.jit.declare_func_in_func(*id, self.b.func);
        let call = self.b.ins().call(callee, arguments);
        Ok(self.b.inst_results(call)[0])
    }

    fn service(&mut self, service: Service, context: cl::Value) -> Made {
        let callee = self.jit.declare_func_in_func(self.services.of(service), self.b.func);
        self.b.ins().call(callee, &[context]);
        Ok(())
    }
}

/// Bits of one vector as another.
fn little() -> MemFlagsData {
    MemFlagsData::new().with_endianness(cl::Endianness::Little)
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
