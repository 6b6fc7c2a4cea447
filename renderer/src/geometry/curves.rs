//! Hair: round tubes about cubic curves, with one Bézier piece for each primitive.
//!
//! The surface is swept by circles about the curve, perpendicular to it, whose radius is a cubic too: all points P for
//! which `(P − c(s))·c'(s) = 0` and `|P − c(s)| = r(s)`. Tubes are open at their ends. Radii must stay below the
//! curve's radius of curvature, or the tube meets itself.
//!
//! Texture coordinates: u runs along the whole strand, v once about it, from a direction that the strand keeps. They
//! and the normal have closed forms in `s`, which the implicit function theorem differentiates; so the partials are
//! exact.

use super::partials::{self, Members, RayPartial};
use super::{Surface, Transform};
use crate::ray::Ray;
use glam::{DVec3, DVec4, Vec2, Vec3, Vec4};
use std::f64::consts::TAU;

/// Strands of one shape, as the pieces that they consist of.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    pub pieces: Vec<CurvePiece>,
}

/// A Bézier piece of a strand.
#[derive(Clone, Copy, Debug)]
pub struct CurvePiece {
    /// Positions, and radii in the fourth component.
    pub points: [Vec4; 4],
    /// u at the beginning and at the end.
    pub along: [f32; 2],
    /// The direction from which v counts, not along the curve.
    pub reference: Vec3,
}

/// What the control points of a strand mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// Pieces of four points, each beginning where the last one ended.
    Bezier,
    /// A uniform cubic B-spline.
    #[default]
    BSpline,
}

impl Curves {
    /// Adds a strand of positions with radii; the error is a sentence for the user.
    pub fn add_strand(&mut self, basis: Basis, points: &[Vec4]) -> Result<(), String> {
        let pieces: Vec<[Vec4; 4]> = match basis {
            Basis::Bezier if points.len() < 4 || points.len() % 3 != 1 => {
                return Err(format!("a Bézier strand has 4, 7, 10 … points, not {}", points.len()));
            }
            Basis::BSpline if points.len() < 4 => {
                return Err(format!("a B-spline strand has at least 4 points, not {}", points.len()));
            }
            Basis::Bezier => points.windows(4).step_by(3).map(|p| [p[0], p[1], p[2], p[3]]).collect(),
            Basis::BSpline => points.windows(4).map(bezier_of_spline).collect(),
        };
        if !points.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e18 && p.w >= 0.0) {
            return Err("a point is not a usable number, or a radius is negative".to_owned());
        }
        // The axis that the strand follows least.
        let extent: Vec3 = points.windows(2).map(|p| (p[1] - p[0]).truncate().abs()).sum();
        let reference = Vec3::AXES[extent.min_position()];
        let count = pieces.len() as f32;
        self.pieces.extend(pieces.into_iter().enumerate().map(|(i, points)| {
            let along = [i as f32 / count, (i + 1) as f32 / count];
            CurvePiece { points, along, reference }
        }));
        Ok(())
    }

    /// Moves the strands. Radii grow by the mean of the scale: to make tubes elliptic takes an instance.
    pub fn transform(&mut self, transform: &Transform) {
        let growth = transform.exact().matrix3.determinant().abs().cbrt() as f32;
        for piece in &mut self.pieces {
            piece.points = piece.points.map(|p| transform.point(p.truncate()).extend(p.w * growth));
            piece.reference = transform.vector(piece.reference).normalize_or(piece.reference);
        }
    }

    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.pieces.iter().map(CurvePiece::bounds).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

fn bezier_of_spline(p: &[Vec4]) -> [Vec4; 4] {
    let knot = |i: usize| (p[i - 1] + p[i] * 4.0 + p[i + 1]) / 6.0;
    [knot(1), (p[1] * 2.0 + p[2]) / 3.0, (p[1] + p[2] * 2.0) / 3.0, knot(2)]
}

/// A piece at one parameter: position and radius with their derivatives.
struct At {
    value: DVec4,
    first: DVec4,
    second: DVec4,
    third: DVec4,
}

fn evaluate(p: &[DVec4; 4], s: f64) -> At {
    let mix = |a: DVec4, b: DVec4| a + (b - a) * s;
    let (a, b, c) = (mix(p[0], p[1]), mix(p[1], p[2]), mix(p[2], p[3]));
    let (d, e) = (mix(a, b), mix(b, c));
    At {
        value: mix(d, e),
        first: (e - d) * 3.0,
        second: (c - b * 2.0 + a) * 6.0,
        third: (p[3] - p[2] * 3.0 + p[1] * 3.0 - p[0]) * 6.0,
    }
}

/// The point of the surface that lies in the circle nearest to a point.
struct Point {
    s: f64,
    at: At,
    /// From the curve to the surface, perpendicular to the curve.
    q: DVec3,
    /// `|c'|² − q·c''`, by which `s` moves less where the curve bends towards the point.
    bend: f64,
    /// Outwards, not of unit length.
    normal: DVec3,
}

impl CurvePiece {
    fn exact(&self) -> [DVec4; 4] {
        self.points.map(|p| p.as_dvec4())
    }

    pub fn bounds(&self) -> (Vec3, Vec3) {
        // The curve lies among its control points, and so does the radius.
        let widest = self.points.iter().map(|p| p.w).fold(0.0, f32::max);
        let all = self.points.map(Vec4::truncate);
        let (low, high) = all[1..].iter().fold((all[0], all[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let slack = Vec3::splat(widest) + low.abs().max(high.abs()) * (4.0 * f32::EPSILON);
        (low - slack, high + slack)
    }

    /// Distance and parameter of the nearest hit within `ray.t_min < t < t_max`.
    pub fn intersect(&self, ray: &Ray, t_max: f32) -> Option<(f32, f32, f32)> {
        let (t, s) = self.nearest(ray.origin.as_dvec3(), ray.direction.as_dvec3(), ray.t_min.into(), t_max.into())?;
        let t = t as f32;
        (t > ray.t_min && t < t_max).then_some((t, s as f32, 0.0))
    }

    fn nearest(&self, origin: DVec3, direction: DVec3, t_min: f64, t_max: f64) -> Option<(f64, f64)> {
        // In a space where the ray is the z axis from 0.
        let length = direction.length();
        let z = direction / length;
        let (x, y) = z.any_orthonormal_pair();
        let points = self.exact().map(|p| {
            let v = p.truncate() - origin;
            DVec4::new(v.dot(x), v.dot(y), v.dot(z), p.w)
        });
        // Distances count from the piece, so that those of a ray from far away keep their digits.
        let begin = points[0].z;
        let points = points.map(|p| p - DVec4::Z * begin);
        let (from, to) = (t_min * length - begin, t_max * length - begin);
        let mut search = Search { whole: points, from, to, found: None };
        search.descend(&points, (0.0, 1.0), levels(&points));
        search.found.map(|(z, s)| ((z + begin) / length, s))
    }

    /// The surface's point in the circle through a point that is on it or close by, about parameter `s`.
    fn point(&self, near: DVec3, mut s: f64) -> Point {
        let p = self.exact();
        for _ in 0..3 {
            let at = evaluate(&p, s);
            let (c, first, q) = (at.value.truncate(), at.first.truncate(), near - at.value.truncate());
            let slope = first.length_squared() - (near - c).dot(at.second.truncate());
            if slope > 0.0 {
                s = (s + q.dot(first) / slope).clamp(0.0, 1.0);
            }
        }
        let at = evaluate(&p, s);
        let along = at.first.truncate().normalize_or(DVec3::Z);
        let q = near - at.value.truncate();
        let q = (q - along * q.dot(along)).normalize_or(along.any_orthonormal_vector()) * at.value.w;
        let bend = at.first.truncate().length_squared() - q.dot(at.second.truncate());
        let normal = q - at.first.truncate() * (at.value.w * at.first.w / bend);
        Point { s, at, q, bend, normal }
    }

    fn values(&self, p: &Point) -> (DVec3, Vec2, [DVec3; 3]) {
        let (c, first) = (p.at.value.truncate(), p.at.first.truncate());
        let n = p.normal.normalize_or_zero();
        let t = (first - n * n.dot(first)).normalize_or(n.any_orthonormal_vector());
        let e = self.reference.as_dvec3();
        let turn = p.q.dot(e.cross(first.normalize_or_zero())).atan2(p.q.dot(e)) / TAU;
        let u = f64::from(self.along[0]) + f64::from(self.along[1] - self.along[0]) * p.s;
        (c + p.q, Vec2::new(u as f32, (turn - turn.floor()) as f32), [n, t, n.cross(t)])
    }

    /// The surface at a hit with parameter `s`.
    pub fn surface(&self, near: Vec3, s: f32) -> Surface {
        let point = self.point(near.as_dvec3(), f64::from(s));
        let (position, uv, [n, t, b]) = self.values(&point);
        Surface {
            position: position.as_vec3(),
            // The sums are exact beside the rounding of their result.
            position_error: position.as_vec3().abs() * (2.0 * f32::EPSILON) + Vec3::splat(self.points[0].w * 1e-6),
            normal: n.as_vec3(),
            gnormal: n.as_vec3(),
            tangent: t.as_vec3(),
            bitangent: b.as_vec3(),
            uv,
            color: Vec3::ONE,
            ..Surface::default()
        }
    }

    /// The partials at the same hit.
    pub fn members(&self, near: Vec3, s: f32, t: f64, ray: &RayPartial) -> Members {
        self.members_at(&self.point(near.as_dvec3(), f64::from(s)), t, ray)
    }

    fn members_at(&self, p: &Point, t: f64, ray: &RayPartial) -> Members {
        let [c1, c2, c3] = [&p.at.first, &p.at.second, &p.at.third].map(|v| v.truncate());
        let (r, r1, r2) = (p.at.value.w, p.at.first.w, p.at.second.w);
        let n = p.normal;
        let dp = partials::position(ray, t, n.normalize_or_zero());
        // From (P − c)·c' = 0: ∂s = ∂P·c'/bend.
        let ds = dp.dot(c1) / p.bend;
        let (dq, dc1) = (dp - c1 * ds, c2 * ds);
        let d_bend = 2.0 * c1.dot(c2) * ds - dq.dot(c2) - p.q.dot(c3) * ds;
        // N = q − (r r'/bend) c'.
        let slope = r * r1 / p.bend;
        let d_slope = (r1 * r1 + r * r2) * ds / p.bend - slope * d_bend / p.bend;
        let dn = dq - c1 * d_slope - dc1 * slope;
        // T = c' − N (N·c')/|N|².
        let square = n.length_squared();
        let share = n.dot(c1) / square;
        let d_share = (dn.dot(c1) + n.dot(dc1)) / square - share * 2.0 * n.dot(dn) / square;
        let tangent = c1 - n * share;
        let d_tangent = dc1 - dn * share - n * d_share;
        // v from x = q·e and y = q·(e × t̂).
        let e = self.reference.as_dvec3();
        let (axis, d_axis) = (c1.normalize_or_zero(), partials::normalized(c1, dc1));
        let (x, y) = (p.q.dot(e), p.q.dot(e.cross(axis)));
        let (dx, dy) = (dq.dot(e), dq.dot(e.cross(axis)) + p.q.dot(e.cross(d_axis)));
        let around = x * x + y * y;
        let dv = if around > 0.0 { (x * dy - y * dx) / (around * TAU) } else { 0.0 };
        let (unit_dn, unit_dt) = (partials::normalized(n, dn), partials::normalized(tangent, d_tangent));
        Members {
            position: dp,
            uvw: DVec3::new(ds * f64::from(self.along[1] - self.along[0]), dv, 0.0),
            normal: unit_dn,
            tangent: unit_dt,
            bitangent: partials::bitangent(n, unit_dn, tangent, unit_dt),
            incident: ray.d_direction,
            ..Members::default()
        }
    }
}

/// How often a piece must be halved until its parts are nearly straight, after the bound of the second differences
/// (Wang; as in Nakamaru and Ohno, "Ray Tracing for Curves Primitive", 2002).
fn levels(p: &[DVec4; 4]) -> u32 {
    let bent = |i: usize| (p[i] - p[i + 1] * 2.0 + p[i + 2]).truncate().length();
    let widest = p.iter().map(|p| p.w).fold(0.0, f64::max);
    let ratio = 6.0 * bent(0).max(bent(1)) / (8.0 * 0.05 * widest.max(1e-30));
    // Halving makes the distance from the chord a quarter.
    if ratio > 1.0 { (ratio.log2() * 0.5).ceil().min(10.0) as u32 } else { 0 }
}

/// A search along the z axis.
struct Search {
    whole: [DVec4; 4],
    from: f64,
    to: f64,
    /// Distance and parameter.
    found: Option<(f64, f64)>,
}

impl Search {
    fn descend(&mut self, p: &[DVec4; 4], (begin, end): (f64, f64), levels: u32) {
        let all = |f: fn(DVec4, DVec4) -> DVec4| p[1..].iter().fold(p[0], |a, b| f(a, *b));
        let (low, high) = (all(DVec4::min), all(DVec4::max));
        let r = high.w;
        if low.x > r || high.x < -r || low.y > r || high.y < -r || low.z - r > self.to || high.z + r < self.from {
            return;
        }
        let middle = 0.5 * (begin + end);
        if levels > 0 {
            let mix = |a: DVec4, b: DVec4| (a + b) * 0.5;
            let (a, b, c) = (mix(p[0], p[1]), mix(p[1], p[2]), mix(p[2], p[3]));
            let (d, e) = (mix(a, b), mix(b, c));
            let center = mix(d, e);
            self.descend(&[p[0], a, d, center], (begin, middle), levels - 1);
            return self.descend(&[center, e, c, p[3]], (middle, end), levels - 1);
        }
        for (z, s) in guesses(p, begin, end).into_iter().flatten() {
            self.refine(z, s);
        }
    }

    /// Newton's method for both equations of the surface, from distance `z` and parameter `s`.
    fn refine(&mut self, mut z: f64, mut s: f64) {
        let square = |x: f64| x * x;
        for _ in 0..20 {
            let at = evaluate(&self.whole, s);
            let (c1, c2, r) = (at.first.truncate(), at.second.truncate(), at.value.w);
            let q = DVec3::new(0.0, 0.0, z) - at.value.truncate();
            let (f, g) = (q.dot(c1), q.length_squared() - r * r);
            if f.abs() <= 1e-9 * c1.length() * r && g.abs() <= 1e-9 * square(r) {
                // The parts overlap here, so that none of them leaves a gap.
                if (-1e-9..=1.0 + 1e-9).contains(&s) && z > self.from && z < self.to {
                    (self.found, self.to) = (Some((z, s.clamp(0.0, 1.0))), z);
                }
                return;
            }
            let (fz, fs) = (c1.z, q.dot(c2) - c1.length_squared());
            let (gz, gs) = (2.0 * q.z, -2.0 * (q.dot(c1) + r * at.first.w));
            let determinant = fz * gs - fs * gz;
            if determinant == 0.0 {
                return;
            }
            // No step leaves the neighbourhood.
            let step_s = ((g * fz - f * gz) / -determinant).clamp(-0.25, 0.25);
            z += (f * gs - g * fs) / -determinant;
            s += step_s;
            if !(z.is_finite() && (-0.5..=1.5).contains(&s)) {
                return;
            }
        }
    }
}

/// Where the z axis enters and leaves the cylinder about the chord of a nearly straight part, as distance and
/// parameter; where it just misses it, where it comes nearest.
fn guesses(p: &[DVec4; 4], begin: f64, end: f64) -> [Option<(f64, f64)>; 2] {
    let (from, chord) = (p[0].truncate(), (p[3] - p[0]).truncate());
    let axis = chord.normalize_or_zero();
    let r = 0.5 * (p[0].w + p[3].w);
    let across = |v: DVec3| v - axis * v.dot(axis);
    let (e, o) = (across(DVec3::Z), across(-from));
    let (a, b) = (e.length_squared(), e.dot(o));
    let parameter = |z: f64| {
        let share = (DVec3::new(0.0, 0.0, z) - from).dot(axis) / chord.length().max(1e-300);
        begin + (end - begin) * share.clamp(0.0, 1.0)
    };
    if a < 1e-12 {
        // Along the tube: through either end.
        return [p[0].z, p[3].z].map(|z| Some((z, parameter(z))));
    }
    let root = ((b * b - a * (o.length_squared() - r * r)).max(0.0)).sqrt();
    [-root, root].map(|root| {
        let z = (root - b) / a;
        Some((z, parameter(z)))
    })
}

#[cfg(test)]
#[path = "curves_tests.rs"]
mod tests;
