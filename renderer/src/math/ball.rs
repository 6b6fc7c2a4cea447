//! Balls, as far as light is aimed at them.

use glam::Vec3;
use std::f32::consts::{PI, TAU};

/// A ball round something.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub center: Vec3,
    pub radius: f32,
}

impl Ball {
    /// Round a box.
    pub fn round((low, high): (Vec3, Vec3)) -> Ball {
        Ball { center: 0.5 * (low + high), radius: 0.5 * (high - low).length() }
    }

    /// Whether they have points in common.
    pub fn touches(&self, other: &Ball) -> bool {
        let reach = self.radius + other.radius;
        self.center.distance_squared(other.center) <= reach * reach
    }

    /// The cone that it fills as it is seen from a point: its axis, and 1 − cos of its half angle; from within, all directions.
    pub fn cone(&self, from: Vec3) -> (Vec3, f32) {
        let way = self.center - from;
        let sine2 = self.radius * self.radius / way.length_squared();
        match way.try_normalize().filter(|_| sine2 < 1.0) {
            Some(axis) => (axis, sine2 / (1.0 + (1.0 - sine2).sqrt())),
            None => (Vec3::Z, 2.0),
        }
    }

    /// The density of directions that are even over that cone.
    pub fn towards(&self, from: Vec3, direction: Vec3) -> f32 {
        let (axis, one_minus_cosine) = self.cone(from);
        let is_met = one_minus_cosine == 2.0 || 1.0 - axis.dot(direction) <= one_minus_cosine;
        if is_met { 1.0 / (TAU * one_minus_cosine) } else { 0.0 }
    }

    /// The density of lines in a unit direction that are even over its outline.
    pub fn across(&self, through: Vec3, direction: Vec3) -> f32 {
        let way = through - self.center;
        let beside2 = (way - direction * way.dot(direction)).length_squared();
        if beside2 <= self.radius * self.radius { 1.0 / (PI * self.radius * self.radius) } else { 0.0 }
    }
}
