//! The signatures under which each function is needed, starting from the entry.

use super::CallPolicy;
use crate::analysis::activity::{Activity, Carried, Shadows, Signature};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::Lineage;
use crate::ir::{FuncId, InstData, Module, Op};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Past so many signatures, a function's variants merge into one.
const MAX_VARIANTS: usize = 8;

/// Merged variants of all functions together, at most.
const MAX_MERGED: usize = 1024;

/// The signatures that will be written.
///
/// Calls whose arguments trace back to unresolved derivatives in different parameters never share one: in such a
/// variant, look-ups wait a round, and who calls it must know that.
#[derive(Default)]
pub(super) struct Variants {
    /// Of a function that recurses or has too many: one signature for all calls with the same derived parameters.
    merged: HashMap<(FuncId, Vec<bool>), Signature>,
    merging: HashSet<FuncId>,
    /// A function that calls itself with its arguments in other places, again and again, has a variant for each set of
    /// derived ones: there may be no end to them.
    too_many: bool,
    known: HashMap<FuncId, Vec<Signature>>,
}

/// Which parameters trace back to unresolved derivatives.
fn derived(signature: &Signature) -> Vec<bool> {
    signature.params.iter().map(|p| p.derived).collect()
}

impl Variants {
    /// The signature that serves a call which wants `wanted`.
    pub fn serving<'a>(&'a self, callee: FuncId, wanted: &'a Signature) -> &'a Signature {
        self.merged.get(&(callee, derived(wanted))).unwrap_or(wanted)
    }
}

impl Variants {
    /// Whether there are more than may be written; some are missing then.
    pub fn too_many(&self) -> bool {
        self.too_many
    }

    /// Every signature of every function that is called, the entry's first.
    pub fn list(&self, module: &Module) -> Vec<(FuncId, Signature)> {
        let mut list = vec![(module.entry, plain(module, module.entry))];
        for i in 0..module.functions.len() {
            let id = FuncId(i as u32);
            let mut merged: Vec<_> = self.merged.iter().filter(|((of, _), _)| *of == id).collect();
            merged.sort_by_key(|((_, derived), _)| derived.clone());
            list.extend(merged.into_iter().map(|(_, signature)| (id, signature.clone())));
            list.extend(self.known.get(&id).into_iter().flatten().map(|signature| (id, signature.clone())));
        }
        list
    }
}

/// What a call wants of its callee.
pub(super) fn wanted(lineage: &Lineage, activity: &Activity, data: &InstData, callee: FuncId) -> Signature {
    let summary = &lineage.summaries[callee.index()];
    let results: Vec<Shadows> = data.results.iter().map(|&r| activity.shadows(r)).collect();
    let params = data.args.iter().enumerate().map(|(p, &arg)| {
        let all = lineage.derivatives == Derivatives::Forced;
        let mut used = Shadows { x: all || summary.sinks[0].contains(p), y: all || summary.sinks[1].contains(p) };
        for (r, shadows) in summary.results.iter().zip(&results) {
            if r.parameters.contains(p) {
                used = used.or(*shadows);
            }
        }
        let has = activity.shadows(arg);
        Carried { shadows: Shadows { x: used.x && has.x, y: used.y && has.y }, derived: activity.is_derived(arg) }
    });
    Signature { params: params.collect(), results }
}

pub(super) fn plain(module: &Module, id: FuncId) -> Signature {
    let f = module.function(id);
    Signature { params: vec![Carried::default(); f.params().len()], results: vec![Shadows::default(); f.results.len()] }
}

pub(super) fn discover(module: &Module, calls: &CallGraph, lineage: &Lineage, policy: CallPolicy) -> Variants {
    let mut variants = Variants::default();
    let mut work = vec![(module.entry, plain(module, module.entry))];
    while let Some((id, signature)) = work.pop() {
        if variants.merged.len() > MAX_MERGED {
            variants.too_many = true;
            break;
        }
        // A merged signature that grew since is in the list again.
        if *variants.serving(id, &signature) != signature {
            continue;
        }
        let activity = Activity::of(module, lineage, id, &signature);
        let f = module.function(id);
        for &inst in &lineage.graphs[id.index()].flow.calls {
            let data = f.inst(inst);
            if let Op::Call(callee) = data.op {
                let merge = policy == CallPolicy::Merged || calls.recursive[callee.index()];
                let wanted = wanted(lineage, &activity, data, callee);
                work.extend(variants.request(callee, wanted, merge).into_iter().map(|s| (callee, s)));
            }
        }
    }
    variants
}

impl Variants {
    /// Notes a request; gives the signatures to look at that are new.
    fn request(&mut self, callee: FuncId, wanted: Signature, merge: bool) -> Vec<Signature> {
        let known = self.known.entry(callee).or_default();
        if !self.merging.contains(&callee) {
            if known.contains(&wanted) {
                return Vec::new();
            }
            if !merge && known.len() < MAX_VARIANTS {
                known.push(wanted.clone());
                return vec![wanted];
            }
            self.merging.insert(callee);
        }
        let requests: Vec<Signature> = known.drain(..).chain([wanted]).collect();
        requests.into_iter().filter_map(|request| self.merge(callee, request)).collect()
    }

    fn merge(&mut self, callee: FuncId, wanted: Signature) -> Option<Signature> {
        match self.merged.entry((callee, derived(&wanted))) {
            Entry::Vacant(place) => Some(place.insert(wanted).clone()),
            Entry::Occupied(mut place) => {
                let joined = place.get().join(&wanted);
                let grew = joined != *place.get();
                grew.then(|| place.insert(joined.clone())).map(|_| joined)
            }
        }
    }
}
