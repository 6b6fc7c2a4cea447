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
