//! A ray–triangle test without cracks: a ray through a shared edge or vertex meets at least one of the
//! triangles there (Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", JCGT 2013).

use crate::ray::Ray;
use glam::Vec3;

/// A ray prepared for many tests: the space is permuted and sheared so that it runs along +z.
pub struct ShearedRay {
    origin: Vec3,
    axes: [usize; 3],
    shear: Vec3,
}

impl ShearedRay {
    pub fn new(ray: &Ray) -> ShearedRay {
        let d = ray.direction.to_array();
        let z = ray.direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if d[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        ShearedRay { origin: ray.origin, axes: [x, y, z], shear: Vec3::new(d[x] / d[z], d[y] / d[z], 1.0 / d[z]) }
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
        (t > t_min && t < t_max).then(|| (t, v / determinant, w / determinant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

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
