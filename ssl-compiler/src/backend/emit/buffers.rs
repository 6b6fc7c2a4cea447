//! Buffers of kernels: elements are read in place, by column; additions go to the host, which keeps sums the same for any
//! order.

use super::function::Emitter;
use super::{Assembler, Conversion, Kind, Made, Service, Shape, Stability, Target, unexpected};
use crate::ir::{InstData, Int2, Value};
use crate::runtime::{AddRequest, BlockContext, Column};
use crate::types::Scalar;
use std::mem::offset_of;

impl<A: Assembler> Emitter<'_, A> {
    fn columns(&mut self) -> Made<A::Value> {
        let context = self.block()?.context;
        let target = Target { bytes: size_of::<Column>() * self.unit.module.columns.len(), is_row: false };
        self.asm.pointer(context, offset_of!(BlockContext, columns), target)
    }

    /// A number that the host gives for a column.
    fn column_number(&mut self, column: u32, field: usize) -> Made<A::Value> {
        // Of the buffer's columns one stands for all, so that each number is loaded once.
        let column = self.unit.module.columns.get(column as usize).map_or(column, |c| c.first);
        let columns = self.columns()?;
        self.asm.load(Shape::INT, columns, size_of::<Column>() * column as usize + field, Stability::Invariant)
    }

    pub fn buffer_length(&mut self, column: u32) -> Made<A::Value> {
        self.column_number(column, offset_of!(Column, length))
    }

    /// An index inside the buffer; one that had to be clamped is counted.
    pub fn clamp_element(&mut self, index: Value, column: u32) -> Made<A::Value> {
        let (end, last) = self.end_and_last(column)?;
        self.clamped_before(index, end, last)
    }

    fn end_and_last(&mut self, column: u32) -> Made<(A::Value, A::Value)> {
        let (end, one) = (self.buffer_length(column)?, self.int(1));
        let last = self.asm.int2(Int2::Sub, end, one)?.map_or_else(unexpected, Ok)?;
        Ok((end, last))
    }

    /// The last element for whatever is beyond: memory stays safe, whatever a pass made of the index.
    fn inside(&mut self, index: Value, column: u32, wide: bool) -> Made<A::Value> {
        let (_, last) = self.end_and_last(column)?;
        let last = if wide { self.asm.splat(Kind::Int, last)? } else { last };
        let index = self.in_shape(index, wide)?;
        self.asm.unsigned_min(index, last)
    }

    pub fn element(&mut self, index: Value, column: u32, scalar: Scalar) -> Made<A::Value> {
        let wide = self.plan.is_wide(index);
        let i = self.inside(index, column, wide)?;
        let stride = self.column_number(column, offset_of!(Column, stride))?;
        let stride = if wide { self.asm.splat(Kind::Int, stride)? } else { stride };
        let word = self.asm.int2(Int2::Mul, i, stride)?.map_or_else(unexpected, Ok)?;
        let columns = self.columns()?;
        let place = size_of::<Column>() * column as usize + offset_of!(Column, words);
        let words = self.asm.pointer(columns, place, Target { bytes: 4, is_row: false })?;
        let kind = if scalar == Scalar::Float { Kind::Float } else { Kind::Int };
        let value = if wide {
            self.asm.gather(kind, words, word)?
        } else {
            let from = self.asm.element(words, word, 4)?;
            self.asm.load(Shape::new(kind, false), from, 0, Stability::Unwritten)?
        };
        if scalar == Scalar::Bool { self.asm.convert(Conversion::IntToBool, value) } else { Ok(value) }
    }

    /// Hands what the lanes that have not ended add to the host.
    pub fn add_to(&mut self, data: &InstData, column: u32) -> Made {
        let (index, values) = (data.args[1], &data.args[2..]);
        let together = self.together();
        let request = self.request(offset_of!(BlockContext, add), size_of::<AddRequest>())?;
        let i = self.inside(index, column, together)?;
        self.asm.store(i, request.lanes, offset_of!(AddRequest, index))?;
        for (number, &v) in values.iter().enumerate() {
            let value = self.in_memory(v, together)?;
            self.asm.store(value, request.lanes, offset_of!(AddRequest, values) + 64 * number)?;
        }
        let uniform = together && !self.plan.is_wide(index);
        let facts = [
            (column, offset_of!(AddRequest, column)),
            (values.len() as u32, offset_of!(AddRequest, count)),
            (u32::from(uniform), offset_of!(AddRequest, uniform)),
        ];
        for (fact, place) in facts {
            let fact = self.int(fact as i32);
            self.asm.store(fact, request.whole, place)?;
        }
        let own = self.not_ended(data.args[0])?;
        self.call_host_for(own, Service::Add, request.whole, offset_of!(AddRequest, mask))?;
        self.pass_token(data)
    }
}
