//! The environment: the IR values of each variable's parts, and how two branches merge.

use super::{TOKEN, Writer};
use crate::ir::{BOOL, Op, Region, Ty, Value, Values};
use crate::runtime::ClosureId;
use crate::types::{Leaf, LeafKind, Type};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};

/// The parts of a value, in the order of [`crate::types::TypeTable::leaves`].
pub(super) type State = SmallVec<[LeafState; 1]>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LeafState {
    /// A scalar, or an array in memory.
    Value(Value),
    /// An array that is indexed by constants only, element by element.
    Exploded(Vec<Value>),
    Lobes(Vec<Lobe>),
    /// An array of closures, element by element.
    Closures(Vec<Vec<Lobe>>),
}

/// One lobe of a closure value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lobe {
    /// The same lobe on two ways through the program has the same number.
    pub id: u32,
    pub closure: ClosureId,
    pub weight: [Value; 3],
    pub params: Vec<Value>,
    /// The lobe above it and the parameter that it was given to.
    pub layer: Option<(u32, usize)>,
}

impl LeafState {
    pub fn into_lobes(self) -> Vec<Lobe> {
        match self {
            LeafState::Lobes(list) => list,
            _ => Vec::new(),
        }
    }
}

/// Arrays up to this size are taken apart when constants index them.
const MAX_EXPLODED: usize = 256;

pub(super) fn one(value: Value) -> State {
    State::from_elem(LeafState::Value(value), 1)
}

/// What was changed on one way through the program, and what it became.
struct Outcome {
    region: Region,
    /// In order of the slots.
    changed: Vec<(usize, Option<State>)>,
}

impl Writer<'_, '_> {
    pub(super) fn set(&mut self, slot: usize, state: State) {
        if self.cx.request.names {
            let old = self.env[slot].take();
            self.note_names(slot, old.as_ref(), &state);
            self.env[slot] = old;
        }
        self.set_unnamed(slot, state);
    }

    /// Sets what the author gives no value: a variable's zero where it is declared.
    pub(super) fn set_unnamed(&mut self, slot: usize, state: State) {
        let old = self.env[slot].replace(state);
        self.journal.push((slot, old));
    }

    /// The state of a slot; one that was never set is empty.
    pub(super) fn get(&self, slot: usize) -> State {
        self.env[slot].clone().unwrap_or_default()
    }

    pub(super) fn value(&self, slot: usize) -> Value {
        match self.env[slot].as_ref().and_then(|s| s.first()) {
            Some(LeafState::Value(v)) => *v,
            _ => unreachable!("flags and tokens are set before they are read"),
        }
    }

    pub(super) fn token(&self) -> Value {
        self.value(TOKEN)
    }

    pub(super) fn new_slot(&mut self) -> usize {
        self.env.push(None);
        self.env.len() - 1
    }

    /// Zeros of a type; `memory` keeps arrays in memory.
    pub(super) fn zero(&mut self, ty: &Type, memory: bool) -> State {
        let leaves = self.cx.leaves(ty);
        leaves.iter().map(|leaf| self.zero_part(leaf, memory)).collect()
    }

    pub(super) fn zero_part(&mut self, leaf: &Leaf, memory: bool) -> LeafState {
        match leaf.kind {
            LeafKind::Closure if !leaf.dims.is_empty() => LeafState::Closures(vec![Vec::new(); leaf.count()]),
            LeafKind::Closure | LeafKind::Slot => LeafState::Lobes(Vec::new()),
            LeafKind::Scalar(s) if leaf.dims.is_empty() => LeafState::Value(self.b.zero(Ty::Scalar(s))),
            LeafKind::Scalar(s) if memory || leaf.count() > MAX_EXPLODED => {
                LeafState::Value(self.b.zero(Ty::Array(s, leaf.count() as u32)))
            }
            LeafKind::Scalar(s) => LeafState::Exploded(vec![self.b.zero(Ty::Scalar(s)); leaf.count()]),
        }
    }

    /// The IR values of a state, arrays as arrays; closures have none.
    pub(super) fn flatten(&mut self, state: &State) -> Values {
        state
            .iter()
            .filter_map(|leaf| match leaf {
                LeafState::Value(v) => Some(*v),
                LeafState::Exploded(elements) => Some(self.gather(elements)),
                LeafState::Lobes(_) | LeafState::Closures(_) => None,
            })
            .collect()
    }

    /// An array in memory with these elements.
    pub(super) fn gather(&mut self, elements: &[Value]) -> Value {
        match self.b.ty(elements[0]) {
            Ty::Scalar(s) => self.b.emit(Op::ArrayNew, elements, Ty::Array(s, elements.len() as u32)),
            _ => unreachable!("elements are scalars"),
        }
    }

    /// Brings a value into the shape that a variable keeps: in memory, or taken apart.
    pub(super) fn like(&mut self, state: State, shape: &State) -> State {
        let convert = |(new, old): (LeafState, &LeafState)| match (new, old) {
            (LeafState::Exploded(list), LeafState::Value(_)) => LeafState::Value(self.gather(&list)),
            (LeafState::Value(array), LeafState::Exploded(list)) => {
                LeafState::Exploded(self.scatter(array, list.len()))
            }
            (new, _) => new,
        };
        state.into_iter().zip(shape).map(convert).collect()
    }

    /// The elements of an array, one by one.
    pub(super) fn scatter(&mut self, array: Value, count: usize) -> Vec<Value> {
        (0..count)
            .map(|i| {
                let index = self.b.int(i as i32);
                self.b.array_get(array, index)
            })
            .collect()
    }

    /// Runs `write` in a region of its own and takes its changes back.
    fn branch(&mut self, write: impl FnOnce(&mut Self)) -> Outcome {
        let mark = self.journal.len();
        let region = self.b.open(&[]);
        write(self);
        let slots: BTreeSet<usize> = self.journal[mark..].iter().map(|(slot, _)| *slot).collect();
        let changed = slots.into_iter().map(|slot| (slot, self.env[slot].clone())).collect();
        while self.journal.len() > mark {
            if let Some((slot, old)) = self.journal.pop() {
                self.env[slot] = old;
            }
        }
        self.b.close(Values::new());
        Outcome { region, changed }
    }

    /// An `if`: afterwards each variable has the value of the branch that ran.
    pub(super) fn branches(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        match self.b.constant_of(condition) {
            Some(crate::ir::Const::Bool(true)) => return then(self),
            Some(_) => return otherwise(self),
            None => {}
        }
        let span = self.b.span;
        let then = self.branch(then);
        let otherwise = self.branch(otherwise);
        let slots: BTreeSet<usize> = then.changed.iter().chain(&otherwise.changed).map(|(slot, _)| *slot).collect();
        let state = |w: &Self, outcome: &Outcome, slot: usize| match outcome
            .changed
            .binary_search_by_key(&slot, |(slot, _)| *slot)
        {
            Ok(at) => outcome.changed[at].1.clone(),
            Err(_) => w.env[slot].clone(),
        };
        let mut meeting = Meeting {
            then: then.region,
            otherwise: otherwise.region,
            yields: [Values::new(), Values::new()],
            known: HashMap::new(),
        };
        let mut merged = Vec::new();
        for slot in slots {
            // What is unset on one side was declared inside the other, and is out of scope now.
            if let (Some(a), Some(b)) = (state(self, &then, slot), state(self, &otherwise, slot)) {
                // Looking at a part that stays as it is costs something too.
                self.b.size += a.len() / 8;
                let plan: Vec<Plan> = a.into_iter().zip(b).map(|(a, b)| meeting.leaf(self, a, b)).collect();
                merged.push((slot, plan));
            }
        }
        let types: Vec<Ty> = meeting.yields[0].iter().map(|&v| self.b.ty(v)).collect();
        for (region, yields) in [(then.region, &meeting.yields[0]), (otherwise.region, &meeting.yields[1])] {
            self.b.function.regions[region.index()].results = yields.clone();
        }
        self.b.span = span;
        let inst = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &[then.region, otherwise.region]);
        let results = Values::from_slice(self.b.results(inst));
        for (slot, plan) in merged {
            let state = plan.into_iter().map(|p| p.resolve(&results)).collect();
            self.set(slot, state);
        }
    }

    /// A boolean that is computed only where `condition` holds, and otherwise is `fallback`.
    pub(super) fn guarded_bool(
        &mut self,
        condition: Value,
        fallback: bool,
        write: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let slot = self.new_slot();
        self.branches(
            condition,
            |w| {
                let value = write(w);
                debug_assert_eq!(w.b.ty(value), BOOL);
                w.set(slot, one(value));
            },
            |w| {
                let value = w.b.bool(fallback);
                w.set(slot, one(value));
            },
        );
        self.value(slot)
    }
}

/// Collects what two branches must hand out.
struct Meeting {
    then: Region,
    otherwise: Region,
    yields: [Values; 2],
    /// Which result each pair of values is.
    known: HashMap<(Value, Value), usize>,
}

/// A leaf's state after the `if`, in terms of its results.
enum Plan {
    Leaf(LeafState),
    Value(Source),
    Exploded(Vec<Source>),
    Lobes(Vec<(Lobe, Vec<Source>)>),
    Closures(Vec<Plan>),
}

/// A value that was the same on both ways, or the n-th result.
enum Source {
    Same(Value),
    Result(usize),
}

impl Source {
    fn resolve(&self, results: &Values) -> Value {
        match *self {
            Source::Same(v) => v,
            Source::Result(i) => results[i],
        }
    }
}

impl Plan {
    fn resolve(self, results: &Values) -> LeafState {
        match self {
            Plan::Leaf(state) => state,
            Plan::Value(source) => LeafState::Value(source.resolve(results)),
            Plan::Exploded(list) => LeafState::Exploded(list.iter().map(|s| s.resolve(results)).collect()),
            Plan::Closures(list) => {
                LeafState::Closures(list.into_iter().map(|plan| plan.resolve(results).into_lobes()).collect())
            }
            Plan::Lobes(list) => LeafState::Lobes(
                list.into_iter()
                    .map(|(lobe, sources)| {
                        let values: Vec<Value> = sources.iter().map(|s| s.resolve(results)).collect();
                        Lobe { weight: [values[0], values[1], values[2]], params: values[3..].to_vec(), ..lobe }
                    })
                    .collect(),
            ),
        }
    }
}

impl Meeting {
    fn source(&mut self, a: Value, b: Value) -> Source {
        if a == b {
            return Source::Same(a);
        }
        let yields = &mut self.yields;
        Source::Result(*self.known.entry((a, b)).or_insert_with(|| {
            yields[0].push(a);
            yields[1].push(b);
            yields[0].len() - 1
        }))
    }

    fn leaf(&mut self, w: &mut Writer<'_, '_>, a: LeafState, b: LeafState) -> Plan {
        match (a, b) {
            (a, b) if a == b => Plan::Leaf(a),
            (LeafState::Value(a), LeafState::Value(b)) => Plan::Value(self.source(a, b)),
            (LeafState::Exploded(a), LeafState::Exploded(b)) => {
                Plan::Exploded(a.into_iter().zip(b).map(|(a, b)| self.source(a, b)).collect())
            }
            (LeafState::Lobes(a), LeafState::Lobes(b)) => self.lobes(w, a, &b),
            (LeafState::Closures(a), LeafState::Closures(b)) => {
                Plan::Closures(a.into_iter().zip(b).map(|(a, b)| self.lobes(w, a, &b)).collect())
            }
            // A variable keeps its shape on every way.
            (a, _) => Plan::Leaf(a),
        }
    }

    /// All lobes of both sides; where a side lacks one, its weight and parameters are zero there.
    fn lobes(&mut self, w: &mut Writer<'_, '_>, a: Vec<Lobe>, b: &[Lobe]) -> Plan {
        let values = |l: &Lobe| l.weight.iter().chain(&l.params).copied().collect::<Vec<_>>();
        let b = &apart(w, &a, b);
        let mut list = Vec::new();
        for lobe in a {
            let left = values(&lobe);
            let right = match b.iter().find(|o| o.id == lobe.id) {
                Some(other) => values(other),
                None => self.zeros(w, self.otherwise, &left),
            };
            let sources = left.into_iter().zip(right).map(|(a, b)| self.source(a, b)).collect();
            list.push((lobe, sources));
        }
        for lobe in b {
            if list.iter().all(|(l, _)| l.id != lobe.id) {
                let right = values(lobe);
                let left = self.zeros(w, self.then, &right);
                let sources = left.into_iter().zip(right).map(|(a, b)| self.source(a, b)).collect();
                list.push((lobe.clone(), sources));
            }
        }
        Plan::Lobes(list)
    }

    /// Zeros of the types of `like`, written at the end of a branch.
    fn zeros(&self, w: &mut Writer<'_, '_>, region: Region, like: &[Value]) -> Vec<Value> {
        let types: Vec<Ty> = like.iter().map(|&v| w.b.ty(v)).collect();
        w.b.reopen(region);
        let zeros = types.into_iter().map(|ty| w.b.zero(ty)).collect();
        w.b.close(Values::new());
        zeros
    }
}

/// The lobes of `b` with new numbers for those that lie under another layer in `a`: in the table of
/// lobes a layer is fixed, so these must be two entries. Layers stand before what lies under them.
fn apart(w: &mut Writer<'_, '_>, a: &[Lobe], b: &[Lobe]) -> Vec<Lobe> {
    let mut renamed: HashMap<u32, u32> = HashMap::new();
    b.iter()
        .cloned()
        .map(|mut lobe| {
            lobe.layer = lobe.layer.map(|(id, parameter)| (renamed.get(&id).copied().unwrap_or(id), parameter));
            if a.iter().any(|other| other.id == lobe.id && other.layer != lobe.layer) {
                renamed.insert(lobe.id, w.next_lobe);
                lobe.id = w.next_lobe;
                w.next_lobe += 1;
            }
            lobe
        })
        .collect()
}
