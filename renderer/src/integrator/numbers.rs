//! The random numbers of a bounce. Each kind has a pair of dimensions of its own, whatever else is drawn, and is
//! computed where it is needed: what all paths of a block need, for all of them at once.

use crate::sampler::{Sampler, Streams};
use glam::Vec2;
use ssl_compiler::runtime::LANES;

/// Pairs of sample dimensions that the camera takes, and each bounce after it.
const CAMERA_PAIRS: u32 = 3;
const BOUNCE_PAIRS: u32 = 6;

#[derive(Clone, Copy)]
pub struct BounceNumbers {
    sampler: Sampler,
    first: u32,
}

/// What the pairs are for, by their places.
const CHOICE: u32 = 0;
const DIRECTION: u32 = 1;
const LIGHT: u32 = 2;
const ENVIRONMENT: u32 = 3;
const ROULETTE: u32 = 4;
const SUNS: u32 = 5;

impl BounceNumbers {
    /// For a hit that the path has come to by `step` rays before.
    pub fn new(sampler: Sampler, step: u32) -> BounceNumbers {
        BounceNumbers { sampler, first: first(step) }
    }

    /// Of a lobe, and of a direction from it.
    pub fn direction(&self) -> Vec2 {
        self.pair(DIRECTION).next_2d()
    }

    /// Of a branch, or of one of the ways of photons.
    pub fn choice(&self) -> f32 {
        self.pair(CHOICE).next_1d()
    }

    pub fn roulette(&self) -> f32 {
        self.pair(ROULETTE).next_1d()
    }

    /// The sampler where one of the bounce's pairs begins.
    pub fn pair(&self, pair: u32) -> Sampler {
        let mut sampler = self.sampler;
        sampler.start_at(self.first + pair);
        sampler
    }
}

/// Of the pairs of a bounce.
fn first(step: u32) -> u32 {
    CAMERA_PAIRS + step * BOUNCE_PAIRS
}

/// The numbers of a bounce of all paths of a block, lane by lane.
pub struct BlockNumbers {
    streams: Streams,
    first: u32,
}

impl BlockNumbers {
    pub fn new(samplers: impl Iterator<Item = Sampler>, step: u32) -> BlockNumbers {
        BlockNumbers { streams: Streams::new(samplers), first: first(step) }
    }

    /// Of a cone of the guide.
    pub fn choice(&self) -> [f32; LANES] {
        self.streams.points(self.first + CHOICE).map(|point| point.x)
    }

    /// Of a lobe, or of the guide in place of all, and of a direction from it.
    pub fn direction(&self) -> [Vec2; LANES] {
        self.streams.points(self.first + DIRECTION)
    }

    pub fn light(&self) -> [Vec2; LANES] {
        self.streams.points(self.first + LIGHT)
    }

    pub fn environment(&self) -> [Vec2; LANES] {
        self.streams.points(self.first + ENVIRONMENT)
    }

    /// For a disk in the sky; for each the same points moved on the torus by the steps of a lattice (Roberts' R2 sequence).
    pub fn sun(&self, number: usize) -> [Vec2; LANES] {
        const STEP: Vec2 = Vec2::new(0.754_877_7, 0.569_840_3);
        let moved = |first: Vec2| (first + STEP * number as f32).fract().min(Vec2::splat(1.0_f32.next_down()));
        self.streams.points(self.first + SUNS).map(moved)
    }
}
