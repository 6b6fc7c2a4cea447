//! Writes a function again with the partials of its values, and remembers the linear steps.

use super::keep::{Boundary, decide};
use super::steps::{Branch, Step};
use super::undo;
use super::{Output, is_wanted};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::passes::ad::rules::{Rule, rule};
use crate::runtime::externals;
use std::collections::{HashMap, HashSet};

pub(super) struct Lineariser<'a, 'm> {
    pub output: &'a mut Output<'m>,
    pub b: Builder,
    pub source: &'m Function,
    pub active: &'a [bool],
    /// The new value of each old one.
    pub primal: Vec<Option<Value>>,
    pub prefer: Prefer,
    /// Values that go nowhere but into results that nobody wants.
    pub unwanted: HashSet<Value>,
    /// Calls that can be taken back.
    pub back: HashMap<Inst, undo::Step>,
    /// Within a loop that is taken back.
    pub undoing: bool,
}

impl<'m> Lineariser<'_, 'm> {
    pub fn value(&self, old: Value) -> Value {
        // Verified code defines values before it uses them.
        self.primal[old.index()].expect("a definition comes before its uses")
    }

    pub fn values(&self, old: &[Value]) -> Values {
        old.iter().map(|&v| self.value(v)).collect()
    }

    pub fn bind(&mut self, old: &[Value], new: &[Value]) {
        for (&o, &n) in old.iter().zip(new) {
            self.primal[o.index()] = Some(n);
        }
    }

    fn is_active(&self, old: Value) -> bool {
        self.active[old.index()]
    }

    pub fn region(&mut self, region: Region) -> Vec<Step> {
        let source = self.source;
        let mut steps = Vec::new();
        for &inst in &source.region(region).insts {
            let data = source.inst(inst);
            self.b.span = data.span;
            steps.extend(self.inst(inst, data));
        }
        steps
    }

    fn inst(&mut self, inst: Inst, data: &'m InstData) -> Option<Step> {
        match data.op {
            Op::If => self.if_inst(inst, data),
            Op::Loop(checkpoint) => self.loop_inst(inst, data, checkpoint),
            Op::Call(callee) => self.call(inst, data, callee),
            Op::Texture { .. } => self.texture(inst, data),
            Op::External(id) => self.external(inst, data, id),
            Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(inst, data),
            Op::Element { column, .. } => self.element(inst, data, column),
            Op::AddTo(_) => self.add_to(inst, data),
            op if op.is_pure() => self.pure(inst, data, op),
            op => {
                let types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
                let args = self.values(&data.args);
                let new = self.b.push(op, args, &types, &[]);
                self.bind(&data.results, &Values::from_slice(self.b.results(new)));
                let carried = if let Op::Push(_) = op { &data.args[..] } else { &data.results[..] };
                if !carried.iter().any(|&v| self.source.ty(v).is_differentiable()) {
                    return None;
                }
                match op {
                    Op::Push(site) => Some(Step::Push { inst, site: self.output.mirror(site) }),
                    Op::Pop(site) => Some(Step::Pop { inst, site: self.output.mirror(site) }),
                    _ => None,
                }
            }
        }
    }

    fn pure(&mut self, inst: Inst, data: &InstData, op: Op) -> Option<Step> {
        let (args, old) = (self.values(&data.args), data.results[0]);
        let new = match op {
            Op::Const(c) => self.b.constant(c),
            op => self.b.emit(op, &args, self.source.ty(old)),
        };
        self.primal[old.index()] = Some(new);
        if !self.is_active(old) || op == Op::Detach {
            return None;
        }
        if let Op::Barrier(why) = op {
            self.output.refuse(super::Refused::Jumps { span: data.span, why });
        }
        let is_one = |b: &Builder, v: Value| b.constant_of(v) == Some(Const::Float(1f32.to_bits()));
        if op == Op::Float2(Float2::Div) && is_one(&self.b, args[0]) {
            return Some(Step::Reciprocal { inst, result: new });
        }
        let active: Vec<bool> = data.args.iter().map(|&v| self.is_active(v)).collect();
        let rule = rule(&mut self.b, op, &args, new, &active);
        Some(Step::Rule { inst, rule: only_active(rule, &active) })
    }

    /// The index is clamped once, without being counted again by the sweep.
    fn array(&mut self, inst: Inst, data: &InstData) -> Option<Step> {
        let (args, old) = (self.values(&data.args), data.results[0]);
        let new = self.b.emit(data.op, &args, self.source.ty(old));
        self.primal[old.index()] = Some(new);
        if !self.is_active(old) {
            return None;
        }
        let index = match (data.op, self.source.ty(data.args[0])) {
            (Op::ArrayGet | Op::ArraySet, Ty::Array(_, n)) => {
                let (zero, last) = (self.b.int(0), self.b.int(n as i32 - 1));
                let below = self.b.int_compare(Compare::Lt, args[1], zero);
                let index = self.b.select(below, zero, args[1]);
                let above = self.b.int_compare(Compare::Gt, index, last);
                Some(self.b.select(above, last, index))
            }
            _ => None,
        };
        Some(Step::Array { inst, index })
    }

    fn if_inst(&mut self, inst: Inst, data: &InstData) -> Option<Step> {
        let condition = self.value(data.args[0]);
        let mut branches = Vec::new();
        let mut regions = Vec::new();
        for &region in &data.regions {
            let new = self.b.open(&[]);
            let steps = self.region(region);
            let kept = decide(&self.b.function, new, &steps, Boundary::branch(self.prefer));
            let results = self.values(&self.source.region(region).results);
            self.b.close(results);
            branches.push(Branch { steps, kept, slots: Vec::new() });
            regions.push(new);
        }
        let mut types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
        let first = types.len();
        let slots = self.fill_slots(&branches, &regions);
        types.extend(slots.types);
        self.b.span = data.span;
        let new = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &regions);
        let results = Values::from_slice(self.b.results(new));
        self.bind(&data.results, &results);
        for (branch, places) in branches.iter_mut().zip(&slots.places) {
            branch.slots = places.iter().map(|&i| results[first + i]).collect();
        }
        let idle = branches.iter().all(|b| b.steps.is_empty()) && !data.results.iter().any(|&r| self.is_active(r));
        let branches = <[Branch; 2]>::try_from(branches).ok()?;
        (!idle).then_some(Step::If { inst, condition, branches })
    }

    /// Appends what branches keep to their results. Both share the slots, type by type.
    fn fill_slots(&mut self, branches: &[Branch], regions: &[Region]) -> Slots {
        let mut slots = Slots { types: Vec::new(), places: [Vec::new(), Vec::new()] };
        for (branch, places) in branches.iter().zip(&mut slots.places) {
            for &v in &branch.kept.leaves {
                let ty = self.b.ty(v);
                let free = (0..slots.types.len()).find(|i| slots.types[*i] == ty && !places.contains(i));
                places.push(free.unwrap_or_else(|| {
                    slots.types.push(ty);
                    slots.types.len() - 1
                }));
            }
        }
        for ((branch, places), &region) in branches.iter().zip(&slots.places).zip(regions) {
            let mut results = self.b.function.region(region).results.clone();
            self.b.reopen(region);
            for (i, &ty) in slots.types.iter().enumerate() {
                let kept = places.iter().position(|&p| p == i).map(|n| branch.kept.leaves[n]);
                results.push(kept.unwrap_or_else(|| self.b.zero(ty)));
            }
            self.b.close(results);
        }
        slots
    }

    fn texture(&mut self, inst: Inst, data: &InstData) -> Option<Step> {
        let active = data.results.iter().any(|&r| self.is_active(r));
        let Op::Texture { word, gradient, level } = data.op else { return None };
        // Its own gradient matters where the place does.
        let moves = active && data.args[1..3].iter().any(|&v| self.is_active(v));
        let op = Op::Texture { word, gradient: gradient || moves, level };
        let mut types = vec![FLOAT; if gradient || moves { 13 } else { 5 }];
        types[0] = Ty::Token;
        let args = self.values(&data.args);
        let place = args[1..].to_vec();
        let new = self.b.push(op, args, &types, &[]);
        let results = Values::from_slice(self.b.results(new));
        self.bind(&data.results, &results);
        let gradients = if moves { results[5..].to_vec() } else { Vec::new() };
        let texels = if is_wanted(self.output.module, op) { place } else { Vec::new() };
        active.then_some(Step::Texture { inst, gradients, texels })
    }

    fn element(&mut self, inst: Inst, data: &InstData, column: u32) -> Option<Step> {
        let (index, old) = (self.value(data.args[0]), data.results[0]);
        let new = self.b.emit(data.op, &[index], self.source.ty(old));
        self.primal[old.index()] = Some(new);
        let added = self.output.module.gradient_columns.gradient(column).filter(|_| self.is_active(old))?;
        Some(Step::Element { inst, index, added })
    }

    fn add_to(&mut self, inst: Inst, data: &InstData) -> Option<Step> {
        let args = self.values(&data.args);
        let columns = &self.output.module.gradient_columns;
        let new = match columns.alone {
            true => args[0],
            false => {
                let inst = self.b.push(data.op, args.clone(), &[Ty::Token], &[]);
                self.b.results(inst)[0]
            }
        };
        self.bind(&data.results, &[new]);
        let active = !columns.of.is_empty() && data.args[2..].iter().any(|&v| self.is_active(v));
        active.then_some(Step::AddTo { inst, index: args[1] })
    }

    fn external(&mut self, inst: Inst, data: &InstData, id: u32) -> Option<Step> {
        let args = self.values(&data.args);
        let types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
        let new = self.b.push(Op::External(id), args.clone(), &types, &[]);
        self.bind(&data.results, &Values::from_slice(self.b.results(new)));
        if !data.results.iter().any(|&r| self.is_active(r)) {
            return None;
        }
        let mut partials = Vec::new();
        for component in 0..data.args.len() {
            if !self.is_active(data.args[component]) {
                continue;
            }
            match self.output.module.externals.rule(id, component) {
                externals::Rule::Zero => {}
                externals::Rule::Function(rule) => {
                    let new = self.b.push(Op::External(rule), args.clone(), &types, &[]);
                    partials.push((component, Values::from_slice(self.b.results(new))));
                }
                externals::Rule::Missing => {
                    let function = self.output.module.externals.get(id).map_or(String::new(), |e| e.name.clone());
                    self.output.refuse(super::Refused::NoRule { span: data.span, function, component });
                }
            }
        }
        Some(Step::External { inst, partials })
    }
}

struct Slots {
    types: Vec<Ty>,
    /// By branch, the slot of each value that it keeps.
    places: [Vec<usize>; 2],
}

/// A rule without the terms of operands that carry nothing.
fn only_active(rule: Rule, active: &[bool]) -> Rule {
    match rule {
        Rule::Sum(terms) => Rule::Sum(terms.into_iter().filter(|(i, _)| active[*i]).collect()),
        other => other,
    }
}
