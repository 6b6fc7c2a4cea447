//! Closure conversion: what functions read of a few inputs becomes parameters of theirs, and every call passes them on.
//! So the body of a shader becomes a function that can be differentiated by its inputs.
//!
//! Requires verified code in which no derivative's callee has screen-space shadows yet. Keeps what it computes. A
//! function gets the inputs that it or its callees read, and no others; a custom derivative takes them where its
//! function does, and gives 0 for them, since it says itself what its function's derivative is.

use crate::ir::gradients::Input;
use crate::ir::{Const, FLOAT, FuncId, Function, InstData, Module, Op, Ty, Value, Values};
use crate::source::Span;
use std::collections::{BTreeSet, HashMap};

/// Makes the inputs parameters. Afterwards the entry takes them behind its token, in their order, so it is no entry any
/// more: the caller makes another one.
pub fn run(module: &mut Module, inputs: &[Input]) {
    let index: HashMap<Input, usize> = inputs.iter().enumerate().map(|(i, &input)| (input, i)).collect();
    let needs = needs(module, &index);
    let shapes: Vec<Shape> = shapes(module, &needs);
    for (f, shape) in module.functions.iter_mut().zip(&shapes) {
        Writer { f, shapes: &shapes, index: &index, lifted: HashMap::new(), zero: None }.function(shape);
    }
}

/// Which inputs each function needs.
fn needs(module: &Module, index: &HashMap<Input, usize>) -> Vec<BTreeSet<usize>> {
    let mut needs = vec![BTreeSet::new(); module.functions.len()];
    let mut callees = vec![Vec::new(); module.functions.len()];
    for (id, f) in module.functions.iter().enumerate() {
        f.walk(|_, data| {
            needs[id].extend(Input::read_by(data, &f.types).and_then(|input| index.get(&input)));
            callees[id].extend(data.op.callee());
        });
    }
    needs[module.entry.index()].extend(0..index.len());
    let mut changed = true;
    while changed {
        changed = false;
        let mut unite = |to: usize, from: usize| {
            let more: Vec<usize> = needs[from].difference(&needs[to]).copied().collect();
            changed |= !more.is_empty();
            needs[to].extend(more);
        };
        // Callees mostly stand behind their callers.
        for (id, f) in module.functions.iter().enumerate().rev() {
            callees[id].iter().for_each(|callee: &FuncId| unite(id, callee.index()));
            for custom in f.custom.functions().chain(f.undo) {
                unite(id, custom.index());
                unite(custom.index(), id);
            }
        }
    }
    needs
}

/// What takes the place of a parameter or result.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    /// That of this number before.
    Old(usize),
    /// An input.
    Input(usize),
    /// The derivative by an input, which is 0.
    Zero,
}

/// What a function takes and gives afterwards; the types are those of before.
struct Shape {
    params: Vec<Slot>,
    results: Vec<Slot>,
    param_types: Vec<Ty>,
    result_types: Vec<Ty>,
}

impl Shape {
    fn types<'a>(slots: &'a [Slot], old: &'a [Ty]) -> impl Iterator<Item = (Slot, Ty)> + 'a {
        slots.iter().map(|&slot| (slot, if let Slot::Old(i) = slot { old[i] } else { FLOAT }))
    }
}

fn shapes(module: &Module, needs: &[BTreeSet<usize>]) -> Vec<Shape> {
    let types = |f: &Function| -> Vec<Ty> { f.params().iter().map(|&v| f.ty(v)).collect() };
    let mut shapes: Vec<Shape> = module
        .functions
        .iter()
        .zip(needs)
        .map(|(f, needs)| Shape {
            params: (0..f.params().len()).map(Slot::Old).chain(needs.iter().map(|&i| Slot::Input(i))).collect(),
            results: (0..f.results.len()).map(Slot::Old).collect(),
            param_types: types(f),
            result_types: f.results.clone(),
        })
        .collect();
    for (f, needs) in module.functions.iter().zip(needs) {
        let at = f.params().len();
        if let Some(forward) = f.custom.forward {
            let shape = &mut shapes[forward.index()];
            let own = (0..shape.param_types.len()).map(Slot::Old);
            let inputs = needs.iter().map(|&i| Slot::Input(i));
            shape.params = own.clone().take(at).chain(inputs).chain(own.skip(at)).collect();
            shape.params.extend(needs.iter().map(|_| Slot::Zero));
        }
        if let Some(backward) = f.custom.backward {
            let shape = &mut shapes[backward.index()];
            let own = (0..shape.param_types.len()).map(Slot::Old);
            let inputs = needs.iter().map(|&i| Slot::Input(i));
            shape.params = own.clone().take(at).chain(inputs).chain(own.skip(at)).collect();
            shape.results =
                (0..shape.result_types.len()).map(Slot::Old).chain(needs.iter().map(|_| Slot::Zero)).collect();
        }
    }
    shapes
}

struct Writer<'a> {
    f: &'a mut Function,
    shapes: &'a [Shape],
    index: &'a HashMap<Input, usize>,
    /// The parameter that each input has become.
    lifted: HashMap<usize, Value>,
    /// The constant 0, once something took it.
    zero: Option<Value>,
}

impl Writer<'_> {
    fn function(mut self, shape: &Shape) {
        let body = self.f.body.index();
        let old = self.f.params().to_vec();
        let mut params = Values::new();
        for &slot in &shape.params {
            params.push(match slot {
                Slot::Old(i) => old[i],
                Slot::Input(i) => {
                    let v = self.f.new_value(FLOAT);
                    self.lifted.insert(i, v);
                    v
                }
                Slot::Zero => self.f.new_value(FLOAT),
            });
        }
        self.f.regions[body].params = params;
        self.replace_reads();
        // Calls in no region any more may be of any form, of functions that are gone as well.
        let mut calls = Vec::new();
        self.f.walk(|inst, data| calls.extend(data.op.callee().map(|_| inst)));
        calls.into_iter().for_each(|inst| self.call(inst.index()));
        let old = self.f.regions[body].results.clone();
        let results = shape.results.iter().map(|&slot| if let Slot::Old(i) = slot { old[i] } else { self.zero() });
        let results: Values = results.collect();
        self.f.results = results.iter().map(|&v| self.f.ty(v)).collect();
        self.f.regions[body].results = results;
        self.write_zero();
    }

    /// Parameters stand where inputs were read.
    fn replace_reads(&mut self) {
        let f = &mut *self.f;
        let mut instead: HashMap<Value, Value> = HashMap::new();
        let mut gone = BTreeSet::new();
        for (i, data) in f.insts.iter().enumerate() {
            let input = Input::read_by(data, &f.types).and_then(|input| self.index.get(&input));
            // Instructions that are in no region any more may read anything.
            if let Some(&parameter) = input.and_then(|i| self.lifted.get(i)) {
                instead.insert(data.results[0], parameter);
                gone.insert(i);
            }
        }
        let replace = |v: &mut Value| *v = instead.get(v).copied().unwrap_or(*v);
        f.insts.iter_mut().for_each(|data| data.args.iter_mut().for_each(replace));
        f.bindings.iter_mut().for_each(|binding| replace(&mut binding.value));
        for region in &mut f.regions {
            region.insts.retain(|inst| !gone.contains(&inst.index()));
            region.results.iter_mut().for_each(replace);
        }
    }

    fn call(&mut self, inst: usize) {
        let InstData { op, args, results, .. } = self.f.insts[inst].clone();
        let Some(shape) = op.callee().map(|callee| &self.shapes[callee.index()]) else { return };
        debug_assert!(!matches!(op, Op::Jvp { screen: 1.., .. } | Op::Vjp { screen: 1.., .. }));
        let (params, gives) = (shape.param_types.len(), shape.result_types.len());
        let (mut args_before, mut results_before) = (args[params..].iter(), results[gives..].iter());
        let mut new_args = Values::new();
        for &slot in &shape.params {
            new_args.push(self.argument(slot, &args));
        }
        let mut new_results: smallvec::SmallVec<[Value; 1]> = smallvec::SmallVec::new();
        for &slot in &shape.results {
            new_results.push(if let Slot::Old(i) = slot { results[i] } else { self.f.new_value(FLOAT) });
        }
        let of_params = || Shape::types(&shape.params, &shape.param_types).filter(|(_, ty)| ty.is_differentiable());
        let of_results = || Shape::types(&shape.results, &shape.result_types).filter(|(_, ty)| ty.is_differentiable());
        let (mut taken, mut given): (Vec<Slot>, Vec<Slot>) = (Vec::new(), Vec::new());
        match op {
            Op::Jvp { .. } => {
                taken.extend(of_params().map(|(slot, _)| slot));
                given.extend(of_results().map(|(slot, _)| slot));
            }
            Op::Vjp { .. } => {
                taken.extend(of_results().map(|(slot, _)| slot));
                given.extend(of_params().map(|(slot, _)| slot));
            }
            _ => {}
        }
        for slot in taken {
            let own = if let Slot::Old(_) = slot { args_before.next().copied() } else { None };
            new_args.push(own.unwrap_or_else(|| self.zero()));
        }
        for slot in given {
            let own = if let Slot::Old(_) = slot { results_before.next().copied() } else { None };
            new_results.push(own.unwrap_or_else(|| self.f.new_value(FLOAT)));
        }
        let data = &mut self.f.insts[inst];
        (data.args, data.results) = (new_args, new_results);
    }

    fn argument(&mut self, slot: Slot, old: &[Value]) -> Value {
        match slot {
            Slot::Old(i) => old[i],
            // A caller needs what its callees need, so it has the input.
            Slot::Input(i) => self.lifted.get(&i).copied().unwrap_or_else(|| self.zero()),
            Slot::Zero => self.zero(),
        }
    }

    fn zero(&mut self) -> Value {
        *self.zero.get_or_insert_with(|| self.f.new_value(FLOAT))
    }

    fn write_zero(&mut self) {
        let Some(zero) = self.zero else { return };
        let inst = self.f.new_inst(InstData {
            op: Op::Const(Const::float(0.0)),
            args: Values::new(),
            results: std::iter::once(zero).collect(),
            regions: Default::default(),
            span: Span::default(),
        });
        let body = self.f.body.index();
        self.f.regions[body].insts.insert(0, inst);
    }
}
