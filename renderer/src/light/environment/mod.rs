//! Light from infinitely far away: constant, a sky gradient, the sky of a day, or a latitude-longitude image.
//!
//! An image is a texture of the scene: it is read by tiles within the texture memory, at the level of the direction's
//! footprint. **One rule for all callers:** a ray that leaves the scene brings the partials of its own direction. A
//! direction from light sampling gets the partials that a sample of the lobes in this direction would have. So both
//! strategies of multiple importance sampling integrate the same function.
//!
//! A varying environment is sampled by tables of its luminance times the cosine at the surface. For an image these come
//! from one of its levels, whose texels are means of everything below them: the level that a sample of a diffuse lobe
//! reads, whose footprint is the widest. A finer table would sample a small sun itself, and leave the rim, over which
//! the footprint spreads it, to chance.

mod daylight;
mod facing;
mod gradient;
mod grid;
mod importance;
#[cfg(test)]
mod lanes_tests;
mod latlong;
mod look_ups;
#[cfg(test)]
mod tests;

pub use daylight::Daylight;

use crate::math::lanes::{Row, Row3, lanes_of};
use crate::math::{luminance, uniform_cone};
use crate::ray::SCATTER_SPREAD;
use crate::texture::{Layout, TextureOptions, TextureSystem};
use glam::{Vec2, Vec3};
use importance::Importance;
pub use importance::{DrawnDirections, Others};
use latlong::{ImageFootprints, LatLong};
use look_ups::LookUps;
use ssl_compiler::runtime::LANES;
use std::f32::consts::{PI, SQRT_2, TAU};

/// A direction that is looked into, as an image's texture has to know it.
#[derive(Clone, Copy, Debug)]
pub struct DirectionFootprint {
    /// Of unit length, away from the scene.
    pub d: Vec3,
    /// Its partials per pixel, by film x and y.
    pub dd: [Vec3; 2],
    /// The path was scattered on its way: see [`MipMode::Auto`](crate::texture::MipMode::Auto).
    pub scattered: bool,
}

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
    Daylight(Box<Daylight>),
    /// A texture by its number, the sizes of its levels, and a factor.
    Image {
        texture: u32,
        levels: Vec<(u32, u32)>,
        scale: Vec3,
    },
}

pub struct Environment {
    kind: EnvironmentKind,
    map: LatLong,
    /// How look-ups are configured.
    options: TextureOptions,
    others: Others,
    importance: Option<Importance>,
}

/// The largest table.
const MAX_COLUMNS: u32 = 1024;

impl Environment {
    pub fn kind(&self) -> &EnvironmentKind {
        &self.kind
    }

    /// `rotation` in degrees about y: the image turns with it.
    pub fn new(kind: EnvironmentKind, rotation: f32, textures: &TextureSystem) -> Environment {
        let map = LatLong { rotation: (rotation % 360.0).to_radians() };
        let mut environment =
            Environment { kind, map, options: TextureOptions::default(), others: Others::Lobes, importance: None };
        environment.configure(TextureOptions::default(), Others::Lobes, textures);
        environment
    }

    /// Says how the textures' look-ups are configured, which a table is made to fit: a coarse level of an image is read; and
    /// who else looks for its light.
    pub fn configure(&mut self, options: TextureOptions, others: Others, textures: &TextureSystem) {
        (self.options, self.others) = (options, others);
        self.importance = match &self.kind {
            EnvironmentKind::Constant(_) => None,
            EnvironmentKind::Sky { zenith, horizon, ground } => {
                Some(of_sky(|height| luminance(sky(*zenith, *horizon, *ground, height)), &self.map, others))
            }
            EnvironmentKind::Daylight(sky) => Some(of_directions(|d| luminance(sky.radiance(d)), &self.map, others)),
            EnvironmentKind::Image { texture, levels, scale } => {
                // The nearest level, in levels.
                let columns = TAU / (SCATTER_SPREAD * self.options.footprint_scale()) * SQRT_2;
                let level = levels.iter().position(|s| s.0 <= (columns as u32).min(MAX_COLUMNS));
                let level = level.unwrap_or(levels.len().saturating_sub(1));
                let light = |t: Vec3| luminance(t * *scale);
                let texels = read_level(textures, *texture, levels, level, &options).into_iter().map(light).collect();
                levels.get(level).map(|size| of_level(texels, size.0 as usize, size.1 as usize, &self.map, others))
            }
        };
    }

    /// Radiance from a direction.
    pub fn radiance(&self, textures: &TextureSystem, footprint: &DirectionFootprint) -> Vec3 {
        let d = footprint.d;
        match &self.kind {
            EnvironmentKind::Constant(c) => *c,
            EnvironmentKind::Sky { zenith, horizon, ground } => sky(*zenith, *horizon, *ground, d.y),
            EnvironmentKind::Daylight(sky) => sky.radiance(d),
            EnvironmentKind::Image { scale, .. } => self.of_image(textures, footprint) * *scale,
        }
    }

    /// What an image has in a direction, before it is scaled.
    fn of_image(&self, textures: &TextureSystem, footprint: &DirectionFootprint) -> Vec3 {
        let mut found = [Vec3::ZERO];
        self.add_of_image(textures, std::slice::from_ref(footprint), &mut found);
        found[0]
    }

    /// The same from many directions. Of an image this costs less than one after the other. Returns the number of look-ups.
    pub fn radiances(&self, textures: &TextureSystem, from: &[DirectionFootprint], found: &mut Vec<Vec3>) -> usize {
        found.clear();
        if let EnvironmentKind::Image { scale, .. } = self.kind {
            found.resize(from.len(), Vec3::ZERO);
            let look_ups = self.add_of_image(textures, from, found);
            found.iter_mut().for_each(|found| *found *= scale);
            return look_ups;
        }
        found.extend(from.iter().map(|footprint| self.radiance(textures, footprint)));
        0
    }

    /// What an image has before it is scaled, written over zeros. Returns the number of look-ups.
    fn add_of_image(&self, textures: &TextureSystem, from: &[DirectionFootprint], found: &mut [Vec3]) -> usize {
        let EnvironmentKind::Image { texture, levels, .. } = &self.kind else { return 0 };
        let mut count = 0;
        let mut look_ups = LookUps::new(textures, *texture);
        for (block, some) in from.chunks(LANES).enumerate() {
            let (mut d, mut dd) = (Row3::ZERO, [Row3::ZERO; 2]);
            for (lane, footprint) in some.iter().enumerate() {
                d.set(lane, footprint.d);
                (0..2).for_each(|i| dd[i].set(lane, footprint.dd[i]));
            }
            let footprints = self.footprints(&d, &dd, levels);
            for (lane, footprint) in some.iter().enumerate() {
                let whom = block * LANES + lane;
                footprints.places(lane, |place| look_ups.add(place, footprint.scattered, whom, found));
                count += footprints.parts(lane);
            }
        }
        look_ups.end(found);
        for found in found {
            // A file may hold anything; one infinite texel would be the whole picture.
            *found = Vec3::select(found.is_finite_mask(), *found, Vec3::ZERO);
        }
        count
    }

    /// The mip level that is read for a direction; `None` where there is no image.
    pub fn level(&self, textures: &TextureSystem, d: Vec3, dd: [Vec3; 2]) -> Option<f32> {
        let EnvironmentKind::Image { texture, levels, .. } = &self.kind else { return None };
        let (mut duv, footprints) = (None, self.footprints(&Row3::splat(d), &dd.map(Row3::splat), levels));
        footprints.places(0, |place| duv = Some(place.duv));
        textures.level(*texture, duv?)
    }

    fn footprints(&self, d: &Row3, dd: &[Row3; 2], levels: &[(u32, u32)]) -> ImageFootprints {
        ImageFootprints::new(&self.map, d, dd, size(levels), self.options.footprint_scale())
    }

    pub fn is_black(&self) -> bool {
        matches!(self.kind, EnvironmentKind::Constant(c) if c == Vec3::ZERO)
    }

    /// Whether radiance depends on the partials of the direction.
    pub fn needs_partials(&self) -> bool {
        matches!(self.kind, EnvironmentKind::Image { .. })
    }

    /// For each of the lanes a unit direction and its density per steradian, by a point of the unit square and the normal of the
    /// surface, which is 0 for what is lit from all sides. None where the light is left to the lobes: always if it is the same from
    /// everywhere.
    pub fn sample_each(&self, lanes: u32, normals: &Row3, u: &[Vec2; LANES]) -> DrawnDirections {
        let mut drawn = DrawnDirections::default();
        match &self.importance {
            Some(importance) => return importance.sample(&self.map, lanes, normals, u),
            None if self.others == Others::Lobes => return drawn,
            None => (drawn.lanes, drawn.pdf) = (lanes, [EVERYWHERE; LANES]),
        }
        lanes_of(lanes).for_each(|lane| drawn.wi.set(lane, uniform_cone(u[lane], 2.0)));
        drawn
    }

    /// The same for one surface.
    pub fn sample(&self, normal: Vec3, u: Vec2) -> Option<(Vec3, f32)> {
        let drawn = self.sample_each(1, &Row3::splat(normal), &[u; LANES]);
        (drawn.lanes != 0).then(|| (drawn.wi.get(0), drawn.pdf[0]))
    }

    /// The densities, per steradian, with which `sample_each` draws the directions `d`. Each integrates to how often anything is drawn.
    pub fn pdf_each(&self, lanes: u32, normals: &Row3, d: &Row3) -> Row {
        match &self.importance {
            None if self.others == Others::Lobes => [0.0; LANES],
            None => [EVERYWHERE; LANES],
            Some(importance) => importance.pdf(&self.map, lanes, normals, d),
        }
    }

    /// The same for one surface.
    pub fn pdf(&self, normal: Vec3, d: Vec3) -> f32 {
        self.pdf_each(1, &Row3::splat(normal), &Row3::splat(d))[0]
    }
}

/// The density of all directions alike.
const EVERYWHERE: f32 = 1.0 / (2.0 * TAU);

/// Rows of equal angles, each with the mean of a function of the height.
fn of_sky(luminance: impl Fn(f32) -> f32, map: &LatLong, others: Others) -> Importance {
    const COLUMNS: usize = 4;
    const ROWS: usize = 128;
    const PLACES: usize = 8;
    let at = |row: usize, i: usize| {
        let theta = (row as f32 + (i as f32 + 0.5) / PLACES as f32) / ROWS as f32 * PI;
        luminance(theta.cos())
    };
    let mean = |row: usize| (0..PLACES).map(|i| at(row, i)).sum::<f32>() / PLACES as f32;
    let means: Vec<f32> = (0..ROWS).flat_map(|row| [mean(row); COLUMNS]).collect();
    Importance::new(map, COLUMNS, &means, others)
}

/// Cells of equal angles, each with the mean of a function of the direction. The horizon lies between two rows.
fn of_directions(luminance: impl Fn(Vec3) -> f32, map: &LatLong, others: Others) -> Importance {
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
    Importance::new(map, COLUMNS, &means, others)
}

/// Width and height of an image in texels.
fn size(levels: &[(u32, u32)]) -> Vec2 {
    levels.first().map_or(Vec2::ONE, |&(width, height)| Vec2::new(width as f32, height as f32))
}

/// All texels of a level, in rows from +y down: look-ups at their centers, with the footprint that chooses this level.
fn read_level(
    textures: &TextureSystem,
    texture: u32,
    levels: &[(u32, u32)],
    level: usize,
    options: &TextureOptions,
) -> Vec<Vec3> {
    let Some(&(width, height)) = levels.get(level) else { return Vec::new() };
    let texel = Vec2::ONE / Vec2::new(width as f32, height as f32);
    // A little more than its texels: what is rounded down must not choose the next finer one.
    let step = Vec2::ONE / size(levels) * (1.0001 * (level as f32 - options.bias).exp2() / options.footprint_scale());
    let mut texels = vec![Vec3::ZERO; width as usize * height as usize];
    // By tiles as most files have them, so that each is read once however few there is room for.
    const TILE: u32 = 64;
    for (top, left) in
        (0..height).step_by(TILE as usize).flat_map(|y| (0..width).step_by(TILE as usize).map(move |x| (y, x)))
    {
        for (y, x) in
            (top..(top + TILE).min(height)).flat_map(|y| (left..(left + TILE).min(width)).map(move |x| (y, x)))
        {
            let uv = (Vec2::new(x as f32, (height - 1 - y) as f32) + 0.5) * texel;
            let found = textures.look_up(texture, uv, [Vec2::new(step.x, 0.0), Vec2::new(0.0, step.y)]);
            texels[(y * width + x) as usize] = found.value.truncate();
        }
    }
    textures.cache().release();
    texels
}

/// Widths and heights of the levels of an image.
pub fn level_sizes(layout: &Layout) -> Vec<(u32, u32)> {
    layout.levels.iter().map(|l| (l.width, l.height)).collect()
}

/// Cells are the texels of a level, which come in rows from +y down.
fn of_level(mut light: Vec<f32>, width: usize, height: usize, map: &LatLong, others: Others) -> Importance {
    // Negative light is none, but does not take away that of its neighbours.
    light.iter_mut().for_each(|l| *l = if l.is_finite() { l.max(0.0) } else { 0.0 });
    // Between texel centers there is interpolation; its mean over a texel has an eighth of either neighbour along each
    // axis.
    let tent = |before: f32, here: f32, after: f32| 0.125 * before + 0.75 * here + 0.125 * after;
    let across = |y: usize, x: usize| {
        let line = &light[y * width..(y + 1) * width];
        tent(line[(x + width - 1) % width], line[x], line[(x + 1) % width])
    };
    let mean =
        |y: usize, x: usize| tent(across(y.saturating_sub(1), x), across(y, x), across((y + 1).min(height - 1), x));
    let means: Vec<f32> = (0..width * height).map(|i| mean(i / width, i % width)).collect();
    Importance::new(map, width, &means, others)
}

fn sky(zenith: Vec3, horizon: Vec3, ground: Vec3, height: f32) -> Vec3 {
    horizon.lerp(if height >= 0.0 { zenith } else { ground }, sky_blend(height))
}

/// How much of what is above the horizon, or below it, there is at a height.
fn sky_blend(height: f32) -> f32 {
    if height >= 0.0 {
        // The square root puts most of the change near the horizon, as haze does.
        height.min(1.0).sqrt()
    } else {
        let t = (-height * 16.0).min(1.0);
        t * t * (3.0 - 2.0 * t)
    }
}
