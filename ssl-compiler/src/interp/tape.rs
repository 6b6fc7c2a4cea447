//! The tape of the lane that runs: a cell for each row. In f64 a cell keeps its f64.

use super::frame::{Cell, Frame};
use super::from_bits;
use crate::ir::real::Real;
use crate::ir::{InstData, Ty, Value};
use crate::types::Scalar;

pub(super) struct Tape<R> {
    cells: Vec<Cell<R>>,
    /// By row: the number of the push that it is from.
    sites: Vec<u32>,
    capacity: u32,
    pub most: u32,
    pub unmatched: u32,
}

impl<R: Real> Tape<R> {
    pub fn new(capacity: u32) -> Tape<R> {
        Tape { cells: Vec::new(), sites: Vec::new(), capacity, most: 0, unmatched: 0 }
    }

    pub fn push(&mut self, site: u32, frame: &mut Frame<'_, R>, data: &InstData) {
        let values = &data.args[1..];
        let (token, first) = frame.token(data.args[0]).push(rows(frame, values), self.capacity);
        if let Some(first) = first {
            self.cells.truncate(first as usize);
            for &v in values {
                match frame.get(v) {
                    Cell::Array => self.cells.extend(&frame.arrays[frame.slot(v)]),
                    cell => self.cells.push(cell),
                }
            }
            self.sites.truncate(first as usize);
            self.sites.resize(self.cells.len(), site);
            self.most = self.most.max(token.rows);
        }
        frame.set(data.results[0], Cell::Token(token));
    }

    pub fn pop(&mut self, site: u32, frame: &mut Frame<'_, R>, data: &InstData) {
        let (values, before) = (&data.results[1..], frame.token(data.args[0]));
        let count = rows(frame, values);
        let (token, first) = before.pop(count, self.capacity);
        let is_matched = match first {
            Some(first) => self.sites[first as usize..].iter().all(|s| *s == site),
            None => before.fuel == 0 || count == 0,
        };
        self.unmatched += u32::from(!is_matched);
        let mut cells = first.map(|first| self.cells.split_off(first as usize)).unwrap_or_default().into_iter();
        self.sites.truncate(self.cells.len());
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
