//! One call of the interpreter: its values, and its arrays in their slots.

use crate::analysis::storage::Storage;
use crate::ir::real::Real;
use crate::ir::{Function, Value};
use crate::runtime::block::Token;
use crate::types::Scalar;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<R> {
    Bool(bool),
    Int(i32),
    Float(R),
    Token(Token),
    /// The value is an array, see its slot.
    Array,
}

impl<R: Real> Cell<R> {
    pub(super) fn zero(scalar: Scalar) -> Cell<R> {
        match scalar {
            Scalar::Bool => Cell::Bool(false),
            Scalar::Int => Cell::Int(0),
            Scalar::Float => Cell::Float(R::ZERO),
        }
    }

    /// As the 32 bits of an output row.
    pub fn bits(self) -> u32 {
        match self {
            Cell::Bool(b) => u32::from(b),
            Cell::Int(i) => i as u32,
            Cell::Float(x) => x.to_f32().to_bits(),
            Cell::Token(_) | Cell::Array => 0,
        }
    }
}

/// What crosses a call.
pub(super) enum Argument<R> {
    Cell(Cell<R>),
    Array(Vec<Cell<R>>),
}

/// One call's values and arrays.
pub(super) struct Frame<'a, R> {
    pub f: &'a Function,
    pub storage: &'a Storage,
    pub cells: Vec<Cell<R>>,
    pub arrays: Vec<Vec<Cell<R>>>,
}

impl<R: Real> Frame<'_, R> {
    pub fn get(&self, v: Value) -> Cell<R> {
        self.cells[v.index()]
    }

    pub fn float(&self, v: Value) -> R {
        match self.get(v) {
            Cell::Float(x) => x,
            other => unreachable!("verified code has a float here, not {other:?}"),
        }
    }

    pub fn int(&self, v: Value) -> i32 {
        match self.get(v) {
            Cell::Int(x) => x,
            other => unreachable!("verified code has an int here, not {other:?}"),
        }
    }

    pub fn bool(&self, v: Value) -> bool {
        match self.get(v) {
            Cell::Bool(x) => x,
            other => unreachable!("verified code has a bool here, not {other:?}"),
        }
    }

    pub fn token(&self, v: Value) -> Token {
        match self.get(v) {
            Cell::Token(x) => x,
            other => unreachable!("verified code has a token here, not {other:?}"),
        }
    }

    pub fn set(&mut self, v: Value, cell: Cell<R>) {
        self.cells[v.index()] = cell;
    }

    pub fn slot(&self, v: Value) -> usize {
        self.storage.slot(v).map_or(usize::MAX, |s| s as usize)
    }

    /// Gives `to` the values of `from`, all at once; arrays are copied where their slots differ.
    pub fn assign(&mut self, from: &[Value], to: &[Value]) {
        let cells: Vec<Cell<R>> = from.iter().map(|&v| self.get(v)).collect();
        for ((&source, &target), cell) in from.iter().zip(to).zip(cells) {
            if self.f.ty(source).is_array() {
                self.copy_array(source, target);
            }
            self.set(target, cell);
        }
    }

    pub fn copy_array(&mut self, from: Value, to: Value) {
        let (from, to) = (self.slot(from), self.slot(to));
        if from != to {
            let mut target = std::mem::take(&mut self.arrays[to]);
            target.clone_from(&self.arrays[from]);
            self.arrays[to] = target;
        }
    }
}
