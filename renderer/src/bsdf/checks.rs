//! The checks that every lobe must pass; each gives its finding instead of a panic.

use super::albedo::lattice;
use super::harness::{MakeLobe, Pose, directions};
use super::{LobeSample, Reach, Refraction, Scatter};
use crate::math::Frame;
use crate::sampler::Sampler;
use glam::{DVec3, Vec2, Vec3};
use std::f32::consts::TAU;
use std::fmt;
use std::ops::Deref;

/// The reason why a check does not pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The lobe breaks the rule.
    Broken(String),
    /// The check cannot say.
    Unresolved(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Broken(said) | Finding::Unresolved(said) => f.write_str(said),
        }
    }
}

pub type Verdict = Result<(), Finding>;

macro_rules! ensure {
    ($holds:expr, $($said:tt)*) => {
        // A number that is none breaks every rule.
        let holds: bool = $holds;
        if !holds {
            return Err(Finding::Broken(format!($($said)*)));
        }
    };
}

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Density,
    Samples,
    Sides,
    Agreement,
    Support,
    Energy,
    Weights,
    Turning,
    Reciprocity,
    Finite,
}

impl Check {
    pub const ALL: [Check; 10] = [
        Check::Density,
        Check::Samples,
        Check::Sides,
        Check::Agreement,
        Check::Support,
        Check::Energy,
        Check::Weights,
        Check::Turning,
        Check::Reciprocity,
        Check::Finite,
    ];

    /// Its name, and the rule.
    pub fn says(self) -> (&'static str, &'static str) {
        match self {
            Check::Density => ("density", "`pdf` integrates to at most 1"),
            Check::Samples => ("samples", "`sample` is distributed as `pdf` says (chi-square test)"),
            Check::Sides => ("sides", "nothing goes to sides that `reach` does not name"),
            Check::Agreement => ("agreement", "`eval`, `pdf`, `sample` and `eval_and_pdf` agree"),
            Check::Support => ("support", "samples reach whatever `eval` scatters, and `rho` is not 0 then"),
            Check::Energy => ("energy", "no more light leaves than arrives"),
            Check::Weights => ("weights", "no sample carries many times its share"),
            Check::Turning => ("turning", "it does not depend on where in space it stands"),
            Check::Reciprocity => ("reciprocity", "both directions may change places"),
            Check::Finite => ("finite", "nothing is NaN, negative or of infinite density"),
        }
    }

    /// Specular lobes have no values and densities that these could ask for.
    fn asks_values(self) -> bool {
        !matches!(self, Check::Energy | Check::Weights | Check::Finite)
    }

    /// The check of the lobe that `make` makes for this pose; `None` where there is nothing to check.
    pub fn run<L: Deref<Target = dyn Scatter>>(
        self,
        make: MakeLobe<'_, L>,
        pose: &Pose,
        limits: &Limits,
    ) -> Option<Verdict> {
        let (lobe, wo) = (make(pose), pose.wo);
        let lobe = &*lobe;
        if lobe.is_specular() && self.asks_values() {
            return None;
        }
        Some(match self {
            Check::Density => density(lobe, wo),
            Check::Samples => chi_square(lobe, wo),
            Check::Sides => sides(lobe, wo),
            Check::Agreement => agreement(lobe, wo),
            Check::Support => reached(lobe, wo),
            Check::Energy => energy(lobe, wo, limits.albedo),
            Check::Weights => weights(lobe, wo, limits.weight),
            Check::Turning => turning(make, pose),
            Check::Reciprocity => reciprocity(make, pose),
            Check::Finite => finite(lobe),
        })
    }
}

/// How much light a lobe may scatter, and how much a sample may carry.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub albedo: f32,
    pub weight: f32,
}

/// A cosine-weighted sample weighs 25 for Lommel and Seeliger's law at a hundredth above the horizon. A much heavier
/// sample is a firefly.
impl Default for Limits {
    fn default() -> Limits {
        Limits { albedo: 1.002, weight: 64.0 }
    }
}

/// The checks of a lobe alone: its distribution, and that its samples agree with it.
pub fn distribution(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    chi_square(lobe, wo)?;
    sides(lobe, wo)?;
    agreement(lobe, wo)?;
    reached(lobe, wo)
}

const ROWS: usize = 12;
const COLUMNS: usize = 24;
const SAMPLES: u32 = 1 << 15;

fn draw(i: u32) -> Vec2 {
    // Independent points: a chi-square test of a low-discrepancy sequence would be too easy.
    let mut s = Sampler::new(i, (77, i ^ 0x5555), 0);
    s.next_2d()
}

/// The rows of cells that a lobe reaches: z from −1 to 0, then from 0 to 1.
fn rows(lobe: &dyn Scatter) -> std::ops::Range<usize> {
    match lobe.reach() {
        Reach::Transmits => 0..ROWS,
        Reach::Reflects => ROWS..2 * ROWS,
        Reach::Both => 0..2 * ROWS,
    }
}

/// Counts of samples in cells of (cos θ, φ) against the integral of `pdf`.
fn chi_square(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    let mut counts = vec![0.0_f64; 2 * ROWS * COLUMNS];
    let points: Vec<Vec2> = (0..SAMPLES).map(draw).collect();
    for s in lobe.samples(wo, &points).into_iter().flatten() {
        let row = (((s.wi.z + 1.0) * ROWS as f32) as usize).min(2 * ROWS - 1);
        let column = ((s.wi.y.atan2(s.wi.x).rem_euclid(TAU) / TAU * COLUMNS as f32) as usize).min(COLUMNS - 1);
        counts[row * COLUMNS + column] += 1.0;
    }
    let cells = rows(lobe).start * COLUMNS..rows(lobe).end * COLUMNS;
    let counts = &counts[cells.clone()];
    let expected: Vec<f64> = cells.map(|c| cell_integral(lobe, wo, (c, FINE)) * f64::from(SAMPLES)).collect();
    // Cells that expect few samples are pooled, in order of their expectation.
    let mut order: Vec<usize> = (0..expected.len()).collect();
    order.sort_by(|&a, &b| expected[a].total_cmp(&expected[b]));
    let (mut statistic, mut cells, mut pool) = (0.0, 0_u32, (0.0, 0.0));
    for i in order {
        pool = (pool.0 + counts[i], pool.1 + expected[i]);
        if pool.1 >= 10.0 {
            statistic += (pool.0 - pool.1) * (pool.0 - pool.1) / pool.1;
            cells += 1;
            pool = (0.0, 0.0);
        }
    }
    // Samples that were refused are a cell of their own, so the cells are not tied to each other.
    let k = f64::from(cells);
    // Wilson and Hilferty: (χ²/k)^(1/3) is nearly normal. Five deviations out in one test of 3.5 million.
    let deviations = ((statistic / k).cbrt() - (1.0 - 2.0 / (9.0 * k))) / (2.0 / (9.0 * k)).sqrt();
    ensure!(
        deviations < 5.0,
        "samples are not distributed as the density says: χ² = {statistic:.1} over {cells} cells, {deviations:.1} standard \
         deviations too many"
    );
    Ok(())
}

/// The integral of the density, and whether half as many directions give the same: they miss a narrow highlight.
fn density(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    let cells = rows(lobe).start * COLUMNS..rows(lobe).end * COLUMNS;
    let [fine, coarse] = [FINE, FINE / 2].map(|n| cells.clone().map(|c| cell_integral(lobe, wo, (c, n))).sum::<f64>());
    if (fine - coarse).abs() > 0.01 {
        return Err(Finding::Unresolved(format!(
            "the highlight is too narrow: its density integrates to {fine:.3} or {coarse:.3}"
        )));
    }
    ensure!(fine < 1.005, "the density integrates to {fine:.4}, more than 1");
    Ok(())
}

/// Directions along each side of a cell.
const FINE: usize = 24;

fn cell_integral(lobe: &dyn Scatter, wo: Vec3, (cell, fine): (usize, usize)) -> f64 {
    let (row, column) = (cell / COLUMNS, cell % COLUMNS);
    // Evenly in θ: about the poles, where narrow lobes are, steps of z would be too wide.
    let theta = |row: usize| (row as f32 / ROWS as f32 - 1.0).acos();
    let (from, height) = (theta(row), theta(row + 1) - theta(row));
    let theta_of = |i: usize| from + height * ((i / fine) as f32 + 0.5) / fine as f32;
    let direction = |i: usize| {
        let phi = (column as f32 + ((i % fine) as f32 + 0.5) / fine as f32) / COLUMNS as f32 * TAU;
        (Vec2::from_angle(phi) * theta_of(i).sin()).extend(theta_of(i).cos())
    };
    let directions: Vec<Vec3> = (0..fine * fine).map(direction).collect();
    let densities = lobe.pdfs(wo, &directions).into_iter().enumerate();
    let sum: f64 = densities.map(|(i, pdf)| f64::from(pdf * theta_of(i).sin())).sum();
    sum / (fine * fine) as f64 * f64::from(height.abs() * TAU) / COLUMNS as f64
}

/// Nothing on the sides that the lobe does not reach.
fn sides(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    let unreached = match lobe.reach() {
        Reach::Reflects => -1.0,
        Reach::Transmits => 1.0,
        Reach::Both => return Ok(()),
    };
    for wi in directions().into_iter().map(|wi| wi.truncate().extend(unreached * wi.z)) {
        ensure!(
            lobe.eval(wo, wi) == Vec3::ZERO && lobe.pdf(wo, wi) == 0.0,
            "it scatters to {wi}, a side that it does not reach"
        );
    }
    Ok(())
}

/// A sample's pdf equals `pdf`, its weight equals `eval/pdf`, and `eval_and_pdf` equals both. It is refracted if it is
/// on the other side.
fn agreement(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    for s in (0..500).filter_map(|i| lobe.sample(wo, draw(i))) {
        ensure!((s.wi.length() - 1.0).abs() < 1e-4, "a sample's direction {} is not of unit length", s.wi);
        ensure!(s.refracted.is_some() == (s.wi.z < 0.0), "a sample to {} is on the wrong side", s.wi);
        // Near the horizon a rounded wi changes the cosine by more than the lobe does.
        if s.wi.z.abs() > 1e-3 {
            let (value, pdf) = (lobe.eval(wo, s.wi), lobe.pdf(wo, s.wi));
            let (same_value, same_pdf) = lobe.eval_and_pdf(wo, s.wi);
            ensure!((same_pdf - pdf).abs() <= 1e-4 * pdf, "`pdf` gives {pdf}, `eval_and_pdf` {same_pdf}, at {}", s.wi);
            let apart = (same_value - value).abs().max_element();
            ensure!(
                apart <= 1e-4 * value.max_element(),
                "`eval` gives {value}, `eval_and_pdf` {same_value}, at {}",
                s.wi
            );
            ensure!((pdf - s.pdf).abs() <= 2e-3 * pdf, "`pdf` gives {pdf}, `sample` {}, at {}", s.pdf, s.wi);
            let weight = value / pdf;
            let wrong = (weight - s.weight).abs().max_element();
            ensure!(
                wrong < 5e-3 * s.weight.max_element().max(1.0),
                "`eval` over `pdf` is {weight}, and `sample` weighs {}, at {}",
                s.weight,
                s.wi
            );
        }
    }
    Ok(())
}

/// Samples reach every direction that the lobe scatters to: otherwise light that only samples find would be lost.
fn reached(lobe: &dyn Scatter, wo: Vec3) -> Verdict {
    for wi in directions().into_iter().flat_map(|wi| [wi, wi.truncate().extend(-wi.z)]) {
        let (value, pdf) = lobe.eval_and_pdf(wo, wi);
        ensure!(
            value == Vec3::ZERO || (pdf > 0.0 && lobe.albedo() != Vec3::ZERO),
            "it scatters {value} from {wi}, and its samples never go there: density {pdf}, `rho` {}",
            lobe.albedo()
        );
    }
    Ok(())
}

/// The directional albedo, by the lobe's own sampling; energy, not radiance.
pub fn albedo(lobe: &dyn Scatter, wo: Vec3) -> f32 {
    (energies(lobe, wo).map(|e| f64::from(e.x)).sum::<f64>() / f64::from(SAMPLES)) as f32
}

/// The energies of samples that carry something: radiance is scaled by the square of the index.
fn energies(lobe: &dyn Scatter, wo: Vec3) -> impl Iterator<Item = Vec3> {
    let points: Vec<Vec2> = lattice(SAMPLES).collect();
    lobe.samples(wo, &points).into_iter().flatten().map(|s| s.energy())
}

fn energy(lobe: &dyn Scatter, wo: Vec3, greatest: f32) -> Verdict {
    let sum: DVec3 = energies(lobe, wo).map(|e| e.as_dvec3()).sum();
    let most = (sum / f64::from(SAMPLES)).max_element();
    ensure!(most < f64::from(greatest), "it scatters {most:.4} of the light, more than arrives");
    Ok(())
}

/// The greatest energy that one sample carries.
pub fn greatest_weight(lobe: &dyn Scatter, wo: Vec3) -> f32 {
    energies(lobe, wo).fold(0.0, |most, e| e.max_element().max(most))
}

/// Samples that carry many times their share of the light are fireflies.
fn weights(lobe: &dyn Scatter, wo: Vec3, greatest: f32) -> Verdict {
    let most = greatest_weight(lobe, wo);
    ensure!(most <= greatest, "a sample weighs {most:.2}, more than {greatest}");
    Ok(())
}

/// The BSDF itself, without the cosine, is symmetric where both directions are on one side. Across, where radiance scales
/// with the square of the index of refraction: f(o, i)/η_o² = f(i, o)/η_i² (Walter et al. 2007).
fn reciprocity<L: Deref<Target = dyn Scatter>>(make: MakeLobe<'_, L>, pose: &Pose) -> Verdict {
    let (wo, lobe) = (pose.wo, make(pose));
    let refracted = |i| lobe.sample(wo, draw(i)).and_then(|s| s.refracted);
    let eta = (0..500).find_map(refracted).map_or(1.0, |Refraction { eta }| eta);
    for up in directions() {
        for (wi, scale) in [(up, 1.0), (up.truncate().extend(-up.z), eta * eta)] {
            let there = lobe.eval(wo, wi) / up.z * scale;
            let back = make(&pose.seen_from(wi)).eval(wi, wo) / wo.z;
            let same = (there - back).abs().max_element() <= 2e-3 * there.max_element().max(1e-3);
            ensure!(same, "it scatters {there} from {wi} to {wo}, and {back} back");
        }
    }
    Ok(())
}

/// A lobe does not know where in the world it is: turned with its normal it gives the same.
fn turning<L: Deref<Target = dyn Scatter>>(make: MakeLobe<'_, L>, pose: &Pose) -> Verdict {
    let frame = Frame::about(Vec3::new(0.3, -0.8, -0.52).normalize());
    let o = frame.to_world(pose.wo);
    let turned = make(&Pose { wo: o, normal: frame.n, tangent: frame.s, inside: pose.inside });
    let lobe = make(pose);
    for up in directions() {
        for wi in [up, up.truncate().extend(-up.z)] {
            let here = lobe.eval(pose.wo, wi);
            let there = turned.eval(o, frame.to_world(wi));
            ensure!(
                (here - there).abs().max_element() <= 0.02 * here.max_element().max(1e-3),
                "it scatters {here} from {wi}, and {there} where all is turned in space"
            );
        }
    }
    Ok(())
}

/// No NaN, nothing negative and no infinite density, wherever the directions are.
pub fn finite(lobe: &dyn Scatter) -> Verdict {
    let n = lobe.normal();
    ensure!((n.length() - 1.0).abs() < 1e-3, "its normal is {n}");
    sound(format_args!("`rho`"), lobe.albedo())?;
    let along = Frame::about(n);
    let slanted = (n + along.s * 2.0).normalize();
    let directions = [n, slanted, along.t, (along.s + n * 1e-6).normalize(), (along.s + n * 1e-30).normalize()];
    for wo in directions.into_iter().chain([-n, -slanted, Vec3::ZERO]) {
        for wi in directions.into_iter().flat_map(|d| [d, -d]).chain([wo, -wo]) {
            sound(format_args!("the value from {wi} to {wo}"), lobe.eval(wo, wi))?;
            let pdf = lobe.pdf(wo, wi);
            ensure!(pdf.is_finite() && pdf >= 0.0, "the density of {wi} seen from {wo} is {pdf}");
        }
        if wo == Vec3::ZERO {
            continue;
        }
        const U: [f32; 5] = [0.0, 1e-7, 0.25, 0.7, 1.0_f32.next_down()];
        for u in U.into_iter().flat_map(|x| U.map(|y| Vec2::new(x, y))) {
            lobe.sample(wo, u)
                .map_or(Ok(()), |s| sound_sample(format_args!("the sample for {u} seen from {wo}"), &s))?;
        }
        for s in lobe.specular_directions(wo) {
            sound_sample(format_args!("a specular direction seen from {wo}"), &s)?;
        }
        sound(format_args!("the directional albedo seen from {wo}"), lobe.directional_albedo(wo))?;
    }
    Ok(())
}

fn sound(what: std::fmt::Arguments<'_>, v: Vec3) -> Verdict {
    ensure!(v.cmpge(Vec3::ZERO).all(), "{what} is {v}");
    Ok(())
}

fn sound_sample(what: std::fmt::Arguments<'_>, s: &LobeSample) -> Verdict {
    sound(what, s.weight)?;
    ensure!(s.pdf.is_finite() && s.pdf > 0.0 && (s.wi.length() - 1.0).abs() < 1e-3, "{what} is {s:?}");
    Ok(())
}
