//! Through calls: by variants of functions, by custom derivatives; and derivatives of functions, which are calls of
//! variants where they are resolved, and take shadows along where they wait.

use super::elements::each;
use super::forward::{Output, Writer};
use super::round::{Way, places, places_of_types};
use crate::analysis::activity::Signature;
use crate::analysis::axes::Axes;
use crate::ir::builder::Builder;
use crate::ir::*;

impl Writer<'_, '_> {
    pub(super) fn call(&mut self, data: &InstData, callee: FuncId) {
        match self.round.way(&self.variant, data, callee) {
            Way::Variant(wanted) => self.call_variant(data, callee, &wanted),
            Way::Custom { primal, derivative, signature, forward } => {
                let id = self.output.kept(derivative, &signature);
                match self.round.lineage.axes {
                    Axes::Tangent => self.custom(data, callee, id, forward, 0),
                    Axes::Screen => self.custom_on_screen(data, callee, &primal, id, forward),
                }
            }
        }
    }

    fn call_variant(&mut self, data: &InstData, callee: FuncId, wanted: &Signature) {
        let (id, signature) = self.output.serving(callee, wanted);
        let given = self.carried(|p| signature.params[p].shadows, data.args.len());
        let args = self.with_shadows(&data.args, &given);
        let types = self.output.heads[id.index()].results.clone();
        let inst = self.b.push(Op::Call(id), args, &types, &[]);
        let found = self.carried(|r| signature.results[r], data.results.len());
        self.bind_with(&data.results, &found, inst);
    }

    /// The values come from the function itself, so that asking for a derivative changes none.
    fn custom_on_screen(&mut self, data: &InstData, callee: FuncId, primal: &Signature, id: FuncId, forward: bool) {
        self.call_variant(data, callee, primal);
        let own: Vec<Option<Value>> = data.results.iter().map(|r| self.primal[r.index()]).collect();
        for axis in 0..self.axes() {
            let wanted = data.results.iter().any(|&r| self.variant.activity.shadows(r).get(axis));
            if !wanted || data.args.iter().all(|a| self.shadows[a.index()][axis].is_none()) {
                continue;
            }
            let seeded: Vec<Option<Value>> = data.results.iter().map(|r| self.shadows[r.index()][axis]).collect();
            self.custom(data, callee, id, forward, axis);
            for ((&r, own), seeded) in data.results.iter().zip(&own).zip(seeded) {
                if self.source.ty(r) != Ty::Token {
                    self.primal[r.index()] = *own;
                }
                if let (Some(a), Some(b)) = (seeded, self.shadows[r.index()][axis]) {
                    self.shadows[r.index()][axis] = Some(each(&mut self.b, &[a, b], |b, v| b.add(v[0], v[1])));
                }
            }
        }
    }

    /// Calls what stands for a function's derivative along an axis: a forward one with the tangents, or the transpose of
    /// a backward one.
    fn custom(&mut self, data: &InstData, callee: FuncId, id: FuncId, forward: bool, axis: usize) {
        let f = self.round.module.function(callee);
        let mut args = self.values(&data.args);
        let token = data.results.iter().position(|&r| self.source.ty(r) == Ty::Token);
        // Where the function itself was called, its token comes first.
        if let Some(known) = token.and_then(|r| self.primal[data.results[r].index()])
            && let Some(arg) = data.args.iter().position(|&a| self.source.ty(a) == Ty::Token)
        {
            args[arg] = known;
        }
        let differentiable = data.args.iter().filter(|a| self.source.ty(**a).is_differentiable());
        let tangents: Vec<Value> = differentiable.map(|&a| self.shadow_or_zero(a, axis)).collect();
        let head = self.output.heads[id.index()].clone();
        let found = if forward {
            args.extend(tangents);
            let inst = self.b.push(Op::Call(id), args, &head.results, &[]);
            Values::from_slice(self.b.results(inst))
        } else {
            transposed(&mut self.b, id, &head, args, &f.results, &tangents)
        };
        let places = places_of_types(&f.results);
        for (i, (&r, place)) in data.results.iter().zip(places).enumerate() {
            self.primal[r.index()] = Some(found[i]);
            if let Some(place) = place.filter(|_| self.variant.activity.shadows(r).get(axis)) {
                self.shadows[r.index()][axis] = Some(found[data.results.len() + place]);
            }
        }
    }

    /// A `jvp` that this round resolves. What was not finite of the tangents that leave it is 0 and counted, as where
    /// `ddx` reads a shadow.
    pub(super) fn jvp(&mut self, data: &InstData, callee: FuncId) {
        let g = self.round.module.function(callee);
        let wanted = self.round.jvp(self.variant.function, data, callee);
        let (id, signature) = self.output.serving(callee, &wanted);
        let (n, m) = (g.params().len(), g.results.len());
        let mut args = self.values(&data.args[..n]);
        for (carried, place) in signature.params.iter().zip(places(g, g.params())) {
            if let Some(place) = place.filter(|_| carried.shadows.any()) {
                args.push(self.value(data.args[n + place]));
            }
        }
        let types = self.output.heads[id.index()].results.clone();
        let inst = self.b.push(Op::Call(id), args, &types, &[]);
        let found = Values::from_slice(self.b.results(inst));
        self.bind_values(&data.results[..m], &[], &found[..m]);
        let mut tangents = found[m..].iter().copied();
        for (r, place) in places_of_types(&g.results).into_iter().enumerate() {
            let Some(place) = place else { continue };
            let tangent = match signature.results[r].any() {
                true => tangents.next(),
                false => None,
            };
            let tangent = match tangent {
                Some(t) if wanted.results[r].any() => each(&mut self.b, &[t], |b, v| b.emit(Op::Finite, v, FLOAT)),
                _ => self.b.zero(g.results[r]),
            };
            self.primal[data.results[m + place].index()] = Some(tangent);
        }
    }

    /// A `jvp` or `vjp` of a function with sinks inside. It gets the shadows that these ask for as parameters; of a
    /// `jvp`, the tangent of a shadow is the shadow of the tangent.
    pub(super) fn waiting(&mut self, data: &InstData, callee: FuncId, screen: u32) {
        let g = self.round.module.function(callee);
        let wanted = self.round.waiting(&self.variant, data, callee);
        let (id, signature) = self.output.serving(callee, &wanted);
        let n = g.params().len();
        let carried = self.carried(|p| signature.params[p].shadows, n);
        // Other calls may want shadows of the results.
        let id = self.output.shaped(id, n + carried.len(), g.results.len());
        let mut args = self.with_shadows(&data.args[..n], &carried);
        args.extend(self.values(&data.args[n..]));
        let mut types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
        let screen = screen + carried.len() as u32;
        let places = places(g, g.params());
        let op = if let Op::Jvp { .. } = data.op {
            for &(p, axis) in &carried {
                // Only what is differentiable has a shadow.
                let tangent = places[p].map(|place| data.args[n + place]);
                args.extend(tangent.map(|t| self.shadow_or_zero(t, axis)));
            }
            Op::Jvp { function: id, screen }
        } else {
            types.extend(carried.iter().map(|&(p, _)| g.ty(g.params()[p])));
            // Parameters that nobody wants the gradient of, and whose shadows nobody does either.
            let own = n - (screen as usize - carried.len());
            let idle = |p: usize| {
                places[p].is_some_and(|place| {
                    p < own && !self.round.is_used(self.variant.function, data.results[g.results.len() + place])
                })
            };
            let cut: Vec<bool> = carried.iter().map(|&(p, _)| idle(p)).collect();
            Op::Vjp { function: self.output.detaching(id, n, &cut), screen }
        };
        let inst = self.b.push(op, args, &types, &[]);
        self.bind(&data.results, inst);
    }

    /// The values of a site that take shadows along, with their axes.
    fn kept(&self, site: Site, count: usize) -> Vec<(usize, usize)> {
        let lineage = &self.round.lineage;
        if lineage.axes == Axes::Tangent && !self.variant.signature.tape {
            return Vec::new();
        }
        self.carried(|i| lineage.tape.carried(site, i), count)
    }

    /// With tangents it is another site, since the function without them still uses the first one.
    fn site(&self, site: Site) -> Site {
        let further = if self.variant.signature.tape { self.output.sites } else { 0 };
        Site { number: site.number + further, ..site }
    }

    pub(super) fn push(&mut self, data: &InstData, site: Site) {
        let carried = self.kept(site, data.args.len() - 1);
        let mut args = Values::from_slice(&[self.value(data.args[0])]);
        args.extend(self.with_shadows(&data.args[1..], &carried));
        let inst = self.b.push(Op::Push(self.site(site)), args, &[Ty::Token], &[]);
        self.bind(&data.results, inst);
    }

    pub(super) fn pop(&mut self, data: &InstData, site: Site) {
        let values = &data.results[1..];
        let carried = self.kept(site, values.len());
        let mut types = vec![Ty::Token];
        types.extend(self.types_with(values, &carried));
        let args = self.values(&data.args);
        let inst = self.b.push(Op::Pop(self.site(site)), args, &types, &[]);
        let found = Values::from_slice(self.b.results(inst));
        self.bind_values(&data.results[..1], &[], &found[..1]);
        self.bind_values(values, &carried, &found[1..]);
    }
}

/// Calls the transpose of a function's derivative in one direction, which is the derivative in the other one: the
/// results of the function, then what `given` becomes. `derivative` takes `args` and something for each differentiable
/// one of `results`, in which it is linear, and gives these and something for each of `given`; or the other way round.
pub(super) fn transposed(
    b: &mut Builder,
    derivative: FuncId,
    head: &Function,
    mut args: Values,
    results: &[Ty],
    given: &[Value],
) -> Values {
    let n = args.len();
    let params: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
    // It is linear in these, so that any value will do; and nothing is asked of the results themselves.
    let zeros = |b: &mut Builder, types: &[Ty], args: &mut Values| {
        for &ty in types.iter().filter(|ty| ty.is_differentiable()) {
            let zero = b.zero(ty);
            args.push(zero);
        }
    };
    zeros(b, &params[n..], &mut args);
    zeros(b, results, &mut args);
    args.extend(given.iter().copied());
    let cotangents = params.iter().copied().filter(|ty| ty.is_differentiable());
    let types: Vec<Ty> = head.results.iter().copied().chain(cotangents).collect();
    let inst = b.push(Op::Vjp { function: derivative, screen: 0 }, args, &types, &[]);
    let found = b.results(inst);
    let linear = params[n..].len();
    found[..results.len()].iter().chain(&found[types.len() - linear..]).copied().collect()
}

impl Output<'_> {
    /// A custom derivative for a variant with so many shadows behind its parameters, by one that knows nothing of them.
    pub(super) fn custom_for(
        &mut self,
        old: FuncId,
        id: FuncId,
        carried: usize,
        derivative: FuncId,
        forward: bool,
    ) -> FuncId {
        if carried == 0 {
            return derivative;
        }
        let source = self.round.module.function(old);
        let head = self.heads[id.index()].clone();
        let params: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
        let n = source.params().len();
        let (takes, gives) = if forward { (&params, &head.results) } else { (&head.results, &params) };
        let differentiable =
            |types: &[Ty]| -> Vec<Ty> { types.iter().copied().filter(|ty| ty.is_differentiable()).collect() };
        let (takes, gives) = (differentiable(takes), differentiable(gives));
        let (all, found) = ([&params[..], &takes].concat(), [&head.results[..], &gives].concat());
        let new = Function::new("", &all, &found).with_precision(source.precision);
        let mut b = Builder::new(new);
        let given = Values::from_slice(b.function.params());
        let wanted = self.heads[derivative.index()].params().len();
        let args: Values = given[..n].iter().chain(&given[params.len()..]).take(wanted).copied().collect();
        let types = self.heads[derivative.index()].results.clone();
        let inst = b.push(Op::Call(derivative), args, &types, &[]);
        let mut results = Values::from_slice(b.results(inst));
        // The shadows are values of their own, on which nothing depends here.
        for &ty in &found[results.len()..] {
            let zero = b.zero(ty);
            results.push(zero);
        }
        let name = format!("{}.custom", source.name);
        self.add(name, b.finish(results))
    }

    /// A custom derivative, taking and giving values only.
    pub(super) fn kept(&mut self, of: FuncId, wanted: &Signature) -> FuncId {
        let (id, _) = self.serving(of, wanted);
        let source = self.round.module.function(of);
        self.shaped(id, source.params().len(), source.results.len())
    }

    /// The function itself, or one that calls it for its first results with its first parameters, and 0 for the others.
    fn shaped(&mut self, id: FuncId, params: usize, results: usize) -> FuncId {
        let head = self.heads[id.index()].clone();
        let types: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
        if (types.len(), head.results.len()) == (params, results) {
            return id;
        }
        let new = Function::new("", &types[..params], &head.results[..results]).with_precision(head.precision);
        let mut b = Builder::new(new);
        let mut args = Values::from_slice(b.function.params());
        for &ty in &types[params..] {
            let zero = b.zero(ty);
            args.push(zero);
        }
        let inst = b.push(Op::Call(id), args, &head.results, &[]);
        let found = Values::from_slice(&b.results(inst)[..results]);
        self.add(format!("{}.values", head.name), b.finish(found))
    }

    /// The function itself, or one that calls it and cuts the derivatives by some of what stands behind its first `n`
    /// parameters.
    fn detaching(&mut self, id: FuncId, n: usize, cut: &[bool]) -> FuncId {
        if !cut.contains(&true) {
            return id;
        }
        let head = self.heads[id.index()].clone();
        let params: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
        let new = Function::new("", &params, &head.results).with_precision(head.precision);
        let mut b = Builder::new(new);
        let mut args = Values::from_slice(b.function.params());
        for (arg, _) in args[n..].iter_mut().zip(cut).filter(|(_, cut)| **cut) {
            *arg = each(&mut b, &[*arg], |b, v| b.emit(Op::Detach, v, FLOAT));
        }
        let inst = b.push(Op::Call(id), args, &head.results, &[]);
        let results = Values::from_slice(b.results(inst));
        self.add(format!("{}.cut", head.name), b.finish(results))
    }
}
