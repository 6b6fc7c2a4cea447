//! What the author gives to take a step back, as a function of the module that takes and gives arrays as the step does.

use super::state::{State, one};
use super::{Instance, Lowering, TOKEN, Work};
use crate::ir::{self, BOOL, FuncId, Op, Ty, Values};

impl Lowering<'_> {
    /// Names the function that takes an instance back, if there is one; it is written later.
    pub(super) fn declare_undo(&mut self, id: FuncId, instance: &Instance) {
        let step = self.program.function(instance.function);
        let Some(by) = step.attributes.undo else { return };
        let token = self.facts.of(by).effects.then_some(Ty::Token);
        let mut takes: Vec<Ty> = token.into_iter().collect();
        let mut gives: Vec<Ty> = token.into_iter().chain([BOOL]).collect();
        for (i, p) in step.parameters.iter().enumerate() {
            let variable = &step.variables[p.variable.0 as usize];
            let types = self.ir_types(&variable.ty, variable.dynamic);
            takes.extend(&types);
            // The state comes first.
            if i == 0 {
                gives.extend(types);
            }
        }
        let name = self.unique_name(&format!("{}.undo", self.functions[id.index()].name));
        let undo = FuncId(self.functions.len() as u32);
        self.functions.push(ir::Function::new(name, &takes, &gives).with_precision(self.request.precision));
        self.size += super::FUNCTION;
        self.functions[id.index()].undo = Some(undo);
        self.queue.push((undo, Work::Undo(instance.clone())));
    }

    pub(super) fn undo(&mut self, id: FuncId, instance: &Instance) {
        let step = self.program.function(instance.function);
        let Some(by) = step.attributes.undo else { return };
        let target = self.program.function(by);
        let effects = self.facts.of(by).effects;
        let head = self.functions[id.index()].clone();
        let mut params = Values::from_slice(head.params()).into_iter();
        let mut w = self.writer(head, instance.function);
        w.b.span = step.span;
        if effects {
            w.env[TOKEN] = params.next().map(one);
        }
        let mut states: Vec<Option<State>> = Vec::new();
        for p in &step.parameters {
            let variable = &step.variables[p.variable.0 as usize];
            let taken = !variable.ty.is_slot();
            states.push(taken.then(|| w.take(&variable.ty, variable.dynamic, &mut params)));
        }
        let args = w.laid_out(target, &states);
        let callee = w.cx.instance_id(Instance { function: by, textures: instance.textures.clone() });
        let mut given = w.call_with_token(Op::Call(callee), callee, args, &[]).into_iter();
        let mut results: Values = effects.then(|| w.token()).into_iter().collect();
        results.extend(given.next());
        let own = |f: &crate::sema::hir::Function| {
            let variable = &f.variables[f.parameters[0].variable.0 as usize];
            (variable.ty.clone(), variable.dynamic)
        };
        let ((ty, memory), (_, wanted)) = (own(target), own(step));
        let state = w.take(&ty, memory, &mut given);
        results.extend(w.hand_over(&state, &ty, wanted));
        let (size, written) = (w.b.size, w.b.finish(results));
        self.size += size;
        self.functions[id.index()] = written;
    }
}
