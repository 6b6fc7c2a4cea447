//! The signatures under which each function is needed, starting from the entry.

use super::round::Round;
use super::{CallPolicy, Variant};
use crate::analysis::activity::{Activity, Signature};
use crate::analysis::axes::Axes;
use crate::ir::{FuncId, Module};
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
    merged: HashMap<(FuncId, Kind), Signature>,
    merging: HashSet<FuncId>,
    /// A function that calls itself with its arguments in other places, again and again, has a variant for each set of
    /// derived ones: there may be no end to them.
    too_many: bool,
    known: HashMap<FuncId, Vec<Signature>>,
    axes: Axes,
}

/// What signatures must agree in to be merged: of tangents, whether there are any and whether the tape takes them; and
/// which parameters trace back to unresolved derivatives.
type Kind = ([bool; 2], Vec<bool>);

impl Variants {
    /// The signature that serves a call which wants `wanted`.
    pub fn serving<'a>(&'a self, callee: FuncId, wanted: &'a Signature) -> &'a Signature {
        self.merged.get(&(callee, self.kind(wanted))).unwrap_or(wanted)
    }

    fn kind(&self, signature: &Signature) -> Kind {
        let tangents = self.axes == Axes::Tangent && !signature.is_plain();
        ([tangents, signature.tape], signature.params.iter().map(|p| p.derived).collect())
    }

    /// Whether there are more than may be written; some are missing then.
    pub fn too_many(&self) -> bool {
        self.too_many
    }

    /// Every signature of every function that is called, the entry's first.
    pub fn list(&self, module: &Module) -> Vec<(FuncId, Signature)> {
        let mut list = vec![(module.entry, Signature::plain(module.entry()))];
        for i in 0..module.functions.len() {
            let id = FuncId(i as u32);
            let mut merged: Vec<_> = self.merged.iter().filter(|((of, _), _)| *of == id).collect();
            merged.sort_by_key(|((_, kind), _)| kind.clone());
            list.extend(merged.into_iter().map(|(_, signature)| (id, signature.clone())));
            list.extend(self.known.get(&id).into_iter().flatten().map(|signature| (id, signature.clone())));
        }
        list
    }
}

pub(super) fn discover(round: &Round<'_>) -> Variants {
    let module = round.module;
    let mut variants = Variants { axes: round.lineage.axes, ..Variants::default() };
    let mut work = vec![(module.entry, Signature::plain(module.entry()))];
    while let Some((id, signature)) = work.pop() {
        if variants.merged.len() > MAX_MERGED {
            variants.too_many = true;
            break;
        }
        // A merged signature that grew since is in the list again.
        if *variants.serving(id, &signature) != signature {
            continue;
        }
        let activity = Activity::of(module, &round.lineage, id, &signature);
        for (callee, wanted) in round.requests(&Variant { function: id, signature, activity }) {
            let merge = round.policy == CallPolicy::Merged || round.calls.recursive[callee.index()];
            work.extend(variants.request(callee, wanted, merge).into_iter().map(|s| (callee, s)));
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
        match self.merged.entry((callee, self.kind(&wanted))) {
            Entry::Vacant(place) => Some(place.insert(wanted).clone()),
            Entry::Occupied(mut place) => {
                let joined = place.get().join(&wanted);
                let grew = joined != *place.get();
                grew.then(|| place.insert(joined.clone())).map(|_| joined)
            }
        }
    }
}
