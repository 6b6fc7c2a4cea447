//! `if` and calls: as branches where all lanes agree, else under masks.

use super::function::Emitter;
use super::{Assembler, Kind, Logic, Made, Odds, unexpected};
use crate::backend::plan::{Treatment, Version};
use crate::ir::{Const, FuncId, Inst, InstData, Int2, Region, Value};

impl<A: Assembler> Emitter<'_, A> {
    /// Copies the arrays that lie elsewhere on the other side of a jump.
    pub(super) fn copy_arrays(&mut self, from: &[Value], to: &[Value]) -> Made {
        for (&source, &target) in from.iter().zip(to).filter(|(v, _)| self.f.ty(**v).is_array()) {
            let (Some(source), Some(target)) = (self.storage.slot(source), self.storage.slot(target)) else {
                return unexpected();
            };
            self.copy_slot(source, target)?;
        }
        Ok(())
    }

    /// What a jump hands over, as wide as those who take it; arrays by copying where the slots differ.
    pub(super) fn hand_over(&mut self, from: &[Value], to: &[Value]) -> Made<Vec<A::Value>> {
        self.copy_arrays(from, to)?;
        let plan = self.plan;
        self.flatten(from, &|i| plan.is_wide(to[i]))
    }

    /// Values under other names, as wide as those.
    pub(super) fn rename(&mut self, from: &[Value], to: &[Value]) -> Made {
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
        let mut params = self.asm.params(merge);
        for x in &mut params {
            *x = self.asm.join(*x)?;
        }
        for (i, &r) in data.results.iter().enumerate() {
            let sides = data.regions.iter().map(|&region| f.region(region).results[i]);
            if sides.clone().all(|v| self.fuelled.contains(v)) {
                sides.for_each(|v| self.fuelled.follow(r, v));
            }
        }
        self.unflatten(&data.results, &params)
    }

    /// Runs `work` under the mask of the lanes for which `condition` is as it should be.
    pub(super) fn narrowed<T>(&mut self, mask: Option<A::Value>, work: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
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

    pub fn number(&mut self, x: i32, wide: bool) -> Made<A::Value> {
        let x = self.asm.constant(Const::Int(x));
        if wide { self.asm.splat(Kind::Int, x) } else { Ok(x) }
    }

    pub fn arithmetic(&mut self, op: Int2, a: A::Value, b: A::Value) -> Made<A::Value> {
        self.asm.int2(op, a, b)?.map_or_else(unexpected, Ok)
    }
}
