//! From the partials of texture coordinates to levels: which texels one sample stands for.

use super::filter::MipMode;
use glam::Vec2;

/// The images of one step along film x and film y, in texels of level 0.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    pub x: Vec2,
    pub y: Vec2,
}

/// Which level to read, and how many probes along which step (in texels of level 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    pub level: f32,
    pub probes: u32,
    pub axis: Vec2,
}

/// Probes along the longer axis of an anisotropic footprint, at most.
pub const MAX_PROBES: u32 = 16;

impl Footprint {
    /// The level that `mode` chooses, `bias` levels coarser.
    pub fn select(&self, mode: MipMode, bias: f32) -> Selection {
        let one = |level: f32| Selection { level, probes: 1, axis: Vec2::ZERO };
        match mode {
            MipMode::Nearest => {
                let largest = self.x.abs().max(self.y.abs()).max_element();
                one((level_of(largest) + bias).floor())
            }
            MipMode::Trilinear => one(level_of(self.x.length().max(self.y.length())) + bias),
            MipMode::Aniso | MipMode::Auto => {
                let (major, minor) = self.axes();
                let length = major.length();
                // A footprint under a texel long needs no probes however thin it is.
                let wanted = (length / minor.max(1.0)).ceil();
                let probes = if wanted > 1.0 { (wanted as u32).min(MAX_PROBES) } else { 1 };
                Selection { level: level_of(length / probes as f32) + bias, probes, axis: major }
            }
        }
    }

    /// The longer semi-axis of the ellipse that the unit circle of film steps maps to, and the length of
    /// the shorter: the singular values of the Jacobian.
    fn axes(&self) -> (Vec2, f32) {
        // The Jacobian times its transpose, [[a, b], [b, c]].
        let (a, b) = (self.x.x * self.x.x + self.y.x * self.y.x, self.x.x * self.x.y + self.y.x * self.y.y);
        let c = self.x.y * self.x.y + self.y.y * self.y.y;
        let (middle, reach) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
        let long = (middle + reach).sqrt();
        // The determinant over the longer: the difference middle − reach would cancel.
        let short = if long > 0.0 { self.x.perp_dot(self.y).abs() / long } else { 0.0 };
        // Of the two forms of the eigenvector, the one whose entries do not cancel.
        let direction = if a >= c { Vec2::new(0.5 * (a - c) + reach, b) } else { Vec2::new(b, 0.5 * (c - a) + reach) };
        (direction.normalize_or(Vec2::X) * long, short)
    }
}

/// log2 of a length in texels of level 0; far below 0 where it is 0.
fn level_of(texels: f32) -> f32 {
    texels.max(f32::MIN_POSITIVE).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_their_closed_forms() {
        let f = Footprint { x: Vec2::new(3.0, 4.0), y: Vec2::new(0.0, 1.5) };
        assert_eq!(f.select(MipMode::Nearest, 0.0).level, 2.0);
        assert!((f.select(MipMode::Trilinear, 0.0).level - 5.0_f32.log2()).abs() < 1e-6);
        assert!((f.select(MipMode::Trilinear, 0.75).level - 5.0_f32.log2() - 0.75).abs() < 1e-6);
    }

    #[test]
    fn anisotropic_footprints_become_probes_along_the_longer_axis() {
        let f = Footprint { x: Vec2::new(0.0, 32.0), y: Vec2::new(4.0, 0.0) };
        let s = f.select(MipMode::Aniso, 0.0);
        assert_eq!(s.probes, 8);
        assert!((s.level - 2.0).abs() < 1e-5);
        assert!((s.axis.abs() - Vec2::new(0.0, 32.0)).length() < 1e-3);
        // Past the limit the level rises instead.
        let far = Footprint { x: Vec2::new(0.0, 1024.0), y: Vec2::new(1.0, 0.0) };
        assert_eq!(far.select(MipMode::Aniso, 0.0).probes, MAX_PROBES);
        assert!((far.select(MipMode::Aniso, 0.0).level - 6.0).abs() < 1e-5);
        let isotropic = Footprint { x: Vec2::new(8.0, 0.0), y: Vec2::new(0.0, 8.0) };
        assert_eq!(isotropic.select(MipMode::Aniso, 0.0).probes, 1);
    }

    /// A rotation of the film leaves the ellipse alone, and so its axes.
    #[test]
    fn axes_do_not_depend_on_the_films_orientation() {
        for i in 0..100 {
            let turn = Vec2::from_angle(i as f32 * 0.7);
            let (p, q) = (Vec2::from_angle(1.1) * 9.0, Vec2::from_angle(1.1).perp() * 2.0);
            let f = Footprint { x: p * turn.x + q * turn.y, y: q * turn.x - p * turn.y };
            let (major, minor) = f.axes();
            assert!((major.length() - 9.0).abs() < 1e-3 && (minor - 2.0).abs() < 1e-3);
            assert!(major.perp_dot(p).abs() < 0.05, "{major}");
        }
    }
}
