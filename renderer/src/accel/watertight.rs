//! A ray–triangle test without cracks: a ray through a shared edge or vertex meets at least one of the
//! triangles there (Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", JCGT 2013).
//!
//! A hit counts only if it lies past the ray's origin for certain: further than the rounding of its distance may reach
//! (Pharr, Jakob and Humphreys, "Physically Based Rendering", 4th edition, 6.8.7). Otherwise a ray that leaves a large
//! triangle at a small angle would hit that very triangle. Of long triangles close by, f32 knows too little: there the distance
//! is found again in f64.

use crate::ray::Ray;
use glam::{BVec4A, Vec3, Vec4};
use std::ops::{Add, Mul};

/// A distance that may be off by a larger share than this is found again. What the bound says is seldom reached: it is a hundred times
/// as much as is usually lost, and tiny triangles far away have one of a thousandth.
const UNSURE: f32 = 0.03;

/// As a share of the origin's distance from the world's along an axis.
const NEAR: f32 = 1e-3;

/// Up to four triangles side by side: by vertex, then by axis. Lanes that are not used hold NaN, which no ray meets.
#[derive(Clone, Copy, Debug)]
pub struct FourTriangles([[Vec4; 3]; 3]);

impl FourTriangles {
    /// # Panics
    /// If there are more than four.
    pub fn new(triangles: &[[Vec3; 3]]) -> FourTriangles {
        let mut four = [[Vec4::NAN; 3]; 3];
        for (lane, triangle) in triangles.iter().enumerate() {
            for (vertex, p) in triangle.iter().enumerate() {
                (0..3).for_each(|axis| four[vertex][axis][lane] = p[axis]);
            }
        }
        FourTriangles(four)
    }

    fn triangle(&self, lane: usize) -> [Vec3; 3] {
        self.0.map(|p| Vec3::new(p[0][lane], p[1][lane], p[2][lane]))
    }
}

/// A ray prepared for many tests: the space is permuted and sheared so that it runs along +z.
pub struct ShearedRay {
    origin: Vec3,
    axes: [usize; 3],
    shear: Vec3,
    /// What f32 finds behind the origin, and may be ahead by no more than this, is not looked for: it is the surface that the
    /// ray leaves.
    near: f32,
}

impl ShearedRay {
    pub fn new(ray: &Ray) -> ShearedRay {
        let d = ray.direction.to_array();
        let z = ray.direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if d[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        let shear = Vec3::new(d[x] / d[z], d[y] / d[z], 1.0 / d[z]);
        ShearedRay { origin: ray.origin, axes: [x, y, z], shear, near: NEAR * ray.origin.abs().max_element() }
    }

    /// Distance and the barycentric coordinates of the second and third vertex, within `t_min < t < t_max`.
    #[inline]
    pub fn intersect(&self, triangle: &[Vec3; 3], t_min: f32, t_max: f32) -> Option<(f32, f32, f32)> {
        let [x, y, z] = self.axes;
        let s = self.shear;
        let local = triangle.map(|p| {
            let p = (p - self.origin).to_array();
            [p[x] - s.x * p[z], p[y] - s.y * p[z], p[z]]
        });
        let [a, b, c] = local;
        let edge = |p: [f32; 3], q: [f32; 3]| p[0] * q[1] - p[1] * q[0];
        let (mut u, mut v, mut w) = (edge(c, b), edge(a, c), edge(b, a));
        if u == 0.0 || v == 0.0 || w == 0.0 {
            // On an edge as far as f32 can tell: only more digits decide for one side.
            let edge = |p: [f32; 3], q: [f32; 3]| {
                (f64::from(p[0]) * f64::from(q[1]) - f64::from(p[1]) * f64::from(q[0])) as f32
            };
            (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
        }
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let determinant = u + v + w;
        if determinant == 0.0 {
            return None;
        }
        let t = (u * a[2] + v * b[2] + w * c[2]) * s.z / determinant;
        let reach = [0, 1, 2].map(|i| a[i].abs().max(b[i].abs()).max(c[i].abs()));
        let edges = u.abs().max(v.abs()).max(w.abs());
        let error = rounding(reach[0], reach[1], reach[2], edges) * (s.z / determinant).abs();
        let found = match self.is_unsure(t, error, t_min) {
            true => self.in_f64(triangle, t_min, error)?,
            false => (t, v / determinant, w / determinant),
        };
        (found.0 > t_min && found.0 < t_max).then_some(found)
    }

    /// Whether f32 does not know the distance `t` well enough, which may be off by `error`, and f64 is to decide.
    #[inline(always)]
    fn is_unsure(&self, t: f32, error: f32, t_min: f32) -> bool {
        if t > t_min { error > UNSURE * t } else { error > self.near && t + error > t_min && error > UNSURE * -t }
    }

    /// What [`ShearedRay::intersect`] says of a triangle that is met, if it is met past the ray's origin for certain. `error` is
    /// how far the distance may be off in f32.
    #[cold]
    fn in_f64(&self, triangle: &[Vec3; 3], t_min: f32, error: f32) -> Option<(f32, f32, f32)> {
        let [x, y, z] = self.axes;
        let (s, origin) = (self.shear.as_dvec3(), self.origin.as_dvec3());
        let [a, b, c] = triangle.map(|p| {
            let p = (p.as_dvec3() - origin).to_array();
            [p[x] - s.x * p[z], p[y] - s.y * p[z], p[z]]
        });
        let edge = |p: [f64; 3], q: [f64; 3]| p[0] * q[1] - p[1] * q[0];
        let (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
        let determinant = u + v + w;
        let t = (u * a[2] + v * b[2] + w * c[2]) * s.z / determinant;
        let rounding = f64::from(error) * (f64::EPSILON / f64::from(f32::EPSILON));
        let past = t > f64::from(t_min) + rounding;
        // f32 has found that it is inside.
        let share = |x: f64| (x / determinant).clamp(0.0, 1.0) as f32;
        past.then(|| (t as f32, share(v), share(w)))
    }

    /// The nearest of four triangles that is met: its lane, and what [`ShearedRay::intersect`] says of it, bit by bit.
    #[inline(always)]
    pub fn intersect_four(&self, four: &FourTriangles, t_min: f32, t_max: f32) -> Option<(usize, f32, f32, f32)> {
        let [x, y, z] = self.axes;
        let s = self.shear;
        let origin = self.axes.map(|axis| Vec4::splat(self.origin[axis]));
        // From where they lie: a copy of a vertex to choose axes from costs more than the test.
        let local = |p: &[Vec4; 3]| {
            let pz = p[z] - origin[2];
            [p[x] - origin[0] - Vec4::splat(s.x) * pz, p[y] - origin[1] - Vec4::splat(s.y) * pz, pz]
        };
        let [a, b, c] = [local(&four.0[0]), local(&four.0[1]), local(&four.0[2])];
        let edge = |p: [Vec4; 3], q: [Vec4; 3]| p[0] * q[1] - p[1] * q[0];
        let (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
        let (low, high) = (u.min(v).min(w), u.max(v).max(w));
        let met = low.cmpge(Vec4::ZERO) | high.cmple(Vec4::ZERO);
        if !met.any() {
            return None;
        }
        let determinant = u + v + w;
        let t = (u * a[2] + v * b[2] + w * c[2]) * s.z / determinant;
        let reach = [0, 1, 2].map(|i| a[i].abs().max(b[i].abs()).max(c[i].abs()));
        let error = rounding(reach[0], reach[1], reach[2], high.max(-low)) * (s.z / determinant).abs();
        let line = Line { met, strict: low.cmpgt(Vec4::ZERO) | high.cmplt(Vec4::ZERO), t, error };
        let nearest = match self.what_counts(&line, t_min, t_max) {
            Some(counts) => nearest_of(counts.bitmask(), t)?,
            None => return self.decide_each(four, &line, [v, w, determinant], t_min, t_max),
        };
        let determinant = determinant[nearest];
        Some((nearest, t[nearest], v[nearest] / determinant, w[nearest] / determinant))
    }

    /// The triangles met within the distances, or nothing where f32 does not know it of all of them.
    #[inline(always)]
    fn what_counts(&self, line: &Line, t_min: f32, t_max: f32) -> Option<BVec4A> {
        let &Line { met, strict, t, error } = line;
        let ahead = t.cmpgt(Vec4::splat(t_min));
        // As `is_unsure` has it.
        let behind = error.cmple(Vec4::splat(self.near)) | (t + error).cmple(Vec4::splat(t_min));
        let known = error.cmple(Vec4::select(ahead, t, -t) * UNSURE) | (!ahead & behind);
        (!(met & !(strict & known)).any()).then(|| met & ahead & t.cmplt(Vec4::splat(t_max)))
    }

    /// As [`ShearedRay::intersect_four`], lane by lane, of which some need more digits.
    #[cold]
    fn decide_each(
        &self,
        four: &FourTriangles,
        line: &Line,
        shares: [Vec4; 3],
        t_min: f32,
        t_max: f32,
    ) -> Option<(usize, f32, f32, f32)> {
        let [v, w, determinant] = shares;
        let mut best: Option<(usize, f32, f32, f32)> = None;
        for lane in (0..4).filter(|lane| line.met.test(*lane)) {
            let nearest = best.map_or(t_max, |b| b.1);
            let found = if line.strict.test(lane) {
                let (t, error) = (line.t[lane], line.error[lane]);
                let found = match self.is_unsure(t, error, t_min) {
                    true => self.in_f64(&four.triangle(lane), t_min, error),
                    false => Some((t, v[lane] / determinant[lane], w[lane] / determinant[lane])),
                };
                found.filter(|found| found.0 > t_min && found.0 < nearest)
            } else {
                // On an edge as far as f32 can tell.
                self.intersect(&four.triangle(lane), t_min, nearest)
            };
            best = found.map(|(t, u, v)| (lane, t, u, v)).or(best);
        }
        best
    }
}

/// What f32 finds of four triangles and the line along a ray.
struct Line {
    /// The line meets a triangle, maybe at its edge.
    met: BVec4A,
    /// Not at its edge.
    strict: BVec4A,
    /// Where, and how far that may be off.
    t: Vec4,
    error: Vec4,
}

/// The lane of a set with the smallest distance; of equal ones the first.
#[inline(always)]
fn nearest_of(mut set: u32, t: Vec4) -> Option<usize> {
    let mut nearest = set.trailing_zeros() as usize;
    if set == 0 {
        return None;
    }
    set &= set - 1;
    while set != 0 {
        let lane = set.trailing_zeros() as usize;
        nearest = if t[lane] < t[nearest] { lane } else { nearest };
        set &= set - 1;
    }
    Some(nearest)
}

/// By how much `u a.z + v b.z + w c.z` may be wrong for vertices no further along each axis than this, and edge functions
/// up to `edges`. The division by their sum is exact enough.
#[inline]
fn rounding<T>(x: T, y: T, z: T, edges: T) -> T
where
    T: Copy + Add<Output = T> + Mul<Output = T> + Mul<f32, Output = T>,
{
    let of_x = (x + z) * gamma(5);
    let of_y = (y + z) * gamma(5);
    let of_edges = (x * y * gamma(2) + of_y * x + of_x * y) * 2.0;
    (edges * z * (2.0 * gamma(3)) + of_edges * z) * 3.0
}

/// The relative error of n rounded operations.
const fn gamma(n: u32) -> f32 {
    let unit = n as f32 * 0.5 * f32::EPSILON;
    unit / (1.0 - unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;
    use glam::Quat;
    use std::f32::consts::TAU;

    /// Four at once are the four one by one, also on edges, vertices and for lanes that are not used.
    #[test]
    fn four_triangles_are_met_as_each_alone() {
        let mut random = Sampler::new(2, (0, 0), 0);
        for i in 0..3000 {
            let mut vector = || random.next_2d().extend(random.next_1d()) * 2.0 - 1.0;
            let hub = vector();
            let triangles: Vec<[Vec3; 3]> = (0..1 + i % 4)
                .map(|k| if k == 0 { [vector(), vector(), vector()] } else { [hub, vector(), vector()] })
                .collect();
            let origin = vector() * 3.0;
            let aim = match i % 3 {
                0 => hub,
                1 => triangles[0][0].lerp(triangles[0][1], 0.3),
                _ => vector(),
            };
            // Some leave one of them, and some end before what they would meet.
            let [a, b, c] = triangles[0];
            let origin = if i % 5 == 0 { (a + b + c) / 3.0 } else { origin };
            let t_max = if i % 7 == 0 { 3.0 * random.next_1d() } else { f32::INFINITY };
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            let t_min = if i % 11 == 0 { random.next_1d() } else { 0.0 };
            assert_as_each_alone(&ray, &triangles, t_min, t_max);
        }
    }

    fn assert_as_each_alone(ray: &Ray, triangles: &[[Vec3; 3]], t_min: f32, t_max: f32) {
        let sheared = ShearedRay::new(ray);
        let one = |lane: usize| Some((lane, sheared.intersect(&triangles[lane], t_min, t_max)?));
        let nearest = (0..triangles.len()).filter_map(one).reduce(|a, b| if b.1.0 < a.1.0 { b } else { a });
        let four = sheared.intersect_four(&FourTriangles::new(triangles), t_min, t_max);
        assert_eq!(four, nearest.map(|(lane, (t, u, v))| (lane, t, u, v)), "{ray:?} from {t_min} to {t_max}");
    }

    /// A wall a thousand times as long as high, seen from close by: what is met, and at which distance, is known from similar
    /// triangles. Where it does not stand along an axis, f32 may even find it behind the ray.
    #[test]
    fn long_triangles_close_by_are_met_where_they_are() {
        let mut random = Sampler::new(3, (0, 0), 0);
        for (half, distance) in
            [(100.0_f32, 0.5_f32), (500.0, 0.5), (5000.0, 0.1), (5000.0, 1.5), (5e4, 0.5), (5e4, 10.0)]
        {
            for i in 0..2000 {
                let u = random.next_2d();
                // The wall turns about an upright axis through the eye.
                let turn = Quat::from_rotation_y(if i % 2 == 0 { 0.0 } else { random.next_1d() * TAU });
                let corner = |x: f32, y: f32| turn * Vec3::new(x * half, y, -distance);
                let wall = [
                    [corner(-1.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0)],
                    [corner(-1.0, 0.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                ];
                let eye = Vec3::new(0.0, 0.5, 0.0);
                let aim = turn * Vec3::new((2.0 * u.x - 1.0) * distance * 3.0, 0.01 + 0.98 * u.y, -distance);
                let ray = Ray::new(eye, (aim - eye).normalize(), 0.0);
                // Corners that were turned are rounded: where the plane is that they span, f64 says.
                let [a, b, c] = wall[0].map(Vec3::as_dvec3);
                let normal = (b - a).cross(c - a);
                let expected = normal.dot(a - eye.as_dvec3()) / normal.dot(ray.direction.as_dvec3());
                let sheared = ShearedRay::new(&ray);
                // Also where f32 cannot tell on which side of the beginning it is met.
                for t_min in [0.0, 0.999, 1.0, 1.001, 1.5].map(|share| share * expected as f32) {
                    assert_as_each_alone(&ray, &wall, t_min, f32::INFINITY);
                }
                let four = sheared.intersect_four(&FourTriangles::new(&wall), 0.0, f32::INFINITY);
                let (_, t, ..) =
                    four.unwrap_or_else(|| panic!("ray {i} passes through a wall of {half} at {distance}"));
                let off = f64::from(t) / expected - 1.0;
                // The other half of the wall spans a plane of its own.
                assert!(off.abs() < if i % 2 == 0 { 1e-3 } else { 0.05 }, "{half}, {distance}: {t} {expected}");
            }
        }
    }

    /// Rays through the shared edges and the hub of a fan must not slip through.
    #[test]
    fn rays_through_edges_and_vertices_hit_something() {
        const N: usize = 9;
        let hub = Vec3::new(0.1, 0.2, -0.05);
        let rim = |i: usize| {
            let a = (i % N) as f32 / N as f32 * std::f32::consts::TAU;
            Vec3::new(a.cos(), a.sin(), 0.1 * (3.0 * a).sin())
        };
        let mut random = Sampler::new(1, (0, 0), 0);
        for i in 0..2000 {
            let origin = (random.next_2d() * 2.0 - 1.0).extend(3.0);
            let aim = hub.lerp(rim(i), if i % 5 == 0 { 0.0 } else { 0.9 * random.next_1d() });
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            let sheared = ShearedRay::new(&ray);
            let hits = (0..N).filter_map(|k| sheared.intersect(&[hub, rim(k), rim(k + 1)], 0.0, f32::INFINITY));
            let t = hits.map(|h| h.0).fold(f32::INFINITY, f32::min);
            assert!((ray.at(t) - aim).length() < 1e-3, "ray {i}");
        }
    }
}
