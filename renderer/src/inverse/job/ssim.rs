//! Structural similarity of pictures: Zhou Wang, Alan Bovik, Hamid Sheikh, Eero Simoncelli, "Image Quality Assessment: From
//! Error Visibility to Structural Similarity" (IEEE Transactions on Image Processing 13(4), 2004), equation 13, with its
//! gradient.
//!
//! Windows are Gaussians of deviation 1.5 over 11×11 pixels; at the borders they are cut off and normalised again.

use glam::{DVec3, Vec3};

/// The paper's constants, for light whose white is 1.
const C1: f64 = 0.01 * 0.01;
const C2: f64 = 0.03 * 0.03;

const REACH: isize = 5;
const DEVIATION: f64 = 1.5;

/// Weighted means over windows. What is cut off at the borders is divided by afterwards. In f64, since variances are small
/// differences of large means.
struct Window {
    width: usize,
    height: usize,
    taps: [f64; 2 * REACH as usize + 1],
    norm: Vec<f64>,
}

impl Window {
    fn new(width: usize, height: usize) -> Window {
        let tap = |i: usize| (-0.5 * ((i as f64 - REACH as f64) / DEVIATION).powi(2)).exp();
        let mut window = Window { width, height, taps: std::array::from_fn(tap), norm: Vec::new() };
        window.norm = window.sums(&vec![DVec3::ONE; width * height]).iter().map(|norm| norm.x).collect();
        window
    }

    /// Sums along both sides.
    fn sums(&self, from: &[DVec3]) -> Vec<DVec3> {
        let (width, height) = (self.width, self.height);
        let along = |from: &[DVec3], at: usize, i: usize, side: usize, step: usize| -> DVec3 {
            let taps = self.taps.iter().zip(-REACH..=REACH);
            taps.filter_map(|(tap, offset)| {
                let j = i.checked_add_signed(offset).filter(|j| *j < side)?;
                Some(from[at + j * step - i * step] * *tap)
            })
            .sum()
        };
        let rows: Vec<DVec3> = (0..width * height).map(|at| along(from, at, at % width, width, 1)).collect();
        (0..width * height).map(|at| along(&rows, at, at / width, height, width)).collect()
    }

    fn means(&self, from: &[DVec3]) -> Vec<DVec3> {
        self.sums(from).iter().zip(&self.norm).map(|(sum, norm)| *sum / *norm).collect()
    }

    /// The transpose of the means. Sums are their own, since windows are symmetric.
    fn transposed(&self, from: &[DVec3]) -> Vec<DVec3> {
        let divided: Vec<DVec3> = from.iter().zip(&self.norm).map(|(x, norm)| *x / *norm).collect();
        self.sums(&divided)
    }
}

/// How much a picture is unlike its target, 1 − SSIM, as the mean over all channels of all pixels, each as much as its weight;
/// and its gradient by the picture.
pub fn unlikeness(picture: &[Vec3], target: &[Vec3], width: usize, weights: Option<&[f32]>) -> (f64, Vec<Vec3>) {
    let window = Window::new(width, picture.len() / width.max(1));
    let [picture, target] = [picture, target].map(|p| p.iter().map(|x| x.as_dvec3()).collect::<Vec<DVec3>>());
    let products = |a: &[DVec3], b: &[DVec3]| -> Vec<DVec3> { a.iter().zip(b).map(|(a, b)| *a * *b).collect() };
    let [mx, my] = [&picture, &target].map(|p| window.means(p));
    let [xx, yy, xy] =
        [(&picture, &picture), (&target, &target), (&picture, &target)].map(|(a, b)| window.means(&products(a, b)));
    let share = 1.0 / (3 * picture.len()).max(1) as f64;
    let (mut sum, mut of_means) = (0.0, [const { Vec::new() }; 3]);
    for i in 0..picture.len() {
        let weight = weights.map_or(1.0, |w| f64::from(w[i])) * share;
        let (variances, covariance) =
            ((xx[i] - mx[i] * mx[i] + yy[i] - my[i] * my[i]).max(DVec3::ZERO), xy[i] - mx[i] * my[i]);
        let (a1, a2) = (2.0 * mx[i] * my[i] + C1, 2.0 * covariance + C2);
        let (b1, b2) = (mx[i] * mx[i] + my[i] * my[i] + C1, variances + C2);
        let similarity = a1 * a2 / (b1 * b2);
        sum += ((DVec3::ONE - similarity) * weight).element_sum();
        // By the means of x², of x times its target, and of x, through which the former two go as well.
        let by_xx = -similarity / b2;
        let by_xy = 2.0 * a1 / (b1 * b2);
        let by_x = 2.0 * my[i] * a2 / (b1 * b2) - 2.0 * mx[i] * similarity / b1 - 2.0 * mx[i] * by_xx - my[i] * by_xy;
        [by_x, by_xx, by_xy].into_iter().zip(&mut of_means).for_each(|(by, list)| list.push(by * -weight));
    }
    let [by_x, by_xx, by_xy] = of_means.map(|by| window.transposed(&by));
    let gradient = (0..picture.len()).map(|i| by_x[i] + 2.0 * picture[i] * by_xx[i] + target[i] * by_xy[i]);
    (sum, gradient.map(|g| g.as_vec3()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures() -> (Vec<Vec3>, Vec<Vec3>) {
        let pixel = |i: i32, f: f32| {
            Vec3::new((i as f32 * f).sin().abs(), (i % 5) as f32 * 0.2, 0.3 + 0.1 * (i as f32 * f).cos())
        };
        ((0..13 * 7).map(|i| pixel(i, 0.37)).collect(), (0..13 * 7).map(|i| pixel(i, 0.41)).collect())
    }

    #[test]
    fn a_picture_is_like_itself_and_unlike_others() {
        let (picture, target) = pictures();
        let (same, gradient) = unlikeness(&target, &target, 13, None);
        assert!(same.abs() < 1e-5 && gradient.iter().all(|g| g.abs().max_element() < 1e-4), "{same}");
        let (other, _) = unlikeness(&picture, &target, 13, None);
        assert!(other > 0.1 && other < 2.0, "{other}");
        // Pictures of one value each have no variance: what is left is the ratio of the means.
        let even = |x: f32| vec![Vec3::splat(x); 13 * 7];
        let expected = 1.0 - (2.0 * 0.2 * 0.6 + C1) / (0.2 * 0.2 + 0.6 * 0.6 + C1);
        let (found, _) = unlikeness(&even(0.2), &even(0.6), 13, None);
        assert!((found - expected).abs() < 1e-3, "{found} instead of {expected}");
    }

    /// Light is not bounded by a white: squares of bright areas must not hide the constants.
    #[test]
    fn bright_even_areas_are_alike() {
        let even = |x: f32| vec![Vec3::splat(x); 13 * 7];
        let (found, gradient) = unlikeness(&even(3_000.0), &even(3_001.0), 13, None);
        assert!(found.abs() < 1e-4, "{found}");
        assert!(gradient.iter().all(|g| g.abs().max_element() < 1e-4), "{gradient:?}");
    }

    #[test]
    fn gradients_are_slopes() {
        let (picture, target) = pictures();
        let weights: Vec<f32> = (0..13 * 7).map(|i| (i % 3) as f32).collect();
        let (_, gradient) = unlikeness(&picture, &target, 13, Some(&weights));
        for i in [0, 6, 12, 40, 45, 90] {
            for channel in 0..3 {
                let at = |h: f32| {
                    let mut moved = picture.clone();
                    moved[i][channel] += h;
                    unlikeness(&moved, &target, 13, Some(&weights)).0
                };
                let slope = (at(4e-3) - at(-4e-3)) / 8e-3;
                let found = f64::from(gradient[i][channel]);
                assert!((slope - found).abs() < 2e-4 + 0.02 * slope.abs(), "{i}: {found} instead of {slope}");
            }
        }
    }
}
