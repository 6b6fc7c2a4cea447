//! Calls that a sweep must not leave out though no cotangent reaches them: of functions whose backward derivative, the
//! author's own, does something by itself.
//!
//! A derivative is linear, so that without cotangents there is nothing to sweep. Two kinds of backward derivatives are
//! more than a derivative. One *acts*: it adds to a buffer or prints. The other belongs to a *sink*: no result can have
//! a cotangent, and the arguments get theirs from elsewhere.
//!
//! It over-estimates: callers of such a function are swept everywhere, even if the branch with the call is never taken.

use super::{has_cotangent, is_wanted, token_of};
use crate::analysis::call_graph::CallGraph;
use crate::ir::*;

/// By function of a module, with its callees.
pub(in super::super) struct Acting {
    /// Whether a backward derivative acts: it runs wherever the call did, and gets the cotangents that there are.
    pub acts: Vec<bool>,
    /// Whether arguments may have cotangents though no result has.
    pub sinks: Vec<bool>,
}

impl Acting {
    pub fn of(module: &Module, calls: &CallGraph) -> Acting {
        let backward = |f: &Function| f.custom.backward;
        if module.functions.iter().all(|f| backward(f).is_none()) {
            let none = vec![false; module.functions.len()];
            return Acting { acts: none.clone(), sinks: none };
        }
        let own = |f: usize| backward(&module.functions[f]).is_some_and(|by| acts(module, FuncId(f as u32), by));
        let acting: Vec<bool> = (0..module.functions.len()).map(own).collect();
        let sinks = module.functions.iter().zip(&acting).map(|(f, acts)| *acts || is_sink(f)).collect();
        Acting { acts: reaching(module, calls, acting), sinks: reaching(module, calls, sinks) }
    }
}

/// A function of the author's, with a token, that gives nothing but its effects.
fn is_sink(f: &Function) -> bool {
    let gives = f.results.iter().any(|ty| ty.is_differentiable());
    f.custom.backward.is_some() && !gives && token_of(f, f.params()).is_some()
}

/// Whether a backward derivative does more than to compute. It runs the function itself for its values; the function's
/// own effects are not the derivative's.
fn acts(module: &Module, function: FuncId, backward: FuncId) -> bool {
    let mut seen = vec![false; module.functions.len()];
    let mut work = vec![backward];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let (mut found, mut swept) = (false, false);
        module.function(id).walk(|_, data| {
            found |= matches!(data.op, Op::AddTo(_) | Op::Print(_) | Op::TextureAdjoint { .. });
            swept |= matches!(data.op, Op::Vjp { .. });
            work.extend(data.op.callee().filter(|&callee| id != backward || callee != function));
        });
        // It may take gradients through functions that have such derivatives.
        work.extend(module.function(id).custom.backward);
        // A sweep that is yet to be written adds to the gradients of the look-ups that it passes.
        if found || swept && adds_gradients(module) {
            return true;
        }
    }
    false
}

/// Whether anything in a module has gradients that a sweep adds to.
fn adds_gradients(module: &Module) -> bool {
    let mut any = false;
    for f in &module.functions {
        f.walk(|_, data| any |= is_wanted(module, data.op) || has_cotangent(module, data.op));
    }
    any
}

/// The functions that run one of these. A custom derivative is the derivative, for any calls in the function's body.
fn reaching(module: &Module, calls: &CallGraph, mut found: Vec<bool>) -> Vec<bool> {
    let is_custom = |f: FuncId| module.function(f).custom.functions().next().is_some();
    for component in &calls.components {
        let mut any = false;
        for &f in component.iter().filter(|f| !is_custom(**f)) {
            module.function(f).walk(|_, data| {
                any |= matches!(data.op, Op::Call(callee) if found[callee.index()]);
            });
        }
        component.iter().filter(|f| !is_custom(**f)).for_each(|f| found[f.index()] |= any);
    }
    found
}
