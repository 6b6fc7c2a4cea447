//! The sums of 16 lanes as two integers each: what adding spends its time on.
//!
//! A term is a number of units, and what is left of it is a number of small units. Small units are up to 2⁴⁸ times
//! smaller, but not smaller than 2⁻⁸⁰, below which sums cut off anyway. So terms of very different sizes go in together, such
//! as those of pixels near the middle of a blob and far from it.

use super::fixed::FRACTION;
use ssl_compiler::runtime::{LANES, Row};

/// Terms are below 2 to this many units, so that the sum of 16 lanes is exact in f64, too.
pub const BITS: i32 = 49;
/// A unit is at most 2 to this many small units.
const LOW_BITS: i32 = 48;
/// A sum that grows over this goes to the shared ones.
pub const FULL: u64 = 1 << 61;

/// The exponent of a power of 2.
#[inline(always)]
fn exponent(power: f64) -> i32 {
    (power.to_bits() >> 52) as i32 - 1023
}

/// The number of small units in a unit; `scale` is 1 over the unit. The second value says that what is smaller is cut off.
#[inline(always)]
fn ratio(scale: f64) -> (f64, bool) {
    let bits = (FRACTION - exponent(scale)).clamp(0, LOW_BITS);
    (f64::from_bits(((1023 + bits) as u64) << 52), bits < LOW_BITS)
}

/// The exponent of the unit and that of the small unit.
pub fn exponents(scale: f64) -> [i32; 2] {
    let unit = -exponent(scale);
    [unit, unit - exponent(ratio(scale).0)]
}

/// The numbers of units and of small units in a term; `None` if it has more units than fit, or digits below a small unit
/// that count.
#[inline(always)]
pub fn units(term: f64, scale: f64) -> Option<[i64; 2]> {
    let (ratio, cuts) = ratio(scale);
    let scaled = term * scale;
    let whole = scaled.trunc();
    let rest = (scaled - whole) * ratio;
    let fits = scaled.abs() < (1i64 << BITS) as f64 && (cuts || rest.trunc() == rest);
    fits.then_some([whole as i64, rest as i64])
}

/// What [`AddRows`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Bit i is set if row i was not added.
    pub rest: u32,
    /// Whether a sum is over [`FULL`].
    pub full: bool,
}

/// Adds to each sum, of units and of small units, the lanes of a row, in units of its own, 1 over `scales`. It leaves rows
/// alone of which a lane has no [units].
pub type AddRows = fn(rows: &[Row], mask: u32, scales: &[f64], sums: [&mut [i64]; 2]) -> Added;

/// The fastest way of this processor. All ways give the same.
pub fn fastest() -> AddRows {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        // SAFETY: the processor has what the function needs.
        return |rows, mask, scales, sums| unsafe { avx512::add_rows(rows, mask, scales, sums) };
    }
    add_rows
}

fn add_rows(rows: &[Row], mask: u32, scales: &[f64], [sums, lows]: [&mut [i64]; 2]) -> Added {
    let mut added = Added::default();
    let lanes: [u32; LANES] = std::array::from_fn(|lane| 0u32.wrapping_sub(mask >> lane & 1));
    for (i, ((row, &scale), (sum, low))) in rows.iter().zip(scales).zip(sums.iter_mut().zip(lows)).enumerate() {
        let (ratio, cuts) = ratio(scale);
        let (mut total, mut rest, mut all) = (0f64, 0f64, true);
        for (lane, &taken) in lanes.iter().enumerate() {
            let scaled = f64::from(f32::from_bits(row.0[lane].to_bits() & taken)) * scale;
            let whole = scaled.trunc();
            let left = (scaled - whole) * ratio;
            all &= (scaled.abs() < (1i64 << BITS) as f64) & (cuts | (left.trunc() == left));
            total += whole;
            rest += left.trunc();
        }
        if all {
            // Sums of whole numbers below 2⁵³ are exact in f64, in any order.
            *sum += total as i64;
            *low += rest as i64;
            added.full |= sum.unsigned_abs().max(low.unsigned_abs()) > FULL;
        } else {
            added.rest |= 1 << i;
        }
    }
    added
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! The same for sixteen lanes and eight rows at once.

    use super::{Added, BITS, FULL, Row, ratio};
    use std::arch::x86_64::*;

    /// Towards zero, quietly.
    const TRUNCATE: i32 = 0x0b;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub fn add_rows(rows: &[Row], mask: u32, scales: &[f64], [sums, lows]: [&mut [i64]; 2]) -> Added {
        let mut added = Added::default();
        let groups = rows.chunks(8).zip(scales.chunks(8)).zip(sums.chunks_mut(8).zip(lows.chunks_mut(8)));
        for (group, ((rows, scales), (sums, lows))) in groups.enumerate() {
            let (mut whole, mut left) = ([_mm512_setzero_pd(); 8], [_mm512_setzero_pd(); 8]);
            let mut suit = 0u8;
            for (i, (row, &scale)) in rows.iter().zip(scales).enumerate() {
                let (units, rest, suits) = halves(row, mask as u16, scale);
                (whole[i], left[i]) = (units, rest);
                suit |= u8::from(suits) << i;
            }
            added.rest |= u32::from(!suit & (u16::MAX >> (16 - rows.len())) as u8) << (8 * group);
            added.full |= add(whole, rows.len(), suit, sums);
            added.full |= add(left, rows.len(), suit, lows);
        }
        added
    }

    /// Adds the lanes of registers to sums; says whether one is full.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(rows: [__m512d; 8], count: usize, suit: u8, sums: &mut [i64]) -> bool {
        let lanes = if count == 1 { _mm512_set1_pd(_mm512_reduce_add_pd(rows[0])) } else { totals(rows) };
        // SAFETY: lanes behind the end of the slice are not read.
        let sum = unsafe { _mm512_maskz_loadu_epi64(suit, sums.as_ptr()) };
        let sum = _mm512_mask_add_epi64(sum, suit, sum, _mm512_cvtpd_epi64(lanes));
        // SAFETY: nor written.
        unsafe { _mm512_mask_storeu_epi64(sums.as_mut_ptr(), suit, sum) };
        let limit = _mm512_set1_epi64(FULL as i64);
        _mm512_mask_cmpgt_epu64_mask(suit, _mm512_abs_epi64(sum), limit) != 0
    }

    /// The units and the small units of a row, those of the two halves added up, and whether all terms have some.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn halves(row: &Row, mask: u16, scale: f64) -> (__m512d, __m512d, bool) {
        // SAFETY: a row has 16 floats.
        let terms = unsafe { _mm512_maskz_loadu_ps(mask, row.0.as_ptr()) };
        let (ratio, cuts) = ratio(scale);
        let (scale, ratio) = (_mm512_set1_pd(scale), _mm512_set1_pd(ratio));
        let below = _mm512_set1_pd((1i64 << BITS) as f64);
        let half = |terms: __m256| {
            let scaled = _mm512_mul_pd(_mm512_cvtps_pd(terms), scale);
            let whole = _mm512_roundscale_pd::<TRUNCATE>(scaled);
            let left = _mm512_mul_pd(_mm512_sub_pd(scaled, whole), ratio);
            let rest = _mm512_roundscale_pd::<TRUNCATE>(left);
            let fits = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(scaled), below);
            let exact = if cuts { fits } else { _mm512_mask_cmp_pd_mask::<_CMP_EQ_OQ>(fits, left, rest) };
            (whole, rest, exact)
        };
        let (low, low_rest, low_fits) = half(_mm512_castps512_ps256(terms));
        let (high, high_rest, high_fits) = half(_mm512_extractf32x8_ps::<1>(terms));
        (_mm512_add_pd(low, high), _mm512_add_pd(low_rest, high_rest), low_fits & high_fits == 0xff)
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
    fn terms_have_units_and_small_units() {
        // Small units of 2⁻⁷⁸ and of 2⁻⁸⁰, below which nothing counts.
        for (unit, small, cuts) in [(-30, -78, false), (-50, -80, true)] {
            let [unit, small] = [unit, small].map(|e| 2f64.powi(e));
            let cases = [
                (0.0, true),
                (-0.0, true),
                (unit, true),
                (-3.0 * unit, true),
                (unit / 2.0, true),
                (-1234.0 * unit - 77.0 * small, true),
                (small, true),
                (1.5 * small, cuts),
                (small / 1024.0, cuts),
                (2f64.powi(BITS - 1) * unit, true),
                (2f64.powi(BITS) * unit, false),
                (2f64.powi(90), false),
                (f64::INFINITY, false),
                (f64::NAN, false),
            ];
            for (term, there) in cases {
                let found = units(term, 1.0 / unit);
                assert_eq!(found.is_some(), there, "{term}");
                if let Some([units, smalls]) = found {
                    let sum = units as f64 * unit + smalls as f64 * small;
                    assert_eq!(sum, (term / small).trunc() * small, "{term}");
                }
            }
            assert_eq!(exponents(1.0 / unit).map(|e| 2f64.powi(e)), [unit, small]);
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
        rows[13].0[5] = 1.5e-20;
        // From units that are too large to some that are too small.
        let scales: Vec<f64> = (0..30).map(|i| 2f64.powi(2 * i - 4)).collect();
        for (mask, count) in [(0xffff, 30), (1, 9), (0x8000, 17), (0x1234, 30), (0xffff, 1), (0xffff, 8)] {
            let start: Vec<i64> = (0..30).map(|i| if i == 20 { (1 << 61) + 1 } else { i }).collect();
            let (mut plain, mut fast) = ([start.clone(), start.clone()], [start.clone(), start.clone()]);
            let [a, b] = &mut plain;
            let found = add_rows(&rows[..count], mask, &scales, [a, b]);
            let [a, b] = &mut fast;
            assert_eq!(found, fastest()(&rows[..count], mask, &scales, [a, b]));
            assert_eq!(plain, fast);
            assert_eq!(found.full, count > 20 && found.rest >> 20 & 1 == 0);
            for r in 0..count {
                let lanes = (0..16).filter(|i| mask >> i & 1 != 0);
                let terms: Option<Vec<[i64; 2]>> = lanes.map(|i| units(f64::from(rows[r].0[i]), scales[r])).collect();
                assert_eq!(found.rest >> r & 1 == 0, terms.is_some(), "row {r}");
                for part in 0..2 {
                    let sum: i64 = terms.iter().flatten().map(|term| term[part]).sum();
                    assert_eq!(plain[part][r] - start[r], sum, "row {r}");
                }
            }
        }
    }
}
