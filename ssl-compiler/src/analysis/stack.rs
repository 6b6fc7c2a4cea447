//! How much stack the deepest call chain may need; recursion counts with its limit.
//!
//! A frame holds the arrays, a spill slot for every value that is alive at once, and what the largest call passes and
//! returns in memory. It over-estimates: values may be in registers, it adds up chains through branches that exclude
//! each other, and it counts all functions of a recursive group for each level.

use super::call_graph::CallGraph;
use super::storage::Storage;
use crate::ir::{Function, Module, Op, Region, Value};
use crate::runtime::block::MAX_RECURSION;

/// Bytes that a shader may use. Whoever runs shaders gives them a stack of several times that.
pub const MAX_STACK: u64 = 4 << 20;

/// Return address, saved registers and alignment.
const FRAME: u64 = 256;
/// Bytes of a spill slot: a vector register is spilled whole.
const SPILL: u64 = 16;
/// Bytes of a value that is passed in memory.
const PASSED: u64 = 8;

/// Fails with a message where a shader might need more than [`MAX_STACK`].
pub fn check(module: &Module) -> Result<(), String> {
    let needed = needed(module);
    if needed <= MAX_STACK {
        return Ok(());
    }
    let (needed, limit) = (needed >> 10, MAX_STACK >> 10);
    Err(format!(
        "this shader may need {needed} KiB of memory for its arrays and calls, more than the {limit} KiB there are"
    ))
}

/// Bytes that the deepest chain of calls may take.
pub fn needed(module: &Module) -> u64 {
    let graph = CallGraph::of(module);
    let mut deepest = vec![0u64; module.functions.len()];
    for component in &graph.components {
        let levels = if graph.recursive[component[0].index()] { u64::from(MAX_RECURSION) + 1 } else { 1 };
        let own: u64 = component.iter().map(|f| frame(module, f.index())).sum();
        let inside = |f: &crate::ir::FuncId| component.contains(f);
        let callees = component.iter().flat_map(|f| &graph.callees[f.index()]).filter(|f| !inside(f));
        let below = callees.map(|f| deepest[f.index()]).max().unwrap_or(0);
        let total = own.saturating_mul(levels).saturating_add(below);
        component.iter().for_each(|f| deepest[f.index()] = total);
    }
    deepest[module.entry.index()]
}

fn frame(module: &Module, i: usize) -> u64 {
    let f = &module.functions[i];
    let mut passed = f.results.len();
    f.walk(|_, data| {
        if let Op::Call(_) = data.op {
            passed = passed.max(data.args.len() + data.results.len());
        }
    });
    FRAME + SPILL * Pressure::of(f) as u64 + PASSED * passed as u64 + Storage::of(f).bytes()
}

/// The most values that are alive at once.
///
/// Instructions get positions in program order, and a value lives from its definition to its last use;
/// where that is in a loop that the definition is not in, to the loop's end.
struct Pressure<'a> {
    f: &'a Function,
    position: usize,
    /// First and last position of each value.
    lives: Vec<Option<(usize, usize)>>,
    /// Where each open loop began, and the outer values that are used inside.
    loops: Vec<(usize, Vec<Value>)>,
}

impl Pressure<'_> {
    fn of(f: &Function) -> usize {
        let mut p = Pressure { f, position: 0, lives: vec![None; f.types.len()], loops: Vec::new() };
        p.region(f.body);
        let mut change = vec![0i64; p.position + 2];
        for (first, last) in p.lives.into_iter().flatten() {
            change[first] += 1;
            change[last + 1] -= 1;
        }
        let mut alive = 0;
        let peak = change.into_iter().map(|c| {
            alive += c;
            alive
        });
        usize::try_from(peak.max().unwrap_or(0)).unwrap_or(0)
    }

    fn define(&mut self, values: &[Value]) {
        for v in values {
            self.lives[v.index()] = Some((self.position, self.position));
        }
    }

    fn use_all(&mut self, values: &[Value]) {
        for &v in values {
            let Some((first, last)) = &mut self.lives[v.index()] else { continue };
            *last = self.position;
            let first = *first;
            // The outermost loop that the value comes from outside of keeps it alive longest.
            if let Some((_, outer)) = self.loops.iter_mut().find(|(begin, _)| first < *begin) {
                outer.push(v);
            }
        }
    }

    fn region(&mut self, region: Region) {
        let f = self.f;
        self.define(&f.region(region).params);
        for &inst in &f.region(region).insts {
            let data = f.inst(inst);
            self.position += 1;
            self.use_all(&data.args);
            if data.op.is_loop() {
                self.position += 1;
                self.loops.push((self.position, Vec::new()));
            }
            data.regions.iter().for_each(|&r| self.region(r));
            self.position += 1;
            if data.op.is_loop()
                && let Some((_, outer)) = self.loops.pop()
            {
                for v in outer {
                    if let Some((_, last)) = &mut self.lives[v.index()] {
                        *last = self.position;
                    }
                }
            }
            self.define(&data.results);
        }
        self.position += 1;
        self.use_all(&f.region(region).results);
    }
}
