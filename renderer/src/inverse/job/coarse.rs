//! Targets at smaller sizes, to which a fit compares its first steps: they take less time, and what is large is found first.
//!
//! Sides are halved exactly, so a coarse picture shows what the whole one does. Rejected: any smaller size, by which the edges
//! of the two pictures would lie at different places of the scene.

use super::Target;
use glam::Vec3;

/// How the size of pictures grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// How often the sides are halved at the beginning.
    pub halvings: u32,
    /// Steps before the sides are doubled.
    pub steps: u64,
}

impl Stages {
    /// How often the sides are halved at a step.
    pub fn level(self, step: u64) -> u32 {
        let doubled = step.checked_div(self.steps).unwrap_or(u64::MAX);
        self.halvings.saturating_sub(u32::try_from(doubled).unwrap_or(u32::MAX))
    }

    /// A target as it is, and at all smaller sizes, each half of the one before. The sides divide by 2^halvings.
    pub fn of(self, target: Target) -> Vec<Target> {
        let mut all = vec![target];
        for _ in 0..self.halvings {
            all.extend(all.last().map(halved));
        }
        all
    }
}

/// A pixel is the mean of four, and counts as little as the one of them that counts least: the others are seen with it.
fn halved(target: &Target) -> Target {
    let (width, height) = (target.size.0 / 2, target.size.1 / 2);
    let of = |i: u32| {
        let first = (i / width * 2 * target.size.0 + i % width * 2) as usize;
        [0, 1].map(|row| [0, 1].map(|column| first + row * target.size.0 as usize + column)).concat()
    };
    let pixels = (0..width * height).map(|i| of(i).iter().map(|&at| target.pixels[at]).sum::<Vec3>() / 4.0).collect();
    let least = |mask: &Vec<f32>| {
        (0..width * height).map(|i| of(i).iter().map(|&at| mask[at]).fold(f32::INFINITY, f32::min)).collect()
    };
    Target { size: (width, height), pixels, mask: target.mask.as_ref().map(least), ..*target }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Projection;
    use crate::scene::View;

    #[test]
    fn sides_double_after_so_many_steps() {
        let stages = Stages { halvings: 2, steps: 3 };
        let levels: Vec<u32> = (0..8).map(|step| stages.level(step)).collect();
        assert_eq!(levels, [2, 2, 2, 1, 1, 1, 0, 0]);
        assert_eq!(Stages::default().level(0), 0);
    }

    #[test]
    fn a_pixel_is_the_mean_of_four_and_counts_as_the_least() {
        let view = View { position: Vec3::ZERO, target: Vec3::X, up: Vec3::Y, projection: Projection::Panoramic };
        // x + 10 y in a picture of 4 × 2.
        let pixels: Vec<Vec3> = (0..8).map(|i| Vec3::new((i % 4) as f32 + 10.0 * (i / 4) as f32, 1.0, 0.0)).collect();
        let mask = Some(vec![1.0, 0.5, 1.0, 1.0, 0.25, 1.0, 1.0, 1.0]);
        let target = Target { view, size: (4, 2), pixels, mask, weight: 3.0, is_shown: false };
        let all = Stages { halvings: 1, steps: 1 }.of(target);
        let coarse = &all[1];
        assert_eq!((all.len(), coarse.size, coarse.weight), (2, (2, 1), 3.0));
        assert_eq!(coarse.pixels, [Vec3::new(5.5, 1.0, 0.0), Vec3::new(7.5, 1.0, 0.0)]);
        assert_eq!(coarse.mask, Some(vec![0.25, 1.0]));
    }
}
