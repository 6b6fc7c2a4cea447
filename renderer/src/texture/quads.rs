//! Eight bilinear look-ups: the four texels of a level around each, and the weights between them.

use super::wrap::floor;
use glam::Vec2;

/// Look-ups that are worked on together, so that the compiler makes vector code of their arithmetic.
pub const WIDE: usize = 8;

pub const HALF: usize = WIDE / 2;

/// Up to eight look-ups.
#[derive(Clone, Copy)]
pub struct Octet {
    /// Texture coordinates.
    pub u: [f32; WIDE],
    pub v: [f32; WIDE],
    /// The level, of two the finer.
    pub level: [u32; WIDE],
    /// How much each counts.
    pub weight: [f32; WIDE],
    /// How much of that is the next coarser level's, 0 to 1.
    pub blend: [f32; WIDE],
    /// For whom it is.
    pub lane: [u8; WIDE],
    /// How many there are.
    pub count: usize,
}

impl Octet {
    pub const EMPTY: Octet = Octet {
        u: [0.0; WIDE],
        v: [0.0; WIDE],
        level: [0; WIDE],
        weight: [0.0; WIDE],
        blend: [0.0; WIDE],
        lane: [0; WIDE],
        count: 0,
    };
}

/// Their quads at their levels. A quad is the texels at (left, bottom), one to the right of that, one above it, and above
/// that to the right; it may reach past the image.
pub struct Quads {
    pub left: [i32; WIDE],
    pub bottom: [i32; WIDE],
    /// Fractions of the way from left to right and from bottom to top.
    pub s: [f32; WIDE],
    pub t: [f32; WIDE],
    pub weight: [f32; WIDE],
    pub lane: [u8; WIDE],
    pub level: [u32; WIDE],
    /// Of the level, in texels.
    pub width: [f32; WIDE],
    pub height: [f32; WIDE],
    /// Those that count: a bit each.
    pub wanted: u32,
}

impl Quads {
    /// `octet`'s coordinates are folded; `size` gives that of a level. What it blends is not looked at.
    #[inline(always)]
    pub fn new(octet: &Octet, size: impl Fn(u32) -> (u32, u32)) -> Quads {
        let mut quads = Quads {
            left: [0; WIDE],
            bottom: [0; WIDE],
            s: [0.0; WIDE],
            t: [0.0; WIDE],
            weight: octet.weight,
            lane: octet.lane,
            level: octet.level,
            width: [1.0; WIDE],
            height: [1.0; WIDE],
            wanted: 0,
        };
        for (i, &level) in octet.level.iter().enumerate().take(octet.count) {
            let (width, height) = size(level);
            (quads.width[i], quads.height[i]) = (width as f32, height as f32);
        }
        // Most come alone: then half of this is enough.
        for half in 0..if octet.count > HALF { 2 } else { 1 } {
            for i in half * HALF..(half + 1) * HALF {
                (quads.left[i], quads.s[i]) = floor(octet.u[i] * quads.width[i] - 0.5);
                (quads.bottom[i], quads.t[i]) = floor(octet.v[i] * quads.height[i] - 0.5);
            }
        }
        for i in 0..octet.count.min(WIDE) {
            quads.wanted |= u32::from(quads.weight[i] != 0.0) << i;
        }
        quads
    }

    /// Of the level of one of them.
    #[inline(always)]
    pub fn size(&self, i: usize) -> Vec2 {
        Vec2::new(self.width[i], self.height[i])
    }
}
