//! Look-ups of an image from many directions, as many at once as a request has lanes.

use super::latlong::Place;
use crate::texture::{Places, TextureSystem};
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// Gathers look-ups, and adds what they bring to those that they are for.
pub struct LookUps<'a> {
    textures: &'a TextureSystem,
    texture: u32,
    places: Places,
    /// For each lane, for whom it is and how much it counts.
    asked: [(usize, f32); LANES],
    count: usize,
}

impl<'a> LookUps<'a> {
    /// By the footprints of the places, or at a level.
    pub fn new(textures: &'a TextureSystem, texture: u32, level: Option<usize>) -> LookUps<'a> {
        let places = Places { levels: level.map(|level| [level as f32; LANES]), ..Places::EMPTY };
        LookUps { textures, texture, places, asked: [(0, 0.0); LANES], count: 0 }
    }

    /// One for the number `whom` of `found`.
    pub fn add(&mut self, place: &Place, whom: usize, found: &mut [Vec3]) {
        self.places.set(self.count, place.uv, place.duv);
        self.asked[self.count] = (whom, place.weight);
        self.count += 1;
        if self.count == LANES {
            self.end(found);
        }
    }

    /// Answers what has not been yet.
    pub fn end(&mut self, found: &mut [Vec3]) {
        if self.count == 0 {
            return;
        }
        let values = self.textures.values(self.texture, &self.places, (1 << self.count) - 1);
        for (value, (whom, weight)) in values.iter().zip(&self.asked[..self.count]) {
            found[*whom] += value.truncate() * *weight;
        }
        self.count = 0;
    }
}
