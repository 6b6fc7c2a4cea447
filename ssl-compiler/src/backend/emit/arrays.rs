//! Arrays in memory: filling, copying, reading and writing elements. A wide array holds a row of lanes for each
//! element; under a mask only the rows' own lanes are written, so that each lane sees the memory of its own path.

use super::function::{Emitter, Place};
use super::{Assembler, Conversion, Kind, Logic, Made, Odds, Shape, Stability, unexpected};
use crate::ir::{Compare, Const, InstData, Int1, Int2, Op, Value};
use crate::runtime::BlockContext;
use std::mem::offset_of;

/// Elements up to which a loop over them is written out.
const MAX_UNROLLED: u32 = 8;

impl<A: Assembler> Emitter<'_, A> {
    pub fn address(&mut self, slot: u32) -> Made<A::Value> {
        match self.places[slot as usize] {
            Some(Place::Own(slot)) => self.asm.address(slot),
            Some(Place::Given(pointer)) => Ok(pointer),
            None => unexpected(),
        }
    }

    pub fn slot_of(&self, v: Value) -> Made<u32> {
        self.storage.slot(v).map_or_else(unexpected, Ok)
    }

    /// Bytes from one element of a slot to the next.
    pub fn stride(&self, slot: u32) -> u32 {
        if self.plan.slot_is_wide(slot) { 4 * self.asm.lanes() } else { 4 }
    }

    /// What the elements of a slot are in memory.
    pub fn word(&self, slot: u32) -> Shape {
        let is_float = self.storage.list[slot as usize].scalar == crate::types::Scalar::Float;
        Shape::new(if is_float { Kind::Float } else { Kind::Int }, self.plan.slot_is_wide(slot))
    }

    pub fn copy_slot(&mut self, from: u32, to: u32) -> Made {
        if from == to {
            return Ok(());
        }
        let (wide_source, wide_target) = (self.plan.slot_is_wide(from), self.plan.slot_is_wide(to));
        if wide_source == wide_target {
            let target = self.address(to)?;
            return self.copy_to(from, target, self.diverged && wide_target);
        }
        // One copy for all lanes becomes one a lane.
        let (source, target) = (self.address(from)?, self.address(to)?);
        let (word, masked) = (self.word(from), self.diverged);
        self.each_element(self.storage.list[to as usize].length, |e, i| {
            let from = e.asm.element(source, i, 4)?;
            let value = e.asm.load(word, from, 0, Stability::Changing)?;
            let value = e.asm.splat(word.kind, value)?;
            let to = e.asm.element(target, i, 4 * e.asm.lanes())?;
            e.write(value, to, word.kind, masked)
        })
    }

    /// Copies a slot to memory of the same kind; under a mask, the lanes that are meant.
    pub fn copy_to(&mut self, from: u32, target: A::Value, masked: bool) -> Made {
        let (source, bytes, wide) = (self.address(from)?, self.stride(from), self.plan.slot_is_wide(from));
        let length = self.storage.list[from as usize].length;
        if !(masked && wide) {
            return self.asm.copy(target, source, bytes * length);
        }
        let word = self.word(from);
        self.each_element(length, |e, i| {
            let from = e.asm.element(source, i, bytes)?;
            let value = e.asm.load(word, from, 0, Stability::Changing)?;
            let to = e.asm.element(target, i, bytes)?;
            e.write(value, to, word.kind, true)
        })
    }

    fn write(&mut self, value: A::Value, to: A::Value, kind: Kind, masked: bool) -> Made {
        self.write_at(value, (to, 0), kind, masked)
    }

    /// Writes a wide word, or the lanes of it that are meant, so many bytes behind an address.
    pub fn write_at(&mut self, value: A::Value, (to, offset): (A::Value, usize), kind: Kind, masked: bool) -> Made {
        let value = match self.mask {
            Some(mask) if masked => {
                let old = self.asm.load(Shape::new(kind, true), to, offset, Stability::Changing)?;
                self.asm.select(mask, value, old)?
            }
            _ => value,
        };
        self.asm.store(value, to, offset)
    }

    /// Does something for the number of every element.
    pub fn each_element(&mut self, length: u32, mut work: impl FnMut(&mut Self, A::Value) -> Made) -> Made {
        if length <= MAX_UNROLLED {
            return (0..length).try_for_each(|i| {
                let i = self.int(i as i32);
                work(self, i)
            });
        }
        let (head, done) = (self.asm.block(&[Shape::INT])?, self.asm.block(&[])?);
        let again = self.asm.block(&[])?;
        let first = self.int(0);
        self.asm.jump(head, &[first])?;
        self.asm.enter(head);
        let i = self.asm.params(head)[0];
        work(self, i)?;
        let (one, end) = (self.int(1), self.int(length as i32));
        let next = self.asm.int2(Int2::Add, i, one)?.map_or_else(unexpected, Ok)?;
        let more = self.asm.compare_ints(Compare::Ne, next, end)?;
        self.asm.branch(more, again, done, Odds::Round)?;
        self.asm.enter(again);
        self.asm.jump(head, &[next])?;
        self.asm.enter(done);
        Ok(())
    }

    pub fn array(&mut self, data: &InstData) -> Made {
        match data.op {
            Op::ArrayNew => {
                let slot = self.slot_of(data.results[0])?;
                let (base, word, stride) = (self.address(slot)?, self.word(slot), self.stride(slot));
                for (i, &v) in data.args.iter().enumerate() {
                    let value = self.in_memory(v, word.wide)?;
                    let i = self.int(i as i32);
                    let to = self.asm.element(base, i, stride)?;
                    self.write(value, to, word.kind, word.wide && self.diverged)?;
                }
                Ok(())
            }
            Op::ArrayFill => self.fill(self.slot_of(data.results[0])?, data.args[0]),
            Op::ArrayGet => self.read(data),
            _ => {
                let (old, new) = (self.slot_of(data.args[0])?, self.slot_of(data.results[0])?);
                self.copy_slot(old, new)?;
                self.update(new, data.args[1], data.args[2])
            }
        }
    }

    fn fill(&mut self, slot: u32, v: Value) -> Made {
        let (word, stride, base) = (self.word(slot), self.stride(slot), self.address(slot)?);
        let length = self.storage.list[slot as usize].length;
        let masked = word.wide && self.diverged;
        if length > MAX_UNROLLED && !self.plan.is_wide(v) && !masked {
            let value = self.in_memory(v, false)?;
            let bits = if word.kind == Kind::Float { self.asm.convert(Conversion::FloatBits, value)? } else { value };
            return self.asm.fill(base, bits, length * stride / 4);
        }
        let value = self.in_memory(v, word.wide)?;
        self.each_element(length, |e, i| {
            let to = e.asm.element(base, i, stride)?;
            e.write(value, to, word.kind, masked)
        })
    }

    fn read(&mut self, data: &InstData) -> Made {
        let (array, index, result) = (data.args[0], data.args[1], data.results[0]);
        let slot = self.slot_of(array)?;
        let (word, base) = (self.word(slot), self.address(slot)?);
        let i = self.clamped(index, self.storage.list[slot as usize].length)?;
        let value = if self.plan.is_wide(index) {
            let i = if word.wide { self.own_word(i)? } else { i };
            self.asm.gather(word.kind, base, i)?
        } else {
            let stride = self.stride(slot);
            let from = self.asm.element(base, i, stride)?;
            self.asm.load(word, from, 0, Stability::Changing)?
        };
        let is_bool = self.kind(result) == Kind::Bool;
        let value = if is_bool { self.asm.convert(Conversion::IntToBool, value)? } else { value };
        self.set(result, value);
        Ok(())
    }

    /// The word of each lane in the row of its element.
    fn own_word(&mut self, index: A::Value) -> Made<A::Value> {
        self.own_word_of(index, self.asm.lanes())
    }

    /// The same in rows of so many words, of which the lanes have the first ones.
    pub fn own_word_of(&mut self, index: A::Value, words: u32) -> Made<A::Value> {
        let lanes = self.asm.lanes();
        let shift = self.int(words.trailing_zeros() as i32);
        let row = self.asm.shift(Int2::Shl, index, shift)?.map_or_else(unexpected, Ok)?;
        let mut own = self.asm.zero(Shape::new(Kind::Int, true));
        for lane in 1..lanes {
            let number = self.int(lane as i32);
            own = self.asm.insert(Kind::Int, own, lane, number)?;
        }
        self.asm.int2(Int2::Add, row, own)?.map_or_else(unexpected, Ok)
    }

    fn update(&mut self, slot: u32, index: Value, v: Value) -> Made {
        let (word, base) = (self.word(slot), self.address(slot)?);
        let i = self.clamped(index, self.storage.list[slot as usize].length)?;
        let value = self.in_memory(v, word.wide)?;
        if self.plan.is_wide(index) {
            let (own, Some(mask)) = (self.own_word(i)?, self.mask) else { return unexpected() };
            return self.asm.scatter(value, base, own, mask);
        }
        let stride = self.stride(slot);
        let to = self.asm.element(base, i, stride)?;
        self.write(value, to, word.kind, word.wide && self.diverged)
    }

    /// An index inside the array; one that had to be clamped is counted, off the fast path.
    pub fn clamped(&mut self, index: Value, length: u32) -> Made<A::Value> {
        let i = self.get(index)?;
        if self.constant(index).is_some_and(|c| matches!(c, Const::Int(c) if c >= 0 && (c as u32) < length)) {
            return Ok(i);
        }
        let (end, last) = (self.int(length as i32), self.int(length as i32 - 1));
        self.clamped_before(index, end, last)
    }

    /// The same for an end that only the host knows, and the index before it.
    pub fn clamped_before(&mut self, index: Value, end: A::Value, last: A::Value) -> Made<A::Value> {
        let (i, wide) = (self.get(index)?, self.plan.is_wide(index));
        let widen = |e: &mut Self, x: A::Value| if wide { e.asm.splat(Kind::Int, x) } else { Ok(x) };
        let zero = self.int(0);
        let (end, last, zero) = (widen(self, end)?, widen(self, last)?, widen(self, zero)?);
        let inside = self.asm.below(i, end)?;
        let clamp = move |e: &mut Self| {
            let negative = e.asm.compare_ints(Compare::Lt, i, zero)?;
            e.asm.select(negative, zero, last)
        };
        self.unless(inside, i, (Kind::Int, wide), offset_of!(BlockContext, clamped_indices), clamp)
    }

    /// `value` where `fine` holds; otherwise counts and takes what `mend` gives.
    pub fn unless(
        &mut self,
        fine: A::Value,
        value: A::Value,
        (kind, wide): (Kind, bool),
        counter: usize,
        mend: impl FnOnce(&mut Self) -> Made<A::Value>,
    ) -> Made<A::Value> {
        let bad = self.asm.block(&[])?;
        if wide {
            let faulty = match self.mask {
                Some(mask) => self.asm.logic(Logic::AndNot, mask, fine)?,
                None => return unexpected(),
            };
            let done = self.asm.block(&[])?;
            let any = self.asm.any(faulty)?;
            let none = self.asm.not(any)?;
            self.asm.branch(none, done, bad, Odds::First)?;
            self.asm.enter(bad);
            self.count(Some(faulty), counter)?;
            self.asm.jump(done, &[])?;
            self.asm.enter(done);
            // Lanes that are not meant are mended too: they read memory like the others.
            let mended = mend(self)?;
            return self.asm.select(fine, value, mended);
        }
        let (good, merge) = (self.asm.block(&[])?, self.asm.block(&[Shape::new(kind, false)])?);
        self.asm.branch(fine, good, bad, Odds::First)?;
        self.asm.enter(bad);
        self.count(self.mask, counter)?;
        let mended = mend(self)?;
        self.asm.jump(merge, &[mended])?;
        self.asm.enter(good);
        self.asm.jump(merge, &[value])?;
        self.asm.enter(merge);
        Ok(self.asm.params(merge)[0])
    }

    /// Adds the number of lanes to one of the context's counters.
    pub fn count(&mut self, lanes: Option<A::Value>, counter: usize) -> Made {
        let more = self.number_of(lanes)?;
        self.count_up(more, counter)
    }

    /// How many lanes there are in a mask; one in scalar code.
    pub(super) fn number_of(&mut self, lanes: Option<A::Value>) -> Made<A::Value> {
        let Some(lanes) = lanes else { return Ok(self.int(1)) };
        let bits = self.asm.bits(lanes)?;
        self.asm.int1(Int1::Popcount, bits)?.map_or_else(unexpected, Ok)
    }

    pub(super) fn count_up(&mut self, more: A::Value, counter: usize) -> Made {
        let context = self.block()?.context;
        let count = self.asm.load(Shape::INT, context, counter, Stability::Changing)?;
        let count = self.asm.int2(Int2::Add, count, more)?.map_or_else(unexpected, Ok)?;
        self.asm.store(count, context, counter)
    }
}
