//! Triangles and parallelograms as they are seen from a point: directions to them, uniform by solid angle.
//!
//! Points that are uniform by area bring much where a light is near, and little where it is seen at a grazing angle; such
//! directions all bring the same of a light that shines evenly (Arvo, "Stratified Sampling of Spherical Triangles", 1995).
//!
//! Nothing here branches: it is called for all lanes of a block side by side.

use crate::math::{sin_cos_turns, turns_of};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// In smaller solid angles rounding would show, and larger ones surround the point.
const SENSIBLE: std::ops::RangeInclusive<f32> = 1e-3..=6.2;

/// The square of how far the middle is away, in distances of the farthest corner from the middle, from where on a light counts as
/// far: then points of it bring nearly the same, and cost less.
const FAR: f32 = 9.0;

/// A triangle or a parallelogram, as it is seen from a point.
#[derive(Clone, Copy, Debug)]
pub struct SphericalPolygon {
    /// Relative to the point: the origin, the end of each edge from there, and between them that of the triangle once more, or
    /// the corner across.
    corners: [Vec3; 4],
    /// Of unit length.
    towards: [Vec3; 4],
    /// Of the triangle of the first three, and of the one that the fourth adds.
    angles: [f32; 2],
    is_triangle: bool,
    is_near: bool,
}

/// A point of it.
#[derive(Clone, Copy, Debug)]
pub struct PolygonPoint {
    /// Unit length.
    pub wi: Vec3,
    pub distance: f32,
    /// x along the first edge, y along the second.
    pub coordinates: (f32, f32),
    /// Whether there is one, and not so much seen from the side that rounding decides.
    pub is_found: bool,
}

impl SphericalPolygon {
    /// Of the origin and the ends of both edges, which lie there as seen from the point.
    #[inline(always)]
    pub fn new([a, x, y]: [Vec3; 3], is_triangle: bool) -> SphericalPolygon {
        let across = x + y - a;
        let corners = if is_triangle { [a, x, y, y] } else { [a, x, across, y] };
        let middle = if is_triangle { (a + x + y) / 3.0 } else { 0.5 * (x + y) };
        let reach = [a, x, y, across].map(|corner| (corner - middle).length_squared());
        let fourth = if is_triangle { 0.0 } else { reach[3] };
        let is_close = FAR * reach[0].max(reach[1]).max(reach[2]).max(fourth) > middle.length_squared();
        let towards = corners.map(unit);
        let [a, b, c, d] = towards;
        let second = if is_triangle { 0.0 } else { solid_angle([a, c, d]) };
        let angles = [solid_angle([a, b, c]), second];
        let angle = angles[0] + angles[1];
        let is_near = is_close & (angle >= *SENSIBLE.start()) & (angle <= *SENSIBLE.end());
        SphericalPolygon { corners, towards, angles, is_triangle, is_near }
    }

    /// Whether directions to it are better than points of it.
    #[inline(always)]
    pub fn is_near(&self) -> bool {
        self.is_near
    }

    #[inline(always)]
    pub fn solid_angle(&self) -> f32 {
        self.angles[0] + self.angles[1]
    }

    /// A point of it for a point of the unit square.
    #[inline(always)]
    pub fn sample(&self, u: Vec2) -> PolygonPoint {
        let ([a, b, c, d], [to_a, to_b, to_c, to_d]) = (self.corners, self.towards);
        let share = self.angles[0] / self.solid_angle();
        let first = u.x < share;
        let x = if first { u.x / share } else { (u.x - share) / (1.0 - share) };
        let angle = if first { self.angles[0] } else { self.angles[1] };
        let between = |one: Vec3, other: Vec3| if first { one } else { other };
        let (wi, is_direction) = direction([to_a, between(to_b, to_c), between(to_c, to_d)], angle, Vec2::new(x, u.y));
        let (distance, [_, second, third]) = meet([a, between(b, c), between(c, d)], wi);
        // The second triangle's corners are (0, 0), (1, 1) and (0, 1).
        let coordinates = (
            if self.is_triangle | !first { second } else { second + third },
            if first { third } else { second + third },
        );
        let is_found = is_direction & (distance > 0.0) & (distance < f32::INFINITY);
        PolygonPoint { wi, distance, coordinates, is_found }
    }
}

/// Of unit length; 0 where there is no direction.
#[inline(always)]
fn unit(v: Vec3) -> Vec3 {
    let per = 1.0 / v.length();
    v * if per < f32::INFINITY { per } else { 0.0 }
}

/// The solid angle between three unit vectors (van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983).
#[inline(always)]
fn solid_angle([a, b, c]: [Vec3; 3]) -> f32 {
    2.0 * TAU * turns_of(a.dot(b.cross(c)).abs(), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// A direction between three of unit length, whose solid angle is `whole`; whether there is one.
#[inline(always)]
fn direction([a, b, c]: [Vec3; 3], whole: f32, u: Vec2) -> (Vec3, bool) {
    // The angle at a, between the great circles to b and to c.
    let (to_b, to_c) = (a.cross(b), a.cross(c));
    let (sine, cosine) = (to_b.cross(to_c).length(), to_b.dot(to_c));
    let length = (sine * sine + cosine * cosine).sqrt();
    let (sine, cosine) = (sine / length, cosine / length);
    // Arvo's s + sin α cos c, and t - cos α, of a triangle with the share u.x of the solid angle, without cancellation:
    // half that angle, and α less it.
    let (half_sine, half_cosine) = sin_cos_turns(0.5 / TAU * u.x * whole);
    let (turned_sine, turned_cosine) =
        (sine * half_cosine - cosine * half_sine, cosine * half_cosine + sine * half_sine);
    let edge = 0.5 * (a - b).length_squared();
    let v = 2.0 * half_sine * turned_cosine - sine * edge;
    let w = 2.0 * half_sine * turned_sine;
    // s and t: sine and cosine of the share's angle less α.
    let (s, t) = (v + sine * edge - sine, w + cosine);
    let below = (v * s + w * t) * sine;
    let q = if below == 0.0 { 1.0 } else { (((v * t - w * s) * cosine - v) / below).clamp(-1.0, 1.0) };
    let third = a * q + unit(c - a * a.dot(c)) * (1.0 - q * q).max(0.0).sqrt();
    let z = 1.0 - u.y * (1.0 - third.dot(b));
    let across = unit(third - b * third.dot(b));
    let wi = b * z + across * (1.0 - z * z).max(0.0).sqrt();
    let per = 1.0 / wi.length();
    (wi * per, (length > 0.0) & (per < f32::INFINITY))
}

/// Where a direction meets the plane of a triangle: how far, and the shares of the corners, none below 0.
#[inline(always)]
fn meet([a, b, c]: [Vec3; 3], wi: Vec3) -> (f32, [f32; 3]) {
    let shares = [b.cross(c).dot(wi), c.cross(a).dot(wi), a.cross(b).dot(wi)];
    let sum = shares[0] + shares[1] + shares[2];
    let distance = a.dot(b.cross(c)) / sum;
    // A direction on an edge may be rounded to beside it.
    let shares = shares.map(|share| (share / sum).max(0.0));
    let sum = shares[0] + shares[1] + shares[2];
    (distance, shares.map(|share| share / sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;
    use std::f32::consts::{FRAC_PI_2, PI};

    fn parallelogram(origin: Vec3, along: [Vec3; 2]) -> SphericalPolygon {
        SphericalPolygon::new([origin, origin + along[0], origin + along[1]], false)
    }

    #[test]
    fn solid_angles_are_those_of_geometry() {
        assert!((solid_angle([Vec3::X, Vec3::Y, Vec3::Z]) - FRAC_PI_2).abs() < 1e-6);
        // A face of a cube round the point is a sixth of the sphere.
        let face = parallelogram(Vec3::new(-1.0, -1.0, 1.0), [Vec3::X * 2.0, Vec3::Y * 2.0]);
        assert!(face.is_near() && (face.solid_angle() - 4.0 * PI / 6.0).abs() < 1e-5);
        // Far away, area times cosine over the square of the distance.
        let small = [Vec3::new(0.0, 0.0, 10.0), Vec3::new(1.0, 0.0, 10.0), Vec3::new(0.0, 1.0, 10.0)];
        assert!((solid_angle(small.map(Vec3::normalize)) - 0.005).abs() < 1e-4);
        for [a, b, c] in [
            [Vec3::X, Vec3::X * 2.0, Vec3::Y],
            [Vec3::X, Vec3::X, Vec3::X],
            [Vec3::ZERO, Vec3::X, Vec3::Y],
            [Vec3::new(0.0, 0.0, 1e4), Vec3::new(1.0, 0.0, 1e4), Vec3::new(0.0, 1.0, 1e4)],
            [Vec3::splat(f32::NAN), Vec3::X, Vec3::Y],
        ] {
            assert!(!SphericalPolygon::new([a, b, c], true).is_near(), "{a} {b} {c}");
        }
    }

    /// Any part of the light gets as many directions as its solid angle says: both triangles of a share of its height.
    #[test]
    fn directions_are_uniform_by_solid_angle() {
        const N: u32 = 1 << 14;
        let corner = Vec3::new(-0.6, 0.4, 0.7);
        for along in [
            [Vec3::new(2.0, 0.3, 0.1), Vec3::new(0.2, 1.0, -0.4)],
            [Vec3::new(0.5, 0.0, 0.1), Vec3::new(0.0, 0.6, 0.02)],
            [Vec3::new(9.0, 0.0, 0.0), Vec3::new(1.0, 9.0, -0.5)],
        ] {
            let whole = parallelogram(corner, along);
            for (left, low) in [(0.3, 1.0), (1.0, 0.4), (0.6, 0.7)] {
                let part = [along[0] * left, along[1] * low];
                let part = parallelogram(corner, part);
                let inside = (0..N).filter(|i| {
                    let point = whole.sample(Sampler::new(6, (1, 2), *i).next_2d());
                    assert!(point.is_found, "{i}");
                    let (x, y) = point.coordinates;
                    let place = corner + along[0] * x + along[1] * y;
                    assert!((point.wi * point.distance - place).length() < 1e-4 * place.length(), "{point:?} {place}");
                    x < left && y < low
                });
                let (found, expected) = (inside.count() as f32 / N as f32, part.solid_angle() / whole.solid_angle());
                assert!((found - expected).abs() < 0.012, "{along:?} {left} {low}: {found} {expected}");
            }
        }
    }

    #[test]
    fn points_of_triangles_are_points_of_them() {
        let [a, b, c] = [Vec3::new(0.0, 1.0, 1.0), Vec3::new(2.0, 0.5, 1.5), Vec3::new(-1.0, -1.0, 2.0)];
        let seen = SphericalPolygon::new([a, b, c], true);
        for i in 0..1000 {
            let point = seen.sample(Sampler::new(6, (1, 2), i).next_2d());
            let (x, y) = point.coordinates;
            assert!(seen.is_near() && point.is_found && x >= 0.0 && y >= 0.0 && x + y <= 1.0 + 1e-6);
            assert!((point.wi * point.distance - (a + (b - a) * x + (c - a) * y)).length() < 1e-4);
        }
    }
}
