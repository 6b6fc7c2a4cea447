//! The sums of 16 lanes as integers of fixed units: what adding spends its time on.
//!
//! A term is a number of units of 2⁻³¹, and what is left of it is a number of units of 2⁻⁸⁰, below which sums cut off
//! anyway. Both parts of a term are exact in f32 and f64, whatever the term, so the only question is whether it is too large.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

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

pub const fn power(exponent: i32) -> f64 {
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
        AddRows::all().next().unwrap_or(AddRows(add_rows))
    }

    /// All of them, the fastest one first.
    fn all() -> impl Iterator<Item = AddRows> {
        #[cfg(target_arch = "x86_64")]
        let special: [(bool, Way); 2] = [
            (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"), avx512::add_rows),
            (is_x86_feature_detected!("avx2"), avx2::add_rows),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let special: [(bool, Way); 0] = [];
        special.into_iter().chain([(true, add_rows as Way)]).filter(|(can, _)| *can).map(|(_, way)| AddRows(way))
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
    // Back ends of four lanes have no others in the mask.
    let first = (mask.trailing_zeros() as usize & !3).min(LANES);
    let end = if mask >> first <= 0xf { (first + 4).min(LANES) } else { LANES };
    for (i, (row, (low, middle))) in rows.iter().zip(lows.iter_mut().zip(middles)).enumerate() {
        let (mut total, mut rest, mut fits) = (0f64, 0f64, true);
        for (lane, &taken) in lanes.iter().enumerate().take(end).skip(first) {
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
    fn all_ways_give_the_same() {
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
            let mut plain = [start.clone(), start.clone()];
            let [a, b] = &mut plain;
            let left = add_rows(&rows[..count], mask, [a, b]);
            for way in AddRows::all() {
                let mut other = [start.clone(), start.clone()];
                let [a, b] = &mut other;
                assert_eq!(left, way.add(&rows[..count], mask, [a, b]));
                assert_eq!(plain, other);
            }
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
