//! Replaces calls by the bodies of functions: where that costs less than the call, or all of them.
//!
//! What a function comes to is estimated for each call, with the constants that the call gives (`cost`). It is held
//! against what the call itself comes to: arguments and results that change places, and values that are saved over it. In a
//! loop these are known: what it carries, and what its rounds read from in front of it.
//! Functions that call themselves stay, as every call of them counts its depth.

mod cost;

use super::remarks::Remarks;
use crate::analysis::call_graph::CallGraph;
use crate::ir::*;
use std::collections::HashSet;

/// Instructions that a call comes to beside its arguments and results, values that are saved over it above all.
const CALL: usize = 24;
/// The same for a function with a single call, of which no code is left behind. Larger ones stay: in one huge function
/// the register allocator spills more than the call would cost.
const SINGLE: usize = 100;
/// Instructions of a function, constants included, that takes no longer than to save all vector registers for it.
const SHORT: usize = 48;
/// Instructions up to which a function may grow by short ones: back ends do less for large functions.
const MAX_WITH_SHORT: usize = 4000;
/// Instructions up to which a function may grow by this.
const MAX_GROWN: usize = 20_000;

/// Writes out the calls that cost more than the body.
pub fn run(module: &mut Module, remarks: &mut Remarks) {
    write_out(module, Which::Cheaper, remarks);
}

/// Writes out the calls of functions that do no more than to differentiate another one, so that what is differentiated
/// knows which tangents are 0 there, and which results somebody uses.
pub fn derivatives(module: &mut Module) {
    if module.functions.iter().any(differentiates) {
        write_out(module, Which::Derivatives, &mut Remarks::unheard());
    }
}

/// Scalars that a loop carries, and those that its rounds read from in front of it, but for constants.
fn kept_by(f: &Function, constants: &[Option<Const>], inst: Inst) -> usize {
    let data = f.inst(inst);
    let mut inside: HashSet<Value> = HashSet::new();
    let mut read: HashSet<Value> = HashSet::new();
    for &region in &data.regions {
        inside.extend(f.region(region).params.iter().copied());
        read.extend(f.region(region).results.iter().copied());
        f.walk_region(region, &mut |_, data| {
            inside.extend(data.results.iter().copied());
            read.extend(data.args.iter().copied());
            for &inner in &data.regions {
                inside.extend(f.region(inner).params.iter().copied());
                read.extend(f.region(inner).results.iter().copied());
            }
        });
    }
    let scalar = |v: &Value| matches!(f.ty(*v), Ty::Scalar(_));
    let is_constant = |v: &Value| constants.get(v.index()).is_some_and(Option::is_some);
    let from_outside = |v: &Value| !inside.contains(v) && !is_constant(v);
    let carried = data.args.iter().filter(|v| scalar(v)).count();
    carried + read.iter().filter(|v| scalar(v) && from_outside(v)).count()
}

/// Whether a function is straight code with a derivative of a function in it.
fn differentiates(f: &Function) -> bool {
    let insts = &f.region(f.body).insts;
    let is_derivative = |data: &InstData| matches!(data.op, Op::Jvp { .. } | Op::Vjp { .. });
    insts.iter().any(|&i| is_derivative(f.inst(i))) && insts.iter().all(|&i| f.inst(i).regions.is_empty())
}

/// Writes out the calls of functions from `first` on that are short, straight code: mathematical functions.
pub fn short(module: &mut Module, first: usize) {
    let is_short =
        |f: &Function| f.size() <= SHORT && f.region(f.body).insts.iter().all(|&i| f.inst(i).regions.is_empty());
    let short = module.functions.iter().enumerate().map(|(i, f)| i >= first && is_short(f)).collect();
    write_out(module, Which::These(short), &mut Remarks::unheard());
}

/// Writes out every call but those of functions that call themselves, as far as functions may grow.
pub fn everything(module: &mut Module) {
    write_out(module, Which::All, &mut Remarks::unheard());
}

/// Likewise, but for calls of these functions.
pub fn everything_but(module: &mut Module, kept: Vec<bool>) {
    write_out(module, Which::AllBut(kept), &mut Remarks::unheard());
}

fn write_out(module: &mut Module, which: Which, remarks: &mut Remarks) {
    let graph = CallGraph::of(module);
    let mut calls = vec![0usize; module.functions.len()];
    graph.callees.iter().flatten().for_each(|f| calls[f.index()] += 1);
    let mut sizes: Vec<usize> = module.functions.iter().map(Function::size).collect();
    let derivatives: Vec<bool> = module.functions.iter().map(differentiates).collect();
    // Callees first, so that what is copied has been inlined into already.
    for &id in graph.components.iter().flatten() {
        if graph.callees[id.index()].is_empty() {
            continue;
        }
        let policy = Policy {
            which: &which,
            recursive: &graph.recursive,
            calls: &calls,
            sizes: &sizes,
            derivatives: &derivatives,
        };
        let (alias, constants, grown) = (Vec::new(), module.function(id).constants(), sizes[id.index()]);
        let mut inliner = Inliner { module, policy, target: id, alias, constants, grown, kept: 0, remarks };
        inliner.run();
        sizes[id.index()] = module.function(id).size();
    }
    // What now stands elsewhere must not be simplified once more.
    super::dce::drop_functions(module);
}

/// Which calls are written out.
struct Policy<'a> {
    which: &'a Which,
    recursive: &'a [bool],
    /// How many calls of each function there are.
    calls: &'a [usize],
    /// Instructions of each function.
    sizes: &'a [usize],
    /// Functions that only differentiate another one.
    derivatives: &'a [bool],
}

enum Which {
    Cheaper,
    All,
    Derivatives,
    /// By function.
    These(Vec<bool>),
    AllBut(Vec<bool>),
}

/// Why a call is written out.
enum Reason {
    All,
    Cheaper { remaining: usize, call: usize },
}

struct Inliner<'a> {
    module: &'a mut Module,
    policy: Policy<'a>,
    target: FuncId,
    alias: Vec<Value>,
    /// The constants of the target as it was.
    constants: Vec<Option<Const>>,
    grown: usize,
    /// Values that the innermost loop around keeps from round to round.
    kept: usize,
    remarks: &'a mut Remarks,
}

impl Inliner<'_> {
    fn f(&mut self) -> &mut Function {
        &mut self.module.functions[self.target.index()]
    }

    fn run(&mut self) {
        let values = self.f().types.len() as u32;
        self.alias = (0..values).map(Value).collect();
        let body = self.f().body;
        self.region(body);
        let mut bindings = std::mem::take(&mut self.f().bindings);
        bindings.iter_mut().for_each(|b| b.value = self.alias[b.value.index()]);
        self.f().bindings = bindings;
    }

    fn region(&mut self, region: Region) {
        let insts = std::mem::take(&mut self.f().regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let args = self.resolve_all(&self.module.function(self.target).inst(inst).args);
            self.f().insts[inst.index()].args = args;
            match (self.f().inst(inst).op, self.reason(inst)) {
                (Op::Call(callee), Some(reason)) => {
                    self.explain(inst, callee, &reason);
                    self.expand(inst, callee, &mut out);
                }
                _ => {
                    let kept = self.kept;
                    if let Op::Loop(_) = self.f().inst(inst).op {
                        self.kept = kept_by(self.module.function(self.target), &self.constants, inst);
                    }
                    for inner in self.f().inst(inst).regions.clone() {
                        self.region(inner);
                    }
                    self.kept = kept;
                    out.push(inst);
                }
            }
        }
        let results = self.resolve_all(&self.module.function(self.target).region(region).results);
        let data = &mut self.f().regions[region.index()];
        data.results = results;
        data.insts = out;
    }

    /// Why an instruction is a call to write out; `None` where it is none.
    fn reason(&self, inst: Inst) -> Option<Reason> {
        let data = self.module.function(self.target).inst(inst);
        let Op::Call(callee) = data.op else { return None };
        let fits = self.grown + self.policy.sizes[callee.index()] <= MAX_GROWN;
        // What a custom derivative stands for, and what takes a step back, is told from calls.
        let function = self.module.function(callee);
        let is_custom = function.custom != Custom::default() || function.undo.is_some();
        // Nobody can tell any more that what is written out only spends.
        let is_custom = is_custom || function.spends && !matches!(self.policy.which, Which::Cheaper);
        if self.policy.recursive[callee.index()] || !fits || is_custom {
            return None;
        }
        match self.policy.which {
            Which::All => return Some(Reason::All),
            Which::AllBut(kept) => return (!kept[callee.index()]).then_some(Reason::All),
            Which::Derivatives => return self.policy.derivatives[callee.index()].then_some(Reason::All),
            Which::These(chosen) => {
                let fits = self.grown + self.policy.sizes[callee.index()] <= MAX_WITH_SHORT;
                return (chosen[callee.index()] && fits).then_some(Reason::All);
            }
            Which::Cheaper => {}
        }
        let fixed = if self.policy.calls[callee.index()] == 1 { SINGLE } else { CALL };
        let call = fixed + data.args.len() + data.results.len() + self.kept;
        let constant = |v: &Value| self.constants.get(v.index()).copied().flatten();
        let arguments: Vec<Option<Const>> = data.args.iter().map(constant).collect();
        let remaining = cost::remaining(self.module.function(callee), &arguments, call);
        (remaining <= call).then_some(Reason::Cheaper { remaining, call })
    }

    fn explain(&mut self, inst: Inst, callee: FuncId, reason: &Reason) {
        let (caller, name) = (self.module.function(self.target), &self.module.function(callee).name);
        self.remarks.say("inline", caller, caller.inst(inst).span, || match reason {
            Reason::All => format!("@{name} is written out, as every call is to be"),
            Reason::Cheaper { remaining, call } => {
                format!(
                    "@{name} is written out: {remaining} instructions remain of it here, and the call counts as {call}"
                )
            }
        });
    }

    fn resolve_all(&self, values: &[Value]) -> Values {
        values.iter().map(|v| self.alias[v.index()]).collect()
    }

    fn expand(&mut self, call: Inst, callee: FuncId, out: &mut Vec<Inst>) {
        let source = self.module.function(callee).clone();
        let data = self.f().inst(call).clone();
        let mut map = vec![Value(u32::MAX); source.types.len()];
        for (p, &a) in source.params().iter().zip(&data.args) {
            map[p.index()] = a;
        }
        self.grown += source.size();
        let insts = self.copy(&source, source.body, &mut map);
        out.extend(insts);
        // Names go along, but those of values that are gone.
        let known = source.bindings.iter().filter(|b| map[b.value.index()] != Value(u32::MAX));
        self.f().bindings.extend(known.map(|b| Binding { value: map[b.value.index()], ..b.clone() }));
        for (r, result) in data.results.iter().zip(&source.region(source.body).results) {
            self.alias[r.index()] = map[result.index()];
        }
    }

    /// Copies a region's instructions; `map` takes the source's values to the copies.
    fn copy(&mut self, source: &Function, region: Region, map: &mut Vec<Value>) -> Vec<Inst> {
        let mut out = Vec::new();
        for &inst in &source.region(region).insts {
            let data = source.inst(inst);
            let args = data.args.iter().map(|v| map[v.index()]).collect();
            let regions = data.regions.iter().map(|&inner| self.copy_region(source, inner, map)).collect();
            let results = data.results.iter().map(|&r| self.copy_value(source, r, map)).collect();
            let copy = InstData { op: data.op, args, results, regions, span: data.span };
            out.push(self.f().new_inst(copy));
        }
        out
    }

    fn copy_value(&mut self, source: &Function, v: Value, map: &mut [Value]) -> Value {
        let new = self.f().new_value(source.ty(v));
        self.alias.push(new);
        map[v.index()] = new;
        new
    }

    fn copy_region(&mut self, source: &Function, region: Region, map: &mut Vec<Value>) -> Region {
        let params = source.region(region).params.iter().map(|&p| self.copy_value(source, p, map)).collect();
        let insts = self.copy(source, region, map);
        let results = source.region(region).results.iter().map(|v| map[v.index()]).collect();
        let f = self.f();
        f.regions.push(RegionData { params, insts, results });
        Region(f.regions.len() as u32 - 1)
    }
}
