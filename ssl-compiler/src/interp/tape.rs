//! The tapes of the lane that runs: a cell for each row. In f64 a cell keeps its f64.

use super::frame::{Cell, Frame};
use super::from_bits;
use crate::ir::real::Real;
use crate::ir::{InstData, MAX_TAPES, Site, Ty, Value};
use crate::types::Scalar;

pub(super) struct Tapes<R> {
    list: [Tape<R>; MAX_TAPES],
    /// Of all together.
    capacity: u32,
    pub most: u32,
    pub unmatched: u32,
}

/// Tokens are consumed once, so that a tape always holds as many rows as the token that is at hand says.
struct Tape<R> {
    cells: Vec<Cell<R>>,
    /// By row: the number of the push that it is from.
    sites: Vec<u32>,
}

impl<R: Real> Tapes<R> {
    pub fn new(capacity: u32) -> Tapes<R> {
        let empty = |_| Tape { cells: Vec::new(), sites: Vec::new() };
        Tapes { list: std::array::from_fn(empty), capacity, most: 0, unmatched: 0 }
    }

    pub fn push(&mut self, site: Site, frame: &mut Frame<'_, R>, data: &InstData) {
        let values = &data.args[1..];
        let (token, fits) = frame.token(data.args[0]).push(rows(frame, values), self.capacity);
        if fits {
            let tape = &mut self.list[usize::from(site.tape)];
            for &v in values {
                match frame.get(v) {
                    Cell::Array => tape.cells.extend(&frame.arrays[frame.slot(v)]),
                    cell => tape.cells.push(cell),
                }
            }
            tape.sites.resize(tape.cells.len(), site.number);
            self.most = self.most.max(token.rows);
        }
        frame.set(data.results[0], Cell::Token(token));
    }

    pub fn pop(&mut self, site: Site, frame: &mut Frame<'_, R>, data: &InstData) {
        let (values, before) = (&data.results[1..], frame.token(data.args[0]));
        let tape = &mut self.list[usize::from(site.tape)];
        let (count, there) = (rows(frame, values), tape.cells.len());
        let (token, comes) = before.pop(count, there as u32);
        let first = if comes { there - count as usize } else { there };
        let is_matched = if comes { tape.sites[first..].iter().all(|s| *s == site.number) } else { before.fuel == 0 };
        self.unmatched += u32::from(!is_matched);
        let mut cells = tape.cells.split_off(first).into_iter();
        tape.sites.truncate(first);
        for &v in values {
            let mut next = |scalar| cells.next().map_or(Cell::zero(scalar), |cell| as_scalar(cell, scalar));
            match frame.f.ty(v) {
                Ty::Scalar(scalar) => frame.set(v, next(scalar)),
                Ty::Array(scalar, n) => {
                    let slot = frame.slot(v);
                    frame.arrays[slot] = (0..n).map(|_| next(scalar)).collect();
                    frame.set(v, Cell::Array);
                }
                Ty::Token => {}
            }
        }
        frame.set(data.results[0], Cell::Token(token));
    }
}

fn rows<R: Real>(frame: &Frame<'_, R>, values: &[Value]) -> u32 {
    values.iter().map(|&v| frame.f.ty(v).rows()).sum()
}

/// What a pop takes a row for. It is what was pushed, but for code that is wrong, which gets the bits.
fn as_scalar<R: Real>(cell: Cell<R>, scalar: Scalar) -> Cell<R> {
    match (cell, scalar) {
        (Cell::Bool(_), Scalar::Bool) | (Cell::Int(_), Scalar::Int) | (Cell::Float(_), Scalar::Float) => cell,
        _ => from_bits(scalar, cell.bits()),
    }
}
