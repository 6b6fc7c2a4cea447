//! Replaces calls by the bodies of functions: for small functions and those with a single call, or for all of them.

use crate::analysis::call_graph::CallGraph;
use crate::ir::*;

/// Instructions up to which a function is copied to every call.
const SMALL: usize = 24;
/// Instructions up to which a function with one call moves there. Larger ones stay: in one huge function the
/// register allocator spills more than the call would cost.
const SINGLE: usize = 100;
/// Instructions up to which a function may grow by this.
const MAX_GROWN: usize = 20_000;

/// Writes out the calls that cost more than the body.
pub fn run(module: &mut Module) {
    write_out(module, false);
}

/// Writes out every call but those of functions that call themselves, as far as functions may grow.
pub fn everything(module: &mut Module) {
    write_out(module, true);
}

fn write_out(module: &mut Module, all: bool) {
    let graph = CallGraph::of(module);
    let mut calls = vec![0usize; module.functions.len()];
    graph.callees.iter().flatten().for_each(|f| calls[f.index()] += 1);
    let mut sizes: Vec<usize> = module.functions.iter().map(Function::size).collect();
    // Callees first, so that what is copied has been inlined into already.
    for &id in graph.components.iter().flatten() {
        if graph.callees[id.index()].is_empty() {
            continue;
        }
        let wanted = |callee: FuncId, grown: usize| {
            let size = sizes[callee.index()];
            let fits = all || size <= SMALL || (calls[callee.index()] == 1 && size <= SINGLE);
            fits && !graph.recursive[callee.index()] && grown + size <= MAX_GROWN
        };
        let mut inliner = Inliner { module, target: id, alias: Vec::new(), grown: sizes[id.index()] };
        inliner.run(&wanted);
        sizes[id.index()] = module.function(id).size();
    }
    // What now stands elsewhere must not be simplified once more.
    super::dce::drop_functions(module);
}

struct Inliner<'a> {
    module: &'a mut Module,
    target: FuncId,
    alias: Vec<Value>,
    grown: usize,
}

impl Inliner<'_> {
    fn f(&mut self) -> &mut Function {
        &mut self.module.functions[self.target.index()]
    }

    fn run(&mut self, wanted: &dyn Fn(FuncId, usize) -> bool) {
        let values = self.f().types.len() as u32;
        self.alias = (0..values).map(Value).collect();
        let body = self.f().body;
        self.region(body, wanted);
        let mut bindings = std::mem::take(&mut self.f().bindings);
        bindings.iter_mut().for_each(|b| b.value = self.alias[b.value.index()]);
        self.f().bindings = bindings;
    }

    fn region(&mut self, region: Region, wanted: &dyn Fn(FuncId, usize) -> bool) {
        let insts = std::mem::take(&mut self.f().regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let args = self.resolve_all(&self.module.function(self.target).inst(inst).args);
            self.f().insts[inst.index()].args = args;
            let (op, grown) = (self.f().inst(inst).op, self.grown);
            match op {
                Op::Call(callee) if wanted(callee, grown) => self.expand(inst, callee, &mut out),
                _ => {
                    for inner in self.f().inst(inst).regions.clone() {
                        self.region(inner, wanted);
                    }
                    out.push(inst);
                }
            }
        }
        let results = self.resolve_all(&self.module.function(self.target).region(region).results);
        let data = &mut self.f().regions[region.index()];
        data.results = results;
        data.insts = out;
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
