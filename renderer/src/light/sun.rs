//! Distant lights with an angular size: disks of even radiance in the sky, like the sun.
//!
//! Rays that leave the scene see them, as they see the environment. Light sampling draws directions uniformly over
//! their cone.

use super::ParallelLight;
use crate::math::{Frame, uniform_cone};
use glam::{Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// A disk in the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// To its middle, unit length.
    axis: Vec3,
    /// Of half the angle under which it is seen.
    one_minus_cos: f32,
    radiance: Vec3,
}

impl Sun {
    /// Shines along the unit vector `direction`; `angle` is its diameter in degrees, below 180. `irradiance` is what a
    /// surface gets that faces its middle.
    pub fn new(direction: Vec3, irradiance: Vec3, angle: f32) -> Sun {
        // 1 − cos x = 2 sin²(x/2), which keeps its digits.
        let sine = (0.25 * f64::from(angle)).to_radians().sin();
        let one_minus_cos = (2.0 * sine * sine) as f32;
        let mut sun = Sun { axis: -direction, one_minus_cos, radiance: Vec3::ZERO };
        sun.set_irradiance(irradiance);
        sun
    }

    /// Of a surface that faces its middle.
    pub fn set_irradiance(&mut self, irradiance: Vec3) {
        self.radiance = irradiance / self.projected();
    }

    /// The radiance for an irradiance of 1.
    pub fn per_unit(&self) -> f32 {
        1.0 / self.projected()
    }

    /// The integral of the cosine over the disk: π sin² of half the angle.
    fn projected(&self) -> f32 {
        PI * self.one_minus_cos * (2.0 - self.one_minus_cos)
    }

    /// On a surface that faces its middle.
    fn irradiance(&self) -> Vec3 {
        self.radiance * self.projected()
    }

    /// As if all light came from its middle.
    pub fn middle(&self) -> ParallelLight {
        ParallelLight { direction: -self.axis, irradiance: self.irradiance() }
    }

    /// All over the disk.
    pub fn disk_radiance(&self) -> Vec3 {
        self.radiance
    }

    /// From the unit direction `d`: that of the disk, or nothing.
    pub fn radiance(&self, d: Vec3) -> Vec3 {
        if self.covers(d) { self.radiance } else { Vec3::ZERO }
    }

    /// A unit direction and its density per steradian.
    pub fn sample(&self, u: Vec2) -> (Vec3, f32) {
        (Frame::about(self.axis).to_world(uniform_cone(u, self.one_minus_cos)).normalize(), self.density())
    }

    /// The density, per steradian, with which `sample` draws `d`.
    pub fn pdf(&self, d: Vec3) -> f32 {
        if self.covers(d) { self.density() } else { 0.0 }
    }

    fn density(&self) -> f32 {
        1.0 / (TAU * self.one_minus_cos)
    }

    fn covers(&self, d: Vec3) -> bool {
        // 1 − d·a = |d − a|²/2, which keeps its digits near the axis.
        0.5 * (d - self.axis).length_squared() <= self.one_minus_cos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// A surface that is turned away by θ, the disk wholly above its horizon, gets E cos θ.
    #[test]
    fn irradiance_is_that_of_the_disk_times_the_cosine() {
        for angle in [0.01, 0.53, 10.0, 90.0] {
            let sun = Sun::new(Vec3::new(0.3, -0.9, 0.1).normalize(), Vec3::new(1.0, 2.0, 3.0), angle);
            for tilt in [0.0_f32, 30.0] {
                let n = glam::Quat::from_axis_angle(sun.axis.any_orthonormal_vector(), tilt.to_radians()) * sun.axis;
                const N: u32 = 1 << 12;
                let one = |i| {
                    let (wi, pdf) = sun.sample(Sampler::new(3, (0, 0), i).next_2d());
                    f64::from(sun.radiance.y * wi.dot(n) / pdf)
                };
                let mean = (0..N).map(one).sum::<f64>() / f64::from(N);
                let expected = f64::from(2.0 * tilt.to_radians().cos());
                assert!((mean / expected - 1.0).abs() < 1e-3, "{angle} {tilt}: {mean} {expected}");
            }
            assert!((sun.irradiance() - Vec3::new(1.0, 2.0, 3.0)).length() < 1e-5);
        }
    }

    /// What is drawn lies on the disk, also where it is as small as one may ask for.
    #[test]
    fn the_disk_is_as_wide_as_it_says() {
        for angle in [0.01, 0.53, 60.0] {
            let sun = Sun::new(Vec3::new(0.5, -0.7, 0.3).normalize(), Vec3::ONE, angle);
            let side = sun.axis.any_orthonormal_vector();
            let at = |share: f32| {
                let (sin, cos) = (0.5 * share * angle).to_radians().sin_cos();
                sun.radiance((sun.axis * cos + side * sin).normalize()) != Vec3::ZERO
            };
            assert!(at(0.0) && at(0.99) && !at(1.01), "{angle}");
            let drawn = (0..1000).map(|i| sun.sample(Sampler::new(5, (0, 0), i).next_2d()).0);
            assert!(drawn.filter(|&d| sun.pdf(d) > 0.0).count() > 980, "{angle}");
        }
    }
}
