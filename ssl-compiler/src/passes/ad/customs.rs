//! Derivatives of functions that have custom ones: calls of these, or of their transposes.
//!
//! A custom derivative *is* the derivative, whatever the body of the function says. It is linear in what it takes besides
//! the function's arguments, so that its transpose is the derivative in the other direction: from J it makes Jᵀ, and from
//! Jᵀ it makes J.

use crate::ir::*;

/// Replaces each `jvp` and `vjp` of a function with custom derivatives.
pub(super) fn resolve(module: &mut Module) {
    let customs: Vec<Custom> = module.functions.iter().map(|f| f.custom).collect();
    if customs.iter().all(|c| c.functions().next().is_none()) {
        return;
    }
    for id in 0..module.functions.len() {
        for region in 0..module.functions[id].regions.len() {
            let insts = std::mem::take(&mut module.functions[id].regions[region].insts);
            let mut out = Vec::with_capacity(insts.len());
            for inst in insts {
                let op = module.functions[id].inst(inst).op;
                let (direct, other) = match op {
                    Op::Jvp { function, .. } => (customs[function.index()].forward, customs[function.index()].backward),
                    Op::Vjp { function, .. } => (customs[function.index()].backward, customs[function.index()].forward),
                    _ => (None, None),
                };
                match (direct, other) {
                    (Some(derivative), _) => module.functions[id].insts[inst.index()].op = Op::Call(derivative),
                    (None, Some(derivative)) => transpose(module, FuncId(id as u32), inst, derivative, &mut out),
                    (None, None) => {}
                }
                out.push(inst);
            }
            module.functions[id].regions[region].insts = out;
        }
    }
}

/// What a `vjp` of a derivative in one direction takes, so that it becomes that in the other one. See
/// `calls::transposed`, which writes the same into new code.
fn transpose(module: &mut Module, id: FuncId, inst: Inst, derivative: FuncId, out: &mut Vec<Inst>) {
    let head = module.function(derivative);
    let takes: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
    let gives = head.results.clone();
    let Some(of) = module.function(id).inst(inst).op.callee() else { return };
    let (n, m) = (module.function(of).params().len(), module.function(of).results.len());
    let results = module.function(of).results.clone();
    let f = &mut module.functions[id.index()];
    let old = f.inst(inst).clone();
    let mut args = Values::from_slice(&old.args[..n]);
    for &ty in takes[n..].iter().chain(results.iter().filter(|ty| ty.is_differentiable())) {
        args.push(zero(f, ty, old.span, out));
    }
    args.extend(old.args[n..].iter().copied());
    let types: Vec<Ty> = gives.into_iter().chain(takes.iter().copied().filter(|ty| ty.is_differentiable())).collect();
    // The function's results come first, what is linear comes last.
    let unused = types.len() - old.results.len();
    let new = types[m..m + unused].iter().map(|&ty| f.new_value(ty));
    let new: Vec<Value> = new.collect();
    let results = old.results[..m].iter().copied().chain(new).chain(old.results[m..].iter().copied()).collect();
    f.insts[inst.index()] = InstData { op: Op::Vjp { function: derivative, screen: 0 }, args, results, ..old };
}

/// A zero behind the instructions so far.
pub(super) fn zero(f: &mut Function, ty: Ty, span: crate::source::Span, out: &mut Vec<Inst>) -> Value {
    let mut push = |f: &mut Function, op: Op, args: Values, ty: Ty| {
        let value = f.new_value(ty);
        let results = smallvec::smallvec![value];
        out.push(f.new_inst(InstData { op, args, results, regions: Default::default(), span }));
        value
    };
    let scalar = match ty {
        Ty::Array(scalar, _) | Ty::Scalar(scalar) => scalar,
        // Tokens have no derivatives.
        Ty::Token => crate::types::Scalar::Float,
    };
    let number = push(f, Op::Const(Const::zero(scalar)), Values::new(), Ty::Scalar(scalar));
    match ty {
        Ty::Array(..) => push(f, Op::ArrayFill, Values::from_slice(&[number]), ty),
        _ => number,
    }
}
