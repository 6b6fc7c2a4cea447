//! The denoiser that every build has: first-order regression on the layers, weighted by non-local means.
//!
//! Around each pixel, the light is fitted by a linear function of the albedo and the normal. So edges and textures that
//! the layers show stay sharp (Bitterli et al., 2016, "Nonlinearly weighted first-order regression for denoising Monte
//! Carlo renderings"). Patches are compared after division by the albedo, as no two patches of a texture are alike.
//!
//! Two fits of the noisy light differ in how alike its patches must be. A third compares the patches of their mixture,
//! where less noise decides about weights. Each pixel gets the fit of the least error, by Stein's unbiased estimate (Rousselle et
//! al., 2013, section 5), smoothed over neighbours.

use super::fireflies::calm;
use super::noisy::Noisy;
use super::planes::{Plane, Planes};
use super::regression::{BORDER, Fitted, LIGHT, Regression};
use glam::Vec3;

/// Differences of patches that count as 1, in standard errors: of the two fits of the noisy light.
const NEAR: f32 = 0.45;
const FAR: f32 = 1.0;
/// For the third fit, in the variance left by the first two: their errors are alike in neighbours, more than
/// independent noise.
const AGAIN: f32 = 2.0;
/// Squared differences of the layers that count as 1, where they have no larger gradient. The albedo's are large, since
/// light that is divided by it differs less.
const ALBEDO: f32 = 0.16;
const NORMAL: f32 = 0.026;
/// An albedo that light is not divided by, as it may be emitted or come from beside the surface.
const DARK: f32 = 0.02;
/// Estimates of the error are means over squares of 2 × 3 + 1 pixels, and so are choices, over 2 × 2 + 1.
const ERRORS: usize = 3;
const CHOICES: usize = 2;
/// The variance is averaged over a square of 2 × 2 + 1 pixels, as few samples know their own badly.
const VARIANCES: usize = 2;
/// The most that a pixel's estimated error may count, in variances.
const MOST: f32 = 100.0;
/// Variance of black, far below the variance of any light.
const TINY: f32 = 1e-12;

/// The light without noise; `None` without the variance.
pub fn denoise(noisy: &Noisy) -> Option<Vec<Vec3>> {
    let (size, variance) = (noisy.size, noisy.variance.as_ref()?);
    let planes = |pixels: &[Vec3]| Planes::of(size, BORDER, pixels);
    let layer = |layer: &Option<Vec<Vec3>>| layer.as_ref().map_or_else(Vec::new, |pixels| planes(pixels).to_vec());
    let clean = filter(&planes(&noisy.light), &planes(variance), &layer(&noisy.albedo), &layer(&noisy.normal)).pixels();
    // A linear function may go below 0 beside an edge, and light does not.
    let above = |(clean, noisy): (Vec3, &Vec3)| clean.max(noisy.min(Vec3::ZERO));
    Some(clean.into_iter().zip(&noisy.light).map(above).collect())
}

/// The planes have a [`BORDER`]; `variance` belongs to each pixel's mean.
fn filter(light: &Planes, variance: &Planes, albedo: &[Plane], normal: &[Plane]) -> Planes {
    let (light, variance) = calm(light, variance);
    let variance = variance.map(|plane| plane.box_mean(VARIANCES));
    let slopes: Vec<Plane> = albedo.iter().chain(normal).cloned().collect();
    let with = |least: f32| move |plane: &Plane| (plane.clone(), plane.square_gradient(least));
    let layers: Vec<(Plane, Plane)> = albedo.iter().map(with(ALBEDO)).chain(normal.iter().map(with(NORMAL))).collect();
    let gains = gains(albedo);
    let fit = |compared: &Planes, left: &Planes, tolerance: f32, is_noisy: bool| {
        let (compared, variance) = (incident(compared, &gains, 1), incident(left, &gains, 2));
        let (light, compared, variance) = (&light, &compared, &variance);
        Regression { light, compared, variance, slopes: &slopes, layers: &layers, tolerance, is_noisy }.run()
    };
    let near = fit(&light, &variance, NEAR, true);
    let far = fit(&light, &variance, FAR, true);
    let pilot = best(&light, &variance, &[&near, &far]);
    let left = variance.map(|plane| plane.zip(&pilot.leverage, |v, leverage| v * leverage));
    let again = fit(&pilot.light, &left, AGAIN, false);
    best(&light, &variance, &[&near, &far, &again]).light
}

/// Factors from light to incident light; `None` without an albedo.
fn gains(albedo: &[Plane]) -> Option<Planes> {
    let gray = Plane::mean(albedo)?;
    let gain = |a: f32, gray: f32| if gray < DARK { 1.0 } else { 1.0 / (a + DARK) };
    Some(Planes::from_fn(|c| albedo[c].zip(&gray, gain)))
}

/// The light that arrives, or with a `power` of 2 its variance.
fn incident(planes: &Planes, gains: &Option<Planes>, power: i32) -> Planes {
    let Some(gains) = gains else { return planes.clone() };
    Planes::from_fn(|c| planes[c].zip(&gains[c], |x, gain| x * gain.powi(power)))
}

/// Around each pixel the fit of the least error, by Stein's estimate. The error of a value that follows the noisy one
/// by the share `leverage` is (value − noisy)² − variance + 2 variance leverage.
fn best(light: &Planes, variance: &Planes, fits: &[&Fitted]) -> Fitted {
    let errors: Vec<Plane> = fits.iter().map(|fit| error(light, variance, fit)).collect();
    let shares = |i: usize| {
        // Of equal errors the first counts.
        let beats = |other: usize, own: f32, its: f32| if other < i { own < its } else { own <= its };
        let mut wins = errors[i].map(|_| 1.0);
        for (other, its) in errors.iter().enumerate().filter(|(other, _)| *other != i) {
            let beats = errors[i].zip(its, |own, its| if beats(other, own, its) { 1.0 } else { 0.0 });
            wins = wins.zip(&beats, |a, b| a * b);
        }
        wins.box_mean(CHOICES)
    };
    let shares: Vec<Plane> = (0..fits.len()).map(shares).collect();
    let mixed = |of: &dyn Fn(&Fitted) -> &Plane| {
        let none = of(fits[0]).map(|_| 0.0);
        fits.iter()
            .zip(&shares)
            .fold(none, |sum, (fit, share)| sum.zip(&of(fit).zip(share, |x, s| x * s), |a, b| a + b))
    };
    Fitted { light: Planes::from_fn(|c| mixed(&|fit| &fit.light[c])), leverage: mixed(&|fit| &fit.leverage) }
}

/// The estimated square error of a fit, in variances.
fn error(light: &Planes, variance: &Planes, fit: &Fitted) -> Plane {
    let channel = |c: usize| {
        let squares = fit.light[c].zip(&light[c], |a, b| (a - b) * (a - b));
        squares.zip(&variance[c], |square, v| (square / (v + TINY) - 1.0).min(MOST))
    };
    let rest = channel(0).zip(&channel(1), |a, b| a + b).zip(&channel(2), |a, b| (a + b) / LIGHT as f32);
    rest.zip(&fit.leverage, |rest, leverage| rest + 2.0 * leverage).box_mean(ERRORS)
}
