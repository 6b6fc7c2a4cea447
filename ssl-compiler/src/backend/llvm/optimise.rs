//! Which of LLVM's passes run at each level: few, by name, each of them measured. The module is already optimised; the
//! passes do what the intermediate code cannot express.

use super::{BackendError, error};
use crate::backend::OptLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

/// The passes of a level, in LLVM's notation.
///
/// `function-attrs` finds out which functions are pure, callees first, so that `licm` can move calls that
/// give every lane the same out of the loop over lanes. Inlining makes small loops faster, and functions
/// that are called often too large for the register allocator; so only the last level does it. The SLP
/// vectoriser, most of the time of LLVM's own pipelines, is in none.
fn passes(opt: OptLevel) -> &'static str {
    match opt {
        OptLevel::O0 => "",
        OptLevel::O1 | OptLevel::O2 => concat!(
            "cgscc(function-attrs,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)),",
            "function(loop-mssa(licm),early-cse)"
        ),
        OptLevel::O3 => concat!(
            "cgscc(inline,function-attrs,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)),",
            "function(loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,adce)"
        ),
    }
}

pub(super) fn run(module: &Module<'_>, machine: &TargetMachine, opt: OptLevel) -> Result<(), BackendError> {
    if cfg!(debug_assertions) {
        module.verify().map_err(error)?;
    }
    match passes(opt) {
        "" => Ok(()),
        passes => module.run_passes(passes, machine, PassBuilderOptions::create()).map_err(error),
    }
}
