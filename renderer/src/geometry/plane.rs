//! A plane spanned by two edges: what disks and quads share of their surface and its partials.

use super::partials::{self, Members, RayPartial};
use super::{Surface, Transform};
use glam::{DVec3, Vec2, Vec3};

/// The points `origin + x along[0] + y along[1]`.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub origin: Vec3,
    /// Neither parallel nor 0, not necessarily perpendicular or of unit length.
    pub along: [Vec3; 2],
    /// 1 where the plane faces `along[0] × along[1]`, −1 where it faces away from it, as after a mirroring.
    pub facing: f32,
}

impl Plane {
    pub fn new(origin: Vec3, along: [Vec3; 2]) -> Plane {
        Plane { origin, along, facing: 1.0 }
    }

    /// Moves the plane; what it faced it goes on facing.
    pub fn transform(&mut self, transform: &Transform) {
        self.origin = transform.point(self.origin);
        self.along = self.along.map(|a| transform.vector(a));
        self.facing *= if transform.mirrors() { -1.0 } else { 1.0 };
    }

    pub fn at(&self, x: f32, y: f32) -> Vec3 {
        self.origin + self.along[0] * x + self.along[1] * y
    }

    /// Unit length, outwards; 0 where the edges are parallel.
    pub fn normal(&self) -> Vec3 {
        self.exact_normal().as_vec3()
    }

    fn exact_normal(&self) -> DVec3 {
        let [a, b] = self.along.map(|a| a.as_dvec3());
        a.cross(b).normalize_or_zero() * f64::from(self.facing)
    }

    /// Of the parallelogram between the edges.
    pub fn area(&self) -> f32 {
        let [a, b] = self.along.map(|a| a.as_dvec3());
        a.cross(b).length() as f32
    }

    /// Distance and coordinates `(x, y)` where a ray meets the plane; in f64, as a plane far away leaves an f32
    /// no digits.
    pub fn intersect(&self, origin: DVec3, direction: DVec3) -> Option<(f64, f64, f64)> {
        let [a, b] = self.along.map(|a| a.as_dvec3());
        let normal = a.cross(b);
        let cosine = direction.dot(normal);
        if cosine == 0.0 {
            return None;
        }
        let to_plane = self.origin.as_dvec3() - origin;
        let t = to_plane.dot(normal) / cosine;
        let p = direction * t - to_plane;
        // Cramer's rule in the plane: p = x a + y b.
        let area = normal.length_squared();
        Some((t, p.cross(b).dot(normal) / area, a.cross(p).dot(normal) / area))
    }

    /// The surface at `(x, y)`, whose texture coordinates grow by `uv_scale` along the edges.
    pub fn surface(&self, (x, y): (f32, f32), uv: Vec2, uv_scale: Vec2) -> Surface {
        let normal = self.normal();
        let mirrored = |scale: f32| if scale < 0.0 { -1.0 } else { 1.0 };
        let tangent = self.along[0].normalize_or(Vec3::X) * mirrored(uv_scale.x);
        // The rounding of the sum, of the corners that a test made of it, and of the coordinates.
        let size = self.origin.abs() + self.along[0].abs() + self.along[1].abs();
        Surface {
            position: self.at(x, y),
            position_error: size * (4.0 * f32::EPSILON),
            normal,
            gnormal: normal,
            tangent,
            bitangent: normal.cross(tangent) * (self.facing * mirrored(uv_scale.x) * mirrored(uv_scale.y)),
            uv,
            color: Vec3::ONE,
            ..Surface::default()
        }
    }

    /// The partials: nothing but position and texture coordinates changes over a plane.
    pub fn members(&self, uv_scale: Vec2, t: f64, ray: &RayPartial) -> Members {
        let dp = partials::position(ray, t, self.exact_normal());
        let [a, b] = self.along.map(|a| a.as_dvec3());
        let (dx, dy) = partials::barycentrics(&[DVec3::ZERO, a, b], dp);
        let uvw = DVec3::new(dx * f64::from(uv_scale.x), dy * f64::from(uv_scale.y), 0.0);
        Members { position: dp, uvw, incident: ray.d_direction, ..Members::default() }
    }
}
