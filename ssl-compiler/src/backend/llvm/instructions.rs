//! Builds LLVM's instructions: one function in the making, and shorthands for values that are scalars or vectors.

use super::BackendError;
use super::module::LlvmModule;
use crate::backend::emit::{Assembler as _, Made, Shape, unexpected};
use crate::ir::Compare;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::core::LLVMBuildInBoundsGEP2;
use inkwell::types::{AsTypeRef, BasicTypeEnum};
use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValue as _, BasicValueEnum, FunctionValue, IntValue, PhiValue,
    PointerValue, ValueKind, VectorValue,
};
use inkwell::{FloatPredicate, IntPredicate};

/// Convention of the functions that only this module calls: more results stay in registers.
pub(super) const FAST: u32 = 8;

pub(super) struct Llvm<'a, 'ctx> {
    pub made: &'a LlvmModule<'a, 'ctx>,
    pub function: FunctionValue<'ctx>,
    pub b: Builder<'ctx>,
    pub blocks: Vec<(BasicBlock<'ctx>, Vec<PhiValue<'ctx>>)>,
}

/// An operation on one or two ints, single or vectors.
macro_rules! ints {
    ($a:expr, |$x:ident| $e:expr) => {
        match $a {
            BasicValueEnum::IntValue($x) => Ok::<BasicValueEnum<'ctx>, BackendError>(($e)?.as_basic_value_enum()),
            BasicValueEnum::VectorValue($x) => Ok(($e)?.as_basic_value_enum()),
            _ => unexpected(),
        }
    };
    ($a:expr, $b:expr, |$x:ident, $y:ident| $e:expr) => {
        match ($a, $b) {
            (BasicValueEnum::IntValue($x), BasicValueEnum::IntValue($y)) => {
                Ok::<BasicValueEnum<'ctx>, BackendError>(($e)?.as_basic_value_enum())
            }
            (BasicValueEnum::VectorValue($x), BasicValueEnum::VectorValue($y)) => Ok(($e)?.as_basic_value_enum()),
            _ => unexpected(),
        }
    };
}

/// The same on floats.
macro_rules! floats {
    ($a:expr, $b:expr, |$x:ident, $y:ident| $e:expr) => {
        match ($a, $b) {
            (BasicValueEnum::FloatValue($x), BasicValueEnum::FloatValue($y)) => {
                Ok::<BasicValueEnum<'ctx>, BackendError>(($e)?.as_basic_value_enum())
            }
            (BasicValueEnum::VectorValue($x), BasicValueEnum::VectorValue($y)) => Ok(($e)?.as_basic_value_enum()),
            _ => unexpected(),
        }
    };
}

pub(super) use {floats, ints};

impl<'a, 'ctx> Llvm<'a, 'ctx> {
    pub fn new(made: &'a LlvmModule<'a, 'ctx>, function: FunctionValue<'ctx>) -> Self {
        let b = made.context.create_builder();
        b.position_at_end(made.context.append_basic_block(function, ""));
        Llvm { made, function, b, blocks: Vec::new() }
    }

    pub fn ty(&self, shape: Shape) -> BasicTypeEnum<'ctx> {
        self.made.types.of(shape, self.lanes())
    }

    pub fn long(&self, x: u64) -> IntValue<'ctx> {
        self.made.types.long.const_int(x, false)
    }

    pub fn word(&self, x: u32) -> IntValue<'ctx> {
        self.made.types.int.const_int(u64::from(x), false)
    }

    pub fn is_wide(v: BasicValueEnum<'ctx>) -> bool {
        matches!(v, BasicValueEnum::VectorValue(_))
    }

    pub fn single(v: BasicValueEnum<'ctx>) -> Made<IntValue<'ctx>> {
        if let BasicValueEnum::IntValue(x) = v { Ok(x) } else { unexpected() }
    }

    pub fn vector(v: BasicValueEnum<'ctx>) -> Made<VectorValue<'ctx>> {
        if let BasicValueEnum::VectorValue(x) = v { Ok(x) } else { unexpected() }
    }

    pub fn at(&self, base: BasicValueEnum<'ctx>, bytes: usize) -> Made<PointerValue<'ctx>> {
        let BasicValueEnum::PointerValue(base) = base else { return unexpected() };
        // SAFETY: offsets are those of fields, rows and elements, inside what the base points to.
        Ok(unsafe { self.b.build_in_bounds_gep(self.made.types.byte, base, &[self.long(bytes as u64)], "")? })
    }

    pub fn call_direct(
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

    /// One of LLVM's own operations whose result has the type of its arguments.
    pub fn intrinsic(&self, name: &'static str, arguments: &[BasicValueEnum<'ctx>]) -> Made<BasicValueEnum<'ctx>> {
        let function = self.made.intrinsic(name, &[arguments[0].get_type()])?;
        self.call_direct(function, arguments)
    }

    /// A shift's count, which LLVM leaves undefined from the width on.
    pub fn count(&self, count: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let most = self.spread(self.word(31).into(), Self::is_wide(count))?;
        ints!(count, most, |a, b| self.b.build_and(a, b, ""))
    }

    pub fn spread(&self, x: BasicValueEnum<'ctx>, wide: bool) -> Made<BasicValueEnum<'ctx>> {
        if !wide {
            return Ok(x);
        }
        let vector = match x {
            BasicValueEnum::FloatValue(f) => f.get_type().vec_type(self.lanes()),
            BasicValueEnum::IntValue(i) => i.get_type().vec_type(self.lanes()),
            _ => return unexpected(),
        };
        let first = self.b.build_insert_element(vector.get_poison(), x, self.word(0), "")?;
        let zeros = self.made.types.int.vec_type(self.lanes()).const_zero();
        Ok(self.b.build_shuffle_vector(first, vector.get_poison(), zeros, "")?.into())
    }

    /// The addresses of words at wide indices.
    pub fn addresses(&self, base: BasicValueEnum<'ctx>, index: BasicValueEnum<'ctx>) -> Made<VectorValue<'ctx>> {
        let index = self.b.build_int_z_extend(Self::vector(index)?, self.made.types.long.vec_type(self.lanes()), "")?;
        let mut indices = [index.as_value_ref()];
        // SAFETY: live values of one context; an address for each index is what the instruction gives.
        Ok(unsafe {
            VectorValue::new(LLVMBuildInBoundsGEP2(
                self.b.as_mut_ptr(),
                self.made.types.int.as_type_ref(),
                base.as_value_ref(),
                indices.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        })
    }
}

pub(super) fn float_predicate(op: Compare) -> FloatPredicate {
    match op {
        Compare::Eq => FloatPredicate::OEQ,
        Compare::Ne => FloatPredicate::UNE,
        Compare::Lt => FloatPredicate::OLT,
        Compare::Le => FloatPredicate::OLE,
        Compare::Gt => FloatPredicate::OGT,
        Compare::Ge => FloatPredicate::OGE,
    }
}

pub(super) fn int_predicate(op: Compare) -> IntPredicate {
    match op {
        Compare::Eq => IntPredicate::EQ,
        Compare::Ne => IntPredicate::NE,
        Compare::Lt => IntPredicate::SLT,
        Compare::Le => IntPredicate::SLE,
        Compare::Gt => IntPredicate::SGT,
        Compare::Ge => IntPredicate::SGE,
    }
}
