//! The tapes: of each, a lane has a column of the call's rows to itself, and its token says how many of them it uses. What
//! bounds the tapes is how much a lane has on all of them.
//!
//! Lanes that use equally many rows write and read whole rows; otherwise each has a word of its own row. Where tokens
//! do not vary, that is known; else one test at run time decides it for all values of a push or a pop. Under a mask, only
//! the words of the lanes that are meant are written, as in arrays: another lane may have more on its tape.

use super::function::Emitter;
use super::tape_rows::{ROW, Rows};
use super::{Assembler, Beside, Kind, Logic, Made, Odds, Shape, Stability, Target, unexpected};
use crate::ir::{Compare, InstData, Int2, Value};
use crate::runtime::block::{TAPE_FULL, TapeState};
use crate::runtime::{BlockContext, LANES, Row};
use std::mem::offset_of;

/// A push that is under way.
struct Push<'a, V> {
    values: &'a [Value],
    tape: u8,
    fuel: V,
    /// Rows on the tape before it and behind it, and behind it on all tapes.
    rows: V,
    next: V,
    total: V,
}

impl<'a, A: Assembler> Emitter<'a, A> {
    pub fn push(&mut self, data: &InstData, tape: u8) -> Made {
        let (token, values) = (data.args[0], &data.args[1..]);
        let (fuel, rows, wide) = (self.get(token)?, self.rows(token, tape)?, self.plan.is_wide(token));
        let count = self.number(self.rows_of(values), wide)?;
        let next = self.arithmetic(Int2::Add, rows, count)?;
        let total = self.with_others(token, tape, next)?;
        let push = Push { values, tape, fuel, rows, next, total };
        let (fuel, rows_left) = if wide {
            let fits = self.fits(total, true)?;
            let left = self.ended(fuel, rows, true)?;
            self.store_apart(&push, fits)?;
            let none = self.number(0, true)?;
            (self.asm.select(fits, fuel, none)?, self.asm.select(fits, next, left)?)
        } else {
            self.store_together(&push)?
        };
        self.set(data.results[0], fuel);
        self.pass_beside(token, data.results[0]);
        self.set_beside(data.results[0], Beside::Rows(tape), rows_left);
        Ok(())
    }

    pub fn pop(&mut self, data: &InstData, tape: u8) -> Made {
        let (token, values) = (data.args[0], &data.results[1..]);
        let (fuel, rows, wide) = (self.get(token)?, self.rows(token, tape)?, self.plan.is_wide(token));
        let count = self.number(self.rows_of(values), wide)?;
        let next = self.arithmetic(Int2::Sub, rows, count)?;
        let capacity = self.capacity(wide)?;
        // Too little wraps round, and a flag is above all capacities.
        let there = if self.fuelled.contains(token) {
            self.asm.below(next, capacity)?
        } else {
            let none = self.number(0, wide)?;
            let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
            if wide {
                let enough = self.asm.below(next, capacity)?;
                self.asm.logic(Logic::And, enough, alive)?
            } else {
                // One comparison in each round of a loop that takes no fuel, where the rest leaves the loop.
                let limit = self.asm.select(alive, capacity, none)?;
                self.asm.below(next, limit)?
            }
        };
        let rows_left = if wide {
            self.load_apart((values, tape), next, there)?;
            self.asm.select(there, next, rows)?
        } else {
            self.load_together((values, tape), (rows, next), there)?
        };
        self.set(data.results[0], fuel);
        self.fuelled.follow(data.results[0], token);
        self.pass_beside(token, data.results[0]);
        self.set_beside(data.results[0], Beside::Rows(tape), rows_left);
        Ok(())
    }

    fn rows(&self, token: Value, tape: u8) -> Made<A::Value> {
        self.beside(token, Beside::Rows(tape)).map_or_else(unexpected, Ok)
    }

    /// The rows that a token has on all tapes, if there are any. At most one of the numbers has a flag, and so has the sum.
    pub fn rows_on_all(&mut self, token: Value, wide: bool) -> Made<Option<A::Value>> {
        let Some(first) = self.tapes().next() else { return Ok(None) };
        let Some(rows) = self.carried(token, Beside::Rows(first), wide)? else { return Ok(None) };
        let mut sum = rows;
        for tape in self.tapes().skip(1) {
            let Some(rows) = self.carried(token, Beside::Rows(tape), wide)? else { return unexpected() };
            sum = self.arithmetic(Int2::Add, sum, rows)?;
        }
        Ok(Some(sum))
    }

    /// `rows` and what a token has on the other tapes.
    fn with_others(&mut self, token: Value, tape: u8, rows: A::Value) -> Made<A::Value> {
        let mut others = self.tapes().filter(|other| *other != tape);
        others.try_fold(rows, |sum, other| {
            let rows = self.rows(token, other)?;
            self.arithmetic(Int2::Add, sum, rows)
        })
    }

    /// The tapes that the module uses.
    fn tapes(&self) -> impl Iterator<Item = u8> + use<'a, A> {
        let unit = self.unit;
        unit.beside.iter().filter_map(|what| if let Beside::Rows(tape) = what { Some(*tape) } else { None })
    }

    fn rows_of(&self, values: &[Value]) -> i32 {
        values.iter().map(|&v| self.f.ty(v).rows()).sum::<u32>() as i32
    }

    fn capacity(&mut self, wide: bool) -> Made<A::Value> {
        let context = self.block()?.context;
        let rows = self.asm.load(Shape::INT, context, offset_of!(BlockContext, tape_rows), Stability::Invariant)?;
        if wide { self.asm.splat(Kind::Int, rows) } else { Ok(rows) }
    }

    /// What the call keeps beside the rows.
    pub fn tape_state(&mut self) -> Made<A::Value> {
        let context = self.block()?.context;
        let target = Target { bytes: size_of::<TapeState>(), is_row: true };
        self.asm.pointer(context, offset_of!(BlockContext, tape_state), target)
    }

    /// The lanes' words of a tape's first row.
    fn tape(&mut self, tape: u8) -> Made<A::Value> {
        let block = self.block()?;
        let target = Target { bytes: 0, is_row: true };
        let field = offset_of!(BlockContext, tapes) + usize::from(tape) * size_of::<*mut Row>();
        let rows = self.asm.pointer(block.context, field, target)?;
        self.asm.element(rows, block.lane, 4)
    }

    /// The lanes' words of a tape's row.
    fn row(&mut self, tape: u8, number: A::Value) -> Made<A::Value> {
        let rows = self.tape(tape)?;
        self.asm.element(rows, number, ROW)
    }

    /// The rows of lanes that a push ends: a flag says why, unless they had ended before.
    fn ended(&mut self, fuel: A::Value, rows: A::Value, wide: bool) -> Made<A::Value> {
        let none = self.number(0, wide)?;
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        let flag = self.number(TAPE_FULL as i32, wide)?;
        let flagged = self.arithmetic(Int2::Or, rows, flag)?;
        self.asm.select(alive, flagged, rows)
    }

    /// Whether so many rows find room.
    fn fits(&mut self, rows: A::Value, wide: bool) -> Made<A::Value> {
        let capacity = self.capacity(wide)?;
        let full = self.asm.below(capacity, rows)?;
        self.asm.not(full)
    }

    /// All lanes have as many rows. Gives the fuel and the rows that are left.
    fn store_together(&mut self, push: &Push<'_, A::Value>) -> Made<(A::Value, A::Value)> {
        let &Push { values, tape, fuel, rows, next, total } = push;
        let [go, grow, note, full] = self.blocks()?;
        let done = self.asm.block(&[Shape::INT; 2])?;
        // There is room for as many as there were before.
        let one = self.int(1);
        let last = self.arithmetic(Int2::Sub, total, one)?;
        let most = self.most_rows()?;
        let room = self.asm.below(last, most)?;
        self.asm.branch(room, go, grow, Odds::Even)?;
        self.asm.enter(grow);
        let fits = self.fits(total, false)?;
        self.asm.branch(fits, note, full, Odds::First)?;
        self.asm.enter(note);
        self.set_most(total)?;
        self.asm.jump(go, &[])?;
        self.asm.enter(go);
        let first = self.row(tape, rows)?;
        self.store_to(values, Rows::Together(first))?;
        self.asm.jump(done, &[fuel, next])?;
        self.asm.enter(full);
        let (none, left) = (self.int(0), self.ended(fuel, rows, false)?);
        self.asm.jump(done, &[none, left])?;
        self.asm.enter(done);
        let params = self.asm.params(done);
        Ok((params[0], params[1]))
    }

    fn blocks<const N: usize>(&mut self) -> Made<[A::Block; N]> {
        let mut made = Vec::new();
        for _ in 0..N {
            made.push(self.asm.block(&[])?);
        }
        made.try_into().or_else(|_| unexpected())
    }

    /// Lanes may have different numbers of rows.
    fn store_apart(&mut self, push: &Push<'_, A::Value>, fits: A::Value) -> Made {
        let &Push { values, tape, rows, total, .. } = push;
        let (equal, [differ, done]) = (self.asm.block(&[Shape::INT])?, self.blocks()?);
        self.sort_out(rows, fits, equal, differ)?;
        self.asm.enter(equal);
        let first = self.asm.params(equal)[0];
        if self.tapes().count() == 1 {
            let count = self.int(self.rows_of(values));
            let most = self.arithmetic(Int2::Add, first, count)?;
            self.note_most(most)?;
        } else {
            // What they have on other tapes may differ.
            let lanes = self.lanes_of(fits)?;
            self.note_most_apart(total, lanes)?;
        }
        let row = self.row(tape, first)?;
        self.store_to(values, Rows::Together(row))?;
        self.asm.jump(done, &[])?;
        self.asm.enter(differ);
        let lanes = self.lanes_of(fits)?;
        let place = self.apart(tape, rows, lanes)?;
        self.note_most_apart(total, lanes)?;
        self.store_to(values, place)?;
        self.asm.jump(done, &[])?;
        self.asm.enter(done);
        Ok(())
    }

    /// All lanes have as many rows. Gives those that are left.
    fn load_together(
        &mut self,
        (values, tape): (&[Value], u8),
        (rows, next): (A::Value, A::Value),
        there: A::Value,
    ) -> Made<A::Value> {
        let [go, skip] = self.blocks()?;
        let merge = self.asm.block(&[&[Shape::INT], &self.shapes_of_scalars(values)[..]].concat())?;
        self.asm.branch(there, go, skip, Odds::First)?;
        self.asm.enter(go);
        let first = self.row(tape, next)?;
        let loaded = self.load_from(values, Rows::Together(first))?;
        self.asm.jump(merge, &[&[next], &loaded[..]].concat())?;
        self.asm.enter(skip);
        let zeros = self.load_nothing(values)?;
        self.asm.jump(merge, &[&[rows], &zeros[..]].concat())?;
        self.asm.enter(merge);
        let params = self.asm.params(merge);
        self.unflatten(values, &params[1..])?;
        Ok(params[0])
    }

    fn load_apart(&mut self, (values, tape): (&[Value], u8), next: A::Value, there: A::Value) -> Made {
        let (equal, differ) = (self.asm.block(&[Shape::INT])?, self.asm.block(&[])?);
        let merge = self.asm.block(&self.shapes_of_scalars(values))?;
        self.sort_out(next, there, equal, differ)?;
        self.asm.enter(equal);
        let first = self.asm.params(equal)[0];
        let row = self.row(tape, first)?;
        let loaded = self.load_from(values, Rows::Together(row))?;
        self.asm.jump(merge, &loaded)?;
        self.asm.enter(differ);
        let lanes = self.lanes_of(there)?;
        let place = self.apart(tape, next, lanes)?;
        let loaded = self.load_from(values, place)?;
        self.asm.jump(merge, &loaded)?;
        self.asm.enter(merge);
        let params = self.asm.params(merge);
        self.unflatten(values, &params)
    }

    /// Goes to `equal` with the number if all lanes that are meant have the same and may use it, else to `differ`. At least
    /// one lane is meant: code runs only where one is.
    fn sort_out(&mut self, numbers: A::Value, allowed: A::Value, equal: A::Block, differ: A::Block) -> Made {
        // The lowest lane mostly takes part; where it does not, others may still be alike.
        let [quick, retry, found] = self.blocks()?;
        let first = self.asm.extract(Kind::Int, numbers, 0)?;
        self.branch_if_alike((numbers, first), allowed, quick, retry)?;
        self.asm.enter(quick);
        self.asm.jump(equal, &[first])?;
        self.asm.enter(retry);
        let (state, scratch) = (self.tape_state()?, offset_of!(TapeState, scratch));
        self.asm.store(numbers, state, scratch)?;
        let first = self.first_meant(state, scratch, Kind::Int)?;
        self.branch_if_alike((numbers, first), allowed, found, differ)?;
        self.asm.enter(found);
        self.asm.jump(equal, &[first])
    }

    /// Goes one way if all lanes that are meant have this number and may use it, else the other.
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

    /// The lanes that are meant and allowed.
    fn lanes_of(&mut self, allowed: A::Value) -> Made<A::Value> {
        let Some(mask) = self.mask else { return unexpected() };
        self.asm.logic(Logic::And, mask, allowed)
    }

    fn apart(&mut self, tape: u8, numbers: A::Value, lanes: A::Value) -> Made<Rows<A::Value>> {
        let none = self.number(0, true)?;
        let numbers = self.asm.select(lanes, numbers, none)?;
        Ok(Rows::Apart { tape: self.tape(tape)?, first: self.own_word_of(numbers, LANES as u32)?, lanes })
    }

    /// Whether it is more rows than there ever were in this call.
    fn is_most(&mut self, rows: A::Value) -> Made<A::Value> {
        let most = self.most_rows()?;
        self.asm.below(most, rows)
    }

    fn most_rows(&mut self) -> Made<A::Value> {
        let context = self.block()?.context;
        self.asm.load(Shape::INT, context, offset_of!(BlockContext, most_rows), Stability::Changing)
    }

    fn set_most(&mut self, rows: A::Value) -> Made {
        let context = self.block()?.context;
        self.asm.store(rows, context, offset_of!(BlockContext, most_rows))
    }

    /// By a branch: what is stored is then not computed from what was stored before.
    fn note_most(&mut self, rows: A::Value) -> Made {
        let [note, done] = self.blocks()?;
        let more = self.is_most(rows)?;
        self.asm.branch(more, note, done, Odds::Even)?;
        self.asm.enter(note);
        self.set_most(rows)?;
        self.asm.jump(done, &[])?;
        self.asm.enter(done);
        Ok(())
    }

    fn note_most_apart(&mut self, rows: A::Value, lanes: A::Value) -> Made {
        let (state, lane) = (self.tape_state()?, self.block()?.lane);
        let own = self.asm.element(state, lane, 4)?;
        let field = offset_of!(TapeState, most);
        let most = self.asm.load(Shape::new(Kind::Int, true), own, field, Stability::Changing)?;
        let more = self.asm.below(most, rows)?;
        let more = self.asm.logic(Logic::And, more, lanes)?;
        let most = self.asm.select(more, rows, most)?;
        self.asm.store(most, own, field)
    }
}
