//! The parallelogram as one primitive; its texture coordinates run along its edges.

use super::partials::{Members, RayPartial};
use super::{Plane, Surface, Transform};
use crate::accel::ShearedRay;
use glam::{Vec2, Vec3};

/// The points of a plane with both coordinates from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Quad {
    pub plane: Plane,
    /// How often the texture coordinates run along each edge.
    pub repeat: Vec2,
}

impl Quad {
    /// From three corners: texture coordinates are (0,0) at the first, `repeat.x` further along u at the second,
    /// `repeat.y` further along v at the third. It faces `(b − a) × (c − a)`.
    pub fn new([a, b, c]: [Vec3; 3], repeat: Vec2) -> Quad {
        Quad { plane: Plane::new(a, [b - a, c - a]), repeat }
    }

    /// A square of side 1 about the origin in the plane y = 0, facing +y, u along +x, v along −z, so that a texture
    /// lies on it upright when seen from above with −z up.
    pub fn rectangle(repeat: Vec2) -> Quad {
        Quad::new([Vec3::new(-0.5, 0.0, 0.5), Vec3::new(0.5, 0.0, 0.5), Vec3::new(-0.5, 0.0, -0.5)], repeat)
    }

    pub fn transform(&mut self, transform: &Transform) {
        self.plane.transform(transform);
    }

    fn corners(&self) -> [Vec3; 4] {
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| self.plane.at(x, y))
    }

    pub fn bounds(&self) -> (Vec3, Vec3) {
        let corners = self.corners();
        let all = |f: fn(Vec3, Vec3) -> Vec3| corners.into_iter().skip(1).fold(corners[0], f);
        (all(Vec3::min), all(Vec3::max))
    }

    /// Distance and the plane's coordinates. By the test of two triangles, so that it leaks neither along its
    /// diagonal nor along edges that it shares with others.
    pub fn intersect(&self, sheared: &ShearedRay, t_min: f32, t_max: f32) -> Option<(f32, f32, f32)> {
        let [p00, p10, p11, p01] = self.corners();
        if let Some((t, b1, b2)) = sheared.intersect(&[p00, p10, p11], t_min, t_max) {
            return Some((t, b1 + b2, b2));
        }
        sheared.intersect(&[p00, p11, p01], t_min, t_max).map(|(t, b1, b2)| (t, b1, b1 + b2))
    }

    pub fn surface(&self, x: f32, y: f32) -> Surface {
        self.plane.surface((x, y), Vec2::new(x, y) * self.repeat, self.repeat)
    }

    pub fn members(&self, t: f64, ray: &RayPartial) -> Members {
        self.plane.members(self.repeat, t, ray)
    }

    pub fn area(&self) -> f32 {
        self.plane.area()
    }

    /// A point, uniform by area, and the normal.
    pub fn sample(&self, u: Vec2) -> (Vec3, Vec3) {
        (self.plane.at(u.x, u.y), self.plane.normal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::TriangleMesh;
    use crate::ray::Ray;

    #[test]
    fn coordinates_run_along_the_edges() {
        let (a, b, c) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 2.5, 3.0), Vec3::new(1.5, 5.0, 2.0));
        let quad = Quad::new([a, b, c], Vec2::new(3.0, -2.0));
        for (x, y) in [(0.1, 0.2), (0.7, 0.3), (0.3, 0.9), (0.5, 0.5)] {
            let aim = a + (b - a) * x + (c - a) * y;
            let origin = aim + Vec3::new(0.3, -0.5, 2.0);
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            let (_, u, v) = quad.intersect(&ShearedRay::new(&ray), 0.0, f32::INFINITY).expect("it is aimed at");
            assert!((u - x).abs() < 1e-5 && (v - y).abs() < 1e-5, "{u} {v}");
            let s = quad.surface(u, v);
            assert!((s.position - aim).length() < 1e-5 && (s.uv - Vec2::new(3.0 * x, -2.0 * y)).length() < 1e-4);
            // Along growing u, and against the edge along which v falls.
            assert!(s.tangent.dot(b - a) > 0.99 * (b - a).length() && s.bitangent.dot(c - a) < 0.0);
        }
        assert!((quad.area() - (b - a).cross(c - a).length()).abs() < 1e-5);
    }

    /// The same rectangle as two triangles.
    #[test]
    fn a_rectangle_is_what_its_triangles_are() {
        for scale in [Vec3::new(2.0, 1.0, 3.0), Vec3::new(-2.0, 1.0, 3.0)] {
            let placed = Transform::new(Vec3::new(1.0, -2.0, 0.5), Vec3::new(20.0, 130.0, -40.0), scale);
            for repeat in [Vec2::ONE, Vec2::new(-2.0, 3.0)] {
                let (mut quad, mut mesh) = (Quad::rectangle(repeat), TriangleMesh::rectangle(repeat));
                quad.transform(&placed);
                mesh.transform(&placed);
                let s = quad.surface(0.25, 0.5);
                assert!((s.gnormal - mesh.geometric_normal(0)).length() < 1e-6);
                assert!((s.tangent - mesh.tangents[0]).length() < 1e-6, "{} {}", s.tangent, mesh.tangents[0]);
                assert!((quad.area() - mesh.area(0) - mesh.area(1)).abs() < 1e-5);
            }
        }
    }
}
