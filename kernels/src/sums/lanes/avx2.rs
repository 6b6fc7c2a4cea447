//! The same for four lanes of four rows at once, in f64.

use super::{BITS, LANES, LIMIT, MIDDLE, Row, power};
use std::arch::x86_64::*;

/// Towards zero, quietly.
const TRUNCATE: i32 = 0x0b;
/// 1.5 · 2⁵²: what is added to it stands in its low bits, if it is a whole number below 2⁵¹.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// Lanes whose parts add up below that.
const QUARTER: usize = 4;

const _: () = assert!(BITS + (QUARTER as u32).ilog2() as i32 <= 51);

#[target_feature(enable = "avx2")]
pub fn add_rows(rows: &[Row], mask: u32, [lows, middles]: [&mut [i64]; 2]) -> u32 {
    let mut left = 0;
    let sums = lows.chunks_mut(4).zip(middles.chunks_mut(4));
    for (group, (rows, (lows, middles))) in rows.chunks(4).zip(sums).enumerate() {
        let (mut low, mut middle, mut largest) = (_mm256_setzero_si256(), _mm256_setzero_si256(), _mm_setzero_si128());
        for first in (0..LANES).step_by(QUARTER).filter(|first| mask >> first & 0xf != 0) {
            let lanes = quarter(rows, first, mask);
            let (mut whole, mut rest) = (_mm256_setzero_pd(), _mm256_setzero_pd());
            for terms in lanes {
                largest = _mm_max_epi32(largest, size(terms));
                let parts = split(terms);
                whole = _mm256_add_pd(whole, parts.0);
                rest = _mm256_add_pd(rest, parts.1);
            }
            low = _mm256_add_epi64(low, integers(rest));
            middle = _mm256_add_epi64(middle, integers(whole));
        }
        // By their bits, what is not finite is larger than all numbers.
        let fits = _mm_cmpgt_epi32(_mm_set1_epi32(LIMIT.to_bits() as i32), largest);
        let fits = _mm_movemask_ps(_mm_castsi128_ps(fits)) as u32 & (0xf >> (4 - rows.len()));
        left |= ((0xf >> (4 - rows.len())) & !fits) << (4 * group);
        accumulate(low, fits, lows);
        accumulate(middle, fits, middles);
    }
    left
}

/// Four lanes of up to four rows, those from the lane `first` on: by lane, a float of each row. Lanes that are not in the mask
/// are zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter(rows: &[Row], first: usize, mask: u32) -> [__m128; 4] {
    let bits = _mm_sllv_epi32(_mm_set1_epi32((mask >> first) as i32), _mm_setr_epi32(31, 30, 29, 28));
    let taken = _mm_castsi128_ps(_mm_srai_epi32::<31>(bits));
    // Behind the last row, what it has itself is added to nothing.
    let row = |i: usize| {
        let row = &rows[i.min(rows.len() - 1)].0;
        // SAFETY: `first` is a multiple of 4 below 16, so four floats follow in the row.
        unsafe { _mm_and_ps(_mm_loadu_ps(row[first..].as_ptr()), taken) }
    };
    let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
    let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
    let (last_ab, last_cd) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
    [_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab), _mm_movelh_ps(last_ab, last_cd), _mm_movehl_ps(last_cd, last_ab)]
}

/// The bits of the floats without their signs.
#[inline]
#[target_feature(enable = "avx2")]
fn size(terms: __m128) -> __m128i {
    _mm_and_si128(_mm_castps_si128(terms), _mm_set1_epi32(i32::MAX))
}

/// The middle and the low units of terms.
#[inline]
#[target_feature(enable = "avx2")]
fn split(terms: __m128) -> (__m256d, __m256d) {
    let scaled = _mm256_mul_pd(_mm256_cvtps_pd(terms), _mm256_set1_pd(power(MIDDLE)));
    let whole = _mm256_round_pd::<TRUNCATE>(scaled);
    let rest = _mm256_mul_pd(_mm256_sub_pd(scaled, whole), _mm256_set1_pd(power(BITS)));
    (whole, _mm256_round_pd::<TRUNCATE>(rest))
}

/// Whole numbers below 2⁵¹ as integers.
#[inline]
#[target_feature(enable = "avx2")]
fn integers(whole: __m256d) -> __m256i {
    let magic = _mm256_set1_pd(MAGIC);
    _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(whole, magic)), _mm256_castpd_si256(magic))
}

/// Adds to the sums that are meant, a bit for each.
#[inline]
#[target_feature(enable = "avx2")]
fn accumulate(parts: __m256i, meant: u32, sums: &mut [i64]) {
    if meant == 0xf && sums.len() == 4 {
        let place = sums.as_mut_ptr().cast();
        // SAFETY: there are four sums.
        unsafe { _mm256_storeu_si256(place, _mm256_add_epi64(_mm256_loadu_si256(place), parts)) };
        return;
    }
    let mut each = [0; 4];
    // SAFETY: there are four.
    unsafe { _mm256_storeu_si256(each.as_mut_ptr().cast(), parts) };
    sums.iter_mut()
        .zip(each)
        .enumerate()
        .filter(|(i, _)| meant >> i & 1 != 0)
        .for_each(|(_, (sum, part))| *sum += part);
}
