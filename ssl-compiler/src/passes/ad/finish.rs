//! What is left to do once no derivative is: `detach` and its kin are no operations any more, and custom derivatives have served.

use crate::ir::*;
use crate::passes::dce;

/// Clears a module of what only differentiation looks at. Where functions were differentiated, some may be left that
/// nobody calls.
pub(super) fn run(module: &mut Module, of_functions: bool) {
    module.functions.iter_mut().for_each(remove_detach);
    let has_custom = module.functions.iter().any(|f| f.custom != Custom::default() || f.undo.is_some());
    module.functions.iter_mut().for_each(|f| (f.custom, f.undo) = (Custom::default(), None));
    if has_custom || of_functions {
        dce::drop_functions(module);
    }
}

/// What is its first operand once nothing is differentiated.
fn is_gone(op: Op) -> bool {
    matches!(op, Op::Detach | Op::Boundary | Op::Cross | Op::Pin | Op::Barrier(_))
}

fn remove_detach(f: &mut Function) {
    let mut alias: Vec<Value> = (0..f.types.len() as u32).map(Value).collect();
    let mut any = false;
    f.walk(|_, data| {
        if is_gone(data.op) {
            // What an operand stands for is known before what is made of it.
            alias[data.results[0].index()] = alias[data.args[0].index()];
            any = true;
        }
    });
    if !any {
        return;
    }
    for region in 0..f.regions.len() {
        let insts = &f.insts;
        f.regions[region].insts.retain(|inst| !is_gone(insts[inst.index()].op));
        f.regions[region].results.iter_mut().for_each(|v| *v = alias[v.index()]);
    }
    f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(|v| *v = alias[v.index()]);
    f.bindings.iter_mut().for_each(|b| b.value = alias[b.value.index()]);
}
