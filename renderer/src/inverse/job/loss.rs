//! How far a picture is from its target, and how that changes with its pixels. The losses are those of jobs with kernels:
//! means over all numbers.

use super::ssim;
use glam::Vec3;

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    L1,
    L2,
    /// The square in relation to that of the target, which is kept away from 0.
    Relative,
    /// The square of the difference of ln(1 + x). Below 0, x counts as 0.
    Log,
    /// 1 − SSIM: by structure, not number by number.
    Ssim,
}

impl Loss {
    pub fn named(name: &str) -> Loss {
        match name {
            "l1" => Loss::L1,
            "relative" => Loss::Relative,
            "log" => Loss::Log,
            "ssim" => Loss::Ssim,
            _ => Loss::L2,
        }
    }

    /// The mean over all pixels of pictures of this width, each as much as its weight, and its gradient.
    pub fn compare(self, pictures: (&[Vec3], &[Vec3]), width: u32, weights: Option<&[f32]>) -> (f64, Vec<Vec3>) {
        let of_number = match self {
            Loss::L1 => absolute,
            Loss::L2 => squared,
            Loss::Relative => relative,
            Loss::Log => logarithmic,
            Loss::Ssim => return ssim::unlikeness(pictures.0, pictures.1, width as usize, weights),
        };
        by_number(of_number, pictures, weights)
    }
}

/// The loss of a number beside its target, and its derivative.
type OfNumber = fn(f32, f32) -> (f32, f32);

fn absolute(x: f32, target: f32) -> (f32, f32) {
    let d = x - target;
    (d.abs(), if d == 0.0 { 0.0 } else { d.signum() })
}

fn squared(x: f32, target: f32) -> (f32, f32) {
    let d = x - target;
    (d * d, 2.0 * d)
}

fn relative(x: f32, target: f32) -> (f32, f32) {
    let (d, scale) = (x - target, 1.0 / (target * target + 0.01));
    (d * d * scale, 2.0 * d * scale)
}

fn logarithmic(x: f32, target: f32) -> (f32, f32) {
    let d = x.max(0.0).ln_1p() - target.max(0.0).ln_1p();
    (d * d, if x > 0.0 { 2.0 * d / (1.0 + x) } else { 0.0 })
}

/// The mean over all numbers, and its gradient.
fn by_number(of_number: OfNumber, (picture, target): (&[Vec3], &[Vec3]), weights: Option<&[f32]>) -> (f64, Vec<Vec3>) {
    let (mut sum, mut gradient) = (0.0, Vec::with_capacity(picture.len()));
    let share = 1.0 / (3 * picture.len()).max(1) as f64;
    for (i, (x, t)) in picture.iter().zip(target).enumerate() {
        let weight = weights.map_or(1.0, |w| w[i]);
        let [r, g, b] = [0, 1, 2].map(|c| of_number(x[c], t[c]));
        sum += f64::from(r.0 + g.0 + b.0) * f64::from(weight) * share;
        gradient.push(Vec3::new(r.1, g.1, b.1) * (weight * share as f32));
    }
    (sum, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_slopes() {
        for of_number in [absolute, squared, relative, logarithmic] {
            for (x, t) in [(0.3, 0.7), (2.0, 0.1), (0.5, 0.4)] {
                let slope = (of_number(x + 1e-2, t).0 - of_number(x - 1e-2, t).0) / 2e-2;
                assert!((slope - of_number(x, t).1).abs() < 2e-3, "{x} {t}");
            }
        }
    }

    /// By hand: x = 1 and targets 3 and 0 in one pixel, whose third channel has both the same.
    #[test]
    fn losses_are_means_over_numbers() {
        let (picture, target) = ([Vec3::ONE], [Vec3::new(3.0, 0.0, 1.0)]);
        let ln2 = std::f64::consts::LN_2;
        for (loss, expected) in [
            (Loss::L1, (2.0 + 1.0) / 3.0),
            (Loss::L2, (4.0 + 1.0) / 3.0),
            (Loss::Relative, (4.0 / 9.01 + 1.0 / 0.01) / 3.0),
            // ln 2 less ln 4, and ln 2 less ln 1.
            (Loss::Log, (ln2 * ln2 + ln2 * ln2) / 3.0),
            // Pictures of one pixel have no variance: what is left are the means.
            (Loss::Ssim, (1.0 - 6.0001 / 10.0001 + 1.0 - 0.0001 / 1.0001) / 3.0),
        ] {
            let (found, gradient) = loss.compare((&picture, &target), 1, None);
            assert!((found - expected).abs() < 1e-5 * expected, "{loss:?}: {found} instead of {expected}");
            assert!(gradient[0].x < 0.0 && gradient[0].y > 0.0 && gradient[0].z.abs() < 1e-6, "{loss:?}: {gradient:?}");
        }
    }

    #[test]
    fn masks_weigh_pixels() {
        let (a, b) = ([Vec3::ONE, Vec3::splat(3.0)], [Vec3::ZERO; 2]);
        let (loss, gradient) = Loss::L2.compare((&a, &b), 2, Some(&[1.0, 0.0]));
        assert!((loss - 0.5).abs() < 1e-6 && gradient[1] == Vec3::ZERO, "{loss}");
        assert!((Loss::L2.compare((&a, &b), 2, None).0 - 5.0).abs() < 1e-6);
    }
}
