//! Keeps LLVM from taking a choice between two floats for a minimum or a maximum.
//!
//! If a select compares its own two operands, LLVM's passes forget which of them NaN or a tie of zeros gives: they fold
//! `max(1, max(x, 1))` to `max(x, 1)`, which is NaN where x is, and `max(0, max(x, 0))` to −0 where x is. So a fence hides
//! each choice from those that use it. A fence is no instruction, and on x86-64 the choice below it still becomes MINPS or MAXPS,
//! which choose as the language does.
//!
//! On AArch64 the fold is in the choice of instructions as well: a single `min(0, x)` becomes FMINNM, which orders zeros.
//! There the fence is between the operands and the comparison. It costs the instruction, which would be the wrong one.
//!
//! A comparison of `abs(x)` with 0 has LLVM 19 believe that x itself is positive where it holds: in `abs(x) > 0 ? x : 0` and
//! all that is computed of it. So a fence hides `abs(x)` from its users, too.

use super::instructions::Llvm;
use crate::backend::emit::Made;
use crate::ir::Compare;
use inkwell::values::BasicValueEnum;

const INSTRUCTIONS_CHOOSE_AS_WE_DO: bool = cfg!(target_arch = "x86_64");

impl<'ctx> Llvm<'_, 'ctx> {
    /// What a select or a branch chose, as others may see it.
    pub fn chosen(&self, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let is_float = match x {
            BasicValueEnum::FloatValue(_) => true,
            BasicValueEnum::VectorValue(x) => x.get_type().get_element_type().is_float_type(),
            _ => false,
        };
        if is_float && INSTRUCTIONS_CHOOSE_AS_WE_DO { self.fence(x) } else { Ok(x) }
    }

    /// The first operand of a comparison, as the comparison may see it.
    pub fn compared(&self, op: Compare, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let is_equality = matches!(op, Compare::Eq | Compare::Ne);
        if is_equality || INSTRUCTIONS_CHOOSE_AS_WE_DO { Ok(x) } else { self.fence(x) }
    }

    pub fn fence(&self, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        self.intrinsic("llvm.arithmetic.fence", &[x])
    }
}
