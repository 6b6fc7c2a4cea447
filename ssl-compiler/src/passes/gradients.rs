//! Gradients for a host: the entry becomes one that takes cotangents of its results, runs a reverse sweep through what
//! was the entry, and gives the gradient behind the usual results.
//!
//! Runs where all derivatives that the shader itself takes are resolved, so that a partial of a global is a number like
//! any other, and the gradient by it is exact. Requires verified code; leaves [`Op::Vjp`], which the caller resolves.
//! Every gradient is guarded as a derivative that reaches a sink is: what is not finite becomes 0, and is counted.

use super::lift;
use crate::ir::builder::Builder;
use crate::ir::gradients::{Gradients, Input};
use crate::ir::{FLOAT, FuncId, Function, Module, Op, Ty, Value, Values};
use crate::runtime::Order;
use std::collections::{HashMap, HashSet};

/// Writes the new entry, if a host asked for gradients, and notes in the module which input each of its further results
/// belongs to. Says whether it did.
pub fn run(module: &mut Module) -> bool {
    if module.gradients.is_empty() {
        return false;
    }
    let wanted = std::mem::take(&mut module.gradients);
    let inputs = inputs(module, &wanted);
    let name = module.entry().name.clone();
    lift::run(module, &inputs);
    let body = module.entry;
    module.functions[body.index()].name = unique_name(module, &name);
    let entry = entry(module, name, body, &wanted, &inputs);
    // Not before: what the shader itself differentiates in reverse has other cotangents, which are not the host's.
    module.gradient_textures = wanted.textures;
    module.gradient_columns = wanted.columns;
    module.entry = FuncId(module.functions.len() as u32);
    module.functions.push(entry);
    module.gradient_rows = inputs;
    true
}

/// What the gradient is taken by: words in order, then the values of globals and the partials that the code reads.
fn inputs(module: &Module, wanted: &Gradients) -> Vec<Input> {
    let mut read = HashSet::new();
    for f in &module.functions {
        f.walk(|_, data| read.extend(Input::read_by(data, &f.types)));
    }
    let mut inputs: Vec<Input> = wanted.words.iter().map(|&word| Input::Parameter(word)).collect();
    for &field in &wanted.globals {
        for order in Order::ALL {
            let all = (0..module.globals[field as usize].components() as u32).map(|component| Input::Global {
                field,
                component,
                order,
            });
            inputs.extend(all.filter(|input| order == Order::Value || read.contains(input)));
        }
    }
    inputs
}

fn unique_name(module: &Module, entry: &str) -> String {
    let mut name = format!("{entry}.body");
    while module.functions.iter().any(|f| f.name == name) {
        name.push('_');
    }
    name
}

fn entry(module: &Module, name: String, body: FuncId, wanted: &Gradients, inputs: &[Input]) -> Function {
    let old = module.function(body);
    let head = Function::new(name, &[Ty::Token], &[]).with_precision(old.precision);
    let token = head.params()[0];
    let mut b = Builder::new(head);
    b.span = old.region(old.body).insts.first().map(|&i| old.inst(i).span).unwrap_or_default();
    let mut args = Values::from_slice(&[token]);
    for input in inputs {
        let value = b.emit(input.op(), &[], FLOAT);
        args.push(value);
    }
    for (row, &ty) in old.results.iter().skip(1).enumerate().filter(|(_, ty)| ty.is_differentiable()) {
        let given = wanted.of.iter().find(|(result, _)| *result as usize == row);
        let cotangent = match given {
            Some(&(_, field)) => b.emit(Op::Global { field, component: 0, order: Order::Value }, &[], ty),
            None => b.zero(ty),
        };
        args.push(cotangent);
    }
    let gives: Vec<Ty> = old.results.iter().copied().chain(inputs.iter().map(|_| FLOAT)).collect();
    let inst = b.push(Op::Vjp { function: body, screen: 0 }, args, &gives, &[]);
    let given = Values::from_slice(b.results(inst));
    let (own, gradient) = given.split_at(old.results.len());
    let mut results = Values::from_slice(if wanted.columns.alone { &own[..1] } else { own });
    let finite = |&v: &Value| b.emit(Op::Finite, &[v], FLOAT);
    results.extend(gradient.iter().map(finite).collect::<Values>());
    b.function.results = results.iter().map(|&v| b.ty(v)).collect();
    b.finish(results)
}

/// Leaves of what is added to buffers only gradients, where nothing else is wanted. Runs when all is resolved.
pub fn finish(module: &mut Module) {
    let columns = module.gradient_columns.clone();
    if !columns.alone {
        return;
    }
    let is_gradient = |column: u32| columns.by.iter().any(|(_, added)| *added == column);
    for f in &mut module.functions {
        drop_additions(f, &|op| matches!(op, Op::AddTo(column) if !is_gradient(column)));
    }
}

/// Hands the tokens of operations on, and takes the operations out.
pub(super) fn drop_additions(f: &mut Function, dropped: &dyn Fn(Op) -> bool) {
    let mut instead: HashMap<Value, Value> = HashMap::new();
    f.walk(|_, data| {
        if dropped(data.op) {
            instead.insert(data.results[0], data.args[0]);
        }
    });
    if instead.is_empty() {
        return;
    }
    let rename = |v: &mut Value| {
        while let Some(&other) = instead.get(v) {
            *v = other;
        }
    };
    f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(rename);
    f.regions.iter_mut().flat_map(|region| &mut region.results).for_each(rename);
    f.bindings.iter_mut().map(|b| &mut b.value).for_each(rename);
    let insts = &f.insts;
    f.regions.iter_mut().for_each(|region| region.insts.retain(|i| !dropped(insts[i.index()].op)));
}
