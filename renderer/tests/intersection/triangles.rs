//! Triangles: random, degenerate, huge, tiny, grazed, and met on their edges.

use super::random::{Random, closed_sphere, distance, mesh_of, on_each, shape, world_of};
use glam::Vec3;
use renderer::accel::Accel;
use renderer::geometry::{Geometry, TriangleMesh};
use renderer::ray::Ray;

fn soup(random: &mut Random, count: usize, size: f32, spread: f32) -> Vec<[Vec3; 3]> {
    let one = |random: &mut Random| {
        let center = random.vector() * spread;
        [(); 3].map(|()| center + random.vector() * size)
    };
    (0..count).map(|_| one(random)).collect()
}

/// Compares with looking at every triangle in f64. Hits nearer to an edge than rounding can tell may go either way.
fn check(name: &str, accel: &Accel, triangles: &[[Vec3; 3]], ray: &Ray) {
    let reach = triangles.as_flattened().iter().map(|p| p.distance(ray.origin)).fold(0.0, f32::max);
    let hits: Vec<(f64, f64)> = triangles.iter().filter_map(|t| distance(ray, t)).collect();
    let nearest =
        |margin: f64| hits.iter().filter(|(_, inside)| *inside > margin).map(|(t, _)| *t).fold(f64::INFINITY, f64::min);
    let (sure, possible) = (nearest(1e-4), nearest(-1e-4));
    let found = accel.closest(ray).map_or(f64::INFINITY, |h| f64::from(h.t));
    let tolerance = 2e-5 * f64::from(reach);
    let lowest = possible - tolerance;
    assert!(
        found >= lowest && (found <= sure + tolerance || sure.is_infinite()),
        "{name}: {found}, not from {possible} to {sure}: {ray:?}"
    );
    let sees = accel.occluded(ray);
    assert!(if sure.is_finite() { sees } else { !sees || possible.is_finite() }, "{name}: occlusion of {ray:?}");
}

#[test]
fn random_soups_are_met_where_looking_at_everything_meets_them() {
    for (case, scale) in [1.0, 1e-4, 1e6, 1e-2].into_iter().enumerate() {
        let mut random = Random::new(case as u32);
        let triangles = soup(&mut random, 400, scale, 4.0 * scale);
        let geometry = world_of(mesh_of(&triangles));
        on_each(&geometry, |name, accel| {
            let mut random = Random::new(77);
            for _ in 0..150 {
                let ray = Ray::new(random.vector() * 5.0 * scale, random.direction(), 0.0);
                check(name, accel, &triangles, &ray);
            }
        });
    }
}

#[test]
fn far_from_the_origin_hits_are_as_exact_as_the_coordinates() {
    for far in [1e4_f32, 1e6] {
        let mut random = Random::new(5);
        let center = Vec3::new(far, -far, far);
        // Triangles of a size that their coordinates can still say.
        let size = far * 1e-3;
        let triangles: Vec<[Vec3; 3]> =
            soup(&mut random, 200, size, 4.0 * size).into_iter().map(|t| t.map(|p| p + center)).collect();
        on_each(&world_of(mesh_of(&triangles)), |name, accel| {
            let mut random = Random::new(78);
            for _ in 0..150 {
                let ray = Ray::new(center + random.vector() * 5.0 * size, random.direction(), 0.0);
                check(name, accel, &triangles, &ray);
            }
        });
    }
}

#[test]
fn degenerate_triangles_are_never_met_and_hide_nothing() {
    let wall = [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(3.0, -1.0, 0.0), Vec3::new(-1.0, 3.0, 0.0)];
    let mut triangles = vec![wall];
    let before = |x: f32, y: f32| Vec3::new(x, y, 1.0);
    triangles.extend([
        [before(0.1, 0.1); 3],
        [before(-1.0, 0.0), before(0.0, 0.0), before(1.0, 0.0)],
        [before(0.0, 0.0), before(0.0, 0.0), before(1.0, 1.0)],
        [Vec3::splat(f32::NAN), before(1.0, 0.0), before(0.0, 1.0)],
        [before(0.0, 0.0), before(1.0, f32::INFINITY), before(0.0, 1.0)],
        [Vec3::new(0.0, f32::NAN, 1.0), before(1.0, 0.0), before(0.0, 1.0)],
    ]);
    let mut mesh = mesh_of(&triangles);
    mesh.complete(false);
    on_each(&world_of(mesh), |name, accel| {
        for i in -4..=4 {
            for k in -4..=4 {
                let (x, y) = (i as f32 * 0.1, k as f32 * 0.1);
                let ray = Ray::new(Vec3::new(x, y, 5.0), Vec3::NEG_Z, 0.0);
                let hit = accel.closest(&ray).unwrap_or_else(|| panic!("{name}: the wall is missed at {x} {y}"));
                assert!(hit.primitive == 0 && (hit.t - 5.0).abs() < 1e-5, "{name}: {x} {y}: {hit:?}");
                assert!(accel.occluded(&ray) && !accel.occluded(&Ray { t_max: 4.5, ..ray }), "{name}: {x} {y}");
            }
        }
    });
    let alone = world_of(mesh_of(&triangles[1..]));
    on_each(&alone, |name, accel| {
        assert_eq!(accel.closest(&Ray::new(before(0.1, 0.1) * 2.0, Vec3::NEG_Z, 0.0)), None, "{name}");
    });
}

#[test]
fn an_empty_scene_is_missed() {
    let ray = Ray::new(Vec3::ZERO, Vec3::X, 0.0);
    on_each(&Geometry::new(), |name, accel| assert_eq!(accel.closest(&ray), None, "{name}"));
    let mut nowhere = Geometry::new();
    let group = nowhere.add_group();
    nowhere.add_instance(0, group, glam::DAffine3::IDENTITY, 0).expect("it may be empty");
    on_each(&nowhere, |name, accel| assert!(!accel.occluded(&ray), "{name}"));
}

/// Only what lies strictly between the ends of a ray's interval counts.
#[test]
fn intervals_are_kept() {
    let wall = [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(3.0, -1.0, 0.0), Vec3::new(-1.0, 3.0, 0.0)];
    let shifted = wall.map(|p| p - Vec3::Z);
    on_each(&world_of(mesh_of(&[wall, shifted])), |name, accel| {
        let ray = Ray::new(Vec3::new(0.1, 0.1, 2.0), Vec3::NEG_Z, 0.0);
        assert_eq!(accel.closest(&ray).map(|h| h.primitive), Some(0), "{name}");
        assert_eq!(accel.closest(&Ray { t_min: 2.5, ..ray }).map(|h| h.primitive), Some(1), "{name}");
        assert_eq!(accel.closest(&Ray { t_max: 1.5, ..ray }), None, "{name}");
        assert!(!accel.occluded(&Ray { t_min: 2.25, t_max: 2.75, ..ray }), "{name}");
    });
}

/// How many of so many rays, all aimed at edges and vertices, may slip through: none but for Embree, whose own test
/// is consistent along an edge, while at a vertex the roundings of the edges round it may all point outwards. The
/// page on scenes says so.
fn allowed(name: &str, rays: u32) -> u32 {
    if name == "embree" { rays / 500 } else { 0 }
}

/// Rays from inside a closed mesh, aimed at shared edges and vertices. A tenth of them goes along axes, where
/// boxes are flat.
#[test]
fn a_closed_mesh_lets_nothing_out() {
    for (far, radius) in [(Vec3::ZERO, 1.0), (Vec3::new(3e3, -1e4, 70.0), 1.0), (Vec3::ZERO, 1e-4), (Vec3::ZERO, 1e6)] {
        let mut mesh = closed_sphere(3, radius);
        mesh.positions.iter_mut().for_each(|p| *p += far);
        let (positions, indices) = (mesh.positions.clone(), mesh.indices.clone());
        on_each(&world_of(mesh), |name, accel| {
            let (mut random, mut leaks) = (Random::new(9), 0);
            for i in 0..25_000 {
                let triangle = indices[(random.unit() * indices.len() as f32) as usize];
                let [a, b] = [triangle[i % 3], triangle[(i + 1) % 3]].map(|k| positions[k as usize]);
                let along = if i % 4 == 0 { 0.0 } else { random.unit() };
                let origin = if i % 10 == 0 { far } else { far + random.vector() * (0.5 * radius) };
                let aim = a.lerp(b, along) - origin;
                let ray = Ray::new(origin, aim.normalize(), 0.0);
                // Nor is it found at the far side only.
                let near = aim.length() * 1.05 + radius * 0.1;
                leaks += u32::from(!accel.closest(&ray).is_some_and(|hit| hit.t < near));
            }
            assert!(leaks <= allowed(name, 25_000), "{name}: {leaks} rays leak at radius {radius}");
        });
    }
}

/// A grid of squares in an axis plane, whose boxes have no thickness: rays onto its inner edges and corners, and
/// at grazing angles.
#[test]
fn flat_grids_have_no_cracks() {
    const N: u32 = 16;
    for (far, size) in [(0.0, 1.0), (1e3, 1.0), (1e-3, 1e-4), (1e6, 1e5)] {
        let at = |i: f32, k: f32| Vec3::new(far + i * size * 0.1, far, far + k * size * 0.1);
        let mut mesh = TriangleMesh::default();
        for i in 0..=N {
            for k in 0..=N {
                mesh.positions.push(at(i as f32, k as f32));
            }
        }
        for i in 0..N {
            for k in 0..N {
                let [a, b, c, d] = [(i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)].map(|(i, k)| i * (N + 1) + k);
                mesh.indices.extend([[a, b, c], [a, c, d]]);
            }
        }
        mesh.complete(true);
        on_each(&world_of(mesh), |name, accel| {
            let (mut random, mut leaks) = (Random::new(10), 0);
            for i in 0..4000 {
                let whole = |x: f32| 1.0 + (x * (N - 2) as f32).round();
                let (mut x, z) = (whole(random.unit()), whole(random.unit()));
                if i % 3 > 0 {
                    x = 1.0 + random.unit() * (N - 2) as f32;
                }
                let aim = at(x, z);
                // Straight down, slanted, and nearly along the plane, from just outside of the grid's own size.
                let height = [3.0, 1.0, 1e-2][i % 3];
                let origin = aim
                    + Vec3::new(random.signed(), height, random.signed()) * size * if i % 5 == 0 { 0.0 } else { 1.0 }
                    + Vec3::Y * size * height;
                let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
                // Rounding may move a grazing aim beyond the rim.
                let height_lost = (aim - origin).length() * f32::EPSILON * 8.0 + far.abs() * f32::EPSILON * 8.0;
                if height_lost > 0.05 * height * size {
                    continue;
                }
                leaks += u32::from(accel.closest(&ray).is_none());
            }
            assert!(leaks <= allowed(name, 4000), "{name}: {leaks} rays leak at {far}, {size}");
        });
    }
}

/// Primitive numbers, coordinates and distances of a hit belong together.
#[test]
fn coordinates_lead_to_the_hit() {
    let mut random = Random::new(12);
    let triangles = soup(&mut random, 100, 1.0, 3.0);
    let mut geometry = Geometry::new();
    // Two meshes, so that numbers go on from one to the next.
    geometry.add(mesh_of(&triangles[..40]), shape());
    geometry.add(mesh_of(&triangles[40..]), shape());
    on_each(&geometry, |name, accel| {
        let (mut random, mut met) = (Random::new(13), 0);
        for _ in 0..300 {
            let ray = Ray::new(random.vector() * 4.0, random.direction(), 0.0);
            let Some(hit) = accel.closest(&ray) else { continue };
            let [a, b, c] = triangles[hit.primitive as usize];
            let p = a + (b - a) * hit.u + (c - a) * hit.v;
            assert!(p.distance(ray.at(hit.t)) < 1e-4, "{name}: {hit:?}");
            assert_eq!(geometry.shape_of(hit.primitive), u32::from(hit.primitive >= 40));
            met += 1;
        }
        assert!(met > 40, "{name}: only {met}");
    });
}
