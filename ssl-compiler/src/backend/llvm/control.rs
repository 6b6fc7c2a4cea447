//! `if`, `loop`, and the operations on tokens.

use super::function::{Made, Translator, unexpected};
use crate::ir::{InstData, Op, Value};
use crate::runtime::block::{DEPTH_UNIT, FUEL_MASK, MAX_RECURSION, TOO_DEEP};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, PhiValue};

/// What the predecessors of a block hand it, for each value that is no array.
type Phis<'ctx> = Vec<PhiValue<'ctx>>;

impl<'ctx> Translator<'_, 'ctx> {
    fn is_array(&self, v: Value) -> bool {
        self.f.ty(v).is_array()
    }

    /// Phis at the start of the current block, which give these values.
    fn take(&mut self, values: &[Value]) -> Made<Phis<'ctx>> {
        let mut phis = Vec::new();
        for &v in values.iter().filter(|v| !self.f.ty(**v).is_array()) {
            let phi = self.b.build_phi(self.unit.types.of(self.f.ty(v)), "")?;
            self.values[v.index()] = Some(phi.as_basic_value());
            phis.push(phi);
        }
        Ok(phis)
    }

    /// Copies the arrays that lie elsewhere on the other side of a jump.
    fn copy_arrays(&self, from: &[Value], to: &[Value]) -> Made {
        for (&source, &target) in from.iter().zip(to).filter(|(v, _)| self.is_array(**v)) {
            self.copy_slot(self.slot_of(source)?, self.slot_of(target)?)?;
        }
        Ok(())
    }

    /// Tells the phis what comes from a block.
    fn hand_over(&self, phis: &Phis<'ctx>, values: &[Value], from: BasicBlock<'ctx>) -> Made {
        for (phi, &v) in phis.iter().zip(values.iter().filter(|v| !self.is_array(**v))) {
            phi.add_incoming(&[(&self.get(v)?, from)]);
        }
        Ok(())
    }

    pub(super) fn if_inst(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let (then, otherwise, merge) = (self.new_block(), self.new_block(), self.new_block());
        self.b.build_conditional_branch(self.int(data.args[0])?, then, otherwise)?;
        let mut ends = Vec::new();
        for (block, &region) in [then, otherwise].into_iter().zip(&data.regions) {
            self.b.position_at_end(block);
            self.region(region)?;
            self.copy_arrays(&f.region(region).results, &data.results)?;
            ends.push((self.current()?, region));
            self.b.build_unconditional_branch(merge)?;
        }
        self.b.position_at_end(merge);
        let phis = self.take(&data.results)?;
        ends.into_iter().try_for_each(|(block, region)| self.hand_over(&phis, &f.region(region).results, block))
    }

    pub(super) fn loop_inst(&mut self, data: &InstData) -> Made {
        let f = self.f;
        let &[condition_region, body_region] = data.regions.as_slice() else { return unexpected() };
        let (condition, body) = (f.region(condition_region), f.region(body_region));
        let (head, go, leave) = (self.new_block(), self.new_block(), self.new_block());
        self.copy_arrays(&data.args, &condition.params)?;
        let before = self.current()?;
        self.b.build_unconditional_branch(head)?;

        self.b.position_at_end(head);
        let phis = self.take(&condition.params)?;
        self.hand_over(&phis, &data.args, before)?;
        self.region(condition_region)?;
        let (test, handed) = (self.int(condition.results[0])?, &condition.results[1..]);
        self.b.build_conditional_branch(test, go, leave)?;

        self.b.position_at_end(go);
        self.copy_arrays(handed, &body.params)?;
        self.rename(handed, &body.params)?;
        self.region(body_region)?;
        self.copy_arrays(&body.results, &condition.params)?;
        self.hand_over(&phis, &body.results, self.current()?)?;
        self.b.build_unconditional_branch(head)?;

        self.b.position_at_end(leave);
        self.copy_arrays(handed, &data.results)?;
        self.rename(handed, &data.results)
    }

    /// What a block with one predecessor gets from it goes by new names.
    fn rename(&mut self, from: &[Value], to: &[Value]) -> Made {
        for (&source, &target) in from.iter().zip(to).filter(|(v, _)| !self.f.ty(**v).is_array()) {
            let value = self.get(source)?;
            self.set(target, value);
        }
        Ok(())
    }

    pub(super) fn token_op(&mut self, data: &InstData) -> Made {
        let token = self.int(data.args[0])?;
        let new = match data.op {
            Op::Leave => self.b.build_int_sub(token, self.long(DEPTH_UNIT), "")?,
            // Only the interpreter listens.
            Op::Probe(_) => token,
            Op::Burn(cost) => self.burn(token, cost)?,
            _ => self.enter(self.burn(token, 1)?)?,
        };
        self.set(data.results[0], new);
        if let Some(&alive) = data.results.get(1) {
            let fuel = self.b.build_int_truncate(new, self.unit.types.int, "")?;
            let value = self.b.build_int_compare(IntPredicate::NE, fuel, self.word(0), "")?;
            self.set(alive, value);
        }
        Ok(())
    }

    fn burn(&self, token: IntValue<'ctx>, cost: u32) -> Made<IntValue<'ctx>> {
        let types = self.unit.types;
        let fuel = self.b.build_int_truncate(token, types.int, "")?;
        let least = self.unit.intrinsic("llvm.umin.i32", &[types.int.into()])?;
        let taken = self.call_direct(least, &[fuel.into(), self.word(cost).into()])?.into_int_value();
        let taken = self.b.build_int_z_extend(taken, types.long, "")?;
        Ok(self.b.build_int_sub(token, taken, "")?)
    }

    fn enter(&self, token: IntValue<'ctx>) -> Made<IntValue<'ctx>> {
        let deeper = self.b.build_int_add(token, self.long(DEPTH_UNIT), "")?;
        let depth = self.b.build_and(deeper, self.long(!TOO_DEEP), "")?;
        let depth = self.b.build_right_shift(depth, self.long(32), false, "")?;
        let limit = self.long(u64::from(MAX_RECURSION));
        let too_deep = self.b.build_int_compare(IntPredicate::UGT, depth, limit, "")?;
        let ended = self.b.build_and(deeper, self.long(!FUEL_MASK), "")?;
        let ended = self.b.build_or(ended, self.long(TOO_DEEP), "")?;
        Ok(self.b.build_select(too_deep, ended, deeper, "")?.into_int_value())
    }
}
