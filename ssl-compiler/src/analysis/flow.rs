//! Along which edges derivatives flow inside a function: from a value to those whose derivative
//! depends on its own. Conditions, indices and comparisons have no edge.

use crate::ir::{Direction, Float1, Function, Inst, Op, Value};
use crate::runtime::ExternalRegistry;
use crate::runtime::externals::Rule;

/// A place where a shadow is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub value: Value,
    pub inst: Inst,
    pub x: bool,
    pub y: bool,
}

/// The edges of one function in both directions, without those through calls, and what lies at
/// their ends.
#[derive(Default)]
pub struct Flow {
    pub edges: Vec<(Value, Value)>,
    pub sinks: Vec<Sink>,
    pub calls: Vec<Inst>,
}

impl Flow {
    pub fn of(f: &Function, externals: &ExternalRegistry) -> Flow {
        let mut flow = Flow::default();
        f.walk(|inst, data| {
            let args = &data.args;
            match data.op {
                Op::Derivative(d) => {
                    flow.sinks.push(Sink { value: args[0], inst, x: d == Direction::X, y: d == Direction::Y });
                }
                Op::Sample { .. } => {
                    for &coordinate in &args[1..3] {
                        flow.sinks.push(Sink { value: coordinate, inst, x: true, y: true });
                        flow.fan_out(coordinate, &data.results[1..5]);
                    }
                }
                // The footprint is taken as constant, and so is the gradient.
                Op::Texture { .. } => args[1..3].iter().for_each(|&c| flow.fan_out(c, &data.results[1..5])),
                Op::Call(_) => flow.calls.push(inst),
                Op::If => {
                    for &region in &data.regions {
                        flow.pairs(f, &f.region(region).results, &data.results);
                    }
                }
                Op::Loop(_) => {
                    let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
                    flow.pairs(f, args, &condition.params);
                    flow.pairs(f, &body.results, &condition.params);
                    flow.pairs(f, &condition.results[1..], &body.params);
                    flow.pairs(f, &condition.results[1..], &data.results);
                }
                Op::External(id) => {
                    let results: Vec<Value> =
                        data.results.iter().copied().filter(|r| f.ty(*r).is_differentiable()).collect();
                    for (i, &arg) in args.iter().enumerate() {
                        if f.ty(arg).is_differentiable() && externals.rule(id, i) != Rule::Zero {
                            flow.fan_out(arg, &results);
                        }
                    }
                }
                op => {
                    for (i, &arg) in args.iter().enumerate() {
                        if carries(op, i) && f.ty(arg).is_differentiable() {
                            flow.fan_out(arg, &data.results);
                        }
                    }
                }
            }
        });
        flow
    }

    fn fan_out(&mut self, from: Value, to: &[Value]) {
        self.edges.extend(to.iter().map(|&t| (from, t)));
    }

    fn pairs(&mut self, f: &Function, from: &[Value], to: &[Value]) {
        let pairs = from.iter().zip(to).filter(|(v, _)| f.ty(**v).is_differentiable());
        self.edges.extend(pairs.map(|(&a, &b)| (a, b)));
    }
}

/// Whether the result's derivative depends on that of an argument.
fn carries(op: Op, argument: usize) -> bool {
    match op {
        Op::Float1(Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc) => false,
        Op::Float1(_) | Op::Float2(_) | Op::Fma | Op::CubicRoot | Op::Finite | Op::ArrayNew | Op::ArrayFill => true,
        Op::Select => argument > 0,
        Op::ArrayGet => argument == 0,
        Op::ArraySet => argument != 1,
        _ => false,
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

    /// Brings the set of each value, as bits, to everything that can be reached from it.
    pub fn spread_sets(&self, sets: &mut [u64]) {
        let mut work: Vec<Value> = (0..sets.len()).filter(|&i| sets[i] != 0).map(|i| Value(i as u32)).collect();
        while let Some(v) = work.pop() {
            let set = sets[v.index()];
            for &next in self.of(v) {
                if set & !sets[next.index()] != 0 {
                    sets[next.index()] |= set;
                    work.push(next);
                }
            }
        }
    }

    /// Marks everything that can be reached from the marked values.
    pub fn spread(&self, marked: &mut [bool]) {
        let mut work: Vec<Value> = (0..marked.len()).filter(|&i| marked[i]).map(|i| Value(i as u32)).collect();
        while let Some(v) = work.pop() {
            for &next in self.of(v) {
                if !std::mem::replace(&mut marked[next.index()], true) {
                    work.push(next);
                }
            }
        }
    }
}
