//! The perspective camera: rays from film positions, with their exact differentials.
//!
//! Film x grows to the right and y downwards, in pixels; (0,0) is the upper left corner of the image.

use crate::ray::{Ray, RayDifferential};
use glam::{Vec2, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct Camera {
    position: Vec3,
    /// Through the film's upper left corner, not of unit length.
    corner: Vec3,
    /// What one pixel to the right and one down add to that.
    step: [Vec3; 2],
}

impl Camera {
    /// `fov` is horizontal, in degrees, below 180; `up` must not lie along the line of sight. Pixels are
    /// square.
    pub fn look_at(position: Vec3, target: Vec3, up: Vec3, fov: f32, (width, height): (u32, u32)) -> Camera {
        let forward = (target - position).normalize();
        let right = forward.cross(up).normalize();
        let up = right.cross(forward);
        let pixel = 2.0 * (0.5 * fov.to_radians()).tan() / width as f32;
        let corner = forward - right * (0.5 * width as f32 * pixel) + up * (0.5 * height as f32 * pixel);
        Camera { position, corner, step: [right * pixel, -up * pixel] }
    }

    /// The ray through a film position, and its partials per pixel: those of the normalised direction,
    /// `∂D = (∂d − D (D·∂d))/|d|`.
    pub fn ray(&self, film: Vec2, time: f32) -> (Ray, RayDifferential) {
        let d = self.corner + self.step[0] * film.x + self.step[1] * film.y;
        let length = d.length();
        let unit = d / length;
        let direction = self.step.map(|s| (s - unit * unit.dot(s)) / length);
        (Ray::new(self.position, unit, time), RayDifferential { origin: [Vec3::ZERO; 2], direction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera::look_at(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 0.5, -4.0), Vec3::Y, 70.0, (640, 360))
    }

    #[test]
    fn the_image_is_upright_and_as_wide_as_asked() {
        let c = Camera::look_at(Vec3::ZERO, Vec3::NEG_Z, Vec3::Y, 90.0, (200, 100));
        let at = |x, y| c.ray(Vec2::new(x, y), 0.0).0.direction;
        assert!((at(100.0, 50.0) - Vec3::NEG_Z).length() < 1e-6);
        assert!((at(200.0, 50.0) - Vec3::new(1.0, 0.0, -1.0).normalize()).length() < 1e-6);
        assert!((at(100.0, 0.0) - Vec3::new(0.0, 0.5, -1.0).normalize()).length() < 1e-6);
    }

    #[test]
    fn differentials_match_neighbouring_rays() {
        let c = camera();
        for film in [Vec2::new(3.0, 350.0), Vec2::new(320.0, 180.0), Vec2::new(600.5, 10.25)] {
            let (_, d) = c.ray(film, 0.0);
            for (axis, exact) in [Vec2::X, Vec2::Y].into_iter().zip(d.direction) {
                let h = 4.0;
                let ray = |o: f32| c.ray(film + axis * o, 0.0).0.direction;
                let difference = (ray(h) - ray(-h)) / (2.0 * h);
                assert!((difference - exact).length() < 2e-3 * exact.length(), "{difference} {exact}");
            }
        }
    }
}
