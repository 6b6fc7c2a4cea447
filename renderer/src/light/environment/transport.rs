//! How light transport reads an image: one level for every footprint.
//!
//! Light sampling and lobes find the same light only if both read the same function. Light sampling misses nothing only
//! if its table is made from that function. So scattered paths, and directions from light sampling, read one level
//! bilinearly, for any number of samples: the finest that is not larger than [`MAX_SIDE`]. Camera rays, straight or in
//! mirrors, read with the pixel's footprint.
//!
//! **Rows by their solid angle.** Bilinear interpolation spreads a row evenly to both sides. On the sphere there is
//! more room on the side farther from the pole. So a disc of R rows about the pole would gain 1/(12 R²) of its light, a
//! twelfth if it is one row. Rows are δ high, and t goes from 0 to 1 between the centers of two rows with a common edge
//! at θ. The lower one counts
//!
//! ```text
//! t + t (1 − t) δ cot(θ)/4
//! ```
//!
//! in place of t. So each row has the light of its solid angle, up to the third power of δ.

use super::latlong::LatLong;
use crate::math::lanes::{Row, Row3, wide};
use crate::math::sin_cos_turns;
use glam::Vec2;
use ssl_compiler::runtime::LANES;
use std::f32::consts::PI;

/// A level that light transport reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransportLevel {
    pub number: usize,
    pub width: u32,
    pub height: u32,
}

/// Texels of the longest side: a texel is a third of the sun.
const MAX_SIDE: u32 = 2048;

impl TransportLevel {
    /// Of levels with these widths and heights; none where there are no levels.
    pub fn of(levels: &[(u32, u32)]) -> Option<TransportLevel> {
        let fits = levels.iter().position(|&(width, height)| width.max(height) <= MAX_SIDE);
        let number = fits.unwrap_or(levels.len().saturating_sub(1));
        levels.get(number).map(|&(width, height)| TransportLevel { number, width, height })
    }

    /// Where the directions of lanes are looked up; with `bilinear` by the weights above.
    pub fn places(&self, map: &LatLong, d: &Row3, bilinear: bool) -> [Row; 2] {
        let mut uv = [[0.0; LANES]; 2];
        find(map, d, if bilinear { self.height as f32 } else { 0.0 }, &mut uv);
        uv
    }
}

wide! {
    /// Without rows nothing is moved.
    fn find(map: &LatLong, d: &Row3, rows: f32, uv: &mut [Row; 2]) {
        for lane in 0..LANES {
            let at = map.uv(d.get(lane));
            let down = moved(1.0 - at.y, rows);
            (uv[0][lane], uv[1][lane]) = (at.x, 1.0 - down);
        }
    }
}

/// A place from the upper to the lower edge, where bilinear interpolation gives the weights above.
#[inline(always)]
fn moved(down: f32, rows: f32) -> f32 {
    let y = down * rows;
    let edge = (y + 0.5) as u32 as f32;
    let inside = (edge > 0.0) & (edge < rows);
    let (sin, cos) = sin_cos_turns(if inside { 0.5 * edge / rows } else { 0.25 });
    // Rows are 1/rows of a half turn high.
    let bend = 0.25 * PI * cos / (rows.max(1.0) * sin);
    if inside { (edge - 0.5 + bent(y - edge + 0.5, bend)) / rows } else { down }
}

/// How much the lower of two rows counts at a place between their centers, from 0 to 1; `bend` is δ cot(θ)/4.
#[inline(always)]
pub fn bent(t: f32, bend: f32) -> f32 {
    t + t * (1.0 - t) * bend
}

/// The coordinates of a lane.
pub fn of_lane(places: &[Row; 2], lane: usize) -> Vec2 {
    Vec2::new(places[0][lane], places[1][lane])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The light of each row alone, by the midpoint rule over its polar angle, matches its solid angle.
    #[test]
    fn each_row_has_the_light_of_its_solid_angle() {
        for rows in [8_u32, 64] {
            let height = std::f64::consts::PI / f64::from(rows);
            for row in 0..rows {
                let weight = |y: f64| {
                    // Bilinear between centers, clamped at the poles.
                    let centers = (y - 0.5).clamp(0.0, f64::from(rows - 1));
                    (1.0 - (centers - f64::from(row)).abs()).max(0.0)
                };
                let n = 512 * rows;
                let at = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
                let light = |x: f64| {
                    let y = f64::from(moved(x as f32, rows as f32)) * f64::from(rows);
                    weight(y) * (x * std::f64::consts::PI).sin() * std::f64::consts::PI / f64::from(n)
                };
                let found: f64 = (0..n).map(|i| light(at(i))).sum();
                let solid = (f64::from(row) * height).cos() - (f64::from(row + 1) * height).cos();
                let allowed = if rows == 8 { 2e-2 } else { 1e-3 };
                assert!((found / solid - 1.0).abs() < allowed, "{row} of {rows}: {found} {solid}");
            }
        }
    }
}
