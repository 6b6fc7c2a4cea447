//! `[Checkpoint(log)]`: a ladder of functions, each a loop over calls of the one below; the lowest is the segment.

use super::{Outline, Segment};
use crate::ir::builder::Builder;
use crate::ir::*;

/// Rounds of a segment: their values are on the tape at once.
const SEGMENT: i32 = 1024;
/// How many calls of the function below a function makes: so many states it keeps. A million rounds are two rungs above
/// a segment, and run forwards four times; with two calls each, as bisection has it, they would be ten.
const CALLS: i32 = 32;
/// Functions above the segment. The highest of them makes as many calls as there have to be.
const RUNGS: u32 = 4;

/// Takes what a segment does, and gives a token, the state and what the test handed out.
struct Rung {
    id: FuncId,
    gives: Vec<Ty>,
    /// Rounds for which it is enough.
    rounds: i32,
}

impl Outline<'_> {
    /// All rounds at once on the way forwards; the sweep goes by the ladder.
    pub(super) fn laddered(&mut self, segment: &Segment, gives: &[Ty]) -> FuncId {
        let (states, hands) = (segment.state.len(), segment.handed.len());
        let mut b = self.whole(segment, "rounds", gives);
        let params = Values::from_slice(b.function.params());
        let all = b.int(i32::MAX);
        let args = params.iter().copied().chain([all]).collect();
        let inst = b.push(Op::Call(segment.id), args, &segment.gives(), &[]);
        let given = Values::from_slice(b.results(inst));
        let results = given[..1].iter().chain(&given[1 + states..1 + states + hands]).copied().collect();
        let function = b.finish(results);
        let forwards = self.add(function);
        let mut below = Rung { id: segment.id, gives: segment.gives(), rounds: SEGMENT };
        let mut ladder = Vec::new();
        for _ in 0..RUNGS {
            let function = self.rung(segment, &below);
            let gives = function.results.clone();
            let next = Rung { id: self.add(function), gives, rounds: below.rounds.saturating_mul(CALLS) };
            ladder.push(std::mem::replace(&mut below, next));
        }
        ladder.push(below);
        let sweep = self.sweep(segment, &ladder, gives);
        self.rewritten.sweeps.insert(forwards, sweep);
        forwards
    }

    /// Rounds by calls of the function below, each with as many as that is enough for. The number of rounds is exact, so
    /// there is nothing to say of the end.
    ///
    /// The last call stands behind the loop. So a sweep, which wants none of its results, runs only what lies before it.
    fn rung(&self, segment: &Segment, below: &Rung) -> Function {
        let states = segment.state.len();
        let types = &segment.gives()[..1 + states + segment.handed.len()];
        let head = Function::new(self.free_name("rung"), &segment.takes(), types);
        let mut b = Builder::new(head.with_precision(self.function.precision));
        b.function.prefer = Prefer::Recompute;
        let params = Values::from_slice(b.function.params());
        let (count, outer) = (params[params.len() - 1], &params[1 + states..params.len() - 1]);
        let call = |b: &mut Builder, state: &[Value], rounds: Value| {
            let args = state[..=states].iter().chain(outer).copied().chain([rounds]).collect();
            let inst = b.push(Op::Call(below.id), args, &below.gives, &[]);
            Values::from_slice(b.results(inst))
        };
        let size = b.int(below.rounds);
        let start: Values = params[..=states].iter().copied().chain([count]).collect();
        let carried: Vec<Ty> = start.iter().map(|&v| b.ty(v)).collect();
        let test = b.open(&carried);
        let values = b.params(test);
        let more = b.int_compare(Compare::Gt, values[1 + states], size);
        b.close([more].into_iter().chain(values).collect());
        let round = b.open(&carried);
        let values = b.params(round);
        let given = call(&mut b, &values, size);
        let rest = b.int2(Int2::Sub, values[1 + states], size);
        b.close(given[..=states].iter().copied().chain([rest]).collect());
        let inst = b.push(Op::Loop(Checkpoint::Free), start, &carried, &[test, round]);
        let given = Values::from_slice(b.results(inst));
        let last = call(&mut b, &given, given[1 + states]);
        b.finish(Values::from_slice(&last[..types.len()]))
    }

    /// Counts the rounds, and sweeps back through them by the lowest function of the ladder that is enough.
    fn sweep(&mut self, segment: &Segment, ladder: &[Rung], gives: &[Ty]) -> FuncId {
        let (states, hands) = (segment.state.len(), segment.handed.len());
        let differentiable =
            |types: &[Ty]| types.iter().copied().filter(|t| t.is_differentiable()).collect::<Vec<Ty>>();
        let cotangents = differentiable(&segment.handed);
        let gradients = [differentiable(&segment.state), differentiable(&segment.outer)].concat();
        let head = self.whole(segment, "sweep", gives).function;
        let own: Vec<Ty> = head.params().iter().map(|&p| head.ty(p)).collect();
        let (takes, gives) = ([own, cotangents].concat(), [head.results.clone(), gradients.clone()].concat());
        let mut b = Builder::new(Function::new(head.name, &takes, &gives).with_precision(head.precision));
        let params = Values::from_slice(b.function.params());
        let own = &params[1..1 + states + segment.outer.len()];
        // One less than an int holds, because of the next step.
        let all = b.int(i32::MAX - 1);
        let args = params[..1].iter().chain(own).copied().chain([all]).collect();
        let inst = b.push(Op::Call(segment.id), args, &segment.gives(), &[]);
        let ran = Values::from_slice(b.results(inst));
        // A segment with just as many rounds would stop in front of the test that ends the loop, and what that test hands
        // out is what the loop gives.
        let one = b.int(1);
        let count = b.int2(Int2::Add, ran[2 + states + hands], one);
        let mut args: Values = ran[..1].iter().chain(own).copied().chain([count]).collect();
        for ty in differentiable(&segment.state) {
            args.push(b.zero(ty));
        }
        args.extend(params[1 + own.len()..].iter().copied());
        let swept = by_rung(&mut b, ladder, count, &args, &gradients);
        let mut results = Values::from_slice(&swept[..1]);
        results.extend(ran[1 + states..1 + states + hands].iter().copied());
        results.extend(swept[1..].iter().copied());
        let function = b.finish(results);
        self.add(function)
    }
}

/// `vjp` of the first function that is enough for so many rounds, or of the last one: a token and the gradients.
fn by_rung(b: &mut Builder, ladder: &[Rung], count: Value, args: &Values, gradients: &[Ty]) -> Values {
    let sweep = |b: &mut Builder, rung: &Rung| {
        let all = [&rung.gives[..], gradients].concat();
        let inst = b.push(Op::Vjp { function: rung.id, screen: 0 }, args.clone(), &all, &[]);
        let given = b.results(inst);
        given[..1].iter().chain(&given[rung.gives.len()..]).copied().collect::<Values>()
    };
    let (rung, higher) = match ladder {
        [rung, higher @ ..] if !higher.is_empty() => (rung, higher),
        [last, ..] => return sweep(b, last),
        [] => return Values::new(),
    };
    let rounds = b.int(rung.rounds);
    let enough = b.int_compare(Compare::Le, count, rounds);
    let then = b.open(&[]);
    let here = sweep(b, rung);
    b.close(here);
    let otherwise = b.open(&[]);
    let above = by_rung(b, higher, count, args, gradients);
    b.close(above);
    let gives = [&[Ty::Token], gradients].concat();
    let inst = b.push(Op::If, Values::from_slice(&[enough]), &gives, &[then, otherwise]);
    Values::from_slice(b.results(inst))
}
