//! Puts calls in the place of `vjp` operations.

use super::{Output, Signature};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::passes::dce::Needs;
use std::collections::HashMap;

/// A function whose ready `vjp`s are calls.
pub(super) fn rewrite(output: &mut Output<'_>, id: FuncId, ready: &dyn Fn(FuncId) -> bool) -> Function {
    let f = output.module.function(id).clone();
    let needs = Needs::of(&f, &f.region(f.body).results, None);
    let regions = f.regions.len();
    let mut root = Root { output, b: Builder::new(f), live: needs.live, instead: HashMap::new() };
    for region in (0..regions).map(|r| Region(r as u32)) {
        let insts = std::mem::take(&mut root.b.function.regions[region.index()].insts);
        let results = root.b.function.region(region).results.clone();
        root.b.reopen(region);
        for inst in insts {
            match root.b.function.inst(inst).op {
                Op::Vjp { function, .. } if ready(function) => root.replace(inst, function),
                _ => root.b.function.regions[region.index()].insts.push(inst),
            }
        }
        root.b.close(results);
    }
    let Root { b, instead, .. } = root;
    let results = b.function.region(b.function.body).results.clone();
    let mut function = b.finish(results);
    let rename = |v: &mut Value| {
        while let Some(&other) = instead.get(v) {
            *v = other;
        }
    };
    function.insts.iter_mut().flat_map(|data| &mut data.args).for_each(rename);
    function.regions.iter_mut().flat_map(|region| &mut region.results).for_each(rename);
    function.bindings.iter_mut().map(|b| &mut b.value).for_each(rename);
    function
}

struct Root<'a, 'm> {
    output: &'a mut Output<'m>,
    b: Builder,
    /// By value of the function as it was.
    live: Vec<bool>,
    /// What stands for the results of `vjp`s that are gone.
    instead: HashMap<Value, Value>,
}

impl Root<'_, '_> {
    fn replace(&mut self, inst: Inst, callee: FuncId) {
        let data = self.b.function.inst(inst).clone();
        self.b.span = data.span;
        match self.output.module.function(callee).custom {
            Custom { backward: Some(backward), .. } => self.replace_with(Op::Call(backward), &data),
            Custom { forward: Some(forward), .. } => self.transpose(forward, callee, &data),
            _ => self.call(callee, &data),
        }
    }

    /// The author's own function takes and gives the same.
    fn replace_with(&mut self, op: Op, data: &InstData) {
        let types: Vec<Ty> = data.results.iter().map(|&r| self.b.ty(r)).collect();
        let new = self.b.push(op, data.args.clone(), &types, &[]);
        let new = Values::from_slice(self.b.results(new));
        self.instead.extend(data.results.iter().copied().zip(new));
    }

    /// The author gave tangents, which are linear: the `vjp` of that, where all of them are 0.
    fn transpose(&mut self, forward: FuncId, callee: FuncId, data: &InstData) {
        let f = self.output.module.function(callee);
        let (params, results) = (f.params().len(), f.results.len());
        let types = |b: &Builder, values: &[Value]| values.iter().map(|&v| b.ty(v)).collect::<Vec<Ty>>();
        let (wanted, given) = (types(&self.b, &data.results[results..]), types(&self.b, &data.args[params..]));
        let mut args = Values::from_slice(&data.args[..params]);
        for &ty in wanted.iter().chain(&given) {
            args.push(self.b.zero(ty));
        }
        args.extend(data.args[params..].iter().copied());
        let gives = [&f.results[..], &given, &wanted, &wanted].concat();
        let new = self.b.push(Op::Vjp { function: forward, screen: 0 }, args, &gives, &[]);
        let new = Values::from_slice(self.b.results(new));
        self.instead.extend(data.results[..results].iter().copied().zip(new.iter().copied()));
        let last = new.len() - wanted.len();
        self.instead.extend(data.results[results..].iter().copied().zip(new[last..].iter().copied()));
    }

    /// Only what is wanted is computed, from what may differ from 0.
    fn call(&mut self, callee: FuncId, data: &InstData) {
        let callee = self.output.swept(callee);
        let f = self.output.module.function(callee);
        let (params, results) = (f.params().len(), f.results.len());
        let mut cotangents = data.args[params..].iter().copied();
        let cotangents: Vec<Option<Value>> = (f.results.iter())
            .map(|ty| cotangents.next_if(ty.is_differentiable()).filter(|&c| !self.is_zero(c)))
            .collect();
        let mut gradients = data.results[results..].iter().copied();
        let gradients: Vec<Option<Value>> =
            f.params().iter().map(|&p| gradients.next_if(f.ty(p).is_differentiable())).collect();
        let signature = Signature {
            params: gradients.iter().map(|g| g.is_some_and(|g| self.live[g.index()])).collect(),
            results: cotangents.iter().map(Option::is_some).collect(),
        };
        let function = self.output.joint(callee, &signature, true);
        let args = data.args[..params].iter().copied().chain(cotangents.into_iter().flatten()).collect();
        let mut types = f.results.clone();
        types.extend(f.params().iter().zip(&signature.params).filter(|(_, wanted)| **wanted).map(|(&p, _)| f.ty(p)));
        let new = self.b.push(Op::Call(function), args, &types, &[]);
        let new = Values::from_slice(self.b.results(new));
        self.instead.extend(data.results[..results].iter().copied().zip(new.iter().copied()));
        let mut swept = new[results..].iter().copied();
        for (gradient, &wanted) in gradients.iter().zip(&signature.params) {
            let Some(gradient) = *gradient else { continue };
            let ty = self.b.ty(gradient);
            let value = swept.next_if(wanted);
            let value = value.unwrap_or_else(|| self.b.zero(ty));
            self.instead.insert(gradient, value);
        }
    }

    fn is_zero(&self, v: Value) -> bool {
        self.b.constant_of(v) == Some(Const::float(0.0))
    }
}

/// The next item where a condition holds; otherwise none is taken.
trait NextIf: Iterator {
    fn next_if(&mut self, condition: bool) -> Option<Self::Item> {
        if condition { self.next() } else { None }
    }
}

impl<I: Iterator> NextIf for I {}
