//! Functions that stand in a program for what a host links: calls of the host, with their derivatives.
//!
//! Each is one call, and names the next ones as its custom derivatives. So no pass knows of linking. They thread no token:
//! what is linked spends an allowance of its own.

use super::builder::Builder;
use super::{FuncId, Function, Op, Ty, Values};
use crate::runtime::ExternalRegistry;
use crate::runtime::linked::Facet;
use crate::syntax::ast::Mode;

/// Writes the body of a function that was declared with what its facet takes and gives, and adds its derivatives.
pub fn define(functions: &mut Vec<Function>, id: FuncId, externals: &ExternalRegistry, slot: u32, facet: Facet) {
    let head = functions[id.index()].clone();
    let (takes, gives) = (types_of_params(&head), head.results.clone());
    let (name, precision, params) = (head.name.clone(), head.precision, Values::from_slice(head.params()));
    let mut b = Builder::new(head);
    let results: Values = match externals.linked(slot, facet) {
        Some(external) => {
            let inst = b.push(Op::External(external), params, &gives, &[]);
            Values::from_slice(b.results(inst))
        }
        // Whoever compiles without a host to link anything has no value that would get here.
        None => gives.iter().map(|&ty| b.zero(ty)).collect(),
    };
    functions[id.index()] = b.finish(results);
    for mode in [Mode::Forward, Mode::Backward] {
        let Some(next) = facet.derived(mode) else { continue };
        let (more, derivatives) = if mode == Mode::Forward { (&takes, &gives) } else { (&gives, &takes) };
        let word = if mode == Mode::Forward { "forward" } else { "backward" };
        let custom = FuncId(functions.len() as u32);
        let (takes, gives) = (with(&takes, more), with(&gives, derivatives));
        functions.push(Function::new(format!("{name}.{word}"), &takes, &gives).with_precision(precision));
        match mode {
            Mode::Forward => functions[id.index()].custom.forward = Some(custom),
            Mode::Backward => functions[id.index()].custom.backward = Some(custom),
        }
        define(functions, custom, externals, slot, next);
    }
}

fn types_of_params(f: &Function) -> Vec<Ty> {
    f.params().iter().map(|&v| f.ty(v)).collect()
}

/// Types, and the derivatives of others behind them.
fn with(list: &[Ty], more: &[Ty]) -> Vec<Ty> {
    list.iter().chain(more.iter().filter(|ty| ty.is_differentiable())).copied().collect()
}
