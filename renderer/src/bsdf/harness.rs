//! What every non-specular lobe must pass: samples distributed as `pdf` says (chi-square), a density that
//! integrates to no more than 1, `eval`, `sample` and `pdf` in agreement, reciprocity, no energy gained.

use super::Lobe;
use crate::math::Frame;
use crate::sampler::Sampler;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Makes the lobe under test for a `wo` and a normal.
pub type MakeLobe<'a> = &'a dyn Fn(Vec3, Vec3) -> Lobe;

/// Outgoing directions about +z, from the normal down to grazing.
pub fn directions() -> Vec<Vec3> {
    [(1.0, 0.0), (0.8, 0.5), (0.4, 2.0), (0.1, 4.0), (0.01, 5.5)]
        .iter()
        .map(|&(z, phi): &(f32, f32)| Vec2::from_angle(phi).extend(0.0) * (1.0 - z * z).sqrt() + Vec3::Z * z)
        .collect()
}

pub fn check(name: &str, make: MakeLobe<'_>) {
    for wo in directions() {
        let lobe = make(wo, Vec3::Z);
        chi_square(name, &lobe, wo);
        agreement(name, &lobe, wo);
        assert!(albedo(&lobe, wo) < 1.002, "{name} gains energy at {wo}");
        reciprocity(name, make, wo);
        turning(name, make, wo);
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

/// Counts of samples in cells of (cos θ, φ) over the upper hemisphere against the integral of `pdf`.
fn chi_square(name: &str, lobe: &Lobe, wo: Vec3) {
    let mut counts = vec![0.0_f64; ROWS * COLUMNS];
    for s in (0..SAMPLES).filter_map(|i| lobe.sample(wo, draw(i))) {
        let row = ((s.wi.z * ROWS as f32) as usize).min(ROWS - 1);
        let column = ((s.wi.y.atan2(s.wi.x).rem_euclid(TAU) / TAU * COLUMNS as f32) as usize).min(COLUMNS - 1);
        counts[row * COLUMNS + column] += 1.0;
    }
    let expected: Vec<f64> = (0..ROWS * COLUMNS).map(|c| cell_integral(lobe, wo, c) * f64::from(SAMPLES)).collect();
    let total: f64 = expected.iter().sum::<f64>() / f64::from(SAMPLES);
    assert!(total < 1.005, "{name} at {wo}: pdf integrates to {total}");
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
    assert!(deviations < 5.0, "{name} at {wo}: χ² = {statistic:.1} over {cells} cells ({deviations:.1} deviations)");
}

fn cell_integral(lobe: &Lobe, wo: Vec3, cell: usize) -> f64 {
    const FINE: usize = 24;
    let (row, column) = (cell / COLUMNS, cell % COLUMNS);
    let mut sum = 0.0;
    for i in 0..FINE * FINE {
        let z = (row as f32 + ((i / FINE) as f32 + 0.5) / FINE as f32) / ROWS as f32;
        let phi = (column as f32 + ((i % FINE) as f32 + 0.5) / FINE as f32) / COLUMNS as f32 * TAU;
        let wi = (Vec2::from_angle(phi) * (1.0 - z * z).sqrt()).extend(z);
        sum += f64::from(lobe.pdf(wo, wi));
    }
    sum / (FINE * FINE) as f64 * f64::from(TAU) / (ROWS * COLUMNS) as f64
}

/// A sample's pdf is that of `pdf`, its weight `eval/pdf`.
fn agreement(name: &str, lobe: &Lobe, wo: Vec3) {
    for s in (0..500).filter_map(|i| lobe.sample(wo, draw(i))) {
        assert!((s.wi.length() - 1.0).abs() < 1e-4, "{name}");
        let pdf = lobe.pdf(wo, s.wi);
        assert!((pdf - s.pdf).abs() <= 1e-3 * pdf, "{name} at {wo}: pdf {pdf} against {}", s.pdf);
        // Near the horizon a rounded wi changes the cosine by more than the lobe does.
        if s.wi.z > 1e-3 {
            let weight = lobe.eval(wo, s.wi) / pdf;
            assert!((weight - s.weight).abs().max_element() < 5e-3, "{name} at {wo}, {}: {weight} {}", s.wi, s.weight);
        }
    }
}

/// The directional albedo, by the lobe's own sampling.
pub fn albedo(lobe: &Lobe, wo: Vec3) -> f32 {
    let weight = |i| lobe.sample(wo, draw(i)).map_or(0.0, |s| f64::from(s.weight.x));
    ((0..SAMPLES).map(weight).sum::<f64>() / f64::from(SAMPLES)) as f32
}

/// The BSDF itself, without the cosine, is symmetric.
fn reciprocity(name: &str, make: MakeLobe<'_>, wo: Vec3) {
    for wi in directions() {
        let there = make(wo, Vec3::Z).eval(wo, wi) / wi.z;
        let back = make(wi, Vec3::Z).eval(wi, wo) / wo.z;
        assert!((there - back).abs().max_element() <= 2e-3 * there.max_element().max(1e-3), "{name}: {there} {back}");
    }
}

/// A lobe does not know where in the world it is: turned with its normal it gives the same.
fn turning(name: &str, make: MakeLobe<'_>, wo: Vec3) {
    let frame = Frame::about(Vec3::new(0.3, -0.8, -0.52).normalize());
    for wi in directions() {
        let here = make(wo, Vec3::Z).eval(wo, wi);
        let (o, i) = (frame.to_world(wo), frame.to_world(wi));
        let there = make(o, frame.n).eval(o, i);
        assert!((here - there).abs().max_element() <= 0.02 * here.max_element().max(1e-3), "{name}: {here} {there}");
    }
}
