//! The disk, and the ellipse that it becomes if it is stretched.
//!
//! Texture coordinates are those of the square round it: a texture lies on it as on a rectangle, and nothing is
//! singular at the center.

use super::partials::{Members, RayPartial};
use super::{Plane, Surface, Transform};
use crate::math::concentric_disk;
use crate::ray::Ray;
use glam::{Vec2, Vec3};
use std::f32::consts::PI;

/// The points of a plane with `x² + y² ≤ 1`, about its origin.
#[derive(Clone, Copy, Debug)]
pub struct Disk(pub Plane);

const UV_SCALE: Vec2 = Vec2::splat(0.5);

impl Disk {
    /// About the origin in the plane y = 0, facing +y, u along +x and v along −z.
    pub fn new(radius: f32) -> Disk {
        Disk(Plane::new(Vec3::ZERO, [Vec3::X * radius, Vec3::NEG_Z * radius]))
    }

    pub fn transform(&mut self, transform: &Transform) {
        self.0.transform(transform);
    }

    /// The smallest and the largest corner, widened by what intersecting rounds.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let [a, b] = self.0.along;
        // The support of an ellipse along an axis.
        let half = (a * a + b * b).map(f32::sqrt) + (self.0.origin.abs() + a.abs() + b.abs()) * (4.0 * f32::EPSILON);
        (self.0.origin - half, self.0.origin + half)
    }

    /// Distance and the plane's coordinates, within `ray.t_min < t < t_max`.
    pub fn intersect(&self, ray: &Ray, t_max: f32) -> Option<(f32, f32, f32)> {
        let (t, x, y) = self.0.intersect(ray.origin.as_dvec3(), ray.direction.as_dvec3())?;
        let within = x * x + y * y <= 1.0;
        let t = t as f32;
        (within && t > ray.t_min && t < t_max).then_some((t, x as f32, y as f32))
    }

    pub fn surface(&self, x: f32, y: f32) -> Surface {
        self.0.surface((x, y), Vec2::new(0.5 + 0.5 * x, 0.5 + 0.5 * y), UV_SCALE)
    }

    pub fn members(&self, t: f64, ray: &RayPartial) -> Members {
        self.0.members(UV_SCALE, t, ray)
    }

    pub fn area(&self) -> f32 {
        PI * self.0.area()
    }

    /// A point, uniform by area, and the normal.
    pub fn sample(&self, u: Vec2) -> (Vec3, Vec3) {
        let d = concentric_disk(u);
        (self.0.at(d.x, d.y), self.0.normal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipse_is_hit_where_it_is_and_bounded_by_its_box() {
        let mut disk = Disk::new(2.0);
        disk.transform(&Transform::new(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 30.0, 0.0), Vec3::new(3.0, 1.0, -1.0)));
        assert!((disk.0.normal() - Vec3::Y).length() < 1e-6, "mirroring does not turn it over");
        assert!((disk.area() / (PI * 12.0) - 1.0).abs() < 1e-6);
        let (low, high) = disk.bounds();
        // x = 6 cos 30° cos φ + 2 sin 30° sin φ has the amplitude √(27 + 1).
        assert!((high.x - 1.0 - 28.0_f32.sqrt()).abs() < 1e-5 && (low.x - 1.0 + 28.0_f32.sqrt()).abs() < 1e-5);
        let down = |x: f32, z: f32| {
            disk.intersect(&Ray::new(Vec3::new(1.0 + x, 7.0, 3.0 + z), Vec3::NEG_Y, 0.0), f32::INFINITY)
        };
        let (long, short) = (Vec2::new(3.0_f32.sqrt() / 2.0, -0.5), Vec2::new(0.5, 3.0_f32.sqrt() / 2.0));
        for (axis, half) in [(long, 6.0), (short, 2.0)] {
            let (inside, outside) = (axis * (half - 1e-3), axis * (half + 1e-3));
            assert!((down(inside.x, inside.y).expect("it is inside").0 - 5.0).abs() < 1e-6);
            assert_eq!(down(outside.x, outside.y), None);
        }
    }

    #[test]
    fn the_center_of_the_texture_is_the_center() {
        let s = Disk::new(2.0).surface(0.0, 1.0);
        assert_eq!((s.uv, s.position, s.tangent), (Vec2::new(0.5, 1.0), Vec3::new(0.0, 0.0, -2.0), Vec3::X));
        assert_eq!(s.bitangent, Vec3::NEG_Z);
    }
}
