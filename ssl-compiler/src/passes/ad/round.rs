//! What one round of differentiation asks of functions: for each operation that reaches into another function, the
//! signature under which it needs that.

use super::{CallPolicy, Variant};
use crate::analysis::activity::{Carried, Signature};
use crate::analysis::axes::{Axes, Shadows};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::Lineage;
use crate::analysis::tape::Roots;
use crate::ir::*;
use smallvec::SmallVec;

/// A module about to be differentiated, and what is known of it.
pub(super) struct Round<'m> {
    pub module: &'m Module,
    pub calls: &'m CallGraph,
    pub lineage: Lineage,
    pub policy: CallPolicy,
    /// The functions of which this round resolves `jvp`s.
    ready: Vec<bool>,
    /// Functions that put something on the tape or take it off, by themselves or by others.
    tape: Vec<bool>,
    /// Of functions with derivatives of functions in them: by value, whether anything uses it, and whether it is the
    /// constant 0.
    used: Vec<Vec<bool>>,
    zero: Vec<Vec<bool>>,
}

/// How a call gives the shadows of its results.
pub(super) enum Way {
    /// By a variant of the function.
    Variant(Signature),
    /// By a function that stands for its derivative, along each axis. `primal` is what is called besides for the values;
    /// it gives the shadows that come from seeds inside.
    Custom { primal: Signature, derivative: FuncId, signature: Signature, forward: bool },
}

/// Which differentiable one of some values each is.
pub(super) fn places(f: &Function, values: &[Value]) -> Vec<Option<usize>> {
    let mut count = 0..;
    values.iter().map(|&v| if f.ty(v).is_differentiable() { count.next() } else { None }).collect()
}

impl<'m> Round<'m> {
    /// A round along the screen.
    pub fn screen(module: &'m Module, calls: &'m CallGraph, policy: CallPolicy, derivatives: Derivatives) -> Round<'m> {
        Round::new(module, calls, policy, Vec::new(), |_| Lineage::of(module, calls, derivatives))
    }

    /// A round along the tangents of `jvp`s of these functions.
    pub fn tangents(module: &'m Module, calls: &'m CallGraph, policy: CallPolicy, ready: Vec<bool>) -> Round<'m> {
        let lineage = |roots: &Roots| Lineage::along(module, calls, Axes::Tangent, Derivatives::Asked, roots);
        Round::new(module, calls, policy, ready, lineage)
    }

    fn new(
        module: &'m Module,
        calls: &'m CallGraph,
        policy: CallPolicy,
        ready: Vec<bool>,
        lineage: impl FnOnce(&Roots) -> Lineage,
    ) -> Round<'m> {
        let (used, zero): (Vec<Vec<bool>>, Vec<Vec<bool>>) = module.functions.iter().map(used_and_zero).unzip();
        let mut roots = Roots::default();
        for (f, (used, zero)) in module.functions.iter().zip(std::iter::zip(&used, &zero)) {
            f.walk(|_, data| roots_of(module, &ready, data, used, zero, &mut roots));
        }
        let lineage = lineage(&roots);
        let mut tape: Vec<bool> = lineage.graphs.iter().map(|g| !g.flow.tape.is_empty()).collect();
        for component in &calls.components {
            let any = |id: &FuncId| tape[id.index()] || calls.callees[id.index()].iter().any(|c| tape[c.index()]);
            let any = component.iter().any(any);
            component.iter().for_each(|id| tape[id.index()] |= any);
        }
        Round { module, calls, lineage, policy, ready, tape, used, zero }
    }

    /// Whether an operation is a `jvp` that this round resolves.
    pub fn resolves(&self, op: Op) -> bool {
        matches!(op, Op::Jvp { function, .. } if self.ready.get(function.index()) == Some(&true))
    }

    pub fn is_used(&self, function: FuncId, v: Value) -> bool {
        self.used[function.index()].get(v.index()) != Some(&false)
    }

    /// What serves the calls of a variant and the derivatives of functions in it, one after the other.
    pub fn served(&self, variant: &Variant) -> Vec<(FuncId, Signature)> {
        self.operations(variant)
            .map(|(data, callee)| {
                let signature = match data.op {
                    Op::Call(_) => match self.way(variant, data, callee) {
                        Way::Variant(signature) | Way::Custom { primal: signature, .. } => signature,
                    },
                    op if self.resolves(op) => self.jvp(variant.function, data, callee),
                    _ => self.waiting(variant, data, callee),
                };
                (callee, signature)
            })
            .collect()
    }

    fn operations(&self, variant: &Variant) -> impl Iterator<Item = (&InstData, FuncId)> {
        let f = self.module.function(variant.function);
        let flow = &self.lineage.graphs[variant.function.index()].flow;
        let insts = flow.calls.iter().chain(&flow.derivatives).map(|&inst| f.inst(inst));
        insts.filter_map(|data| Some((data, data.op.callee()?)))
    }

    /// What a variant asks of other functions.
    pub fn requests(&self, variant: &Variant) -> Vec<(FuncId, Signature)> {
        let mut requests = self.served(variant);
        for (data, callee) in self.operations(variant) {
            if self.module.function(callee).custom != Custom::default()
                && matches!(data.op, Op::Call(_))
                && let Way::Custom { derivative, signature, .. } = self.way(variant, data, callee)
            {
                requests.push((derivative, signature));
            }
        }
        requests.extend(self.customs(variant.function, &variant.signature).into_iter().flatten());
        requests.extend(self.undo(variant.function, &variant.signature));
        requests
    }

    /// What a call wants of its callee.
    fn wanted(&self, variant: &Variant, data: &InstData, callee: FuncId) -> Signature {
        let summary = &self.lineage.summaries[callee.index()];
        let results: Vec<Shadows> = data.results.iter().map(|&r| variant.activity.shadows(r)).collect();
        let forced = self.lineage.derivatives == Derivatives::Forced;
        let params = data.args.iter().enumerate().map(|(p, &arg)| {
            let mut used = if forced { self.lineage.axes.all() } else { summary.sinks[p] };
            for (r, shadows) in summary.results.iter().zip(&results) {
                if r.parameters.contains(p) {
                    used = used.or(*shadows);
                }
            }
            let activity = &variant.activity;
            Carried { shadows: used.and(activity.shadows(arg)), derived: activity.is_derived(arg) }
        });
        Signature { params: params.collect(), results, tape: variant.signature.tape && self.tape[callee.index()] }
    }

    /// How a call is differentiated.
    pub fn way(&self, variant: &Variant, data: &InstData, callee: FuncId) -> Way {
        let wanted = self.wanted(variant, data, callee);
        let Custom { forward, backward } = self.module.function(callee).custom;
        let Some(derivative) = forward.or(backward).filter(|_| wanted.results.iter().any(|r| r.any())) else {
            return Way::Variant(wanted);
        };
        let summary = &self.lineage.summaries[callee.index()];
        let mut primal = wanted;
        primal.params.iter_mut().zip(&summary.sinks).for_each(|(c, sinks)| c.shadows = c.shadows.and(*sinks));
        if primal.params.iter().any(|p| p.shadows.any()) {
            // Nothing reads them this round, see `lineage`.
            primal.results.fill(Shadows::NONE);
            return Way::Variant(primal);
        }
        for (shadows, result) in primal.results.iter_mut().zip(&summary.results) {
            *shadows = shadows.and(result.origin.seeded);
        }
        let signature = self.custom(derivative);
        Way::Custom { primal, derivative, signature, forward: forward.is_some() }
    }

    /// What a `jvp` that is resolved wants of its callee: the tangents that are not 0, and those that anything uses.
    pub fn jvp(&self, caller: FuncId, data: &InstData, callee: FuncId) -> Signature {
        let g = self.module.function(callee);
        let summary = &self.lineage.summaries[callee.index()];
        let (n, first) = (g.params().len(), g.results.len());
        let mut signature = Signature::plain(g);
        signature.tape = self.tape[callee.index()];
        let given = |p: Option<usize>| p.is_some_and(|p| !self.zero[caller.index()][data.args[n + p].index()]);
        let places = places(g, g.params());
        let seeded = |p: usize| given(places[p]);
        let axes = self.lineage.axes.all();
        for (r, place) in places_of_types(&g.results).into_iter().enumerate() {
            let depends = summary.results[r].parameters.iter().any(seeded) || summary.results[r].origin.seeded.any();
            let used = place.is_some_and(|place| self.is_used(caller, data.results[first + place]));
            signature.results[r] = axes.when(used && depends);
        }
        for p in 0..n {
            let by_result = |(r, s): (usize, &Shadows)| s.any() && summary.results[r].parameters.contains(p);
            let used = summary.sinks[p].any() || signature.results.iter().enumerate().any(by_result);
            signature.params[p].shadows = axes.when(used && seeded(p));
        }
        signature
    }

    /// What a `jvp` or `vjp` that waits wants of its callee: the shadows that sinks inside ask for. They become
    /// parameters.
    pub fn waiting(&self, variant: &Variant, data: &InstData, callee: FuncId) -> Signature {
        let g = self.module.function(callee);
        let mut signature = Signature::plain(g);
        if self.lineage.axes != Axes::Screen {
            return signature;
        }
        let sinks = &self.lineage.summaries[callee.index()].sinks;
        let (activity, places) = (&variant.activity, places(g, g.params()));
        for (p, carried) in signature.params.iter_mut().enumerate() {
            let mut values: SmallVec<[Value; 2]> = smallvec::smallvec![data.args[p]];
            if let (Op::Jvp { .. }, Some(place)) = (data.op, places[p]) {
                values.push(data.args[g.params().len() + place]);
            }
            for v in values {
                carried.shadows = carried.shadows.or(sinks[p].and(activity.shadows(v)));
                carried.derived |= activity.is_derived(v);
            }
        }
        signature
    }

    /// The signature under which a function is kept that stands for another's derivative. Sinks in it wait until it is
    /// called like any other function.
    fn custom(&self, id: FuncId) -> Signature {
        let mut signature = Signature::plain(self.module.function(id));
        let sinks = &self.lineage.summaries[id.index()].sinks;
        signature.params.iter_mut().zip(sinks).for_each(|(carried, sinks)| carried.derived = sinks.any());
        signature
    }

    /// The custom derivatives of a variant, forward and backward. One that gives shadows is a derivative itself.
    pub fn customs(&self, function: FuncId, signature: &Signature) -> [Option<(FuncId, Signature)>; 2] {
        let Custom { forward, backward } = self.module.function(function).custom;
        let values_only = match self.lineage.axes {
            Axes::Screen => signature.results.iter().all(|r| !r.any()),
            Axes::Tangent => signature.is_plain(),
        };
        [forward, backward].map(|id| id.filter(|_| values_only).map(|id| (id, self.custom(id))))
    }

    /// What takes a variant back: one that carries derivatives cannot be.
    pub fn undo(&self, function: FuncId, signature: &Signature) -> Option<(FuncId, Signature)> {
        let undo = self.module.function(function).undo?;
        let params = signature.params.iter().map(|p| p.shadows);
        let carries = params.chain(signature.results.iter().copied()).any(Shadows::any);
        (!carries).then(|| (undo, self.custom(undo)))
    }
}

/// Likewise of types.
pub(super) fn places_of_types(types: &[Ty]) -> Vec<Option<usize>> {
    let mut count = 0..;
    types.iter().map(|ty| if ty.is_differentiable() { count.next() } else { None }).collect()
}

/// Adds the tangents that a `jvp` gives and those that it takes.
fn roots_of(module: &Module, ready: &[bool], data: &InstData, used: &[bool], zero: &[bool], roots: &mut Roots) {
    let Op::Jvp { function, .. } = data.op else { return };
    if ready.get(function.index()) != Some(&true) {
        return;
    }
    let g = module.function(function);
    for (p, place) in places(g, g.params()).into_iter().enumerate() {
        let given = place.is_some_and(|place| !zero[data.args[g.params().len() + place].index()]);
        roots.params.extend(given.then_some((function, p)));
    }
    for (r, place) in places_of_types(&g.results).into_iter().enumerate() {
        let taken = place.is_some_and(|place| used[data.results[g.results.len() + place].index()]);
        roots.results.extend(taken.then_some((function, r)));
    }
}

/// By value, whether anything uses it, and whether it is 0. Both are empty without derivatives of functions.
fn used_and_zero(f: &Function) -> (Vec<bool>, Vec<bool>) {
    let mut any = false;
    f.walk(|_, data| any |= matches!(data.op, Op::Jvp { .. } | Op::Vjp { .. }));
    if !any {
        return Default::default();
    }
    let (mut used, mut zero) = (vec![false; f.types.len()], vec![false; f.types.len()]);
    f.walk(|_, data| {
        let regions = data.regions.iter().flat_map(|&r| &f.region(r).results);
        data.args.iter().chain(regions).for_each(|v| used[v.index()] = true);
        zero[data.results.first().map_or(0, |r| r.index())] |= match data.op {
            Op::Const(Const::Float(bits)) => f32::from_bits(bits) == 0.0,
            Op::ArrayNew | Op::ArrayFill => data.args.iter().all(|v| zero[v.index()]),
            _ => false,
        };
    });
    f.region(f.body).results.iter().for_each(|v| used[v.index()] = true);
    (used, zero)
}
