//! What the author gives for derivatives of a function, as functions of the module that take and give exactly what
//! `jvp` and `vjp` of the function do.
//!
//! A substitute gives derivatives only: the values stay those of the function, so that nobody sees who asked for them.

use super::derived::Given;
use super::state::{State, one};
use super::{Instance, Lowering, TOKEN, Work, Writer};
use crate::ir::{self, FuncId, Op, Ty, Values};
use crate::sema::hir::{self, Function, FunctionId, Role};
use crate::syntax::ast::{Direction, Mode};
use crate::types::Type;

/// A derivative that is yet to be written.
pub(super) struct Custom {
    /// Whose it is.
    instance: Instance,
    mode: Mode,
    by: By,
}

#[derive(Clone, Copy)]
enum By {
    /// A function with the signature of the derivative.
    Function(hir::Custom),
    /// The derivative of this function, which takes and gives the same.
    Substitute(FunctionId),
}

impl Lowering<'_> {
    /// Names the functions that give an instance's derivatives; they are written later.
    pub(super) fn declare_custom(&mut self, id: FuncId, instance: &Instance) {
        let attributes = &self.program.function(instance.function).attributes;
        if attributes.linked.is_some() {
            return;
        }
        let substitute = attributes.primal.map(By::Substitute);
        let forward = attributes.forward.map(By::Function).or(substitute);
        let backward = attributes.backward.map(By::Function).or(substitute);
        let modes = [(Mode::Forward, forward), (Mode::Backward, backward)];
        for (mode, by) in modes {
            let Some(by) = by else { continue };
            let custom = self.new_derivative(id, mode);
            self.queue.push((custom, Work::Custom(Custom { instance: instance.clone(), mode, by })));
            let named = &mut self.functions[id.index()].custom;
            match mode {
                Mode::Forward => named.forward = Some(custom),
                Mode::Backward => named.backward = Some(custom),
            }
        }
    }

    /// The head of a function that takes and gives what a derivative of another one does.
    pub(super) fn new_derivative(&mut self, of: FuncId, mode: Mode) -> FuncId {
        let head = &self.functions[of.index()];
        let takes: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
        let gives = head.results.clone();
        let (more, derivatives) = match mode {
            Mode::Forward => (&takes, &gives),
            Mode::Backward => (&gives, &takes),
        };
        let with = |list: &[Ty], more: &[Ty]| {
            list.iter().chain(more.iter().filter(|ty| ty.is_differentiable())).copied().collect::<Vec<Ty>>()
        };
        let (params, results) = (with(&takes, more), with(&gives, derivatives));
        let word = if mode == Mode::Forward { "forward" } else { "backward" };
        let name = format!("{}.{word}", head.name);
        let name = self.unique_name(&name);
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(ir::Function::new(name, &params, &results).with_precision(self.request.precision));
        self.size += super::FUNCTION;
        id
    }

    pub(super) fn custom(&mut self, id: FuncId, custom: &Custom) {
        let head = self.functions[id.index()].clone();
        let mut params = Values::from_slice(head.params()).into_iter();
        let function = self.program.function(custom.instance.function);
        let mut w = self.writer(head, custom.instance.function);
        w.b.span = function.span;
        // Functions with custom derivatives always thread a token.
        w.env[TOKEN] = params.next().map(one);
        let mut primals = Vec::new();
        for p in &function.parameters {
            let variable = &function.variables[p.variable.0 as usize];
            let taken = p.direction != Direction::Out && !variable.ty.is_slot();
            primals.push(taken.then(|| {
                let state = w.take(&variable.ty, variable.dynamic, &mut params);
                w.passed(p, state)
            }));
        }
        let results = match custom.by {
            By::Substitute(by) => w.substituted(custom, by, &primals, params.collect()),
            By::Function(by) => w.given(custom, by, primals, params.collect()),
        };
        let (size, written) = (w.b.size, w.b.finish(results));
        self.size += size;
        self.functions[id.index()] = written;
    }
}

impl Writer<'_, '_> {
    /// Calls a function of the module with the token, and takes the token that it gives.
    pub(super) fn call_with_token(&mut self, op: Op, callee: FuncId, mut args: Values, more: &[Ty]) -> Values {
        let head = &self.cx.functions[callee.index()];
        let has_token = head.results.first() == Some(&Ty::Token);
        let mut types = head.results.clone();
        types.extend(more.iter().filter(|ty| ty.is_differentiable()));
        if has_token {
            args.insert(0, self.token());
        }
        let inst = self.b.push(op, args, &types, &[]);
        let results = Values::from_slice(self.b.results(inst));
        if has_token {
            self.set(TOKEN, one(results[0]));
        }
        Values::from_slice(&results[usize::from(has_token)..])
    }

    /// The arguments of a function in its own layout.
    pub(super) fn laid_out(&mut self, function: &Function, states: &[Option<State>]) -> Values {
        let mut values = Values::new();
        for (p, state) in function.parameters.iter().zip(states) {
            let variable = &function.variables[p.variable.0 as usize];
            if let (Some(state), true) = (state, p.direction != Direction::Out) {
                values.extend(self.hand_over(state, &variable.ty, variable.dynamic));
            }
        }
        values
    }

    /// The values of the function itself.
    fn own_values(&mut self, custom: &Custom, primals: &[Option<State>]) -> Values {
        let function = self.cx.program.function(custom.instance.function);
        let args = self.laid_out(function, primals);
        let callee = self.cx.instance_id(custom.instance.clone());
        self.call_with_token(Op::Call(callee), callee, args, &[])
    }

    fn substituted(
        &mut self,
        custom: &Custom,
        by: FunctionId,
        primals: &[Option<State>],
        derivatives: Values,
    ) -> Values {
        let own = self.own_values(custom, primals);
        let (function, substitute) = (self.cx.program.function(custom.instance.function), self.cx.program.function(by));
        let callee = self.cx.instance_id(Instance { function: by, textures: self.cx.slots_within(&custom.instance) });
        let mut args = self.laid_out(substitute, primals);
        // Both have the same types, but may keep arrays in other ways.
        let ins = Shapes::of(function, substitute, |direction| direction != Direction::Out, false);
        let outs = Shapes::of(function, substitute, |direction| direction != Direction::In, true);
        let (given, gives) = match custom.mode {
            Mode::Forward => (&ins, &outs),
            Mode::Backward => (&outs, &ins),
        };
        args.extend(self.reshaped(given, [&given.own, &given.other], derivatives));
        let head = &self.cx.functions[callee.index()];
        let (more, op): (Vec<Ty>, Op) = match custom.mode {
            Mode::Forward => (head.results.clone(), Op::Jvp { function: callee, screen: 0 }),
            Mode::Backward => {
                (head.params().iter().map(|&v| head.ty(v)).collect(), Op::Vjp { function: callee, screen: 0 })
            }
        };
        let primal = head.results.iter().filter(|ty| **ty != Ty::Token).count();
        let results = self.call_with_token(op, callee, args, &more);
        let mut all = Values::from_slice(&[self.token()]);
        all.extend(own);
        all.extend(self.reshaped(gives, [&gives.other, &gives.own], Values::from_slice(&results[primal..])));
        all
    }

    /// Derivatives as one function keeps them, as another one does; zeros where none goes through.
    fn reshaped(&mut self, shapes: &Shapes, [from, to]: [&[(Type, bool)]; 2], values: Values) -> Values {
        let mut values = values.into_iter();
        let mut all = Values::new();
        for (((ty, memory), (_, wanted)), &cut) in from.iter().zip(to).zip(&shapes.cut) {
            let leaves = self.cx.differentiable_leaves(ty);
            let mut state = self.take_leaves(&leaves, *memory, &mut values);
            if cut {
                state = self.zero_leaves(&leaves);
            }
            all.extend(self.hand_over_leaves(&state, &leaves, *wanted));
        }
        all
    }

    /// Calls the author's function.
    fn given(&mut self, custom: &Custom, by: hir::Custom, primals: Vec<Option<State>>, derivatives: Values) -> Values {
        let function = self.cx.program.function(custom.instance.function);
        let derived = self.cx.program.function(by.derived);
        let Some(roles) = &derived.derived else { return Values::new() };
        let given = Given::of(roles, function);
        let mut derivatives = derivatives.into_iter();
        // Of the result first, where cotangents come in.
        let mut of_result = State::new();
        let result_leaves = self.cx.differentiable_leaves(&function.result);
        if custom.mode == Mode::Backward {
            let d = self.take_leaves(&result_leaves, false, &mut derivatives);
            of_result = self.differential_of(&function.result, d);
        }
        let coming_in = |direction| match custom.mode {
            Mode::Forward => direction != Direction::Out,
            Mode::Backward => direction != Direction::In,
        };
        let mut incoming: Vec<Option<State>> = vec![None; function.parameters.len()];
        for i in given.indices(coming_in) {
            let variable = given.variable(i);
            let leaves = self.cx.differentiable_leaves(&variable.ty);
            let d = self.take_leaves(&leaves, variable.dynamic, &mut derivatives);
            incoming[i] = Some(self.differential_of(&variable.ty, d));
        }
        let own = match custom.mode {
            Mode::Forward => Values::new(),
            Mode::Backward => self.own_values(custom, &primals),
        };
        let mut states: Vec<Option<State>> = Vec::new();
        for (i, (primal, d)) in primals.into_iter().zip(incoming).enumerate() {
            let ty = &given.variable(i).ty;
            let leaves = self.cx.differentiable_leaves(ty);
            let d = |w: &mut Self| {
                d.clone().unwrap_or_else(|| {
                    let zeros = w.zero_leaves(&leaves);
                    w.differential_of(ty, zeros)
                })
            };
            match roles.roles[i] {
                Role::Dropped => {}
                Role::Cotangent => states.push(Some(d(self))),
                Role::Plain | Role::In => states.push(primal),
                Role::Pair => states.push(primal.map(|primal| primal.into_iter().chain(d(self)).collect())),
            }
        }
        if roles.result == Role::Cotangent {
            states.push(Some(of_result));
        }
        let target = self.cx.program.function(by.by);
        let callee =
            self.cx.instance_id(Instance { function: by.by, textures: self.cx.slots_within(&custom.instance) });
        let args = self.laid_out(target, &states);
        let mut results = self.call_with_token(Op::Call(callee), callee, args, &[]).into_iter();
        let result = self.take(&target.result, false, &mut results);
        let mut outs: Vec<Option<State>> = Vec::new();
        for p in &target.parameters {
            let variable = &target.variables[p.variable.0 as usize];
            let out = p.direction != Direction::In;
            outs.push(out.then(|| self.take(&variable.ty, variable.dynamic, &mut results)));
        }
        let mut all = Values::from_slice(&[self.token()]);
        match custom.mode {
            Mode::Forward => all.extend(self.tangents_given(&given, result, &outs)),
            Mode::Backward => {
                all.extend(own);
                all.extend(self.cotangents_given(&given, &outs));
            }
        }
        all
    }

    /// Zeros of a differential.
    fn zero_leaves(&mut self, leaves: &[crate::types::Leaf]) -> State {
        leaves.iter().map(|leaf| self.zero_part(leaf, false)).collect()
    }

    /// The value and its derivative out of what the author's function gave for it.
    fn apart(&mut self, role: Role, ty: &Type, state: &State) -> (State, State) {
        let count = self.cx.program.types.leaf_count(ty);
        let primal = state.iter().take(count).cloned().collect();
        let d = match role {
            Role::Pair => self.derivative_of(ty, state.iter().skip(count).cloned().collect()),
            _ => {
                let leaves = self.cx.differentiable_leaves(ty);
                self.zero_leaves(&leaves)
            }
        };
        (primal, d)
    }

    /// All values, then all tangents.
    fn tangents_given(&mut self, given: &Given<'_>, result: State, outs: &[Option<State>]) -> Values {
        let mut parts = vec![(self.apart(given.derived.result, &given.of.result, &result), &given.of.result, false)];
        for i in given.indices(|direction| direction != Direction::In) {
            let variable = given.variable(i);
            let state = given.own[i].and_then(|own| outs[own].clone()).unwrap_or_default();
            parts.push((self.apart(given.derived.roles[i], &variable.ty, &state), &variable.ty, variable.dynamic));
        }
        let mut values = Values::new();
        for ((primal, _), ty, memory) in &parts {
            values.extend(self.hand_over(primal, ty, *memory));
        }
        for ((_, d), ty, memory) in &parts {
            let leaves = self.cx.differentiable_leaves(ty);
            values.extend(self.hand_over_leaves(d, &leaves, *memory));
        }
        values
    }

    fn cotangents_given(&mut self, given: &Given<'_>, outs: &[Option<State>]) -> Values {
        let mut values = Values::new();
        for i in given.indices(|direction| direction != Direction::Out) {
            let variable = given.variable(i);
            let state = given.own[i].and_then(|own| outs[own].clone());
            let role = if state.is_some() { given.derived.roles[i] } else { Role::Plain };
            let (_, d) = self.apart(role, &variable.ty, &state.unwrap_or_default());
            let leaves = self.cx.differentiable_leaves(&variable.ty);
            values.extend(self.hand_over_leaves(&d, &leaves, variable.dynamic));
        }
        values
    }
}

/// Types of the values that cross, and whether each stays in memory.
struct Shapes {
    own: Vec<(Type, bool)>,
    other: Vec<(Type, bool)>,
    /// Which of them are `no_diff`: the author's promise about the function also holds for its substitute.
    cut: Vec<bool>,
}

impl Shapes {
    fn of(own: &Function, other: &Function, wanted: impl Fn(Direction) -> bool, result: bool) -> Shapes {
        let shapes = |f: &Function| {
            let first = result.then(|| (f.result.clone(), false));
            let parameters = f.parameters.iter().filter(|p| wanted(p.direction));
            let one = |p: &hir::Parameter| {
                let variable = &f.variables[p.variable.0 as usize];
                (variable.ty.clone(), variable.dynamic)
            };
            first.into_iter().chain(parameters.map(one)).collect()
        };
        let parameters = own.parameters.iter().filter(|p| wanted(p.direction));
        let cut = result.then_some(false).into_iter().chain(parameters.map(|p| p.no_diff)).collect();
        Shapes { own: shapes(own), other: shapes(other), cut }
    }
}
