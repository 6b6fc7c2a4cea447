//! Triangles and parallelograms as they are seen from a point: directions to them, uniform by solid angle.
//!
//! Points that are uniform by area bring much where a light is near, and little where it is seen at a grazing angle; such
//! directions all bring the same of a light that shines evenly (Arvo, "Stratified Sampling of Spherical Triangles", 1995).

use crate::math::{sin_cos_turns, turns_of};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// In smaller solid angles rounding would show, and larger ones surround the point.
const SENSIBLE: std::ops::RangeInclusive<f32> = 1e-3..=6.2;

/// The square of how far the middle is away, in distances of the farthest corner from the middle, from where on a light counts as
/// far: then points of it bring nearly the same, and cost less.
const FAR: f32 = 9.0;

/// A triangle or a parallelogram, by its corners relative to the point from which it is seen.
#[derive(Clone, Copy, Debug)]
pub struct SphericalPolygon {
    corners: [Vec3; 4],
    /// Of the triangle of the first three, and of the one that the fourth adds.
    angles: [f32; 2],
}

/// A point of it.
#[derive(Clone, Copy, Debug)]
pub struct PolygonPoint {
    /// Unit length.
    pub wi: Vec3,
    pub distance: f32,
    /// x along the edge from the first corner to the second, y along the one to the last.
    pub coordinates: (f32, f32),
}

impl SphericalPolygon {
    /// A triangle; `None` where directions to it are no better than points of it.
    #[inline]
    pub fn triangle([a, b, c]: [Vec3; 3]) -> Option<SphericalPolygon> {
        let middle = (a + b + c) / 3.0;
        let reach = [a, b, c].map(|corner| (corner - middle).length_squared());
        let near = FAR * reach[0].max(reach[1]).max(reach[2]) > middle.length_squared();
        if near { SphericalPolygon::new([a, b, c, c]) } else { None }
    }

    /// The points `origin + x along[0] + y along[1]` likewise.
    #[inline]
    pub fn parallelogram(origin: Vec3, [x, y]: [Vec3; 2]) -> Option<SphericalPolygon> {
        let middle = origin + 0.5 * (x + y);
        let reach = 0.25 * (x + y).length_squared().max((x - y).length_squared());
        let near = FAR * reach > middle.length_squared();
        if near { SphericalPolygon::new([origin, origin + x, origin + x + y, origin + y]) } else { None }
    }

    fn new(corners: [Vec3; 4]) -> Option<SphericalPolygon> {
        let [a, b, c, d] = corners.map(Vec3::normalize_or_zero);
        let second = if corners[2] == corners[3] { 0.0 } else { solid_angle([a, c, d]) };
        let seen = SphericalPolygon { corners, angles: [solid_angle([a, b, c]), second] };
        SENSIBLE.contains(&seen.solid_angle()).then_some(seen)
    }

    pub fn solid_angle(&self) -> f32 {
        self.angles[0] + self.angles[1]
    }

    /// A point of it for a point of the unit square; `None` where it is seen so much from the side that rounding decides.
    pub fn sample(&self, mut u: Vec2) -> Option<PolygonPoint> {
        let [a, b, c, d] = self.corners;
        let share = self.angles[0] / self.solid_angle();
        let first = u.x < share;
        u.x = if first { u.x / share } else { (u.x - share) / (1.0 - share) };
        let (triangle, angle) = if first { ([a, b, c], self.angles[0]) } else { ([a, c, d], self.angles[1]) };
        let wi = direction(triangle.map(Vec3::normalize_or_zero), angle, u)?;
        let (distance, [_, second, third]) = meet(triangle, wi)?;
        let is_triangle = c == d;
        let coordinates = match first {
            true if is_triangle => (second, third),
            // The second triangle's corners are (0, 0), (1, 1) and (0, 1).
            true => (second + third, third),
            false => (second, second + third),
        };
        Some(PolygonPoint { wi, distance, coordinates })
    }
}

/// The solid angle between three unit vectors (van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983).
fn solid_angle([a, b, c]: [Vec3; 3]) -> f32 {
    2.0 * TAU * turns_of(a.dot(b.cross(c)).abs(), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// A direction between three of unit length, whose solid angle is `whole`.
fn direction([a, b, c]: [Vec3; 3], whole: f32, u: Vec2) -> Option<Vec3> {
    // The angle at a, between the great circles to b and to c.
    let (to_b, to_c) = (a.cross(b), a.cross(c));
    let (sine, cosine) = (to_b.cross(to_c).length(), to_b.dot(to_c));
    let length = (sine * sine + cosine * cosine).sqrt();
    let (sine, cosine) = ((length > 0.0).then(|| sine / length)?, cosine / length);
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
    let third = a * q + (c - a * a.dot(c)).normalize_or_zero() * (1.0 - q * q).max(0.0).sqrt();
    let z = 1.0 - u.y * (1.0 - third.dot(b));
    let across = (third - b * third.dot(b)).normalize_or_zero();
    (b * z + across * (1.0 - z * z).max(0.0).sqrt()).try_normalize()
}

/// Where a direction meets the plane of a triangle: how far, and the shares of the corners, none below 0.
fn meet([a, b, c]: [Vec3; 3], wi: Vec3) -> Option<(f32, [f32; 3])> {
    let shares = [b.cross(c).dot(wi), c.cross(a).dot(wi), a.cross(b).dot(wi)];
    let (sum, volume) = (shares.iter().sum::<f32>(), a.dot(b.cross(c)));
    let distance = volume / sum;
    // A direction on an edge may be rounded to beside it.
    let shares = shares.map(|share| (share / sum).max(0.0));
    let sum: f32 = shares.iter().sum();
    (distance > 0.0 && distance.is_finite()).then(|| (distance, shares.map(|share| share / sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;
    use std::f32::consts::{FRAC_PI_2, PI};

    #[test]
    fn solid_angles_are_those_of_geometry() {
        assert!((solid_angle([Vec3::X, Vec3::Y, Vec3::Z]) - FRAC_PI_2).abs() < 1e-6);
        // A face of a cube round the point is a sixth of the sphere.
        let face = SphericalPolygon::parallelogram(Vec3::new(-1.0, -1.0, 1.0), [Vec3::X * 2.0, Vec3::Y * 2.0])
            .expect("it is large");
        assert!((face.solid_angle() - 4.0 * PI / 6.0).abs() < 1e-5);
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
            assert!(SphericalPolygon::triangle([a, b, c]).is_none(), "{a} {b} {c}");
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
            let whole = SphericalPolygon::parallelogram(corner, along).expect("it is large");
            for (left, low) in [(0.3, 1.0), (1.0, 0.4), (0.6, 0.7)] {
                let part = [along[0] * left, along[1] * low];
                let [x, y] = part;
                let part =
                    SphericalPolygon::new([corner, corner + x, corner + x + y, corner + y]).expect("so are its parts");
                let inside = (0..N).filter(|i| {
                    let point = whole.sample(Sampler::new(6, (1, 2), *i).next_2d()).expect("it is seen well");
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
        let seen = SphericalPolygon::triangle([a, b, c]).expect("it is large");
        for i in 0..1000 {
            let point = seen.sample(Sampler::new(6, (1, 2), i).next_2d()).expect("it is seen well");
            let (x, y) = point.coordinates;
            assert!(x >= 0.0 && y >= 0.0 && x + y <= 1.0 + 1e-6);
            assert!((point.wi * point.distance - (a + (b - a) * x + (c - a) * y)).length() < 1e-4);
        }
    }
}
