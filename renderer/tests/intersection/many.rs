//! Many rays together meet what each meets alone.

use super::random::{Random, closed_sphere, mesh_of, on_each, shape, world_of};
use glam::{DAffine3, DVec3, Vec3};
use renderer::geometry::{Geometry, Sphere};
use renderer::ray::Ray;

/// Rays from all sides, some of them short, some that meet nothing.
fn rays(random: &mut Random, count: usize) -> Vec<Ray> {
    let ray = |i: usize, random: &mut Random| {
        let origin = random.vector() * 3.0;
        let towards = random.vector() * if i.is_multiple_of(5) { 4.0 } else { 0.8 };
        let t_max = if i.is_multiple_of(3) { 2.0 } else { f32::INFINITY };
        Ray { t_max, ..Ray::new(origin, (towards - origin).try_normalize().unwrap_or(Vec3::X), 0.0) }
    };
    (0..count).map(|i| ray(i, random)).collect()
}

/// On each structure, of rays of which at least so many meet something.
fn compare(what: &str, geometry: &Geometry, least: usize) {
    on_each(geometry, |name, accel| {
        let (mut hits, mut blocked) = (vec![None; 3], vec![true; 3]);
        let (mut met, mut other) = (0, 0);
        // Fewer than go together, as many, one more, and many times as many.
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 1000] {
            let rays = rays(&mut Random::new(40 + count as u32), count);
            accel.closest_each(&rays, &mut hits);
            accel.occluded_each(&rays, &mut blocked);
            assert_eq!((hits.len(), blocked.len()), (count, count));
            for ((ray, hit), blocked) in rays.iter().zip(&hits).zip(&blocked) {
                let alone = accel.closest(ray);
                met += usize::from(alone.is_some());
                let same = match (alone, hit) {
                    (None, None) => true,
                    (Some(a), Some(b)) => {
                        (a.t, a.primitive, a.instance, a.u, a.v) == (b.t, b.primitive, b.instance, b.u, b.v)
                    }
                    _ => false,
                };
                // Embree's packets round otherwise than its single rays.
                let close = name == "embree" && alone.zip(*hit).is_some_and(|(a, b)| (a.t / b.t - 1.0).abs() < 1e-4);
                other += usize::from(!same && !close || *blocked != alone.is_some());
            }
        }
        assert!(met >= least, "{what}, {name}: {met}");
        assert!(other <= if name == "embree" { 4 } else { 0 }, "{what}, {name}: {other}");
    });
}

#[test]
fn triangles() {
    let mut random = Random::new(3);
    let soup: Vec<[Vec3; 3]> = (0..400)
        .map(|_| {
            let at = random.vector();
            [at, at + random.vector() * 0.4, at + random.vector() * 0.4]
        })
        .collect();
    compare("soup", &world_of(mesh_of(&soup)), 300);
    compare("sphere", &world_of(closed_sphere(4, 0.9)), 300);
}

/// Each half as large as the last one, and beside it: a tree that is as deep as may be.
#[test]
fn deep_trees() {
    let nested: Vec<[Vec3; 3]> = (0..120)
        .map(|i| {
            let size = 0.5_f32.powi(i / 2);
            let at = Vec3::splat(size) * if i % 2 == 0 { 1.0 } else { -1.0 };
            [at, at * Vec3::new(0.4, 1.0, 0.4), at * Vec3::new(0.4, 0.4, 1.0)]
        })
        .collect();
    compare("nested", &world_of(mesh_of(&nested)), 40);
}

#[test]
fn other_shapes_and_instances() {
    let mut geometry = Geometry::new();
    let group = geometry.add_group();
    geometry.add_to(group, closed_sphere(2, 0.5), shape());
    geometry.add_to(group, Sphere { center: Vec3::Y * 0.6, radius: 0.3 }, shape());
    for i in 0..5_u32 {
        let place = DAffine3::from_translation(DVec3::new(f64::from(i) * 0.6 - 1.2, 0.0, 0.0));
        geometry.add_instance(Geometry::WORLD, group, place, i).expect("it is well-formed");
    }
    geometry.add(Sphere { center: Vec3::NEG_Y * 0.7, radius: 0.5 }, shape());
    compare("mixed", &geometry, 300);
}

#[test]
fn nothing() {
    on_each(&Geometry::new(), |name, accel| {
        let rays = rays(&mut Random::new(1), 20);
        let (mut hits, mut blocked) = (Vec::new(), Vec::new());
        accel.closest_each(&rays, &mut hits);
        accel.occluded_each(&rays, &mut blocked);
        assert!(hits.iter().all(Option::is_none) && blocked == [false; 20], "{name}");
    });
}
