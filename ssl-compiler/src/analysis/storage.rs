//! Where arrays live: a memory slot for each array value, shared wherever that changes nothing.
//!
//! An array is a value, so `array.set` makes a new one; where the old one is dead afterwards both may
//! lie in one slot, and the update is a store. Back ends copy exactly where two connected values have
//! different slots: before a set, at the end of a branch, around a loop.
//!
//! This is register coalescing (Chaitin 1982) on structured code: liveness is computed backwards over
//! the regions, values alive at the same time interfere, and pairs that a copy would connect share a
//! slot unless they interfere. It over-estimates at calls, whose results never share with arguments.

use super::bits::BitSet;
use crate::ir::*;
use crate::types::Scalar;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub scalar: Scalar,
    pub length: u32,
}

impl Slot {
    pub fn bytes(self) -> u32 {
        4 * self.length
    }
}

pub struct Storage {
    /// By value: its slot, for arrays.
    slots: Vec<Option<u32>>,
    pub list: Vec<Slot>,
}

impl Storage {
    /// The slot of an array value.
    pub fn slot(&self, v: Value) -> Option<u32> {
        self.slots[v.index()]
    }

    pub fn bytes(&self) -> u64 {
        self.list.iter().map(|s| u64::from(s.bytes())).sum()
    }

    pub fn of(f: &Function) -> Storage {
        let mut numbers = vec![None; f.types.len()];
        let mut arrays = Vec::new();
        let mut note = |values: &[Value]| {
            for &v in values.iter().filter(|v| f.ty(**v).is_array()) {
                numbers[v.index()] = Some(arrays.len());
                arrays.push(v);
            }
        };
        note(f.params());
        f.walk(|_, data| {
            note(&data.results);
            data.regions.iter().for_each(|&r| note(&f.region(r).params));
        });
        let n = arrays.len();
        let mut builder = Coalescer {
            f,
            numbers,
            interferes: vec![BitSet::default(); n],
            parents: (0..n).collect(),
            affinities: Vec::new(),
        };
        if n > 0 {
            let mut live = BTreeSet::new();
            builder.add(&mut live, &f.region(f.body).results);
            builder.region(f.body, &mut live);
            // A parameter is the caller's memory and must stay as it is.
            let params: Vec<usize> = f.params().iter().filter_map(|&p| builder.number(p)).collect();
            for p in params {
                (0..n).filter(|&other| other != p).for_each(|other| builder.interfere(p, other));
            }
            builder.coalesce();
        }
        builder.finish(&arrays)
    }
}

struct Coalescer<'a> {
    f: &'a Function,
    numbers: Vec<Option<usize>>,
    interferes: Vec<BitSet>,
    parents: Vec<usize>,
    affinities: Vec<(usize, usize)>,
}

impl Coalescer<'_> {
    fn number(&self, v: Value) -> Option<usize> {
        self.numbers[v.index()]
    }

    fn add(&self, live: &mut BTreeSet<usize>, values: &[Value]) {
        values.iter().filter_map(|&v| self.number(v)).for_each(|n| {
            live.insert(n);
        });
    }

    fn interfere(&mut self, a: usize, b: usize) {
        if a != b {
            self.interferes[a].insert(b);
            self.interferes[b].insert(a);
        }
    }

    /// Values that come to life together, while `live` are alive.
    fn define(&mut self, values: &[Value], live: &mut BTreeSet<usize>) {
        let numbers: Vec<usize> = values.iter().filter_map(|&v| self.number(v)).collect();
        numbers.iter().for_each(|n| {
            live.remove(n);
        });
        let alive: Vec<usize> = live.iter().copied().collect();
        for (i, &n) in numbers.iter().enumerate() {
            alive.iter().chain(&numbers[..i]).for_each(|&other| self.interfere(n, other));
        }
    }

    /// Copies from `sources` to `targets`, all at once: a target must not overwrite another's source.
    fn copies(&mut self, sources: &[Value], targets: &[Value]) {
        for (i, (&s, &t)) in sources.iter().zip(targets).enumerate() {
            let (Some(from), Some(to)) = (self.number(s), self.number(t)) else { continue };
            self.affinities.push((from, to));
            for (j, &other) in sources.iter().enumerate() {
                if let Some(other) = self.number(other).filter(|&o| j != i && o != from) {
                    self.interfere(to, other);
                }
            }
        }
    }

    /// Walks backwards; `live` is what is alive behind the region and becomes what is alive before it.
    fn region(&mut self, region: Region, live: &mut BTreeSet<usize>) {
        let f = self.f;
        for &inst in f.region(region).insts.iter().rev() {
            let data = f.inst(inst);
            match data.op {
                Op::If => self.if_inst(data, live),
                Op::Loop => self.loop_inst(data, live),
                op => {
                    self.define(&data.results, live);
                    if op == Op::ArraySet {
                        let pair = self.number(data.args[0]).zip(self.number(data.results[0]));
                        self.affinities.extend(pair);
                    }
                    if let Op::Call(_) = op {
                        for (r, a) in pairs(&data.results, &data.args) {
                            if let (Some(r), Some(a)) = (self.number(r), self.number(a)) {
                                self.interfere(r, a);
                            }
                        }
                    }
                    self.add(live, &data.args);
                }
            }
        }
    }

    fn if_inst(&mut self, data: &InstData, live: &mut BTreeSet<usize>) {
        let f = self.f;
        self.define(&data.results, live);
        let mut before = BTreeSet::new();
        for &region in &data.regions {
            let mut inside = live.clone();
            let results = &f.region(region).results;
            self.copies(results, &data.results);
            self.add(&mut inside, results);
            self.region(region, &mut inside);
            before.append(&mut inside);
        }
        *live = before;
    }

    fn loop_inst(&mut self, data: &InstData, live: &mut BTreeSet<usize>) {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        self.define(&data.results, live);
        // Whatever comes from outside is alive throughout the loop: the next round may need it.
        for &region in &data.regions {
            self.outer_uses(region, live);
        }
        self.copies(&condition.results[1..], &data.results);
        self.copies(&condition.results[1..], &body.params);
        self.copies(&body.results, &condition.params);
        self.copies(&data.args, &condition.params);
        let mut inside = live.clone();
        self.add(&mut inside, &body.results);
        self.region(data.regions[1], &mut inside);
        self.define(&body.params, &mut inside);
        let mut inside = live.clone();
        self.add(&mut inside, &condition.results);
        self.region(data.regions[0], &mut inside);
        self.define(&condition.params, &mut inside);
        self.add(live, &data.args);
    }

    /// Adds the values that a region takes from outside it.
    fn outer_uses(&self, region: Region, live: &mut BTreeSet<usize>) {
        let f = self.f;
        let mut inside = BTreeSet::new();
        let mut used = BTreeSet::new();
        let mut stack = vec![region];
        while let Some(r) = stack.pop() {
            let data = f.region(r);
            self.add(&mut inside, &data.params);
            self.add(&mut used, &data.results);
            for &inst in &data.insts {
                let inst = f.inst(inst);
                self.add(&mut used, &inst.args);
                self.add(&mut inside, &inst.results);
                stack.extend(&inst.regions);
            }
        }
        live.extend(used.difference(&inside));
    }

    fn root(&mut self, mut n: usize) -> usize {
        while self.parents[n] != n {
            self.parents[n] = self.parents[self.parents[n]];
            n = self.parents[n];
        }
        n
    }

    fn coalesce(&mut self) {
        for (a, b) in std::mem::take(&mut self.affinities) {
            let (a, b) = (self.root(a), self.root(b));
            if a == b || self.interferes[a].contains(b) {
                continue;
            }
            let others = self.interferes[b].clone();
            for other in others.iter() {
                self.interferes[other].insert(a);
            }
            self.interferes[a].union(&others);
            self.parents[b] = a;
        }
    }

    fn finish(mut self, arrays: &[Value]) -> Storage {
        let mut storage = Storage { slots: vec![None; self.f.types.len()], list: Vec::new() };
        let mut of_root = vec![None; arrays.len()];
        for (n, &v) in arrays.iter().enumerate() {
            let root = self.root(n);
            let slot = *of_root[root].get_or_insert_with(|| {
                if let Ty::Array(scalar, length) = self.f.ty(v) {
                    storage.list.push(Slot { scalar, length });
                }
                storage.list.len() as u32 - 1
            });
            storage.slots[v.index()] = Some(slot);
        }
        storage
    }
}

fn pairs<'a>(a: &'a [Value], b: &'a [Value]) -> impl Iterator<Item = (Value, Value)> + 'a {
    a.iter().flat_map(move |&x| b.iter().map(move |&y| (x, y)))
}
