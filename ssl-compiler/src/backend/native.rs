//! What back ends that make machine code share: where the runtime's functions lie, and which of a
//! module's functions need the block.

use crate::analysis::call_graph::CallGraph;
use crate::ir::{Float1, Float2, Function, Module};
use crate::runtime::{BlockContext, math};

/// The compiled entry.
pub type BlockFunction = unsafe extern "C" fn(*mut BlockContext);

pub unsafe extern "C" fn copy_words(target: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: compiled code passes two different slots of at least this size.
    unsafe { std::ptr::copy_nonoverlapping(source, target, bytes) }
}

pub unsafe extern "C" fn fill_words(target: *mut u32, word: u32, length: usize) {
    // SAFETY: compiled code passes a slot of this many words.
    unsafe { std::slice::from_raw_parts_mut(target, length) }.fill(word);
}

/// The functions of one float that are no instruction.
pub const UNARY: &[(Float1, &str, extern "C" fn(f32) -> f32)] = &[
    (Float1::Round, "ssl_round", math::ssl_round),
    (Float1::Sin, "ssl_sin", math::ssl_sin),
    (Float1::Cos, "ssl_cos", math::ssl_cos),
    (Float1::Tan, "ssl_tan", math::ssl_tan),
    (Float1::Asin, "ssl_asin", math::ssl_asin),
    (Float1::Acos, "ssl_acos", math::ssl_acos),
    (Float1::Atan, "ssl_atan", math::ssl_atan),
    (Float1::Sinh, "ssl_sinh", math::ssl_sinh),
    (Float1::Cosh, "ssl_cosh", math::ssl_cosh),
    (Float1::Tanh, "ssl_tanh", math::ssl_tanh),
    (Float1::Asinh, "ssl_asinh", math::ssl_asinh),
    (Float1::Acosh, "ssl_acosh", math::ssl_acosh),
    (Float1::Atanh, "ssl_atanh", math::ssl_atanh),
    (Float1::Exp, "ssl_exp", math::ssl_exp),
    (Float1::Exp2, "ssl_exp2", math::ssl_exp2),
    (Float1::Expm1, "ssl_expm1", math::ssl_expm1),
    (Float1::Log, "ssl_log", math::ssl_log),
    (Float1::Log2, "ssl_log2", math::ssl_log2),
    (Float1::Log10, "ssl_log10", math::ssl_log10),
    (Float1::Log1p, "ssl_log1p", math::ssl_log1p),
    (Float1::Cbrt, "ssl_cbrt", math::ssl_cbrt),
    (Float1::Erf, "ssl_erf", math::ssl_erf),
    (Float1::Erfc, "ssl_erfc", math::ssl_erfc),
];

pub const BINARY: &[(Float2, &str, extern "C" fn(f32, f32) -> f32)] = &[
    (Float2::Fmod, "ssl_fmod", math::ssl_fmod),
    (Float2::Pow, "ssl_pow", math::ssl_pow),
    (Float2::Atan2, "ssl_atan2", math::ssl_atan2),
    (Float2::Hypot, "ssl_hypot", math::ssl_hypot),
];

pub fn unary_symbol(op: Float1) -> Option<&'static str> {
    UNARY.iter().find(|(o, ..)| *o == op).map(|(_, name, _)| *name)
}

pub fn binary_symbol(op: Float2) -> Option<&'static str> {
    BINARY.iter().find(|(o, ..)| *o == op).map(|(_, name, _)| *name)
}

/// What `Op::CubicRoot` calls.
pub const CUBIC_ROOT: (&str, extern "C" fn(f32, f32, f32, f32, f32) -> f32) = ("ssl_cubic_root", math::ssl_cubic_root);

/// Functions that read globals, parameters or textures, or count something, themselves or by a call.
pub fn block_readers(module: &Module) -> Vec<bool> {
    let graph = CallGraph::of(module);
    let mut readers: Vec<bool> = module.functions.iter().map(reads_block).collect();
    // Callees come first, and the functions of a cycle all reach each other.
    for cycle in &graph.components {
        let reads =
            cycle.iter().any(|f| readers[f.index()] || graph.callees[f.index()].iter().any(|c| readers[c.index()]));
        cycle.iter().for_each(|f| readers[f.index()] = reads);
    }
    readers
}

fn reads_block(f: &Function) -> bool {
    let mut found = false;
    f.walk(|_, data| found |= data.op.needs_block());
    found
}
