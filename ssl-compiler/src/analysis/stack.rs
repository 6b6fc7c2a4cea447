//! How much stack the deepest chain of calls may need, recursion counted to its limit.
//!
//! It over-estimates: chains through branches that exclude each other are added up, and a recursive
//! group counts all of its functions for each level.

use super::call_graph::CallGraph;
use super::storage::Storage;
use crate::ir::Module;
use crate::runtime::block::MAX_RECURSION;

/// Bytes that a shader may use.
pub const MAX_STACK: u64 = 4 << 20;

/// What a call takes besides arrays: return address, saved registers, some spilled values.
const FRAME: u64 = 256;
/// Bytes for each value that may be spilled at once, a fraction of all.
const SPILL: u64 = 2;

/// Fails with a message where a shader might need more than [`MAX_STACK`].
pub fn check(module: &Module) -> Result<(), String> {
    let graph = CallGraph::of(module);
    let mut deepest = vec![0u64; module.functions.len()];
    for component in &graph.components {
        let levels = if graph.recursive[component[0].index()] { u64::from(MAX_RECURSION) + 1 } else { 1 };
        let own: u64 = component.iter().map(|f| frame(module, f.index())).sum();
        let inside = |f: &crate::ir::FuncId| component.contains(f);
        let below = component
            .iter()
            .flat_map(|f| &graph.callees[f.index()])
            .filter(|f| !inside(f))
            .map(|f| deepest[f.index()])
            .max()
            .unwrap_or(0);
        let total = own.saturating_mul(levels).saturating_add(below);
        component.iter().for_each(|f| deepest[f.index()] = total);
    }
    let needed = deepest[module.entry.index()];
    if needed <= MAX_STACK {
        return Ok(());
    }
    Err(format!(
        "this shader may need {} KiB of memory for its arrays and calls, more than the {} KiB there are",
        needed >> 10,
        MAX_STACK >> 10
    ))
}

fn frame(module: &Module, i: usize) -> u64 {
    let f = &module.functions[i];
    FRAME + SPILL * f.size() as u64 + Storage::of(f).bytes()
}
