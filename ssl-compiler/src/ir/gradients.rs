//! What a host wants differentiated of a module's entry, and the numbers that an entry reads.

use super::{FLOAT, InstData, Op, Ty};
use crate::runtime::Order;
use crate::types::Scalar;

/// A float that a shader reads from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A word of the parameter block.
    Parameter(u32),
    /// A component of a global, or a partial of it.
    Global {
        /// The field of the layout.
        field: u32,
        /// Which component.
        component: u32,
        /// The value, or which partial.
        order: Order,
    },
}

impl Input {
    /// The input that an instruction reads, if it is one.
    pub fn read_by(data: &InstData, types: &[Ty]) -> Option<Input> {
        let is_float = || data.results.first().is_some_and(|r| types[r.index()] == FLOAT);
        match data.op {
            Op::Parameter { word, scalar: Scalar::Float } => Some(Input::Parameter(word)),
            Op::Global { field, component, order } if is_float() => Some(Input::Global { field, component, order }),
            _ => None,
        }
    }

    /// The operation that reads it.
    pub fn op(self) -> Op {
        match self {
            Input::Parameter(word) => Op::Parameter { word, scalar: Scalar::Float },
            Input::Global { field, component, order } => Op::Global { field, component, order },
        }
    }
}

/// A request for the gradient of an entry's results, resolved with the other derivatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gradients {
    /// Results of the entry, counted behind the token, and the global through which the host gives the cotangent of each.
    /// A result that is not listed has the cotangent 0.
    pub of: Vec<(u32, u32)>,
    /// Words of the parameter block by which the gradient is taken.
    pub words: Vec<u32>,
    /// Globals by which it is taken: by the value of each component, and by each partial that the entry reads.
    pub globals: Vec<u32>,
    /// Words of texture slots by whose texels it is taken.
    pub textures: Vec<u32>,
    /// What becomes of columns of buffers.
    pub columns: Columns,
}

/// What becomes of the columns of a kernel's buffers in its gradient: whatever was read is added to, and the other way
/// round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// A column that is read, and the one to which its gradient is added.
    pub by: Vec<(u32, u32)>,
    /// A column that is added to, and the one from which the cotangents of its elements are read.
    pub of: Vec<(u32, u32)>,
    /// Nothing is wanted but the gradient: not the results, and nothing that is added on the way forwards.
    pub alone: bool,
}

impl Columns {
    /// The column to which the gradient by another is added.
    pub fn gradient(&self, column: u32) -> Option<u32> {
        self.by.iter().find(|(read, _)| *read == column).map(|(_, added)| *added)
    }

    /// The column that holds the cotangents of another.
    pub fn cotangent(&self, column: u32) -> Option<u32> {
        self.of.iter().find(|(added, _)| *added == column).map(|(_, read)| *read)
    }
}

impl Gradients {
    /// Whether nobody asks for one.
    pub fn is_empty(&self) -> bool {
        *self == Gradients::default()
    }
}
