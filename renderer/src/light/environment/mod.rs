//! Light from infinitely far away: constant, a sky gradient, the sky of a day, or a latitude-longitude image.
//!
//! An image is a texture of the scene: it is read by tiles within the texture memory. The camera reads it with the
//! footprint of the pixel, straight or in mirrors. Light transport reads one level of it, and light sampling draws from
//! a table of that level: see [`transport`]. So both strategies of multiple importance sampling integrate the same
//! function, and neither leaves anything to chance that the other was to find.
//!
//! A varying environment is sampled by tables of its luminance times the cosine at the surface.

mod cells;
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
mod suns_tests;
mod tables;
#[cfg(test)]
mod tests;
mod transport;

pub use daylight::Daylight;

use crate::math::lanes::{Row, Row3, lanes_of};
use crate::math::{luminance, uniform_cone};
use crate::texture::{Layout, MipMode, TextureOptions, TextureSystem};
use glam::{Vec2, Vec3};
use importance::Importance;
pub use importance::{DrawnDirections, Others};
use latlong::{ImageFootprints, LatLong, Place};
use look_ups::LookUps;
use ssl_compiler::runtime::LANES;
use std::f32::consts::TAU;
use transport::{TransportLevel, of_lane};

/// A direction that is looked into, as an image's texture has to know it.
#[derive(Clone, Copy, Debug)]
pub struct DirectionFootprint {
    /// Of unit length, away from the scene.
    pub d: Vec3,
    /// Its partials per pixel, by film x and y; of no meaning where the path was scattered.
    pub dd: [Vec3; 2],
    /// The path was scattered on its way, or the direction is one of light sampling: light transport reads one level.
    pub scattered: bool,
}

impl DirectionFootprint {
    /// A unit direction of light transport.
    pub fn scattered(d: Vec3) -> DirectionFootprint {
        DirectionFootprint { d, dd: [Vec3::ZERO; 2], scattered: true }
    }
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

    /// Says how the textures' look-ups are configured, and who else looks for its light, and makes tables that fit.
    pub fn configure(&mut self, options: TextureOptions, others: Others, textures: &TextureSystem) {
        (self.options, self.others) = (options, others);
        self.importance = match &self.kind {
            EnvironmentKind::Constant(_) => None,
            EnvironmentKind::Sky { zenith, horizon, ground } => {
                Some(tables::of_sky(|height| luminance(sky(*zenith, *horizon, *ground, height)), &self.map, others))
            }
            EnvironmentKind::Daylight(sky) => {
                Some(tables::of_directions(|d| luminance(sky.radiance(d)), &self.map, others))
            }
            EnvironmentKind::Image { texture, levels, scale } => TransportLevel::of(levels)
                .map(|level| tables::of_image(textures, *texture, &level, (&self.map, *scale), others)),
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
        let level = TransportLevel::of(levels).map_or(0, |level| level.number);
        let mut by_footprint = LookUps::new(textures, *texture, None);
        let mut by_level = LookUps::new(textures, *texture, Some(level));
        for (block, some) in from.chunks(LANES).enumerate() {
            let (mut d, mut dd) = (Row3::ZERO, [Row3::ZERO; 2]);
            for (lane, footprint) in some.iter().enumerate() {
                d.set(lane, footprint.d);
                (0..2).for_each(|i| dd[i].set(lane, footprint.dd[i]));
            }
            let places = some.iter().any(|f| f.scattered).then(|| self.transport_places(&d, levels));
            let footprints = some.iter().any(|f| !f.scattered).then(|| self.footprints(&d, &dd, levels));
            for (lane, footprint) in some.iter().enumerate() {
                let whom = block * LANES + lane;
                if let Some(places) = places.as_ref().filter(|_| footprint.scattered) {
                    by_level.add(&Place::at(of_lane(places, lane)), whom, found);
                    count += 1;
                } else if let Some(footprints) = &footprints {
                    footprints.places(lane, |place| by_footprint.add(place, whom, found));
                    count += footprints.parts(lane);
                }
            }
        }
        by_footprint.end(found);
        by_level.end(found);
        for found in found {
            // A file may hold anything; one infinite texel would be the whole picture.
            *found = Vec3::select(found.is_finite_mask(), *found, Vec3::ZERO);
        }
        count
    }

    /// The mip level that is read for a direction; `None` where there is no image.
    pub fn level(&self, textures: &TextureSystem, from: &DirectionFootprint) -> Option<f32> {
        let EnvironmentKind::Image { texture, levels, .. } = &self.kind else { return None };
        if from.scattered {
            return TransportLevel::of(levels).map(|level| level.number as f32);
        }
        let mut duv = None;
        let footprints = self.footprints(&Row3::splat(from.d), &from.dd.map(Row3::splat), levels);
        footprints.places(0, |place| duv = Some(place.duv));
        textures.level(*texture, duv?)
    }

    /// Where light transport reads an image for the directions of lanes.
    fn transport_places(&self, d: &Row3, levels: &[(u32, u32)]) -> [Row; 2] {
        let none = TransportLevel { number: 0, width: 1, height: 1 };
        let bilinear = self.options.mode != MipMode::Nearest;
        TransportLevel::of(levels).unwrap_or(none).places(&self.map, d, bilinear)
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

/// Width and height of an image in texels.
fn size(levels: &[(u32, u32)]) -> Vec2 {
    levels.first().map_or(Vec2::ONE, |&(width, height)| Vec2::new(width as f32, height as f32))
}

/// Widths and heights of the levels of an image.
pub fn level_sizes(layout: &Layout) -> Vec<(u32, u32)> {
    layout.levels.iter().map(|l| (l.width, l.height)).collect()
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
