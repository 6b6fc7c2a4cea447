//! Arrays in stack slots: filling, copying, reading and writing elements.

use super::function::{Made, Translator, unexpected};
use super::unit::Effect;
use crate::ir::{InstData, Op, Value};
use crate::runtime::BlockContext;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};
use std::mem::offset_of;

/// Elements up to which a fill is written out.
const MAX_UNROLLED: u32 = 8;

impl<'ctx> Translator<'_, 'ctx> {
    pub(super) fn slot_of(&self, v: Value) -> Made<u32> {
        self.storage.slot(v).map_or_else(unexpected, Ok)
    }

    pub(super) fn copy(&self, target: PointerValue<'ctx>, source: PointerValue<'ctx>, bytes: u32) -> Made {
        self.b.build_memcpy(target, 4, source, 4, self.long(u64::from(bytes)))?;
        Ok(())
    }

    pub(super) fn copy_slot(&self, from: u32, to: u32) -> Made {
        if from == to {
            return Ok(());
        }
        let bytes = self.storage.list[to as usize].bytes();
        self.copy(self.slots[to as usize], self.slots[from as usize], bytes)
    }

    pub(super) fn array(&mut self, data: &InstData) -> Made {
        match data.op {
            Op::ArrayNew => {
                let base = self.slots[self.slot_of(data.results[0])? as usize];
                for (i, &v) in data.args.iter().enumerate() {
                    self.store(self.widened(v)?, base, 4 * i)?;
                }
            }
            Op::ArrayFill => self.fill(self.slot_of(data.results[0])?, data.args[0])?,
            Op::ArrayGet => {
                let slot = self.slot_of(data.args[0])?;
                let address = self.element(slot, data.args[1])?;
                let result = data.results[0];
                let word = self.b.build_load(self.memory_type(result), address, "")?;
                let value = self.narrowed(result, word)?;
                self.set(result, value);
            }
            _ => {
                let (old, new) = (self.slot_of(data.args[0])?, self.slot_of(data.results[0])?);
                self.copy_slot(old, new)?;
                let address = self.element(new, data.args[1])?;
                self.b.build_store(address, self.widened(data.args[2])?)?;
            }
        }
        Ok(())
    }

    fn fill(&self, slot: u32, v: Value) -> Made {
        let (value, base) = (self.widened(v)?, self.slots[slot as usize]);
        let length = self.storage.list[slot as usize].length;
        if length <= MAX_UNROLLED {
            return (0..length).try_for_each(|i| self.store(value, base, 4 * i as usize));
        }
        let types = self.unit.types;
        let word = self.b.build_bit_cast(value, types.int, "")?;
        let is_zero = matches!(word, BasicValueEnum::IntValue(w) if w.get_zero_extended_constant() == Some(0));
        if is_zero {
            self.b.build_memset(base, 4, types.byte.const_zero(), self.long(4 * u64::from(length)))?;
            return Ok(());
        }
        let ty =
            self.unit.context.void_type().fn_type(&[types.pointer.into(), types.int.into(), types.long.into()], false);
        let fill = self.unit.service("ssl_fill", ty, Effect::WritesArgument);
        self.b.build_call(fill, &[base.into(), word.into(), self.long(u64::from(length)).into()], "")?;
        Ok(())
    }

    fn element(&mut self, slot: u32, index: Value) -> Made<PointerValue<'ctx>> {
        let length = self.storage.list[slot as usize].length;
        let i = self.clamped(index, length)?;
        let i = self.b.build_int_z_extend(i, self.unit.types.long, "")?;
        let base = self.slots[slot as usize];
        // SAFETY: the index was clamped into the array.
        Ok(unsafe { self.b.build_in_bounds_gep(self.unit.types.int, base, &[i], "")? })
    }

    /// An index inside the array; one that had to be clamped is counted, off the fast path.
    pub(super) fn clamped(&mut self, index: Value, length: u32) -> Made<IntValue<'ctx>> {
        let i = self.int(index)?;
        if i.get_zero_extended_constant().is_some_and(|c| c < u64::from(length)) {
            return Ok(i);
        }
        let inside = self.b.build_int_compare(IntPredicate::ULT, i, self.word(length), "")?;
        let count = offset_of!(BlockContext, clamped_indices);
        let mended = self.unless(inside, i.into(), count, |t| {
            let negative = t.b.build_int_compare(IntPredicate::SLT, i, t.word(0), "")?;
            Ok(t.b.build_select(negative, t.word(0), t.word(length - 1), "")?)
        })?;
        Ok(mended.into_int_value())
    }

    /// `value` where `fine` holds; otherwise counts and takes what `mend` gives.
    pub(super) fn unless(
        &mut self,
        fine: IntValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        counter: usize,
        mend: impl FnOnce(&Self) -> Made<BasicValueEnum<'ctx>>,
    ) -> Made<BasicValueEnum<'ctx>> {
        let (before, bad, merge) = (self.current()?, self.new_block(), self.new_block());
        let branch = self.b.build_conditional_branch(fine, merge, bad)?;
        let (kind, weights) = self.unit.promises.unlikely;
        branch.set_metadata(weights, kind).or_else(|_| unexpected())?;
        self.b.position_at_end(bad);
        let context = self.block()?.context;
        let count = self.load(self.unit.types.int, context, counter)?.into_int_value();
        let count = self.b.build_int_add(count, self.word(1), "")?;
        self.store(count.into(), context, counter)?;
        let mended = mend(self)?;
        self.b.build_unconditional_branch(merge)?;
        self.b.position_at_end(merge);
        let phi = self.b.build_phi(value.get_type(), "")?;
        phi.add_incoming(&[(&value, before), (&mended, bad)]);
        Ok(phi.as_basic_value())
    }
}
