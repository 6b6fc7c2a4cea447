//! From the partials of texture coordinates to levels and probes: which texels one sample stands for.
//!
//! The unit steps of the film map to an ellipse in the texture, and a sample stands for the Gaussian over it whose
//! standard deviations are half its semi-axes a ≥ b: the filter of EWA (Heckbert 1989) at its usual width. A trilinear
//! look-up at the level whose texels are b long is nearly that Gaussian for a = b: the tent between texel centers and the
//! box that made the texels have b²/6 + b²/12 of variance together, which is (b/2)². So an ellipse is covered by such
//! look-ups along its longer axis, weighted by a Gaussian of the variance that is missing there, (a² − b²)/4.

use super::filter::MipMode;
use glam::Vec2;
use std::sync::LazyLock;

/// The images of one step along film x and film y, in texels of level 0.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    pub x: Vec2,
    pub y: Vec2,
}

/// Which level to read, and how many probes at which places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    pub level: f32,
    pub probes: usize,
    /// The standard deviation of the probes, in texels of level 0.
    pub spread: Vec2,
}

/// Ellipses that are longer than this times their width are widened: blurred rather than aliased.
pub const MAX_ANISOTROPY: f32 = 16.0;
/// Probes for such an ellipse.
pub const MAX_PROBES: usize = 18;
/// Probes for one length of the shorter axis: their distance is then less than the probes are wide.
const PROBES_PER_LENGTH: f32 = 1.125;

impl Footprint {
    /// In texels of level 0, from partials of texture coordinates by film steps. What is not finite counts as 0, and
    /// what is past all sizes as a step across the texture many times over.
    pub fn new(duv: [Vec2; 2], size: Vec2) -> Footprint {
        // Fourth powers of these and their sums still fit.
        const FAR: f32 = 1e9;
        let clean =
            |d: Vec2| if d.is_finite() { (d * size).clamp(Vec2::splat(-FAR), Vec2::splat(FAR)) } else { Vec2::ZERO };
        Footprint { x: clean(duv[0]), y: clean(duv[1]) }
    }

    /// The level that `mode` chooses, `bias` levels coarser.
    pub fn select(&self, mode: MipMode, bias: f32) -> Selection {
        let one = |level: f32| Selection { level, probes: 1, spread: Vec2::ZERO };
        match mode {
            MipMode::Nearest => {
                let largest = self.x.abs().max(self.y.abs()).max_element();
                one((level_of(largest) + bias).floor())
            }
            MipMode::Bilinear => one((level_of(self.x.length().max(self.y.length())) + bias + 0.5).floor()),
            MipMode::Trilinear => one(level_of(self.x.length().max(self.y.length())) + bias),
            MipMode::Aniso | MipMode::Stochastic | MipMode::Auto => self.ellipse(bias),
        }
    }

    fn ellipse(&self, bias: f32) -> Selection {
        let (major, b) = self.axes();
        let a = major.length();
        // Below a texel's length the image itself is what blurs.
        let width = b.max(a / MAX_ANISOTROPY).max(1.0);
        let level = level_of(width) + bias;
        if a <= width {
            return Selection { level: level_of(a) + bias, probes: 1, spread: Vec2::ZERO };
        }
        let probes = ((a / width * PROBES_PER_LENGTH).ceil() as usize).clamp(2, MAX_PROBES);
        let missing = 0.5 * (a * a - width * width).sqrt();
        Selection { level, probes, spread: major * (missing / a) }
    }

    /// The longer semi-axis of the ellipse that the unit circle of film steps maps to, and the length of the shorter:
    /// the singular values of the Jacobian.
    fn axes(&self) -> (Vec2, f32) {
        // The Jacobian times its transpose, [[a, b], [b, c]].
        let (a, b) = (self.x.x * self.x.x + self.y.x * self.y.x, self.x.x * self.x.y + self.y.x * self.y.y);
        let c = self.x.y * self.x.y + self.y.y * self.y.y;
        let (middle, reach) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
        let long = (middle + reach).sqrt();
        // The determinant over the longer: the difference middle − reach would cancel.
        let short = if long > 0.0 { self.x.perp_dot(self.y).abs() / long } else { 0.0 };
        // Of the two forms of the eigenvector, the one whose entries do not cancel.
        let direction = if a >= c { Vec2::new(0.5 * (a - c) + reach, b) } else { Vec2::new(b, 0.5 * (c - a) + reach) };
        (direction.normalize_or(Vec2::X) * long, short)
    }
}

/// log2 of a length in texels of level 0, to within 1e-6 and exact for powers of two; far below 0 where it is 0.
///
/// With the mantissa m near 1, ln m = 2 artanh((m − 1)/(m + 1)), of which four terms of the series are left to be summed.
fn level_of(texels: f32) -> f32 {
    // From the middle between two powers of two, so that m is from √½ to √2.
    const MIDDLE: u32 = 0x3f35_04f3;
    let bits = texels.max(f32::MIN_POSITIVE).to_bits().wrapping_sub(MIDDLE);
    let exponent = bits as i32 >> 23;
    let m = f32::from_bits((bits & 0x007f_ffff).wrapping_add(MIDDLE));
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let series = 1.0 + square * (1.0 / 3.0 + square * (0.2 + square * (1.0 / 7.0)));
    exponent as f32 + t * series * (2.0 * std::f32::consts::LOG2_E)
}

/// A probe's place, in standard deviations of all, and its weight; the weights sum to 1.
pub type Probe = (f32, f32);

static PROBES: LazyLock<Vec<Vec<Probe>>> = LazyLock::new(|| (0..=MAX_PROBES).map(gaussian).collect());

/// Probes at equal distances, weighted by a Gaussian that ends at two standard deviations, and stretched so that their
/// variance is exactly 1.
fn gaussian(n: usize) -> Vec<Probe> {
    let place = |i: usize| 2.0 * ((2 * i + 1) as f64 / n as f64 - 1.0);
    let weight = |t: f64| (-0.5 * t * t).exp();
    let sum: f64 = (0..n).map(|i| weight(place(i))).sum();
    let variance: f64 = (0..n).map(|i| place(i) * place(i) * weight(place(i))).sum::<f64>() / sum;
    let stretch = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
    (0..n).map(|i| ((place(i) * stretch) as f32, (weight(place(i)) / sum) as f32)).collect()
}

/// The probes of a selection.
pub fn probes(n: usize) -> &'static [Probe] {
    &PROBES[n.min(MAX_PROBES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_their_closed_forms() {
        let f = Footprint { x: Vec2::new(3.0, 4.0), y: Vec2::new(0.0, 1.5) };
        assert_eq!(f.select(MipMode::Nearest, 0.0).level, 2.0);
        assert_eq!(f.select(MipMode::Bilinear, 0.0).level, 2.0);
        assert!((f.select(MipMode::Trilinear, 0.0).level - 5.0_f32.log2()).abs() < 1e-6);
        assert!((f.select(MipMode::Trilinear, 0.75).level - 5.0_f32.log2() - 0.75).abs() < 1e-6);
    }

    #[test]
    fn the_logarithm_is_that_of_the_definition() {
        for i in -100_i32..100 {
            assert_eq!(level_of(2.0_f32.powi(i)), i as f32);
            for step in 0..50 {
                let x = 2.0_f32.powi(i) * (1.0 + step as f32 / 50.0);
                assert!((f64::from(level_of(x)) - f64::from(x).log2()).abs() < 1e-6 * f64::from(i.abs().max(1)), "{x}");
            }
        }
        assert!(level_of(0.0) < -100.0 && level_of(f32::NAN) < -100.0 && level_of(f32::MAX) > 127.0);
    }

    /// The level's own variance and that of the probes make up the ellipse's.
    #[test]
    fn an_ellipse_becomes_probes_of_the_missing_variance() {
        let f = Footprint { x: Vec2::new(0.0, 32.0), y: Vec2::new(4.0, 0.0) };
        let s = f.select(MipMode::Aniso, 0.0);
        assert!((s.level - 2.0).abs() < 1e-5);
        assert!((s.spread.y.powi(2) + 4.0_f32.powi(2) / 4.0 - 32.0_f32.powi(2) / 4.0).abs() < 1e-2, "{s:?}");
        assert_eq!((s.spread.x, s.probes), (0.0, 9));
        // Past the limit the level rises instead.
        let far = Footprint { x: Vec2::new(0.0, 1024.0), y: Vec2::new(1.0, 0.0) };
        assert_eq!(far.select(MipMode::Aniso, 0.0).probes, MAX_PROBES);
        assert!((far.select(MipMode::Aniso, 0.0).level - 6.0).abs() < 1e-5);
        let isotropic = Footprint { x: Vec2::new(8.0, 0.0), y: Vec2::new(0.0, 8.0) };
        assert_eq!(isotropic.select(MipMode::Aniso, 0.0), isotropic.select(MipMode::Trilinear, 0.0));
    }

    #[test]
    fn probes_have_weight_one_mean_zero_and_variance_one() {
        for n in 2..=MAX_PROBES {
            let moment = |k: i32| probes(n).iter().map(|&(t, w)| f64::from(w) * f64::from(t).powi(k)).sum::<f64>();
            assert!((moment(0) - 1.0).abs() < 1e-6 && moment(1).abs() < 1e-6 && (moment(2) - 1.0).abs() < 1e-5, "{n}");
        }
    }

    /// A rotation of the film leaves the ellipse alone, and so its axes.
    #[test]
    fn axes_do_not_depend_on_the_films_orientation() {
        for i in 0..100 {
            let turn = Vec2::from_angle(i as f32 * 0.7);
            let (p, q) = (Vec2::from_angle(1.1) * 9.0, Vec2::from_angle(1.1).perp() * 2.0);
            let f = Footprint { x: p * turn.x + q * turn.y, y: q * turn.x - p * turn.y };
            let (major, minor) = f.axes();
            assert!((major.length() - 9.0).abs() < 1e-3 && (minor - 2.0).abs() < 1e-3);
            assert!(major.perp_dot(p).abs() < 0.05, "{major}");
        }
    }

    #[test]
    fn hostile_partials_select_something() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, 1e-40] {
            let f = Footprint::new([Vec2::new(bad, 1.0), Vec2::new(0.0, bad)], Vec2::splat(4096.0));
            for mode in MipMode::NAMED.map(|(_, mode)| mode) {
                let s = f.select(mode, 0.0);
                assert!(s.level.is_finite() && s.spread.is_finite() && s.probes <= MAX_PROBES, "{bad} {mode:?} {s:?}");
            }
        }
    }
}
