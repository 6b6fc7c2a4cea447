//! The sweep: walks the linear steps backwards, from the cotangents of results to those of parameters.
//!
//! Cotangents go by the values of the function as it was; a value without an entry has the cotangent 0.

use super::keep::Kept;
use super::steps::{Branch, Step};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::passes::ad::rules::{Coefficient, Rule};
use crate::types::Scalar;
use std::collections::{HashMap, HashSet};

pub(super) struct Sweep<'a, 'm> {
    pub b: Builder,
    pub module: &'m Module,
    pub source: &'m Function,
    pub active: &'a [bool],
    /// What ran forwards.
    pub forwards: &'a Function,
    /// The sweep is written behind it, and sees its values.
    pub joint: bool,
    /// What else is known of the way forwards.
    pub environment: HashMap<Value, Value>,
    /// What ran again already, where all of this round sees it.
    pub early: HashSet<Inst>,
    pub cotangents: HashMap<Value, Value>,
    /// Cotangents that are a product so far: of what.
    pub products: HashMap<Value, [Value; 2]>,
    pub token: Option<Value>,
}

impl<'m> Sweep<'_, 'm> {
    pub fn is_active(&self, old: Value) -> bool {
        self.active[old.index()]
    }

    /// A value of the way forwards.
    pub fn known(&self, v: Value) -> Value {
        match self.environment.get(&v) {
            Some(&known) => known,
            None => {
                debug_assert!(self.joint, "what the sweep reads was handed over");
                v
            }
        }
    }

    pub fn take(&mut self, old: Value) -> Option<Value> {
        self.cotangents.remove(&old)
    }

    pub fn take_or_zero(&mut self, old: Value) -> Value {
        let ty = self.source.ty(old);
        self.take(old).unwrap_or_else(|| self.b.zero(ty))
    }

    /// Adds to the cotangent of a value, if that matters.
    pub fn add(&mut self, old: Value, cotangent: Value) {
        if !self.is_active(old) {
            return;
        }
        let sum = match self.cotangents.get(&old) {
            None => cotangent,
            Some(&so_far) if self.source.ty(old).is_array() => self.add_arrays(so_far, cotangent),
            Some(so_far) => match self.products.get(so_far).copied() {
                Some([a, b]) => self.b.emit(Op::Fma, &[a, b, cotangent], FLOAT),
                None => self.b.add(*so_far, cotangent),
            },
        };
        self.cotangents.insert(old, sum);
    }

    /// Adds a coefficient times a cotangent. A sum of products takes one instruction for each, which rounds once.
    pub fn add_product(&mut self, old: Value, coefficient: Value, cotangent: Value) {
        if !self.is_active(old) {
            return;
        }
        match self.cotangents.get(&old).copied() {
            Some(so_far) if self.is_product(coefficient, cotangent) => {
                let sum = self.b.emit(Op::Fma, &[coefficient, cotangent, so_far], FLOAT);
                self.cotangents.insert(old, sum);
            }
            so_far => {
                let term = self.b.mul(coefficient, cotangent);
                if so_far.is_none() && self.is_product(coefficient, cotangent) {
                    self.products.insert(term, [coefficient, cotangent]);
                }
                self.add(old, term);
            }
        }
    }

    /// Whether a product is worth an instruction: it is not if one factor is a constant that others fold with.
    fn is_product(&self, a: Value, b: Value) -> bool {
        [a, b].into_iter().all(|v| self.b.constant_of(v).is_none())
    }

    /// Makes known what a region keeps.
    pub fn begin(&mut self, kept: &Kept, leaves: &[Value], round: Option<Value>) {
        self.environment.extend(kept.leaves.iter().copied().zip(leaves.iter().copied()));
        for counted in &kept.counted {
            let (first, step) = (self.known(counted.first), self.b.int(counted.step));
            let Some(round) = round else { continue };
            let gone = self.b.int2(Int2::Mul, round, step);
            let value = self.b.int2(Int2::Add, first, gone);
            self.environment.insert(counted.value, value);
        }
        kept.again.iter().for_each(|&inst| self.run_again(inst));
    }

    /// Writes an instruction of the way forwards once more, with what its regions hold.
    pub fn run_again(&mut self, inst: Inst) {
        if self.early.contains(&inst) {
            return;
        }
        let data = self.forwards.inst(inst);
        let args: Values = data.args.iter().map(|&v| self.known(v)).collect();
        if data.op.is_pure() && data.results.len() == 1 {
            let value = match data.op {
                Op::Const(c) => self.b.constant(c),
                op => self.b.emit(op, &args, self.forwards.ty(data.results[0])),
            };
            self.environment.insert(data.results[0], value);
            return;
        }
        let mut regions = Vec::new();
        for &region in &data.regions {
            let new = self.b.open(&[]);
            let source = self.forwards.region(region);
            source.insts.iter().for_each(|&inner| self.run_again(inner));
            let results = source.results.iter().map(|&v| self.known(v)).collect();
            self.b.close(results);
            regions.push(new);
        }
        let types: Vec<Ty> = data.results.iter().map(|&r| self.forwards.ty(r)).collect();
        let new = self.b.push(data.op, args, &types, &regions);
        let results = Values::from_slice(self.b.results(new));
        self.environment.extend(data.results.iter().copied().zip(results));
    }

    pub fn steps(&mut self, steps: &[Step]) {
        for step in steps.iter().rev() {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        let source = self.source;
        let at = |inst: &Inst| source.inst(*inst);
        match step {
            Step::Rule { inst, rule } => {
                self.b.span = at(inst).span;
                if let Some(cotangent) = self.take(at(inst).results[0]) {
                    self.rule(rule, &at(inst).args, cotangent);
                }
            }
            Step::Reciprocal { inst, result } => {
                self.b.span = at(inst).span;
                if let Some(cotangent) = self.take(at(inst).results[0]) {
                    // One factor at a time: the square may overflow where this does not.
                    let result = self.known(*result);
                    let once = self.b.mul(result, cotangent);
                    let opposite = self.b.neg(result);
                    self.add_product(at(inst).args[1], opposite, once);
                }
            }
            Step::Array { inst, index } => {
                self.b.span = at(inst).span;
                self.array(at(inst), *index);
            }
            Step::If { inst, condition, branches } => {
                self.b.span = at(inst).span;
                self.if_step(at(inst), *condition, branches);
            }
            Step::Loop(rounds) => {
                self.b.span = at(&rounds.inst).span;
                self.loop_step(rounds);
            }
            Step::Call { inst, callee, handed } => {
                self.b.span = at(inst).span;
                self.call(at(inst), callee, handed);
            }
            Step::Texture { inst, gradients, texels } => {
                self.b.span = at(inst).span;
                self.texture(at(inst), gradients, texels);
            }
            Step::Element { inst, index, added } => {
                self.b.span = at(inst).span;
                self.element(at(inst), *index, *added);
            }
            Step::AddTo { inst, index } => {
                self.b.span = at(inst).span;
                self.add_to(at(inst), *index);
            }
            Step::External { inst, partials } => {
                self.b.span = at(inst).span;
                self.external(at(inst), partials);
            }
            Step::Push { inst, site } => self.undo_push(at(inst), *site),
            Step::Pop { inst, site } => self.undo_pop(at(inst), *site),
        }
    }

    fn rule(&mut self, rule: &Rule, args: &[Value], cotangent: Value) {
        match *rule {
            Rule::Zero => {}
            Rule::Sum(ref terms) => {
                for &(i, coefficient) in terms {
                    match coefficient {
                        Coefficient::One => self.add(args[i], cotangent),
                        Coefficient::MinusOne => {
                            let opposite = self.b.neg(cotangent);
                            self.add(args[i], opposite);
                        }
                        Coefficient::Times(c) => self.add_product(args[i], self.known(c), cotangent),
                    }
                }
            }
            Rule::Choose { condition, then, otherwise } => {
                let (condition, zero) = (self.known(condition), self.b.float(0.0));
                let (a, b) = (self.b.select(condition, cotangent, zero), self.b.select(condition, zero, cotangent));
                self.add(args[then], a);
                self.add(args[otherwise], b);
            }
            Rule::Where { condition, operand } => {
                let (condition, zero) = (self.known(condition), self.b.float(0.0));
                let term = self.b.select(condition, cotangent, zero);
                self.add(args[operand], term);
            }
            Rule::Quotient { result, divisor } => {
                let (result, divisor) = (self.known(result), self.known(divisor));
                // Quotients by the same divisor share its reciprocal, and one that no round changes leaves the loop.
                let one = self.b.float(1.0);
                let reciprocal = self.b.div(one, divisor);
                let term = self.b.mul(reciprocal, cotangent);
                self.add_product(args[0], reciprocal, cotangent);
                if self.is_active(args[1]) {
                    let opposite = self.b.neg(result);
                    self.add_product(args[1], opposite, term);
                }
            }
        }
    }

    /// Values from outside of regions whose cotangents the steps inside may add to.
    pub fn captured(&self, regions: &[Region]) -> Vec<Value> {
        let mut used = uses_inside(self.source, regions);
        used.retain(|v| self.is_active(*v));
        used
    }

    fn if_step(&mut self, data: &InstData, condition: Value, branches: &[Branch; 2]) {
        let source = self.source;
        let given: Vec<Option<Value>> = data.results.iter().map(|&r| self.take(r)).collect();
        let touched = self.captured(&data.regions);
        let condition = self.known(condition);
        let (before, token) = (self.cotangents.clone(), self.token);
        // Where nothing is added, nothing is to come out.
        let zeros: Vec<Value> =
            touched.iter().map(|v| before.get(v).copied().unwrap_or_else(|| self.b.zero(source.ty(*v)))).collect();
        let (mut regions, mut changed) = (Vec::new(), vec![false; touched.len()]);
        for (&region, branch) in data.regions.iter().zip(branches) {
            let new = self.b.open(&[]);
            (self.cotangents, self.token) = (before.clone(), token);
            let slots: Values = branch.slots.iter().map(|&v| self.known(v)).collect();
            self.begin(&branch.kept, &slots, None);
            for (&inner, cotangent) in source.region(region).results.iter().zip(&given) {
                if let Some(cotangent) = *cotangent {
                    self.add(inner, cotangent);
                }
            }
            self.steps(&branch.steps);
            let mut results: Values = self.token.into_iter().collect();
            for ((v, zero), changed) in touched.iter().zip(&zeros).zip(&mut changed) {
                let cotangent = self.cotangents.get(v).copied();
                *changed |= cotangent != before.get(v).copied();
                results.push(cotangent.unwrap_or(*zero));
            }
            self.b.close(results);
            regions.push(new);
        }
        let keep: Vec<bool> = token.iter().map(|_| true).chain(changed.iter().copied()).collect();
        for region in &regions {
            crate::passes::dce::retain(&mut self.b.function.regions[region.index()].results, &keep);
        }
        let touched: Vec<Value> = touched.into_iter().zip(&changed).filter(|(_, c)| **c).map(|(v, _)| v).collect();
        let types: Vec<Ty> = token.iter().map(|_| Ty::Token).chain(touched.iter().map(|&v| source.ty(v))).collect();
        let inst = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &regions);
        let results = Values::from_slice(self.b.results(inst));
        (self.cotangents, self.token) = (before, token.map(|_| results[0]));
        let first = usize::from(token.is_some());
        self.cotangents.extend(touched.into_iter().zip(results[first..].iter().copied()));
    }

    /// The gradient times the cotangents of the channels; and the host gets these for the texels. The footprint counts
    /// as constant.
    fn texture(&mut self, data: &InstData, gradients: &[Value], texels: &[Value]) {
        let cotangents: Vec<Option<Value>> = data.results[1..5].iter().map(|&r| self.take(r)).collect();
        if cotangents.iter().all(Option::is_none) {
            return;
        }
        for (i, &gradient) in gradients.iter().enumerate() {
            let Some(cotangent) = cotangents[i % 4] else { continue };
            self.add_product(data.args[1 + i / 4], self.known(gradient), cotangent);
        }
        if let (Op::Texture { word, level, .. }, Some(token), false) = (data.op, self.token, texels.is_empty()) {
            let zero = self.b.float(0.0);
            let mut args = Values::from_slice(&[token]);
            args.extend(texels.iter().map(|&v| self.known(v)));
            args.extend(cotangents.iter().map(|c| c.unwrap_or(zero)));
            let inst = self.b.push(Op::TextureAdjoint { word, level }, args, &[Ty::Token], &[]);
            self.token = Some(self.b.results(inst)[0]);
        }
    }

    /// What a point read it adds to, and the other way round. The host's sums leave out what is not finite.
    fn element(&mut self, data: &InstData, index: Value, added: u32) {
        // Whatever reads elements is given a token: see `lower::facts`.
        let (Some(cotangent), Some(token)) = (self.take(data.results[0]), self.token) else { return };
        let index = self.known(index);
        let inst = self.b.push(Op::AddTo(added), Values::from_slice(&[token, index, cotangent]), &[Ty::Token], &[]);
        self.token = Some(self.b.results(inst)[0]);
    }

    fn add_to(&mut self, data: &InstData, index: Value) {
        let Op::AddTo(first) = data.op else { return };
        let index = self.known(index);
        for (column, &v) in (first..).zip(&data.args[2..]) {
            let Some(column) = self.module.gradient_columns.cotangent(column).filter(|_| self.is_active(v)) else {
                continue;
            };
            let cotangent = self.b.emit(Op::Element { column, scalar: Scalar::Float }, &[index], FLOAT);
            self.add(v, cotangent);
        }
    }

    fn external(&mut self, data: &InstData, partials: &[(usize, Values)]) {
        let given: Vec<Option<Value>> = data.results.iter().map(|&r| self.take(r)).collect();
        for (component, values) in partials {
            for (&partial, cotangent) in values.iter().zip(&given) {
                let Some(cotangent) = *cotangent else { continue };
                self.add_product(data.args[*component], self.known(partial), cotangent);
            }
        }
    }

    /// What was taken off the tape gives its cotangents onto it, where the sweep meets them at the push.
    fn undo_pop(&mut self, data: &InstData, site: Site) {
        let Some(token) = self.token else { return };
        let mut args = Values::from_slice(&[token]);
        for &r in data.results[1..].iter().filter(|r| self.source.ty(**r).is_differentiable()) {
            args.push(self.take_or_zero(r));
        }
        let inst = self.b.push(Op::Push(site), args, &[Ty::Token], &[]);
        self.token = Some(self.b.results(inst)[0]);
    }

    fn undo_push(&mut self, data: &InstData, site: Site) {
        let differentiable: Values =
            data.args[1..].iter().copied().filter(|v| self.source.ty(*v).is_differentiable()).collect();
        let mut types = vec![Ty::Token];
        types.extend(differentiable.iter().map(|&v| self.source.ty(v)));
        let cotangents = self.pop_types(site, &types);
        for (v, cotangent) in differentiable.into_iter().zip(cotangents) {
            self.add(v, cotangent);
        }
    }
}

/// What regions read from outside of them, each value once.
pub(super) fn uses_inside(f: &Function, regions: &[Region]) -> Vec<Value> {
    let (mut inside, mut used, mut found) = (HashSet::new(), Vec::new(), HashSet::new());
    for &region in regions {
        inside.extend(f.region(region).params.iter().copied());
        f.walk_region(region, &mut |_, data| {
            inside.extend(data.results.iter().copied());
            used.extend(data.args.iter().copied());
            for &inner in &data.regions {
                inside.extend(f.region(inner).params.iter().copied());
                used.extend(f.region(inner).results.iter().copied());
            }
        });
        used.extend(f.region(region).results.iter().copied());
    }
    used.retain(|v| !inside.contains(v) && found.insert(*v));
    used
}
