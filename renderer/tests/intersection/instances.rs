//! Instances: what is placed is met where its copy would be, at any depth, and is no copy.

use super::random::{Random, closed_sphere, mesh_of, on_each, shape};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec2, Vec3};
use renderer::accel::Accel;
use renderer::geometry::{
    Disk, Geometry, GroupError, Quad, Shape, Sphere, Surface, Transform, TriangleMesh, Wanted, instance, surface,
};
use renderer::ray::{Ray, RayDifferential};

fn affine(random: &mut Random) -> DAffine3 {
    let scale = DVec3::new(1.0, 1.0, 1.0) + random.vector().as_dvec3() * 0.4;
    let mirrored = if random.unit() < 0.5 { -scale } else { scale };
    let turn = DQuat::from_axis_angle(random.direction().as_dvec3(), f64::from(random.unit()) * 3.0);
    let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.3 * f64::from(random.signed()), 1.0, 0.0), DVec3::Z);
    let placed = DAffine3::from_scale_rotation_translation(mirrored, turn, random.vector().as_dvec3() * 2.0);
    DAffine3 { matrix3: placed.matrix3 * shear, translation: placed.translation }
}

fn flattened(mesh: &TriangleMesh, m: &DAffine3) -> TriangleMesh {
    let mut mesh = mesh.clone();
    mesh.positions.iter_mut().for_each(|p| *p = m.transform_point3(p.as_dvec3()).as_vec3());
    if m.matrix3.determinant() < 0.0 {
        mesh.indices.iter_mut().for_each(|t| t.swap(1, 2));
    }
    mesh.complete(true);
    mesh
}

/// Three levels, two instances at each: eight balls, once placed and once copied.
#[test]
fn three_deep_equals_flattened() {
    let mut random = Random::new(31);
    let mesh = closed_sphere(1, 0.7);
    let (mut placed, mut copied) = (Geometry::new(), Geometry::new());
    let leaf = placed.add_group();
    placed.add_to(leaf, mesh.clone(), shape());
    let (mut inside, mut transforms) = (leaf, vec![DAffine3::IDENTITY]);
    for level in 0..3 {
        let group = if level == 2 { Geometry::WORLD } else { placed.add_group() };
        let two = [affine(&mut random), affine(&mut random)];
        for (i, m) in two.iter().enumerate() {
            placed.add_instance(group, inside, *m, 40 + i as u32).expect("it is well-formed");
        }
        transforms = two.iter().flat_map(|m| transforms.iter().map(move |below| *m * *below)).collect();
        inside = group;
    }
    // In the order of the paths, so that numbers of copies say which placement is meant.
    transforms.iter().for_each(|m| copied.add(flattened(&mesh, m), shape()));
    assert_eq!((placed.path_count(), placed.primitive_count()), (1 + 2 + 4 + 8, mesh.indices.len() + 2 + 2 + 2));
    let reference = Accel::build(&copied);
    on_each(&placed, |name, accel| {
        let (mut random, mut met) = (Random::new(32), 0);
        for i in 0..600 {
            let aim = transforms[i % 8].translation.as_vec3() + random.vector() * 0.5;
            let origin = random.vector() * 8.0;
            let ray = Ray::new(origin, (aim - origin).normalize(), 0.0);
            let (a, b) = (accel.closest(&ray), reference.closest(&ray));
            // A ray past a rim may go either way.
            let (Some(a), Some(b)) = (a, b) else {
                assert!(a.is_none() == b.is_none() || rim(&placed, &copied, &ray, a, b), "{name}: ray {i}");
                continue;
            };
            if (a.t - b.t).abs() > 1e-4 {
                assert!(rim(&placed, &copied, &ray, Some(a), Some(b)), "{name}: ray {i}: {} against {}", a.t, b.t);
                continue;
            }
            let (s, r) = (surface::at(&placed, &ray, &a), surface::at(&copied, &ray, &b));
            assert!(s.position.distance(r.position) < 1e-4, "{name}: ray {i}");
            assert!(s.gnormal.distance(r.gnormal) < 1e-3, "{name}: ray {i}: {} {}", s.gnormal, r.gnormal);
            assert_eq!(s.backfacing, r.backfacing, "{name}: ray {i}");
            let placement = (b.primitive as usize / mesh.indices.len()) as u32;
            assert_eq!(s.object_id, 40 + placement / 4, "{name}: the outermost instance counts");
            assert!(accel.occluded(&ray) && !accel.occluded(&Ray { t_max: a.t * 0.999, ..ray }), "{name}: ray {i}");
            met += 1;
        }
        assert!(met > 150, "{name}: only {met}");
    });
}

/// Whether either of two hits that differ lies at grazing incidence.
fn rim(
    placed: &Geometry,
    copied: &Geometry,
    ray: &Ray,
    a: Option<renderer::geometry::Hit>,
    b: Option<renderer::geometry::Hit>,
) -> bool {
    let grazing = |g: &Geometry, h| surface::at(g, ray, &h).gnormal.dot(ray.direction).abs() < 0.02;
    a.is_some_and(|h| grazing(placed, h)) || b.is_some_and(|h| grazing(copied, h))
}

#[test]
fn paths_lead_to_where_groups_stand() {
    let mut geometry = Geometry::new();
    let (leaf, branch) = (geometry.add_group(), geometry.add_group());
    geometry.add_to(leaf, Sphere { center: Vec3::ZERO, radius: 1.0 }, shape());
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
    for x in [10.0, 20.0] {
        geometry.add_instance(branch, leaf, at(x), 0).expect("it is well-formed");
    }
    geometry.add_instance(0, leaf, at(1.0), 5).expect("as before");
    geometry.add_instance(0, branch, at(200.0), 6).expect("as before");
    geometry.add_instance(0, branch, at(300.0), 7).expect("as before");
    let places: Vec<(f64, u32)> = (1..geometry.path_count())
        .filter_map(|path| instance::placed(&geometry, path))
        .map(|p| (p.to_world.translation.x, p.object_id))
        .collect();
    let expected = [(1.0, 5), (200.0, 6), (210.0, 6), (220.0, 6), (300.0, 7), (310.0, 7), (320.0, 7)];
    assert_eq!(places, expected);
    assert!(instance::placed(&geometry, 0).is_none());
}

#[test]
fn ten_thousand_instances_copy_nothing() {
    let mesh = closed_sphere(5, 0.4);
    let triangles = mesh.indices.len();
    assert!(triangles > 10_000);
    let mut geometry = Geometry::new();
    let group = geometry.add_group();
    geometry.add_to(group, mesh, shape());
    for i in 0..10_000 {
        let at = DVec3::new(f64::from(i % 100), 0.0, f64::from(i / 100));
        geometry.add_instance(0, group, DAffine3::from_translation(at), i).expect("it is well-formed");
    }
    assert_eq!(geometry.primitive_count(), triangles + 10_000);
    on_each(&geometry, |name, accel| {
        assert_eq!(accel.primitive_count(), triangles + 10_000, "{name}");
        for i in [0, 57, 4321, 9999] {
            let above = Vec3::new((i % 100) as f32 + 0.01, 5.0, (i / 100) as f32 + 0.02);
            let ray = Ray::new(above, Vec3::NEG_Y, 0.0);
            let hit = accel.closest(&ray).expect("a ball lies below");
            assert!((hit.t - 4.6).abs() < 2e-3, "{name}: {}", hit.t);
            assert_eq!(surface::at(&geometry, &ray, &hit).object_id, i);
        }
    });
}

#[test]
fn depth_and_number_have_their_limits() {
    let mut geometry = Geometry::new();
    let mut group = geometry.add_group();
    geometry.add_to(group, Sphere { center: Vec3::ZERO, radius: 1.0 }, shape());
    // Twice each of the one below: 2^63 places of the ball at the 63rd.
    let half = |x: f64| DAffine3::from_scale_rotation_translation(DVec3::splat(0.5), DQuat::IDENTITY, DVec3::X * x);
    for level in 0..62 {
        let above = geometry.add_group();
        for x in [-1.0, 1.0] {
            geometry.add_instance(above, group, half(x), 0).unwrap_or_else(|e| panic!("level {level}: {e:?}"));
        }
        group = above;
    }
    let above = geometry.add_group();
    geometry.add_instance(above, group, half(1.0), 0).expect("there is room for it");
    let top = geometry.add_group();
    geometry.add_instance(top, above, half(1.0), 0).expect("there is room for it");
    assert_eq!(geometry.add_instance(top, above, half(-1.0), 0), Err(GroupError::TooMany));
    assert_eq!(geometry.add_instance(0, top, half(0.0), 0), Err(GroupError::TooDeep));
    let flat = DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0));
    let empty = geometry.add_group();
    assert_eq!(geometry.add_instance(0, empty, flat, 0), Err(GroupError::Singular));
    geometry.add_instance(0, above, DAffine3::IDENTITY, 0).expect("it is 64 deep");
    on_each(&geometry, |name, accel| {
        // All the way down one chain: the largest of the smallest balls lies at the end of an axis.
        let hit = accel.closest(&Ray::new(Vec3::new(0.0, 3.0, 0.0), Vec3::X, 0.0));
        assert_eq!(hit, None, "{name}");
    });
}

/// The shapes that have their own formulas, in a group with a general transform: values by the transform of points
/// of the surface, partials by rays traced in f64 to both sides.
#[test]
fn partials_of_placed_shapes_match_neighbouring_rays() {
    let mut random = Random::new(33);
    for case in 0..60 {
        let m = affine(&mut random);
        let mut geometry = Geometry::new();
        let group = geometry.add_group();
        let kind = case % 3;
        match kind {
            0 => geometry.add_to(group, Sphere { center: Vec3::ZERO, radius: 1.0 }, shape()),
            1 => geometry.add_to(group, Disk::new(1.0), shape()),
            _ => geometry.add_to(group, Quad::rectangle(Vec2::new(2.0, 3.0)), shape()),
        }
        geometry.add_instance(0, group, m, 3).expect("it is well-formed");
        let accel = Accel::build(&geometry);
        let aim = m.transform_point3(DVec3::new(0.21, 0.0, -0.13)).as_vec3();
        let direction = random.direction();
        let ray = Ray::new(aim - direction * 6.0, direction, 0.0);
        let Some(hit) = accel.closest(&ray) else { continue };
        let across = random.vector();
        let d_direction = (across - direction * direction.dot(across)) * 0.3;
        let differential = RayDifferential { origin: [random.vector() * 0.1; 2], direction: [d_direction; 2] };
        let got = surface::partials_at(&geometry, &ray, &differential, &hit, Wanted::ALL);
        let s = surface::at(&geometry, &ray, &hit);
        let traced = |e: f64| {
            let o = ray.origin.as_dvec3() + differential.origin[0].as_dvec3() * e;
            let d = direction.as_dvec3() + d_direction.as_dvec3() * e;
            trace(kind, &m, o, d, f64::from(hit.t))
        };
        let h = 1e-5;
        let (here, plus, minus) = (traced(0.0), traced(h), traced(-h));
        // At grazing hits the second order is too large for these steps.
        if s.gnormal.dot(direction).abs() < 0.1 {
            continue;
        }
        let values = [s.position, s.uv.extend(0.0), s.normal, s.tangent, s.bitangent];
        let partials = [got.position, got.uvw, got.normal, got.tangent, got.bitangent];
        for i in 0..5 {
            assert!((values[i].as_dvec3() - here[i]).length() < 1e-4, "case {case}, {i}: {} {}", values[i], here[i]);
            let exact = (plus[i] - minus[i]) / (2.0 * h);
            let error = (partials[i][0].as_dvec3() - exact).length() / exact.length().max(1.0);
            assert!(error < 2e-4, "case {case}, {i}: {} {exact}", partials[i][0]);
        }
    }
}

/// Position, texture coordinates, normal, tangent and bitangent where a ray meets a placed shape about distance `t`.
fn trace(kind: u32, m: &DAffine3, o: DVec3, d: DVec3, t: f64) -> [DVec3; 5] {
    let inverse = m.inverse();
    let (o, d) = (inverse.transform_point3(o), inverse.transform_vector3(d));
    let (p, uv, n, u_axis, v_axis) = if kind == 0 {
        let (a, b, c) = (d.dot(d), o.dot(d), o.dot(o) - 1.0);
        let root = (b * b - a * c).sqrt();
        let both = [(-b - root) / a, (-b + root) / a];
        let p = o + d * if (both[0] - t).abs() < (both[1] - t).abs() { both[0] } else { both[1] };
        let turn = p.x.atan2(p.z) / std::f64::consts::TAU;
        let uv = DVec3::new(turn.rem_euclid(1.0), 1.0 - p.y.acos() / std::f64::consts::PI, 0.0);
        // ∂P/∂u, and ∂P/∂v: from the south pole to the north pole.
        let u_axis = DVec3::new(p.z, 0.0, -p.x);
        (p, uv, p, u_axis, DVec3::Y - p * p.y)
    } else {
        let p = o - d * (o.y / d.y);
        let uv = if kind == 1 {
            DVec3::new(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.z, 0.0)
        } else {
            DVec3::new((p.x + 0.5) * 2.0, (0.5 - p.z) * 3.0, 0.0)
        };
        (p, uv, DVec3::Y, DVec3::X, DVec3::NEG_Z)
    };
    let n = (inverse.matrix3.transpose() * n).normalize();
    let tangent = (m.matrix3 * u_axis).normalize();
    let along_v = m.matrix3 * v_axis;
    let bitangent = n.cross(tangent).normalize();
    [m.transform_point3(p), uv, n, tangent, bitangent * bitangent.dot(along_v).signum()]
}

/// A mesh's interpolated normals, tangents and colors, placed rigidly, are those of the moved mesh with its partials.
#[test]
fn placed_meshes_have_the_partials_of_moved_ones() {
    let (translate, rotate) = (Vec3::new(0.5, -1.0, 2.0), Vec3::new(20.0, -70.0, 40.0));
    let transform = Transform::new(translate, rotate, Vec3::splat(1.5));
    let mut mesh = closed_sphere(1, 1.0);
    // A cap, over which no texture coordinate turns back.
    mesh.indices.retain(|t| t.iter().all(|&i| mesh.positions[i as usize].z > -0.1));
    mesh.uvs = mesh.positions.iter().map(|p| Vec2::new(p.x + 0.3 * p.y, p.y)).collect();
    mesh.colors = mesh.positions.clone();
    mesh.complete(true);
    let (mut placed, mut moved) = (Geometry::new(), Geometry::new());
    let group = placed.add_group();
    placed.add_to(group, mesh.clone(), Shape { object_id: 9, ..shape() });
    placed.add_instance(0, group, transform.exact(), 2).expect("it is well-formed");
    mesh.transform(&transform);
    moved.add(mesh, shape());
    let (a, b) = (Accel::build(&placed), Accel::build(&moved));
    let mut random = Random::new(34);
    for i in 0..100 {
        let d = random.direction();
        let ray = Ray::new(translate - d * 5.0 + random.vector() * 0.5, d, 0.0);
        let (Some(h), Some(k)) = (a.closest(&ray), b.closest(&ray)) else { continue };
        let differential = RayDifferential {
            origin: [random.vector(), random.vector()],
            direction: [random.vector() * 0.1, random.vector() * 0.1],
        };
        let grazing = surface::at(&moved, &ray, &k).gnormal.dot(d).abs() < 0.1;
        // Where triangles meet, either may be found.
        if grazing || h.primitive != k.primitive {
            continue;
        }
        let list = |s: &Surface| [s.position, s.normal, s.gnormal, s.tangent, s.bitangent, s.color, s.uv.extend(0.0)];
        let values = |g: &Geometry, h| list(&surface::at(g, &ray, h));
        for (member, (x, y)) in values(&placed, &h).into_iter().zip(values(&moved, &k)).enumerate() {
            assert!(x.distance(y) < 1e-4, "ray {i}, member {member}: {x} {y}");
        }
        let all = |g: &Geometry, h| {
            let p = surface::partials_at(g, &ray, &differential, h, Wanted::ALL);
            [p.position, p.uvw, p.normal, p.tangent, p.bitangent, p.incident, p.color]
        };
        for (member, (x, y)) in all(&placed, &h).into_iter().zip(all(&moved, &k)).enumerate() {
            let error = x[0].distance(y[0]) / y[0].length().max(1.0);
            assert!(error < 2e-3, "ray {i}, member {member}: {} {}", x[0], y[0]);
        }
    }
}

/// Shapes that are given by formulas, met as their fine meshes are.
#[test]
fn quads_and_disks_are_met_where_their_meshes_are() {
    let mut random = Random::new(35);
    let (mut formulas, mut triangles) = (Geometry::new(), Geometry::new());
    for i in 0..40 {
        let [a, b, c] = [(); 3].map(|()| random.vector() * 3.0);
        if i % 2 == 0 {
            formulas.add(Quad::new([a, b, c], Vec2::ONE), shape());
            triangles.add(mesh_of(&[[a, b, b + c - a], [a, b + c - a, c]]), shape());
        } else {
            let mut disk = Disk::new(0.7);
            let (turn, scale) = (random.vector() * 180.0, Vec3::ONE + random.vector() * 0.5);
            disk.transform(&Transform::new(a, turn, scale));
            formulas.add(disk, shape());
            let rim = |k: usize| {
                let (sin, cos) = (k as f32 / 200.0 * std::f32::consts::TAU).sin_cos();
                disk.0.at(cos, sin)
            };
            triangles.add(mesh_of(&(0..200).map(|k| [a, rim(k), rim(k + 1)]).collect::<Vec<_>>()), shape());
        }
    }
    let reference = Accel::build(&triangles);
    on_each(&formulas, |name, accel| {
        let (mut random, mut met, mut differ) = (Random::new(36), 0, 0);
        for _ in 0..1500 {
            let ray = Ray::new(random.vector() * 5.0, random.direction(), 0.0);
            let t = |a: &Accel| a.closest(&ray).map_or(f32::INFINITY, |h| h.t);
            let (a, b) = (t(accel), t(&reference));
            met += u32::from(a.is_finite());
            differ += u32::from(a != b && (a - b).abs() > 1e-4 * b.abs());
            if let Some(hit) = accel.closest(&ray) {
                let s = surface::at(&formulas, &ray, &hit);
                assert!(s.position.distance(ray.at(hit.t)) < 1e-4, "{name}");
            }
        }
        // The polygons cut the rims of disks off.
        assert!(met > 300 && differ < 8, "{name}: {differ} of {met}");
    });
}
