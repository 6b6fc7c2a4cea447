//! From the partials of texture coordinates to levels and probes: which texels one sample stands for.
//!
//! The unit steps of the film map to an ellipse in the texture, and a sample stands for the Gaussian over it whose
//! standard deviations are half its semi-axes a ≥ b: the filter of EWA (Heckbert 1989) at its usual width. A trilinear
//! look-up at the level whose texels are b long is nearly that Gaussian for a = b: the tent between texel centers and the
//! box that made the texels have b²/6 + b²/12 of variance together, which is (b/2)². So an ellipse is covered by such
//! look-ups along its longer axis, weighted by a Gaussian of the variance that is missing there, (a² − b²)/4.

use super::mip_mode::MipMode;
use super::wrap::floor;
use glam::Vec2;
use ssl_compiler::runtime::LANES;
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
    pub probes: u32,
    /// The standard deviation of the probes, in texels of level 0.
    pub spread: Vec2,
}

/// Ellipses that are longer than this times their width are widened: blurred rather than aliased.
pub const MAX_ANISOTROPY: f32 = 16.0;
/// Probes for such an ellipse.
pub const MAX_PROBES: usize = 18;
/// Probes for one length of the shorter axis: their distance is then less than the probes are wide.
const PROBES_PER_LENGTH: f32 = 1.125;

// All of this runs on several lanes of a request at once: the compiler makes vector code of it as long as nothing
// branches, so both sides of a choice are computed and one is picked.
impl Footprint {
    /// In texels of level 0, from partials of texture coordinates by film steps. What is not finite counts as 0, and
    /// what is past all sizes as a step across the texture many times over.
    #[inline(always)]
    pub fn new(duv: [Vec2; 2], size: Vec2) -> Footprint {
        // Fourth powers of these and their sums still fit.
        const FAR: f32 = 1e9;
        let clean = |d: Vec2| {
            let known = (d.x.abs() < f32::INFINITY) & (d.y.abs() < f32::INFINITY);
            let of = |t: f32| pick(known, larger(smaller(t, FAR), -FAR), 0.0);
            Vec2::new(of(d.x * size.x), of(d.y * size.y))
        };
        Footprint { x: clean(duv[0]), y: clean(duv[1]) }
    }

    /// The level that `mode` chooses, `bias` levels coarser.
    #[inline(always)]
    pub fn select(&self, mode: MipMode, bias: f32) -> Selection {
        let one = |level: f32| Selection { level, probes: 1, spread: Vec2::ZERO };
        let whole = |level: f32| one(floor(level).0 as f32);
        let longest = larger(self.x.length(), self.y.length());
        match mode {
            MipMode::Nearest => whole(level_of(self.largest_partial()) + bias),
            MipMode::Bilinear => whole(level_of(longest) + bias + 0.5),
            MipMode::Trilinear => one(level_of(longest) + bias),
            MipMode::Aniso | MipMode::Stochastic | MipMode::Auto => self.ellipse(bias),
        }
    }

    #[inline(always)]
    fn largest_partial(&self) -> f32 {
        let of = |d: Vec2| larger(d.x.abs(), d.y.abs());
        larger(of(self.x), of(self.y))
    }

    #[inline(always)]
    fn ellipse(&self, bias: f32) -> Selection {
        let Axes { long: a, short: b, direction } = self.axes();
        // Below a texel's length the image itself is what blurs.
        let width = larger(larger(b, a / MAX_ANISOTROPY), 1.0);
        let is_round = a <= width;
        let (whole, rest) = floor(a / width * PROBES_PER_LENGTH);
        let probes = (whole + i32::from(rest > 0.0)).clamp(2, MAX_PROBES as i32) as u32;
        // What is missing is 0 where the ellipse is round.
        let missing = 0.5 * larger(a * a - width * width, 0.0).sqrt();
        Selection {
            level: level_of(pick(is_round, a, width)) + bias,
            probes: if is_round { 1 } else { probes },
            spread: direction * missing,
        }
    }

    /// The singular values of the Jacobian, and the direction that belongs to the larger.
    #[inline(always)]
    fn axes(&self) -> Axes {
        // The Jacobian times its transpose, [[a, b], [b, c]].
        let (a, b) = (self.x.x * self.x.x + self.y.x * self.y.x, self.x.x * self.x.y + self.y.x * self.y.y);
        let c = self.x.y * self.x.y + self.y.y * self.y.y;
        let (middle, reach) = (0.5 * (a + c), (0.25 * (a - c) * (a - c) + b * b).sqrt());
        let long = (middle + reach).sqrt();
        // The determinant over the longer: the difference middle − reach would cancel.
        let short = pick(long > 0.0, self.x.perp_dot(self.y).abs() / long, 0.0);
        // Of the two forms of the eigenvector, the one whose entries do not cancel.
        let sure = 0.5 * (a - c).abs() + reach;
        let (x, y) = (pick(a >= c, sure, b), pick(a >= c, b, sure));
        let length = (x * x + y * y).sqrt();
        let direction = Vec2::new(pick(length > 0.0, x / length, 1.0), pick(length > 0.0, y / length, 0.0));
        Axes { long, short, direction }
    }
}

/// The ellipse that the unit circle of film steps maps to: its semi-axes, and where the longer points.
struct Axes {
    long: f32,
    short: f32,
    direction: Vec2,
}

#[inline(always)]
fn pick(which: bool, yes: f32, no: f32) -> f32 {
    if which { yes } else { no }
}

/// As processors have it: the second where one is no number.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Where the lanes of a request look: u, v, and how far film steps go, ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
pub struct Places {
    pub rows: [[f32; LANES]; 6],
    /// The levels to read, where the look-up names them: how far film steps go is of no meaning then.
    pub levels: Option<[f32; LANES]>,
    /// Lanes whose path was scattered on its way, a bit each: see [`MipMode::Auto`].
    pub scattered: u32,
    /// For those, the number of the look-up among all that the lane's shader makes: each draws for itself.
    pub turn: [u32; LANES],
}

impl Places {
    pub const EMPTY: Places = Places { rows: [[0.0; LANES]; 6], levels: None, scattered: 0, turn: [0; LANES] };

    /// One look-up, in lane 0.
    pub fn one(uv: Vec2, duv: [Vec2; 2]) -> Places {
        let mut places = Places::EMPTY;
        places.set(0, uv, duv);
        places
    }

    /// The look-up of a lane: its coordinates, and their partials by film x and y.
    pub fn set(&mut self, lane: usize, uv: Vec2, duv: [Vec2; 2]) {
        for (row, value) in self.rows.iter_mut().zip([uv.x, uv.y, duv[0].x, duv[0].y, duv[1].x, duv[1].y]) {
            row[lane] = value;
        }
    }

    pub fn uv(&self, lane: usize) -> Vec2 {
        Vec2::new(self.rows[0][lane], self.rows[1][lane])
    }

    /// What to read in the lanes of `mask` of a texture whose level 0 has `size` texels; film steps are shortened to
    /// `scale` of their length.
    pub fn select(&self, mask: u32, size: Vec2, scale: f32, mode: MipMode, bias: f32) -> Selections {
        if let Some(levels) = &self.levels {
            return Selections::named(levels, mode);
        }
        // A loop each, without choices in it.
        match mode {
            MipMode::Nearest => self.each(mask, size, scale, |f| f.select(MipMode::Nearest, bias)),
            MipMode::Bilinear => self.each(mask, size, scale, |f| f.select(MipMode::Bilinear, bias)),
            MipMode::Trilinear => self.each(mask, size, scale, |f| f.select(MipMode::Trilinear, bias)),
            MipMode::Aniso | MipMode::Stochastic | MipMode::Auto => {
                self.each(mask, size, scale, |f| f.select(MipMode::Aniso, bias))
            }
        }
    }

    #[inline(always)]
    fn each(&self, mask: u32, size: Vec2, scale: f32, select: impl Fn(&Footprint) -> Selection) -> Selections {
        let mut found = Selections { level: [0.0; LANES], probes: [1; LANES], spread: [[0.0; LANES]; 2] };
        // As many at once as there are in a register: where few are asked for, the others cost nothing.
        for first in (0..LANES).step_by(TOGETHER) {
            if mask >> first & ((1 << TOGETHER) - 1) == 0 {
                continue;
            }
            for lane in first..first + TOGETHER {
                let step = |row: usize| Vec2::new(self.rows[row][lane], self.rows[row + 1][lane]) * scale;
                let one = select(&Footprint::new([step(2), step(4)], size));
                found.level[lane] = one.level;
                found.probes[lane] = one.probes;
                found.spread[0][lane] = one.spread.x;
                found.spread[1][lane] = one.spread.y;
            }
        }
        found
    }
}

/// Lanes that are worked on at once.
const TOGETHER: usize = 4;

/// [`Selection`]s of all lanes.
pub struct Selections {
    pub level: [f32; LANES],
    pub probes: [u32; LANES],
    /// Along u, and along v.
    pub spread: [[f32; LANES]; 2],
}

impl Selections {
    /// Those of look-ups that name their levels, which neither the bias nor the samples of a pixel change.
    fn named(levels: &[f32; LANES], mode: MipMode) -> Selections {
        // Past all levels that there are, and without what is no number.
        let clean = |level: f32| if level.is_nan() { 0.0 } else { level.clamp(-64.0, 64.0) };
        let level = levels.map(|level| match mode {
            MipMode::Nearest => floor(clean(level)).0 as f32,
            MipMode::Bilinear => floor(clean(level) + 0.5).0 as f32,
            _ => clean(level),
        });
        Selections { level, probes: [1; LANES], spread: [[0.0; LANES]; 2] }
    }

    pub fn spread(&self, lane: usize) -> Vec2 {
        Vec2::new(self.spread[0][lane], self.spread[1][lane])
    }
}

/// log2 of a length in texels of level 0, to within 1e-6 and exact for powers of two; far below 0 where it is 0.
///
/// With the mantissa m near 1, ln m = 2 artanh((m − 1)/(m + 1)), of which four terms of the series are left to be summed.
#[inline(always)]
fn level_of(texels: f32) -> f32 {
    // From the middle between two powers of two, so that m is from √½ to √2.
    const MIDDLE: u32 = 0x3f35_04f3;
    let bits = larger(texels, f32::MIN_POSITIVE).to_bits().wrapping_sub(MIDDLE);
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
        assert_eq!(far.select(MipMode::Aniso, 0.0).probes, MAX_PROBES as u32);
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
            let Axes { long, short, direction } = f.axes();
            assert!((long - 9.0).abs() < 1e-3 && (short - 2.0).abs() < 1e-3);
            assert!((direction * long).perp_dot(p).abs() < 0.05, "{direction}");
        }
    }

    #[test]
    fn hostile_partials_select_something() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, 1e-40] {
            let f = Footprint::new([Vec2::new(bad, 1.0), Vec2::new(0.0, bad)], Vec2::splat(4096.0));
            for mode in MipMode::NAMED.map(|(_, mode)| mode) {
                let s = f.select(mode, 0.0);
                assert!(
                    s.level.is_finite() && s.spread.is_finite() && s.probes as usize <= MAX_PROBES,
                    "{bad} {mode:?} {s:?}"
                );
            }
        }
    }
}
