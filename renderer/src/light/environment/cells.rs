//! The cells of a table of the light from all directions: columns and rows of equal angles, and how light varies within a cell.
//!
//! An image is bilinear between the centers of its texels, so its cells lie between these centers. There is one row of
//! cells more than rows of texels; the outermost two are half as high. Within a cell, directions are drawn by the
//! interpolated light of the four texels, and by the sine of the polar angle. First comes a height, by a function that
//! is linear from the upper edge to the middle and from there to the lower edge. Then comes a place along the row. So
//! light sampling misses no fringe of a small sun. Means of cells would have noise where the light varies within one
//! (pbrt-v4, section 12.5.2).

use super::grid::Cell;
use super::latlong::LatLong;
use super::transport::bent;
use crate::math::sin_cos_turns;
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// The values of a table.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// The mean over each cell, in rows from +y down.
    Means(&'a [f32]),
    /// Texels of an image, in rows from +y down.
    Texels(&'a [f32]),
}

pub struct Cells {
    pub columns: u32,
    pub rows: u32,
    /// By how much of a cell they lie before texels.
    shift: f32,
    bands: Vec<Band>,
    /// Those by which directions are drawn within cells; none where they are drawn evenly.
    texels: Box<[f32]>,
}

/// A row of cells.
#[derive(Clone, Copy)]
struct Band {
    /// The angle from +y at its upper edge, and how far it is to the lower one.
    theta: f32,
    height: f32,
    /// Of that angle, at the upper edge, in the middle, and at the lower edge.
    sines: [f32; 3],
    /// See [`bent`].
    bend: f32,
}

/// The least distance from a pole, in the half row there, at which densities are evaluated. They are the same down to
/// the pole, but 0/0 at it.
const FROM_POLE: f32 = 1e-3;

impl Values<'_> {
    pub fn numbers(&self) -> &[f32] {
        match self {
            Values::Means(numbers) | Values::Texels(numbers) => numbers,
        }
    }
}

impl Cells {
    /// For values of which a row has as many as `columns`.
    pub fn new(columns: usize, values: Values<'_>) -> Cells {
        let height = values.numbers().len() / columns;
        let (rows, shift) = if matches!(values, Values::Texels(_)) { (height + 1, 0.5) } else { (height, 0.0) };
        let edge = |y: usize| ((y as f32 - shift) / height as f32).clamp(0.0, 1.0) * PI;
        // Not a rounded value at the pole.
        let sine = |theta: f32| if theta < PI { theta.sin() } else { 0.0 };
        let band = |y: usize| {
            let (upper, lower) = (edge(y), edge(y + 1));
            let middle = 0.5 * (upper + lower);
            // Between two rows of texels, whose common edge is the middle.
            let bend = if shift > 0.0 && y > 0 && y < height { 0.25 * (lower - upper) / middle.tan() } else { 0.0 };
            Band { theta: upper, height: lower - upper, sines: [upper, middle, lower].map(sine), bend }
        };
        let bands = (0..rows).map(band).collect();
        Cells { columns: columns as u32, rows: rows as u32, shift, bands, texels: Box::default() }
    }

    /// The light of each cell, over the width of a column, for such values as the cells were made for.
    pub fn powers(&self, numbers: &[f32]) -> Vec<f32> {
        let mut powers = Vec::with_capacity((self.columns * self.rows) as usize);
        for row in 0..self.rows {
            let band = self.bands[row as usize];
            for column in 0..self.columns {
                powers.push(match self.is_bilinear() {
                    true => band.height * mean(band.heights(&self.corners([column, row], numbers))),
                    false => numbers[(row * self.columns + column) as usize] * band.solid_angle(),
                });
            }
        }
        powers
    }

    /// The sum of the powers where all values are 1.
    pub fn power_of_one(&self) -> f64 {
        let band = |band: &Band| match self.is_bilinear() {
            true => band.height * mean(band.heights(&[1.0; 4])),
            false => band.solid_angle(),
        };
        self.bands.iter().map(|b| f64::from(band(b))).sum::<f64>() * f64::from(self.columns)
    }

    /// Draws within cells by these values.
    pub fn draw_by(&mut self, numbers: Vec<f32>) {
        if self.is_bilinear() {
            self.texels = numbers.into();
        }
    }

    #[inline(always)]
    pub fn is_bilinear(&self) -> bool {
        self.shift != 0.0
    }

    /// The texels around a cell, above left, above right, and below.
    #[inline(always)]
    fn corners(&self, [column, row]: Cell, texels: &[f32]) -> [f32; 4] {
        let (columns, last) = (self.columns, self.rows.saturating_sub(2));
        let left = if column == 0 { columns - 1 } else { column - 1 };
        let (above, below) = (row.saturating_sub(1) * columns, row.min(last) * columns);
        let at = |row: u32, column: u32| texels[(row + column) as usize];
        [at(above, left), at(above, column), at(below, left), at(below, column)]
    }

    /// The direction at so many columns and rows.
    pub fn direction(&self, map: &LatLong, x: f32, y: f32) -> Vec3 {
        let height = self.rows as f32 - 2.0 * self.shift;
        let theta = ((y - self.shift) / height).clamp(0.0, 1.0) * PI;
        map.direction((x - self.shift) / self.columns as f32, theta)
    }

    /// For a point of the unit square, the u of the image and the angle from +y within a cell.
    #[inline(always)]
    pub fn place(&self, cell: Cell, u: Vec2) -> (f32, f32) {
        let band = self.bands[cell[1] as usize];
        let within = match self.is_bilinear() {
            true => {
                let corners = self.corners(cell, &self.texels);
                let down = halves(u.y, band.heights(&corners));
                let [left, right] = band.sides(&corners, down);
                Vec2::new(linear(u.x, left, right), down)
            }
            false => u,
        };
        let x = cell[0] as f32 + within.x - self.shift;
        (x / self.columns as f32, band.theta + within.y * band.height)
    }

    /// The cell of texture coordinates, of which v is turned over. Also the density per steradian with which directions
    /// in this cell are drawn there.
    #[inline(always)]
    pub fn find(&self, uv: Vec2) -> (Cell, f32) {
        let (columns, rows) = (self.columns as f32, self.rows as f32);
        let x = uv.x * columns + self.shift;
        let x = if x >= columns { x - columns } else { x };
        let y = uv.y * (rows - 2.0 * self.shift) + self.shift;
        let cell = [(x as u32).min(self.columns - 1), (y as u32).min(self.rows - 1)];
        let band = self.bands[cell[1] as usize];
        if !self.is_bilinear() {
            return (cell, columns / (TAU * band.height * sin_cos_turns(0.5 * uv.y).0.max(1e-6)));
        }
        let low = if cell[1] == 0 { FROM_POLE } else { 0.0 };
        let high = if cell[1] == self.rows - 1 { 1.0 - FROM_POLE } else { 1.0 };
        let down = ((uv.y * PI - band.theta) / band.height).clamp(low, high);
        let sine = sin_cos_turns((band.theta + down * band.height) / TAU).0.max(1e-9);
        let corners = self.corners(cell, &self.texels);
        let (heights, [left, right]) = (band.heights(&corners), band.sides(&corners, down));
        let (across, whole) = (x - cell[0] as f32, mean(heights) * (left + right));
        let here = between(down, heights) * (left + (right - left) * across) * 2.0;
        (cell, if whole > 0.0 { here / whole * columns / (TAU * band.height * sine) } else { 0.0 })
    }
}

impl Band {
    /// Of a cell, over the width of a column.
    fn solid_angle(&self) -> f32 {
        // Products of sines: the cosines' difference would cancel near the poles.
        2.0 * (self.theta + 0.5 * self.height).sin() * (0.5 * self.height).sin()
    }

    /// The light of a cell with these corners at its upper edge, in its middle and at its lower edge, times the sine there.
    #[inline(always)]
    fn heights(&self, [a, b, c, d]: &[f32; 4]) -> [f32; 3] {
        let (above, below, half) = (0.5 * (a + b), 0.5 * (c + d), bent(0.5, self.bend));
        [above * self.sines[0], (above + (below - above) * half) * self.sines[1], below * self.sines[2]]
    }

    /// At a height from 0 to 1, the light of a cell with these corners on the left and on the right.
    #[inline(always)]
    fn sides(&self, [a, b, c, d]: &[f32; 4], down: f32) -> [f32; 2] {
        let below = bent(down, self.bend);
        [a + (c - a) * below, b + (d - b) * below]
    }
}

/// The mean of a function that is linear between 0, ½ and 1.
#[inline(always)]
fn mean([upper, middle, lower]: [f32; 3]) -> f32 {
    0.25 * (upper + 2.0 * middle + lower)
}

/// Its value.
#[inline(always)]
fn between(t: f32, [upper, middle, lower]: [f32; 3]) -> f32 {
    if t < 0.5 { upper + (middle - upper) * (2.0 * t) } else { middle + (lower - middle) * (2.0 * t - 1.0) }
}

/// From 0 to 1, drawn by it.
#[inline(always)]
fn halves(u: f32, [upper, middle, lower]: [f32; 3]) -> f32 {
    let sum = upper + 2.0 * middle + lower;
    let first = if sum > 0.0 { (upper + middle) / sum } else { 0.5 };
    if u < first {
        0.5 * linear(u / first, upper, middle)
    } else {
        0.5 + 0.5 * linear(((u - first) / (1.0 - first).max(f32::MIN_POSITIVE)).min(1.0), middle, lower)
    }
}

/// From 0 to 1, drawn by a linear function with these values there, which are not negative.
#[inline(always)]
fn linear(u: f32, a: f32, b: f32) -> f32 {
    let sum = a + b;
    if sum <= 0.0 {
        return u;
    }
    // Shares of the sum, whose squares do not vanish.
    let (a, b) = (a / sum, b / sum);
    let root = (a * a + (b * b - a * a) * u).max(0.0).sqrt();
    if a + root > 0.0 { (u / (a + root)).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distribution function of the linear density 2 (a + (b − a) x)/(a + b) takes a draw back to its number.
    #[test]
    fn linear_draws_invert_their_distribution() {
        for (a, b) in [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1e-25, 3e-25), (2.0, 5.0)] {
            for u in [0.0, 0.1, 0.5, 0.99] {
                let x = linear(u, a, b);
                let below = (2.0 * a * x + (b - a) * x * x) / (a + b);
                assert!((below - u).abs() < 1e-5, "{a} {b} {u}: {x}");
            }
        }
    }

    /// The same for a function of two pieces.
    #[test]
    fn draws_of_two_pieces_invert_their_distribution() {
        for nodes in [[0.0, 1.0, 0.0], [3.0, 1.0, 2.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]] {
            for u in [0.01, 0.3, 0.5, 0.7, 0.99] {
                let x = halves(u, nodes);
                // By the midpoint rule.
                let n = 10_000;
                let at = |i: i32| between((i as f32 + 0.5) / n as f32 * x, nodes);
                let below = (0..n).map(at).sum::<f32>() / n as f32 * x / mean(nodes);
                assert!((below - u).abs() < 2e-3, "{nodes:?} {u}: {x}");
            }
        }
    }

    /// Densities integrate to the share of a cell in the whole: each cell's to 1.
    #[test]
    fn densities_of_a_cell_integrate_to_one() {
        let texels: Vec<f32> = (0..8 * 16).map(|i| ((i * 37) % 11) as f32).collect();
        let mut cells = Cells::new(16, Values::Texels(&texels));
        cells.draw_by(texels);
        for (column, row) in (0..9).flat_map(|row| (0..16).map(move |column| (column, row))) {
            let (band, n) = (cells.bands[row as usize], 64);
            let mut sum = 0.0;
            for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
                let place = |i: i32| (i as f32 + 0.5) / n as f32;
                let theta = band.theta + place(j) * band.height;
                let u = (column as f32 + place(i) - 0.5) / 16.0;
                let (cell, density) = cells.find(Vec2::new(if u < 0.0 { u + 1.0 } else { u }, theta / PI));
                assert_eq!(cell, [column, row]);
                sum += density * theta.sin() * (TAU / 16.0) * band.height / (n * n) as f32;
            }
            assert!((sum - 1.0).abs() < 5e-3, "{column} {row}: {sum}");
        }
    }
}
