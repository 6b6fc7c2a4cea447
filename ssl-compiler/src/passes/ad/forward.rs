//! Writes the differentiated functions: every instruction again, followed by the shadows of its results where they
//! exist.

use super::Refused;
use super::rules::{Coefficient, Rule, rule};
use super::variants::{Variants, plain, wanted};
use crate::analysis::activity::{Activity, Shadows, Signature};
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::{Graph, Lineage, partials};
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::{HashMap, HashSet};

/// A value's shadows in x and y; `None` is zero.
pub(super) type Pair = [Option<Value>; 2];

pub(super) fn rewrite(module: &Module, lineage: &Lineage, variants: &Variants) -> Result<Module, Refused> {
    let mut output = Output {
        ids: HashMap::new(),
        heads: Vec::new(),
        queue: Vec::new(),
        names: HashMap::new(),
        taken: HashSet::new(),
        module,
        refused: None,
    };
    let entry = output.id(module.entry, plain(module, module.entry));
    let mut functions: Vec<Option<Function>> = Vec::new();
    while let Some((new, old, signature)) = output.queue.pop() {
        let activity = Activity::of(module, lineage, old, &signature);
        let source = module.function(old);
        let types: Vec<Ty> = source.params().iter().map(|&v| source.ty(v)).collect();
        let head = output.heads[new.index()].clone();
        let mut writer = Writer {
            b: Builder::new(head),
            source,
            lineage,
            graph: &lineage.graphs[old.index()],
            variants,
            activity,
            output: &mut output,
            primal: vec![None; source.types.len()],
            shadows: vec![[None; 2]; source.types.len()],
        };
        let written = writer.function(&signature, &types);
        functions.resize(functions.len().max(new.index() + 1), None);
        functions[new.index()] = Some(written);
    }
    // Every id that was given out was queued, and so written.
    let functions = functions.into_iter().flatten().collect();
    match output.refused {
        Some(refused) => Err(refused),
        None => Ok(Module { functions, entry, ..module.emptied() }),
    }
}

/// The functions of the new module.
struct Output<'a> {
    ids: HashMap<(FuncId, Signature), FuncId>,
    heads: Vec<Function>,
    queue: Vec<(FuncId, FuncId, Signature)>,
    names: HashMap<String, usize>,
    taken: HashSet<String>,
    module: &'a Module,
    /// The first thing that has no derivative.
    pub refused: Option<Refused>,
}

impl Output<'_> {
    fn id(&mut self, old: FuncId, signature: Signature) -> FuncId {
        if let Some(&id) = self.ids.get(&(old, signature.clone())) {
            return id;
        }
        let source = self.module.function(old);
        let mut params: Vec<Ty> = source.params().iter().map(|&v| source.ty(v)).collect();
        let mut results = source.results.clone();
        for direction in 0..2 {
            for (i, carried) in signature.params.iter().enumerate().filter(|(_, c)| c.shadows.get(direction)) {
                debug_assert!(carried.shadows.any());
                params.push(params[i]);
            }
            results.extend(
                signature.results.iter().enumerate().filter(|(_, r)| r.get(direction)).map(|(i, _)| source.results[i]),
            );
        }
        let base = if signature.is_plain() { source.name.clone() } else { format!("{}.d", source.name) };
        let count = self.names.entry(base.clone()).or_insert(0);
        *count += 1;
        let mut name = if *count == 1 { base } else { format!("{base}{count}") };
        // A name given here may be that of another source function.
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        let id = FuncId(self.heads.len() as u32);
        let head = Function::new(name, &params, &results).with_precision(source.precision);
        self.heads.push(head);
        self.ids.insert((old, signature.clone()), id);
        self.queue.push((id, old, signature));
        id
    }
}

pub(super) struct Writer<'a, 'm> {
    pub b: Builder,
    pub source: &'a Function,
    lineage: &'a Lineage,
    graph: &'a Graph,
    variants: &'a Variants,
    pub activity: Activity,
    output: &'a mut Output<'m>,
    /// The new value of each old one.
    pub primal: Vec<Option<Value>>,
    pub shadows: Vec<Pair>,
}

impl Writer<'_, '_> {
    fn function(&mut self, signature: &Signature, types: &[Ty]) -> Function {
        let params = Values::from_slice(self.b.function.params());
        let mut rest = params[types.len()..].iter().copied();
        for (&old, &new) in self.source.params().iter().zip(&params) {
            self.primal[old.index()] = Some(new);
        }
        for direction in 0..2 {
            for (&old, carried) in self.source.params().iter().zip(&signature.params) {
                if carried.shadows.get(direction) {
                    self.shadows[old.index()][direction] = rest.next();
                }
            }
        }
        let source = self.source;
        self.keep(source.params());
        self.insts(source.body);
        let old = &source.region(source.body).results;
        let mut results: Values = old.iter().map(|&v| self.value(v)).collect();
        for direction in 0..2 {
            for (&v, _) in old.iter().zip(&signature.results).filter(|(_, r)| r.get(direction)) {
                results.push(self.shadow_or_zero(v, direction));
            }
        }
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

    pub fn shadow_or_zero(&mut self, old: Value, direction: usize) -> Value {
        match self.shadows[old.index()][direction] {
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
            let idle = self.activity.idle(self.graph, v);
            for shadow in (0..2).filter(|&d| idle.get(d)).filter_map(|d| self.shadows[v.index()][d]) {
                self.b.push(Op::Keep, Values::from_slice(&[shadow]), &[], &[]);
            }
        }
    }

    fn inst(&mut self, data: &InstData) {
        match data.op {
            Op::If => self.if_inst(data),
            Op::Loop(_) => self.loop_inst(data),
            Op::Call(callee) => self.call(data, callee),
            Op::Derivative(d) if !self.activity.postponed(data) => {
                let shadow = self.at_derivative(data.args[0], d as usize);
                self.primal[data.results[0].index()] = Some(shadow);
            }
            Op::Sample { word } if !self.activity.postponed(data) => {
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
    fn at_footprint(&mut self, old: Value, direction: usize) -> Value {
        let shadow = self.at_sink(old, direction);
        match self.b.constant_of(shadow) {
            Some(Const::Float(bits)) if f32::from_bits(bits).is_nan() => self.b.float(0.0),
            _ => shadow,
        }
    }

    /// The shadow that `ddx` and `ddy` give, which is poisoned where something in it is.
    fn at_derivative(&mut self, old: Value, direction: usize) -> Value {
        let shadow = self.shadow_or_zero(old, direction);
        let finite = self.at_sink(old, direction);
        if !self.poisoned() || finite == shadow {
            return finite;
        }
        let poison = self.b.float_compare(Compare::Ne, shadow, shadow);
        self.b.select(poison, shadow, finite)
    }

    /// The shadow that a sink reads: finite, and zero where there is none. A host's own partials are
    /// taken as they are.
    fn at_sink(&mut self, old: Value, direction: usize) -> Value {
        let shadow = self.shadow_or_zero(old, direction);
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
        let wanted = self.activity.shadows(old);
        if !wanted.any() {
            return;
        }
        let operands: Vec<Pair> = data.args.iter().map(|v| self.shadows[v.index()]).collect();
        let pair = match op {
            Op::Global { field, component, order } => self.global(field, component, order, wanted),
            Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(data, op, &args, ty),
            _ => {
                let active: Vec<bool> = operands.iter().map(|p| p.iter().any(Option::is_some)).collect();
                let rule = rule(&mut self.b, op, &args, new, &active);
                [0, 1].map(|d| self.apply(&rule, &operands, d))
            }
        };
        self.shadows[old.index()] = [0, 1].map(|d| pair[d].filter(|_| wanted.get(d)));
    }

    pub fn externals(&self) -> &crate::runtime::ExternalRegistry {
        &self.output.module.externals
    }

    pub fn refuse(&mut self, refused: Refused) {
        self.output.refused.get_or_insert(refused);
    }

    pub fn apply(&mut self, rule: &Rule, operands: &[Pair], direction: usize) -> Option<Value> {
        let shadow = |i: usize| operands[i][direction];
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
        self.lineage.derivatives == Derivatives::Poisoned
    }

    fn global(&mut self, field: u32, component: u32, order: crate::runtime::Order, wanted: Shadows) -> Pair {
        let orders = partials(order);
        let global = &self.output.module.globals[field as usize];
        [0, 1].map(|d| {
            if !wanted.get(d) {
                return None;
            }
            match orders.get(d).filter(|o| global.row(component as usize, **o).is_some()) {
                Some(&order) => Some(self.b.emit(Op::Global { field, component, order }, &[], FLOAT)),
                None => self.poisoned().then(|| self.b.float(f32::NAN)),
            }
        })
    }

    /// An array's shadow is an array of shadows, indexed alike.
    fn array(&mut self, data: &InstData, op: Op, args: &Values, ty: Ty) -> Pair {
        [0, 1].map(|d| {
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
        })
    }

    /// Through a texture: its own gradient times the coordinates' shadows.
    fn texture(&mut self, data: &InstData, op: Op, args: Values) {
        let channels = &data.results[1..5];
        let wanted = channels.iter().any(|&c| self.activity.shadows(c).any());
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
        let coordinates = [self.shadows[data.args[1].index()], self.shadows[data.args[2].index()]];
        for (i, &channel) in channels.iter().enumerate() {
            let wanted = self.activity.shadows(channel);
            let sum = Rule::Sum(smallvec::smallvec![
                (0, Coefficient::Times(results[5 + i])),
                (1, Coefficient::Times(results[9 + i]))
            ]);
            for d in (0..2).filter(|&d| wanted.get(d)) {
                self.shadows[channel.index()][d] = self.apply(&sum, &coordinates, d);
            }
        }
    }

    fn call(&mut self, data: &InstData, callee: FuncId) {
        let wanted = wanted(self.lineage, &self.activity, data, callee);
        let signature = self.variants.serving(callee, &wanted).clone();
        let mut args = self.values(&data.args);
        for d in 0..2 {
            for (&arg, _) in data.args.iter().zip(&signature.params).filter(|(_, p)| p.shadows.get(d)) {
                args.push(self.shadow_or_zero(arg, d));
            }
        }
        let id = self.output.id(callee, signature.clone());
        let types = self.output.heads[id.index()].results.clone();
        let inst = self.b.push(Op::Call(id), args, &types, &[]);
        self.bind(&data.results, inst);
        let mut rest = self.b.results(inst)[data.results.len()..].iter().copied();
        for d in 0..2 {
            for (&r, _) in data.results.iter().zip(&signature.results).filter(|(_, s)| s.get(d)) {
                self.shadows[r.index()][d] = rest.next();
            }
        }
    }
}
