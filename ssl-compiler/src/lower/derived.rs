//! `fwd_diff(f)` and `bwd_diff(f)`: pairs are taken apart, `f` is differentiated by one operation, and pairs are put
//! together again.

use super::state::{State, one};
use super::{Instance, Lowering, TOKEN, Writer};
use crate::ir::{FuncId, Op, Ty, Value, Values};
use crate::sema::hir::{Derived, Function, Parameter, Role, Variable};
use crate::syntax::ast::{Direction, Mode};
use crate::types::Type;

/// What a derivative is handed, and where each of its parameters stands.
pub(super) struct Given<'p> {
    pub derived: &'p Derived,
    /// The function that is differentiated.
    pub of: &'p Function,
    /// The derivative's own parameter for each one of the function's.
    pub own: Vec<Option<usize>>,
    /// What was handed in for each parameter of the derivative.
    states: Vec<Option<State>>,
}

impl<'p> Given<'p> {
    pub fn of(derived: &'p Derived, of: &'p Function) -> Given<'p> {
        let mut next = 0;
        let own = derived.roles.iter().map(|role| {
            let index = next;
            next += usize::from(*role != Role::Dropped);
            (*role != Role::Dropped).then_some(index)
        });
        Given { derived, of, own: own.collect(), states: Vec::new() }
    }

    /// The function's parameters of some directions.
    pub fn indices(&self, wanted: impl Fn(Direction) -> bool) -> Vec<usize> {
        let parameters = self.of.parameters.iter().enumerate();
        parameters.filter(|(_, p)| wanted(p.direction)).map(|(i, _)| i).collect()
    }

    pub fn variable(&self, i: usize) -> &'p Variable {
        &self.of.variables[self.of.parameters[i].variable.0 as usize]
    }
}

impl Lowering<'_> {
    /// Writes the derivative of a function.
    pub(super) fn derived(&mut self, id: FuncId, instance: &Instance, derived: &Derived) {
        let function = self.program.function(instance.function);
        let effects = self.facts.of(instance.function).effects;
        let head = self.functions[id.index()].clone();
        let mut params = Values::from_slice(head.params()).into_iter();
        let callee = self.instance_id(Instance { function: derived.of, textures: instance.textures.clone() });
        let of = self.program.function(derived.of);
        let mut w = self.writer(head, instance.function);
        w.b.span = derived.place;
        if effects && let Some(token) = params.next() {
            w.env[TOKEN] = Some(one(token));
        }
        let states = w.taken(function, &mut params);
        let given = Given { states, ..Given::of(derived, of) };
        let results = match derived.mode {
            Mode::Forward => w.forward(&given, function, callee),
            Mode::Backward => w.backward(&given, function, callee),
        };
        let (size, written) = (w.b.size, w.b.finish(results));
        self.size += size;
        self.functions[id.index()] = written;
    }
}

impl Writer<'_, '_> {
    /// What is handed in for each parameter.
    fn taken(&mut self, function: &Function, params: &mut impl Iterator<Item = Value>) -> Vec<Option<State>> {
        let take = |p: &Parameter| {
            let variable = &function.variables[p.variable.0 as usize];
            let plain = p.direction != Direction::Out && !variable.ty.is_slot();
            plain.then(|| {
                let state = self.take(&variable.ty, variable.dynamic, params);
                self.passed(p, state)
            })
        };
        function.parameters.iter().map(take).collect()
    }

    /// The arguments of the function itself, and its token before them.
    fn primals(&mut self, given: &Given<'_>, callee: FuncId) -> Values {
        let mut values = Values::new();
        let head = &self.cx.functions[callee.index()];
        if head.params().first().is_some_and(|&v| head.ty(v) == Ty::Token) {
            values.push(self.token());
        }
        for i in given.indices(|direction| direction != Direction::Out) {
            let variable = given.variable(i);
            if let Some(state) = given.own[i].and_then(|own| given.states[own].as_ref()) {
                let count = self.cx.program.types.leaf_count(&variable.ty);
                let value = state.iter().take(count).cloned().collect();
                values.extend(self.hand_over(&value, &variable.ty, variable.dynamic));
            }
        }
        values
    }

    /// The derivatives that were handed in for a parameter, or zeros where none goes in.
    fn derivatives(&mut self, given: &Given<'_>, i: usize) -> Values {
        let variable = given.variable(i);
        let state = given.own[i].and_then(|own| given.states[own].clone());
        let count = self.cx.program.types.leaf_count(&variable.ty);
        let d: State = match (given.derived.roles[i], state) {
            (Role::Pair, Some(state)) => state.into_iter().skip(count).collect(),
            (Role::Cotangent, Some(state)) => state,
            _ => return self.zeros_of(&variable.ty, variable.dynamic),
        };
        let d = self.derivative_of(&variable.ty, d);
        let leaves = self.cx.differentiable_leaves(&variable.ty);
        self.hand_over_leaves(&d, &leaves, variable.dynamic)
    }

    /// A zero for each differentiable IR value of a type.
    fn zeros_of(&mut self, ty: &Type, memory: bool) -> Values {
        let types = self.cx.ir_types(ty, memory);
        types.into_iter().filter(|ty| ty.is_differentiable()).map(|ty| self.b.zero(ty)).collect()
    }

    /// Writes the operation, gives what it gives, and keeps the token.
    fn differentiated(&mut self, op: Op, args: Values, callee: FuncId, more: &[Ty]) -> std::vec::IntoIter<Value> {
        let mut types = self.cx.functions[callee.index()].results.clone();
        types.extend(more.iter().copied().filter(|ty| ty.is_differentiable()));
        let inst = self.b.push(op, args, &types, &[]);
        let mut values = self.b.results(inst).to_vec().into_iter();
        if types.first() == Some(&Ty::Token)
            && let Some(token) = values.next()
        {
            self.set(TOKEN, one(token));
        }
        values
    }

    fn forward(&mut self, given: &Given<'_>, function: &Function, callee: FuncId) -> Values {
        let mut args = self.primals(given, callee);
        for i in given.indices(|direction| direction != Direction::Out) {
            args.extend(self.derivatives(given, i));
        }
        let more = self.cx.functions[callee.index()].results.clone();
        let mut values = self.differentiated(Op::Jvp { function: callee, screen: 0 }, args, callee, &more);
        let outs = given.indices(|direction| direction != Direction::In);
        let mut result = self.take(&given.of.result, false, &mut values);
        let mut states: Vec<State> = Vec::new();
        for &i in &outs {
            let variable = given.variable(i);
            states.push(self.take(&variable.ty, variable.dynamic, &mut values));
        }
        let leaves = self.cx.differentiable_leaves(&given.of.result);
        let d = self.take_leaves(&leaves, false, &mut values);
        if given.derived.result == Role::Pair {
            result.extend(self.differential_of(&given.of.result, d));
        }
        for (&i, state) in outs.iter().zip(&mut states) {
            let variable = given.variable(i);
            let leaves = self.cx.differentiable_leaves(&variable.ty);
            let d = self.take_leaves(&leaves, variable.dynamic, &mut values);
            if given.derived.roles[i] == Role::Pair {
                state.extend(self.differential_of(&variable.ty, d));
            }
        }
        let mut results = self.first_result();
        results.extend(self.hand_over(&result, &function.result, false));
        for (i, state) in outs.into_iter().zip(states) {
            let Some(own) = given.own[i] else { continue };
            let variable = &function.variables[own];
            results.extend(self.hand_over(&state, &variable.ty, variable.dynamic));
        }
        results
    }

    fn backward(&mut self, given: &Given<'_>, function: &Function, callee: FuncId) -> Values {
        let mut args = self.primals(given, callee);
        let handed_in = given.states.last().cloned().flatten().filter(|_| given.derived.result == Role::Cotangent);
        args.extend(match handed_in {
            Some(d) => {
                let d = self.derivative_of(&given.of.result, d);
                let leaves = self.cx.differentiable_leaves(&given.of.result);
                self.hand_over_leaves(&d, &leaves, false)
            }
            None => self.zeros_of(&given.of.result, false),
        });
        for i in given.indices(|direction| direction != Direction::In) {
            args.extend(self.derivatives(given, i));
        }
        let head = &self.cx.functions[callee.index()];
        let more: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
        let primal = head.results.iter().filter(|ty| **ty != Ty::Token).count();
        let mut values = self.differentiated(Op::Vjp { function: callee, screen: 0 }, args, callee, &more).skip(primal);
        let mut results = self.first_result();
        for i in given.indices(|direction| direction != Direction::Out) {
            let variable = given.variable(i);
            let leaves = self.cx.differentiable_leaves(&variable.ty);
            let d = self.take_leaves(&leaves, variable.dynamic, &mut values);
            let (Role::Pair, Some(own)) = (given.derived.roles[i], given.own[i]) else { continue };
            // The value stays what it was.
            let count = self.cx.program.types.leaf_count(&variable.ty);
            let mut pair: State = given.states[own].iter().flatten().take(count).cloned().collect();
            pair.extend(self.differential_of(&variable.ty, d));
            let own = &function.variables[own];
            results.extend(self.hand_over(&pair, &own.ty, own.dynamic));
        }
        results
    }

    /// The token, where the function hands one on.
    fn first_result(&self) -> Values {
        match self.env[TOKEN] {
            Some(_) => Values::from_slice(&[self.token()]),
            None => Values::new(),
        }
    }
}
