//! Cells in rows and columns, sampled by their weights.

use crate::math::Distribution;
use glam::Vec2;

/// First a row is drawn, then a cell of it, each by one of two numbers: so what was evenly spread stays so.
pub struct Grid {
    row: Distribution,
    /// For each row, its cells.
    cell: Vec<Distribution>,
}

/// A column and a row.
pub type Cell = [u32; 2];

impl Grid {
    /// `weights` come in rows of `columns`; where they sum to 0, all are alike.
    pub fn new(columns: usize, weights: &[f32]) -> Grid {
        let lines = || weights.chunks_exact(columns);
        Grid {
            row: Distribution::new(lines().map(|line| line.iter().map(|&w| f64::from(w)).sum::<f64>() as f32)),
            cell: lines().map(|line| Distribution::new(line.iter().copied())).collect(),
        }
    }

    /// A cell, its probability, and where in it, from 0 up to but not 1.
    #[inline(always)]
    pub fn sample(&self, u: Vec2) -> (Cell, f32, Vec2) {
        let (row, p_row, y) = self.row.sample(u.y);
        let (column, p_cell, x) = self.cell[row].sample(u.x);
        ([column as u32, row as u32], p_row * p_cell, Vec2::new(x, y))
    }

    #[inline(always)]
    pub fn probability(&self, [column, row]: Cell) -> f32 {
        self.row.probability(row as usize) * self.cell[row as usize].probability(column as usize)
    }
}
