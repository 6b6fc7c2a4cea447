//! `if`, `loop`, and the operations on tokens.

use super::function::Translator;
use crate::ir::{InstData, Op, Value};
use crate::runtime::block::{DEPTH_UNIT, FUEL_MASK, MAX_RECURSION, TOO_DEEP};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as cl, InstBuilder, types};

impl Translator<'_> {
    fn block_with(&mut self, values: &[Value]) -> cl::Block {
        let block = self.b.create_block();
        for ty in self.native_types(values) {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// What a jump hands over: scalars as arguments, arrays by copying where the slots differ.
    fn hand_over(&mut self, from: &[Value], to: &[Value]) -> Vec<cl::BlockArg> {
        let mut arguments = Vec::new();
        for (&source, &target) in from.iter().zip(to) {
            match (self.storage.slot(source), self.storage.slot(target)) {
                (Some(s), Some(t)) => self.copy_slot(s, t),
                _ => arguments.push(self.get(source).into()),
            }
        }
        arguments
    }

    fn take_params(&mut self, block: cl::Block, values: &[Value]) {
        let mut params = self.b.block_params(block).to_vec().into_iter();
        for &v in values {
            if self.storage.slot(v).is_none()
                && let Some(p) = params.next()
            {
                self.set(v, p);
            }
        }
    }

    pub(super) fn if_inst(&mut self, data: &InstData) {
        let f = self.f;
        let (then, otherwise) = (self.b.create_block(), self.b.create_block());
        let merge = self.block_with(&data.results);
        let condition = self.get(data.args[0]);
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
        for (block, &region) in [then, otherwise].into_iter().zip(&data.regions) {
            self.b.switch_to_block(block);
            self.region(region);
            let arguments = self.hand_over(&f.region(region).results, &data.results);
            self.b.ins().jump(merge, &arguments);
        }
        self.b.switch_to_block(merge);
        self.take_params(merge, &data.results);
    }

    pub(super) fn loop_inst(&mut self, data: &InstData) {
        let f = self.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let head = self.block_with(&condition.params);
        let (round, leave) = (self.block_with(&body.params), self.block_with(&data.results));
        let arguments = self.hand_over(&data.args, &condition.params);
        self.b.ins().jump(head, &arguments);

        self.b.switch_to_block(head);
        self.take_params(head, &condition.params);
        self.region(data.regions[0]);
        let test = self.get(condition.results[0]);
        // Arrays need copies on the way, so the two edges get blocks of their own.
        let (go, stop) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(test, go, &[], stop, &[]);
        for (block, target, values) in [(go, round, &body.params[..]), (stop, leave, &data.results[..])] {
            self.b.switch_to_block(block);
            let arguments = self.hand_over(&condition.results[1..], values);
            self.b.ins().jump(target, &arguments);
        }

        self.b.switch_to_block(round);
        self.take_params(round, &body.params);
        self.region(data.regions[1]);
        let arguments = self.hand_over(&body.results, &condition.params);
        self.b.ins().jump(head, &arguments);

        self.b.switch_to_block(leave);
        self.take_params(leave, &data.results);
    }

    pub(super) fn token_op(&mut self, data: &InstData) {
        let token = self.get(data.args[0]);
        let new = match data.op {
            Op::Leave => self.b.ins().iadd_imm_s(token, (DEPTH_UNIT as i64).wrapping_neg()),
            // Only the interpreter listens.
            Op::Probe(_) => token,
            Op::Burn(cost) => self.burn(token, cost),
            _ => {
                let token = self.burn(token, 1);
                self.enter(token)
            }
        };
        self.set(data.results[0], new);
        if let Some(&alive) = data.results.get(1) {
            let fuel = self.b.ins().ireduce(types::I32, new);
            let value = self.b.ins().icmp_imm_s(IntCC::NotEqual, fuel, 0);
            self.set(alive, value);
        }
    }

    fn burn(&mut self, token: cl::Value, cost: u32) -> cl::Value {
        let fuel = self.b.ins().ireduce(types::I32, token);
        let cost = self.b.ins().iconst(types::I32, i64::from(cost));
        let taken = self.b.ins().umin(fuel, cost);
        let taken = self.b.ins().uextend(types::I64, taken);
        self.b.ins().isub(token, taken)
    }

    fn enter(&mut self, token: cl::Value) -> cl::Value {
        let deeper = self.b.ins().iadd_imm_s(token, DEPTH_UNIT as i64);
        let depth = self.b.ins().band_imm_s(deeper, !TOO_DEEP as i64);
        let depth = self.b.ins().ushr_imm_s(depth, 32);
        let too_deep = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, depth, i64::from(MAX_RECURSION));
        let ended = self.b.ins().band_imm_s(deeper, !FUEL_MASK as i64);
        let flag = self.b.ins().iconst(types::I64, TOO_DEEP as i64);
        let ended = self.b.ins().bor(ended, flag);
        self.b.ins().select(too_deep, ended, deeper)
    }
}
