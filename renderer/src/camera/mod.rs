//! Cameras: rays from film positions, with their exact differentials.
//!
//! Film x grows to the right and y downwards, in pixels; (0,0) is the upper left corner of the image. Pixels are
//! square, except those of the panorama, which are angles.

use crate::math::concentric_disk;
use crate::ray::{Ray, RayDifferential};
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// How film positions become rays. Lengths are in the scene's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Through a lens of radius `aperture`, sharp at the distance `focus` along the line of sight; with an aperture of 0
    /// through a point, and all is sharp. `fov` is horizontal, in degrees, below 180.
    Perspective { fov: f32, aperture: f32, focus: f32 },
    /// Parallel rays from a rectangle so wide.
    Orthographic { width: f32 },
    /// All directions: longitude along x, with the line of sight in the middle, and latitude along y, from straight up to
    /// straight down.
    Panoramic,
}

#[derive(Clone, Copy, Debug)]
pub struct Camera {
    position: Vec3,
    /// Unit vectors: along the line of sight, to the right and upwards.
    axes: [Vec3; 3],
    /// In pixels.
    film: Vec2,
    projection: Projection,
    /// The width of a pixel: of a perspective at distance 1.
    pixel: f32,
}

impl Camera {
    /// `up` must not lie along the line of sight.
    pub fn new(position: Vec3, target: Vec3, up: Vec3, projection: Projection, (width, height): (u32, u32)) -> Camera {
        let forward = (target - position).normalize();
        let right = forward.cross(up).normalize();
        let film = Vec2::new(width as f32, height as f32);
        let pixel = match projection {
            Projection::Perspective { fov, .. } => 2.0 * (0.5 * fov.to_radians()).tan() / film.x,
            Projection::Orthographic { width } => width / film.x,
            Projection::Panoramic => TAU / film.x,
        };
        Camera { position, axes: [forward, right, right.cross(forward)], film, projection, pixel }
    }

    /// The ray through a film position and, where there is a lens, the place on it that a point of the unit square maps
    /// to; with its partials per pixel.
    pub fn ray(&self, film: Vec2, lens: Vec2, time: f32) -> (Ray, RayDifferential) {
        let ([forward, right, up], pixel) = (self.axes, self.pixel);
        let middle = film - 0.5 * self.film;
        match self.projection {
            Projection::Perspective { aperture, focus, .. } => {
                let (d, step) = (forward + (right * middle.x - up * middle.y) * pixel, [right * pixel, -up * pixel]);
                if aperture == 0.0 {
                    return self.toward(self.position, d, step, time);
                }
                // From a place on the lens to where all rays of this film position meet. That place stays where it is
                // when the film position moves, so textures in focus keep the footprint they have without a lens.
                let lens = concentric_disk(lens) * aperture;
                let offset = right * lens.x + up * lens.y;
                self.toward(self.position + offset, d * focus - offset, step.map(|s| s * focus), time)
            }
            Projection::Orthographic { .. } => {
                let origin = self.position + (right * middle.x - up * middle.y) * pixel;
                let differential = RayDifferential { origin: [right * pixel, -up * pixel], direction: [Vec3::ZERO; 2] };
                (Ray::new(origin, forward, time), differential)
            }
            Projection::Panoramic => {
                let (phi, theta) = (middle.x / self.film.x * TAU, film.y / self.film.y * PI);
                let (around, side) = (forward * phi.cos() + right * phi.sin(), right * phi.cos() - forward * phi.sin());
                let d = around * theta.sin() + up * theta.cos();
                let step =
                    [side * (theta.sin() * pixel), (around * theta.cos() - up * theta.sin()) * (PI / self.film.y)];
                self.toward(self.position, d, step, time)
            }
        }
    }

    /// A ray along `d`, whose partials are `step`: those of the unit direction are `∂D = (∂d − D (D·∂d))/|d|`.
    fn toward(&self, origin: Vec3, d: Vec3, step: [Vec3; 2], time: f32) -> (Ray, RayDifferential) {
        let length = d.length();
        let unit = d / length;
        let direction = step.map(|s| (s - unit * unit.dot(s)) / length);
        (Ray::new(origin, unit, time), RayDifferential { origin: [Vec3::ZERO; 2], direction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PINHOLE: Projection = Projection::Perspective { fov: 70.0, aperture: 0.0, focus: 1.0 };
    const LENS: Projection = Projection::Perspective { fov: 70.0, aperture: 0.3, focus: 4.0 };
    const ALL: [Projection; 4] = [PINHOLE, LENS, Projection::Orthographic { width: 7.0 }, Projection::Panoramic];
    const LENS_PLACE: Vec2 = Vec2::new(0.8, 0.35);

    fn camera(projection: Projection) -> Camera {
        let (position, target) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 0.5, -4.0));
        Camera::new(position, target, Vec3::Y, projection, (640, 360))
    }

    fn at_origin(projection: Projection) -> impl Fn(f32, f32) -> Ray {
        let c = Camera::new(Vec3::ZERO, Vec3::NEG_Z, Vec3::Y, projection, (200, 100));
        move |x, y| c.ray(Vec2::new(x, y), LENS_PLACE, 0.0).0
    }

    #[test]
    fn the_image_is_upright_and_as_wide_as_asked() {
        let at = at_origin(Projection::Perspective { fov: 90.0, aperture: 0.0, focus: 1.0 });
        assert!((at(100.0, 50.0).direction - Vec3::NEG_Z).length() < 1e-6);
        assert!((at(200.0, 50.0).direction - Vec3::new(1.0, 0.0, -1.0).normalize()).length() < 1e-6);
        assert!((at(100.0, 0.0).direction - Vec3::new(0.0, 0.5, -1.0).normalize()).length() < 1e-6);
        let at = at_origin(Projection::Orthographic { width: 4.0 });
        assert!((at(200.0, 0.0).origin - Vec3::new(2.0, 1.0, 0.0)).length() < 1e-6);
        assert_eq!(at(13.0, 77.0).direction, Vec3::NEG_Z);
        let at = at_origin(Projection::Panoramic);
        assert!((at(100.0, 50.0).direction - Vec3::NEG_Z).length() < 1e-6);
        assert!((at(150.0, 50.0).direction - Vec3::X).length() < 1e-6);
        assert!((at(30.0, 0.0).direction - Vec3::Y).length() < 1e-6);
        assert!((at(0.0, 50.0).direction - at(200.0, 50.0).direction).length() < 1e-6);
    }

    #[test]
    fn differentials_match_neighbouring_rays() {
        for projection in ALL {
            let c = camera(projection);
            for film in [Vec2::new(3.0, 350.0), Vec2::new(320.0, 180.0), Vec2::new(600.5, 10.25)] {
                let (_, exact) = c.ray(film, LENS_PLACE, 0.0);
                for (i, axis) in [Vec2::X, Vec2::Y].into_iter().enumerate() {
                    let h = 4.0;
                    let ray = |o: f32| c.ray(film + axis * o, LENS_PLACE, 0.0).0;
                    let (after, before) = (ray(h), ray(-h));
                    let direction = (after.direction - before.direction) / (2.0 * h);
                    let origin = (after.origin - before.origin) / (2.0 * h);
                    let off = |a: Vec3, b: Vec3| (a - b).length() > 2e-3 * b.length() + 1e-7;
                    assert!(!off(direction, exact.direction[i]), "{projection:?}: {direction} {:?}", exact.direction);
                    assert!(!off(origin, exact.origin[i]), "{projection:?}: {origin} {:?}", exact.origin);
                }
            }
        }
    }

    /// Rays of one film position meet where the lens is focused, wherever on the lens they start, and there the footprint
    /// is that of a camera without one.
    #[test]
    fn what_is_in_focus_is_sharp() {
        let (lens, pinhole) = (camera(LENS), camera(PINHOLE));
        let forward = lens.axes[0];
        for film in [Vec2::new(10.0, 20.0), Vec2::new(320.0, 180.0), Vec2::new(630.0, 300.0)] {
            // Where a ray meets the plane of focus, and how that moves by a pixel.
            let meet = |(ray, d): (Ray, RayDifferential)| {
                let t = (4.0 - (ray.origin - lens.position).dot(forward)) / ray.direction.dot(forward);
                let moved = |i: usize| {
                    let along = d.origin[i] + d.direction[i] * t;
                    along - ray.direction * (along.dot(forward) / ray.direction.dot(forward))
                };
                (ray.at(t), [moved(0), moved(1)])
            };
            let (point, moves) = meet(pinhole.ray(film, Vec2::ZERO, 0.0));
            for place in [Vec2::new(0.1, 0.2), Vec2::new(0.5, 0.9), Vec2::new(0.99, 0.01)] {
                let (found, moved) = meet(lens.ray(film, place, 0.0));
                assert!((found - point).length() < 1e-5, "{found} {point}");
                for (a, b) in moved.iter().zip(moves) {
                    assert!((*a - b).length() < 1e-6, "{a} {b}");
                }
            }
        }
        let radius = |u: Vec2| (lens.ray(Vec2::ZERO, u, 0.0).0.origin - lens.position).length();
        assert!((radius(Vec2::new(1.0, 0.5)) - 0.3).abs() < 1e-6);
    }

    /// A direction of the panorama is as dense as its solid angle says: |∂x × ∂y| is 2π²/(w h) sin θ.
    #[test]
    fn panoramas_cover_the_sphere_once() {
        let c = camera(Projection::Panoramic);
        let mut total = 0.0_f64;
        for y in 0..360 {
            for x in (0..640).step_by(8) {
                let (_, d) = c.ray(Vec2::new(x as f32 + 0.5, y as f32 + 0.5), Vec2::ZERO, 0.0);
                total += 8.0 * f64::from(d.direction[0].cross(d.direction[1]).length());
            }
        }
        assert!((total / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-4, "{total}");
    }
}
