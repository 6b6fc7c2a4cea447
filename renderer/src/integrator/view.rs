//! Views that show, in place of light, what the renderer did: each a picture in false color.
//!
//! A view shows the first hit, or what is seen in a mirror there: mirrors are followed while nothing but them is met.

use super::probe::LookUp;
use crate::math::srgb_to_linear;
use crate::texture::TextureSystem;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{HostServices, LANES, PrintRequest, Row, TextureDouble, TextureRequest};
use std::sync::{Mutex, PoisonError};

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The mip level of the look-ups: of several the finest.
    MipLevel,
}

impl View {
    pub const NAMED: [(&str, View); 1] = [("mip-level", View::MipLevel)];

    /// What is shown of a hit at which the shader did as `seen`; `None` where it shows what a mirror reflects.
    /// `goes_on` says that there is nothing but mirrors, and that the path may follow.
    pub fn of_hit(self, seen: &Seen, lane: usize, goes_on: bool) -> Option<Vec3> {
        match self {
            View::MipLevel if seen.level[lane].is_none() && goes_on => None,
            View::MipLevel => Some(level_color(seen.level[lane])),
        }
    }

    /// What is shown of the environment, whose image is read at `level`.
    pub fn of_environment(self, level: Option<f32>) -> Vec3 {
        match self {
            View::MipLevel => level_color(level),
        }
    }
}

/// Levels 0, 1, 2 … in sRGB; coarser ones are as the last.
const LEVELS: [[u8; 3]; 9] = [
    [0xd7, 0x19, 0x1c],
    [0xf6, 0x8b, 0x33],
    [0xfc, 0xe9, 0x4f],
    [0x73, 0xd2, 0x16],
    [0x16, 0xb5, 0xa6],
    [0x34, 0x65, 0xd8],
    [0x7b, 0x3f, 0xc4],
    [0xd6, 0x4f, 0xc8],
    [0xff, 0xff, 0xff],
];
/// Where nothing was looked up.
const NOTHING: [u8; 3] = [0x30, 0x30, 0x30];

/// In linear light; between levels a mixture.
fn level_color(level: Option<f32>) -> Vec3 {
    let linear = |c: [u8; 3]| Vec3::from(c.map(|c| srgb_to_linear(f32::from(c) / 255.0)));
    let Some(level) = level else { return linear(NOTHING) };
    let level = level.clamp(0.0, (LEVELS.len() - 1) as f32);
    let below = (level as usize).min(LEVELS.len() - 2);
    linear(LEVELS[below]).lerp(linear(LEVELS[below + 1]), level - below as f32)
}

/// What the shader did in each lane of a block.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The finest level that was read.
    pub level: [Option<f32>; LANES],
    /// Every look-up, and its lane.
    pub look_ups: Vec<(usize, LookUp)>,
}

/// A host that watches what shaders ask of another.
pub struct Watch<'a> {
    host: &'a dyn HostServices,
    textures: &'a TextureSystem,
    seen: Mutex<Seen>,
}

impl<'a> Watch<'a> {
    /// `textures` are those that `host` looks up.
    pub fn new(host: &'a dyn HostServices, textures: &'a TextureSystem) -> Watch<'a> {
        Watch { host, textures, seen: Mutex::default() }
    }

    pub fn seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostServices for Watch<'_> {
    fn texture(&self, request: &mut TextureRequest) {
        self.host.texture(request);
        // Not held while the host waits for tiles.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in request.lanes() {
            let r = &*request;
            let at = |row: &Row| row.0[lane];
            let (ddx, ddy) = ([at(&r.dudx), at(&r.dvdx)], [at(&r.dudy), at(&r.dvdy)]);
            let level = self.textures.level(r.texture, [ddx, ddy].map(Vec2::from));
            let (uv, result) = ([at(&r.u), at(&r.v)], [0, 1, 2, 3].map(|c| at(&r.result[c])));
            let known = &mut seen.level[lane];
            *known = known.map_or(level, |k| Some(level.map_or(k, |l| l.min(k))));
            seen.look_ups.push((lane, LookUp { texture: r.texture, uv, ddx, ddy, level, result }));
        }
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn print(&self, request: &PrintRequest<'_>) {
        self.host.print(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_colors_and_mixtures_between() {
        let red = |level| crate::math::linear_to_srgb(level_color(Some(level)).x) * 255.0;
        assert!((red(0.0) - 215.0).abs() < 0.01 && (red(3.0) - 115.0).abs() < 0.01);
        assert_eq!(level_color(Some(-2.0)), level_color(Some(0.0)));
        assert_eq!(level_color(Some(40.0)), Vec3::ONE);
        let middle = (level_color(Some(1.0)) + level_color(Some(2.0))) * 0.5;
        assert!((level_color(Some(1.5)) - middle).length() < 1e-6);
        assert!(level_color(None).max_element() < 0.05);
    }
}
