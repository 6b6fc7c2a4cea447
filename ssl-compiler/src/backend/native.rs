//! What back ends that make machine code share: the addresses of the runtime's functions, and the analysis of which
//! functions need the block.

use crate::analysis::call_graph::CallGraph;
use crate::ir::{Function, Module};
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

/// What `Op::Fma` calls where the processor has no instruction for it.
pub extern "C" fn fused(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
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
