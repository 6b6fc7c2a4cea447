//! The tables that light sampling draws from, for each kind of environment.

use super::cells::Values;
use super::importance::{Importance, Others};
use super::latlong::LatLong;
use super::transport::TransportLevel;
use crate::math::luminance;
use crate::texture::{Places, TextureSystem};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;
use std::f32::consts::PI;

/// Rows of equal angles, each with the mean of a function of the height.
pub fn of_sky(luminance: impl Fn(f32) -> f32, map: &LatLong, others: Others) -> Importance {
    const COLUMNS: usize = 4;
    const ROWS: usize = 128;
    const PLACES: usize = 8;
    let at = |row: usize, i: usize| {
        let theta = (row as f32 + (i as f32 + 0.5) / PLACES as f32) / ROWS as f32 * PI;
        luminance(theta.cos())
    };
    let mean = |row: usize| (0..PLACES).map(|i| at(row, i)).sum::<f32>() / PLACES as f32;
    let means: Vec<f32> = (0..ROWS).flat_map(|row| [mean(row); COLUMNS]).collect();
    Importance::new(map, COLUMNS, Values::Means(&means), others)
}

/// Cells of equal angles, each with the mean of a function of the direction. The horizon lies between two rows.
pub fn of_directions(luminance: impl Fn(Vec3) -> f32, map: &LatLong, others: Others) -> Importance {
    const COLUMNS: usize = 256;
    const ROWS: usize = 128;
    const PLACES: usize = 3;
    let at = |x: usize, y: usize, i: usize| {
        let within = |i: usize| (i as f32 + 0.5) / PLACES as f32;
        let (u, v) = (x as f32 + within(i % PLACES), y as f32 + within(i / PLACES));
        luminance(map.direction(u / COLUMNS as f32, v / ROWS as f32 * PI))
    };
    let mean = |x: usize, y: usize| (0..PLACES * PLACES).map(|i| at(x, y, i)).sum::<f32>() / (PLACES * PLACES) as f32;
    let means: Vec<f32> = (0..ROWS).flat_map(|y| (0..COLUMNS).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect();
    Importance::new(map, COLUMNS, Values::Means(&means), others)
}

/// The texels of the level that light transport reads; `scale` multiplies their colors.
pub fn of_image(
    textures: &TextureSystem,
    texture: u32,
    level: &TransportLevel,
    (map, scale): (&LatLong, Vec3),
    others: Others,
) -> Importance {
    // Negative light is none, but does not take away its neighbours' light.
    let light = |t: Vec3| Some(luminance(t * scale)).filter(|l| l.is_finite()).unwrap_or(0.0).max(0.0);
    let texels: Vec<f32> = read(textures, texture, level).into_iter().map(light).collect();
    Importance::new(map, level.width as usize, Values::Texels(&texels), others)
}

/// All texels of a level, in rows from +y down: look-ups at their centers.
fn read(textures: &TextureSystem, texture: u32, level: &TransportLevel) -> Vec<Vec3> {
    let &TransportLevel { width, height, .. } = level;
    let texel = Vec2::ONE / Vec2::new(width as f32, height as f32);
    let mut texels = vec![Vec3::ZERO; width as usize * height as usize];
    let mut places = Places { levels: Some([level.number as f32; LANES]), ..Places::EMPTY };
    // By tiles as most files have them, so that each is read once however few there is room for.
    const TILE: u32 = 64;
    for (top, left) in
        (0..height).step_by(TILE as usize).flat_map(|y| (0..width).step_by(TILE as usize).map(move |x| (y, x)))
    {
        for y in top..(top + TILE).min(height) {
            for first in (left..(left + TILE).min(width)).step_by(LANES) {
                let count = LANES.min((left + TILE).min(width) as usize - first as usize);
                for lane in 0..count {
                    let at = Vec2::new((first as usize + lane) as f32, (height - 1 - y) as f32);
                    places.set(lane, (at + 0.5) * texel, [Vec2::ZERO; 2]);
                }
                let found = textures.values(texture, &places, ((1_u64 << count) - 1) as u32);
                let row = &mut texels[(y * width + first) as usize..][..count];
                row.iter_mut().zip(found).for_each(|(texel, found)| *texel = found.truncate());
            }
        }
    }
    textures.cache().release();
    texels
}
