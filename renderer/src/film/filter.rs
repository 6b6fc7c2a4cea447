//! Pixel filters by filter importance sampling (Ernst et al., 2006): a sample's place in the filter is drawn from the
//! filter itself. So every sample of a pixel counts the same and belongs to it alone.

use glam::Vec2;
use std::f32::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PixelFilter {
    /// The middle of the pixel, always.
    Center,
    /// One pixel wide.
    Box,
    /// Two pixels wide.
    Tent,
    /// σ = 0.45 pixels, cut off at 1.5.
    #[default]
    Gaussian,
}

impl PixelFilter {
    /// An offset from the pixel's center, in pixels, with the filter as its density.
    pub fn sample(self, u: Vec2) -> Vec2 {
        match self {
            PixelFilter::Center => Vec2::ZERO,
            PixelFilter::Box => u - 0.5,
            PixelFilter::Tent => Vec2::new(tent(u.x), tent(u.y)),
            PixelFilter::Gaussian => {
                const SIGMA: f32 = 0.45;
                const RADIUS: f32 = 1.5;
                let inside = -(-RADIUS * RADIUS / (2.0 * SIGMA * SIGMA)).exp_m1();
                let r = SIGMA * (-2.0 * (-u.x * inside).ln_1p()).sqrt();
                Vec2::from_angle(TAU * u.y) * r
            }
        }
    }
}

fn tent(u: f32) -> f32 {
    if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * u).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_centered_and_as_wide_as_they_say() {
        const N: u32 = 200;
        // Variances along one axis: 0, 1/12, 1/6, and σ² but for the cut-off.
        for (filter, variance) in [
            (PixelFilter::Center, 0.0),
            (PixelFilter::Box, 1.0 / 12.0),
            (PixelFilter::Tent, 1.0 / 6.0),
            (PixelFilter::Gaussian, 0.2025 * 0.978),
        ] {
            let grid = (0..N * N).map(|i| (Vec2::new((i % N) as f32, (i / N) as f32) + 0.5) / N as f32);
            let (mut mean, mut square) = (Vec2::ZERO, Vec2::ZERO);
            for o in grid.map(|u| filter.sample(u)) {
                mean += o;
                square += o * o;
            }
            let n = (N * N) as f32;
            assert!((mean / n).abs().max_element() < 1e-3, "{filter:?}");
            assert!((square / n - variance).abs().max_element() < 2e-3, "{filter:?} {}", square / n);
        }
    }
}
