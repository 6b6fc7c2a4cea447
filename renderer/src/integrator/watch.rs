//! Records what shaders do while they run, for users who look into a render.

use super::probe::LookUp;
use crate::texture::TextureSystem;
use glam::Vec2;
use ssl_compiler::runtime::{HostServices, LANES, PrintRequest, Row, TextureDouble, TextureRequest};
use std::sync::{Mutex, PoisonError};

/// What the shader did in each lane of a block.
#[derive(Clone, Debug, Default)]
pub struct WatchedLookUps {
    /// The finest level that a footprint chose.
    pub level: [Option<f32>; LANES],
    /// The longest step of a footprint, in texels of level 0.
    pub footprint: [Option<f32>; LANES],
    /// Every look-up, and its lane.
    pub look_ups: Vec<(usize, LookUp)>,
}

/// A host that watches what shaders ask of another.
pub struct Watch<'a> {
    host: &'a dyn HostServices,
    textures: &'a TextureSystem,
    seen: Mutex<WatchedLookUps>,
}

impl<'a> Watch<'a> {
    /// `textures` are those that `host` looks up.
    pub fn new(host: &'a dyn HostServices, textures: &'a TextureSystem) -> Watch<'a> {
        Watch { host, textures, seen: Mutex::default() }
    }

    pub fn seen(self) -> WatchedLookUps {
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
            let duv = [ddx, ddy].map(Vec2::from);
            let (level, footprint) = if r.has_level != 0 {
                let level = self.textures.level_within(r.texture, at(&r.level));
                (level, level.map(f32::exp2))
            } else {
                let footprint = self.textures.footprint(r.texture, duv);
                (self.textures.level(r.texture, duv), footprint.map(|f| f.x.length().max(f.y.length())))
            };
            let longest = &mut seen.footprint[lane];
            *longest = longest.map_or(footprint, |k| Some(footprint.map_or(k, |f| f.max(k))));
            let (uv, result) = ([at(&r.u), at(&r.v)], [0, 1, 2, 3].map(|c| at(&r.result[c])));
            let known = &mut seen.level[lane];
            *known = known.map_or(level, |k| Some(level.map_or(k, |l| l.min(k))));
            seen.look_ups.push((lane, LookUp { texture: r.texture, uv, ddx, ddy, level, result }));
        }
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.host.texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        self.host.texture_adjoint(request)
    }

    fn print(&self, request: &PrintRequest<'_>) {
        self.host.print(request);
    }
}
