//! Measured BRDFs in the format of MERL (Matusik et al., "A data-driven reflectance model", 2003): isotropic, tabulated
//! over the angles of the half vector and of the difference to it (Rusinkiewicz, "A new change of variables for
//! efficient BRDF representation", 1998). Each entry stands for the middle of its cell; values between are
//! interpolated.
//!
//! Tables stay in memory as long as the process runs, so that lobes may point to them.

use super::albedo;
use crate::math::{Distribution, between, cosine_hemisphere, split};
use glam::{Vec2, Vec3};
use ssl_compiler::input;
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2, PI, TAU};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Cells along the half vector's angle, which are finer near the normal; along that of the difference, and along its azimuth,
/// of which one half says all.
const HALF: usize = 90;
const DIFFERENCE: usize = 90;
const AZIMUTH: usize = 180;
/// Of a file; one with all cells has 35 MB.
const MOST_BYTES: u64 = 1 << 26;
const CELLS: usize = HALF * DIFFERENCE * AZIMUTH;

pub struct Merl {
    /// The azimuth runs fastest, then the difference.
    values: Vec<Vec3>,
    /// Over the half vector's cells.
    halves: Distribution,
    /// How often directions are drawn by their half vectors, else by the cosine.
    highlight: f32,
    pub albedo: Vec3,
}

impl fmt::Debug for Merl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merl").field("highlight", &self.highlight).field("albedo", &self.albedo).finish_non_exhaustive()
    }
}

static TABLES: [OnceLock<Merl>; 64] = [const { OnceLock::new() }; 64];

/// The table of a number that [`load`] gave.
pub fn table(number: i32) -> Option<&'static Merl> {
    TABLES.get(usize::try_from(number).ok()?)?.get()
}

/// The number of a file's table, which is read unless one of the same contents was; what is wrong with it.
pub fn load(path: &Path) -> Result<i32, String> {
    static KNOWN: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    let bytes = input::bytes(path, MOST_BYTES).map_err(|e| e.to_string())?;
    let contents = xxh3_64(&bytes);
    // Nothing is left half done by whoever panicked.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = known.iter().position(|k| *k == contents) {
        return Ok(number as i32);
    }
    let number = known.len();
    let place = TABLES.get(number).ok_or_else(|| format!("there are {} measured materials already", TABLES.len()))?;
    let merl = Merl::parse(&bytes)?;
    place.get_or_init(|| merl);
    known.push(contents);
    Ok(number as i32)
}

impl Merl {
    /// Of a file's bytes: three 32-bit numbers of cells, then red, green and blue as 64-bit floats, all little-endian.
    pub fn parse(bytes: &[u8]) -> Result<Merl, String> {
        const HEAD: usize = 12;
        /// What the format's numbers are multiplied with.
        const SCALES: [f64; 3] = [1.0 / 1500.0, 1.15 / 1500.0, 1.66 / 1500.0];
        let head = bytes.get(..HEAD).ok_or("it is too short")?;
        let sizes: Vec<i32> = head.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
        if sizes != [HALF as i32, DIFFERENCE as i32, AZIMUTH as i32] {
            return Err(format!("it begins with {sizes:?}, not with [{HALF}, {DIFFERENCE}, {AZIMUTH}]"));
        }
        let wanted = HEAD + 3 * 8 * CELLS;
        if bytes.len() != wanted {
            return Err(format!("it has {} bytes, not {wanted}", bytes.len()));
        }
        let numbers = bytes[HEAD..].as_chunks().0;
        // Where nothing could be measured there are negative numbers.
        let value = |cell: usize| {
            Vec3::from_array(
                [0, 1, 2].map(|c| (f64::from_le_bytes(numbers[c * CELLS + cell]) * SCALES[c]).max(0.0) as f32),
            )
        };
        if numbers.iter().any(|b| !f64::from_le_bytes(*b).is_finite()) {
            return Err("it holds what is no number".to_owned());
        }
        Ok(Merl::of((0..CELLS).map(value).collect()))
    }

    fn of(values: Vec<Vec3>) -> Merl {
        let means: Vec<f32> = (0..HALF).map(|cell| mean_of_row(&values, cell)).collect();
        // What is there whatever the half vector, and what is there beyond it. Grazing rows were hardly measured.
        let base = means.iter().take(HALF * 4 / 5).copied().fold(f32::INFINITY, f32::min);
        let weight = |cell: usize| {
            let facing = (1.0 - 2.0 * middle(cell)).max(0.0);
            (means[cell] - 0.98 * base).max(1e-6) * solid_angle(cell) * facing
        };
        let (beyond, cosine) = ((0..HALF).map(|c| 4.0 * weight(c)).sum::<f32>(), PI * base);
        let halves = Distribution::new((0..HALF).map(weight));
        let highlight = (beyond / (beyond + cosine).max(f32::MIN_POSITIVE)).clamp(0.1, 0.9);
        let mut merl = Merl { values, halves, highlight, albedo: Vec3::ZERO };
        let slanted = Vec3::new(0.6, 0.0, 0.8);
        merl.albedo = albedo::lattice(256).map(|u| merl.weight(slanted, u)).sum::<Vec3>() / 256.0;
        merl
    }

    fn weight(&self, o: Vec3, u: Vec2) -> Vec3 {
        let i = self.sample(o, u);
        let pdf = self.pdf(o, i);
        if pdf > 0.0 { self.at(o, i) * (i.z / pdf) } else { Vec3::ZERO }
    }

    /// The BRDF for two local directions above the surface.
    pub fn at(&self, o: Vec3, i: Vec3) -> Vec3 {
        let [half, difference, azimuth] = rusinkiewicz(o, i);
        let (h, along_h) = cells((half / FRAC_PI_2).sqrt(), HALF);
        let (d, along_d) = cells(difference / FRAC_PI_2, DIFFERENCE);
        // The azimuth goes round.
        let place = azimuth * FRAC_1_PI * AZIMUTH as f32 + AZIMUTH as f32 - 0.5;
        let (a, along_a) = (place as usize % AZIMUTH, place.fract());
        let next = (a + 1) % AZIMUTH;
        let row = |h: usize, d: usize| {
            let row = &self.values[(h * DIFFERENCE + d) * AZIMUTH..][..AZIMUTH];
            row[a].lerp(row[next], along_a)
        };
        let column = |h: usize| row(h, d).lerp(row(h, d + 1), along_d);
        column(h).lerp(column(h + 1), along_h)
    }

    /// The density of `sample`, per steradian.
    pub fn pdf(&self, o: Vec3, i: Vec3) -> f32 {
        if o.z <= 0.0 || i.z <= 0.0 {
            return 0.0;
        }
        let half = (o + i).normalize_or_zero();
        let cell = cell_of(half);
        let density = self.halves.probability(cell) / solid_angle(cell);
        let highlight = density / (4.0 * o.dot(half)).max(1e-20);
        (self.highlight * highlight + (1.0 - self.highlight) * i.z * FRAC_1_PI).min(f32::MAX)
    }

    /// A local direction, which may be below the surface.
    pub fn sample(&self, o: Vec3, u: Vec2) -> Vec3 {
        let (highlight, u) = split(u, self.highlight);
        if !highlight {
            return cosine_hemisphere(u);
        }
        let (cell, _, along) = self.halves.sample(u.y);
        let [from, to] = edges(cell);
        let s = from + (to - from) * along;
        // cos θ = 1 − 2 sin²(θ/2).
        let half = (Vec2::from_angle(TAU * u.x) * (2.0 * (s * (1.0 - s)).max(0.0).sqrt())).extend(1.0 - 2.0 * s);
        half * (2.0 * o.dot(half)) - o
    }
}

/// The mean of a row's largest channel, over differences of less than about 60° as they are met.
fn mean_of_row(values: &[Vec3], half: usize) -> f32 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for d in (0..DIFFERENCE * 2 / 3).step_by(3) {
        let weight = (2.0 * (d as f32 + 0.5) / DIFFERENCE as f32 * FRAC_PI_2).sin();
        for a in (0..AZIMUTH).step_by(6) {
            sum += weight * values[(half * DIFFERENCE + d) * AZIMUTH + a].max_element();
            weights += weight;
        }
    }
    sum / weights
}

/// The middle before a place from 0 to 1 among so many cells, and how far it is from there to the next.
fn cells(at: f32, count: usize) -> (usize, f32) {
    between((at * count as f32 - 0.5) / (count - 1) as f32, count)
}

/// sin²(θ/2) at both ends of a cell of half vectors.
fn edges(cell: usize) -> [f32; 2] {
    [cell, cell + 1].map(|edge| {
        let along = edge as f32 / HALF as f32;
        (0.5 * along * along * FRAC_PI_2).sin().powi(2)
    })
}

fn middle(cell: usize) -> f32 {
    let [from, to] = edges(cell);
    0.5 * (from + to)
}

fn solid_angle(cell: usize) -> f32 {
    let [from, to] = edges(cell);
    2.0 * TAU * (to - from)
}

fn polar_angle(v: Vec3) -> f32 {
    v.truncate().length().atan2(v.z)
}

fn cell_of(half: Vec3) -> usize {
    (((polar_angle(half) / FRAC_PI_2).sqrt() * HALF as f32) as usize).min(HALF - 1)
}

/// The angle of the half vector to the normal, that of `i` to the half vector, and its azimuth about that, 0 to π.
fn rusinkiewicz(o: Vec3, i: Vec3) -> [f32; 3] {
    let half = (o + i).normalize_or(Vec3::Z);
    let sine = half.truncate().length();
    let around = if sine > 0.0 { half.truncate() / sine } else { Vec2::X };
    // Turned so that the half vector is above the x axis, then so that it is the z axis.
    let turned = Vec2::new(around.dot(i.truncate()), around.perp_dot(i.truncate()));
    let difference = Vec3::new(half.z * turned.x - sine * i.z, turned.y, sine * turned.x + half.z * i.z);
    let azimuth = difference.y.atan2(difference.x);
    [polar_angle(half), polar_angle(difference), if azimuth < 0.0 { azimuth + PI } else { azimuth }]
}

#[cfg(test)]
pub mod tests {
    use super::super::harness;
    use super::*;

    /// A file of a BRDF that is given by the three angles.
    pub fn file(brdf: impl Fn([f32; 3]) -> f32) -> Vec<u8> {
        let mut bytes: Vec<u8> = [HALF, DIFFERENCE, AZIMUTH].iter().flat_map(|n| (*n as i32).to_le_bytes()).collect();
        for scale in [1500.0, 1500.0 / 1.15, 1500.0 / 1.66] {
            for cell in 0..CELLS {
                let at = |index: usize, count: usize| ((index % count) as f32 + 0.5) / count as f32;
                let half = at(cell / AZIMUTH / DIFFERENCE, HALF).powi(2) * FRAC_PI_2;
                let angles = [half, at(cell / AZIMUTH, DIFFERENCE) * FRAC_PI_2, at(cell, AZIMUTH) * PI];
                bytes.extend((f64::from(brdf(angles)) * scale).to_le_bytes());
            }
        }
        bytes
    }

    /// Something that depends on all three.
    pub fn analytic([half, difference, azimuth]: [f32; 3]) -> f32 {
        let fresnel = 0.3 + 0.7 * (1.0 - difference.cos()).powi(5);
        0.1 + fresnel * half.cos().powi(30) * (1.0 + 0.2 * (2.0 * azimuth).cos())
    }

    /// Against the angles by their meaning, from the derivatives of the half vector.
    #[test]
    fn a_table_gives_back_what_it_was_made_of() {
        let merl = Merl::parse(&file(analytic)).expect("it is sound");
        let pairs =
            harness::directions().into_iter().flat_map(|o| harness::directions().into_iter().map(move |i| (o, i)));
        for (o, i) in pairs.filter(|(o, i)| o != i) {
            let half = (o + i).normalize();
            let (theta, phi) = (half.z.acos(), half.y.atan2(half.x));
            let along = Vec3::new(theta.cos() * phi.cos(), theta.cos() * phi.sin(), -theta.sin());
            let across = Vec3::new(-phi.sin(), phi.cos(), 0.0);
            let expected = analytic([theta, i.dot(half).min(1.0).acos(), i.dot(across).atan2(i.dot(along))]);
            let found = merl.at(o, i);
            assert!((found - expected).abs().max_element() < 0.01 * expected, "{o} {i}: {found} {expected}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(Merl::parse(b"short").is_err_and(|why| why.contains("too short")));
        let mut bytes = file(|_| 0.1);
        bytes.pop();
        assert!(Merl::parse(&bytes).is_err_and(|why| why.contains("bytes")));
        bytes.push(0);
        bytes[12..20].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(Merl::parse(&bytes).is_err_and(|why| why.contains("no number")));
        bytes[0] = 91;
        assert!(Merl::parse(&bytes).is_err_and(|why| why.contains("[91, 90, 180]")));
    }
}
