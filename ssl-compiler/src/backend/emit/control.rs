//! `if`, `loop`, calls, and the operations on tokens: as branches where all lanes agree, else under masks.

use super::function::Emitter;
use super::{Assembler, Beside, Kind, Logic, Made, Odds, Shape, unexpected};
use crate::analysis::uniformity;
use crate::backend::plan::{Treatment, Version};
use crate::ir::{Compare, Const, FuncId, Inst, InstData, Int2, Op, Region, Value};
use crate::runtime::block::{MAX_RECURSION, TOO_DEEP};

/// How a test divides the lanes of a loop, and what is kept of those that have left.
struct Tested<V> {
    staying: V,
    leaving: V,
    out: Vec<V>,
}

impl<A: Assembler> Emitter<'_, A> {
    /// Copies the arrays that lie elsewhere on the other side of a jump.
    fn copy_arrays(&mut self, from: &[Value], to: &[Value]) -> Made {
        for (&source, &target) in from.iter().zip(to).filter(|(v, _)| self.f.ty(**v).is_array()) {
            let (Some(source), Some(target)) = (self.storage.slot(source), self.storage.slot(target)) else {
                return unexpected();
            };
            self.copy_slot(source, target)?;
        }
        Ok(())
    }

    /// What a jump hands over, as wide as those who take it; arrays by copying where the slots differ.
    fn hand_over(&mut self, from: &[Value], to: &[Value]) -> Made<Vec<A::Value>> {
        self.copy_arrays(from, to)?;
        let plan = self.plan;
        self.flatten(from, &|i| plan.is_wide(to[i]))
    }

    /// Values under other names, as wide as those.
    fn rename(&mut self, from: &[Value], to: &[Value]) -> Made {
        let plan = self.plan;
        let values = self.flatten(from, &|i| plan.is_wide(to[i]))?;
        self.unflatten(to, &values)
    }

    pub fn if_inst(&mut self, inst: Inst, data: &InstData) -> Made {
        match self.plan.treatment(inst) {
            Treatment::Together => self.branch_together(data),
            Treatment::Select => self.select_sides(data),
            Treatment::Masked => self.masked_sides(data),
        }
    }

    fn branch_together(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (then, otherwise) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let merge = self.asm.block(&self.shapes(&data.results))?;
        let condition = self.get(data.args[0])?;
        self.asm.branch(condition, then, otherwise, Odds::Even)?;
        for (block, &region) in [then, otherwise].into_iter().zip(&data.regions) {
            self.asm.enter(block);
            self.region(region)?;
            let arguments = self.hand_over(&f.region(region).results, &data.results)?;
            self.asm.jump(merge, &arguments)?;
        }
        self.asm.enter(merge);
        let params = self.asm.params(merge);
        self.unflatten(&data.results, &params)
    }

    /// Runs `work` under the mask of the lanes for which `condition` is as it should be.
    fn narrowed<T>(&mut self, mask: Option<A::Value>, work: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        let before = (self.mask, self.diverged);
        (self.mask, self.diverged) = (mask, true);
        let done = work(self);
        (self.mask, self.diverged) = before;
        done
    }

    /// The masks of the lanes that take the first side and of those that take the second.
    fn side_masks(&mut self, condition: A::Value) -> Made<[Option<A::Value>; 2]> {
        let Some(mask) = self.mask else { return Ok([None; 2]) };
        let then = self.asm.logic(Logic::And, mask, condition)?;
        let otherwise = self.asm.logic(Logic::AndNot, mask, condition)?;
        Ok([Some(then), Some(otherwise)])
    }

    /// Both sides, one after the other, and what each lane wants of them.
    fn select_sides(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let condition = self.get(data.args[0])?;
        let masks = self.side_masks(condition)?;
        for (mask, &region) in masks.into_iter().zip(&data.regions) {
            self.narrowed(mask, |e| e.region(region))?;
        }
        let [then, otherwise] = [0, 1].map(|i| f.region(data.regions[i]).results.clone());
        let plan = self.plan;
        let wide = |i: usize| plan.is_wide(data.results[i]);
        let (then, otherwise) = (self.flatten(&then, &wide)?, self.flatten(&otherwise, &wide)?);
        self.choose(data, condition, &then, &otherwise)
    }

    /// The results of an `if` from those of its sides. What does not vary is the same on both.
    fn choose(&mut self, data: &InstData, condition: A::Value, then: &[A::Value], otherwise: &[A::Value]) -> Made {
        let shapes = self.shapes(&data.results);
        let mut chosen = Vec::new();
        for ((&a, &b), shape) in then.iter().zip(otherwise).zip(shapes) {
            chosen.push(if shape.wide { self.asm.select(condition, a, b)? } else { a });
        }
        self.unflatten(&data.results, &chosen)
    }

    /// Each side if any lane takes it.
    fn masked_sides(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let condition = self.get(data.args[0])?;
        let masks = self.side_masks(condition)?;
        let mut sides = Vec::new();
        for (mask, &region) in masks.into_iter().zip(&data.regions) {
            let Some(mask) = mask else { return unexpected() };
            sides.push(self.narrowed(Some(mask), |e| e.side(data, region, mask))?);
        }
        let [then, otherwise] = sides.as_slice() else { return unexpected() };
        // A result that does not vary came from before, and is the same on both sides.
        for (i, &r) in data.results.iter().enumerate().filter(|(_, r)| !f.ty(**r).is_array()) {
            if !self.plan.is_wide(r) {
                self.rename(&[f.region(data.regions[0]).results[i]], &[r])?;
            }
        }
        let varying: Vec<Value> = self.varying(&data.results);
        let mut chosen = Vec::new();
        for (&a, &b) in then.iter().zip(otherwise) {
            chosen.push(self.asm.select(condition, a, b)?);
        }
        self.unflatten(&varying, &chosen)
    }

    fn varying(&self, values: &[Value]) -> Vec<Value> {
        values.iter().copied().filter(|&v| !self.f.ty(v).is_array() && self.plan.is_wide(v)).collect()
    }

    /// One side under its mask: its results that vary, or anything where no lane takes it.
    fn side(&mut self, data: &InstData, region: Region, mask: A::Value) -> Made<Vec<A::Value>> {
        let f = self.f;
        let varying = self.varying(&data.results);
        let results = &f.region(region).results;
        let handed: Vec<Value> = results
            .iter()
            .zip(&data.results)
            .filter(|(_, r)| !f.ty(**r).is_array() && self.plan.is_wide(**r))
            .map(|(&v, _)| v)
            .collect();
        let has_arrays = results.iter().any(|&v| f.ty(v).is_array());
        if f.region(region).insts.is_empty() && !has_arrays {
            return self.flatten(&handed, &|_| true);
        }
        let shapes = self.shapes(&varying);
        let (go, merge) = (self.asm.block(&[])?, self.asm.block(&shapes)?);
        let skip = self.asm.block(&[])?;
        let any = self.asm.any(mask)?;
        self.asm.branch(any, go, skip, Odds::Even)?;
        self.asm.enter(go);
        self.region(region)?;
        self.copy_arrays(results, &data.results)?;
        let arguments = self.flatten(&handed, &|_| true)?;
        self.asm.jump(merge, &arguments)?;
        self.asm.enter(skip);
        let mut zeros = Vec::new();
        for shape in shapes {
            zeros.push(self.asm.zero(shape));
        }
        self.asm.jump(merge, &zeros)?;
        self.asm.enter(merge);
        Ok(self.asm.params(merge))
    }

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
        self.asm.branch(test, go, leave, Odds::Round)?;

        self.asm.enter(go);
        self.copy_arrays(handed, &body.params)?;
        self.rename(handed, &body.params)?;
        self.region(body_region)?;
        let arguments = self.hand_over(&body.results, &condition.params)?;
        self.asm.jump(head, &arguments)?;

        self.asm.enter(leave);
        self.copy_arrays(handed, &data.results)?;
        self.rename(handed, &data.results)
    }

    /// Until no lane goes on. What a lane hands out is kept from the round in which it leaves; what becomes of the
    /// values that it would have carried on does not matter.
    fn masked_loop(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let Some(mask) = self.mask else { return unexpected() };
        let carried = self.shapes(&condition.params);
        let (head, go, leave) = self.loop_of_lanes(&carried, data)?;
        let mut arguments = self.hand_over(&data.args, &condition.params)?;
        arguments.extend(self.none_has_left(mask, data)?);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(head);
        let params = self.asm.params(head);
        let (inner, rest) = params.split_at(carried.len());
        let Some((&active, kept)) = rest.split_first() else { return unexpected() };
        self.unflatten(&condition.params, inner)?;
        let Tested { staying, out, .. } = self.tested(data, active, kept)?;
        let any = self.asm.any(staying)?;
        self.asm.branch(any, go, leave, Odds::Round)?;

        self.asm.enter(go);
        let mut arguments = self.body_of_loop(data, staying, |e| e.hand_over(&body.results, &condition.params))?;
        arguments.push(staying);
        arguments.extend(&out);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(leave);
        self.unflatten(&data.results, &out)
    }

    /// From the most rounds that any lane has left down to none. A lane begins when as few are left as it has; until then
    /// what it carries stays as it is.
    fn falling_loop(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let Some(mask) = self.mask else { return unexpected() };
        let start = self.get(data.args[0])?;
        let most = self.most(start, mask)?;
        let carried = [&[Shape::INT], &self.shapes(&condition.params[1..])[..]].concat();
        let (head, go, leave) = self.loop_of_lanes(&carried, data)?;
        let mut arguments = vec![most];
        arguments.extend(self.hand_over(&data.args[1..], &condition.params[1..])?);
        arguments.extend(self.none_has_left(mask, data)?);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(head);
        let params = self.asm.params(head);
        let (before, rest) = params.split_at(carried.len());
        let Some((&left, kept)) = rest.split_first() else { return unexpected() };
        self.set(condition.params[0], before[0]);
        self.unflatten(&condition.params[1..], &before[1..])?;
        let round = self.asm.splat(Kind::Int, before[0])?;
        let begun = self.asm.compare_ints(Compare::Ge, start, round)?;
        let active = self.asm.logic(Logic::And, left, begun)?;
        let Tested { staying, leaving, out } = self.tested(data, active, kept)?;
        let left = self.asm.logic(Logic::AndNot, left, leaving)?;
        let any = self.asm.any(left)?;
        self.asm.branch(any, go, leave, Odds::Round)?;

        self.asm.enter(go);
        let next = self.body_of_loop(data, staying, |e| e.hand_over(&body.results[1..], &condition.params[1..]))?;
        let mut arguments = vec![self.get(body.results[0])?];
        for (&new, &old) in next.iter().zip(&before[1..]) {
            arguments.push(self.asm.select(staying, new, old)?);
        }
        arguments.push(left);
        arguments.extend(&out);
        self.asm.jump(head, &arguments)?;

        self.asm.enter(leave);
        self.unflatten(&data.results, &out)
    }

    /// The head of a loop that lanes leave one after the other, where its rounds go on, and where it is over. The head
    /// takes what is carried, the lanes that are inside, and what those handed out that have left.
    fn loop_of_lanes(&mut self, carried: &[Shape], data: &InstData) -> Made<(A::Block, A::Block, A::Block)> {
        let head = self.asm.block(&[carried, &[Shape::MASK], &self.shapes(&data.results)].concat())?;
        Ok((head, self.asm.block(&[])?, self.asm.block(&[])?))
    }

    /// What the head takes behind what is carried, at first.
    fn none_has_left(&mut self, mask: A::Value, data: &InstData) -> Made<Vec<A::Value>> {
        let zeros = self.shapes(&data.results).into_iter().map(|shape| self.asm.zero(shape));
        Ok(std::iter::once(mask).chain(zeros).collect())
    }

    /// The lanes that are active test whether they go another round; of those that leave, what they hand out is kept.
    fn tested(&mut self, data: &InstData, active: A::Value, kept: &[A::Value]) -> Made<Tested<A::Value>> {
        let condition = self.f.region(data.regions[0]);
        self.narrowed(Some(active), |e| e.region(data.regions[0]))?;
        let handed = &condition.results[1..];
        let test = self.in_shape(condition.results[0], true)?;
        let leaving = self.asm.logic(Logic::AndNot, active, test)?;
        let staying = self.asm.logic(Logic::And, active, test)?;
        let mut out = Vec::new();
        for (new, &old) in self.flatten(handed, &|_| true)?.into_iter().zip(kept) {
            out.push(self.asm.select(leaving, new, old)?);
        }
        self.narrowed(Some(leaving), |e| e.copy_arrays(handed, &data.results))?;
        Ok(Tested { staying, leaving, out })
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

    pub fn call(&mut self, inst: Inst, data: &InstData, callee: FuncId) -> Made {
        let made_once = self.version == Version::Lane || self.plan.is_made_once(inst);
        let version = if made_once { Version::Lane } else { Version::Wide };
        let unit = self.unit;
        let (g, plan) = (unit.module.function(callee), unit.plan.of(callee, version));
        let mut arguments = Vec::new();
        if unit.reads_block[callee.index()] {
            let block = self.block()?;
            arguments.extend([block.context, block.lane]);
        }
        if plan.takes_mask {
            arguments.push(self.mask.map_or_else(unexpected, Ok)?);
        }
        for (&a, &p) in data.args.iter().zip(g.params()) {
            match self.storage.slot(a) {
                Some(slot) => arguments.push(self.address(slot)?),
                None => arguments.extend(self.flatten(&[a], &|_| plan.is_wide(p))?),
            }
        }
        for slot in data.results.iter().filter_map(|&r| self.storage.slot(r)) {
            arguments.push(self.address(slot)?);
        }
        let returned = self.asm.call((callee, version), &arguments)?;
        // A result may be wider for this caller than the callee gives it.
        let mut machine = returned.into_iter();
        for (&r, &given) in data.results.iter().zip(&g.region(g.body).results) {
            if self.is_array(r) {
                continue;
            }
            let widen = self.plan.is_wide(r) && !plan.is_wide(given);
            let kind = self.kind(r);
            let mut next = |e: &mut Self| -> Made<A::Value> {
                let value = machine.next().map_or_else(unexpected, Ok)?;
                if widen { e.asm.splat(kind, value) } else { Ok(value) }
            };
            let value = next(self)?;
            self.set(r, value);
            if self.f.ty(r) == crate::ir::Ty::Token {
                for what in unit.beside.iter() {
                    let carried = next(self)?;
                    self.set_beside(r, *what, carried);
                }
            }
        }
        Ok(())
    }

    pub fn token_op(&mut self, data: &InstData) -> Made {
        let (token, result) = (data.args[0], data.results[0]);
        let (mut fuel, mut depth) = (self.get(token)?, self.beside(token, Beside::Depth));
        let wide = self.plan.is_wide(token);
        match data.op {
            Op::Leave => depth = self.deeper(depth, wide, -1)?,
            // Only the interpreter listens.
            Op::Probe(_) => {}
            Op::Burn(cost) => fuel = self.burn(fuel, wide, cost)?,
            _ => {
                fuel = self.burn(fuel, wide, 1)?;
                depth = self.deeper(depth, wide, 1)?;
                if let Some(d) = depth {
                    let (f, d) = self.bound_depth(fuel, d, wide)?;
                    (fuel, depth) = (f, Some(d));
                }
            }
        }
        self.set(result, fuel);
        self.pass_beside(token, result);
        if let Some(depth) = depth {
            self.set_beside(result, Beside::Depth, depth);
        }
        if let Some(&alive) = data.results.get(1) {
            let none = self.number(0, wide)?;
            let value = self.asm.compare_ints(Compare::Ne, fuel, none)?;
            self.set(alive, value);
        }
        Ok(())
    }

    /// Takes fuel for the rounds of a loop before the first.
    pub fn prepay(&mut self, data: &InstData, cost: u32) -> Made {
        let &[token, rounds] = data.args.as_slice() else { return unexpected() };
        let &[left, granted] = data.results.as_slice() else { return unexpected() };
        let wide = self.plan.is_wide(left);
        let (fuel, rounds) = (self.in_shape(token, wide)?, self.in_shape(rounds, wide)?);
        // See `Token::prepay`.
        let (most, price) = (self.number((u32::MAX / cost.max(1)) as i32, wide)?, self.number(cost as i32, wide)?);
        let paid = self.asm.unsigned_min(rounds, most)?;
        let cost = self.arithmetic(Int2::Mul, paid, price)?;
        let taken = self.asm.unsigned_min(fuel, cost)?;
        let fuel = self.arithmetic(Int2::Sub, fuel, taken)?;
        let none = self.number(0, wide)?;
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        let rounds = self.asm.select(alive, rounds, none)?;
        self.set(left, fuel);
        self.set(granted, rounds);
        for what in self.unit.beside.iter() {
            if let Some(carried) = self.carried(token, *what, wide)? {
                self.set_beside(left, *what, carried);
            }
        }
        Ok(())
    }

    pub fn number(&mut self, x: i32, wide: bool) -> Made<A::Value> {
        let x = self.asm.constant(Const::Int(x));
        if wide { self.asm.splat(Kind::Int, x) } else { Ok(x) }
    }

    /// Takes fuel, down to none.
    fn burn(&mut self, fuel: A::Value, wide: bool, cost: u32) -> Made<A::Value> {
        let cost = self.number(cost as i32, wide)?;
        let taken = self.asm.unsigned_min(fuel, cost)?;
        self.arithmetic(Int2::Sub, fuel, taken)
    }

    pub fn arithmetic(&mut self, op: Int2, a: A::Value, b: A::Value) -> Made<A::Value> {
        self.asm.int2(op, a, b)?.map_or_else(unexpected, Ok)
    }

    fn deeper(&mut self, depth: Option<A::Value>, wide: bool, by: i32) -> Made<Option<A::Value>> {
        let Some(depth) = depth else { return Ok(None) };
        let by = self.number(by, wide)?;
        self.arithmetic(Int2::Add, depth, by).map(Some)
    }

    /// Too deep a call takes all fuel, so that the lane ends.
    fn bound_depth(&mut self, fuel: A::Value, depth: A::Value, wide: bool) -> Made<(A::Value, A::Value)> {
        let levels = self.number(!TOO_DEEP as i32, wide)?;
        let open = self.arithmetic(Int2::And, depth, levels)?;
        let limit = self.number(MAX_RECURSION as i32, wide)?;
        let too_deep = self.asm.below(limit, open)?;
        let flag = self.number(TOO_DEEP as i32, wide)?;
        let ended = self.arithmetic(Int2::Or, depth, flag)?;
        let none = self.number(0, wide)?;
        Ok((self.asm.select(too_deep, none, fuel)?, self.asm.select(too_deep, ended, depth)?))
    }
}
