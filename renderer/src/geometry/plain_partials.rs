//! The partials of a hit on a triangle that footprints of textures are made of, in f32: those of its place and of its texture
//! coordinates, where no digits cancel. [`partials`](super::partials) has all others, in f64.

use super::surface::Partials;
use crate::math::lanes::all_finite;
use crate::ray::RayDifferential;
use glam::{Vec2, Vec3};

/// By film x and y.
#[derive(Clone, Copy, Debug)]
pub struct PlainPartials {
    pub position: [Vec3; 2],
    pub uv: [Vec2; 2],
}

/// Sine of the angle between two edges times cosine of the ray to the normal, below which digits count as cancelled. The
/// relative error is about that of f32 over this.
const LEAST: f32 = 1.0 / 64.0;

impl PlainPartials {
    /// For a triangle by its corners, and a hit at distance `t`; and whether that is sound: not where the triangle is thin, or the ray
    /// nearly in its plane. Without branches, so that many are found at once.
    ///
    /// `∂P` as [`position`](super::partials::position) has it, and `∂u = (∂P × e2)·n / n·n`, `∂v = (e1 × ∂P)·n / n·n` with the edges
    /// e1 and e2 and n = e1 × e2: areas over areas, so nothing is subtracted that is nearly equal.
    #[inline(always)]
    pub fn new(
        [a, b, c]: [Vec3; 3],
        uvs: [Vec2; 3],
        direction: Vec3,
        differential: &RayDifferential,
        t: f32,
    ) -> (PlainPartials, bool) {
        let (to_b, to_c) = (b - a, c - a);
        let n = to_b.cross(to_c);
        let (cosine, sides) = (direction.dot(n), to_b.length_squared() * to_c.length_squared());
        // Neither may have left the range of f32: what is no number fails as well.
        let in_range = (sides < f32::MAX) & (sides > f32::MIN_POSITIVE / f32::EPSILON);
        let sound = in_range & (cosine * cosine > LEAST * LEAST * sides);
        let per_area = n / n.length_squared();
        let (by_u, by_v) = (to_c.cross(per_area), per_area.cross(to_b));
        let moved = |axis: usize| {
            let moved = differential.origin[axis] + differential.direction[axis] * t;
            moved - direction * (moved.dot(n) / cosine)
        };
        let position = [moved(0), moved(1)];
        let along = |dp: Vec3| (uvs[1] - uvs[0]) * dp.dot(by_u) + (uvs[2] - uvs[0]) * dp.dot(by_v);
        let uv = [along(position[0]), along(position[1])];
        let finite_positions = all_finite(&position[0].to_array()) & all_finite(&position[1].to_array());
        let finite = finite_positions & all_finite(&uv[0].to_array()) & all_finite(&uv[1].to_array());
        (PlainPartials { position, uv }, sound & finite)
    }

    /// As partials of all kinds, with that of the ray itself.
    pub fn into_all(self, differential: &RayDifferential) -> Partials {
        let uvw = [self.uv[0].extend(0.0), self.uv[1].extend(0.0)];
        Partials { position: self.position, uvw, incident: differential.direction, ..Partials::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::partials::{RayPartial, TriangleAttributes, TrianglePartials, Wanted};
    use super::*;
    use crate::sampler::Sampler;

    /// Triangles of any size and shape, and rays at any angle: where there is an answer it is that of f64, and there is one wherever
    /// neither is extreme.
    #[test]
    fn they_are_those_of_f64() {
        let (mut answers, mut none) = (0, 0);
        for case in 0..20_000 {
            let mut s = Sampler::new(8, (3, 5), case);
            let mut vector = || s.next_2d().extend(s.next_1d()) * 2.0 - 1.0;
            let size = 10_f32.powf(4.0 * vector().x);
            let (a, along, across) = (vector() * 10.0 * size, vector() * size, vector() * size);
            // From even ones to needles.
            let corners = [a, a + along, a + along.lerp(across, 10_f32.powf(-2.0 + 2.0 * vector().x))];
            let direction = vector().normalize_or(Vec3::X);
            let differential = RayDifferential {
                origin: [vector() * 0.1, vector() * 0.1],
                direction: [direction.cross(vector()), direction.cross(vector())],
            };
            let uvs = [vector().truncate(), vector().truncate(), vector().truncate()];
            let t = 1.0 + 5.0 * vector().x.abs();
            let [e1, e2] = [corners[1] - corners[0], corners[2] - corners[0]].map(Vec3::as_dvec3);
            let slope = e1.cross(e2).dot(direction.as_dvec3()).abs() / (e1.length() * e2.length());
            let (found, sound) = PlainPartials::new(corners, uvs, direction, &differential, t);
            if !sound {
                assert!(slope < 0.016, "{case}: nothing at {slope}");
                none += 1;
                continue;
            }
            answers += 1;
            let attributes = TriangleAttributes {
                positions: corners.map(Vec3::as_dvec3),
                normals: Default::default(),
                tangents: Default::default(),
                colors: Default::default(),
                uvs: uvs.map(Vec2::as_dvec2),
            };
            let wanted = Wanted { position: true, uvw: true, ..Wanted::default() };
            let plane = TrianglePartials::new(&attributes, (0.3, 0.3), 1.0, wanted);
            for axis in [0, 1] {
                let partial = RayPartial {
                    direction: direction.as_dvec3(),
                    d_origin: differential.origin[axis].as_dvec3(),
                    d_direction: differential.direction[axis].as_dvec3(),
                };
                let exact = plane.along(f64::from(t), &partial);
                // The terms that are added are as large as this.
                let moved = (partial.d_origin + partial.d_direction * f64::from(t)).length();
                let error = (found.position[axis].as_dvec3() - exact.position).length();
                assert!(error < 3e-5 * (moved / slope), "{case}: {} {}", found.position[axis], exact.position);
                let largest = uvs.iter().map(|uv| (*uv - uvs[0]).length()).fold(0.0, f32::max);
                let scale = f64::from(largest) * moved / slope * (e1.length().max(e2.length()) / e1.cross(e2).length());
                let error = (found.uv[axis].extend(0.0).as_dvec3() - exact.uvw).length();
                assert!(error < 3e-5 * scale, "{case}: {} {}", found.uv[axis], exact.uvw);
            }
        }
        assert!(answers > 5000 && none > 1000, "{answers} {none}");
    }

    #[test]
    fn what_has_no_area_has_none() {
        let of = |corners| PlainPartials::new(corners, [Vec2::ZERO; 3], Vec3::Z, &RayDifferential::default(), 1.0);
        for corners in [[Vec3::ZERO; 3], [Vec3::ZERO, Vec3::X, Vec3::X * 2.0], [Vec3::NAN, Vec3::X, Vec3::Y]] {
            assert!(!of(corners).1, "{corners:?}");
        }
        for size in [1e-12, 1e12] {
            let corners = [Vec3::ZERO, Vec3::X * size, Vec3::Y * size];
            let (found, sound) = of(corners);
            assert!(!sound || found.position == [Vec3::ZERO; 2], "{size}");
        }
    }
}
