//! The tape: each lane has a column of the call's rows to itself, and its token says how many of them it uses.
//!
//! Lanes that use equally many rows write and read whole rows; otherwise each has a word of its own row. Where tokens
//! do not vary, that is known; else one test at run time decides it for all values of a push or a pop. Under a mask, only
//! the words of the lanes that are meant are written, as in arrays: another lane may have more on its tape.

use super::function::Emitter;
use super::{Assembler, Beside, Conversion, Kind, Logic, Made, Odds, Shape, Stability, Target, unexpected};
use crate::ir::{Compare, InstData, Int2, Ty, Value};
use crate::runtime::block::TAPE_FULL;
use crate::runtime::{BlockContext, LANES};
use std::mem::offset_of;

/// Bytes of a row.
const ROW: u32 = 4 * LANES as u32;

/// What happens to the lanes' rows.
#[derive(Clone, Copy)]
enum Rows<V> {
    /// From this address on there is a row for each word.
    Together(V),
    /// The first word of each lane among the words of the tape, and the lanes that have one; the others stand at words
    /// that can be read.
    Apart { tape: V, first: V, lanes: V },
}

impl<A: Assembler> Emitter<'_, A> {
    pub fn push(&mut self, data: &InstData) -> Made {
        let (token, values) = (data.args[0], &data.args[1..]);
        let (fuel, rows, wide) = (self.get(token)?, self.rows(token)?, self.plan.is_wide(token));
        let count = self.number(self.rows_of(values), wide)?;
        let next = self.arithmetic(Int2::Add, rows, count)?;
        let capacity = self.capacity(wide)?;
        let full = self.asm.below(capacity, next)?;
        let fits = self.asm.not(full)?;
        let (fuel, rows_left) = if wide {
            let left = self.ended(fuel, rows, true)?;
            self.store_apart(values, (rows, next), fits)?;
            let none = self.number(0, true)?;
            (self.asm.select(fits, fuel, none)?, self.asm.select(fits, next, left)?)
        } else {
            self.store_together(values, (fuel, rows, next), fits)?
        };
        self.set(data.results[0], fuel);
        self.pass_beside(token, data.results[0]);
        self.set_beside(data.results[0], Beside::Rows, rows_left);
        Ok(())
    }

    pub fn pop(&mut self, data: &InstData) -> Made {
        let (token, values) = (data.args[0], &data.results[1..]);
        let (fuel, rows, wide) = (self.get(token)?, self.rows(token)?, self.plan.is_wide(token));
        let count = self.number(self.rows_of(values), wide)?;
        let next = self.arithmetic(Int2::Sub, rows, count)?;
        let capacity = self.capacity(wide)?;
        // Too little wraps round, and a flag is above all capacities.
        let enough = self.asm.below(next, capacity)?;
        let none = self.number(0, wide)?;
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        let there = self.asm.logic(Logic::And, enough, alive)?;
        if wide {
            self.load_apart(values, next, there)?;
        } else {
            let (go, skip) = (self.asm.block(&[])?, self.asm.block(&[])?);
            self.asm.branch(there, go, skip, Odds::First)?;
            let merge = self.asm.block(&self.shapes_of_scalars(values))?;
            self.asm.enter(go);
            let first = self.row(next)?;
            self.load_from(values, Rows::Together(first), merge)?;
            self.asm.enter(skip);
            self.load_nothing(values, merge)?;
            self.take_scalars(values, merge)?;
        }
        self.set(data.results[0], fuel);
        self.pass_beside(token, data.results[0]);
        let rows_left = self.asm.select(there, next, rows)?;
        self.set_beside(data.results[0], Beside::Rows, rows_left);
        Ok(())
    }

    fn rows(&self, token: Value) -> Made<A::Value> {
        self.beside(token, Beside::Rows).map_or_else(unexpected, Ok)
    }

    fn rows_of(&self, values: &[Value]) -> i32 {
        values.iter().map(|&v| self.f.ty(v).rows()).sum::<u32>() as i32
    }

    fn capacity(&mut self, wide: bool) -> Made<A::Value> {
        let context = self.block()?.context;
        let rows = self.asm.load(Shape::INT, context, offset_of!(BlockContext, tape_rows), Stability::Invariant)?;
        if wide { self.asm.splat(Kind::Int, rows) } else { Ok(rows) }
    }

    /// The lanes' words of the first row.
    fn tape(&mut self) -> Made<A::Value> {
        let block = self.block()?;
        let target = Target { bytes: 0, is_row: true };
        let tape = self.asm.pointer(block.context, offset_of!(BlockContext, tape), target)?;
        self.asm.element(tape, block.lane, 4)
    }

    /// The lanes' words of a row.
    fn row(&mut self, number: A::Value) -> Made<A::Value> {
        let tape = self.tape()?;
        self.asm.element(tape, number, ROW)
    }

    /// The rows of lanes that a push ends: a flag says why, unless they had ended before.
    fn ended(&mut self, fuel: A::Value, rows: A::Value, wide: bool) -> Made<A::Value> {
        let none = self.number(0, wide)?;
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        let flag = self.number(TAPE_FULL as i32, wide)?;
        let flagged = self.arithmetic(Int2::Or, rows, flag)?;
        self.asm.select(alive, flagged, rows)
    }

    /// All lanes have as many rows. Gives the fuel and the rows that are left.
    fn store_together(
        &mut self,
        values: &[Value],
        (fuel, rows, next): (A::Value, A::Value, A::Value),
        fits: A::Value,
    ) -> Made<(A::Value, A::Value)> {
        let (go, full) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let done = self.asm.block(&[Shape::INT; 2])?;
        self.asm.branch(fits, go, full, Odds::First)?;
        self.asm.enter(go);
        self.note_most(next)?;
        let first = self.row(rows)?;
        self.store_to(values, Rows::Together(first))?;
        self.asm.jump(done, &[fuel, next])?;
        self.asm.enter(full);
        let (none, left) = (self.int(0), self.ended(fuel, rows, false)?);
        self.asm.jump(done, &[none, left])?;
        self.asm.enter(done);
        let params = self.asm.params(done);
        Ok((params[0], params[1]))
    }

    /// Lanes may have different numbers of rows.
    fn store_apart(&mut self, values: &[Value], (rows, next): (A::Value, A::Value), fits: A::Value) -> Made {
        let (equal, differ, done) = (self.asm.block(&[])?, self.asm.block(&[])?, self.asm.block(&[])?);
        let first = self.first_number(rows)?;
        self.branch_if_alike((rows, first), fits, equal, differ)?;
        self.asm.enter(equal);
        let count = self.int(self.rows_of(values));
        let most = self.arithmetic(Int2::Add, first, count)?;
        self.note_most(most)?;
        let row = self.row(first)?;
        self.store_to(values, Rows::Together(row))?;
        self.asm.jump(done, &[])?;
        self.asm.enter(differ);
        let place = self.apart(rows, fits)?;
        self.note_most_apart(next, place)?;
        self.store_to(values, place)?;
        self.asm.jump(done, &[])?;
        self.asm.enter(done);
        Ok(())
    }

    fn load_apart(&mut self, values: &[Value], next: A::Value, there: A::Value) -> Made {
        let (equal, differ) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let merge = self.asm.block(&self.shapes_of_scalars(values))?;
        let first = self.first_number(next)?;
        self.branch_if_alike((next, first), there, equal, differ)?;
        self.asm.enter(equal);
        let row = self.row(first)?;
        self.load_from(values, Rows::Together(row), merge)?;
        self.asm.enter(differ);
        let place = self.apart(next, there)?;
        self.load_from(values, place, merge)?;
        self.take_scalars(values, merge)
    }

    /// The number of the first lane that is meant; code runs only where one is.
    fn first_number(&mut self, numbers: A::Value) -> Made<A::Value> {
        let context = self.block()?.context;
        let scratch = offset_of!(BlockContext, scratch);
        self.asm.store(numbers, context, scratch)?;
        self.first_meant(context, scratch, Kind::Int)
    }

    /// Goes one way if all lanes that are meant have the same number and may use it, else the other.
    fn branch_if_alike(
        &mut self,
        (numbers, first): (A::Value, A::Value),
        allowed: A::Value,
        alike: A::Block,
        otherwise: A::Block,
    ) -> Made {
        let Some(mask) = self.mask else { return unexpected() };
        let all = self.asm.splat(Kind::Int, first)?;
        let equal = self.asm.compare_ints(Compare::Eq, numbers, all)?;
        let fine = self.asm.logic(Logic::And, equal, allowed)?;
        let odd = self.asm.logic(Logic::AndNot, mask, fine)?;
        let any = self.asm.any(odd)?;
        self.asm.branch(any, otherwise, alike, Odds::Even)
    }

    fn apart(&mut self, numbers: A::Value, allowed: A::Value) -> Made<Rows<A::Value>> {
        let Some(mask) = self.mask else { return unexpected() };
        let lanes = self.asm.logic(Logic::And, mask, allowed)?;
        let none = self.number(0, true)?;
        let numbers = self.asm.select(lanes, numbers, none)?;
        Ok(Rows::Apart { tape: self.tape()?, first: self.own_word_of(numbers, LANES as u32)?, lanes })
    }

    /// Whether only some of a row may be written: lanes that do not take part in the call have nothing on their tapes.
    fn is_shared(&self) -> bool {
        self.mask.is_some() && (self.diverged || !self.is_entry)
    }

    fn store_to(&mut self, values: &[Value], rows: Rows<A::Value>) -> Made {
        let mut row = 0;
        for &v in values {
            match self.storage.slot(v) {
                Some(slot) => self.store_array(slot, rows, row)?,
                None => {
                    let value = self.in_memory(v, self.mask.is_some())?;
                    let kind = in_memory(self.kind(v));
                    self.store_row(value, kind, rows, row)?;
                }
            }
            row += self.f.ty(v).rows();
        }
        Ok(())
    }

    /// Puts a value into so manyth a row.
    fn store_row(&mut self, value: A::Value, kind: Kind, rows: Rows<A::Value>, row: u32) -> Made {
        let offset = (ROW * row) as usize;
        match rows {
            Rows::Together(first) => {
                let masked = self.is_shared();
                self.write_at(value, (first, offset), kind, masked)
            }
            Rows::Apart { tape, first, lanes } => {
                let row = self.int(row as i32);
                let base = self.asm.element(tape, row, ROW)?;
                self.asm.scatter(value, base, first, lanes)
            }
        }
    }

    fn store_array(&mut self, slot: u32, rows: Rows<A::Value>, row: u32) -> Made {
        let (source, word, stride) = (self.address(slot)?, self.word(slot), self.stride(slot));
        self.each_element(self.storage.list[slot as usize].length, |e, i| {
            let from = e.asm.element(source, i, stride)?;
            let value = e.asm.load(word, from, 0, Stability::Changing)?;
            let value = if e.mask.is_some() && !word.wide { e.asm.splat(word.kind, value)? } else { value };
            let rows = e.further(rows, i)?;
            e.store_row(value, word.kind, rows, row)
        })
    }

    /// Rows that begin so many rows further on.
    fn further(&mut self, rows: Rows<A::Value>, by: A::Value) -> Made<Rows<A::Value>> {
        Ok(match rows {
            Rows::Together(first) => Rows::Together(self.asm.element(first, by, ROW)?),
            Rows::Apart { tape, first, lanes } => Rows::Apart { tape: self.asm.element(tape, by, ROW)?, first, lanes },
        })
    }

    /// Loads values, and goes to the block that takes those that are no arrays.
    fn load_from(&mut self, values: &[Value], rows: Rows<A::Value>, to: A::Block) -> Made {
        let (mut row, mut scalars) = (0, Vec::new());
        for &v in values {
            match self.storage.slot(v) {
                Some(slot) => self.load_array(slot, rows, row)?,
                None => {
                    let shape = Shape::new(in_memory(self.kind(v)), self.plan.is_wide(v));
                    let value = self.load_row(shape, rows, row)?;
                    let is_bool = self.kind(v) == Kind::Bool;
                    scalars.push(if is_bool { self.asm.convert(Conversion::IntToBool, value)? } else { value });
                }
            }
            row += self.f.ty(v).rows();
        }
        self.asm.jump(to, &scalars)
    }

    fn load_row(&mut self, shape: Shape, rows: Rows<A::Value>, row: u32) -> Made<A::Value> {
        let offset = (ROW * row) as usize;
        match rows {
            // What does not vary is what any lane that is meant put there.
            Rows::Together(first) if self.mask.is_some() && !shape.wide => self.first_meant(first, offset, shape.kind),
            Rows::Together(first) => self.asm.load(shape, first, offset, Stability::Changing),
            Rows::Apart { tape, first, lanes } => {
                let row = self.int(row as i32);
                let base = self.asm.element(tape, row, ROW)?;
                let value = self.asm.gather(shape.kind, base, first)?;
                let zero = self.asm.zero(shape);
                self.asm.select(lanes, value, zero)
            }
        }
    }

    fn load_array(&mut self, slot: u32, rows: Rows<A::Value>, row: u32) -> Made {
        let (target, word, stride) = (self.address(slot)?, self.word(slot), self.stride(slot));
        let masked = word.wide && self.diverged;
        self.each_element(self.storage.list[slot as usize].length, |e, i| {
            let rows = e.further(rows, i)?;
            let value = e.load_row(word, rows, row)?;
            let to = e.asm.element(target, i, stride)?;
            e.write_at(value, (to, 0), word.kind, masked)
        })
    }

    /// Zeros for all values.
    fn load_nothing(&mut self, values: &[Value], to: A::Block) -> Made {
        for slot in values.iter().filter_map(|&v| self.storage.slot(v)) {
            let (target, word, stride) = (self.address(slot)?, self.word(slot), self.stride(slot));
            let masked = word.wide && self.diverged;
            self.each_element(self.storage.list[slot as usize].length, |e, i| {
                let (zero, to) = (e.asm.zero(word), e.asm.element(target, i, stride)?);
                e.write_at(zero, (to, 0), word.kind, masked)
            })?;
        }
        let mut zeros = Vec::new();
        for shape in self.shapes_of_scalars(values) {
            zeros.push(self.asm.zero(shape));
        }
        self.asm.jump(to, &zeros)
    }

    fn shapes_of_scalars(&self, values: &[Value]) -> Vec<Shape> {
        let scalars = values.iter().filter(|v| matches!(self.f.ty(**v), Ty::Scalar(_)));
        scalars.map(|&v| Shape::new(self.kind(v), self.plan.is_wide(v))).collect()
    }

    fn take_scalars(&mut self, values: &[Value], merge: A::Block) -> Made {
        self.asm.enter(merge);
        let params = self.asm.params(merge);
        self.unflatten(values, &params)
    }

    fn note_most(&mut self, rows: A::Value) -> Made {
        let (context, field) = (self.block()?.context, offset_of!(BlockContext, most_rows));
        let most = self.asm.load(Shape::INT, context, field, Stability::Changing)?;
        let more = self.asm.below(most, rows)?;
        let most = self.asm.select(more, rows, most)?;
        self.asm.store(most, context, field)
    }

    fn note_most_apart(&mut self, rows: A::Value, place: Rows<A::Value>) -> Made {
        let Rows::Apart { lanes, .. } = place else { return unexpected() };
        let block = self.block()?;
        let own = self.asm.element(block.context, block.lane, 4)?;
        let field = offset_of!(BlockContext, most_rows_apart);
        let most = self.asm.load(Shape::new(Kind::Int, true), own, field, Stability::Changing)?;
        let more = self.asm.below(most, rows)?;
        let more = self.asm.logic(Logic::And, more, lanes)?;
        let most = self.asm.select(more, rows, most)?;
        self.asm.store(most, own, field)
    }
}

/// What a value is in memory, where bools take a word.
fn in_memory(kind: Kind) -> Kind {
    if kind == Kind::Bool { Kind::Int } else { kind }
}
