//! The sums of 16 lanes as integers of fixed units: what adding spends its time on.
//!
//! A term is a number of units of 2⁻³¹, and what is left of it is a number of units of 2⁻⁸⁰, below which sums cut off
//! anyway. Both parts of a term are exact in f32 and f64, whatever the term, so the only question is whether it is too large.

use super::fixed::FRACTION;
use ssl_compiler::runtime::{LANES, Row};

/// Bits behind the point of the middle integers.
const MIDDLE: i32 = 31;
/// Bits of a part: the units of one integer in a unit of the next. 16 parts add up exactly in f64.
pub const BITS: i32 = FRACTION - MIDDLE;
/// The exponents of the units: of low, middle and high integers.
pub const UNITS: [i32; 3] = [-FRACTION, -MIDDLE, BITS - MIDDLE];
/// Terms of rows that are added here are smaller, so that they have no high part.
const LIMIT: f32 = (1 << (BITS - MIDDLE)) as f32;

const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The numbers of units in a term, from low to high. The first two are below 2 to the [`BITS`].
#[inline(always)]
pub fn units(term: f64) -> [i64; 3] {
    let high = (term * power(-UNITS[2])).trunc();
    let rest = (term - high * power(UNITS[2])) * power(MIDDLE);
    let middle = rest.trunc();
    [((rest - middle) * power(BITS)) as i64, middle as i64, high as i64]
}

/// Adds to each sum, in low and middle integers, the lanes of a row. It leaves the rows alone of which a lane is not below
/// [`LIMIT`] and says which, a bit for each.
type Way = unsafe fn(rows: &[Row], mask: u32, sums: [&mut [i64]; 2]) -> u32;

/// A way that this processor can go.
#[derive(Clone, Copy)]
pub struct AddRows(Way);

impl AddRows {
    /// The fastest one. All ways give the same.
    pub fn fastest() -> AddRows {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            return AddRows(avx512::add_rows);
        }
        AddRows(add_rows)
    }

    #[inline]
    pub fn add(self, rows: &[Row], mask: u32, sums: [&mut [i64]; 2]) -> u32 {
        // SAFETY: the processor has what the function needs.
        unsafe { (self.0)(rows, mask, sums) }
    }
}

fn add_rows(rows: &[Row], mask: u32, [lows, middles]: [&mut [i64]; 2]) -> u32 {
    let mut left = 0;
    let lanes: [u32; LANES] = std::array::from_fn(|lane| 0u32.wrapping_sub(mask >> lane & 1));
    for (i, (row, (low, middle))) in rows.iter().zip(lows.iter_mut().zip(middles)).enumerate() {
        let (mut total, mut rest, mut fits) = (0f64, 0f64, true);
        for (lane, &taken) in lanes.iter().enumerate() {
            let term = f32::from_bits(row.0[lane].to_bits() & taken);
            fits &= term.abs() < LIMIT;
            let scaled = term * power(MIDDLE) as f32;
            let whole = scaled.trunc();
            total += f64::from(whole);
            rest += f64::from(((scaled - whole) * power(BITS) as f32).trunc());
        }
        if fits {
            // Whole numbers of up to 2⁵³ are exact in f64, in any order.
            *middle += total as i64;
            *low += rest as i64;
        } else {
            left |= 1 << i;
        }
    }
    left
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! The same for sixteen lanes and eight rows at once.

    use super::{BITS, LANES, LIMIT, MIDDLE, Row, power};
    use std::arch::x86_64::*;

    /// Towards zero, quietly.
    const TRUNCATE: i32 = 0x0b;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub fn add_rows(rows: &[Row], mask: u32, [lows, middles]: [&mut [i64]; 2]) -> u32 {
        // As back ends of four lanes have it.
        let first = mask.trailing_zeros() as usize & !3;
        if first < LANES && mask >> first <= 0xf {
            return add_quarters(rows, (first, mask >> first), [lows, middles]);
        }
        let mut left = 0;
        for (group, (rows, (lows, middles))) in
            rows.chunks(8).zip(lows.chunks_mut(8).zip(middles.chunks_mut(8))).enumerate()
        {
            let (mut whole, mut rest) = ([_mm512_setzero_pd(); 8], [_mm512_setzero_pd(); 8]);
            let mut fitting = 0u8;
            for (i, row) in rows.iter().enumerate() {
                let fits;
                (whole[i], rest[i], fits) = parts(row, mask as u16);
                fitting |= u8::from(fits) << i;
            }
            left |= u32::from(!fitting & (u16::MAX >> (16 - rows.len())) as u8) << (8 * group);
            add(whole, rows.len(), fitting, middles);
            add(rest, rows.len(), fitting, lows);
        }
        left
    }

    /// Four lanes of four rows at once, those from the lane `first` on that are in the mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add_quarters(rows: &[Row], (first, mask): (usize, u32), [lows, middles]: [&mut [i64]; 2]) -> u32 {
        let lanes = (mask * 0x1111) as u16;
        let mut left = 0;
        for (group, (rows, (lows, middles))) in
            rows.chunks(4).zip(lows.chunks_mut(4).zip(middles.chunks_mut(4))).enumerate()
        {
            // Behind the last row, what it has itself is added to nothing.
            let quarter = |i: usize| {
                let row = &rows[i.min(rows.len() - 1)].0;
                // SAFETY: `first` is a multiple of 4 below 16, so four floats follow in the row.
                unsafe { _mm_loadu_ps(row[first..].as_ptr()) }
            };
            let half = |i| _mm512_insertf32x4::<1>(_mm512_castps128_ps512(quarter(i)), quarter(i + 1));
            let terms = _mm512_insertf32x8::<1>(half(0), _mm512_castps512_ps256(half(2)));
            let (whole, rest, fits) = split(_mm512_maskz_mov_ps(lanes, terms));
            // A bit for each row.
            let fits = fits & fits >> 1 & fits >> 2 & fits >> 3 & 0x1111;
            let meant = (0x0fu8 >> (4 - rows.len())) & (fits | fits >> 3 | fits >> 6 | fits >> 9) as u8;
            left |= u32::from((0x0f >> (4 - rows.len())) & !meant) << (4 * group);
            accumulate(totals_of_quarters(whole), meant, middles);
            accumulate(totals_of_quarters(rest), meant, lows);
        }
        left
    }

    /// The sums of the four quarters of a register.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn totals_of_quarters(row: __m512) -> __m512d {
        let low = _mm512_cvtps_pd(_mm512_castps512_ps256(row));
        let high = _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(row));
        // Neighbours, of both in turn; then neighbouring pairs.
        let pairs = _mm512_add_pd(_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high));
        let sums = _mm512_add_pd(pairs, _mm512_shuffle_f64x2::<0xb1>(pairs, pairs));
        _mm512_permutexvar_pd(_mm512_setr_epi64(0, 4, 1, 5, 0, 0, 0, 0), sums)
    }

    /// Adds whole numbers to the sums that are meant.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn accumulate(lanes: __m512d, meant: u8, sums: &mut [i64]) {
        // SAFETY: lanes behind the end of the slice are not read.
        let sum = unsafe { _mm512_maskz_loadu_epi64(meant, sums.as_ptr()) };
        let sum = _mm512_add_epi64(sum, _mm512_cvtpd_epi64(lanes));
        // SAFETY: nor written.
        unsafe { _mm512_mask_storeu_epi64(sums.as_mut_ptr(), meant, sum) };
    }

    /// Adds the lanes of registers to the sums that are meant.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(rows: [__m512d; 8], count: usize, meant: u8, sums: &mut [i64]) {
        let lanes = if count == 1 { _mm512_set1_pd(_mm512_reduce_add_pd(rows[0])) } else { totals(rows) };
        accumulate(lanes, meant, sums);
    }

    /// The middle and the low units of a row, those of the two halves added up, and whether all terms are small enough.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn parts(row: &Row, mask: u16) -> (__m512d, __m512d, bool) {
        // SAFETY: a row has 16 floats.
        let terms = unsafe { _mm512_maskz_loadu_ps(mask, row.0.as_ptr()) };
        let (whole, rest, fits) = split(terms);
        (halves(whole), halves(rest), fits == u16::MAX)
    }

    /// The middle and the low units of terms, and which of them are small enough.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn split(terms: __m512) -> (__m512, __m512, u16) {
        let fits = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(terms), _mm512_set1_ps(LIMIT));
        let scaled = _mm512_mul_ps(terms, _mm512_set1_ps(power(MIDDLE) as f32));
        let whole = _mm512_roundscale_ps::<TRUNCATE>(scaled);
        let rest = _mm512_mul_ps(_mm512_sub_ps(scaled, whole), _mm512_set1_ps(power(BITS) as f32));
        (whole, _mm512_roundscale_ps::<TRUNCATE>(rest), fits)
    }

    /// The two halves of a register, added up.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn halves(row: __m512) -> __m512d {
        let (low, high) = (_mm512_castps512_ps256(row), _mm512_extractf32x8_ps::<1>(row));
        _mm512_add_pd(_mm512_cvtps_pd(low), _mm512_cvtps_pd(high))
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

const _: () = assert!(BITS + (LANES as u32).ilog2() as i32 <= f64::MANTISSA_DIGITS as i32);

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies below a low unit is cut off, towards zero.
    #[test]
    fn parts_of_a_term_make_the_term() {
        let mut state = 1u64;
        let mut terms = vec![0.0, -0.0, 1.0, -1.5, f32::MIN_POSITIVE, 1e-45, -(2f32.powi(-80)), 3.0 * 2f32.powi(-81)];
        terms.extend((0..100_000).map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            f32::from_bits((state >> 32) as u32)
        }));
        for term in terms.into_iter().map(f64::from).filter(|t| t.abs() < super::super::LIMIT) {
            let parts = units(term);
            assert!(parts[..2].iter().all(|part| part.unsigned_abs() < 1 << BITS), "{term}: {parts:?}");
            // Exact, as a term has 24 bits.
            let whole: f64 = parts.iter().zip(UNITS).map(|(&part, unit)| part as f64 * 2f64.powi(unit)).sum();
            let small = 2f64.powi(-80);
            assert_eq!(whole, if term.abs() < 1.0 { (term / small).trunc() * small } else { term }, "{term}");
        }
    }

    #[test]
    fn every_processor_gives_the_same() {
        let mut rows: Vec<Row> =
            (0..30u32).map(|r| Row(std::array::from_fn(|i| ((r * 16 + i as u32) as f32 - 300.0) * 0.125))).collect();
        rows[3].0 = std::array::from_fn(|i| 1.7f32.powi(10 * i as i32 - 130) * 1.2345678);
        rows[7].0[4] = f32::NAN;
        rows[8].0[15] = f32::INFINITY;
        rows[9].0[0] = 2f32.powi(60);
        rows[10].0[12] = -LIMIT;
        rows[11].0 = [1e-45; 16];
        for (mask, count) in [
            (0xffff, 30),
            (1, 9),
            (0x8000, 17),
            (0x1234, 30),
            (0xffff, 1),
            (0xffff, 8),
            (0x000f, 30),
            (0x00d0, 9),
            (0xf000, 7),
            (0, 5),
        ] {
            let start: Vec<i64> = (0..30).collect();
            let (mut plain, mut fast) = ([start.clone(), start.clone()], [start.clone(), start.clone()]);
            let [a, b] = &mut plain;
            let left = add_rows(&rows[..count], mask, [a, b]);
            let [a, b] = &mut fast;
            assert_eq!(left, AddRows::fastest().add(&rows[..count], mask, [a, b]));
            assert_eq!(plain, fast);
            for r in 0..count {
                let terms: Vec<f32> = (0..16).filter(|i| mask >> i & 1 != 0).map(|i| rows[r].0[i]).collect();
                let fits = terms.iter().all(|term| term.abs() < LIMIT);
                assert_eq!(left >> r & 1 == 0, fits, "row {r}");
                for (part, sums) in plain.iter().enumerate() {
                    let sum: i64 = terms.iter().map(|&term| units(f64::from(term))[part]).sum();
                    assert_eq!(sums[r] - start[r], if fits { sum } else { 0 }, "row {r}");
                }
            }
        }
    }
}
