//! The sum of 16 lanes as an integer, if it is one: what adding spends its time on.

use ssl_compiler::runtime::{LANES, Row};

/// Terms are below this many units, so that a few thousand additions of 16 lanes fit into an `i64`.
pub const BITS: i32 = 50;

/// Adding this to a float of f64 below 2⁵¹ leaves no digits behind the point, and puts those before it into the lowest
/// bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The number of units in a term, if it is a whole one below 2⁵⁰; `scale` is 1 over the unit.
#[inline(always)]
pub fn units(term: f64, scale: f64) -> (i64, bool) {
    let scaled = term * scale;
    let rounded = scaled + ROUND;
    let whole = (rounded - ROUND == scaled) & (scaled.abs() < (1i64 << BITS) as f64);
    (rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i64, whole)
}

/// All ones for lanes in the mask.
pub fn lanes_of(mask: u32) -> [u32; LANES] {
    std::array::from_fn(|lane| 0u32.wrapping_sub(mask >> lane & 1))
}

/// For each row, the sum of its lanes in units of its own, and whether every lane was a whole number of them.
#[inline(always)]
fn sum_rows(rows: &[Row], lanes: &[u32; LANES], scales: &[f64], totals: &mut [(i64, bool)]) {
    for ((row, &scale), total) in rows.iter().zip(scales).zip(totals) {
        // Two sums side by side, so that one register of 512 bits holds either.
        let (mut sums, mut all) = ([0i64; LANES / 2], [true; LANES / 2]);
        for half in 0..2 {
            for i in 0..LANES / 2 {
                let lane = half * LANES / 2 + i;
                let term = f32::from_bits(row.0[lane].to_bits() & lanes[lane]);
                let (count, whole) = units(f64::from(term), scale);
                sums[i] = sums[i].wrapping_add(count);
                all[i] &= whole;
            }
        }
        *total = (sums.iter().fold(0, |a, &b| a.wrapping_add(b)), all.iter().fold(true, |a, &b| a & b));
    }
}

/// [`sum_rows`] for a processor.
pub type SumRows = fn(&[Row], &[u32; LANES], &[f64], &mut [(i64, bool)]);

/// The fastest way of this processor. All ways give the same.
pub fn fastest() -> SumRows {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has what the function needs.
            return |r, l, s, t| unsafe { avx512(r, l, s, t) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            return |r, l, s, t| unsafe { avx2(r, l, s, t) };
        }
    }
    |r, l, s, t| sum_rows(r, l, s, t)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn avx512(rows: &[Row], lanes: &[u32; LANES], scales: &[f64], totals: &mut [(i64, bool)]) {
    sum_rows(rows, lanes, scales, totals);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(rows: &[Row], lanes: &[u32; LANES], scales: &[f64], totals: &mut [(i64, bool)]) {
    sum_rows(rows, lanes, scales, totals);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_of_units_count() {
        let unit = 2f64.powi(-30);
        let cases = [
            (0.0, true),
            (-0.0, true),
            (unit, true),
            (-3.0 * unit, true),
            (unit / 2.0, false),
            (2f64.powi(19), true),
            (2f64.powi(20), false),
            (2f64.powi(90), false),
            (f64::INFINITY, false),
            (f64::NAN, false),
        ];
        for (term, whole) in cases {
            let (count, found) = units(term, 1.0 / unit);
            assert_eq!(found, whole, "{term}");
            if whole {
                assert_eq!(count as f64 * unit, term);
            }
        }
    }

    #[test]
    fn every_processor_gives_the_same() {
        let rows: Vec<Row> =
            (0..40u32).map(|r| Row(std::array::from_fn(|i| ((r * 16 + i as u32) as f32 - 300.0) * 0.125))).collect();
        let scales: Vec<f64> = (0..40).map(|i| 2f64.powi(i - 2)).collect();
        for mask in [0xffff, 1, 0x8000, 0x1234] {
            let lanes = lanes_of(mask);
            let (mut plain, mut fast) = (vec![(0, false); 40], vec![(0, false); 40]);
            sum_rows(&rows, &lanes, &scales, &mut plain);
            fastest()(&rows, &lanes, &scales, &mut fast);
            assert_eq!(plain, fast);
            let wanted =
                |r: usize| (0..16).filter(|i| mask >> i & 1 != 0).map(|i| f64::from(rows[r].0[i])).sum::<f64>();
            assert!((0..40).all(|r| !plain[r].1 || plain[r].0 as f64 == wanted(r) * scales[r]));
            assert!(plain[5..].iter().all(|total| total.1), "eighths are whole numbers of 2⁻³ and less");
        }
    }
}
