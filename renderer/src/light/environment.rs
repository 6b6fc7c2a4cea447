//! Light from infinitely far away: constant, a sky gradient, or a latitude-longitude image.
//!
//! Directions map to the image by `u = frac(atan2(x, −z)/2π)`, `v = acos(y)/π` with row 0 on top: −z is
//! at its left edge, +x a quarter to the right. What varies is drawn by a table of its luminance.

use super::LightSample;
use crate::math::{Distribution, luminance, uniform_cone};
use glam::{Vec2, Vec3, Vec4};
use std::f32::consts::{PI, TAU};

/// What the environment looks like.
#[derive(Clone, Debug)]
pub enum EnvironmentKind {
    Constant(Vec3),
    /// Radiance straight up, at the horizon and straight down, blended by the direction's height; the
    /// horizon blends into the ground within a few degrees.
    Sky {
        zenith: Vec3,
        horizon: Vec3,
        ground: Vec3,
    },
    Image {
        width: u32,
        height: u32,
        texels: Vec<Vec4>,
        scale: Vec3,
    },
}

pub struct Environment {
    kind: EnvironmentKind,
    /// About y, radians; the image turns with it.
    rotation: f32,
    table: Option<Table>,
}

/// Cells of equal angles, drawn by luminance times solid angle.
struct Table {
    columns: usize,
    rows: usize,
    choice: Distribution,
}

/// The largest table; a finer image is tabulated by its mean over a cell's corners and center.
const MAX_COLUMNS: usize = 1024;

impl Environment {
    /// `rotation` in degrees about y.
    pub fn new(kind: EnvironmentKind, rotation: f32) -> Environment {
        let size = match &kind {
            EnvironmentKind::Constant(_) => None,
            EnvironmentKind::Sky { .. } => Some((4, 128)),
            EnvironmentKind::Image { width, height, .. } => {
                let columns = (*width as usize).clamp(4, MAX_COLUMNS);
                Some((columns, (*height as usize).clamp(2, MAX_COLUMNS / 2)))
            }
        };
        let mut environment = Environment { kind, rotation: rotation.to_radians(), table: None };
        environment.table = size.map(|(columns, rows)| environment.tabulate(columns, rows));
        environment
    }

    /// Radiance from the direction `d` (unit length, away from the scene).
    pub fn radiance(&self, d: Vec3) -> Vec3 {
        match &self.kind {
            EnvironmentKind::Constant(c) => *c,
            EnvironmentKind::Sky { zenith, horizon, ground } => sky(*zenith, *horizon, *ground, d.y),
            EnvironmentKind::Image { width, height, texels, scale } => {
                bilinear(*width, *height, texels, self.direction_to_uv(d)) * *scale
            }
        }
    }

    pub fn is_black(&self) -> bool {
        matches!(self.kind, EnvironmentKind::Constant(c) if c == Vec3::ZERO)
    }

    pub fn sample(&self, u: Vec2) -> LightSample {
        let (wi, pdf) = match &self.table {
            None => (uniform_cone(u, 2.0), 1.0 / (2.0 * TAU)),
            Some(table) => {
                let (cell, p, stretched) = table.choice.sample(u.x);
                let uv = Vec2::new(((cell % table.columns) as f32 + stretched) / table.columns as f32, 0.0);
                let theta = ((cell / table.columns) as f32 + u.y) / table.rows as f32 * PI;
                (self.uv_to_direction(uv.x, theta), p * table.density(theta))
            }
        };
        LightSample { wi, distance: f32::INFINITY, radiance: self.radiance(wi), pdf }
    }

    /// The density, per steradian, with which `sample` draws `d`.
    pub fn pdf(&self, d: Vec3) -> f32 {
        let Some(table) = &self.table else { return 1.0 / (2.0 * TAU) };
        let uv = self.direction_to_uv(d);
        let column = ((uv.x * table.columns as f32) as usize).min(table.columns - 1);
        let row = ((uv.y * table.rows as f32) as usize).min(table.rows - 1);
        table.choice.probability(row * table.columns + column) * table.density(uv.y * PI)
    }

    fn direction_to_uv(&self, d: Vec3) -> Vec2 {
        let turn = (d.x.atan2(-d.z) - self.rotation) / TAU;
        Vec2::new(turn - turn.floor(), d.y.clamp(-1.0, 1.0).acos() / PI)
    }

    fn uv_to_direction(&self, u: f32, theta: f32) -> Vec3 {
        let phi = u * TAU + self.rotation;
        Vec3::new(theta.sin() * phi.sin(), theta.cos(), -theta.sin() * phi.cos())
    }

    fn tabulate(&self, columns: usize, rows: usize) -> Table {
        let at =
            |x: f32, y: f32| luminance(self.radiance(self.uv_to_direction(x / columns as f32, y / rows as f32 * PI)));
        let weight = |cell: usize| {
            let (x, y) = ((cell % columns) as f32, (cell / columns) as f32);
            let around = [(0.5, 0.5), (0.05, 0.05), (0.95, 0.05), (0.05, 0.95), (0.95, 0.95)];
            let mean = around.iter().map(|o| at(x + o.0, y + o.1)).sum::<f32>() / 5.0;
            let (top, bottom) = (y / rows as f32 * PI, (y + 1.0) / rows as f32 * PI);
            (mean, top.cos() - bottom.cos())
        };
        let weights: Vec<(f32, f32)> = (0..columns * rows).map(weight).collect();
        // A floor, so that what the five places missed is still found.
        let floor = weights.iter().map(|w| w.0 * w.1).sum::<f32>() / (2.0 * columns as f32) * 0.01;
        Table { columns, rows, choice: Distribution::new(weights.iter().map(|w| (w.0 + floor) * w.1)) }
    }
}

impl Table {
    /// From a cell's probability to a density per steradian at polar angle `theta`.
    fn density(&self, theta: f32) -> f32 {
        (self.columns * self.rows) as f32 / (TAU * PI * theta.sin().max(1e-6))
    }
}

fn sky(zenith: Vec3, horizon: Vec3, ground: Vec3, height: f32) -> Vec3 {
    if height >= 0.0 {
        // The square root puts most of the change near the horizon, as haze does.
        horizon.lerp(zenith, height.min(1.0).sqrt())
    } else {
        let t = (-height * 16.0).min(1.0);
        horizon.lerp(ground, t * t * (3.0 - 2.0 * t))
    }
}

/// Wraps around in u, stops at the poles.
fn bilinear(width: u32, height: u32, texels: &[Vec4], uv: Vec2) -> Vec3 {
    let (x, y) = (uv.x * width as f32 - 0.5, uv.y * height as f32 - 0.5);
    let (fx, fy) = (x - x.floor(), y - y.floor());
    let texel = |dx: i64, dy: i64| {
        let column = (x.floor() as i64 + dx).rem_euclid(i64::from(width)) as usize;
        let row = (y.floor() as i64 + dy).clamp(0, i64::from(height) - 1) as usize;
        texels[row * width as usize + column].truncate()
    };
    texel(0, 0).lerp(texel(1, 0), fx).lerp(texel(0, 1).lerp(texel(1, 1), fx), fy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    fn image() -> Environment {
        let texel = |i: usize| Vec4::splat(if i == 70 { 50.0 } else { 0.1 + (i % 5) as f32 * 0.1 });
        let texels = (0..16 * 8).map(texel).collect();
        Environment::new(EnvironmentKind::Image { width: 16, height: 8, texels, scale: Vec3::ONE }, 25.0)
    }

    fn sky_environment() -> Environment {
        let kind =
            EnvironmentKind::Sky { zenith: Vec3::new(0.2, 0.4, 0.9), horizon: Vec3::ONE, ground: Vec3::splat(0.1) };
        Environment::new(kind, 0.0)
    }

    #[test]
    fn the_image_lies_as_its_convention_says() {
        let texels = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(Vec4::splat).to_vec();
        let e = Environment::new(EnvironmentKind::Image { width: 4, height: 2, texels, scale: Vec3::ONE }, 0.0);
        // Column centers lie at 45° and so on from −z towards +x; rows at 45° from the poles.
        let slope = std::f32::consts::FRAC_1_SQRT_2;
        let at = |x: f32, y: f32, z: f32| e.radiance(Vec3::new(x * slope, y, z * slope).normalize()).x;
        assert!((at(0.7, slope, -0.7) - 1.0).abs() < 0.05);
        assert!((at(0.7, slope, 0.7) - 2.0).abs() < 0.05);
        assert!((at(-0.7, -slope, 0.7) - 7.0).abs() < 0.05);
    }

    /// Importance sampling and uniform sampling agree on the mean, and `pdf` is what `sample` says.
    #[test]
    fn samples_estimate_the_integral_with_the_density_they_say() {
        for e in [image(), sky_environment(), Environment::new(EnvironmentKind::Constant(Vec3::ONE), 0.0)] {
            let (mut by_table, mut uniform) = (0.0, 0.0);
            const N: u32 = 1 << 16;
            for i in 0..N {
                let u = Sampler::new(0, (0, 0), i).next_2d();
                let s = e.sample(u);
                assert!((s.wi.length() - 1.0).abs() < 1e-4);
                assert!((e.pdf(s.wi) / s.pdf - 1.0).abs() < 0.02 || at_cell_edge(&e, s.wi));
                by_table += f64::from(s.radiance.x / s.pdf);
                uniform += f64::from(e.radiance(uniform_cone(u, 2.0)).x * 2.0 * TAU);
            }
            assert!((by_table / uniform - 1.0).abs() < 5e-3, "{by_table} {uniform}");
        }
    }

    /// A rounded direction may fall into the neighbouring cell.
    fn at_cell_edge(e: &Environment, d: Vec3) -> bool {
        let table = e.table.as_ref().expect("only tables have cells");
        let uv = e.direction_to_uv(d) * Vec2::new(table.columns as f32, table.rows as f32);
        let from_edge = (uv - uv.round()).abs();
        from_edge.min_element() < 1e-3 || d.y.abs() > 0.999
    }
}
