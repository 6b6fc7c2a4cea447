//! `loop`: as branches where all lanes agree, else until no lane goes on.
//!
//! What a lane hands out is kept from the round in which it leaves. In most rounds none does. So what there is to keep
//! of several values waits in memory, and a branch skips it. So does what lanes carry that have not begun.

use super::function::Emitter;
use super::waiting::Waiting;
use super::{Assembler, Kind, Logic, Made, Odds, Shape, unexpected};
use crate::analysis::uniformity;
use crate::backend::plan::Treatment;
use crate::ir::{Compare, Inst, InstData, Value};

/// Values up to which choosing in each round costs no more than asking whether there is anything to choose.
const FEW: usize = 4;

/// What a loop hands out that somebody uses.
struct Outcome<S> {
    /// By the test, for lanes that leave.
    handed: Vec<Value>,
    results: Vec<Value>,
    /// Where it waits for the end of the loop, unless it goes along from round to round.
    waiting: Option<Waiting<S>>,
}

/// How a test divides the lanes of a loop.
struct Tested<V> {
    staying: V,
    leaving: V,
    /// What is kept of the lanes that have left, unless it waits in memory.
    out: Vec<V>,
}

impl<A: Assembler> Emitter<'_, A> {
    pub fn loop_inst(&mut self, inst: Inst, data: &InstData) -> Made {
        match self.plan.treatment(inst) {
            Treatment::Together => self.loop_together(data),
            _ if uniformity::waits(self.f, data) && self.plan.is_wide(data.args[0]) => self.falling_loop(data),
            _ => self.masked_loop(data),
        }
    }

    fn loop_together(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let &[condition_region, body_region] = data.regions.as_slice() else { return unexpected() };
        let (condition, body) = (f.region(condition_region), f.region(body_region));
        let head = self.asm.block(&self.shapes(&condition.params))?;
        let (go, leave) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let arguments = self.hand_over(&data.args, &condition.params)?;
        self.asm.jump(head, &arguments)?;

        self.asm.enter(head);
        let params = self.asm.params(head);
        self.unflatten(&condition.params, &params)?;
        self.region(condition_region)?;
        let (test, handed) = (self.get(condition.results[0])?, &condition.results[1..]);
        let toll = self.toll(condition_region)?;
        self.asm.branch(test, go, leave, Odds::Round)?;

        self.asm.enter(go);
        self.note_prepaid(data);
        let before = toll.as_ref().map(|toll| self.pay(toll)).transpose()?;
        self.copy_arrays(handed, &body.params)?;
        self.rename(handed, &body.params)?;
        self.region(body_region)?;
        let arguments = self.hand_over(&body.results, &condition.params)?;
        self.asm.jump(head, &arguments)?;

        self.asm.enter(leave);
        if let Some((token, left)) = before {
            self.set(token, left);
        }
        self.copy_arrays(handed, &data.results)?;
        self.rename(handed, &data.results)
    }

    /// Until no lane goes on. What a lane hands out is kept from the round in which it leaves; what becomes of the
    /// values that it would have carried on does not matter.
    fn masked_loop(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let Some(mask) = self.mask else { return unexpected() };
        let outcome = self.outcome(data)?;
        let carried = self.shapes(&condition.params);
        let (head, go, leave) = self.loop_of_lanes(&carried, &outcome)?;
        let mut arguments = self.hand_over(&data.args, &condition.params)?;
        arguments.extend(self.none_has_left(mask, &outcome)?);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(head);
        let params = self.asm.params(head);
        let (inner, rest) = params.split_at(carried.len());
        let Some((&active, old)) = rest.split_first() else { return unexpected() };
        self.unflatten(&condition.params, inner)?;
        let Tested { staying, out, .. } = self.tested(data, active, old, &outcome)?;
        let any = self.asm.any(staying)?;
        self.asm.branch(any, go, leave, Odds::Round)?;

        self.asm.enter(go);
        let mut arguments = self.body_of_loop(data, staying, |e| e.hand_over(&body.results, &condition.params))?;
        arguments.push(staying);
        arguments.extend(&out);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(leave);
        self.hand_out(outcome, &out)
    }

    /// From the most rounds that any lane has left down to none. A lane begins when as few are left as it has; until then
    /// what it carries stays as it is.
    fn falling_loop(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let Some(mask) = self.mask else { return unexpected() };
        let start = self.get(data.args[0])?;
        let most = self.most(start, mask)?;
        let outcome = self.outcome(data)?;
        let wide = self.shapes(&condition.params[1..]);
        let resting = if wide.len() > FEW { Some(self.waiting(&wide)?) } else { None };
        let carried = [&[Shape::INT], &wide[..]].concat();
        let (head, go, leave) = self.loop_of_lanes(&carried, &outcome)?;
        let mut arguments = vec![most];
        arguments.extend(self.hand_over(&data.args[1..], &condition.params[1..])?);
        arguments.extend(self.none_has_left(mask, &outcome)?);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(head);
        let params = self.asm.params(head);
        let (before, rest) = params.split_at(carried.len());
        let Some((&left, old)) = rest.split_first() else { return unexpected() };
        self.set(condition.params[0], before[0]);
        self.unflatten(&condition.params[1..], &before[1..])?;
        let round = self.asm.splat(Kind::Int, before[0])?;
        let begun = self.asm.compare_ints(Compare::Ge, start, round)?;
        let active = self.asm.logic(Logic::And, left, begun)?;
        let Tested { staying, leaving, out } = self.tested(data, active, old, &outcome)?;
        let left = self.asm.logic(Logic::AndNot, left, leaving)?;
        let any = self.asm.any(left)?;
        self.asm.branch(any, go, leave, Odds::Round)?;

        self.asm.enter(go);
        let yet_to_begin = self.asm.logic(Logic::AndNot, left, staying)?;
        if let Some(resting) = &resting {
            self.if_any(yet_to_begin, |e| e.put(resting, &before[1..]))?;
        }
        let next = self.body_of_loop(data, staying, |e| e.hand_over(&body.results[1..], &condition.params[1..]))?;
        let counter = self.get(body.results[0])?;
        let again =
            |e: &mut Self, carried: &[A::Value]| e.asm.jump(head, &[&[counter], carried, &[left], &out].concat());
        if let Some(resting) = &resting {
            let (blend, on) = self.seldom(yet_to_begin)?;
            self.asm.enter(blend);
            let old = self.take(resting)?;
            let carried = self.choices(staying, &next, &old)?;
            again(self, &carried)?;
            self.asm.enter(on);
            again(self, &next)?;
        } else {
            let carried = self.choices(staying, &next, &before[1..])?;
            again(self, &carried)?;
        }

        self.asm.enter(leave);
        if let Some(resting) = resting {
            self.release(resting);
        }
        self.hand_out(outcome, &out)
    }
    /// The head of a loop that lanes leave one after the other, where its rounds go on, and where it is over. The head
    /// takes what is carried, the lanes that are inside, and what goes along of those that have left.
    fn loop_of_lanes(&mut self, carried: &[Shape], outcome: &Outcome<A::Slot>) -> Made<(A::Block, A::Block, A::Block)> {
        let along = if outcome.waiting.is_some() { Vec::new() } else { self.shapes(&outcome.results) };
        let head = self.asm.block(&[carried, &[Shape::MASK], &along].concat())?;
        Ok((head, self.asm.block(&[])?, self.asm.block(&[])?))
    }

    fn outcome(&mut self, data: &InstData) -> Made<Outcome<A::Slot>> {
        let handed = &self.f.region(data.regions[0]).results[1..];
        let pairs = handed.iter().copied().zip(data.results.iter().copied());
        let (handed, results): (Vec<Value>, Vec<Value>) =
            pairs.filter(|(_, r)| self.is_used(*r) || self.f.ty(*r).is_array()).unzip();
        let copies = handed.iter().zip(&results).any(|(from, to)| self.storage.slot(*from) != self.storage.slot(*to));
        let shapes = self.shapes(&results);
        let waiting = if shapes.len() > FEW || copies { Some(self.waiting(&shapes)?) } else { None };
        Ok(Outcome { handed, results, waiting })
    }

    /// What the head takes behind what is carried, at first.
    fn none_has_left(&mut self, mask: A::Value, outcome: &Outcome<A::Slot>) -> Made<Vec<A::Value>> {
        let shapes = self.shapes(&outcome.results);
        let zeros: Vec<A::Value> = shapes.into_iter().map(|shape| self.asm.zero(shape)).collect();
        let Some(waiting) = &outcome.waiting else { return Ok([&[mask], &zeros[..]].concat()) };
        // Lanes that are not meant compute on with what stands there.
        self.put(waiting, &zeros)?;
        Ok(vec![mask])
    }

    /// The lanes that are active test whether they go another round; of those that leave, what they hand out is kept.
    fn tested(
        &mut self,
        data: &InstData,
        active: A::Value,
        old: &[A::Value],
        outcome: &Outcome<A::Slot>,
    ) -> Made<Tested<A::Value>> {
        let condition = self.f.region(data.regions[0]);
        self.narrowed(Some(active), |e| e.region(data.regions[0]))?;
        let Outcome { handed, results, waiting } = outcome;
        let test = self.in_shape(condition.results[0], true)?;
        let leaving = self.asm.logic(Logic::AndNot, active, test)?;
        let staying = self.asm.logic(Logic::And, active, test)?;
        let mut out = Vec::new();
        match waiting {
            None => {
                let new = self.flatten(handed, &|_| true)?;
                out = self.choices(leaving, &new, old)?;
            }
            Some(waiting) => self.if_any(leaving, |e| {
                let (new, old) = (e.flatten(handed, &|_| true)?, e.take(waiting)?);
                let out = e.choices(leaving, &new, &old)?;
                e.put(waiting, &out)?;
                e.narrowed(Some(leaving), |e| e.copy_arrays(handed, results))
            })?,
        }
        Ok(Tested { staying, leaving, out })
    }

    /// The results of a loop that is over.
    fn hand_out(&mut self, outcome: Outcome<A::Slot>, out: &[A::Value]) -> Made {
        let Some(waiting) = outcome.waiting else { return self.unflatten(&outcome.results, out) };
        let out = self.take(&waiting)?;
        self.release(waiting);
        self.unflatten(&outcome.results, &out)
    }

    /// Of each pair the first in the lanes of a mask, the second in the others.
    fn choices(&mut self, mask: A::Value, a: &[A::Value], b: &[A::Value]) -> Made<Vec<A::Value>> {
        a.iter().zip(b).map(|(&a, &b)| self.asm.select(mask, a, b)).collect()
    }

    /// The round of the lanes that stay, and what is to be done for them at its end.
    fn body_of_loop<T>(
        &mut self,
        data: &InstData,
        staying: A::Value,
        end: impl FnOnce(&mut Self) -> Made<T>,
    ) -> Made<T> {
        let f = self.f;
        let handed = &f.region(data.regions[0]).results[1..];
        let params = &f.region(data.regions[1]).params;
        self.narrowed(Some(staying), |e| {
            e.copy_arrays(handed, params)?;
            e.rename(handed, params)?;
            e.region(data.regions[1])?;
            end(e)
        })
    }

    /// The largest of the lanes that are meant, of numbers that are not negative.
    fn most(&mut self, numbers: A::Value, mask: A::Value) -> Made<A::Value> {
        let none = self.asm.zero(Shape::new(Kind::Int, true));
        let numbers = self.asm.select(mask, numbers, none)?;
        let mut most = self.int(0);
        for lane in 0..self.asm.lanes() {
            let number = self.asm.extract(Kind::Int, numbers, lane)?;
            let more = self.asm.compare_ints(Compare::Gt, number, most)?;
            most = self.asm.select(more, number, most)?;
        }
        Ok(most)
    }
}
