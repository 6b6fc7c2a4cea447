//! Under which signatures each function is needed, starting from the entry.

use super::CallPolicy;
use crate::analysis::activity::{Activity, Carried, Shadows, Signature};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::Lineage;
use crate::ir::{FuncId, InstData, Module, Op};
use std::collections::HashMap;

/// Past so many signatures, a function's variants merge into one.
const MAX_VARIANTS: usize = 8;

/// The signatures that will be written.
pub(super) struct Variants {
    /// One signature for all calls of a function: where it recurses, or has too many.
    merged: HashMap<FuncId, Signature>,
    known: HashMap<FuncId, Vec<Signature>>,
}

impl Variants {
    /// The signature that serves a call which wants `wanted`.
    pub fn serving<'a>(&'a self, callee: FuncId, wanted: &'a Signature) -> &'a Signature {
        self.merged.get(&callee).unwrap_or(wanted)
    }
}

impl Variants {
    /// Every signature of every function that is called, the entry's first.
    pub fn list(&self, module: &Module) -> Vec<(FuncId, Signature)> {
        let mut list = vec![(module.entry, plain(module, module.entry))];
        for i in 0..module.functions.len() {
            let id = FuncId(i as u32);
            match (self.merged.get(&id), self.known.get(&id)) {
                (Some(signature), _) => list.push((id, signature.clone())),
                (None, Some(known)) => list.extend(known.iter().map(|s| (id, s.clone()))),
                (None, None) => {}
            }
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
    let mut variants = Variants { merged: HashMap::new(), known: HashMap::new() };
    let mut work = vec![(module.entry, plain(module, module.entry))];
    while let Some((id, signature)) = work.pop() {
        // A merged signature that grew since is in the list again.
        if variants.merged.get(&id).is_some_and(|m| *m != signature) {
            continue;
        }
        let activity = Activity::of(module, lineage, id, &signature);
        let f = module.function(id);
        for &inst in &lineage.graphs[id.index()].flow.calls {
            let data = f.inst(inst);
            if let Op::Call(callee) = data.op {
                let merge = policy == CallPolicy::Merged || calls.recursive[callee.index()];
                let wanted = wanted(lineage, &activity, data, callee);
                work.extend(variants.request(callee, wanted, merge).map(|s| (callee, s)));
            }
        }
    }
    variants
}

impl Variants {
    /// Notes a request; gives the signature to look at where that is new.
    fn request(&mut self, callee: FuncId, wanted: Signature, merge: bool) -> Option<Signature> {
        if let Some(merged) = self.merged.get_mut(&callee) {
            let joined = merged.join(&wanted);
            let grew = joined != *merged;
            *merged = joined;
            return grew.then(|| merged.clone());
        }
        let known = self.known.entry(callee).or_default();
        if known.contains(&wanted) {
            return None;
        }
        if merge || known.len() >= MAX_VARIANTS {
            let joined = known.drain(..).fold(wanted, |a, b| a.join(&b));
            self.merged.insert(callee, joined.clone());
            return Some(joined);
        }
        known.push(wanted.clone());
        Some(wanted)
    }
}
