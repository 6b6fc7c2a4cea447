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

    /// The loss of a number, and its derivative.
    fn of(self, x: f32, target: f32) -> (f32, f32) {
        let d = x - target;
        match self {
            Loss::L1 => (d.abs(), if d == 0.0 { 0.0 } else { d.signum() }),
            Loss::L2 => (d * d, 2.0 * d),
            Loss::Relative => {
                let scale = 1.0 / (target * target + 0.01);
                (d * d * scale, 2.0 * d * scale)
            }
            Loss::Log => {
                let d = x.max(0.0).ln_1p() - target.max(0.0).ln_1p();
                (d * d, if x > 0.0 { 2.0 * d / (1.0 + x) } else { 0.0 })
            }
            // It has no part of a number alone.
            Loss::Ssim => (0.0, 0.0),
        }
    }

    /// The mean over all pixels of pictures of this width, each as much as its weight, and its gradient.
    pub fn compare(
        self,
        (picture, target): (&[Vec3], &[Vec3]),
        width: u32,
        weights: Option<&[f32]>,
    ) -> (f64, Vec<Vec3>) {
        if self == Loss::Ssim {
            return ssim::unlikeness(picture, target, width as usize, weights);
        }
        let (mut sum, mut gradient) = (0.0, Vec::with_capacity(picture.len()));
        let share = 1.0 / (3 * picture.len()).max(1) as f64;
        for (i, (x, t)) in picture.iter().zip(target).enumerate() {
            let weight = weights.map_or(1.0, |w| w[i]);
            let [r, g, b] = [0, 1, 2].map(|c| self.of(x[c], t[c]));
            sum += f64::from(r.0 + g.0 + b.0) * f64::from(weight) * share;
            gradient.push(Vec3::new(r.1, g.1, b.1) * (weight * share as f32));
        }
        (sum, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_slopes() {
        for loss in [Loss::L1, Loss::L2, Loss::Relative, Loss::Log] {
            for (x, t) in [(0.3, 0.7), (2.0, 0.1), (0.5, 0.4)] {
                let slope = (loss.of(x + 1e-2, t).0 - loss.of(x - 1e-2, t).0) / 2e-2;
                assert!((slope - loss.of(x, t).1).abs() < 2e-3, "{loss:?} {x} {t}");
            }
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
