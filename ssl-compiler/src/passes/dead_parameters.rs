//! Takes parameters and results away that no call has a use for, and writes constants into the function that every call
//! gives it.
//!
//! Requires verified code; keeps what it computes. It is removal of dead code across calls: a parameter is needed where
//! something needed is made of it, passing it on to a parameter that is not needed aside, and a result where a call's
//! result is needed. Both start as not needed, so that what goes round in a recursion goes too. The entry keeps its
//! signature, which is the host's.

use super::dce::{Needs, retain};
use super::remarks::Remarks;
use crate::analysis::call_graph::CallGraph;
use crate::ir::{Const, FuncId, Function, InstData, Module, Op, Ty, Value, Values};

pub fn run(module: &mut Module, remarks: &mut Remarks) {
    if module.functions.len() < 2 {
        return;
    }
    write_constants(module, remarks);
    let needed = Needed::of(module);
    for (id, needs) in needed.values.iter().enumerate() {
        let f = &mut module.functions[id];
        needed.explain(id, f, remarks);
        needs.prune(f);
        let body = f.body.index();
        retain(&mut f.regions[body].results, &needed.results[id]);
        retain(&mut f.regions[body].params, &needed.params[id]);
        let mut results = needed.results[id].iter();
        f.results.retain(|_| results.next().copied().unwrap_or(true));
        for data in &mut f.insts {
            // Those that went name functions all the same.
            if let Op::Call(callee) = data.op
                && let Some((params, results)) =
                    needed.params.get(callee.index()).zip(needed.results.get(callee.index()))
                && (data.args.len(), data.results.len()) == (params.len(), results.len())
            {
                retain(&mut data.args, params);
                retain(&mut data.results, results);
            }
        }
    }
}

/// What is needed of each function.
struct Needed {
    params: Vec<Vec<bool>>,
    results: Vec<Vec<bool>>,
    values: Vec<Needs>,
}

impl Needed {
    fn of(module: &Module) -> Needed {
        let is_entry = |id: usize| id == module.entry.index();
        let all = |flags: &dyn Fn(&Function) -> usize| -> Vec<Vec<bool>> {
            module.functions.iter().enumerate().map(|(id, f)| vec![is_entry(id); flags(f)]).collect()
        };
        let mut needed = Needed {
            params: all(&|f| f.params().len()),
            results: all(&|f| f.results.len()),
            values: module.functions.iter().map(|f| Needs::of(f, &[], None)).collect(),
        };
        let graph = CallGraph::of(module);
        let order: Vec<FuncId> = graph.components.iter().flatten().copied().collect();
        let mut callers = vec![Vec::new(); module.functions.len()];
        for (id, callees) in graph.callees.iter().enumerate() {
            callees.iter().for_each(|callee| callers[callee.index()].push(id));
        }
        let mut stale = vec![true; module.functions.len()];
        // What is needed of results travels from callers to callees, of parameters the other way.
        while stale.contains(&true) {
            for &id in order.iter().rev().chain(&order) {
                if std::mem::take(&mut stale[id.index()]) && needed.function(module, id, &mut stale) {
                    callers[id.index()].iter().for_each(|&caller| stale[caller] = true);
                }
            }
        }
        needed
    }

    /// Looks at a function once more; says whether more of its parameters is needed than before. Callees of whose results
    /// more is needed become stale.
    fn function(&mut self, module: &Module, id: FuncId, stale: &mut [bool]) -> bool {
        let f = module.function(id);
        let results = f.region(f.body).results.iter().zip(&self.results[id.index()]);
        let results: Values = results.filter(|(_, needed)| **needed).map(|(&v, _)| v).collect();
        let needs = Needs::of(f, &results, Some(&self.params));
        let mark = |flags: &mut [bool], values: &[Value]| {
            let mut changed = false;
            for (flag, v) in flags.iter_mut().zip(values) {
                changed |= needs.live[v.index()] && !*flag;
                *flag |= needs.live[v.index()];
            }
            changed
        };
        let changed = mark(&mut self.params[id.index()], f.params());
        f.walk(|_, data| {
            if let Op::Call(callee) = data.op {
                stale[callee.index()] |= mark(&mut self.results[callee.index()], &data.results);
            }
        });
        self.values[id.index()] = needs;
        changed
    }

    fn explain(&self, id: usize, f: &Function, remarks: &mut Remarks) {
        let dead = |flags: &[bool]| flags.iter().filter(|needed| !**needed).count();
        let (params, results) = (dead(&self.params[id]), dead(&self.results[id]));
        if params + results > 0 {
            let span = f.region(f.body).insts.first().map(|&i| f.inst(i).span).unwrap_or_default();
            remarks.say("dead-parameters", f, span, || {
                format!("{params} parameters and {results} results go: no call has a use for them")
            });
        }
    }
}

/// What the calls of a function give for a parameter.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Nothing,
    Constant(Const),
    Various,
}

/// Replaces parameters for which every call gives the same constant.
fn write_constants(module: &mut Module, remarks: &mut Remarks) {
    let mut given: Vec<Vec<Given>> = module.functions.iter().map(|f| vec![Given::Nothing; f.params().len()]).collect();
    given[module.entry.index()].fill(Given::Various);
    for (id, f) in module.functions.iter().enumerate() {
        let constants = f.constants();
        f.walk(|_, data| {
            let Op::Call(callee) = data.op else { return };
            for (i, &v) in data.args.iter().enumerate() {
                let own = constants[v.index()].map_or(Given::Various, Given::Constant);
                let slot = &mut given[callee.index()][i];
                // A parameter that a recursion passes on adds nothing.
                let is_passed_on = callee.index() == id && f.params()[i] == v;
                *slot = match *slot {
                    known if is_passed_on || known == own => known,
                    Given::Nothing => own,
                    _ => Given::Various,
                };
            }
        });
    }
    for (f, given) in module.functions.iter_mut().zip(&given) {
        let params: Values = f.params().into();
        for (&p, given) in params.iter().zip(given) {
            if let Given::Constant(c) = *given {
                write_constant(f, p, c, remarks);
            }
        }
    }
}

fn write_constant(f: &mut Function, param: Value, c: Const, remarks: &mut Remarks) {
    let span = f.region(f.body).insts.first().map(|&i| f.inst(i).span).unwrap_or_default();
    remarks.say("dead-parameters", f, span, || format!("a parameter becomes the constant {c} that every call gives"));
    let value = f.new_value(Ty::Scalar(c.scalar()));
    let instead = |v: &mut Value| {
        if *v == param {
            *v = value;
        }
    };
    f.insts.iter_mut().for_each(|data| data.args.iter_mut().for_each(instead));
    f.regions.iter_mut().for_each(|region| region.results.iter_mut().for_each(instead));
    f.bindings.iter_mut().for_each(|b| instead(&mut b.value));
    let results = std::iter::once(value).collect();
    let data = InstData { op: Op::Const(c), args: Values::new(), results, regions: Default::default(), span };
    let inst = f.new_inst(data);
    let body = f.body.index();
    f.regions[body].insts.insert(0, inst);
}
