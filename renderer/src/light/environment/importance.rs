//! Directions drawn in proportion to the luminance of an image of the whole sphere, and their density.
//!
//! Cells of equal angles: first a row, then a cell of it. A hundredth of the draws goes to all rows alike, and a
//! hundredth of those of a row to all its cells alike, so the density is at least [`LEAST_DENSITY`] in every direction:
//! whatever a filter, however wide, spreads light over is found.

use super::latlong::LatLong;
use crate::math::{Distribution, sin_cos_turns};
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Draws cells by their share of the light.
pub struct Importance {
    columns: usize,
    row: Distribution,
    /// For each row, its cells.
    cell: Vec<Distribution>,
}

/// The share of draws that go everywhere alike, of rows and of the cells of a row.
const EVEN: f32 = 0.01;

/// No direction is drawn with less, per steradian: `EVEN²/(2π² sin θ)`.
#[cfg(test)]
pub const LEAST_DENSITY: f32 = EVEN * EVEN / (TAU * PI) * 0.99;

impl Importance {
    /// `luminance` is the mean over each cell, in rows from +y down, `columns` in each; what is negative or no number
    /// counts as 0.
    pub fn new(columns: usize, luminance: &[f32]) -> Importance {
        let rows = luminance.len() / columns;
        let clean = |x: f32| if x.is_finite() { x.max(0.0) } else { 0.0 };
        let lines = || luminance.chunks_exact(columns);
        let weight = |(y, line): (usize, &[f32])| {
            let (top, bottom) = (y as f32 / rows as f32 * PI, (y + 1) as f32 / rows as f32 * PI);
            // Products of sines: the cosines' difference would cancel near the poles.
            let band = 2.0 * (0.5 * (top + bottom)).sin() * (0.5 * (bottom - top)).sin();
            line.iter().map(|&l| f64::from(clean(l))).sum::<f64>() as f32 * band
        };
        Importance {
            columns,
            row: mixed(lines().enumerate().map(weight).collect()),
            cell: lines().map(|line| mixed(line.iter().map(|&l| clean(l)).collect())).collect(),
        }
    }

    /// A direction and its density per steradian.
    pub fn sample(&self, map: &LatLong, u: Vec2) -> (Vec3, f32) {
        let (row, p_row, y) = self.row.sample(u.y);
        let (column, p_cell, x) = self.cell[row].sample(u.x);
        let theta = (row as f32 + y) / self.rows() as f32 * PI;
        (map.direction((column as f32 + x) / self.columns as f32, theta), p_row * p_cell * self.per_steradian(theta))
    }

    /// The density, per steradian, with which `sample` draws `d`.
    pub fn pdf(&self, map: &LatLong, d: Vec3) -> f32 {
        let uv = map.uv(d);
        let down = 1.0 - uv.y;
        let column = ((uv.x * self.columns as f32) as usize).min(self.columns - 1);
        let row = ((down * self.rows() as f32) as usize).min(self.rows() - 1);
        self.row.probability(row) * self.cell[row].probability(column) * self.per_steradian(down * PI)
    }

    fn rows(&self) -> usize {
        self.cell.len()
    }

    /// From a cell's probability to a density at polar angle `theta`.
    fn per_steradian(&self, theta: f32) -> f32 {
        (self.columns * self.rows()) as f32 / (TAU * PI * sin_cos_turns(theta / TAU).0.max(1e-6))
    }
}

/// By weight, but for what goes to all alike.
fn mixed(weights: Vec<f32>) -> Distribution {
    let total: f32 = weights.iter().sum();
    let even = 1.0 / weights.len() as f32;
    let share = |w: f32| if total > 0.0 { (1.0 - EVEN) * (w / total) + EVEN * even } else { even };
    Distribution::new(weights.into_iter().map(share))
}
