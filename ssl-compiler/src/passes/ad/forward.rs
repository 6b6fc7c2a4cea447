//! Writes the differentiated functions: every instruction again, followed by the shadows of its results where they
//! exist.

use super::round::Round;
use super::rules::{Coefficient, Rule, rule};
use super::variants::Variants;
use super::{Refused, Variant};
use crate::analysis::activity::{Activity, Signature};
use crate::analysis::axes::{Axes, Shadows};
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::{Graph, partials};
use crate::ir::builder::Builder;
use crate::ir::*;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// A value's shadow along each axis; `None` is zero.
pub(super) type ByAxis = SmallVec<[Option<Value>; 2]>;

pub(super) fn rewrite(round: &Round<'_>, variants: &Variants) -> Result<Module, Refused> {
    let module = round.module;
    let mut output = Output::new(round, variants);
    let entry = output.id(module.entry, Signature::plain(module.entry()));
    while let Some((new, old, signature)) = output.queue.pop() {
        let activity = Activity::of(module, &round.lineage, old, &signature);
        let source = module.function(old);
        let axes = round.lineage.axes.count();
        let mut writer = Writer {
            b: Builder::new(output.heads[new.index()].clone()),
            source,
            round,
            graph: &round.lineage.graphs[old.index()],
            variant: Variant { function: old, signature, activity },
            output: &mut output,
            primal: vec![None; source.types.len()],
            shadows: vec![smallvec::smallvec![None; axes]; source.types.len()],
        };
        let written = writer.function();
        output.written(new, written);
    }
    let Output { functions, refused, .. } = output;
    // Every id that was given out was queued, and so written.
    let functions = functions.into_iter().flatten().collect();
    match refused {
        Some(refused) => Err(refused),
        None => Ok(Module { functions, entry, ..module.emptied() }),
    }
}

/// The functions of the new module.
pub(super) struct Output<'a> {
    ids: HashMap<(FuncId, Signature), FuncId>,
    pub heads: Vec<Function>,
    functions: Vec<Option<Function>>,
    queue: Vec<(FuncId, FuncId, Signature)>,
    names: HashMap<String, usize>,
    taken: HashSet<String>,
    pub round: &'a Round<'a>,
    variants: &'a Variants,
    /// The first number of a site that the module does not use.
    pub sites: u32,
    /// The first thing that has no derivative.
    refused: Option<Refused>,
}

impl<'a> Output<'a> {
    fn new(round: &'a Round<'a>, variants: &'a Variants) -> Output<'a> {
        let mut sites = 0;
        for (f, graph) in round.module.functions.iter().zip(&round.lineage.graphs) {
            for &inst in &graph.flow.tape {
                if let Op::Push(site) | Op::Pop(site) = f.inst(inst).op {
                    sites = sites.max(site.number + 1);
                }
            }
        }
        Output {
            ids: HashMap::new(),
            heads: Vec::new(),
            functions: Vec::new(),
            queue: Vec::new(),
            names: HashMap::new(),
            taken: HashSet::new(),
            round,
            variants,
            sites,
            refused: None,
        }
    }

    /// The function that serves who wants this of a function, to be written if it is new.
    pub fn serving(&mut self, old: FuncId, wanted: &Signature) -> (FuncId, Signature) {
        let signature = self.variants.serving(old, wanted).clone();
        (self.id(old, signature.clone()), signature)
    }

    fn id(&mut self, old: FuncId, signature: Signature) -> FuncId {
        if let Some(&id) = self.ids.get(&(old, signature.clone())) {
            return id;
        }
        let source = self.round.module.function(old);
        let axes = self.round.lineage.axes;
        let mut params: Vec<Ty> = source.params().iter().map(|&v| source.ty(v)).collect();
        let mut results = source.results.clone();
        for axis in 0..axes.count() {
            for (i, _) in signature.params.iter().enumerate().filter(|(_, c)| c.shadows.get(axis)) {
                params.push(params[i]);
            }
            let shadowed = signature.results.iter().enumerate().filter(|(_, r)| r.get(axis));
            results.extend(shadowed.map(|(i, _)| source.results[i]));
        }
        let base = match axes {
            _ if signature.is_plain() => source.name.clone(),
            Axes::Screen => format!("{}.d", source.name),
            Axes::Tangent => format!("{}.jvp", source.name),
        };
        let head = Function::new(self.name(base), &params, &results).with_precision(source.precision);
        let id = self.declare(Function { prefer: source.prefer, spends: source.spends, ..head });
        self.ids.insert((old, signature.clone()), id);
        self.queue.push((id, old, signature.clone()));
        self.customs(id, old, &signature);
        id
    }

    fn name(&mut self, base: String) -> String {
        let count = self.names.entry(base.clone()).or_insert(0);
        *count += 1;
        let mut name = if *count == 1 { base } else { format!("{base}{count}") };
        // A name given here may be that of another source function.
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Notes a function that is written by itself, under a name of its own.
    pub fn add(&mut self, base: String, function: Function) -> FuncId {
        let named = Function { name: self.name(base), ..function };
        let id = self.declare(named.clone());
        self.written(id, named);
        id
    }

    fn declare(&mut self, head: Function) -> FuncId {
        self.heads.push(head);
        self.functions.push(None);
        FuncId(self.heads.len() as u32 - 1)
    }

    fn written(&mut self, id: FuncId, function: Function) {
        let Function { custom, undo, .. } = self.heads[id.index()];
        self.functions[id.index()] = Some(Function { custom, undo, ..function });
    }

    /// Gives a variant the function's custom derivatives, and what takes it back.
    fn customs(&mut self, id: FuncId, old: FuncId, signature: &Signature) {
        let customs = self.round.customs(old, signature);
        let [forward, backward] = customs.map(|custom| custom.map(|(of, wanted)| self.kept(of, &wanted)));
        let carried: usize = (0..self.round.lineage.axes.count())
            .map(|axis| signature.params.iter().filter(|p| p.shadows.get(axis)).count())
            .sum();
        let forward = forward.map(|of| self.custom_for(old, id, carried, of, true));
        let backward = backward.map(|of| self.custom_for(old, id, carried, of, false));
        self.heads[id.index()].custom = Custom { forward, backward };
        let undo = self.round.undo(old, signature).map(|(of, wanted)| self.kept(of, &wanted));
        self.heads[id.index()].undo = undo;
    }

    pub fn refuse(&mut self, refused: Refused) {
        self.refused.get_or_insert(refused);
    }
}

pub(super) struct Writer<'a, 'm> {
    pub b: Builder,
    pub source: &'m Function,
    pub round: &'m Round<'m>,
    pub graph: &'m Graph,
    pub variant: Variant,
    pub output: &'a mut Output<'m>,
    /// The new value of each old one.
    pub primal: Vec<Option<Value>>,
    pub shadows: Vec<ByAxis>,
}

impl Writer<'_, '_> {
    /// How many axes there are.
    pub fn axes(&self) -> usize {
        self.round.lineage.axes.count()
    }

    fn function(&mut self) -> Function {
        let source = self.source;
        let params = Values::from_slice(self.b.function.params());
        let signature = self.variant.signature.clone();
        let carried = self.carried(|i| signature.params[i].shadows, source.params().len());
        self.bind_values(source.params(), &carried, &params);
        self.keep(source.params());
        self.insts(source.body);
        let old = &source.region(source.body).results;
        let carried = self.carried(|i| signature.results[i], old.len());
        let results = self.with_shadows(old, &carried);
        let bindings = source.bindings.iter();
        let bindings = bindings.filter_map(|b| Some(Binding { value: self.primal[b.value.index()]?, ..b.clone() }));
        self.b.function.bindings = bindings.collect();
        let builder = std::mem::replace(&mut self.b, Builder::new(Function::new("", &[], &[])));
        builder.finish(results)
    }

    pub fn value(&self, old: Value) -> Value {
        // Verified code defines values before it uses them.
        self.primal[old.index()].expect("a definition comes before its uses")
    }

    pub fn values(&self, old: &[Value]) -> Values {
        old.iter().map(|&v| self.value(v)).collect()
    }

    pub fn shadow_or_zero(&mut self, old: Value, axis: usize) -> Value {
        match self.shadows[old.index()][axis] {
            Some(v) => v,
            None => {
                let ty = self.source.ty(old);
                self.b.zero(ty)
            }
        }
    }

    pub fn insts(&mut self, region: Region) {
        let source = self.source;
        for &inst in &source.region(region).insts {
            let data = source.inst(inst);
            self.b.span = data.span;
            self.inst(data);
            self.keep(&data.results);
        }
    }

    /// Keeps the shadows that exist for being forced to, and that nothing reads. (An array that nothing reads is dead.)
    pub fn keep(&mut self, values: &[Value]) {
        for &v in values.iter().filter(|v| !self.source.ty(**v).is_array()) {
            let idle = self.variant.activity.idle(self.graph, v);
            for shadow in idle.iter().filter_map(|axis| self.shadows[v.index()][axis]) {
                self.b.push(Op::Keep, Values::from_slice(&[shadow]), &[], &[]);
            }
        }
    }

    fn inst(&mut self, data: &InstData) {
        match data.op {
            Op::If => self.if_inst(data),
            Op::Loop(_) => self.loop_inst(data),
            Op::Call(callee) => self.call(data, callee),
            Op::Jvp { function, .. } if self.round.resolves(data.op) => self.jvp(data, function),
            Op::Jvp { function, screen } | Op::Vjp { function, screen } => self.waiting(data, function, screen),
            Op::Push(site) => self.push(data, site),
            Op::Pop(site) => self.pop(data, site),
            Op::Derivative(d) if !self.variant.activity.postponed(data) => {
                let shadow = self.at_derivative(data.args[0], d as usize);
                self.primal[data.results[0].index()] = Some(shadow);
            }
            Op::Sample { word } if !self.variant.activity.postponed(data) => {
                let footprint = [(1, 0), (1, 1), (2, 0), (2, 1)].map(|(i, d)| self.at_footprint(data.args[i], d));
                let mut args = self.values(&data.args);
                args.extend(footprint);
                self.texture(data, Op::Texture { word, gradient: false, level: false }, args);
            }
            Op::Texture { .. } => {
                let args = self.values(&data.args);
                self.texture(data, data.op, args);
            }
            Op::External(id) => self.external(data, id),
            op if op.is_pure() => self.pure(data, op),
            op => {
                let args = self.values(&data.args);
                let types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
                let inst = self.b.push(op, args, &types, &[]);
                self.bind(&data.results, inst);
            }
        }
    }

    pub fn bind(&mut self, old: &[Value], inst: Inst) {
        for (i, &r) in old.iter().enumerate() {
            self.primal[r.index()] = Some(self.b.results(inst)[i]);
        }
    }

    /// The shadow that a look-up reads: hosts never see poison.
    fn at_footprint(&mut self, old: Value, axis: usize) -> Value {
        let shadow = self.at_sink(old, axis);
        match self.b.constant_of(shadow) {
            Some(Const::Float(bits)) if f32::from_bits(bits).is_nan() => self.b.float(0.0),
            _ => shadow,
        }
    }

    /// The shadow that `ddx` and `ddy` give, which is poisoned where something in it is.
    fn at_derivative(&mut self, old: Value, axis: usize) -> Value {
        let shadow = self.shadow_or_zero(old, axis);
        let finite = self.at_sink(old, axis);
        if !self.poisoned() || finite == shadow {
            return finite;
        }
        let poison = self.b.float_compare(Compare::Ne, shadow, shadow);
        self.b.select(poison, shadow, finite)
    }

    /// The shadow that a sink reads: finite, and zero where there is none. A host's own partials are
    /// taken as they are.
    fn at_sink(&mut self, old: Value, axis: usize) -> Value {
        let shadow = self.shadow_or_zero(old, axis);
        match self.b.operation_of(shadow) {
            Some(Op::Const(_) | Op::Global { .. }) => shadow,
            _ => self.b.emit(Op::Finite, &[shadow], FLOAT),
        }
    }

    fn pure(&mut self, data: &InstData, op: Op) {
        let args = self.values(&data.args);
        let (old, ty) = (data.results[0], self.source.ty(data.results[0]));
        let new = self.b.emit(op, &args, ty);
        self.primal[old.index()] = Some(new);
        let wanted = self.variant.activity.shadows(old);
        if !wanted.any() {
            return;
        }
        let operands = self.operands(data);
        let shadows = match op {
            Op::Global { field, component, order } => self.global(field, component, order, wanted),
            Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(data, op, &args, ty),
            Op::Barrier(why) => {
                self.refuse(Refused::Jumps { span: data.span, why });
                operands[0].clone()
            }
            // The derivative along the screen of what is constant to `jvp` and `vjp` is constant to them, too.
            Op::Detach => {
                let detached = |v: Option<Value>| v.map(|v| self.b.emit(Op::Detach, &[v], ty));
                operands[0].iter().copied().map(detached).collect()
            }
            Op::Cross => (0..self.axes()).map(|axis| self.cross(&args, &operands, axis)).collect::<ByAxis>(),
            _ => {
                let active: Vec<bool> = operands.iter().map(|p| p.iter().any(Option::is_some)).collect();
                let rule = rule(&mut self.b, op, &args, new, &active);
                (0..self.axes()).map(|axis| self.apply(&rule, &operands, axis)).collect::<ByAxis>()
            }
        };
        self.shadows[old.index()] =
            shadows.into_iter().enumerate().map(|(axis, v)| v.filter(|_| wanted.get(axis))).collect();
    }

    /// The derivative of a value, with the additional product of its second derivative. It is written without a product
    /// that is 0, as the rule has it, so that first derivatives cost nothing more.
    fn cross(&mut self, args: &[Value], operands: &[ByAxis], axis: usize) -> Option<Value> {
        let (value, weight) = (operands[0][axis], operands[1][axis]);
        let Some(weight) = weight else { return value };
        let (&[_, _, whole, residual], zero) = (args, self.b.float(0.0)) else { return value };
        let one = self.b.float(1.0);
        let depends = self.b.emit(Op::Boundary, &[weight, one, whole], FLOAT);
        let once = self.b.emit(Op::Barrier(Why::Twice), &[depends], FLOAT);
        let moved = self.b.emit(Op::Boundary, &[value.unwrap_or(zero), once, residual], FLOAT);
        Some(self.b.emit(Op::Cross, &[moved, weight, depends, residual], FLOAT))
    }

    /// The shadows of an operation's arguments.
    pub fn operands(&self, data: &InstData) -> Vec<ByAxis> {
        data.args.iter().map(|v| self.shadows[v.index()].clone()).collect()
    }

    pub fn externals(&self) -> &crate::runtime::ExternalRegistry {
        &self.round.module.externals
    }

    pub fn refuse(&mut self, refused: Refused) {
        self.output.refuse(refused);
    }

    pub fn apply(&mut self, rule: &Rule, operands: &[ByAxis], axis: usize) -> Option<Value> {
        let shadow = |i: usize| operands[i][axis];
        match *rule {
            Rule::Zero => None,
            Rule::Sum(ref terms) => {
                let mut sum: Option<Value> = None;
                for &(i, coefficient) in terms {
                    let Some(t) = shadow(i) else { continue };
                    sum = Some(match (sum, coefficient) {
                        (None, Coefficient::One) => t,
                        (None, Coefficient::MinusOne) => self.b.neg(t),
                        (None, Coefficient::Times(c)) => self.b.mul(c, t),
                        (Some(s), Coefficient::One) => self.b.add(s, t),
                        (Some(s), Coefficient::MinusOne) => self.b.sub(s, t),
                        (Some(s), Coefficient::Times(c)) => {
                            let term = self.b.mul(c, t);
                            self.b.add(s, term)
                        }
                    });
                }
                sum
            }
            Rule::Choose { condition, then, otherwise } => {
                let (a, b) = (shadow(then), shadow(otherwise));
                if a.is_none() && b.is_none() {
                    return None;
                }
                let zero = self.b.float(0.0);
                Some(self.b.select(condition, a.unwrap_or(zero), b.unwrap_or(zero)))
            }
            Rule::Where { condition, operand } => {
                let zero = self.b.float(0.0);
                shadow(operand).map(|t| self.b.select(condition, t, zero))
            }
            Rule::Quotient { result, divisor } => {
                let scaled = shadow(1).map(|t| self.b.mul(result, t));
                let numerator = match (shadow(0), scaled) {
                    (None, None) => return None,
                    (Some(a), None) => a,
                    (None, Some(s)) => self.b.neg(s),
                    (Some(a), Some(s)) => self.b.sub(a, s),
                };
                Some(self.b.div(numerator, divisor))
            }
        }
    }

    /// Whether partials that the host does not give are NaN.
    fn poisoned(&self) -> bool {
        self.round.lineage.derivatives == Derivatives::Poisoned
    }

    fn global(&mut self, field: u32, component: u32, order: crate::runtime::Order, wanted: Shadows) -> ByAxis {
        let orders = partials(order);
        let global = &self.round.module.globals[field as usize];
        let axes = 0..self.axes();
        let shadow = |axis: usize| {
            if !wanted.get(axis) {
                return None;
            }
            match orders.get(axis).filter(|o| global.row(component as usize, **o).is_some()) {
                Some(&order) => Some(self.b.emit(Op::Global { field, component, order }, &[], FLOAT)),
                None => self.poisoned().then(|| self.b.float(f32::NAN)),
            }
        };
        axes.map(shadow).collect()
    }

    /// An array's shadow is an array of shadows, indexed alike.
    fn array(&mut self, data: &InstData, op: Op, args: &Values, ty: Ty) -> ByAxis {
        let axes = 0..self.axes();
        let shadow = |d: usize| {
            let value = |i: usize| data.args[i];
            if data.args.iter().all(|v| self.shadows[v.index()][d].is_none()) {
                return None;
            }
            let shadows: Values = match op {
                Op::ArrayGet => Values::from_slice(&[self.shadow_or_zero(value(0), d), args[1]]),
                Op::ArraySet => {
                    let (array, element) = (self.shadow_or_zero(value(0), d), self.shadow_or_zero(value(2), d));
                    Values::from_slice(&[array, args[1], element])
                }
                _ => data.args.iter().map(|&v| self.shadow_or_zero(v, d)).collect(),
            };
            Some(self.b.emit(op, &shadows, ty))
        };
        axes.map(shadow).collect()
    }

    /// Through a texture: its own gradient times the coordinates' shadows.
    fn texture(&mut self, data: &InstData, op: Op, args: Values) {
        let channels = &data.results[1..5];
        let wanted = channels.iter().any(|&c| self.variant.activity.shadows(c).any());
        let (op, gradient) = match op {
            Op::Texture { word, gradient, level } => {
                let gradient = gradient || wanted;
                (Op::Texture { word, gradient, level }, gradient)
            }
            op => (op, false),
        };
        let mut types = vec![FLOAT; if gradient { 13 } else { 5 }];
        types[0] = Ty::Token;
        let inst = self.b.push(op, args, &types, &[]);
        self.bind(&data.results, inst);
        if !gradient {
            return;
        }
        let results = Values::from_slice(self.b.results(inst));
        let coordinates = [1, 2].map(|i| self.shadows[data.args[i].index()].clone());
        for (i, &channel) in channels.iter().enumerate() {
            let wanted = self.variant.activity.shadows(channel);
            let sum = Rule::Sum(smallvec::smallvec![
                (0, Coefficient::Times(results[5 + i])),
                (1, Coefficient::Times(results[9 + i]))
            ]);
            for axis in wanted.iter() {
                self.shadows[channel.index()][axis] = self.apply(&sum, &coordinates, axis);
            }
        }
    }
}
