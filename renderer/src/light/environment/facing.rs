//! Normals in classes, for tables of what a surface receives that faces one way or another; and the mean cosine with
//! which light from a cone arrives there.

use glam::{Vec2, Vec3};
use std::f32::consts::FRAC_PI_2;

/// Classes along the edge of each face of a cube.
const EDGE: usize = 6;

/// Of all normals.
pub const CLASSES: usize = 6 * EDGE * EDGE;

/// The class of a normal, of any length; [`CLASSES`] of one that is 0, or no number. Without branches, so that many are found at once.
#[inline(always)]
pub fn class_of(normal: Vec3) -> u32 {
    const LAST: u32 = EDGE as u32 - 1;
    let Vec3 { x, y, z } = normal;
    let size = normal.abs();
    // The axis along which it is longest, and what is along the next ones.
    let (face, along, next, last) = if size.y > size.x { (2, y, z, x) } else { (0, x, y, z) };
    let (face, along, next, last) = if size.z > along.abs() { (4, z, x, y) } else { (face, along, next, last) };
    let major = along.abs();
    let at = |side: f32| (((side / major + 1.0) * (0.5 * EDGE as f32)) as u32).min(LAST);
    let face = face + u32::from(along < 0.0);
    let number = (face * EDGE as u32 + at(last)) * EDGE as u32 + at(next);
    if (major > 0.0) & (major < f32::INFINITY) { number } else { CLASSES as u32 }
}

/// The middle of a class, and an angle from there that none of its normals is beyond.
pub fn class(number: usize) -> (Vec3, f32) {
    let (x, y, face) = (number % EDGE, number / EDGE % EDGE, number / (EDGE * EDGE));
    let at = |x: f32, y: f32| {
        let across = |t: f32| t * (2.0 / EDGE as f32) - 1.0;
        let mut normal = Vec3::ZERO;
        normal[face / 2] = if face % 2 == 0 { 1.0 } else { -1.0 };
        normal[(face / 2 + 1) % 3] = across(x);
        normal[(face / 2 + 2) % 3] = across(y);
        normal.normalize()
    };
    let corner = Vec2::new(x as f32, y as f32);
    let middle = at(corner.x + 0.5, corner.y + 0.5);
    let corners = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE].map(|c| at(corner.x + c.x, corner.y + c.y));
    (middle, corners.map(|c| c.angle_between(middle)).into_iter().fold(0.0, f32::max))
}

/// About the mean of the cosine, where positive, over directions within `angle` of one whose own is `cos`: more than 0
/// wherever any of them is in front. Within the band around the horizon a parabola takes the place of what the cosine of a
/// plane that is cut would be.
pub fn mean_cosine(cos: f32, angle: f32) -> f32 {
    if angle >= FRAC_PI_2 {
        // Of the whole sphere.
        return 0.25;
    }
    let reach = angle.max(1e-3).sin();
    if cos >= reach { cos } else { (cos + reach).max(0.0).powi(2) / (4.0 * reach) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform_cone;
    use crate::sampler::Sampler;

    #[test]
    fn a_normal_is_within_the_bound_of_its_class() {
        let mut met = std::collections::HashSet::new();
        for i in 0..20_000 {
            let normal = uniform_cone(Sampler::new(4, (0, 0), i).next_2d(), 2.0);
            let number = class_of(normal * (1.0 + i as f32)) as usize;
            let (middle, angle) = class(number);
            assert!(normal.angle_between(middle) <= angle + 1e-3 && angle < 0.26, "{normal} {middle}");
            assert_eq!(class_of(middle) as usize, number);
            met.insert(number);
        }
        assert_eq!(met.len(), CLASSES);
        assert_eq!([Vec3::ZERO, Vec3::NAN, Vec3::INFINITY].map(class_of), [CLASSES as u32; 3]);
    }

    /// Where axes are as long as each other, and of what is no direction, some class or none.
    #[test]
    fn odd_normals_have_a_class_that_is_there() {
        const ODD: [f32; 7] = [0.0, -0.0, 1.0, -1.0, 1e-45, f32::INFINITY, f32::NAN];
        for (x, y, z) in (0..343).map(|i| (ODD[i % 7], ODD[i / 7 % 7], ODD[i / 49])) {
            let (normal, number) = (Vec3::new(x, y, z), class_of(Vec3::new(x, y, z)) as usize);
            assert!(number <= CLASSES, "{normal}");
            if let Some(unit) = normal.try_normalize() {
                let (middle, angle) = class(number);
                assert!(unit.angle_between(middle) <= angle + 1e-3, "{normal} {middle}");
            }
        }
    }

    /// Half of what is wider than a hemisphere may be in front of anything.
    #[test]
    fn wide_cones_are_in_front_of_everything() {
        assert!([-1.0, 0.0, 1.0].iter().all(|&cos| mean_cosine(cos, 2.0) > 0.0));
    }

    /// Against the mean over a disk of directions, and never 0 where something is in front.
    #[test]
    fn the_mean_cosine_is_about_that_of_a_cone() {
        for angle in [0.1_f32, 0.3, 0.5] {
            for turn in 0..40 {
                let normal = Vec3::new((turn as f32 * 0.08).sin(), 0.0, (turn as f32 * 0.08).cos());
                const N: u32 = 4000;
                let cosines = || {
                    (0..N).map(|i| {
                        let d = uniform_cone(Sampler::new(5, (0, 0), i).next_2d(), 1.0 - angle.cos());
                        d.dot(normal).max(0.0)
                    })
                };
                let (mean, found) = (cosines().sum::<f32>() / N as f32, mean_cosine(normal.z, angle));
                assert!((mean - found).abs() < 0.3 * angle * angle + 0.01, "{angle} {turn}: {mean} {found}");
                assert!(found > 0.0 || cosines().all(|c| c < 1e-5));
            }
        }
    }
}
