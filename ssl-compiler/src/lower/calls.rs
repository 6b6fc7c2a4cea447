//! Calls: the IR's `call`, or the callee's body if closures are involved or the callee is a shader.

use super::buffers::passed_slot;
use super::places::View;
use super::state::{State, one};
use super::{Instance, TOKEN, Writer};
use crate::diagnostics::codes;
use crate::ir::{Op, Ty, Values};
use crate::sema::hir::{Argument, FunctionId, Parameter, Place, Variable};
use crate::source::Span;
use crate::syntax::ast::Direction;

/// Functions with closures, and shaders, may call each other this deep.
const MAX_INLINE_DEPTH: usize = 64;
/// Calls of functions with closures in one shader: two calls of the next one on each of 40 levels would
/// be 2⁴⁰.
const MAX_INLINED: usize = 1024;
/// Calls of shaders in one shader. There are more: each node of a large graph is one.
const MAX_SHADER_CALLS: usize = 4096;

impl Writer<'_, '_> {
    pub(super) fn call(&mut self, id: FunctionId, arguments: &[Argument], span: Span) -> State {
        let function = self.cx.program.function(id);
        if let Some(external) = function.external.filter(|_| !function.attributes.is_custom()) {
            self.external(id, external, arguments, span)
        } else if self.cx.facts.of(id).inlined() {
            self.inline(id, arguments, span)
        } else {
            self.plain_call(id, arguments, span)
        }
    }

    fn plain_call(&mut self, id: FunctionId, arguments: &[Argument], span: Span) -> State {
        let effects = self.cx.facts.of(id).effects;
        let mut textures = Vec::new();
        let mut values = Values::new();
        let mut outs: Vec<(&Place, View, &Variable)> = Vec::new();
        let function = self.cx.program.function(id);
        let variables = function.parameters.iter().map(|p| &function.variables[p.variable.0 as usize]);
        for (a, variable) in arguments.iter().zip(variables) {
            match a {
                Argument::In(e) => {
                    let state = self.expr(e);
                    values.extend(self.hand_over(&state, &variable.ty, variable.dynamic));
                }
                Argument::Texture(t) => textures.push(self.texture_word(*t)),
                Argument::Place(p, direction) => {
                    let view = self.view(p);
                    if *direction == Direction::InOut {
                        let state = self.read_view(p, &view);
                        values.extend(self.hand_over(&state, &variable.ty, variable.dynamic));
                    }
                    outs.push((p, view, variable));
                }
                Argument::Dropped => unreachable!("only shaders are called without their outputs, and not by a call"),
            }
        }
        if effects {
            values.insert(0, self.token());
        }
        let callee = self.cx.instance_id(Instance { function: id, textures });
        let types: Vec<Ty> = self.cx.functions[callee.index()].results.clone();
        self.b.span = span;
        let inst = self.b.push(Op::Call(callee), values, &types, &[]);
        let results = Values::from_slice(self.b.results(inst));
        let mut results = results.into_iter();
        if effects && let Some(token) = results.next() {
            self.set(TOKEN, one(token));
        }
        let result = self.take(&function.result, false, &mut results);
        for (place, view, variable) in outs {
            let state = self.take(&variable.ty, variable.dynamic, &mut results);
            self.write_view(place, &view, state);
        }
        result
    }

    /// The values that go into a function by a parameter, or come out by it. No derivative goes through a `no_diff`
    /// parameter. The cut is made here, within the function, so it holds for each way to reach the function.
    pub(super) fn passed(&mut self, p: &Parameter, state: State) -> State {
        if !p.no_diff {
            return state;
        }
        state.into_iter().map(|leaf| self.detached(leaf)).collect()
    }

    /// A function of the host's, which has plain arguments only.
    fn external(&mut self, id: FunctionId, external: u32, arguments: &[Argument], span: Span) -> State {
        let mut values = Values::new();
        let function = self.cx.program.function(id);
        for (p, a) in function.parameters.iter().zip(arguments) {
            if let Argument::In(e) = a {
                let state = self.expr(e);
                let state = self.passed(p, state);
                values.extend(self.flatten(&state));
            }
        }
        let result = function.result.clone();
        let types = self.cx.ir_types(&result, false);
        self.b.span = span;
        let inst = self.b.push(Op::External(external), values, &types, &[]);
        let results = Values::from_slice(self.b.results(inst));
        self.take(&result, false, &mut results.into_iter())
    }

    /// Lowers the callee's body in place, in a frame of its own.
    fn inline(&mut self, id: FunctionId, arguments: &[Argument], span: Span) -> State {
        if self.inline_depth >= MAX_INLINE_DEPTH {
            let message = "functions with closures, or shaders, call each other too deeply";
            self.cx.error(&codes::CLOSURE_FLATTEN, span, message, "make closures, and call shaders, in fewer levels");
            return self.zero(&self.cx.program.function(id).result.clone(), false);
        }
        if !self.may_inline(id, span) {
            return self.zero(&self.cx.program.function(id).result.clone(), false);
        }
        let first = self.b.function.insts.len();
        let (mut states, mut places) = (Vec::new(), Vec::new());
        for a in arguments {
            states.push(match a {
                Argument::In(e) => Some(self.expr(e)),
                Argument::Place(p, direction) => {
                    let view = self.view(p);
                    let state = (*direction == Direction::InOut).then(|| self.read_view(p, &view));
                    places.push(Some((p, view)));
                    state
                }
                Argument::Dropped => {
                    places.push(None);
                    None
                }
                Argument::Texture(_) => None,
            });
        }
        let caller = self.frame.clone();
        self.inline_depth += 1;
        self.enter_frame(id);
        let function = self.cx.program.function(id);
        for ((p, a), state) in function.parameters.iter().zip(arguments).zip(states) {
            if let Argument::Texture(t) = a {
                let callee = std::mem::replace(&mut self.frame, caller.clone());
                let word = self.texture_word(*t);
                self.frame = callee;
                let word = passed_slot(p, &function.variables[p.variable.0 as usize], word);
                self.frame.textures.insert(p.variable, word);
                continue;
            }
            let zero = self.zero_variable(p.variable);
            let slot = self.frame.base + p.variable.0 as usize;
            self.b.span = function.variables[p.variable.0 as usize].span;
            match state {
                Some(state) => {
                    let state = self.like(state, &zero);
                    let state = self.passed(p, state);
                    self.set(slot, state);
                }
                None => {
                    let start = self.start(p);
                    self.set_unnamed(slot, start);
                }
            }
        }
        let facts = *self.cx.facts.of(id);
        self.guarded_body(function, facts);
        let result = self.get(self.frame.result);
        let handed_out = function.parameters.iter().filter(|p| p.direction != Direction::In);
        let mut outs: Vec<State> = Vec::new();
        for p in handed_out {
            let state = self.get(self.frame.base + p.variable.0 as usize);
            outs.push(self.passed(p, state));
        }
        self.frame = caller;
        self.inline_depth -= 1;
        for (target, state) in places.iter().zip(outs) {
            if let Some((place, view)) = target {
                self.write_view(place, view, state);
            }
        }
        if self.cx.request.call_sites {
            self.b.function.insts[first..].iter_mut().for_each(|inst| inst.span = span);
        }
        result
    }

    /// What an `out` parameter starts with, in the callee's frame.
    pub(super) fn start(&mut self, p: &Parameter) -> State {
        let zero = self.zero_variable(p.variable);
        match &p.start {
            Some(e) => {
                let state = self.expr(e);
                self.like(state, &zero)
            }
            None => zero,
        }
    }

    /// Counts a call whose callee would be written in place, and says once when there are too many.
    fn may_inline(&mut self, id: FunctionId, span: Span) -> bool {
        let shader = self.cx.facts.of(id).shader;
        let (what, limit) =
            if shader { ("shaders", MAX_SHADER_CALLS) } else { ("functions with closures", MAX_INLINED) };
        if self.is_full() {
            return false;
        }
        let calls = self.inlined[usize::from(shader)];
        if calls < limit {
            self.inlined[usize::from(shader)] += 1;
            return true;
        }
        if calls != usize::MAX {
            let message = format!("{what} are called too often");
            let hint =
                format!("at most {limit} calls are possible; compute each value once, and use it where it is needed");
            self.cx.error(&codes::CLOSURE_FLATTEN, span, message, hint);
        }
        // Nothing more is written, and nothing more is said.
        self.inlined = [usize::MAX; 2];
        false
    }
}
