//! Arrays in stack slots: filling, copying, reading and writing elements.

use super::function::{Place, Translator, trusted};
use crate::ir::{Const, InstData, Op, Value};
use crate::runtime::BlockContext;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as cl, InstBuilder, types};
use cranelift_module::Module as _;
use std::mem::offset_of;

/// Elements up to which a fill is written out.
const MAX_UNROLLED: u32 = 8;

impl Translator<'_> {
    pub(super) fn address(&mut self, slot: u32) -> cl::Value {
        match self.slots[slot as usize] {
            Place::Stack(slot) => self.b.ins().stack_addr(types::I64, slot, 0),
            Place::Pointer(p) => p,
        }
    }

    pub(super) fn copy(&mut self, target: cl::Value, source: cl::Value, bytes: u32) {
        let copy = self.jit.declare_func_in_func(self.services.copy, self.b.func);
        let bytes = self.b.ins().iconst(types::I64, i64::from(bytes));
        self.b.ins().call(copy, &[target, source, bytes]);
    }

    pub(super) fn copy_slot(&mut self, from: u32, to: u32) {
        if from != to {
            let (source, target) = (self.address(from), self.address(to));
            self.copy(target, source, self.storage.list[to as usize].bytes());
        }
    }

    /// The memory form of an element: bools take a word like everything else.
    fn widen(&mut self, v: Value) -> cl::Value {
        let value = self.get(v);
        if self.f.ty(v) == crate::ir::BOOL { self.b.ins().uextend(types::I32, value) } else { value }
    }

    pub(super) fn array(&mut self, data: &InstData) {
        // Verified code has arrays where arrays belong, and each has a slot.
        let slot_of = |t: &Self, v: Value| t.storage.slot(v).expect("every array has a slot");
        match data.op {
            Op::ArrayNew => {
                let slot = slot_of(self, data.results[0]);
                let base = self.address(slot);
                for (i, &v) in data.args.iter().enumerate() {
                    let value = self.widen(v);
                    self.b.ins().store(trusted(), value, base, 4 * i as i32);
                }
            }
            Op::ArrayFill => self.fill(slot_of(self, data.results[0]), data.args[0]),
            Op::ArrayGet => {
                let address = self.element(slot_of(self, data.args[0]), data.args[1]);
                let result = data.results[0];
                let value = match self.f.ty(result) {
                    crate::ir::BOOL => {
                        let word = self.b.ins().load(types::I32, trusted(), address, 0);
                        self.b.ins().ireduce(types::I8, word)
                    }
                    ty => self.b.ins().load(super::native(ty), trusted(), address, 0),
                };
                self.set(result, value);
            }
            _ => {
                let (old, new) = (slot_of(self, data.args[0]), slot_of(self, data.results[0]));
                self.copy_slot(old, new);
                let address = self.element(new, data.args[1]);
                let value = self.widen(data.args[2]);
                self.b.ins().store(trusted(), value, address, 0);
            }
        }
    }

    fn fill(&mut self, slot: u32, v: Value) {
        let (value, base) = (self.widen(v), self.address(slot));
        let length = self.storage.list[slot as usize].length;
        if length <= MAX_UNROLLED {
            for i in 0..length {
                self.b.ins().store(trusted(), value, base, 4 * i as i32);
            }
            return;
        }
        let word = if self.b.func.dfg.value_type(value) == types::F32 {
            self.b.ins().bitcast(types::I32, cl::MemFlagsData::new(), value)
        } else {
            value
        };
        let fill = self.jit.declare_func_in_func(self.services.fill, self.b.func);
        let length = self.b.ins().iconst(types::I64, i64::from(length));
        self.b.ins().call(fill, &[base, word, length]);
    }

    fn element(&mut self, slot: u32, index: Value) -> cl::Value {
        let length = self.storage.list[slot as usize].length;
        let i = self.clamped(index, length);
        let i = self.b.ins().uextend(types::I64, i);
        let offset = self.b.ins().ishl_imm_s(i, 2);
        let base = self.address(slot);
        self.b.ins().iadd(base, offset)
    }

    /// An index inside the array; one that had to be clamped is counted, off the fast path.
    pub(super) fn clamped(&mut self, index: Value, length: u32) -> cl::Value {
        let i = self.get(index);
        if let Some(Const::Int(c)) = self.constant_of(index)
            && c >= 0
            && (c as u32) < length
        {
            return i;
        }
        let inside = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, i, i64::from(length));
        let count = offset_of!(BlockContext, clamped_indices);
        self.unless(inside, i, count, |t| {
            let zero = t.b.ins().iconst(types::I32, 0);
            let last = t.b.ins().iconst(types::I32, i64::from(length) - 1);
            let i = t.b.ins().smax(i, zero);
            t.b.ins().smin(i, last)
        })
    }

    /// `value` where `fine` holds; otherwise counts and takes what `mend` gives.
    pub(super) fn unless(
        &mut self,
        fine: cl::Value,
        value: cl::Value,
        counter: usize,
        mend: impl FnOnce(&mut Self) -> cl::Value,
    ) -> cl::Value {
        let (bad, merge) = (self.b.create_block(), self.b.create_block());
        let ty = self.b.func.dfg.value_type(value);
        self.b.append_block_param(merge, ty);
        self.b.set_cold_block(bad);
        self.b.ins().brif(fine, merge, &[value.into()], bad, &[]);
        self.b.switch_to_block(bad);
        if let Some(block) = self.block {
            let count = self.b.ins().load(types::I32, trusted(), block.context, counter as i32);
            let count = self.b.ins().iadd_imm_s(count, 1);
            self.b.ins().store(trusted(), count, block.context, counter as i32);
        }
        let mended = mend(self);
        self.b.ins().jump(merge, &[mended.into()]);
        self.b.switch_to_block(merge);
        self.b.block_params(merge)[0]
    }

    fn constant_of(&self, v: Value) -> Option<Const> {
        let value = self.get(v);
        let cl::ValueDef::Result(inst, _) = self.b.func.dfg.value_def(value) else { return None };
        match self.b.func.dfg.insts[inst] {
            cl::InstructionData::UnaryImm { opcode: cl::Opcode::Iconst, imm } => Some(Const::Int(imm.bits() as i32)),
            _ => None,
        }
    }
}
