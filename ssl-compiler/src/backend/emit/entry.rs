//! The function that the host calls: the entry's body in a loop over the lanes of the block, one by one or in groups.

use super::function::Emitter;
use super::{Assembler, Beside, Kind, Made, Odds, Shape, Stability, Target, unexpected};
use crate::backend::plan::Version;
use crate::ir::{Compare, Int1, Int2};
use crate::runtime::block::TapeState;
use crate::runtime::{BlockContext, LANES};
use std::mem::offset_of;

impl<A: Assembler> Emitter<'_, A> {
    /// The block function.
    pub fn entry(mut self) -> Made {
        let Some(&context) = self.asm.arguments().first() else { return unexpected() };
        self.is_entry = true;
        self.make_slots()?;
        let mask = self.asm.load(Shape::INT, context, offset_of!(BlockContext, mask), Stability::Invariant)?;
        let fuel = self.asm.load(Shape::INT, context, offset_of!(BlockContext, fuel), Stability::Invariant)?;
        let rows = Target { bytes: 64 * (self.f.results.len() - 1), is_row: true };
        let outputs = self.asm.pointer(context, offset_of!(BlockContext, outputs), rows)?;
        let Some(&token) = self.f.params().first() else { return unexpected() };
        self.set(token, fuel);
        for what in self.unit.beside.iter() {
            let none = self.int(0);
            self.set_beside(token, *what, none);
        }
        match self.version {
            Version::Lane => self.each_lane(context, outputs, mask),
            Version::Wide => self.each_group(context, outputs, mask),
        }
    }

    /// For each lane of the mask, the shader.
    fn each_lane(&mut self, context: A::Value, outputs: A::Value, mask: A::Value) -> Made {
        let head = self.asm.block(&[Shape::INT])?;
        let (body, done) = (self.asm.block(&[])?, self.asm.block(&[])?);
        self.asm.jump(head, &[mask])?;
        self.asm.enter(head);
        let left = self.asm.params(head)[0];
        let zero = self.int(0);
        let any = self.asm.compare_ints(Compare::Ne, left, zero)?;
        self.asm.branch(any, body, done, Odds::Even)?;

        self.asm.enter(body);
        let lane = self.asm.int1(Int1::Ctz, left)?.map_or_else(unexpected, Ok)?;
        self.run_lanes(context, outputs, lane)?;
        let one = self.int(1);
        let less = self.asm.int2(Int2::Sub, left, one)?.map_or_else(unexpected, Ok)?;
        let next = self.asm.int2(Int2::And, left, less)?.map_or_else(unexpected, Ok)?;
        self.asm.jump(head, &[next])?;

        self.asm.enter(done);
        self.asm.give_back(&[])
    }

    /// For each group of lanes of which any is in the mask, the shader.
    fn each_group(&mut self, context: A::Value, outputs: A::Value, mask: A::Value) -> Made {
        let lanes = self.asm.lanes();
        let head = self.asm.block(&[Shape::INT, Shape::INT])?;
        let (body, done) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let [test, next] = [self.asm.block(&[])?, self.asm.block(&[])?];
        let zero = self.int(0);
        self.asm.jump(head, &[mask, zero])?;
        self.asm.enter(head);
        let [left, first] = [0, 1].map(|i| self.asm.params(head)[i]);
        let any = self.asm.compare_ints(Compare::Ne, left, zero)?;
        self.asm.branch(any, test, done, Odds::Even)?;

        self.asm.enter(test);
        let all = self.int(((1u64 << lanes) - 1) as i32);
        let own = self.asm.int2(Int2::And, left, all)?.map_or_else(unexpected, Ok)?;
        let zero = self.int(0);
        let some = self.asm.compare_ints(Compare::Ne, own, zero)?;
        self.asm.branch(some, body, next, Odds::First)?;

        self.asm.enter(body);
        self.mask = Some(self.asm.mask(own)?);
        self.run_lanes(context, outputs, first)?;
        self.asm.jump(next, &[])?;

        self.asm.enter(next);
        let (n, zero) = (self.int(lanes as i32), self.int(0));
        let rest = if (lanes as usize) < LANES { self.asm.int2(Int2::Ushr, left, n)? } else { Some(zero) };
        let first = self.asm.int2(Int2::Add, first, n)?;
        let (Some(rest), Some(first)) = (rest, first) else { return unexpected() };
        self.asm.jump(head, &[rest, first])?;

        self.asm.enter(done);
        self.asm.give_back(&[])
    }

    /// The shader, for the lane or the lanes from `lane` on.
    fn run_lanes(&mut self, context: A::Value, outputs: A::Value, lane: A::Value) -> Made {
        self.block = Some(self.pointers(context, lane)?);
        self.region(self.f.body)?;
        let results = &self.f.region(self.f.body).results;
        let Some((&token, values)) = results.split_first() else { return unexpected() };
        let wide = self.version == Version::Wide;
        let control = self.asm.element(context, lane, 4)?;
        let fuel = self.in_shape(token, wide)?;
        self.asm.store(fuel, control, offset_of!(BlockContext, left))?;
        if let Some(depth) = self.carried(token, Beside::Depth, wide)? {
            self.asm.store(depth, control, offset_of!(BlockContext, depth))?;
        }
        if let Some(rows) = self.rows_on_all(token, wide)? {
            let state = self.tape_state()?;
            let own = self.asm.element(state, lane, 4)?;
            self.asm.store(rows, own, offset_of!(TapeState, left))?;
        }
        let outputs = self.asm.element(outputs, lane, 4)?;
        for (row, &v) in values.iter().enumerate() {
            let word = self.in_memory(v, wide)?;
            let word = match self.mask {
                Some(mask) => {
                    let kind = if self.kind(v) == Kind::Float { Kind::Float } else { Kind::Int };
                    let old = self.asm.load(Shape::new(kind, true), outputs, 64 * row, Stability::Changing)?;
                    self.asm.select(mask, word, old)?
                }
                None => word,
            };
            self.asm.store(word, outputs, 64 * row)?;
        }
        Ok(())
    }
}
