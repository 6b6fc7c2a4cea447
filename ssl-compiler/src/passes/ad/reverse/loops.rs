//! Loops: forwards they count their rounds, and put on the tape what the sweep reads of each; the sweep runs as many
//! rounds back. Loops through which no token passes are the compiler's own, over the elements of an array: they keep in
//! arrays what others put on the tape.

use super::Refused;
use super::keep::{Boundary, Counted, Kept, decide_with};
use super::linearise::Lineariser;
use super::report;
use super::steps::{Place, Rounds, Side, Step};
use super::transpose::Sweep;
use super::undo::{Obstacle, Undo};
use crate::ir::*;

impl<'m> Lineariser<'_, 'm> {
    pub(super) fn loop_inst(&mut self, inst: Inst, data: &'m InstData, checkpoint: Checkpoint) -> Option<Step> {
        let source = self.source;
        let (condition, body) = (source.region(data.regions[0]), source.region(data.regions[1]));
        // The loop counts its rounds. One that is taken back knows which was the last to go on the tape.
        let is_undone = matches!(checkpoint, Checkpoint::Undo(_) | Checkpoint::TryUndo(_));
        let own = 1 + usize::from(is_undone);
        let types = |values: &[Value]| {
            let own = std::iter::repeat_n(INT, own);
            values.iter().map(|&v| source.ty(v)).chain(own).collect::<Vec<Ty>>()
        };

        let new_condition = self.b.open(&types(&condition.params));
        let entering = self.b.params(new_condition);
        self.bind(&condition.params, &entering);
        let test_steps = self.region(data.regions[0]);
        let mut tested = self.values(&condition.results);
        tested.extend(entering[condition.params.len()..].iter().copied());
        self.b.close(tested);

        let new_body = self.b.open(&types(&body.params));
        let leaving = self.b.params(new_body);
        self.bind(&body.params, &leaving);
        let undoing = std::mem::replace(&mut self.undoing, is_undone);
        let body_steps = self.region(data.regions[1]);
        self.undoing = undoing;
        let mut next = self.values(&body.results);
        let one = self.b.int(1);
        next.push(self.b.int2(Int2::Add, leaving[body.params.len()], one));
        next.extend(leaving[body.params.len() + 1..].iter().copied());
        self.b.close(next);

        let zero = self.b.int(0);
        let mut args = self.values(&data.args);
        args.push(zero);
        if is_undone {
            args.push(self.b.int(-1));
        }
        let touched = [&data.results[..], &condition.params, &body.params];
        let idle = test_steps.is_empty() && body_steps.is_empty();
        let idle = idle && !touched.into_iter().flatten().any(|&v| self.active[v.index()]);
        let regions = [new_condition, new_body];
        let (mut results, mut rounds_known) = (types(&data.results), None);
        let sides = (!idle).then(|| {
            let (tests, rounds) = self.counters(&args, new_condition, new_body);
            rounds_known = self.known_rounds(new_condition, &tests);
            let boundary = match checkpoint {
                Checkpoint::Keep => Boundary::rounds(Prefer::Checkpoint),
                // What is computed again is a matter of the plan.
                _ if is_undone => Boundary::rounds(Prefer::Checkpoint),
                _ => Boundary::rounds(self.prefer),
            };
            let test = decide_with(&self.b.function, new_condition, &test_steps, boundary, &tests);
            let mut body = decide_with(&self.b.function, new_body, &body_steps, boundary, &rounds);
            let undo = self.undo(regions, [&test, &body], &rounds, checkpoint, data);
            if is_undone && undo.is_none() {
                body = decide_with(&self.b.function, new_body, &body_steps, Boundary::rounds(self.prefer), &rounds);
            }
            self.report(data, &test, &body, undo.as_ref().map(|(undo, _)| undo.tracked.len()));
            let test = self.side(new_condition, test_steps, test, data);
            let has_token = leaving.iter().any(|&v| self.b.ty(v) == Ty::Token);
            let body = match &undo {
                Some(_) => Side { steps: body_steps, kept: body, place: Place::Nowhere },
                None if !has_token && !body.leaves.is_empty() => {
                    let (rounds, round) = (rounds_known, leaving[data.results.len()]);
                    let (side, arrays) = self.side_in_arrays(regions, (rounds, round), (body_steps, body), data.span);
                    args.extend(arrays.iter().map(|&ty| self.b.zero(ty)));
                    results.extend(arrays);
                    side
                }
                None => self.side(new_body, body_steps, body, data),
            };
            (test, body, undo)
        });
        self.b.span = data.span;
        let new = self.b.push(Op::Loop(Checkpoint::Free), args, &results, &regions);
        let results = Values::from_slice(self.b.results(new));
        self.bind(&data.results, &results);
        let count = match rounds_known {
            Some(n) => self.b.int(n as i32),
            None if idle => results[data.results.len()],
            None => self.counted_rounds(new, data.results.len()),
        };
        sides.map(|(test, mut body, undo)| {
            if let Place::Arrays(arrays) = &mut body.place {
                *arrays = results[data.results.len() + own..].to_vec();
            }
            let undo = undo.map(|(mut undo, places)| {
                let last = results.len() - 1;
                undo.ends_in(places.into_iter().chain([last]).map(|place: usize| results[place]).collect());
                undo
            });
            Step::Loop(Box::new(Rounds { inst, count, test, body, undo }))
        })
    }

    fn report(&mut self, data: &InstData, test: &Kept, body: &Kept, undone: Option<usize>) {
        let (f, remarks) = (&self.b.function, &mut *self.output.remarks);
        if let Some(tracked) = undone {
            remarks.say(report::PASS, f, data.span, || {
                format!(
                    "the rounds are taken back: {} restored in each, kept at anchors only",
                    report::count(tracked, "value")
                )
            });
            return;
        }
        report::kept(remarks, f, data.span, body, report::Crossing::Round);
        if !test.leaves.is_empty() {
            report::kept(remarks, f, data.span, test, report::Crossing::Round);
        }
    }

    /// Takes the rounds back in place of keeping them, if that is wanted, or says why that cannot be.
    fn undo(
        &mut self,
        regions: [Region; 2],
        [test, body]: [&Kept; 2],
        counters: &[Counted],
        checkpoint: Checkpoint,
        data: &InstData,
    ) -> Option<(Undo, Vec<usize>)> {
        let (Checkpoint::Undo(anchor) | Checkpoint::TryUndo(anchor)) = checkpoint else { return None };
        let plan = match test.leaves.is_empty() {
            true => self.plan_undo(regions, body, counters, anchor),
            false => Err((Obstacle::Test, test.leaves[0])),
        };
        match plan {
            Ok((mut undo, places)) => {
                undo.drift = self.measured(regions[1], data, &undo);
                self.push_anchors(regions[1], &undo);
                Some((undo, places))
            }
            Err((obstacle, _)) if checkpoint == Checkpoint::TryUndo(anchor) => {
                self.output.remarks.say(report::PASS, &self.b.function, data.span, || {
                    format!(
                        "the rounds are kept, derivatives that they carry cannot be taken back: {}",
                        obstacle.text()
                    )
                });
                None
            }
            Err((obstacle, v)) => {
                let variable = self.variable(regions[1], data, v);
                self.output.refuse(Refused::NoUndo { span: data.span, why: obstacle.text(), variable });
                None
            }
        }
    }

    /// Puts on the tape, at a region's end, what the sweep gets from it.
    fn side(&mut self, region: Region, steps: Vec<Step>, kept: Kept, data: &InstData) -> Side {
        let site = (!kept.leaves.is_empty()).then(|| self.output.own_site(data.span));
        if let Some(site) = site {
            let mut results = self.b.function.region(region).results.clone();
            let Some(token) = results.iter_mut().find(|v| self.b.function.ty(**v) == Ty::Token) else {
                self.output.refuse(Refused::NoTape(data.span));
                return Side::refused();
            };
            self.b.reopen(region);
            let values = [*token].into_iter().chain(kept.leaves.iter().copied()).collect();
            let inst = self.b.push(Op::Push(site), values, &[Ty::Token], &[]);
            *token = self.b.results(inst)[0];
            self.b.close(results);
        }
        Side { steps, kept, place: site.map_or(Place::Nowhere, Place::Tape) }
    }

    /// How many rounds a loop went, by one of its first `own` values if that goes up or down by 1: then the loop need not
    /// carry the count behind them.
    fn counted_rounds(&mut self, inst: Inst, own: usize) -> Value {
        let data = self.b.function.inst(inst);
        let (args, results, regions) = (data.args.clone(), data.results.clone(), [data.regions[0], data.regions[1]]);
        let (tests, _) = self.counters(&args, regions[0], regions[1]);
        let handed = &self.b.function.region(regions[0]).results[1..=own];
        let counter = results.iter().zip(handed).find_map(|(&last, v)| {
            let counted = tests.iter().find(|c| c.value == *v && c.step.abs() == 1)?;
            Some((last, *counted))
        });
        match counter {
            Some((last, Counted { first, step: 1, .. })) => self.b.int2(Int2::Sub, last, first),
            Some((last, Counted { first, .. })) => self.b.int2(Int2::Sub, first, last),
            None => results[own],
        }
    }

    /// The carried values that go up by a constant each round, in the condition and in the body.
    fn counters(&self, args: &[Value], condition: Region, body: Region) -> (Vec<Counted>, Vec<Counted>) {
        let f = &self.b.function;
        let (condition, body) = (f.region(condition), f.region(body));
        let (mut tests, mut rounds) = (Vec::new(), Vec::new());
        for (q, &param) in body.params.iter().enumerate() {
            let handed = condition.results[1 + q];
            let Some(j) = condition.params.iter().position(|&p| p == handed) else { continue };
            let adds = |inst: &&Inst| f.inst(**inst).results.first() == Some(&body.results[j]);
            let Some(&inst) = body.insts.iter().find(adds) else { continue };
            let data = f.inst(inst);
            if let (Op::Int2(op @ (Int2::Add | Int2::Sub)), true) = (data.op, data.args.first() == Some(&param))
                && let Some(Const::Int(step)) = self.b.constant_of(data.args[1])
            {
                let step = if op == Int2::Add { step } else { step.wrapping_neg() };
                tests.push(Counted { value: handed, first: args[j], step });
                rounds.push(Counted { value: param, first: args[j], step });
            }
        }
        (tests, rounds)
    }
}

impl Sweep<'_, '_> {
    pub(super) fn loop_step(&mut self, rounds: &Rounds) {
        let source = self.source;
        let data = source.inst(rounds.inst);
        let (condition, body) = (source.region(data.regions[0]), source.region(data.regions[1]));
        let count = self.known(rounds.count);

        // The last test, behind which the loop was left.
        for (&r, &handed) in data.results.iter().zip(&condition.results[1..]) {
            if let Some(cotangent) = self.take(r) {
                self.add(handed, cotangent);
            }
        }
        self.side_step(&rounds.test, count);

        let carried: Vec<Value> = condition.params.iter().copied().filter(|&p| self.is_active(p)).collect();
        let outer = self.captured(&data.regions);
        let accumulated: Vec<Value> = carried.iter().chain(&outer).copied().collect();
        // How many rounds there are is known, so that they are paid for together: a round then takes no fuel.
        let mut left = count;
        if let Some(token) = &mut self.token {
            let inst = self.b.push(Op::Prepay(1), Values::from_slice(&[*token, count]), &[Ty::Token, INT], &[]);
            let paid = self.b.results(inst);
            (*token, left) = (paid[0], paid[1]);
        }
        let mut args = Values::from_slice(&[left]);
        args.extend(self.token);
        let states = rounds.undo.as_ref().map_or(&[][..], Undo::finals);
        args.extend(states.iter().map(|&v| self.known(v)));
        for &v in &accumulated {
            let cotangent = self.take(v);
            args.push(cotangent.unwrap_or_else(|| self.b.zero(source.ty(v))));
        }
        let (before, early) = (std::mem::take(&mut self.cotangents), self.early.clone());
        let types: Vec<Ty> = args.iter().map(|&v| self.b.ty(v)).collect();

        let test = self.b.open(&types);
        let mut params = self.b.params(test);
        let zero = self.b.int(0);
        let more = self.b.int_compare(Compare::Ne, params[0], zero);
        params.insert(0, more);
        self.b.close(params);

        let round = self.b.open(&types);
        let params = self.b.params(round);
        let first = self.enter(&params, states.len(), &accumulated);
        let one = self.b.int(1);
        let index = self.b.int2(Int2::Sub, params[0], one);
        debug_assert_eq!(first + accumulated.len(), params.len());
        // What this round gave to the next one.
        for (&p, &next) in condition.params.iter().zip(&body.results) {
            if let Some(cotangent) = self.take(p) {
                self.add(next, cotangent);
            }
        }
        let mut restored = Values::new();
        if let Some(undo) = &rounds.undo {
            restored = self.restore(undo, &params[first - states.len()..first], index);
        }
        self.side_step(&rounds.body, index);
        for (&p, &handed) in body.params.iter().zip(&condition.results[1..]) {
            if let Some(cotangent) = self.take(p) {
                self.add(handed, cotangent);
            }
        }
        self.side_step(&rounds.test, index);
        let mut next = Values::from_slice(&[index]);
        next.extend(self.token);
        next.extend(restored);
        for &v in &accumulated {
            let cotangent = self.take(v);
            next.push(cotangent.unwrap_or_else(|| self.b.zero(source.ty(v))));
        }
        self.b.close(next);

        // Where rounds read buffers, lanes should read the same elements.
        let falling = !self.module.columns.is_empty();
        let checkpoint = if falling { Checkpoint::Falling } else { Checkpoint::Free };
        let inst = self.b.push(Op::Loop(checkpoint), args, &types, &[test, round]);
        let results = Values::from_slice(self.b.results(inst));
        (self.cotangents, self.early) = (before, early);
        self.enter(&results, states.len(), &accumulated);
        for (&p, &start) in condition.params.iter().zip(&data.args) {
            if let Some(cotangent) = self.take(p) {
                self.add(start, cotangent);
            }
        }
    }

    /// Takes the token and the accumulators from what a region or a loop gives; says where the accumulators begin.
    fn enter(&mut self, values: &[Value], states: usize, accumulated: &[Value]) -> usize {
        let first = 1 + usize::from(self.token.is_some()) + states;
        if let Some(token) = &mut self.token {
            *token = values[1];
        }
        self.cotangents.extend(accumulated.iter().copied().zip(values[first..].iter().copied()));
        first
    }

    fn side_step(&mut self, side: &Side, index: Value) {
        let leaves = match &side.place {
            Place::Tape(site) => self.pop(*site, &side.kept.leaves),
            Place::Nowhere => side.kept.leaves.iter().map(|&v| self.known(v)).collect(),
            Place::Arrays(arrays) => {
                let arrays: Values = arrays.iter().map(|&v| self.known(v)).collect();
                arrays.into_iter().map(|array| self.b.array_get(array, index)).collect()
            }
        };
        self.begin(&side.kept, &leaves, Some(index));
        self.steps(&side.steps);
    }

    /// Takes what forward code put on the tape.
    pub(super) fn pop(&mut self, site: Site, like: &[Value]) -> Values {
        let mut types = vec![Ty::Token];
        types.extend(like.iter().map(|&v| self.forwards.ty(v)));
        self.pop_types(site, &types)
    }

    pub(super) fn pop_types(&mut self, site: Site, types: &[Ty]) -> Values {
        // Who pushes has a token, and so has who pops.
        let Some(token) = self.token else { return types[1..].iter().map(|&ty| self.b.zero(ty)).collect() };
        let inst = self.b.push(Op::Pop(site), Values::from_slice(&[token]), types, &[]);
        let results = Values::from_slice(self.b.results(inst));
        self.token = Some(results[0]);
        Values::from_slice(&results[1..])
    }
}
