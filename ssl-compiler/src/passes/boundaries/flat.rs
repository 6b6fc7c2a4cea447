//! The integrand as one function without calls and tokens, as far as it can be had.

use super::remainders;
use super::sizes::Sizes;
use crate::ir::*;
use crate::passes::remarks::Remarks;
use crate::passes::{dce, inline, simplify, unroll};
use crate::runtime::ExternalRegistry;
use crate::runtime::linked::Facet;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

pub(super) struct Flat {
    /// Takes what the integrand sees and the variables of integration, and gives floats.
    pub function: Function,
    /// Why its two sides cannot be computed.
    pub opaque: Option<Why>,
    /// Functions that are still called, of which the author gave the derivatives.
    pub customs: HashSet<FuncId>,
    /// Those of which the author gave an inverse, with that.
    pub inverses: HashMap<FuncId, FuncId>,
    /// Those that a host links, with their slots.
    pub linked: HashMap<FuncId, u32>,
}

pub(super) fn of(module: &Module, integrand: FuncId) -> Flat {
    let mut own = reached(module, integrand);
    let inverses: HashMap<FuncId, FuncId> = module.inverses.iter().copied().collect();
    let known: HashMap<&str, FuncId> =
        module.functions.iter().enumerate().map(|(i, f)| (f.name.as_str(), FuncId(i as u32))).collect();
    let of_module = |f: &Function| known.get(f.name.as_str()).copied();
    let is_point = |f: &Function| f.results.iter().all(|ty| *ty == FLOAT);
    let has_inverse = |f: &Function| of_module(f).is_some_and(|id| inverses.contains_key(&id));
    let kept = own.functions.iter().map(|f| is_point(f) && has_inverse(f)).collect();
    inline::everything_but(&mut own, kept);
    simplify::run(&mut own);
    unroll::run(&mut own, &mut Remarks::unheard());
    simplify::run(&mut own);
    own.functions.iter_mut().for_each(without_fuel);
    own.functions.iter_mut().for_each(remainders::run);
    own.functions.iter_mut().for_each(settle);
    simplify::run(&mut own);
    dce::run(&mut own);
    let is_custom = |f: &&Function| f.custom != Custom::default();
    let customs = own.functions.iter().filter(is_custom).filter_map(of_module).collect();
    let linked: HashMap<FuncId, u32> =
        own.functions.iter().filter_map(|f| of_module(f).zip(slot(f, &own.externals))).collect();
    let ids: Vec<Option<FuncId>> = own.functions.iter().map(of_module).collect();
    let mut function = own.functions.swap_remove(own.entry.index());
    for callee in function.insts.iter_mut().filter_map(|data| data.op.callee_mut()) {
        // What was removed may name functions that are gone.
        *callee = ids.get(callee.index()).copied().flatten().unwrap_or(FuncId(0));
    }
    let body = function.body;
    let tokens: Vec<bool> = function.params().iter().map(|&v| function.ty(v) != Ty::Token).collect();
    let mut opaque = None;
    function.walk(|_, data| match data.op {
        Op::Call(callee) if inverses.contains_key(&callee) || linked.contains_key(&callee) => {}
        Op::Loop(_) | Op::Call(_) | Op::Jvp { .. } | Op::Vjp { .. } => opaque = opaque.or(Some(Why::Loop)),
        Op::If => {}
        _ if data.args.iter().any(|&v| function.ty(v) == Ty::Token) => opaque = Some(Why::Effects),
        _ => {}
    });
    if opaque.is_none() {
        let mut keep = tokens.iter();
        function.regions[body.index()].params.retain(|_| keep.next().copied().unwrap_or(true));
    } else {
        // What is only looked at may as well have its token behind.
        let params = &mut function.regions[body.index()].params;
        params.sort_by_key(|v| function.types[v.index()] == Ty::Token);
    }
    Flat { function, opaque, customs, inverses, linked }
}

/// The slot of a method that a host links, if a function calls nothing but that.
fn slot(f: &Function, externals: &ExternalRegistry) -> Option<u32> {
    let mut calls = f.region(f.body).insts.iter().filter_map(|&inst| match f.inst(inst).op {
        Op::External(id) => externals.linked_slot(id),
        _ => None,
    });
    calls.next().filter(|(_, facet)| *facet == Facet::METHOD && f.custom != Custom::default()).map(|(slot, _)| slot)
}

/// A module of a function and all that it calls.
fn reached(module: &Module, entry: FuncId) -> Module {
    let mut own = module.emptied();
    let mut ids = HashMap::from([(entry, FuncId(0))]);
    let mut order = vec![entry];
    let mut next = 0;
    while let Some(&id) = order.get(next) {
        next += 1;
        let f = module.function(id);
        let mut callees: Vec<FuncId> = f.custom.functions().chain(f.undo).collect();
        f.walk(|_, data| callees.extend(data.op.callee()));
        for callee in callees {
            if let Entry::Vacant(free) = ids.entry(callee) {
                free.insert(FuncId(order.len() as u32));
                order.push(callee);
            }
        }
    }
    for &id in &order {
        let mut f = module.function(id).clone();
        for callee in [&mut f.custom.forward, &mut f.custom.backward, &mut f.undo].into_iter().flatten() {
            *callee = ids[callee];
        }
        // Instructions that were removed may name functions that nothing calls any more.
        for callee in f.insts.iter_mut().filter_map(|data| data.op.callee_mut()) {
            *callee = ids.get(callee).copied().unwrap_or(FuncId(0));
        }
        own.functions.push(f);
    }
    own.entry = FuncId(0);
    own
}

/// Writes out what comparisons give that guard against sizes nearly nothing has.
fn settle(f: &mut Function) {
    let sizes = Sizes::of(f);
    let mut settled = Vec::new();
    f.walk(|inst, data| {
        if let Op::FloatCompare(compare) = data.op
            && let Some(holds) = sizes.settled(compare, &data.args)
        {
            settled.push((inst, holds));
        }
    });
    for (inst, holds) in settled {
        let data = &mut f.insts[inst.index()];
        (data.op, data.args) = (Op::Const(Const::Bool(holds)), Values::new());
    }
}

/// Fuel is the integral's own affair: each of its samples takes some. The token stays only where something else needs it.
fn without_fuel(f: &mut Function) {
    let body = f.body;
    if f.results.first() == Some(&Ty::Token) {
        f.results.remove(0);
        f.regions[body.index()].results.remove(0);
    }
    let mut alias: Vec<Value> = (0..f.types.len() as u32).map(Value).collect();
    for region in 0..f.regions.len() {
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            let data = f.inst(inst).clone();
            if let Op::Burn(_) = data.op {
                alias[data.results[0].index()] = data.args[0];
                let constant = InstData {
                    op: Op::Const(Const::Bool(true)),
                    args: Values::new(),
                    results: data.results[1..].into(),
                    ..data
                };
                kept.push(f.new_inst(constant));
            } else {
                kept.push(inst);
            }
        }
        f.regions[region].insts = kept;
    }
    let last = |mut v: Value| {
        while alias[v.index()] != v {
            v = alias[v.index()];
        }
        v
    };
    f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(|v| *v = last(*v));
    f.regions.iter_mut().flat_map(|r| &mut r.results).for_each(|v| *v = last(*v));
}
