//! Calls between the shader's functions, and of the math library.

use super::BackendError;
use super::function::{Made, Translator, unexpected};
use super::unit::{Effect, FAST};
use crate::backend::native;
use crate::ir::{Float1, Float2, FuncId, InstData};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FloatValue, FunctionValue, ValueKind};

impl<'ctx> Translator<'_, 'ctx> {
    /// A call that gives a value.
    pub(super) fn call_direct(
        &self,
        callee: FunctionValue<'ctx>,
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Made<BasicValueEnum<'ctx>> {
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = arguments.iter().map(|&a| a.into()).collect();
        match self.b.build_call(callee, &arguments, "")?.try_as_basic_value() {
            ValueKind::Basic(value) => Ok(value),
            ValueKind::Instruction(_) => unexpected(),
        }
    }

    /// A math function that is no instruction.
    pub(super) fn math1(&self, op: Float1, x: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        let name = native::UNARY.iter().find(|(o, ..)| *o == op).map(|(_, name, _)| *name);
        self.math(name, &[x.into()])
    }

    pub(super) fn math2(&self, op: Float2, x: FloatValue<'ctx>, y: FloatValue<'ctx>) -> Made<FloatValue<'ctx>> {
        let name = native::BINARY.iter().find(|(o, ..)| *o == op).map(|(_, name, _)| *name);
        self.math(name, &[x.into(), y.into()])
    }

    pub(super) fn cubic_root(&self, operands: &[BasicValueEnum<'ctx>]) -> Made<FloatValue<'ctx>> {
        self.math(Some(native::CUBIC_ROOT.0), operands)
    }

    /// By the runtime's own names, in which LLVM sees no function of the C library that it might fold.
    fn math(&self, name: Option<&'static str>, arguments: &[BasicValueEnum<'ctx>]) -> Made<FloatValue<'ctx>> {
        let name = name.ok_or_else(|| BackendError("a math function has no symbol".to_owned()))?;
        let float = self.unit.types.float;
        let ty = float.fn_type(&vec![float.into(); arguments.len()], false);
        let function = self.unit.service(name, ty, Effect::Nothing);
        Ok(self.call_direct(function, arguments)?.into_float_value())
    }

    pub(super) fn call(&mut self, data: &InstData, callee: FuncId) -> Made {
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        if self.unit.reads_block[callee.index()] {
            let block = self.block()?;
            arguments.extend([BasicMetadataValueEnum::from(block.context), block.offset.into()]);
        }
        for &a in &data.args {
            match self.storage.slot(a) {
                Some(slot) => arguments.push(self.slots[slot as usize].into()),
                None => arguments.push(self.get(a)?.into()),
            }
        }
        let outgoing = data.results.iter().filter_map(|&r| self.storage.slot(r));
        arguments.extend(outgoing.map(|slot| BasicMetadataValueEnum::from(self.slots[slot as usize])));
        let call = self.b.build_call(self.unit.functions[callee.index()], &arguments, "")?;
        call.set_call_convention(FAST);
        let ValueKind::Basic(returned) = call.try_as_basic_value() else { return Ok(()) };
        self.take_back(&data.results, returned)
    }
}
