//! Rays that leave a surface, on either side, do not meet it again at the distance of its own rounding.

use super::random::{Random, closed_sphere, on_each, shape};
use glam::{DAffine3, DQuat, DVec3, Vec2, Vec3, Vec4};
use renderer::accel::offset_origin;
use renderer::geometry::curves::Basis;
use renderer::geometry::{Body, Curves, Disk, Geometry, Quad, Sphere, Transform, TriangleMesh, surface};
use renderer::ray::Ray;

/// Leaves hits on a flat shape in random directions: whatever it meets then, it is the shape itself.
fn leave_flat(body: impl Fn(Transform) -> Body, name: &str) {
    for scale in [1e-4_f32, 1e-2, 1.0, 1e3, 1e6] {
        let turned = |turn: f32| Vec3::new(turn, 2.0 * turn, 5.0);
        // Those that are not turned lie in a plane whose height has no rounding.
        for (far, turn) in [(0.0, 0.0), (1.0, 33.0), (-40.0, 71.0), (300.0, 12.0)]
            .map(|(far, turn)| (far, turned(turn)))
            .into_iter()
            .chain([(0.0, Vec3::ZERO), (0.0, Vec3::X * 90.0), (2.0, Vec3::ZERO)])
        {
            for thin in [1.0, 1e-3] {
                let center = Vec3::new(far, -0.7 * far, 0.3 * far) * scale;
                let mut geometry = Geometry::new();
                let scales = Vec3::new(scale, scale, scale * thin);
                geometry.add(body(Transform::new(center, turn, scales)), shape());
                let what = format!("{name} of size {scale} × {thin} at {center}, turned by {turn}");
                leave(&geometry, center, scale, &what, false);
            }
        }
    }
}

fn leave(geometry: &Geometry, center: Vec3, scale: f32, what: &str, round: bool) {
    on_each(geometry, |name, accel| {
        let (mut random, mut met) = (Random::new(21), 0);
        for i in 0..120 {
            let d = random.direction();
            let ray = Ray::new(center + random.vector() * (0.3 * scale) - d * scale * 3.0, d, 0.0);
            // A thin shape is met by rays towards its middle line.
            let ray = if accel.closest(&ray).is_some() { ray } else { Ray::new(center - d * scale * 3.0, d, 0.0) };
            let Some(hit) = accel.closest(&ray) else { continue };
            met += 1;
            let s = surface::at(geometry, &ray, &hit);
            // Grazing directions above all.
            for k in 0..6 {
                let any = random.direction();
                let along = (any - s.gnormal * any.dot(s.gnormal)).normalize_or(s.tangent);
                let up = [1.0, 0.1, 1e-2, 1e-3, -0.03, -1.0][k];
                let out = (along + s.gnormal * up).normalize();
                let start = offset_origin(s.position, s.position_error, s.gnormal, out);
                let again = accel.closest(&Ray::new(start, out, 0.0));
                if round && up < 0.0 {
                    // Into a ball: it goes through to the other side, at the length of the chord.
                    let chord = 2.0 * scale * -out.dot(s.gnormal);
                    let t = again.map_or(f32::INFINITY, |h| h.t);
                    assert!((t / chord - 1.0).abs() < 0.2, "{name}, {what}: ray {i}.{k} goes {t}, not {chord}");
                } else {
                    assert_eq!(again, None, "{name}, {what}: ray {i}.{k} from {start} towards {out}");
                }
            }
        }
        assert!(met > 20, "{name}, {what}: only {met} hits");
    });
}

#[test]
fn triangles() {
    let rectangle = |t: Transform| {
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        mesh.transform(&t);
        mesh.into()
    };
    leave_flat(rectangle, "triangles");
}

#[test]
fn quads_and_disks() {
    let quad = |t: Transform| {
        let mut quad = Quad::rectangle(Vec2::ONE);
        quad.transform(&t);
        quad.into()
    };
    leave_flat(quad, "quad");
    let disk = |t: Transform| {
        let mut disk = Disk::new(1.0);
        disk.transform(&t);
        disk.into()
    };
    leave_flat(disk, "disk");
}

#[test]
fn spheres() {
    for scale in [1e-4_f32, 1.0, 1e6] {
        for far in [0.0, 3.0, 100.0] {
            let center = Vec3::new(far, -0.7 * far, 0.3 * far) * scale;
            let mut geometry = Geometry::new();
            geometry.add(Sphere { center, radius: scale }, shape());
            leave(&geometry, center, scale, &format!("sphere of {scale} at {center}"), true);
        }
    }
}

/// A straight strand is convex, so that rays outwards meet nothing, and rays inwards the far side.
#[test]
fn curves() {
    for scale in [1e-4_f32, 1.0, 1e6] {
        for far in [0.0, 3.0, 100.0] {
            let center = Vec3::new(far, -0.7 * far, 0.3 * far) * scale;
            let end = Vec3::new(3.0, 1.0, -2.0) * scale;
            let points: Vec<Vec4> = (0..4).map(|i| (center + end * (i as f32 - 1.5)).extend(0.5 * scale)).collect();
            let mut strand = Curves::default();
            strand.add_strand(Basis::Bezier, &points).expect("four points are a piece");
            let mut geometry = Geometry::new();
            geometry.add(strand, shape());
            on_each(&geometry, |name, accel| {
                let mut random = Random::new(23);
                for i in 0..150 {
                    let across = random.direction().cross(end.normalize()).normalize();
                    let ray = Ray::new(center + across * 4.0 * scale + random.vector() * 0.1 * scale, -across, 0.0);
                    let hit = accel.closest(&ray).unwrap_or_else(|| panic!("{name}: {scale}, {far}: ray {i} misses"));
                    let s = surface::at(&geometry, &ray, &hit);
                    for up in [1.0, 0.1, 1e-2, 1e-3] {
                        let any = random.direction();
                        let along = (any - s.gnormal * any.dot(s.gnormal)).normalize_or(s.tangent);
                        let out = (along + s.gnormal * up).normalize();
                        let start = offset_origin(s.position, s.position_error, s.gnormal, out);
                        let again = accel.closest(&Ray::new(start, out, 0.0));
                        assert_eq!(again, None, "{name}: {scale}, {far}: ray {i}, {up}");
                    }
                    let start = offset_origin(s.position, s.position_error, s.gnormal, -s.gnormal);
                    let through = accel.closest(&Ray::new(start, -s.gnormal, 0.0)).expect("the far side");
                    assert!((through.t / scale - 1.0).abs() < 1e-3, "{name}: {}", through.t);
                    assert!(surface::at(&geometry, &Ray::new(start, -s.gnormal, 0.0), &through).backfacing);
                }
            });
        }
    }
}

/// Placed by stretching, turning and moving, twice over. What is placed is convex, so rays outwards meet nothing.
#[test]
fn instances() {
    for scale in [1e-4_f64, 1.0, 1e5] {
        for far in [0.0, 10.0, 300.0] {
            let mut geometry = Geometry::new();
            let (inner, outer) = (geometry.add_group(), geometry.add_group());
            geometry.add_to(inner, closed_sphere(1, 20.0), shape());
            let first = DAffine3::from_scale_rotation_translation(
                DVec3::new(0.02, -0.05, 0.03),
                DQuat::from_rotation_y(0.4),
                DVec3::new(1.0, 2.0, -0.5) * far,
            );
            let second = DAffine3::from_scale_rotation_translation(
                DVec3::splat(scale),
                DQuat::from_rotation_x(1.1),
                DVec3::new(-3.0, 1.0, 2.0) * far * scale,
            );
            geometry.add_instance(outer, inner, first, 0).expect("it is well-formed");
            geometry.add_instance(0, outer, second, 0).expect("it is well-formed");
            let center = (second * first).translation.as_vec3();
            on_each(&geometry, |name, accel| {
                let (mut random, mut met) = (Random::new(22), 0);
                for i in 0..100 {
                    let d = random.direction();
                    let ray = Ray::new(center - d * 3.0 * scale as f32, d, 0.0);
                    let hit = accel.closest(&ray).unwrap_or_else(|| panic!("{name}: {scale}, {far}: ray {i} misses"));
                    let s = surface::at(&geometry, &ray, &hit);
                    assert!(s.gnormal.dot(d) < 0.0 && !s.backfacing, "{name}: the outside is met first");
                    for k in 0..6 {
                        let any = random.direction();
                        let up = [1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5][k];
                        let along = (any - s.gnormal * any.dot(s.gnormal)).normalize_or(s.tangent);
                        let out = (along + s.gnormal * up).normalize();
                        let start = offset_origin(s.position, s.position_error, s.gnormal, out);
                        let again = accel.closest(&Ray::new(start, out, 0.0));
                        assert_eq!(again, None, "{name}: {scale}, {far}: ray {i}.{k}");
                        met += 1;
                    }
                }
                assert_eq!(met, 600);
            });
        }
    }
}
