//! Values into rows of the tape and out of them: whole rows where lanes go together, else each lane's word of its own.

use super::function::Emitter;
use super::{Assembler, Conversion, Kind, Made, Shape, Stability};
use crate::ir::{Ty, Value};
use crate::runtime::LANES;

/// Bytes of a row.
pub(super) const ROW: u32 = 4 * LANES as u32;

/// What happens to the lanes' rows.
#[derive(Clone, Copy)]
pub(super) enum Rows<V> {
    /// From this address on there is a row for each word.
    Together(V),
    /// The first word of each lane among the words of the tape, and the lanes that have one; the others stand at words
    /// that can be read.
    Apart { tape: V, first: V, lanes: V },
}

impl<A: Assembler> Emitter<'_, A> {
    /// Whether only some of a row may be written: lanes that do not take part in the call have nothing on their tapes.
    fn is_shared(&self) -> bool {
        self.mask.is_some() && (self.diverged || !self.is_entry)
    }

    pub fn store_to(&mut self, values: &[Value], rows: Rows<A::Value>) -> Made {
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

    /// Loads arrays to where they lie, and gives the others.
    pub fn load_from(&mut self, values: &[Value], rows: Rows<A::Value>) -> Made<Vec<A::Value>> {
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
        Ok(scalars)
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

    /// The same with zeros.
    pub fn load_nothing(&mut self, values: &[Value]) -> Made<Vec<A::Value>> {
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
        Ok(zeros)
    }

    pub fn shapes_of_scalars(&self, values: &[Value]) -> Vec<Shape> {
        let scalars = values.iter().filter(|v| matches!(self.f.ty(**v), Ty::Scalar(_)));
        scalars.map(|&v| Shape::new(self.kind(v), self.plan.is_wide(v))).collect()
    }
}

/// What a value is in memory, where bools take a word.
fn in_memory(kind: Kind) -> Kind {
    if kind == Kind::Bool { Kind::Int } else { kind }
}
