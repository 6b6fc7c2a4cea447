//! The random numbers of a bounce. Each kind has a pair of dimensions of its own, whatever else is drawn, and is
//! computed where it is needed.

use crate::sampler::Sampler;
use glam::Vec2;

/// Pairs of sample dimensions that the camera takes, and each bounce after it.
const CAMERA_PAIRS: u32 = 3;
const BOUNCE_PAIRS: u32 = 6;

#[derive(Clone, Copy)]
pub struct BounceNumbers {
    sampler: Sampler,
    first: u32,
}

impl BounceNumbers {
    /// For a hit that the path has come to by `step` rays before.
    pub fn new(sampler: Sampler, step: u32) -> BounceNumbers {
        BounceNumbers { sampler, first: CAMERA_PAIRS + step * BOUNCE_PAIRS }
    }

    pub fn lobe(&self) -> f32 {
        self.pair(0).next_1d()
    }

    pub fn direction(&self) -> Vec2 {
        self.pair(1).next_2d()
    }

    pub fn light(&self) -> Vec2 {
        self.pair(2).next_2d()
    }

    pub fn environment(&self) -> Vec2 {
        self.pair(3).next_2d()
    }

    pub fn roulette(&self) -> f32 {
        self.pair(4).next_1d()
    }

    /// For each disk in the sky, the same points moved on the torus by the steps of a lattice (Roberts' R2 sequence).
    pub fn suns(&self) -> impl Iterator<Item = Vec2> {
        const STEP: Vec2 = Vec2::new(0.754_877_7, 0.569_840_3);
        let first = self.pair(5).next_2d();
        (0..).map(move |i| (first + STEP * i as f32).fract().min(Vec2::splat(1.0_f32.next_down())))
    }

    /// The sampler where one of the bounce's pairs begins.
    pub fn pair(&self, pair: u32) -> Sampler {
        let mut sampler = self.sampler;
        sampler.start_at(self.first + pair);
        sampler
    }
}
