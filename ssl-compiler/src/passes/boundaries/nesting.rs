//! Which functions are differentiated more than once.
//!
//! Integrals in these need the parts of second derivatives. Over-estimates: a derivative along the screen anywhere
//! counts as one around everything, and calls count whether or not they are made.

use crate::analysis::call_graph::CallGraph;
use crate::ir::{Module, Op};

/// By function, whether a derivative of its derivative may be asked for.
pub(super) fn of(module: &Module) -> Vec<bool> {
    let calls = CallGraph::of(module);
    let mut taken = Vec::new();
    let mut along_screen = false;
    for (i, f) in module.functions.iter().enumerate() {
        f.walk(|_, data| match data.op {
            Op::Jvp { function, .. } | Op::Vjp { function, .. } => taken.push((i, function.index())),
            Op::Derivative(_) => along_screen = true,
            _ => {}
        });
    }
    let hosted = !module.gradients.is_empty();
    if along_screen && (hosted || !module.integrals.is_empty()) {
        return vec![true; module.functions.len()];
    }
    let inside = reached(&calls, taken.iter().map(|&(_, target)| target));
    let nested = taken.iter().filter(|&&(holder, _)| hosted || inside[holder]).map(|&(_, target)| target);
    reached(&calls, nested)
}

/// Some functions and their callees.
fn reached(calls: &CallGraph, from: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut reached = vec![false; calls.callees.len()];
    let mut work: Vec<usize> = from.collect();
    while let Some(f) = work.pop() {
        if !std::mem::replace(&mut reached[f], true) {
            work.extend(calls.callees[f].iter().map(|callee| callee.index()));
        }
    }
    reached
}
