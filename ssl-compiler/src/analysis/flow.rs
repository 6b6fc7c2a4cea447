//! The edges of a function: from a value to those that depend on it, in one of the ways to depend. All analyses of
//! dependence build their graphs from these.

use super::axes::{Axes, Shadows};
use crate::ir::{Float1, Function, Inst, InstData, Op, Ty, Value};
use crate::runtime::ExternalRegistry;
use crate::runtime::externals::Rule;

/// What makes one value depend on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Its derivative depends on that of the other. Conditions, indices and comparisons have no edge.
    Derivatives(Axes),
    /// It is computed from the other.
    Data,
    /// Likewise, or the other decides which value it is.
    Influence,
}

/// A place where a shadow is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub value: Value,
    pub inst: Inst,
    pub axes: Shadows,
}

/// The edges of one function, without those through calls, and what lies at their ends.
#[derive(Default)]
pub struct Flow {
    pub edges: Vec<(Value, Value)>,
    /// Along derivatives only.
    pub sinks: Vec<Sink>,
    pub calls: Vec<Inst>,
    /// `jvp` and `vjp`. No derivative flows through them before they are resolved.
    pub derivatives: Vec<Inst>,
    /// What goes on the tape, and what comes off it.
    pub tape: Vec<Inst>,
}

impl Flow {
    pub fn of(f: &Function, externals: &ExternalRegistry, along: Along) -> Flow {
        let mut edges = Edges { f, externals, along, flow: Flow::default() };
        f.walk(|inst, data| edges.inst(inst, data));
        edges.flow
    }
}

struct Edges<'a> {
    f: &'a Function,
    externals: &'a ExternalRegistry,
    along: Along,
    flow: Flow,
}

impl Edges<'_> {
    fn inst(&mut self, inst: Inst, data: &InstData) {
        let f = self.f;
        match data.op {
            Op::Call(_) => self.flow.calls.push(inst),
            Op::If => {
                self.decides(data.args[0], &data.results);
                for &region in &data.regions {
                    self.pairs(&f.region(region).results, &data.results);
                }
            }
            Op::Loop(_) => {
                let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
                for decided in [&condition.params[..], &body.params, &data.results] {
                    self.decides(condition.results[0], decided);
                }
                self.pairs(&data.args, &condition.params);
                self.pairs(&body.results, &condition.params);
                self.pairs(&condition.results[1..], &body.params);
                self.pairs(&condition.results[1..], &data.results);
            }
            op => {
                match op {
                    Op::Jvp { .. } | Op::Vjp { .. } => self.flow.derivatives.push(inst),
                    Op::Push(_) | Op::Pop(_) => self.flow.tape.push(inst),
                    _ => {}
                }
                match self.along {
                    Along::Derivatives(axes) => self.derivative(inst, data, axes),
                    Along::Data | Along::Influence => data.args.iter().for_each(|&a| self.fan_out(a, &data.results)),
                }
            }
        }
    }

    fn derivative(&mut self, inst: Inst, data: &InstData, axes: Axes) {
        let args = &data.args;
        match data.op {
            Op::Derivative(d) if axes == Axes::Screen => self.sink(args[0], inst, [d as usize].into_iter().collect()),
            Op::Sample { .. } if axes == Axes::Screen => {
                for &coordinate in &args[1..3] {
                    self.sink(coordinate, inst, axes.all());
                    self.fan_out(coordinate, &data.results[1..5]);
                }
            }
            // The footprint is taken as constant, and so is the gradient.
            Op::Texture { .. } => args[1..3].iter().for_each(|&c| self.fan_out(c, &data.results[1..5])),
            Op::Detach if axes == Axes::Screen => self.fan_out(args[0], &data.results),
            Op::External(id) => {
                for (i, &arg) in args.iter().enumerate() {
                    if self.counts(arg) && self.externals.rule(id, i) != Rule::Zero {
                        self.fan_out(arg, &data.results);
                    }
                }
            }
            op => {
                for (i, &arg) in args.iter().enumerate() {
                    if carries(op, i) {
                        self.fan_out(arg, &data.results);
                    }
                }
            }
        }
    }

    fn sink(&mut self, value: Value, inst: Inst, axes: Shadows) {
        self.flow.sinks.push(Sink { value, inst, axes });
    }

    /// Whether a value can be at the end of an edge.
    fn counts(&self, v: Value) -> bool {
        match self.along {
            Along::Derivatives(_) => self.f.ty(v).is_differentiable(),
            // Running out of fuel is no dependence.
            Along::Data | Along::Influence => self.f.ty(v) != Ty::Token,
        }
    }

    fn fan_out(&mut self, from: Value, to: &[Value]) {
        for &t in to {
            if self.counts(from) && self.counts(t) {
                self.flow.edges.push((from, t));
            }
        }
    }

    fn pairs(&mut self, from: &[Value], to: &[Value]) {
        for (&a, &b) in from.iter().zip(to) {
            self.fan_out(a, &[b]);
        }
    }

    fn decides(&mut self, condition: Value, decided: &[Value]) {
        if self.along == Along::Influence {
            self.fan_out(condition, decided);
        }
    }
}

/// Whether the result's derivative depends on that of an argument.
fn carries(op: Op, argument: usize) -> bool {
    match op {
        Op::Float1(Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc) => false,
        Op::Float1(_) | Op::Float2(_) | Op::Fma | Op::CubicRoot | Op::Finite | Op::ArrayNew | Op::ArrayFill => true,
        Op::Barrier(_) => true,
        Op::Boundary => argument != 1,
        Op::Cross => argument < 2,
        Op::Select => argument > 0,
        Op::ArrayGet => argument == 0,
        Op::ArraySet => argument != 1,
        _ => false,
    }
}
