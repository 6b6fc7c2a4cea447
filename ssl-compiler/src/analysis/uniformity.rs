//! What is the same in all lanes of a block: values that need one scalar register, branches that all lanes take
//! together, calls that run once for all lanes.
//!
//! A forward analysis over the whole module with two facts, *uniform* below *varying*. It starts with everything
//! uniform and only ever adds what varies, so it ends. These vary: globals, host functions called lane by lane, values
//! computed from either, and results of an `if` or a `loop` whose condition varies. A loop counter stays uniform inside
//! such a loop, since all lanes that are still in it have gone through the same iterations. Only its last value varies,
//! since each lane leaves at its own time.
//!
//! What comes off the tape is the same in all lanes if all pushes of that number put it there so, and the token does not
//! vary: such a token has come the same way in all lanes, so the row was pushed for all of them together.
//!
//! Arrays are judged by their slot of `analysis::storage`: one copy serves all lanes only if everything that is
//! written to the slot is uniform and written by all lanes together, or if the slot has a single definition.
//!
//! It over-estimates: a function has one summary for all its calls (so `f(1.0)` and `f(x)` make `f`'s parameter vary
//! in both), an array with one varying element varies whole, and so does every array that comes off the tape.

use super::call_graph::CallGraph;
use super::storage::Storage;
use crate::ir::facts::Reach;
use crate::ir::{Checkpoint, Const, FuncId, Function, INT, Inst, InstData, Int2, Module, Op, Region, Site, Ty, Value};
use std::collections::{HashMap, HashSet};

/// The facts about one function, as it is called by lanes together.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By value; an array's is that of its slot.
    varying: Vec<bool>,
    /// By slot.
    wide_slots: Vec<bool>,
    /// `if`s and `loop`s on whose condition lanes may disagree.
    divergent: HashSet<Inst>,
    /// Calls whose results are the same in all lanes, and that do nothing else.
    alone: HashSet<Inst>,
    /// Whether lanes call it together; otherwise nothing else here means anything.
    pub reached: bool,
}

impl Facts {
    pub fn varies(&self, v: Value) -> bool {
        self.varying.get(v.index()).copied().unwrap_or(false)
    }

    pub fn slot_is_wide(&self, slot: u32) -> bool {
        self.wide_slots.get(slot as usize).copied().unwrap_or(false)
    }

    pub fn diverges(&self, inst: Inst) -> bool {
        self.divergent.contains(&inst)
    }

    pub fn is_made_once(&self, inst: Inst) -> bool {
        self.alone.contains(&inst)
    }
}

/// Analyses a module of which lanes run the entry together.
pub fn of(module: &Module, storage: &[Storage]) -> Vec<Facts> {
    let graph = CallGraph::of(module);
    let facts = module.functions.iter().zip(storage).map(|(f, s)| Facts {
        varying: vec![false; f.types.len()],
        wide_slots: vec![false; s.list.len()],
        ..Facts::default()
    });
    let mut search = Search {
        module,
        storage,
        same_for_all: same_for_all(module, &graph),
        values_in_slot: storage.iter().zip(&module.functions).map(|(s, f)| values_in_slots(f, s)).collect(),
        facts: facts.collect(),
        pushed: HashMap::new(),
        changed: true,
    };
    search.facts[module.entry.index()].reached = true;
    let order: Vec<FuncId> = graph.components.iter().flatten().copied().collect();
    while search.changed {
        search.changed = false;
        // Arguments travel from callers to callees, results the other way.
        order.iter().rev().chain(&order).for_each(|&id| search.function(id));
    }
    search.facts
}

/// Functions whose results depend on nothing but their arguments, and that do nothing else: lanes with the same
/// arguments may share one call.
fn same_for_all(module: &Module, graph: &CallGraph) -> Vec<bool> {
    let own = |f: &Function| {
        let mut fine = !f.results.contains(&Ty::Token);
        f.walk(|_, data| {
            // Parameters are the same for all lanes; of the rest of what a host gives, some is not.
            fine &= matches!(data.op.facts().reach, Reach::Nothing | Reach::Inside | Reach::Temporary)
                || matches!(data.op, Op::Parameter { .. });
        });
        fine
    };
    let mut out: Vec<bool> = module.functions.iter().map(own).collect();
    for component in &graph.components {
        let fine = component.iter().all(|f| out[f.index()] && graph.callees[f.index()].iter().all(|c| out[c.index()]));
        component.iter().for_each(|f| out[f.index()] = fine);
    }
    out
}

fn values_in_slots(f: &Function, storage: &Storage) -> Vec<u32> {
    let mut counts = vec![0; storage.list.len()];
    for i in 0..f.types.len() {
        if let Some(slot) = storage.slot(Value(i as u32)) {
            counts[slot as usize] += 1;
        }
    }
    counts
}

/// Whether lanes with fewer rounds to go wait for the others: the loop's first value counts the rounds that are left.
pub fn waits(f: &Function, data: &InstData) -> bool {
    if data.op != Op::Loop(Checkpoint::Falling) {
        return false;
    }
    let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
    let (Some(&counter), Some(&next)) = (condition.params.first(), body.results.first()) else { return false };
    let handed = condition.results[1..].iter().position(|&v| v == counter).map(|i| body.params[i]);
    let is_counter = |v: Value| v == counter || Some(v) == handed;
    let one_less = |data: &InstData| match data.op {
        Op::Int2(Int2::Add) => is_counter(data.args[0]) && is_constant(f, data.args[1], -1),
        Op::Int2(Int2::Sub) => is_counter(data.args[0]) && is_constant(f, data.args[1], 1),
        _ => false,
    };
    f.ty(counter) == INT && body.insts.iter().map(|&i| f.inst(i)).any(|d| d.results.contains(&next) && one_less(d))
}

fn is_constant(f: &Function, v: Value, wanted: i32) -> bool {
    f.insts.iter().any(|d| d.op == Op::Const(Const::Int(wanted)) && d.results.contains(&v))
}

struct Search<'a> {
    module: &'a Module,
    storage: &'a [Storage],
    same_for_all: Vec<bool>,
    values_in_slot: Vec<Vec<u32>>,
    facts: Vec<Facts>,
    /// By number of a push and place among its values: those that vary.
    pushed: HashMap<Site, Vec<bool>>,
    changed: bool,
}

impl Search<'_> {
    fn function(&mut self, id: FuncId) {
        if self.facts[id.index()].reached {
            self.region(id, self.module.function(id).body, false);
        }
    }

    fn varies(&self, id: FuncId, v: Value) -> bool {
        match self.storage[id.index()].slot(v) {
            Some(slot) => self.facts[id.index()].slot_is_wide(slot),
            None => self.facts[id.index()].varies(v),
        }
    }

    fn set(&mut self, id: FuncId, v: Value, varies: bool) {
        if !varies || self.varies(id, v) {
            return;
        }
        let facts = &mut self.facts[id.index()];
        match self.storage[id.index()].slot(v) {
            Some(slot) => facts.wide_slots[slot as usize] = true,
            None => facts.varying[v.index()] = true,
        }
        self.changed = true;
    }

    /// What comes to `to` from `from`; both arrays or both scalars.
    fn flow(&mut self, id: FuncId, from: &[Value], to: &[Value], divergent: bool) {
        for (&source, &target) in from.iter().zip(to) {
            let slots = &self.storage[id.index()];
            let is_copied = slots.slot(source) != slots.slot(target);
            let varies = self.varies(id, source) || (divergent && is_copied);
            self.set(id, target, varies);
        }
    }

    fn region(&mut self, id: FuncId, region: Region, divergent: bool) {
        let module = self.module;
        for &inst in &module.function(id).region(region).insts {
            self.inst(id, inst, module.function(id).inst(inst), divergent);
        }
    }

    fn inst(&mut self, id: FuncId, inst: Inst, data: &InstData, divergent: bool) {
        let any = data.args.iter().any(|&v| self.varies(id, v));
        match data.op {
            Op::If => self.if_inst(id, inst, data, divergent),
            Op::Loop(_) => self.loop_inst(id, inst, data, divergent),
            Op::Call(callee) => self.call(id, inst, data, callee, divergent),
            Op::Global { field, .. } => {
                let uniform = self.module.globals.get(field as usize).is_some_and(|g| g.uniform);
                self.set(id, data.results[0], !uniform);
            }
            Op::Texture { .. } | Op::Sample { .. } => {
                let token = self.varies(id, data.args[0]);
                self.set(id, data.results[0], token);
                data.results[1..].iter().for_each(|&r| self.set(id, r, true));
            }
            Op::Push(site) => {
                let token = self.varies(id, data.args[0]);
                self.set(id, data.results[0], token);
                self.note_pushed(id, site, &data.args[1..]);
            }
            Op::Pop(site) => {
                let token = self.varies(id, data.args[0]);
                self.set(id, data.results[0], token);
                for (i, &r) in data.results[1..].iter().enumerate() {
                    let is_array = self.module.function(id).ty(r).is_array();
                    let pushed = self.pushed.get(&site).is_some_and(|list| list.get(i) == Some(&true));
                    self.set(id, r, token || pushed || is_array);
                }
            }
            Op::Print(_) | Op::Probe(_) | Op::TextureAdjoint { .. } | Op::AddTo(_) => {
                let token = self.varies(id, data.args[0]);
                self.set(id, data.results[0], token);
            }
            Op::ArrayNew | Op::ArrayFill | Op::ArraySet => {
                let result = data.results[0];
                let shared = self.storage[id.index()].slot(result).is_some_and(|s| {
                    let values = &self.values_in_slot[id.index()];
                    values[s as usize] > 1
                });
                self.set(id, result, any || (divergent && shared));
            }
            _ => data.results.iter().for_each(|&r| self.set(id, r, any)),
        }
    }

    fn if_inst(&mut self, id: FuncId, inst: Inst, data: &InstData, divergent: bool) {
        let f = self.module.function(id);
        let diverges = self.varies(id, data.args[0]);
        self.note_divergent(id, inst, diverges);
        for &region in &data.regions {
            self.region(id, region, divergent || diverges);
        }
        let [then, otherwise] = [0, 1].map(|i| &f.region(data.regions[i]).results);
        for ((&a, &b), &r) in then.iter().zip(otherwise).zip(&data.results) {
            let from_sides = self.varies(id, a) || self.varies(id, b);
            // Both sides may hand on the same value of before.
            let merged = diverges && (a != b || f.ty(r).is_array());
            let copied = divergent && f.ty(r).is_array();
            self.set(id, r, from_sides || merged || copied);
        }
    }

    fn loop_inst(&mut self, id: FuncId, inst: Inst, data: &InstData, divergent: bool) {
        let f = self.module.function(id);
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let waits = waits(f, data) && self.varies(id, data.args[0]);
        let diverges = self.varies(id, condition.results[0]) || waits;
        self.note_divergent(id, inst, diverges);
        let inside = divergent || diverges;
        let arrays = |values: &[Value]| values.iter().copied().filter(|v| f.ty(*v).is_array()).collect::<Vec<_>>();
        if inside {
            // Each lane keeps its own from round to round.
            for list in [&condition.params[..], &body.params[..], &data.results[..]] {
                arrays(list).into_iter().for_each(|v| self.set(id, v, true));
            }
        }
        // Lanes that begin later have gone through fewer rounds than the others; only the counter is the same in all.
        let first = usize::from(waits);
        condition.params[first..].iter().for_each(|&v| self.set(id, v, waits));
        self.flow(id, &data.args[first..], &condition.params[first..], false);
        self.region(id, data.regions[0], inside);
        self.flow(id, &condition.results[1..], &body.params, false);
        self.region(id, data.regions[1], inside);
        self.flow(id, &body.results, &condition.params, false);
        self.flow(id, &condition.results[1..], &data.results, false);
        // Lanes take these out in different rounds.
        data.results.iter().for_each(|&r| self.set(id, r, diverges));
    }

    fn note_pushed(&mut self, id: FuncId, site: Site, values: &[Value]) {
        let varying: Vec<bool> = values.iter().map(|&v| self.varies(id, v)).collect();
        let known = self.pushed.entry(site).or_insert_with(|| vec![false; varying.len()]);
        for (known, varies) in known.iter_mut().zip(varying) {
            self.changed |= varies && !*known;
            *known |= varies;
        }
    }

    fn note_divergent(&mut self, id: FuncId, inst: Inst, diverges: bool) {
        if diverges && self.facts[id.index()].divergent.insert(inst) {
            self.changed = true;
        }
    }

    fn call(&mut self, id: FuncId, inst: Inst, data: &InstData, callee: FuncId, divergent: bool) {
        let any = data.args.iter().any(|&v| self.varies(id, v));
        let shares = |s: &Self, v: Value| {
            let slot = s.storage[id.index()].slot(v);
            slot.is_some_and(|slot| s.values_in_slot[id.index()][slot as usize] > 1)
        };
        let unsafe_array = divergent && data.results.iter().any(|&r| shares(self, r));
        let wide_array = data.results.iter().any(|&r| self.module.function(id).ty(r).is_array() && self.varies(id, r));
        if self.same_for_all[callee.index()] && !any && !unsafe_array && !wide_array {
            self.facts[id.index()].alone.insert(inst);
            return;
        }
        self.changed |= self.facts[id.index()].alone.remove(&inst);
        self.changed |= !std::mem::replace(&mut self.facts[callee.index()].reached, true);
        let module = self.module;
        let g = module.function(callee);
        for (&a, &p) in data.args.iter().zip(g.params()) {
            let varies = self.varies(id, a);
            self.set(callee, p, varies);
            // One layout for both sides.
            if g.ty(p).is_array() && self.varies(callee, p) {
                self.set(id, a, true);
            }
        }
        for (&r, &given) in data.results.iter().zip(&g.region(g.body).results) {
            let varies = self.varies(callee, given) || g.ty(given).is_array();
            self.set(id, r, varies);
        }
        for &given in g.region(g.body).results.iter().filter(|v| g.ty(**v).is_array()) {
            self.set(callee, given, true);
        }
    }
}
