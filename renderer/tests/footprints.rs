//! The footprint at the end of a chain of rays against the rays of neighbouring film positions: camera,
//! mirror, surface together.

use glam::{Vec2, Vec3};
use renderer::accel::{Accel, offset_origin};
use renderer::camera::{Camera, Projection};
use renderer::geometry::{Geometry, Shape, Sphere, Surface, Transform, TriangleMesh, Wanted, surface};
use renderer::ray::{Ray, RayDifferential};

/// A floor and a mirror: a ball, or a plate with bent normals.
fn scene(ball: bool) -> (Geometry, Accel) {
    let mut geometry = Geometry::new();
    let shape = || Shape::default();
    let mut floor = TriangleMesh::rectangle(Vec2::splat(50.0));
    floor.transform(&Transform::new(Vec3::ZERO, Vec3::ZERO, Vec3::splat(200.0)));
    geometry.add_mesh(floor, shape());
    if ball {
        geometry.add_sphere(Sphere { center: Vec3::new(0.0, 1.0, 0.0), radius: 1.0 }, shape());
    } else {
        let mut plate = TriangleMesh::rectangle(Vec2::ONE);
        plate.transform(&Transform::new(Vec3::new(0.0, 1.0, -0.5), Vec3::new(105.0, 10.0, 0.0), Vec3::splat(2.5)));
        // As a curved mirror approximated by one quad would have them.
        for (n, p) in plate.normals.iter_mut().zip(&plate.positions) {
            *n = (*n + (*p - Vec3::new(0.0, 1.0, -0.5)) * 0.2).normalize();
        }
        geometry.add_mesh(plate, shape());
    }
    let accel = Accel::build(&geometry);
    (geometry, accel)
}

struct End {
    surface: Surface,
    position: [Vec3; 2],
    uvw: [Vec3; 2],
}

/// The floor as it is seen in the mirror from a film position; `None` where it is not.
fn follow(geometry: &Geometry, accel: &Accel, camera: &Camera, film: Vec2) -> Option<End> {
    let (ray, differential) = camera.ray(film, Vec2::ZERO, 0.0);
    let hit = accel.closest(&ray)?;
    let mirror = surface::at(geometry, &ray, &hit);
    if mirror.shape == 0 {
        return None;
    }
    let wanted = Wanted { position: true, normal: true, ..Wanted::default() };
    let p = surface::partials_at(geometry, &ray, &differential, &hit, wanted);
    let n = mirror.normal;
    let direction = (ray.direction - 2.0 * ray.direction.dot(n) * n).normalize();
    let next: RayDifferential = differential.reflected(ray.direction, p.position, n, p.normal);
    let origin = offset_origin(mirror.position, mirror.position_error, mirror.gnormal, direction);
    let ray = Ray::new(origin, direction, 0.0);
    let hit = accel.closest(&ray)?;
    let surface = surface::at(geometry, &ray, &hit);
    let wanted = Wanted { position: true, uvw: true, ..Wanted::default() };
    let p = surface::partials_at(geometry, &ray, &next, &hit, wanted);
    (surface.shape == 0).then_some(End { surface, position: p.position, uvw: p.uvw })
}

#[test]
fn footprints_through_mirrors_match_neighbouring_pixels() {
    let projection = Projection::Perspective { fov: 40.0, aperture: 0.0, focus: 1.0 };
    let camera = Camera::new(Vec3::new(0.4, 1.6, 5.0), Vec3::new(0.0, 0.8, 0.0), Vec3::Y, projection, (400, 300));
    for ball in [true, false] {
        let (geometry, accel) = scene(ball);
        let mut compared = 0;
        for i in 0..400 {
            let film = Vec2::new(120.0 + (i % 20) as f32 * 8.3, 60.0 + (i / 20) as f32 * 9.1);
            for (axis, step) in [(0, Vec2::X), (1, Vec2::Y)] {
                const H: f32 = 0.2;
                let at = |o: f32| follow(&geometry, &accel, &camera, film + step * (o * H));
                let (Some(here), Some(p1), Some(m1), Some(p2), Some(m2)) =
                    (at(0.0), at(1.0), at(-1.0), at(2.0), at(-2.0))
                else {
                    continue;
                };
                // Towards the horizon the higher derivatives outgrow the step, and f32 the difference.
                if here.surface.position.length() > 8.0 {
                    continue;
                }
                // Central, of fourth order.
                let slope = |p1: Vec3, m1: Vec3, p2: Vec3, m2: Vec3| (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * H);
                let of = |e: &End| e.surface.position;
                let (difference, exact) = (slope(of(&p1), of(&m1), of(&p2), of(&m2)), here.position[axis]);
                let scale = exact.length().max(0.02);
                assert!(
                    (difference - exact).length() < 0.03 * scale,
                    "{film}, axis {axis}: {difference} against {exact}"
                );
                let of = |e: &End| e.surface.uv.extend(0.0);
                let (difference, exact) = (slope(of(&p1), of(&m1), of(&p2), of(&m2)), here.uvw[axis]);
                // 50 repetitions over 200 units.
                assert!(
                    (difference - exact).length() < 0.03 * scale / 4.0,
                    "{film}, axis {axis}: {difference} against {exact}"
                );
                compared += 1;
            }
        }
        assert!(compared > 100, "only {compared} were comparable");
    }
}
