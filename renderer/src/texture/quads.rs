//! Eight bilinear look-ups at one level: which four texels each lies between, and how far along.

use super::wrap::floor;
use glam::Vec2;

/// Look-ups that are worked on together, so that the compiler makes vector code of their arithmetic.
pub const WIDE: usize = 8;

/// Up to eight trilinear look-ups that begin at the same level.
pub struct Octet {
    /// Texture coordinates.
    pub u: [f32; WIDE],
    pub v: [f32; WIDE],
    /// How much each counts.
    pub weight: [f32; WIDE],
    /// How much of that is the coarser level's, 0 to 1.
    pub blend: [f32; WIDE],
    /// For whom it is.
    pub lane: [u8; WIDE],
    /// How many there are.
    pub count: usize,
}

impl Octet {
    pub const EMPTY: Octet =
        Octet { u: [0.0; WIDE], v: [0.0; WIDE], weight: [0.0; WIDE], blend: [0.0; WIDE], lane: [0; WIDE], count: 0 };
}

/// Their quads at one level. A quad is the texels at (left, bottom), one to the right of that, one above it, and above
/// that to the right; it may reach past the image.
pub struct Quads {
    pub left: [i32; WIDE],
    pub bottom: [i32; WIDE],
    /// Fractions of the way from left to right and from bottom to top.
    pub s: [f32; WIDE],
    pub t: [f32; WIDE],
    pub weight: [f32; WIDE],
    pub lane: [u8; WIDE],
    /// Those that count: a bit each.
    pub wanted: u32,
    /// Of the level, in texels.
    pub size: Vec2,
}

impl Quads {
    /// `octet`'s coordinates are folded; `weight` is given a look-up's weight and blend.
    #[inline(always)]
    pub fn new(octet: &Octet, size: Vec2, weight: impl Fn(f32, f32) -> f32) -> Quads {
        let mut quads = Quads {
            left: [0; WIDE],
            bottom: [0; WIDE],
            s: [0.0; WIDE],
            t: [0.0; WIDE],
            weight: [0.0; WIDE],
            lane: octet.lane,
            wanted: 0,
            size,
        };
        for i in 0..WIDE {
            (quads.left[i], quads.s[i]) = floor(octet.u[i] * size.x - 0.5);
            (quads.bottom[i], quads.t[i]) = floor(octet.v[i] * size.y - 0.5);
            quads.weight[i] = weight(octet.weight[i], octet.blend[i]);
        }
        for i in 0..octet.count.min(WIDE) {
            quads.wanted |= u32::from(quads.weight[i] != 0.0) << i;
        }
        quads
    }
}
