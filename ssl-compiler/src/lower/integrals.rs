//! Integrals: a loop over the samples, and behind it what derivatives need of the places where the integrand jumps.
//!
//! The point of a sample moves with the bounds: it is low + (high − low) u, with u between 0 and 1. So the loop as it
//! stands has the derivative by the bounds in it, and the domain of u never changes.

use super::state::{State, one};
use super::{Instance, Lowering, TOKEN, Writer};
use crate::ir::builder::Builder;
use crate::ir::points::{self, MAX_SAMPLES, Points, RESEEDED, between, size};
use crate::ir::{Checkpoint, Compare, FLOAT, Float1, FuncId, Function, INT, Int2, Op, Ty, Value, Values};
use crate::runtime::Order;
use crate::sema::hir::{Argument, ExprKind, Integral};
use crate::source::Span;

/// An integral whose arguments are there.
struct Taken {
    integrand: FuncId,
    effects: bool,
    seen: Values,
    bounds: Vec<[Value; 2]>,
    points: Points,
    smoothing: Option<Value>,
}

impl Writer<'_, '_> {
    pub(super) fn integral(&mut self, integral: &Integral, span: Span) -> State {
        let ExprKind::Call(id, arguments) = &integral.call.kind else { return State::new() };
        let (mut seen, mut textures) = (Values::new(), Vec::new());
        let function = self.cx.program.function(*id);
        let variables = function.parameters.iter().map(|p| &function.variables[p.variable.0 as usize]);
        let dimensions = integral.bounds.len();
        for (a, variable) in arguments[..arguments.len() - dimensions].iter().zip(variables) {
            match a {
                Argument::In(e) => {
                    let state = self.expr(e);
                    seen.extend(self.hand_over(&state, &variable.ty, variable.dynamic));
                }
                Argument::Texture(t) => textures.push(self.texture_word(*t)),
                Argument::Place(..) | Argument::Dropped => unreachable!("integrands take values and textures"),
            }
        }
        let bounds = integral.bounds.iter().map(|[low, high]| [self.scalar(low), self.scalar(high)]).collect();
        let samples = self.scalar(&integral.samples);
        let samples = self.clamped(samples);
        let seed = self.scalar(&integral.seed);
        let smoothing = integral.smoothing.as_ref().map(|width| self.scalar(width));
        self.b.span = span;
        let (samples, seed) = self.resampled(samples, seed);
        let points = Points { sequence: integral.sequence, dimensions, samples, seed };
        let integrand = self.cx.instance_id(Instance { function: *id, textures });
        let taken = Taken { integrand, effects: self.cx.facts.of(*id).effects, seen, bounds, points, smoothing };
        let mut results = self.interior(&taken);
        if integral.boundaries {
            self.boundary(&taken, span, &mut results);
        }
        self.take(&function.result, false, &mut results.into_iter())
    }

    /// The number of samples and the seed, or what is asked for in their place.
    fn resampled(&mut self, samples: Value, seed: Value) -> (Value, Value) {
        let request = self.cx.request;
        let (Some(count), Some((field, _))) = (request.resampled, request.checked.layout.find(RESEEDED)) else {
            return (samples, seed);
        };
        let read = Op::Global { field: field as u32, component: 0, order: Order::Value };
        let moved = self.b.emit(read, &[], INT);
        (self.b.int(count), self.b.int2(Int2::Add, seed, moved))
    }

    /// Between one sample and as many as there may be.
    fn clamped(&mut self, samples: Value) -> Value {
        let (one, most) = (self.b.int(1), self.b.int(MAX_SAMPLES));
        let few = self.b.int_compare(Compare::Lt, samples, one);
        let samples = self.b.select(few, one, samples);
        let many = self.b.int_compare(Compare::Gt, samples, most);
        self.b.select(many, most, samples)
    }

    /// The mean over the samples, times the size of the domain.
    fn interior(&mut self, taken: &Taken) -> Values {
        let sums = self.sums(taken);
        let count = self.b.emit(Op::IntToFloat, &[taken.points.samples], FLOAT);
        let size = size(&mut self.b, &taken.bounds);
        sums.into_iter()
            .map(|sum| {
                let mean = self.b.div(sum, count);
                self.b.mul(mean, size)
            })
            .collect()
    }

    /// The sum of the integrand over the samples. What rounding takes from it is summed up beside it (Ogita, Rump and Oishi,
    /// "Accurate Sum and Dot Product", 2005, algorithm 4.1): of a million terms it would be a hundredth.
    fn sums(&mut self, taken: &Taken) -> Values {
        let span = self.b.span;
        let gives: Vec<Ty> = self.cx.functions[taken.integrand.index()].results.clone();
        let count = gives.len() - usize::from(taken.effects);
        let mut types = vec![Ty::Token, INT];
        types.extend(vec![FLOAT; 2 * count]);
        let (first, zero) = (self.b.int(0), self.b.float(0.0));
        let mut initial = Values::from_slice(&[self.token(), first]);
        initial.extend(std::iter::repeat_n(zero, 2 * count));

        let condition = self.b.open(&types);
        let carried = self.b.params(condition);
        self.set_unnamed(TOKEN, one(carried[0]));
        let alive = self.burn(Op::Burn(1));
        let some = self.b.int_compare(Compare::Lt, carried[1], taken.points.samples);
        let go = self.b.and(alive, some);
        let mut tested = Values::from_slice(&[go, self.token()]);
        tested.extend(carried[1..].iter().copied());
        self.b.close(tested);

        let body = self.b.open(&types);
        let carried = self.b.params(body);
        let mut args: Values = carried[..usize::from(taken.effects)].iter().copied().collect();
        args.extend(taken.seen.iter().copied());
        for (d, bounds) in taken.bounds.iter().enumerate() {
            let u = taken.points.coordinate(&mut self.b, carried[1], d);
            args.push(between(&mut self.b, *bounds, u));
        }
        let call = self.b.push(Op::Call(taken.integrand), args, &gives, &[]);
        let results = Values::from_slice(self.b.results(call));
        let step = self.b.int(1);
        let next = self.b.int2(Int2::Add, carried[1], step);
        let token = if taken.effects { results[0] } else { carried[0] };
        let mut handed = Values::from_slice(&[token, next]);
        let (sums, lost) = carried[2..].split_at(count);
        let mut lost_next = Values::new();
        for ((&sum, &lost), &term) in sums.iter().zip(lost).zip(&results[usize::from(taken.effects)..]) {
            let next = self.b.add(sum, term);
            let added = self.b.sub(next, sum);
            let kept = self.b.sub(next, added);
            let (of_sum, of_term) = (self.b.sub(sum, kept), self.b.sub(term, added));
            let more = self.b.add(of_sum, of_term);
            handed.push(next);
            lost_next.push(self.b.add(lost, more));
        }
        handed.extend(lost_next);
        self.b.close(handed);

        self.b.span = span;
        let inst = self.b.push(Op::Loop(Checkpoint::Free), initial, &types, &[condition, body]);
        let results = Values::from_slice(self.b.results(inst));
        self.set_unnamed(TOKEN, one(results[0]));
        let infinite = self.b.float(f32::INFINITY);
        let whole = |(&sum, &lost): (&Value, &Value)| {
            // Of an infinite sum it is no number.
            let size = self.b.float1(Float1::Abs, lost);
            let is_finite = self.b.float_compare(Compare::Lt, size, infinite);
            let lost = self.b.select(is_finite, lost, zero);
            self.b.add(sum, lost)
        };
        results[2..2 + count].iter().zip(&results[2 + count..]).map(whole).collect()
    }

    /// Gives the results the derivatives of moving jumps, by a function that a pass writes once all others are there.
    fn boundary(&mut self, taken: &Taken, span: Span, results: &mut Values) {
        let is_fixed = |v: &Value| self.b.constant_of(*v).is_some();
        let fixed: Vec<bool> = taken.bounds.iter().map(|bounds| bounds.iter().all(is_fixed)).collect();
        let mut args = Values::from_slice(&[self.token()]);
        args.extend(taken.seen.iter().copied());
        args.extend(taken.bounds.iter().flatten().copied());
        let none = self.b.float(0.0);
        args.extend([taken.points.samples, taken.points.seed, taken.smoothing.unwrap_or(none)]);
        let takes: Vec<Ty> = args.iter().map(|&v| self.b.ty(v)).collect();
        let mut gives = vec![Ty::Token];
        gives.extend(vec![FLOAT; results.len()]);
        let id = self.cx.declare_boundary(taken.integrand, &takes, &gives);
        let sequence = taken.points.sequence;
        let (integrand, smoothed) = (taken.integrand, taken.smoothing.is_some());
        self.cx.integrals.push(points::Integral { function: id, integrand, sequence, smoothed, fixed, span });
        let call = self.b.push(Op::Call(id), args, &gives, &[]);
        let moved = Values::from_slice(self.b.results(call));
        self.set_unnamed(TOKEN, one(moved[0]));
        let weight = self.b.float(1.0);
        for (result, moved) in results.iter_mut().zip(&moved[1..]) {
            *result = self.b.emit(Op::Boundary, &[*result, weight, *moved], FLOAT);
        }
    }
}

impl Lowering<'_> {
    /// A function that gives zeros, until a pass knows more.
    fn declare_boundary(&mut self, integrand: FuncId, takes: &[Ty], gives: &[Ty]) -> FuncId {
        let name = self.unique_name(&format!("{}.boundaries", self.functions[integrand.index()].name));
        let mut b = Builder::new(Function::new(name, takes, gives).with_precision(self.request.precision));
        let mut results = Values::from_slice(&b.function.params()[..1]);
        let zero = b.float(0.0);
        results.extend(gives[1..].iter().map(|_| zero));
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(b.finish(results));
        id
    }
}
