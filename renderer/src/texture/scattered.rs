//! Textures as paths see them that were scattered on their way, whose look-ups are drawn: see [`super::MipMode::Auto`].

use super::gradients::lock;
use super::system::{TextureSystem, places};
use ssl_compiler::runtime::{HostServices, LANES, TextureRequest};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Textures as the shaders of one block see them, some of whose paths were scattered.
pub struct Scattered<'a> {
    textures: &'a TextureSystem,
    scattered: u32,
    /// How many look-ups each lane has made: which those are does not depend on the other lanes.
    turns: [AtomicU32; LANES],
    /// The look-ups whose transposes may come, the last one last.
    made: Mutex<Vec<Made>>,
}

/// A look-up of a path that was scattered, which drew by its turn.
struct Made {
    lane: usize,
    /// The texture, and the bits of where it was looked up.
    at: [u32; 9],
    turn: u32,
}

/// The bits of where a lane looks.
fn bits_of(request: &TextureRequest, lane: usize) -> [u32; 9] {
    let r = request;
    let rows = [&r.u, &r.v, &r.dudx, &r.dudy, &r.dvdx, &r.dvdy, &r.level].map(|row| row.0[lane].to_bits());
    let [u, v, dudx, dudy, dvdx, dvdy, level] = rows;
    let level = if r.has_level != 0 { level } else { 0 };
    [r.texture, r.has_level, u, v, dudx, dudy, dvdx, dvdy, level]
}

impl Scattered<'_> {
    /// As after so many look-ups of each lane, where a path asks shaders one after the other.
    pub fn after(self, look_ups: impl Iterator<Item = u32>) -> Self {
        self.turns.iter().zip(look_ups).for_each(|(turn, made)| turn.store(made, Ordering::Relaxed));
        self
    }

    /// How many look-ups a lane has made.
    pub fn look_ups(&self, lane: usize) -> u32 {
        self.turns[lane].load(Ordering::Relaxed)
    }
}

impl HostServices for Scattered<'_> {
    fn texture(&self, request: &mut TextureRequest) {
        let turn = |lane: usize| self.turns[lane].fetch_add(1, Ordering::Relaxed);
        if self.scattered != 0 && self.textures.keeps_gradient(request.texture) {
            let drawn = request.lanes().filter(|lane| self.scattered >> lane & 1 != 0);
            let next = |lane: usize| self.turns[lane].load(Ordering::Relaxed);
            lock(&self.made).extend(drawn.map(|lane| Made { lane, at: bits_of(request, lane), turn: next(lane) }));
        }
        self.textures.answer(request, self.scattered, turn);
    }

    /// Draws as the look-up drew: the last one at the same place whose transpose has not come yet.
    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        let mut places = places(request, self.scattered);
        let mut made = lock(&self.made);
        let mut known = request.mask;
        for lane in request.lanes().filter(|lane| self.scattered >> lane & 1 != 0) {
            let at = bits_of(request, lane);
            match made.iter().rposition(|m| m.lane == lane && m.at == at) {
                Some(i) => places.turn[lane] = made.remove(i).turn,
                // Nobody knows what it drew.
                None => known &= !(1 << lane),
            }
        }
        drop(made);
        let kept = self.textures.add_adjoint(request, &places, request.lanes().filter(|lane| known >> lane & 1 != 0));
        kept && known == request.mask
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.textures.texture_size(texture)
    }
}

impl TextureSystem {
    /// The host for shaders at hits of which the lanes in `scattered` belong to paths that were scattered on their way.
    pub fn scattered(&self, scattered: u32) -> Scattered<'_> {
        Scattered { textures: self, scattered, turns: Default::default(), made: Mutex::default() }
    }
}
