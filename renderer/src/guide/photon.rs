//! What photons leave where they land.

use crate::math::tree::Located;
use glam::Vec3;

/// Light that landed on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Photon {
    pub position: Vec3,
    /// To where it came from, unit length.
    pub wi: Vec3,
    /// Its luminance, in the same unit as that of all others.
    pub power: f32,
}

impl Photon {
    /// Whether all of it are numbers, and it carries something.
    pub fn is_usable(&self) -> bool {
        self.position.is_finite() && self.wi.is_finite() && self.power.is_finite() && self.power > 0.0
    }
}

impl Located for Photon {
    fn position(&self) -> Vec3 {
        self.position
    }
}
