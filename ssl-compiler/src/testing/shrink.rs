//! From random inputs that fail a test to simple ones that still fail it.
//!
//! First whole runs of draws are made 0 (or the simplest that the range allows), half of them, a quarter,
//! and so on, as delta debugging does (Zeller & Hildebrandt 2002); then each draw alone is tried at ever
//! less simple values. A value replaces another only if it is simpler, so this ends by itself; a budget
//! bounds it too.

use super::draws::Draw;
use super::reproduce::number;

/// The values of `draws`, made simpler for as long as `fails` says that they still fail.
pub(super) fn shrink(draws: &[Draw], mut budget: usize, fails: &mut dyn FnMut(&[f64]) -> bool) -> Vec<f64> {
    let mut values: Vec<f64> = draws.iter().map(|d| d.value).collect();
    let mut attempt = |values: &mut Vec<f64>, changed: Vec<f64>| {
        if budget == 0 || changed == *values {
            return false;
        }
        budget -= 1;
        let still = fails(&changed);
        if still {
            *values = changed;
        }
        still
    };
    let mut length = draws.len();
    while length > 0 {
        for start in (0..draws.len()).step_by(length) {
            let end = (start + length).min(draws.len());
            let mut changed = values.clone();
            for (value, draw) in changed[start..end].iter_mut().zip(&draws[start..end]) {
                *value = simpler(draw, *value).first().copied().unwrap_or(*value);
            }
            attempt(&mut values, changed);
        }
        length /= 2;
    }
    loop {
        let mut progress = false;
        for (i, draw) in draws.iter().enumerate() {
            for candidate in simpler(draw, values[i]) {
                let mut changed = values.clone();
                changed[i] = candidate;
                if attempt(&mut values, changed) {
                    progress = true;
                    break;
                }
            }
        }
        if !progress {
            return values;
        }
    }
}

/// Simpler values that could have been drawn too, the simplest first.
fn simpler(draw: &Draw, value: f64) -> Vec<f64> {
    let round = |digits: i32| {
        let scale = 10f64.powi(digits);
        f64::from(((value * scale).round() / scale) as f32)
    };
    let candidates =
        [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, draw.low, draw.high, value.trunc(), round(0), round(1), round(2)];
    let allowed =
        |x: &f64| (draw.low..=draw.high).contains(x) && (!draw.whole || x.fract() == 0.0) && rank(*x) < rank(value);
    let mut list: Vec<f64> = candidates.into_iter().filter(allowed).collect();
    list.sort_by(|a, b| rank(*a).partial_cmp(&rank(*b)).unwrap_or(std::cmp::Ordering::Equal));
    list.dedup();
    list
}

/// How hard a number is to read: its length, its size, its sign.
fn rank(x: f64) -> (usize, f64, bool) {
    (number(x.abs()).len(), x.abs(), x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(low: f64, high: f64, value: f64) -> Draw {
        Draw { low, high, whole: false, value }
    }

    #[test]
    fn what_does_not_matter_becomes_zero_and_what_does_becomes_short() {
        let draws = [draw(-2.0, 2.0, 1.234_567), draw(0.5, 3.0, 2.618_03), draw(-1.0, 1.0, -0.777)];
        let shrunk = shrink(&draws, 400, &mut |v| v[0] > 0.9 && v[1] > 1.0);
        assert_eq!(shrunk, [1.0, 2.0, 0.0]);
        let near = shrink(&draws, 400, &mut |v| v[0] > 1.2);
        assert_eq!(number(near[0]), "2");
        assert!((0.5..=3.0).contains(&near[1]), "{near:?}");
    }

    #[test]
    fn whole_numbers_stay_whole_and_the_budget_holds() {
        let whole = Draw { low: -100.0, high: 100.0, whole: true, value: 77.0 };
        assert_eq!(shrink(&[whole], 100, &mut |v| v[0] >= 3.0), [77.0], "nothing simpler is tried that fails");
        assert_eq!(shrink(&[whole], 100, &mut |v| v[0] >= 2.0), [2.0]);
        let mut calls = 0;
        shrink(&vec![draw(0.0, 1.0, 0.123_456); 100], 50, &mut |_| {
            calls += 1;
            false
        });
        assert_eq!(calls, 50);
    }
}
