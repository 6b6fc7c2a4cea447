//! Functions that only compute: the same arguments give the same results, and nothing else happens, but for counting.
//!
//! A fact for each function, found callees first. It over-estimates what a call may do: a function that passes a token
//! through, a loop or a recursion makes it impure, though many such loops have no effect but on the fuel.

use super::call_graph::CallGraph;
use crate::ir::facts::Reach;
use crate::ir::{FuncId, Function, Module, Op, Ty};

/// What there is to know of a call of a pure function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pure {
    /// What it costs, in the prices of `ir::facts`: both sides of each branch.
    pub work: u64,
    /// Whether something is counted where an argument is not as it should be.
    pub counts: bool,
}

/// By function; `None` where it does more than compute.
pub fn of(module: &Module) -> Vec<Option<Pure>> {
    let graph = CallGraph::of(module);
    let mut found = vec![None; module.functions.len()];
    for &id in graph.components.iter().flatten() {
        if !graph.recursive[id.index()] {
            found[id.index()] = judge(module.function(id), &found);
        }
    }
    found
}

fn judge(f: &Function, callees: &[Option<Pure>]) -> Option<Pure> {
    if f.params().iter().any(|&p| f.ty(p) == Ty::Token) || f.results.contains(&Ty::Token) {
        return None;
    }
    let mut pure = Some(Pure { work: 1, counts: false });
    f.walk(|_, data| {
        let (work, counts) = match data.op {
            Op::Call(callee) => match callees[callee.index()] {
                Some(callee) => (callee.work + 1, callee.counts),
                None => return pure = None,
            },
            Op::Loop(_) => return pure = None,
            op => match op.facts().reach {
                Reach::Host | Reach::Token | Reach::Tape | Reach::Stays => return pure = None,
                _ => (u64::from(op.facts().price), op.counts()),
            },
        };
        if let Some(sum) = &mut pure {
            sum.work = sum.work.saturating_add(work);
            sum.counts |= counts;
        }
    });
    pure
}

/// The fact about what an operation calls.
pub fn called(found: &[Option<Pure>], op: Op) -> Option<Pure> {
    match op {
        Op::Call(FuncId(callee)) => found[callee as usize],
        _ => None,
    }
}
