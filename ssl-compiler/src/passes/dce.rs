//! Removes what no result needs: instructions, results of `if` and `loop`, carried values, functions.
//!
//! Effects need no care: they thread a token that ends in a result. Only `keep` needs care: it gives nothing, and stays
//! with everything that it reads and everything that decides whether it is reached.

use crate::ir::*;
use std::collections::HashMap;

/// Removes dead code from all functions, then functions that nobody calls.
pub fn run(module: &mut Module) {
    let spends: Vec<bool> = module.functions.iter().map(|f| f.spends).collect();
    let spending = spends.contains(&true);
    for f in &mut module.functions {
        let callees = Callees { spends: &spends, ..Callees::default() };
        let needs = Needs::knowing(f, &f.region(f.body).results, callees);
        if spending {
            needs.without_spending(f, &spends);
        }
        needs.prune(f);
    }
    drop_functions(module);
}

/// Which of its arguments each function needs.
pub(super) type NeededParams = Vec<Vec<bool>>;

#[derive(Clone, Copy)]
enum Definition {
    None,
    Result(Inst, u32),
    Param(Region, u32),
}

/// What is known of called functions.
#[derive(Clone, Copy, Default)]
struct Callees<'a> {
    /// What calls need of their arguments.
    needed: Option<&'a NeededParams>,
    /// Which of them only spend fuel.
    spends: &'a [bool],
}

struct Liveness<'a> {
    f: &'a Function,
    callees: Callees<'a>,
    definitions: Vec<Definition>,
    /// The instruction that a region belongs to, and which of its regions it is.
    owners: Vec<Option<(Inst, usize)>>,
    live: Vec<bool>,
    /// Instructions that are a `keep`, or hold one.
    kept: Vec<bool>,
    work: Vec<Value>,
}

/// What must stay.
pub(super) struct Needs {
    /// By value.
    pub live: Vec<bool>,
    kept: Vec<bool>,
}

impl Needs {
    /// What a function needs for these of its results.
    pub fn of(f: &Function, results: &[Value], callees: Option<&NeededParams>) -> Needs {
        Needs::knowing(f, results, Callees { needed: callees, ..Callees::default() })
    }

    fn knowing(f: &Function, results: &[Value], callees: Callees<'_>) -> Needs {
        let Liveness { live, kept, .. } = Liveness::of(f, results, callees);
        Needs { live, kept }
    }

    /// Takes calls away of which only the token is needed, if all that they do to it is to take fuel.
    fn without_spending(&self, f: &mut Function, spends: &[bool]) {
        let mut alias: HashMap<Value, Value> = HashMap::new();
        f.walk(|_, data| {
            if let Op::Call(callee) = data.op
                && spends[callee.index()]
                && !data.results[1..].iter().any(|v| self.live[v.index()])
            {
                let token = data.args[0];
                alias.insert(data.results[0], alias.get(&token).copied().unwrap_or(token));
            }
        });
        if alias.is_empty() {
            return;
        }
        let is_gone = |data: &InstData| data.results.first().is_some_and(|v| alias.contains_key(v));
        let insts = &f.insts;
        f.regions.iter_mut().for_each(|region| region.insts.retain(|i| !is_gone(&insts[i.index()])));
        let resolve = |v: &mut Value| *v = alias.get(v).copied().unwrap_or(*v);
        f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(resolve);
        f.regions.iter_mut().flat_map(|r| &mut r.results).for_each(resolve);
    }

    /// Removes all else.
    pub fn prune(&self, f: &mut Function) {
        prune_region(f, f.body, self);
    }
}

impl<'a> Liveness<'a> {
    fn of(f: &'a Function, results: &[Value], callees: Callees<'a>) -> Liveness<'a> {
        let mut l = Liveness {
            f,
            callees,
            definitions: vec![Definition::None; f.types.len()],
            owners: vec![None; f.regions.len()],
            live: vec![false; f.types.len()],
            kept: vec![false; f.insts.len()],
            work: Vec::new(),
        };
        f.walk(|inst, data| {
            for (i, r) in data.results.iter().enumerate() {
                l.definitions[r.index()] = Definition::Result(inst, i as u32);
            }
            for (n, &region) in data.regions.iter().enumerate() {
                l.owners[region.index()] = Some((inst, n));
                for (i, p) in f.region(region).params.iter().enumerate() {
                    l.definitions[p.index()] = Definition::Param(region, i as u32);
                }
            }
        });
        l.keeps(f.body);
        l.mark(results);
        while let Some(v) = l.work.pop() {
            l.needs(v);
        }
        l
    }

    fn mark(&mut self, values: &[Value]) {
        for &v in values {
            if !std::mem::replace(&mut self.live[v.index()], true) {
                self.work.push(v);
            }
        }
    }

    /// Whether a region holds a `keep`; marks what leads there, and what is read.
    fn keeps(&mut self, region: Region) -> bool {
        let f = self.f;
        let mut any = false;
        for &inst in &f.region(region).insts {
            let data = f.inst(inst);
            let holds = data.regions.iter().fold(data.op == Op::Keep, |found, &r| self.keeps(r) || found);
            if holds {
                self.kept[inst.index()] = true;
                match data.op {
                    Op::Loop(_) => self.mark(&f.region(data.regions[0]).results[..1]),
                    _ => self.mark(&data.args),
                }
            }
            any |= holds;
        }
        any
    }

    /// Marks what a live value is made of.
    fn needs(&mut self, v: Value) {
        let f = self.f;
        match self.definitions[v.index()] {
            Definition::None => {}
            Definition::Result(inst, i) => {
                let data = f.inst(inst);
                let i = i as usize;
                match data.op {
                    Op::If => {
                        self.mark(&data.args);
                        data.regions.iter().for_each(|&r| self.mark(&[f.region(r).results[i]]));
                    }
                    Op::Loop(_) => self.tested(inst, i),
                    Op::Call(callee) if i == 0 && self.callees.spends.get(callee.index()) == Some(&true) => {
                        self.mark(&data.args[..1]);
                    }
                    Op::Call(callee) => match self.callees.needed.and_then(|all| all.get(callee.index())) {
                        Some(needed) => {
                            let args = data.args.iter().zip(needed).filter(|(_, needed)| **needed);
                            self.mark(&args.map(|(&v, _)| v).collect::<Values>());
                        }
                        None => self.mark(&data.args),
                    },
                    _ => self.mark(&data.args),
                }
            }
            Definition::Param(region, i) => {
                let Some((inst, which)) = self.owners[region.index()] else { return };
                if which == 0 {
                    let data = f.inst(inst);
                    self.mark(&[data.args[i as usize], f.region(data.regions[1]).results[i as usize]]);
                } else {
                    self.tested(inst, i as usize);
                }
            }
        }
    }

    /// The i-th value that a loop's test hands out is needed, and so is the test.
    fn tested(&mut self, inst: Inst, i: usize) {
        let results = &self.f.region(self.f.inst(inst).regions[0]).results;
        self.mark(&[results[0], results[i + 1]]);
    }
}

fn prune_region(f: &mut Function, region: Region, needs: &Needs) {
    let insts = std::mem::take(&mut f.regions[region.index()].insts);
    let mut kept = Vec::with_capacity(insts.len());
    for inst in insts {
        if !needed(f, inst, needs) {
            continue;
        }
        match f.inst(inst).op {
            Op::If => prune_if(f, inst, &needs.live),
            Op::Loop(_) => prune_loop(f, inst, &needs.live),
            _ => {}
        }
        for inner in f.inst(inst).regions.clone() {
            prune_region(f, inner, needs);
        }
        kept.push(inst);
    }
    f.regions[region.index()].insts = kept;
}

fn needed(f: &Function, inst: Inst, needs: &Needs) -> bool {
    let data = f.inst(inst);
    let any = |values: &[Value]| values.iter().any(|v| needs.live[v.index()]);
    needs.kept[inst.index()] || any(&data.results) || (data.op.is_loop() && any(&f.region(data.regions[1]).params))
}

fn prune_if(f: &mut Function, inst: Inst, live: &[bool]) {
    let keep: Vec<bool> = f.inst(inst).results.iter().map(|r| live[r.index()]).collect();
    retain(&mut f.insts[inst.index()].results, &keep);
    for region in f.inst(inst).regions.clone() {
        retain(&mut f.regions[region.index()].results, &keep);
    }
}

fn prune_loop(f: &mut Function, inst: Inst, live: &[bool]) {
    let data = f.inst(inst);
    let (condition, body) = (data.regions[0], data.regions[1]);
    let entering: Vec<bool> = f.region(condition).params.iter().map(|p| live[p.index()]).collect();
    let leaving: Vec<bool> =
        f.region(body).params.iter().zip(&data.results).map(|(p, r)| live[p.index()] || live[r.index()]).collect();
    retain(&mut f.insts[inst.index()].args, &entering);
    retain(&mut f.insts[inst.index()].results, &leaving);
    let tested: Vec<bool> = std::iter::once(true).chain(leaving.iter().copied()).collect();
    let data = &mut f.regions[condition.index()];
    retain(&mut data.params, &entering);
    retain(&mut data.results, &tested);
    let data = &mut f.regions[body.index()];
    retain(&mut data.params, &leaving);
    retain(&mut data.results, &entering);
}

pub(super) fn retain<A: smallvec::Array<Item = Value>>(list: &mut smallvec::SmallVec<A>, keep: &[bool]) {
    let mut i = 0;
    list.retain(|_| {
        i += 1;
        keep[i - 1]
    });
}

/// Drops functions that the entry does not reach, and renumbers the rest.
pub(crate) fn drop_functions(module: &mut Module) {
    let calls = crate::analysis::call_graph::CallGraph::of(module);
    let mut reached = vec![false; module.functions.len()];
    let mut work = vec![module.entry];
    while let Some(f) = work.pop() {
        if !std::mem::replace(&mut reached[f.index()], true) {
            work.extend(&calls.callees[f.index()]);
        }
    }
    let mut ids = vec![FuncId(0); reached.len()];
    let mut next = 0;
    for (id, &r) in ids.iter_mut().zip(&reached) {
        *id = FuncId(next);
        next += u32::from(r);
    }
    let mut keep = reached.iter();
    module.functions.retain(|_| keep.next().copied().unwrap_or(true));
    module.entry = ids[module.entry.index()];
    for f in &mut module.functions {
        for id in [&mut f.custom.forward, &mut f.custom.backward, &mut f.undo].into_iter().flatten() {
            *id = ids[id.index()];
        }
        for data in &mut f.insts {
            // Instructions removed by an earlier run still name functions removed with them.
            if let Some(callee) = data.op.callee_mut()
                && let Some(&id) = ids.get(callee.index())
            {
                *callee = id;
            }
        }
    }
}
