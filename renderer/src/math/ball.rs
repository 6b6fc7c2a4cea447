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

    /// A smaller ball within it, as near to a place as may be.
    pub fn part_near(&self, place: Vec3, radius: f32) -> Ball {
        let way = (place - self.center).clamp_length_max((self.radius - radius).max(0.0));
        Ball { center: self.center + way, radius: radius.min(self.radius) }
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
        // In a narrow cone the sine tells what rounding takes from the cosine.
        let sine2 = one_minus_cosine * (2.0 - one_minus_cosine);
        let within = || axis.dot(direction) > 0.0 && axis.cross(direction).length_squared() <= sine2;
        let is_met = one_minus_cosine == 2.0 || within();
        if is_met { 1.0 / (TAU * one_minus_cosine) } else { 0.0 }
    }

    /// The density of lines in a unit direction that are even over its outline.
    pub fn across(&self, through: Vec3, direction: Vec3) -> f32 {
        let way = through - self.center;
        let beside2 = (way - direction * way.dot(direction)).length_squared();
        if beside2 <= self.radius * self.radius { 1.0 / (PI * self.radius * self.radius) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Frame, concentric_disk, uniform_cone};
    use glam::{DVec2, Vec2};

    /// Points of the unit square (Roberts' R2 sequence).
    fn points(count: usize) -> impl Iterator<Item = Vec2> {
        (0..count).map(|i| (DVec2::new(0.754_877_666, 0.569_840_291) * i as f64).fract().as_vec2())
    }

    /// From near, from far, from within and from its middle: what is drawn has the density, which adds up to one.
    #[test]
    fn directions_to_a_ball_have_their_density() {
        let ball = Ball { center: Vec3::new(1.0, 2.0, 3.0), radius: 0.5 };
        for from in [Vec3::ZERO, Vec3::new(1.0, 2.0, 3.6), Vec3::new(1.1, 2.0, 3.0), ball.center] {
            let sum: f32 = points(1 << 16).map(|u| ball.towards(from, uniform_cone(u, 2.0)) * 2.0 * TAU).sum();
            assert!((sum / (1 << 16) as f32 - 1.0).abs() < 0.02, "{from}: {sum}");
            let (axis, one_minus_cosine) = ball.cone(from);
            let drawn = |u| Frame::about(axis).to_world(uniform_cone(u, one_minus_cosine)).normalize();
            assert!(points(1000).filter(|u| ball.towards(from, drawn(*u)) > 0.0).count() > 990, "{from}");
            assert!(points(1000).all(|u| ball.towards(from, -drawn(u)) == 0.0 || one_minus_cosine == 2.0));
        }
    }

    /// Beside it, within it, and where there is no room.
    #[test]
    fn parts_lie_within_and_near() {
        let ball = Ball { center: Vec3::X, radius: 4.0 };
        for (place, radius, center) in [(7.0, 1.0, 4.0), (3.0, 1.0, 3.0), (-9.0, 3.0, 0.0), (7.0, 4.0, 1.0)] {
            let part = ball.part_near(Vec3::X * place, radius);
            assert!(part.center.distance(Vec3::X * center) < 1e-6 && part.radius == radius, "{part:?}");
        }
        assert_eq!(ball.part_near(Vec3::Y, 9.0).radius, 4.0);
    }

    /// A small glass far from its lamp: the cosines of all directions to it round to one.
    #[test]
    fn far_balls_are_hit_and_missed() {
        let (ball, from) = (Ball { center: Vec3::new(300.0, 400.0, 0.0), radius: 0.05 }, Vec3::ZERO);
        let (axis, _) = ball.cone(from);
        let frame = Frame::about(axis);
        let at = |offset: Vec2| (ball.center + frame.to_world(offset.extend(0.0))).normalize();
        let met = |share: f32| {
            points(1000)
                .filter(|u| ball.towards(from, at(concentric_disk(*u).normalize_or_zero() * share * ball.radius)) > 0.0)
                .count()
        };
        assert!(met(0.9) > 990 && met(1.1) < 10, "{} {}", met(0.9), met(1.1));
    }

    #[test]
    fn lines_across_a_ball_have_their_density() {
        let ball = Ball { center: Vec3::new(1.0, 2.0, 3.0), radius: 0.5 };
        let direction = Vec3::new(0.6, 0.0, 0.8);
        let frame = Frame::about(direction);
        let through = |u: Vec2| ball.center + frame.to_world(((u - 0.5) * 2.0).extend(7.0));
        let sum: f32 = points(1 << 16).map(|u| ball.across(through(u), direction) * 4.0).sum();
        assert!((sum / (1 << 16) as f32 - 1.0).abs() < 0.02, "{sum}");
    }
}
