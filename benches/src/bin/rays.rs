//! How many rays a thread traces per second, on a procedural mesh of about 1.2 million triangles: rays from the camera,
//! rays that bounce off their hits in random directions, the same rays tested for occlusion only, and the same rays
//! traced one by one. Prints one line for each structure. It is not a test: figures depend on the machine.

use glam::{Vec2, Vec3};
use renderer::accel::{Accel, Structure, offset_origin};
use renderer::geometry::{Geometry, Shape, TriangleMesh, surface};
use renderer::math::{Frame, cosine_hemisphere};
use renderer::ray::Ray;
use renderer::sampler::Sampler;
use std::hint::black_box;
use std::time::Instant;

/// Squares along a side of the terrain.
const SIDE: u32 = 775;
/// Rays of each kind.
const RAYS: u32 = 1 << 20;

fn main() {
    let geometry = terrain();
    println!(
        "{} triangles, {RAYS} rays of each kind, millions of rays a second on one thread",
        geometry.primitive_count()
    );
    println!("{:<8} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "build s", "camera", "bounce", "occluded", "alone");
    for (name, structure) in Structure::NAMED {
        let start = Instant::now();
        match Accel::build_with(&geometry, *structure) {
            Ok(accel) => measure(name, start.elapsed().as_secs_f64(), &geometry, &accel),
            Err(why) => println!("{name:<8} {why}"),
        }
    }
}

fn measure(name: &str, build: f64, geometry: &Geometry, accel: &Accel) {
    let camera: Vec<Ray> = (0..RAYS).map(camera_ray).collect();
    let bounced: Vec<Ray> =
        camera.iter().enumerate().filter_map(|(i, ray)| bounce(geometry, accel, ray, i as u32)).collect();
    let rate = |rays: &[Ray], trace: &mut dyn FnMut(&[Ray])| {
        let mut once = || {
            let start = Instant::now();
            // As many together as a renderer has.
            rays.chunks(1024).for_each(&mut *trace);
            rays.len() as f64 / start.elapsed().as_secs_f64() * 1e-6
        };
        // The best of three: others use the machine too.
        (0..3).map(|_| once()).fold(0.0, f64::max)
    };
    let (mut hits, mut blocked) = (Vec::new(), Vec::new());
    let mut closest = |rays: &[Ray]| accel.closest_each(rays, &mut hits);
    let rates = [rate(&camera, &mut closest), rate(&bounced, &mut closest)];
    let any = rate(&bounced, &mut |rays| accel.occluded_each(rays, &mut blocked));
    let alone = rate(&bounced, &mut |rays| {
        black_box(rays.iter().filter(|ray| accel.closest(ray).is_some()).count());
    });
    println!("{name:<8} {build:>8.2} {:>8.2} {:>8.2} {any:>8.2} {alone:>8.2}", rates[0], rates[1]);
}

/// Hills with overhangs: a grid pushed about by sines, so that bounces meet it again.
fn terrain() -> Geometry {
    let mut mesh = TriangleMesh::default();
    for i in 0..=SIDE {
        for k in 0..=SIDE {
            let p = Vec2::new(i as f32, k as f32) / SIDE as f32 * 20.0 - 10.0;
            let height =
                (p.x * 1.7).sin() * (p.y * 1.3).cos() + 0.3 * (p.x * 5.1 + p.y * 3.7).sin() + 0.05 * (p.x * 31.0).sin();
            let push = 0.4 * (p.y * 2.9 + height * 2.0).sin();
            mesh.positions.push(Vec3::new(p.x + push, height, p.y + 0.4 * (p.x * 3.1 - height).cos()));
        }
    }
    for i in 0..SIDE {
        for k in 0..SIDE {
            let at = |i: u32, k: u32| i * (SIDE + 1) + k;
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
            mesh.indices.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh.complete(true);
    let mut geometry = Geometry::new();
    geometry.add(mesh, Shape::default());
    geometry
}

/// Row by row, as a camera above the rim would.
fn camera_ray(i: u32) -> Ray {
    const WIDTH: u32 = 1 << 10;
    let film = Vec2::new((i % WIDTH) as f32, (i / WIDTH) as f32) / WIDTH as f32 - 0.5;
    let origin = Vec3::new(0.0, 6.0, 14.0);
    let forward = (Vec3::new(0.0, 0.0, 1.0) - origin).normalize();
    let right = forward.cross(Vec3::Y).normalize();
    Ray::new(origin, (forward + right * film.x + right.cross(forward) * -film.y).normalize(), 0.0)
}

/// A diffuse bounce where a ray meets the terrain.
fn bounce(geometry: &Geometry, accel: &Accel, ray: &Ray, i: u32) -> Option<Ray> {
    let s = surface::at(geometry, ray, &accel.closest(ray)?);
    let local = cosine_hemisphere(Sampler::new(1, (0, 0), i).next_2d());
    let out = Frame::about(s.gnormal_seen()).to_world(local);
    Some(Ray::new(offset_origin(s.position, s.position_error, s.gnormal, out), out, 0.0))
}
