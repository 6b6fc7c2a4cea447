//! What every non-specular lobe must pass: samples distributed as `pdf` says (chi-square) over the sides that it
//! reaches, and none on others; a density that integrates to no more than 1; `eval`, `sample` and `pdf` in agreement;
//! reciprocity; no gain of energy; finite numbers at grazing and degenerate directions. Every closure must give usable
//! lobes whatever its parameters. The renderer's own lobes pass it, and hosts can test theirs: if something is wrong,
//! the functions here panic with the given name, the direction and both numbers.

use super::albedo::lattice;
use super::{ClosureKind, Lobe, LobeSample, Lobes, Place, Reach, Refraction, Scatter, SurfaceClosure};
use crate::math::Frame;
use crate::sampler::Sampler;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{LANES, Row};
use std::f32::consts::TAU;
use std::ops::Deref;

/// How a surface under test lies, and where it is seen from.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    pub wo: Vec3,
    /// The shading normal and the geometric one, on the side of `wo`.
    pub normal: Vec3,
    /// Unit length, at right angles to the normal.
    pub tangent: Vec3,
    /// `wo` is in what lies behind the surface.
    pub inside: bool,
}

impl Pose {
    /// With the normal along z and the tangent along x.
    pub fn upright(wo: Vec3) -> Pose {
        Pose { wo, normal: Vec3::Z, tangent: Vec3::X, inside: false }
    }

    pub fn place(&self) -> Place {
        Place { wo: self.wo, gnormal: self.normal, inside: self.inside }
    }

    /// The same surface seen from `wo`, which may be on its other side.
    fn seen_from(&self, wo: Vec3) -> Pose {
        let behind = wo.dot(self.normal) < 0.0;
        Pose { wo, normal: if behind { -self.normal } else { self.normal }, inside: self.inside != behind, ..*self }
    }
}

/// Makes the lobe under test: a [`Lobe`], or a `Box<dyn Scatter>`.
pub type MakeLobe<'a, L> = &'a dyn Fn(&Pose) -> L;

/// That of a closure which stands for one of weight 1.
pub fn only_lobe(closure: &impl SurfaceClosure, pose: &Pose) -> Lobe {
    let mut list = Vec::new();
    closure.scatter(&pose.place(), &mut Lobes::new(&mut list));
    assert!(list.len() == 1 && list[0].weight == Vec3::ONE);
    list[0].lobe
}

/// Outgoing directions about +z, from the normal down to grazing.
pub fn directions() -> Vec<Vec3> {
    [(1.0, 0.0), (0.8, 0.5), (0.4, 2.0), (0.1, 4.0), (0.01, 5.5)]
        .iter()
        .map(|&(z, phi): &(f32, f32)| Vec2::from_angle(phi).extend(0.0) * (1.0 - z * z).sqrt() + Vec3::Z * z)
        .collect()
}

/// Everything.
pub fn check<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>) {
    check_within(name, make, 1.002);
    for inside in [false, true] {
        directions().iter().for_each(|&wo| reciprocity(name, make, &Pose { inside, ..Pose::upright(wo) }));
    }
}

/// Everything but reciprocity, for approximations that give it up and keep energy within 2 %.
pub fn check_one_way<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>) {
    check_within(name, make, 1.02);
}

/// Samples distributed as the density says, over the sides that the lobe reaches, and in agreement with `eval` and `pdf`.
pub fn check_distribution<L: Deref<Target = dyn Scatter>>(name: &str, lobe: &L, wo: Vec3) {
    let lobe = &**lobe;
    chi_square(name, lobe, wo);
    sides(name, lobe, wo);
    agreement(name, lobe, wo);
    reached(name, lobe, wo);
}

/// Everything but reciprocity, for models that add light: up to so much of what arrives.
pub fn check_within<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>, greatest_albedo: f32) {
    let transmits = make(&Pose::upright(Vec3::Z)).reach() != Reach::Reflects;
    for inside in [false, true] {
        // Light that is reflected does not know of the other side.
        if inside && !transmits {
            continue;
        }
        for wo in directions() {
            let pose = Pose { inside, ..Pose::upright(wo) };
            let name = &format!("{name}{} at {wo}", if inside { " from inside" } else { "" });
            let lobe = make(&pose);
            check_distribution(name, &lobe, wo);
            assert!(albedo(&lobe, wo) < greatest_albedo, "{name} gains energy: {}", albedo(&lobe, wo));
            turning(name, make, &pose);
            numbers(&name, &*lobe);
        }
    }
    for wo in [Vec3::X, Vec3::new(1.0, 0.0, 1e-6), Vec3::new(1.0, 0.0, 1e-30)] {
        numbers(&format_args!("{name} at {wo}"), &*make(&Pose::upright(wo)));
    }
}

const ROWS: usize = 12;
const COLUMNS: usize = 24;
const SAMPLES: u32 = 1 << 15;

fn draw(i: u32) -> Vec2 {
    // Independent points: a chi-square test of a low-discrepancy sequence would be too easy.
    let mut s = Sampler::new(i, (77, i ^ 0x5555), 0);
    s.next_2d()
}

/// Which rows of cells a lobe reaches: those of z from −1 to 0, then those from 0 to 1.
fn rows(lobe: &dyn Scatter) -> std::ops::Range<usize> {
    match lobe.reach() {
        Reach::Transmits => 0..ROWS,
        Reach::Reflects => ROWS..2 * ROWS,
        Reach::Both => 0..2 * ROWS,
    }
}

/// Counts of samples in cells of (cos θ, φ) against the integral of `pdf`.
fn chi_square(name: &str, lobe: &dyn Scatter, wo: Vec3) {
    let mut counts = vec![0.0_f64; 2 * ROWS * COLUMNS];
    let points: Vec<Vec2> = (0..SAMPLES).map(draw).collect();
    for s in lobe.samples(wo, &points).into_iter().flatten() {
        let row = (((s.wi.z + 1.0) * ROWS as f32) as usize).min(2 * ROWS - 1);
        let column = ((s.wi.y.atan2(s.wi.x).rem_euclid(TAU) / TAU * COLUMNS as f32) as usize).min(COLUMNS - 1);
        counts[row * COLUMNS + column] += 1.0;
    }
    let cells = rows(lobe).start * COLUMNS..rows(lobe).end * COLUMNS;
    let counts = &counts[cells.clone()];
    let expected: Vec<f64> = cells.map(|c| cell_integral(lobe, wo, c) * f64::from(SAMPLES)).collect();
    let total: f64 = expected.iter().sum::<f64>() / f64::from(SAMPLES);
    assert!(total < 1.005, "{name}: pdf integrates to {total}");
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
    assert!(deviations < 5.0, "{name}: χ² = {statistic:.1} over {cells} cells ({deviations:.1} deviations)");
}

fn cell_integral(lobe: &dyn Scatter, wo: Vec3, cell: usize) -> f64 {
    const FINE: usize = 24;
    let (row, column) = (cell / COLUMNS, cell % COLUMNS);
    // Evenly in θ: about the poles, where narrow lobes are, steps of z would be too wide.
    let theta = |row: usize| (row as f32 / ROWS as f32 - 1.0).acos();
    let (from, height) = (theta(row), theta(row + 1) - theta(row));
    let theta_of = |i: usize| from + height * ((i / FINE) as f32 + 0.5) / FINE as f32;
    let direction = |i: usize| {
        let phi = (column as f32 + ((i % FINE) as f32 + 0.5) / FINE as f32) / COLUMNS as f32 * TAU;
        (Vec2::from_angle(phi) * theta_of(i).sin()).extend(theta_of(i).cos())
    };
    let directions: Vec<Vec3> = (0..FINE * FINE).map(direction).collect();
    let densities = lobe.pdfs(wo, &directions).into_iter().enumerate();
    let sum: f64 = densities.map(|(i, pdf)| f64::from(pdf * theta_of(i).sin())).sum();
    sum / (FINE * FINE) as f64 * f64::from(height.abs() * TAU) / COLUMNS as f64
}

/// Nothing on the sides that the lobe does not reach.
fn sides(name: &str, lobe: &dyn Scatter, wo: Vec3) {
    let unreached = match lobe.reach() {
        Reach::Reflects => -1.0,
        Reach::Transmits => 1.0,
        Reach::Both => return,
    };
    for wi in directions().into_iter().map(|wi| wi.truncate().extend(unreached * wi.z)) {
        assert!(lobe.eval(wo, wi) == Vec3::ZERO && lobe.pdf(wo, wi) == 0.0, "{name} reaches {wi}");
    }
}

/// A sample's pdf is that of `pdf`, its weight `eval/pdf`, and both together are as each; it is refracted if it is on the
/// other side.
fn agreement(name: &str, lobe: &dyn Scatter, wo: Vec3) {
    for s in (0..500).filter_map(|i| lobe.sample(wo, draw(i))) {
        assert!((s.wi.length() - 1.0).abs() < 1e-4, "{name}");
        assert_eq!(s.refracted.is_some(), s.wi.z < 0.0, "{name}: {}", s.wi);
        // Near the horizon a rounded wi changes the cosine by more than the lobe does.
        if s.wi.z.abs() > 1e-3 {
            let (value, pdf) = (lobe.eval(wo, s.wi), lobe.pdf(wo, s.wi));
            let (same_value, same_pdf) = lobe.eval_and_pdf(wo, s.wi);
            assert!((same_pdf - pdf).abs() <= 1e-4 * pdf, "{name}: pdf {pdf} and {same_pdf}");
            let apart = (same_value - value).abs().max_element();
            assert!(apart <= 1e-4 * value.max_element(), "{name}: {value} and {same_value}");
            assert!((pdf - s.pdf).abs() <= 2e-3 * pdf, "{name}: pdf {pdf} against {}", s.pdf);
            let weight = value / pdf;
            let wrong = (weight - s.weight).abs().max_element();
            assert!(wrong < 5e-3 * s.weight.max_element().max(1.0), "{name}, {}: {weight} {}", s.wi, s.weight);
        }
    }
}

/// Whatever the lobe scatters its samples may find: where light is left to them, it would be lost else.
fn reached(name: &str, lobe: &dyn Scatter, wo: Vec3) {
    for wi in directions().into_iter().flat_map(|wi| [wi, wi.truncate().extend(-wi.z)]) {
        let (value, pdf) = lobe.eval_and_pdf(wo, wi);
        assert!(
            value == Vec3::ZERO || (pdf > 0.0 && lobe.albedo() != Vec3::ZERO),
            "{name}: {value} at {wi}, density {pdf}"
        );
    }
}

/// The directional albedo, by the lobe's own sampling; energy, not radiance.
pub fn albedo<L: Deref<Target = dyn Scatter>>(lobe: &L, wo: Vec3) -> f32 {
    let energy = |s: LobeSample| s.weight.x * s.refracted.map_or(1.0, |r| r.eta * r.eta);
    let points: Vec<Vec2> = lattice(SAMPLES).collect();
    let weights = lobe.samples(wo, &points).into_iter().flatten().map(|s| f64::from(energy(s)));
    (weights.sum::<f64>() / f64::from(SAMPLES)) as f32
}

/// The BSDF itself, without the cosine, is symmetric where both directions are on one side. Across, where radiance scales
/// with the square of the index of refraction: f(o, i)/η_o² = f(i, o)/η_i² (Walter et al. 2007).
fn reciprocity<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>, pose: &Pose) {
    let (wo, lobe) = (pose.wo, make(pose));
    let refracted = |i| lobe.sample(wo, draw(i)).and_then(|s| s.refracted);
    let eta = (0..500).find_map(refracted).map_or(1.0, |Refraction { eta }| eta);
    for up in directions() {
        for (wi, scale) in [(up, 1.0), (up.truncate().extend(-up.z), eta * eta)] {
            let there = lobe.eval(wo, wi) / up.z * scale;
            let back = make(&pose.seen_from(wi)).eval(wi, wo) / wo.z;
            let same = (there - back).abs().max_element() <= 2e-3 * there.max_element().max(1e-3);
            assert!(same, "{name}: {there} from {wi} to {wo}, {back} back");
        }
    }
}

/// A lobe does not know where in the world it is: turned with its normal it gives the same.
fn turning<L: Deref<Target = dyn Scatter>>(name: &str, make: MakeLobe<'_, L>, pose: &Pose) {
    let frame = Frame::about(Vec3::new(0.3, -0.8, -0.52).normalize());
    let o = frame.to_world(pose.wo);
    let turned = make(&Pose { wo: o, normal: frame.n, tangent: frame.s, inside: pose.inside });
    let lobe = make(pose);
    for up in directions() {
        for wi in [up, up.truncate().extend(-up.z)] {
            let here = lobe.eval(pose.wo, wi);
            let there = turned.eval(o, frame.to_world(wi));
            assert!(
                (here - there).abs().max_element() <= 0.02 * here.max_element().max(1e-3),
                "{name}: {here} {there}"
            );
        }
    }
}

/// No NaN, nothing negative and no infinite density, wherever the directions are.
pub fn numbers(name: &dyn std::fmt::Display, lobe: &dyn Scatter) {
    let n = lobe.normal();
    assert!((n.length() - 1.0).abs() < 1e-3, "{name}: normal {n}");
    let sound = |what: std::fmt::Arguments<'_>, v: Vec3| assert!(v.cmpge(Vec3::ZERO).all(), "{name}: {what} {v}");
    let of_sample = |what: std::fmt::Arguments<'_>, s: LobeSample| {
        sound(what, s.weight);
        assert!(s.pdf.is_finite() && s.pdf > 0.0 && (s.wi.length() - 1.0).abs() < 1e-3, "{name}: {what} {s:?}");
    };
    sound(format_args!("albedo"), lobe.albedo());
    let along = Frame::about(n);
    let slanted = (n + along.s * 2.0).normalize();
    let directions = [n, slanted, along.t, (along.s + n * 1e-6).normalize(), (along.s + n * 1e-30).normalize()];
    for wo in directions.into_iter().chain([-n, -slanted, Vec3::ZERO]) {
        for wi in directions.into_iter().flat_map(|d| [d, -d]).chain([wo, -wo]) {
            sound(format_args!("eval of {wo}, {wi}"), lobe.eval(wo, wi));
            let pdf = lobe.pdf(wo, wi);
            assert!(pdf.is_finite() && pdf >= 0.0, "{name}: pdf of {wo}, {wi} is {pdf}");
        }
        if wo == Vec3::ZERO {
            continue;
        }
        const U: [f32; 5] = [0.0, 1e-7, 0.25, 0.7, 1.0_f32.next_down()];
        for u in U.into_iter().flat_map(|x| U.map(|y| Vec2::new(x, y))) {
            lobe.sample(wo, u).into_iter().for_each(|s| of_sample(format_args!("sample of {wo} by {u}"), s));
        }
        lobe.specular_directions(wo).into_iter().for_each(|s| of_sample(format_args!("specular"), s));
        sound(format_args!("directional albedo of {wo}"), lobe.directional_albedo(wo));
    }
}

/// What no artist means and some shader computes.
const ODD: [f32; 12] =
    [0.0, 1.0, 0.5, -0.0, -1.0, 1e-30, 1e-42, 1e30, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

/// Rows of parameters, the same in all lanes: all alike at first; later some of them odd, the others ordinary.
pub fn odd_parameters() -> impl Iterator<Item = Vec<Row>> {
    (0..100_u32).map(|i| {
        let mut s = Sampler::new(i, (3, 8), 0);
        let mut parameter = || match ODD.get(i as usize) {
            Some(&odd) => odd,
            None if s.next_1d() < 0.3 => ODD[(s.next_1d() * ODD.len() as f32) as usize],
            None => s.next_1d(),
        };
        (0..64).map(|_| Row([parameter(); LANES])).collect()
    })
}

/// The lobes of a closure in Rust are usable, and what lies beneath gets a share, whatever its parameters.
pub fn stands_odd_parameters(kind: &ClosureKind) {
    let name = (kind.closure_type)().name;
    let Some(code) = kind.rust() else { panic!("the code of {name} is not Rust") };
    for rows in odd_parameters() {
        for (wo, inside) in directions().into_iter().zip([false, true, false, true, true]) {
            let (mut list, place) = (Vec::new(), Place { wo, gnormal: Vec3::Z, inside });
            (code.scatter)(&rows, 0, &place, &mut Lobes::new(&mut list));
            for l in &list {
                assert!(l.weight.is_finite() && !l.choice.is_nan(), "{name}: {l:?}");
                numbers(&format_args!("{name}: {l:?}"), &*l.lobe);
            }
            for parameter in 0..(kind.closure_type)().parameters.len() {
                let share = (code.beneath)(&rows, 0, &place, parameter);
                assert!(share.is_finite() && share.cmpge(Vec3::ZERO).all(), "{name} lets {share} pass");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn closures_stand_odd_parameters() {
        let closures = || crate::bsdf::closures().into_iter().filter(|kind| kind.rust().is_some());
        closures().chain(crate::bsdf::oracles()).for_each(|kind| super::stands_odd_parameters(&kind));
    }
}
