//! One IR function as Cranelift IR: prologue, regions in order, epilogue. The entry wraps its body in
//! the loop over lanes.

use super::{Driver, native};
use crate::analysis::storage::Storage;
use crate::ir::{FuncId, Function, InstData, Module, Op, Region, Ty, Value};
use crate::runtime::BlockContext;
use cranelift_codegen::ir::{self as cl, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId as NativeId, Module as _};
use std::mem::offset_of;

/// Translates a function into the driver's context.
pub(super) fn translate(driver: &mut Driver<'_>, id: FuncId) {
    let f = driver.module.function(id);
    let builder = FunctionBuilder::new(&mut driver.context.func, &mut driver.builder_context);
    let mut t = Translator {
        module: driver.module,
        f,
        storage: &driver.storage[id.index()],
        reads_block: &driver.reads_block,
        ids: &driver.ids,
        services: &driver.services,
        jit: &mut driver.jit,
        b: builder,
        values: vec![None; f.types.len()],
        slots: Vec::new(),
        block: None,
    };
    if id == driver.module.entry {
        t.entry()
    } else {
        t.inner(driver.reads_block[id.index()])
    }
    t.b.seal_all_blocks();
    let Translator { b, jit, .. } = t;
    b.finalize(jit.target_config());
}

/// The parts of the block that a function reads.
#[derive(Clone, Copy)]
pub(super) struct BlockPointers {
    pub context: cl::Value,
    /// Four times the lane.
    pub offset: cl::Value,
    /// The lane's word of the first globals row.
    pub globals: cl::Value,
    pub parameters: cl::Value,
}

pub(super) struct Translator<'a> {
    pub module: &'a Module,
    pub f: &'a Function,
    pub storage: &'a Storage,
    pub reads_block: &'a [bool],
    pub ids: &'a [NativeId],
    pub services: &'a super::calls::Services,
    pub jit: &'a mut cranelift_jit::JITModule,
    pub b: FunctionBuilder<'a>,
    pub values: Vec<Option<cl::Value>>,
    /// Where each array slot lies.
    pub slots: Vec<Place>,
    pub block: Option<BlockPointers>,
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    Stack(cl::StackSlot),
    /// A parameter: the caller's memory.
    Pointer(cl::Value),
}

/// Loads and stores here neither trap nor are misaligned.
pub(super) fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

impl Translator<'_> {
    pub fn get(&self, v: Value) -> cl::Value {
        // Verified code defines values before it uses them.
        self.values[v.index()].expect("a definition comes before its uses")
    }

    pub fn set(&mut self, v: Value, value: cl::Value) {
        self.values[v.index()] = Some(value);
    }

    fn field(&mut self, context: cl::Value, offset: usize, ty: cl::Type) -> cl::Value {
        self.b.ins().load(ty, trusted(), context, offset as i32)
    }

    fn pointers(&mut self, context: cl::Value, offset: cl::Value) -> BlockPointers {
        let globals = self.field(context, offset_of!(BlockContext, globals), types::I64);
        let globals = self.b.ins().iadd(globals, offset);
        let parameters = self.field(context, offset_of!(BlockContext, parameters), types::I64);
        BlockPointers { context, offset, globals, parameters }
    }

    /// Stack memory for the arrays that are not parameters.
    fn make_slots(&mut self) {
        for slot in &self.storage.list {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, slot.bytes(), 4);
            let slot = self.b.create_sized_stack_slot(data);
            self.slots.push(Place::Stack(slot));
        }
    }

    /// A function that another one calls.
    fn inner(&mut self, reads_block: bool) {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let params = self.b.block_params(entry).to_vec();
        let mut params = params.into_iter();
        self.make_slots();
        if reads_block && let (Some(context), Some(offset)) = (params.next(), params.next()) {
            self.block = Some(self.pointers(context, offset));
        }
        for &p in self.f.params() {
            let Some(value) = params.next() else { continue };
            self.set(p, value);
            if let Some(slot) = self.storage.slot(p) {
                self.slots[slot as usize] = Place::Pointer(value);
            }
        }
        self.region(self.f.body);
        let results = self.f.region(self.f.body).results.clone();
        let mut returned = Vec::new();
        for r in results {
            match self.storage.slot(r) {
                Some(slot) => {
                    if let Some(target) = params.next() {
                        let source = self.address(slot);
                        self.copy(target, source, self.storage.list[slot as usize].bytes());
                    }
                }
                None => returned.push(self.get(r)),
            }
        }
        self.b.ins().return_(&returned);
    }

    /// The block function: for each lane of the mask, the shader.
    fn entry(&mut self) {
        let entry = self.b.create_block();
        let (head, body, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_params_for_function_params(entry);
        self.b.append_block_param(head, types::I32);
        self.b.switch_to_block(entry);
        let context = self.b.block_params(entry)[0];
        self.make_slots();
        let mask = self.field(context, offset_of!(BlockContext, mask), types::I32);
        let outputs = self.field(context, offset_of!(BlockContext, outputs), types::I64);
        self.b.ins().jump(head, &[mask.into()]);

        self.b.switch_to_block(head);
        let mask = self.b.block_params(head)[0];
        self.b.ins().brif(mask, body, &[], done, &[]);

        self.b.switch_to_block(body);
        let lane = self.b.ins().ctz(mask);
        let lane = self.b.ins().uextend(types::I64, lane);
        let offset = self.b.ins().ishl_imm_s(lane, 2);
        self.block = Some(self.pointers(context, offset));
        let control = self.b.ins().ishl_imm_s(lane, 3);
        let control = self.b.ins().iadd(context, control);
        let fuel = self.field(context, offset_of!(BlockContext, fuel), types::I32);
        let token = self.b.ins().uextend(types::I64, fuel);
        let params = self.f.params().to_vec();
        self.set(params[0], token);
        self.region(self.f.body);
        let results = self.f.region(self.f.body).results.clone();
        let token = self.get(results[0]);
        self.b.ins().store(trusted(), token, control, offset_of!(BlockContext, control) as i32);
        let rows = self.b.ins().iadd(outputs, offset);
        for (row, &r) in results[1..].iter().enumerate() {
            let mut value = self.get(r);
            if self.f.ty(r) == crate::ir::BOOL {
                value = self.b.ins().uextend(types::I32, value);
            }
            self.b.ins().store(trusted(), value, rows, 64 * row as i32);
        }
        let less = self.b.ins().iadd_imm_s(mask, -1);
        let next = self.b.ins().band(mask, less);
        self.b.ins().jump(head, &[next.into()]);

        self.b.switch_to_block(done);
        self.b.ins().return_(&[]);
    }

    pub fn region(&mut self, region: Region) {
        let f = self.f;
        for &inst in &f.region(region).insts {
            self.inst(f.inst(inst));
        }
    }

    fn inst(&mut self, data: &InstData) {
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
                let value = self.scalar(data);
                self.set(data.results[0], value);
            }
        }
    }

    /// Native types of values that are no arrays.
    pub fn native_types(&self, values: &[Value]) -> Vec<cl::Type> {
        values.iter().map(|&v| self.f.ty(v)).filter(|ty| !matches!(ty, Ty::Array(..))).map(native).collect()
    }
}
