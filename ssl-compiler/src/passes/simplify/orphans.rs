//! Pops of which no push is left. If a branch that is never taken held all pushes of a site, then nothing gets to its
//! pops, either, but the condition in front of them may be one that nobody can decide: it was handed over. They become
//! zeros, which is what a pop on an empty tape gives.

use crate::ir::*;
use std::collections::HashSet;

pub(super) fn remove(module: &mut Module) {
    let mut pushed = HashSet::new();
    let mut popped = HashSet::new();
    for f in &module.functions {
        f.walk(|_, data| match data.op {
            Op::Push(site) => drop(pushed.insert(site)),
            Op::Pop(site) => drop(popped.insert(site)),
            _ => {}
        });
    }
    if popped.iter().any(|site| !pushed.contains(site)) {
        module.functions.iter_mut().for_each(|f| function(f, &pushed));
    }
}

fn function(f: &mut Function, pushed: &HashSet<Site>) {
    let mut tokens: Vec<(Value, Value)> = Vec::new();
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            let data = f.inst(inst).clone();
            match data.op {
                Op::Pop(site) if !pushed.contains(&site) => {
                    tokens.push((data.results[0], data.args[0]));
                    data.results[1..].iter().for_each(|&v| zero(f, v, data.span, &mut insts));
                }
                _ => insts.push(inst),
            }
        }
        f.regions[region].insts = insts;
    }
    // One after the other, as a pop may take the token of the pop before.
    for at in 0..tokens.len() {
        let (old, new) = tokens[at];
        let instead = |v: &mut Value| *v = if *v == old { new } else { *v };
        f.insts.iter_mut().for_each(|data| data.args.iter_mut().for_each(instead));
        f.regions.iter_mut().for_each(|region| region.results.iter_mut().for_each(instead));
        tokens.iter_mut().for_each(|(_, new)| instead(new));
    }
}

/// Defines a value as zero.
fn zero(f: &mut Function, value: Value, span: crate::source::Span, insts: &mut Vec<Inst>) {
    let ty = f.ty(value);
    let mut define = |f: &mut Function, op: Op, args: &[Value], value: Value| {
        let (args, results) = (Values::from_slice(args), std::iter::once(value).collect());
        insts.push(f.new_inst(InstData { op, args, results, regions: Default::default(), span }));
    };
    match ty {
        Ty::Scalar(s) => define(f, Op::Const(Const::zero(s)), &[], value),
        Ty::Array(s, _) => {
            let element = f.new_value(Ty::Scalar(s));
            define(f, Op::Const(Const::zero(s)), &[], element);
            define(f, Op::ArrayFill, &[element], value);
        }
        // No token goes on the tape.
        Ty::Token => {}
    }
}
