//! The author's backward derivative as a sweep calls it: for cotangents alone.
//!
//! The replacement of `vjp` of a function gives the function's values, too, and calls the function for them. A sweep
//! comes by after the function ran. A second run would cost as much again, and would add to buffers and print twice.

use super::Output;
use crate::ir::*;
use crate::passes::ad::customs::zero;
use std::collections::HashSet;

impl Output<'_> {
    /// The backward derivative of a function without the call that gives the function's values, which become 0.
    pub(super) fn alone(&mut self, function: FuncId, backward: FuncId) -> FuncId {
        if let Some(&known) = self.alone.get(&backward) {
            return known;
        }
        let source = self.module.function(backward);
        let id = match own_call(source, function, self.module.function(function).results.len()) {
            Some(inst) => {
                let name = self.name(&source.name, "alone");
                let written = without(Function { name, ..source.clone() }, inst);
                let id = self.reserve();
                self.fill(id, written);
                id
            }
            None => backward,
        };
        self.alone.insert(backward, id);
        id
    }
}

/// The call that is there for the first results and for the token only.
fn own_call(f: &Function, callee: FuncId, values: usize) -> Option<Inst> {
    let body = f.region(f.body);
    let inst = body.insts.iter().copied().find(|&i| f.inst(i).op == Op::Call(callee))?;
    let data = f.inst(inst);
    let given: HashSet<Value> = data.results.iter().copied().filter(|&v| f.ty(v) != Ty::Token).collect();
    let mut used = body.results.iter().skip(values).any(|v| given.contains(v));
    f.walk(|_, data| {
        let regions = data.regions.iter().flat_map(|&r| &f.region(r).results);
        used |= data.args.iter().chain(regions).any(|v| given.contains(v));
    });
    (!used).then_some(inst)
}

fn without(mut f: Function, call: Inst) -> Function {
    let (data, body) = (f.inst(call).clone(), f.body);
    let mut insts = std::mem::take(&mut f.regions[body.index()].insts);
    insts.retain(|&inst| inst != call);
    for &result in &data.results {
        let instead = match f.ty(result) {
            // A call that gives a token takes one, and both come first.
            Ty::Token => data.args[0],
            ty => zero(&mut f, ty, data.span, &mut insts),
        };
        let rename = |v: &mut Value| {
            if *v == result {
                *v = instead;
            }
        };
        f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(rename);
        f.regions.iter_mut().flat_map(|region| &mut region.results).for_each(rename);
        f.bindings.retain(|b| b.value != result);
    }
    f.regions[body.index()].insts = insts;
    f
}
