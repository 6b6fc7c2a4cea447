//! Graphs of values, and facts that spread along their edges.

use super::axes::Shadows;
use crate::ir::Value;

/// A fact of which a value can have more or less; the default is nothing at all.
pub trait Fact: Copy + Default + PartialEq {
    /// What either says.
    fn join(self, other: Self) -> Self;
}

impl Fact for bool {
    fn join(self, other: bool) -> bool {
        self | other
    }
}

/// A set as bits.
impl Fact for u64 {
    fn join(self, other: u64) -> u64 {
        self | other
    }
}

impl Fact for Shadows {
    fn join(self, other: Shadows) -> Shadows {
        self.or(other)
    }
}

/// Neighbours of each value, in one array.
pub struct Neighbours {
    starts: Vec<u32>,
    list: Vec<Value>,
}

impl Neighbours {
    pub fn new(values: usize, edges: impl Iterator<Item = (Value, Value)> + Clone) -> Neighbours {
        let mut starts = vec![0u32; values + 1];
        edges.clone().for_each(|(from, _)| starts[from.index() + 1] += 1);
        for i in 0..values {
            starts[i + 1] += starts[i];
        }
        let mut fill = starts.clone();
        let mut list = vec![Value(0); *starts.last().unwrap_or(&0) as usize];
        for (from, to) in edges {
            list[fill[from.index()] as usize] = to;
            fill[from.index()] += 1;
        }
        Neighbours { starts, list }
    }

    pub fn of(&self, value: Value) -> &[Value] {
        &self.list[self.starts[value.index()] as usize..self.starts[value.index() + 1] as usize]
    }

    /// Brings the fact of each value to everything that can be reached from it.
    pub fn spread<F: Fact>(&self, facts: &mut [F]) {
        let nothing = F::default();
        let mut work: Vec<Value> = (0..facts.len()).filter(|&i| facts[i] != nothing).map(|i| Value(i as u32)).collect();
        while let Some(v) = work.pop() {
            let fact = facts[v.index()];
            for &next in self.of(v) {
                let joined = facts[next.index()].join(fact);
                if joined != facts[next.index()] {
                    facts[next.index()] = joined;
                    work.push(next);
                }
            }
        }
    }
}
