//! Where arrays live: a memory slot for each array value. Arrays share a slot wherever that changes no result.
//!
//! An array is a value, so `array.set` makes a new one. If the old one is dead afterwards, both may lie in one slot,
//! and the update is a store. Back ends copy exactly where two connected values have different slots: before a set, at
//! the end of a branch, around a loop.
//!
//! This is register coalescing (Chaitin 1982) on structured code: liveness is computed backwards over
//! the regions, values alive at the same time interfere, and pairs that a copy would connect share a
//! slot unless they interfere. It over-estimates at calls, whose results never share with arguments.

use super::bits::BitSet;
use crate::ir::*;
use crate::types::Scalar;

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
            alive: vec![BitSet::default(); n],
            parents: (0..n).collect(),
            affinities: Vec::new(),
        };
        if n > 0 {
            let mut live = BitSet::default();
            builder.add(&mut live, &f.region(f.body).results);
            builder.region(f.body, &mut live);
            builder.coalesce();
        }
        builder.finish(&arrays)
    }
}

struct Coalescer<'a> {
    f: &'a Function,
    numbers: Vec<Option<usize>>,
    /// What each array must not overwrite; of two that interfere, one has the other here.
    alive: Vec<BitSet>,
    parents: Vec<usize>,
    affinities: Vec<(usize, usize)>,
}

impl Coalescer<'_> {
    fn number(&self, v: Value) -> Option<usize> {
        self.numbers[v.index()]
    }

    fn numbers(&self, values: &[Value]) -> BitSet {
        values.iter().filter_map(|&v| self.number(v)).collect()
    }

    fn add(&self, live: &mut BitSet, values: &[Value]) {
        values.iter().filter_map(|&v| self.number(v)).for_each(|n| {
            live.insert(n);
        });
    }

    /// `a` must not overwrite any of `others`, itself aside.
    fn interfere(&mut self, a: usize, others: &BitSet) {
        self.alive[a].union(others);
        self.alive[a].remove(a);
    }

    /// Values that come to life together, while `live` are alive.
    fn define(&mut self, values: &[Value], live: &mut BitSet) {
        let f = self.f;
        let arrays = || values.iter().filter(|v| f.ty(**v).is_array()).filter_map(|&v| self.numbers[v.index()]);
        let numbers: Vec<usize> = arrays().collect();
        numbers.iter().for_each(|&n| live.remove(n));
        let mut alive = std::mem::take(live);
        for &n in &numbers {
            self.interfere(n, &alive);
            alive.insert(n);
        }
        numbers.iter().for_each(|&n| alive.remove(n));
        *live = alive;
    }

    /// Copies from `sources` to `targets`, all at once: a target must not overwrite another's source.
    fn copies(&mut self, sources: &[Value], targets: &[Value]) {
        let all = self.numbers(sources);
        for (&s, &t) in sources.iter().zip(targets) {
            let (Some(from), Some(to)) = (self.number(s), self.number(t)) else { continue };
            self.affinities.push((from, to));
            if all.iter().nth(1).is_some() {
                let mut others = all.clone();
                others.remove(from);
                self.interfere(to, &others);
            }
        }
    }

    /// Walks backwards; `live` is what is alive behind the region and becomes what is alive before it.
    fn region(&mut self, region: Region, live: &mut BitSet) {
        let f = self.f;
        for &inst in f.region(region).insts.iter().rev() {
            let data = f.inst(inst);
            match data.op {
                Op::If => self.if_inst(data, live),
                Op::Loop(_) => self.loop_inst(data, live),
                op => {
                    self.define(&data.results, live);
                    if op == Op::ArraySet {
                        let pair = self.number(data.args[0]).zip(self.number(data.results[0]));
                        self.affinities.extend(pair);
                    }
                    if let Op::Call(_) = op {
                        let arguments = self.numbers(&data.args);
                        for r in data.results.iter().filter_map(|&r| self.number(r)).collect::<Vec<_>>() {
                            self.interfere(r, &arguments);
                        }
                    }
                    self.add(live, &data.args);
                }
            }
        }
    }

    fn if_inst(&mut self, data: &InstData, live: &mut BitSet) {
        let f = self.f;
        self.define(&data.results, live);
        let mut before = BitSet::default();
        for &region in &data.regions {
            let mut inside = live.clone();
            let results = &f.region(region).results;
            self.copies(results, &data.results);
            self.add(&mut inside, results);
            self.region(region, &mut inside);
            before.union(&inside);
        }
        *live = before;
    }

    fn loop_inst(&mut self, data: &InstData, live: &mut BitSet) {
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
    fn outer_uses(&self, region: Region, live: &mut BitSet) {
        let f = self.f;
        let mut inside = BitSet::default();
        let mut used = BitSet::default();
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
        used.iter().filter(|&n| !inside.contains(n)).for_each(|n| {
            live.insert(n);
        });
    }

    fn root(&mut self, mut n: usize) -> usize {
        while self.parents[n] != n {
            self.parents[n] = self.parents[self.parents[n]];
            n = self.parents[n];
        }
        n
    }

    fn coalesce(&mut self) {
        let mut members: Vec<BitSet> = (0..self.parents.len()).map(|n| BitSet::from_iter([n])).collect();
        // A parameter is the caller's memory and must stay as it is.
        let fixed = self.numbers(self.f.params());
        for (a, b) in std::mem::take(&mut self.affinities) {
            let (a, b) = (self.root(a), self.root(b));
            let interfere = |a: usize, b: usize| self.alive[a].intersects(&members[b]);
            if a == b || fixed.contains(a) || fixed.contains(b) || interfere(a, b) || interfere(b, a) {
                continue;
            }
            // The smaller group joins the larger one.
            let weight = |n: usize| self.alive[n].size() + members[n].size();
            let (small, large) = if weight(a) <= weight(b) { (a, b) } else { (b, a) };
            let joining = [std::mem::take(&mut self.alive[small]), std::mem::take(&mut members[small])];
            self.alive[large].union(&joining[0]);
            members[large].union(&joining[1]);
            self.parents[small] = large;
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
