//! The sum of 16 lanes as an integer, if it is one: what adding spends its time on.

use ssl_compiler::runtime::{LANES, Row};

/// Terms are below 2 to this many units, so that the sum of 16 lanes is exact in f64, too.
pub const BITS: i32 = 49;
/// A sum that grows over this goes to the shared ones.
pub const FULL: u64 = 1 << 61;

/// Adding this to a float of f64 below 2⁵¹ leaves no digits behind the point, and puts those before it into the lowest
/// bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The number of units in a term, if it is a whole one below 2⁴⁹; `scale` is 1 over the unit.
#[inline(always)]
pub fn units(term: f64, scale: f64) -> (i64, bool) {
    let scaled = term * scale;
    let rounded = scaled + ROUND;
    let whole = (rounded - ROUND == scaled) & (scaled.abs() < (1i64 << BITS) as f64);
    (rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i64, whole)
}

/// What [`AddRows`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Bit i is set if row i was not added.
    pub rest: u32,
    /// Whether a sum is over [`FULL`].
    pub full: bool,
}

/// Adds to each sum the lanes of a row, in units of its own, 1 over `scales`. It leaves rows alone of which a lane is
/// neither 0 nor of a size whose 24 digits all are whole units: [suits].
pub type AddRows = fn(rows: &[Row], mask: u32, scales: &[f64], sums: &mut [i64]) -> Added;

/// Sizes of terms are from 2²³ units on to below 2⁴⁹. All their digits are whole units then.
const DIGITS: u32 = f32::MANTISSA_DIGITS - 1;

/// The exponent of the smallest such term, as the bits of an f32 hold it.
#[inline(always)]
fn lowest(scale: f64) -> u32 {
    // Units are from 2⁻⁸⁰ to 2²⁰⁰, so this is between 70 and 350.
    (1023 + 127 + DIGITS).wrapping_sub((scale.to_bits() >> 52) as u32) << DIGITS
}

/// How many bits of an f32 the exponents of such terms reach over.
const REACH: u32 = (BITS as u32 - DIGITS) << DIGITS;

/// Whether a term can be added without a look at its digits.
#[inline(always)]
fn suits(term: f32, lowest: u32) -> bool {
    let bits = term.to_bits() & 0x7fff_ffff;
    bits == 0 || bits.wrapping_sub(lowest) < REACH
}

/// The fastest way of this processor. All ways give the same.
pub fn fastest() -> AddRows {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        // SAFETY: the processor has what the function needs.
        return |rows, mask, scales, sums| unsafe { avx512::add_rows(rows, mask, scales, sums) };
    }
    add_rows
}

fn add_rows(rows: &[Row], mask: u32, scales: &[f64], sums: &mut [i64]) -> Added {
    let mut added = Added::default();
    let lanes: [u32; LANES] = std::array::from_fn(|lane| 0u32.wrapping_sub(mask >> lane & 1));
    for (i, ((row, &scale), sum)) in rows.iter().zip(scales).zip(sums).enumerate() {
        let lowest = lowest(scale);
        let (mut totals, mut all) = ([0f64; 4], true);
        for (lane, &taken) in lanes.iter().enumerate() {
            let term = f32::from_bits(row.0[lane].to_bits() & taken);
            all &= suits(term, lowest);
            totals[lane % 4] += f64::from(term);
        }
        if all {
            // A sum of whole units below 2⁵³ is exact in f64, in any order.
            *sum += (totals.iter().sum::<f64>() * scale) as i64;
            added.full |= sum.unsigned_abs() > FULL;
        } else {
            added.rest |= 1 << i;
        }
    }
    added
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! The same for sixteen lanes and eight rows at once.

    use super::{Added, FULL, REACH, Row, lowest};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub fn add_rows(rows: &[Row], mask: u32, scales: &[f64], sums: &mut [i64]) -> Added {
        let mut added = Added::default();
        let groups = rows.chunks(8).zip(scales.chunks(8)).zip(sums.chunks_mut(8));
        for (group, ((rows, scales), sums)) in groups.enumerate() {
            let mut eight = [_mm512_setzero_pd(); 8];
            let mut suit = 0u8;
            for (i, (row, &scale)) in rows.iter().zip(scales).enumerate() {
                let (total, suits) = halves(row, mask as u16, lowest(scale));
                eight[i] = total;
                suit |= u8::from(suits) << i;
            }
            added.rest |= u32::from(!suit & (u16::MAX >> (16 - rows.len())) as u8) << (8 * group);
            let lanes = if rows.len() == 1 { _mm512_set1_pd(_mm512_reduce_add_pd(eight[0])) } else { totals(eight) };
            // SAFETY: lanes behind the end of the slices are not read.
            let (scale, sum) = unsafe {
                (_mm512_maskz_loadu_pd(suit, scales.as_ptr()), _mm512_maskz_loadu_epi64(suit, sums.as_ptr()))
            };
            let sum = _mm512_mask_add_epi64(sum, suit, sum, _mm512_cvtpd_epi64(_mm512_mul_pd(lanes, scale)));
            // SAFETY: nor written.
            unsafe { _mm512_mask_storeu_epi64(sums.as_mut_ptr(), suit, sum) };
            let limit = _mm512_set1_epi64(FULL as i64);
            added.full |= _mm512_mask_cmpgt_epu64_mask(suit, _mm512_abs_epi64(sum), limit) != 0;
        }
        added
    }

    /// The terms of a row, those of the two halves added up, and whether all suit.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn halves(row: &Row, mask: u16, lowest: u32) -> (__m512d, bool) {
        // SAFETY: a row has 16 floats.
        let terms = unsafe { _mm512_maskz_loadu_ps(mask, row.0.as_ptr()) };
        let size = _mm512_and_si512(_mm512_castps_si512(terms), _mm512_set1_epi32(0x7fff_ffff));
        let above = _mm512_sub_epi32(size, _mm512_set1_epi32(lowest as i32));
        let other =
            _mm512_mask_cmpge_epu32_mask(_mm512_test_epi32_mask(size, size), above, _mm512_set1_epi32(REACH as i32));
        let low = _mm512_cvtps_pd(_mm512_castps512_ps256(terms));
        let high = _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(terms));
        (_mm512_add_pd(low, high), other == 0)
    }

    /// The sum of each of eight registers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn totals(rows: [__m512d; 8]) -> __m512d {
        // Neighbours, then neighbouring pairs, then the two halves of pairs of pairs.
        let pair = |a, b| _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let quarter = |a, b| _mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
        let [a, b, c, d, e, f, g, h] = rows;
        quarter(quarter(pair(a, b), pair(c, d)), quarter(pair(e, f), pair(g, h)))
    }
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
            (2f64.powi(18), true),
            (2f64.powi(19) - unit, true),
            (2f64.powi(19), false),
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
        let mut rows: Vec<Row> =
            (0..30u32).map(|r| Row(std::array::from_fn(|i| ((r * 16 + i as u32) as f32 - 300.0) * 0.125))).collect();
        rows[7].0[4] = f32::NAN;
        rows[8].0[15] = f32::INFINITY;
        rows[9].0[0] = 2f32.powi(60);
        rows[10].0[12] = -2f32.powi(60);
        rows[11].0[3] = -0.0;
        rows[12].0[2] = f32::from_bits(1);
        // From units that are too large to some that are too small.
        let scales: Vec<f64> = (0..30).map(|i| 2f64.powi(2 * i - 4)).collect();
        for (mask, count) in [(0xffff, 30), (1, 9), (0x8000, 17), (0x1234, 30), (0xffff, 1), (0xffff, 8)] {
            let start: Vec<i64> = (0..30).map(|i| if i == 20 { (1 << 61) + 1 } else { i }).collect();
            let (mut plain, mut fast) = (start.clone(), start.clone());
            let found = add_rows(&rows[..count], mask, &scales, &mut plain);
            assert_eq!((found, &plain), (fastest()(&rows[..count], mask, &scales, &mut fast), &fast));
            assert_eq!(found.full, count > 20 && found.rest >> 20 & 1 == 0);
            for r in 0..count {
                let lanes = || (0..16).filter(|i| mask >> i & 1 != 0).map(|i| f64::from(rows[r].0[i]) * scales[r]);
                let suit = lanes().all(|x| x == 0.0 || (2f64.powi(23)..2f64.powi(49)).contains(&x.abs()));
                assert_eq!(found.rest >> r & 1 == 0, suit, "row {r}");
                assert_eq!(plain[r] - start[r], if suit { lanes().sum::<f64>() as i64 } else { 0 }, "row {r}");
            }
        }
    }
}
