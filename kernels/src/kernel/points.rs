//! The points of a grid, in blocks of 16 neighbours along x.

use super::KernelError;
use ssl_compiler::runtime::{LANES, Order, Row};
use ssl_compiler::{ShaderInterface, Type};
use std::ops::Range;

/// The globals of a point: its place in order of x, then y, then z; its coordinates; and the number of its block in the row.
pub const GLOBALS: [&str; 5] = ["index", "index_x", "index_y", "index_z", "block_x"];

/// The points that a kernel runs for, in up to three dimensions. The linear index of a point is x + nx·(y + ny·z).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    size: [u32; 3],
}

impl Grid {
    /// Points of one dimension.
    pub fn line(points: u32) -> Grid {
        Grid::volume(points, 1, 1)
    }

    /// Points of two dimensions.
    pub fn plane(x: u32, y: u32) -> Grid {
        Grid::volume(x, y, 1)
    }

    /// Points of three dimensions.
    pub fn volume(x: u32, y: u32, z: u32) -> Grid {
        Grid { size: [x, y, z] }
    }

    /// The points along x, y and z.
    pub fn size(self) -> [u32; 3] {
        self.size
    }

    /// The number of points; `None` if an index of 31 bits cannot number them.
    pub fn points(self) -> Option<usize> {
        let [x, y, z] = self.size.map(u64::from);
        let points = if z == 0 { 0 } else { x.checked_mul(y)?.checked_mul(z)? };
        (points <= i32::MAX as u64).then_some(points as usize)
    }

    fn blocks_of_a_row(self) -> usize {
        (self.size[0] as usize).div_ceil(LANES)
    }

    /// The number of blocks. A row of points begins with a block of its own.
    pub(super) fn blocks(self) -> usize {
        if self.points() == Some(0) {
            0
        } else {
            self.blocks_of_a_row() * self.size[1] as usize * self.size[2] as usize
        }
    }

    pub(super) fn block(self, number: usize) -> Points {
        let (row, first) = (number / self.blocks_of_a_row(), number % self.blocks_of_a_row() * LANES);
        let [nx, ny, _] = self.size.map(|n| n as usize);
        let count = LANES.min(nx - first);
        Points { x: first, y: row % ny, z: row / ny, index: row * nx + first, count }
    }
}

/// Up to 16 points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    x: usize,
    y: usize,
    z: usize,
    index: usize,
    count: usize,
}

impl Points {
    /// The lanes that have a point.
    pub fn mask(self) -> u32 {
        (1 << self.count) - 1
    }

    /// Their linear indices.
    pub fn range(self) -> Range<usize> {
        self.index..self.index + self.count
    }
}

/// The rows of the globals block for a point's index, as far as the code reads them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IndexRows {
    rows: [Option<usize>; 5],
    /// Rows of the block.
    pub count: usize,
}

impl IndexRows {
    pub fn of(interface: &ShaderInterface) -> Result<IndexRows, KernelError> {
        let mut found = IndexRows::default();
        // The cotangents of own elements, which a launch fills in.
        let given: Vec<usize> =
            interface.gradient.iter().flat_map(|g| g.cotangents.iter().copied().flatten()).collect();
        found.count = given.iter().map(|row| row + 1).max().unwrap_or(0);
        for read in &interface.globals_read {
            let field = interface.globals.field(read.field);
            if given.contains(&read.row) {
                continue;
            }
            let place = GLOBALS.iter().position(|name| *name == field.name);
            let Some(place) = place.filter(|_| field.ty == Type::Int && read.order == Order::Value) else {
                return Err(KernelError::Global { kernel: interface.name.clone(), global: field.name.clone() });
            };
            found.rows[place] = Some(read.row);
            found.count = found.count.max(read.row + 1);
        }
        Ok(found)
    }

    /// Fills the rows for a block.
    pub fn fill(&self, points: Points, rows: &mut [Row]) {
        let starts = [(points.index, 1u32), (points.x, 1), (points.y, 0), (points.z, 0), (points.x / LANES, 0)];
        for (row, (start, step)) in self.rows.iter().zip(starts) {
            if let Some(row) = *row {
                let words = rows[row].0.iter_mut().enumerate();
                words.for_each(|(lane, word)| *word = f32::from_bits((start as u32).wrapping_add(step * lane as u32)));
            }
        }
    }
}
