//! The filters along one axis: which texels of a level make a texel of the next, and with which weights.

use super::conversion::MipFilter;
use crate::texture::Wrap;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Lobes of the windowed sincs on each side, in texels of the smaller level.
const RADIUS: f64 = 3.0;

/// Kaiser's α: the window's narrowness.
const ALPHA: f64 = 4.0;

/// For each texel of the smaller level its sources: places in the larger level with weights.
pub struct Taps {
    starts: Vec<u32>,
    taps: Vec<(u32, f32)>,
}

impl Taps {
    /// Along rows, from `from` texels to `to`. Weights add up to 1, except where `wrap` is black and the filter reaches out.
    pub fn columns(filter: MipFilter, wrap: Wrap, from: u32, to: u32) -> Taps {
        Taps::new(from, to, |i| match filter {
            MipFilter::Box | MipFilter::LatLong => coverage(i, from, to, |x| x),
            MipFilter::Lanczos => windowed(i, from, to, wrap, |x| sinc(x / RADIUS)),
            MipFilter::Kaiser => windowed(i, from, to, wrap, kaiser),
        })
    }

    /// From row to row.
    pub fn rows(filter: MipFilter, wrap: Wrap, from: u32, to: u32) -> Taps {
        // The share of the sphere above a height: a square, as a difference from 1 would cancel near the pole.
        let above = |y: f64| (0.5 * PI * y / f64::from(from)).sin().powi(2);
        match filter {
            MipFilter::LatLong => Taps::new(from, to, |i| coverage(i, from, to, above)),
            _ => Taps::columns(filter, wrap, from, to),
        }
    }

    fn new(from: u32, to: u32, weights: impl Fn(u32) -> BTreeMap<u32, f64>) -> Taps {
        let (mut starts, mut taps) = (vec![0], Vec::new());
        for i in 0..to {
            // A single texel stays itself with every filter.
            let weights = if from == to { BTreeMap::from([(i, 1.0)]) } else { weights(i) };
            taps.extend(weights.into_iter().filter(|(_, w)| *w != 0.0).map(|(k, w)| (k, w as f32)));
            starts.push(taps.len() as u32);
        }
        Taps { starts, taps }
    }

    pub fn of(&self, i: usize) -> &[(u32, f32)] {
        &self.taps[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Shares of the stretch that texel `i` covers, where `before` is the measure of all up to a place.
fn coverage(i: u32, from: u32, to: u32, before: impl Fn(f64) -> f64) -> BTreeMap<u32, f64> {
    let span = f64::from(from) / f64::from(to);
    let (begin, end) = (f64::from(i) * span, f64::from(i + 1) * span);
    let last = (end.ceil() as u32).min(from);
    let whole = before(end) - before(begin);
    let share = |k: u32| (before(f64::from(k + 1).min(end)) - before(f64::from(k).max(begin))).max(0.0) / whole;
    (begin as u32..last).map(|k| (k, share(k))).collect()
}

/// A windowed sinc about the middle of texel `i`, as wide as the step between texels.
fn windowed(i: u32, from: u32, to: u32, wrap: Wrap, window: impl Fn(f64) -> f64) -> BTreeMap<u32, f64> {
    let span = f64::from(from) / f64::from(to);
    let center = (f64::from(i) + 0.5) * span;
    let (first, last) = ((center - RADIUS * span).floor() as i64, (center + RADIUS * span).ceil() as i64);
    let (mut sum, mut weights) = (0.0, BTreeMap::new());
    for k in first..=last {
        let x = (k as f64 + 0.5 - center) / span;
        if x.abs() >= RADIUS {
            continue;
        }
        let weight = sinc(x) * window(x);
        sum += weight;
        if let Some(k) = wrap.texel(k, from) {
            *weights.entry(k).or_insert(0.0) += weight;
        }
    }
    weights.values_mut().for_each(|w| *w /= sum);
    weights
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

fn kaiser(x: f64) -> f64 {
    let t = x / RADIUS;
    bessel_i0(ALPHA * (1.0 - t * t).max(0.0).sqrt()) / bessel_i0(ALPHA)
}

/// The modified Bessel function of order 0, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        term *= (x / (2.0 * k)).powi(2);
        sum += term;
        k += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one_unless_black_lies_outside() {
        for (_, filter) in MipFilter::NAMED {
            for (_, wrap) in Wrap::NAMED {
                for from in 2..40 {
                    let inside = matches!(filter, MipFilter::Box | MipFilter::LatLong);
                    for taps in [Taps::columns, Taps::rows].map(|new| new(filter, wrap, from, from / 2)) {
                        for i in 0..taps.count() {
                            let sum: f32 = taps.of(i).iter().map(|t| t.1).sum();
                            let whole = inside || wrap != Wrap::Black;
                            assert!(!whole || (sum - 1.0).abs() < 1e-5, "{filter:?} {wrap:?} {from} {i}: {sum}");
                        }
                    }
                }
            }
        }
    }

    /// The light of each row of a latitude-longitude image, level by level, matches its solid angle, also where heights
    /// are odd.
    #[test]
    fn levels_of_the_sphere_keep_the_light_of_each_row() {
        let solid = |y: u32, height: u32| {
            let cos = |y: u32| (PI * f64::from(y) / f64::from(height)).cos();
            cos(y) - cos(y + 1)
        };
        for lit in [0, 1, 11, 52] {
            let mut rows: Vec<f64> = (0..53).map(|y| if y == lit { 1.0 } else { 0.0 }).collect();
            while rows.len() > 1 {
                let taps = Taps::rows(MipFilter::LatLong, Wrap::Clamp, rows.len() as u32, rows.len() as u32 / 2);
                let mean = |i: usize| taps.of(i).iter().map(|&(k, w)| rows[k as usize] * f64::from(w)).sum::<f64>();
                rows = (0..taps.count()).map(mean).collect();
                let light: f64 = (0..).zip(&rows).map(|(y, l)| l * solid(y, rows.len() as u32)).sum();
                assert!((light / solid(lit, 53) - 1.0).abs() < 1e-5, "{lit} {}: {light}", rows.len());
            }
        }
    }

    /// I₀(4), from tables of the function.
    #[test]
    fn the_bessel_function_is_right() {
        assert!((bessel_i0(4.0) - 11.301_921_952_136_33).abs() < 1e-12);
        assert_eq!(bessel_i0(0.0), 1.0);
    }
}
