//! What comes out of a filter.

use glam::{Vec2, Vec4};

/// A filtered texture and its partials by the texture coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Filtered {
    pub value: Vec4,
    pub du: Vec4,
    pub dv: Vec4,
}

impl Filtered {
    /// Adds `weight` times the bilinear filter between four texels, a quad's, at the fractions `s` and `t`. `size` is
    /// that of their level.
    #[inline(always)]
    pub fn add_quad<const GRADIENT: bool>(
        &mut self,
        [a, b, c, d]: [Vec4; 4],
        (s, t): (f32, f32),
        weight: f32,
        size: Vec2,
    ) {
        let (below, above) = (a + (b - a) * s, c + (d - c) * s);
        self.value += (below + (above - below) * t) * weight;
        if GRADIENT {
            self.du += ((b - a) * (1.0 - t) + (d - c) * t) * (size.x * weight);
            self.dv += (above - below) * (size.y * weight);
        }
    }

    #[inline(always)]
    pub fn add<const GRADIENT: bool>(&mut self, other: &Filtered) {
        self.value += other.value;
        if GRADIENT {
            self.du += other.du;
            self.dv += other.dv;
        }
    }
}
