//! One IR function as LLVM IR: prologue, regions in order, epilogue. The entry wraps its body in the
//! loop over lanes.

use super::BackendError;
use super::unit::Unit;
use crate::analysis::storage::Storage;
use crate::ir::{FuncId, Function, InstData, Op, Region, Value};
use crate::runtime::BlockContext;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, FloatValue, FunctionValue, IntValue, PhiValue, PointerValue};
use std::mem::offset_of;

/// Fills in the body of a declared function.
pub(super) fn translate(unit: &mut Unit<'_, '_>, id: FuncId) -> Result<(), BackendError> {
    let f = unit.module.function(id);
    let function = unit.functions[id.index()];
    let b = unit.context.create_builder();
    b.position_at_end(unit.context.append_basic_block(function, ""));
    let mut t = Translator {
        unit,
        f,
        storage: &unit.storage[id.index()],
        function,
        b,
        values: vec![None; f.types.len()],
        slots: Vec::new(),
        block: None,
    };
    t.make_slots()?;
    if id == unit.module.entry { t.entry() } else { t.inner(unit.reads_block[id.index()]) }
}

/// The parts of the block that a function reads.
#[derive(Clone, Copy)]
pub(super) struct BlockPointers<'ctx> {
    pub context: PointerValue<'ctx>,
    /// Four times the lane.
    pub offset: IntValue<'ctx>,
    /// The lane's word of the first globals row.
    pub globals: PointerValue<'ctx>,
    pub parameters: PointerValue<'ctx>,
}

pub(super) struct Translator<'a, 'ctx> {
    pub unit: &'a Unit<'a, 'ctx>,
    pub f: &'a Function,
    pub storage: &'a Storage,
    pub function: FunctionValue<'ctx>,
    pub b: Builder<'ctx>,
    pub values: Vec<Option<BasicValueEnum<'ctx>>>,
    /// Where each array slot lies: on the stack, or in the caller's memory.
    pub slots: Vec<PointerValue<'ctx>>,
    pub block: Option<BlockPointers<'ctx>>,
}

pub(super) type Made<T = ()> = Result<T, BackendError>;

/// For what verified code cannot contain.
pub(super) fn unexpected<T>() -> Made<T> {
    Err(BackendError("the intermediate code is not what was verified".to_owned()))
}

impl<'ctx> Translator<'_, 'ctx> {
    pub fn get(&self, v: Value) -> Made<BasicValueEnum<'ctx>> {
        self.values[v.index()].map_or_else(unexpected, Ok)
    }

    pub fn int(&self, v: Value) -> Made<IntValue<'ctx>> {
        if let BasicValueEnum::IntValue(x) = self.get(v)? { Ok(x) } else { unexpected() }
    }

    pub fn float(&self, v: Value) -> Made<FloatValue<'ctx>> {
        if let BasicValueEnum::FloatValue(x) = self.get(v)? { Ok(x) } else { unexpected() }
    }

    pub fn set(&mut self, v: Value, value: impl Into<BasicValueEnum<'ctx>>) {
        self.values[v.index()] = Some(value.into());
    }

    /// Functions that read the block are given it.
    pub fn block(&self) -> Made<BlockPointers<'ctx>> {
        self.block.map_or_else(unexpected, Ok)
    }

    pub fn new_block(&self) -> BasicBlock<'ctx> {
        self.unit.context.append_basic_block(self.function, "")
    }

    pub fn current(&self) -> Made<BasicBlock<'ctx>> {
        self.b.get_insert_block().map_or_else(unexpected, Ok)
    }

    pub fn long(&self, x: u64) -> IntValue<'ctx> {
        self.unit.types.long.const_int(x, false)
    }

    pub fn word(&self, x: u32) -> IntValue<'ctx> {
        self.unit.types.int.const_int(u64::from(x), false)
    }

    /// `base` and so many bytes.
    pub fn at(&self, base: PointerValue<'ctx>, bytes: IntValue<'ctx>) -> Made<PointerValue<'ctx>> {
        // SAFETY: offsets are computed here, inside what the base points to.
        Ok(unsafe { self.b.build_in_bounds_gep(self.unit.types.byte, base, &[bytes], "")? })
    }

    pub fn load(
        &self,
        ty: impl Into<BasicTypeEnum<'ctx>>,
        base: PointerValue<'ctx>,
        bytes: usize,
    ) -> Made<BasicValueEnum<'ctx>> {
        let address = self.at(base, self.long(bytes as u64))?;
        Ok(self.b.build_load(ty.into(), address, "")?)
    }

    /// A load of what nobody writes while the shader runs.
    pub fn load_invariant(
        &self,
        ty: impl Into<BasicTypeEnum<'ctx>>,
        base: PointerValue<'ctx>,
        bytes: usize,
    ) -> Made<BasicValueEnum<'ctx>> {
        let value = self.load(ty, base, bytes)?;
        let (kind, node) = self.unit.promises.invariant;
        if let Some(load) = value.as_instruction_value() {
            load.set_metadata(node, kind).or_else(|_| unexpected())?;
        }
        Ok(value)
    }

    pub fn store(&self, value: BasicValueEnum<'ctx>, base: PointerValue<'ctx>, bytes: usize) -> Made {
        let address = self.at(base, self.long(bytes as u64))?;
        self.b.build_store(address, value)?;
        Ok(())
    }

    /// A pointer in the context, to so many bytes that stay as they are.
    pub fn pointer(
        &self,
        context: PointerValue<'ctx>,
        field: usize,
        bytes: usize,
        rows: bool,
    ) -> Made<PointerValue<'ctx>> {
        let promises = &self.unit.promises;
        let value = self.load_invariant(self.unit.types.pointer, context, field)?;
        if let Some(load) = value.as_instruction_value() {
            if bytes > 0 {
                let node = self.unit.context.metadata_node(&[self.long(bytes as u64).into()]);
                load.set_metadata(node, promises.dereferenceable).or_else(|_| unexpected())?;
            }
            if rows {
                load.set_metadata(promises.align_row.1, promises.align_row.0).or_else(|_| unexpected())?;
            }
        }
        if let BasicValueEnum::PointerValue(p) = value { Ok(p) } else { unexpected() }
    }

    fn pointers(&self, context: PointerValue<'ctx>, offset: IntValue<'ctx>) -> Made<BlockPointers<'ctx>> {
        let globals = self.pointer(context, offset_of!(BlockContext, globals), 64 * self.unit.rows, true)?;
        let globals = self.at(globals, offset)?;
        let words = self.unit.module.parameters.len();
        let parameters = self.pointer(context, offset_of!(BlockContext, parameters), 4 * words, false)?;
        Ok(BlockPointers { context, offset, globals, parameters })
    }

    /// Stack memory for the arrays that are not parameters; those get the caller's in `inner`.
    fn make_slots(&mut self) -> Made {
        let incoming: Vec<u32> = self.f.params().iter().filter_map(|&p| self.storage.slot(p)).collect();
        for (i, slot) in self.storage.list.iter().enumerate() {
            let memory = match self.unit.types.word(slot.scalar) {
                _ if incoming.contains(&(i as u32)) => self.unit.types.pointer.const_null(),
                BasicTypeEnum::FloatType(float) => self.b.build_alloca(float.array_type(slot.length), "")?,
                _ => self.b.build_alloca(self.unit.types.int.array_type(slot.length), "")?,
            };
            self.slots.push(memory);
        }
        Ok(())
    }

    /// A function that another one calls.
    fn inner(&mut self, reads_block: bool) -> Made {
        let mut params = self.function.get_params().into_iter();
        if reads_block {
            match (params.next(), params.next()) {
                (Some(BasicValueEnum::PointerValue(context)), Some(BasicValueEnum::IntValue(offset))) => {
                    self.block = Some(self.pointers(context, offset)?);
                }
                _ => return unexpected(),
            }
        }
        for &p in self.f.params() {
            let Some(value) = params.next() else { return unexpected() };
            if let (Some(slot), BasicValueEnum::PointerValue(memory)) = (self.storage.slot(p), value) {
                self.slots[slot as usize] = memory;
            }
            self.set(p, value);
        }
        self.region(self.f.body)?;
        let mut returned = Vec::new();
        for &r in &self.f.region(self.f.body).results {
            match (self.storage.slot(r), r) {
                (Some(slot), _) => {
                    let Some(BasicValueEnum::PointerValue(target)) = params.next() else { return unexpected() };
                    self.copy(target, self.slots[slot as usize], self.storage.list[slot as usize].bytes())?;
                }
                (None, r) => returned.push(self.get(r)?),
            }
        }
        self.give_back(&returned)
    }

    /// The block function: for each lane of the mask, the shader.
    fn entry(&mut self) -> Made {
        let types = self.unit.types;
        let Some(BasicValueEnum::PointerValue(context)) = self.function.get_first_param() else { return unexpected() };
        let mask = self.load_invariant(types.int, context, offset_of!(BlockContext, mask))?.into_int_value();
        let rows = self.f.results.len() - 1;
        let outputs = self.pointer(context, offset_of!(BlockContext, outputs), 64 * rows, true)?;
        let fuel = self.load_invariant(types.int, context, offset_of!(BlockContext, fuel))?.into_int_value();
        let token = self.b.build_int_z_extend(fuel, types.long, "")?;
        let (head, body, done) = (self.current()?, self.new_block(), self.new_block());
        let some = self.b.build_int_compare(IntPredicate::NE, mask, self.word(0), "")?;
        self.b.build_conditional_branch(some, body, done)?;

        self.b.position_at_end(body);
        let left = self.b.build_phi(types.int, "")?;
        left.add_incoming(&[(&mask, head)]);
        let left_mask = left.as_basic_value().into_int_value();
        let offset = self.lane_offset(left_mask)?;
        self.block = Some(self.pointers(context, offset)?);
        let Some(&start) = self.f.params().first() else { return unexpected() };
        self.set(start, token);
        self.region(self.f.body)?;
        self.write_lane(context, self.at(outputs, offset)?, offset)?;
        self.next_lane(&left, body, done)?;

        self.b.position_at_end(done);
        self.b.build_return(None)?;
        Ok(())
    }

    /// Four times the number of the lowest lane.
    fn lane_offset(&self, mask: IntValue<'ctx>) -> Made<IntValue<'ctx>> {
        let types = self.unit.types;
        let count = self.unit.intrinsic("llvm.cttz.i32", &[types.int.into()])?;
        let not_zero = types.bool.const_int(1, false);
        let lane = self.call_direct(count, &[mask.into(), not_zero.into()])?.into_int_value();
        let lane = self.b.build_int_z_extend(lane, types.long, "")?;
        Ok(self.b.build_left_shift(lane, self.long(2), "")?)
    }

    fn write_lane(&self, context: PointerValue<'ctx>, outputs: PointerValue<'ctx>, offset: IntValue<'ctx>) -> Made {
        let results = &self.f.region(self.f.body).results;
        let Some((&token, values)) = results.split_first() else { return unexpected() };
        let control = self.b.build_left_shift(offset, self.long(1), "")?;
        self.store(self.get(token)?, self.at(context, control)?, offset_of!(BlockContext, control))?;
        for (row, &v) in values.iter().enumerate() {
            self.store(self.widened(v)?, outputs, 64 * row)?;
        }
        Ok(())
    }

    fn next_lane(&self, left: &PhiValue<'ctx>, body: BasicBlock<'ctx>, done: BasicBlock<'ctx>) -> Made {
        let mask = left.as_basic_value().into_int_value();
        let less = self.b.build_int_sub(mask, self.word(1), "")?;
        let next = self.b.build_and(mask, less, "")?;
        let more = self.b.build_int_compare(IntPredicate::NE, next, self.word(0), "")?;
        left.add_incoming(&[(&next, self.current()?)]);
        self.b.build_conditional_branch(more, body, done)?;
        Ok(())
    }

    pub fn region(&mut self, region: Region) -> Made {
        let f = self.f;
        f.region(region).insts.iter().try_for_each(|&inst| self.inst(f.inst(inst)))
    }

    fn inst(&mut self, data: &InstData) -> Made {
        match data.op {
            Op::If => self.if_inst(data),
            Op::Loop => self.loop_inst(data),
            Op::Call(callee) => self.call(data, callee),
            Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(data),
            Op::Texture { word, gradient } => self.texture(data, word, gradient),
            Op::Sample { word } => self.texture(data, word, false),
            Op::Print(format) => self.print(data, format),
            Op::External(id) => self.external(data, id),
            Op::Burn(_) | Op::Enter | Op::Leave | Op::Probe(_) => self.token_op(data),
            Op::Keep => self.keep(data.args[0]),
            _ => {
                let value = self.scalar(data)?;
                self.set(data.results[0], value);
                Ok(())
            }
        }
    }
}
