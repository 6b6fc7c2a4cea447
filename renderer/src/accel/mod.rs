//! Which primitive a ray meets: one interface, behind which the structure may change.
//!
//! The default is a binary BVH built and walked by obvhs, with the watertight triangle test of `watertight`
//! at its leaves.

mod watertight;

use crate::geometry::{Geometry, Hit, Primitive, Sphere};
use crate::ray::Ray;
use glam::Vec3;
use obvhs::bvh2::{Bvh2, builder::build_bvh2};
use obvhs::{BvhBuildParams, aabb::Aabb};
use watertight::ShearedRay;

/// An acceleration structure over a scene's geometry.
pub struct Accel {
    bvh: Bvh2,
    /// In the order of the BVH's leaves.
    leaves: Vec<Leaf>,
}

#[derive(Clone, Copy)]
struct Leaf {
    shape: LeafShape,
    primitive: u32,
}

#[derive(Clone, Copy)]
enum LeafShape {
    Triangle([Vec3; 3]),
    Sphere(Sphere),
}

impl Accel {
    pub fn build(geometry: &Geometry) -> Accel {
        let shapes: Vec<LeafShape> = (0..geometry.primitive_count() as u32)
            .map(|i| match geometry.primitive(i) {
                Primitive::Triangle(mesh, t) => LeafShape::Triangle(mesh.vertices(t)),
                Primitive::Sphere(s) => LeafShape::Sphere(*s),
            })
            .collect();
        if shapes.is_empty() {
            return Accel { bvh: Bvh2::default(), leaves: Vec::new() };
        }
        let boxes: Vec<Aabb> = shapes.iter().map(bounds).collect();
        let bvh = build_bvh2(&boxes, BvhBuildParams::medium_build(), &mut Default::default());
        let leaf = |&i: &u32| Leaf { shape: shapes[i as usize], primitive: i };
        let leaves = bvh.primitive_indices.iter().map(leaf).collect();
        Accel { bvh, leaves }
    }

    /// The nearest hit within the ray's interval.
    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        let sheared = ShearedRay::new(ray);
        let mut best: Option<Hit> = None;
        let mut record = obvhs::ray::RayHit::none();
        self.bvh.ray_traverse(walker(ray), &mut record, |walk, leaf| {
            let Leaf { shape, primitive } = &self.leaves[leaf];
            let found = intersect(shape, ray, &sheared, walk.tmax);
            if let Some((t, u, v)) = found {
                best = Some(Hit { t, primitive: *primitive, u, v });
            }
            found.map_or(f32::INFINITY, |(t, ..)| t)
        });
        best
    }

    /// Whether anything lies within the ray's interval.
    pub fn occluded(&self, ray: &Ray) -> bool {
        let sheared = ShearedRay::new(ray);
        !self.bvh.ray_traverse_miss(walker(ray), |walk, leaf| {
            intersect(&self.leaves[leaf].shape, ray, &sheared, walk.tmax).map_or(f32::INFINITY, |(t, ..)| t)
        })
    }
}

fn bounds(shape: &LeafShape) -> Aabb {
    match shape {
        LeafShape::Triangle(p) => Aabb::from_points(&p.map(Into::into)),
        LeafShape::Sphere(s) => Aabb::new((s.center - s.radius).into(), (s.center + s.radius).into()),
    }
}

fn walker(ray: &Ray) -> obvhs::ray::Ray {
    obvhs::ray::Ray::new(ray.origin.into(), ray.direction.into(), ray.t_min, ray.t_max)
}

/// Distance and barycentrics, strictly nearer than `t_max`.
fn intersect(shape: &LeafShape, ray: &Ray, sheared: &ShearedRay, t_max: f32) -> Option<(f32, f32, f32)> {
    match shape {
        LeafShape::Triangle(p) => sheared.intersect(p, ray.t_min, t_max),
        LeafShape::Sphere(s) => {
            let t = s.intersect(ray, t_max);
            (t < t_max).then_some((t, 0.0, 0.0))
        }
    }
}

/// Where a ray that leaves a surface must start so as not to meet it again: moved along the geometric
/// normal, to the side of `direction`, past the bound of the position's rounding error, and then to the
/// next float outwards (Pharr et al., "Physically Based Rendering", 6.8.6; the same thought as Wächter
/// and Binder's, with a bound that also knows the size of the triangle).
pub fn offset_origin(position: Vec3, error: Vec3, gnormal: Vec3, direction: Vec3) -> Vec3 {
    // Twice the bound: the test at the other end rounds as well.
    let distance = 2.0 * error.dot(gnormal.abs());
    let offset = if direction.dot(gnormal) < 0.0 { -gnormal * distance } else { gnormal * distance };
    let outwards = |p: f32, o: f32| match o {
        o if o > 0.0 => (p + o).next_up(),
        o if o < 0.0 => (p + o).next_down(),
        _ => p,
    };
    Vec3::new(outwards(position.x, offset.x), outwards(position.y, offset.y), outwards(position.z, offset.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Shape, Transform, TriangleMesh, surface};
    use crate::sampler::Sampler;
    use glam::Vec2;

    fn soup(count: u32) -> Geometry {
        let mut s = Sampler::new(3, (0, 0), 0);
        let mut random = || {
            let (a, b) = (s.next_2d(), s.next_1d());
            Vec3::new(a.x, a.y, b) * 2.0 - 1.0
        };
        let mut mesh = TriangleMesh::default();
        for i in 0..count {
            let center = random() * 4.0;
            mesh.positions.extend([center + random(), center + random(), center + random()]);
            mesh.indices.push([3 * i, 3 * i + 1, 3 * i + 2]);
        }
        mesh.complete(true);
        let mut geometry = Geometry::new();
        geometry.add_mesh(mesh, Shape { object_id: 0, material: 0, emission: Vec3::ZERO });
        geometry.add_sphere(
            Sphere { center: Vec3::ONE, radius: 0.7 },
            Shape { object_id: 0, material: 0, emission: Vec3::ZERO },
        );
        geometry
    }

    fn random_ray(i: u32) -> Ray {
        let mut s = Sampler::new(11, (i, 0), 0);
        let (a, b, c) = (s.next_2d(), s.next_2d(), s.next_2d());
        let direction = (Vec3::new(a.x, a.y, b.x) * 2.0 - 1.0).normalize_or(Vec3::X);
        Ray::new((Vec3::new(b.y, c.x, c.y) * 2.0 - 1.0) * 5.0, direction, 0.0)
    }

    #[test]
    fn the_tree_finds_what_looking_at_everything_finds() {
        let geometry = soup(300);
        let accel = Accel::build(&geometry);
        for i in 0..500 {
            let ray = random_ray(i);
            let sheared = ShearedRay::new(&ray);
            let nearest =
                accel.leaves.iter().filter_map(|l| intersect(&l.shape, &ray, &sheared, f32::INFINITY)).map(|h| h.0);
            let nearest = nearest.fold(f32::INFINITY, f32::min);
            let found = accel.closest(&ray).map_or(f32::INFINITY, |h| h.t);
            assert_eq!(found, nearest, "ray {i}");
            assert_eq!(accel.occluded(&ray), nearest < f32::INFINITY);
        }
    }

    #[test]
    fn an_empty_scene_is_missed() {
        assert_eq!(Accel::build(&Geometry::new()).closest(&random_ray(0)), None);
    }

    /// Rays that leave a surface on either side never find it at the distance of its own rounding.
    #[test]
    fn leaving_rays_do_not_meet_their_own_surface() {
        for (far, size, turn) in [(0.0, 1.0, 0.0), (1e4, 1.0, 33.0), (3.0, 1e4, 71.0), (-77.0, 1e-3, 12.0)] {
            let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
            mesh.transform(&Transform::new(Vec3::splat(far), Vec3::new(turn, 2.0 * turn, 5.0), Vec3::splat(size)));
            let aim = mesh.positions[0].lerp(mesh.positions[2], 0.4);
            let mut geometry = Geometry::new();
            geometry.add_mesh(mesh, Shape { object_id: 0, material: 0, emission: Vec3::ZERO });
            let accel = Accel::build(&geometry);
            for i in 0..300 {
                let d = random_ray(i).direction;
                let ray = Ray::new(aim - d * size * 3.0, d, 0.0);
                let Some(hit) = accel.closest(&ray) else { continue };
                let s = surface::at(&geometry, &ray, &hit);
                for out in [random_ray(i + 1000).direction, random_ray(i + 2000).direction] {
                    let start = offset_origin(s.position, s.position_error, s.gnormal, out);
                    assert!(accel.closest(&Ray::new(start, out, 0.0)).is_none(), "at {far}, size {size}, ray {i}");
                }
            }
        }
    }
}
