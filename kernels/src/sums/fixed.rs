//! Integers of 192 bits in units of 2⁻⁸⁰: what the sums of an element consist of.

use super::lanes::BITS;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of a sum, the lowest one first, in two's complement.
const WORDS: usize = 3;
/// Bits behind the point.
pub const FRACTION: i32 = 80;
/// Terms are smaller than this.
pub const LIMIT: f64 = (1u128 << 76) as f64;

/// A sum that any thread can add to.
#[derive(Default)]
pub struct Shared([AtomicU64; WORDS]);

impl Shared {
    /// Adds a term below [`LIMIT`], or takes it away. What lies below a unit is cut off.
    pub fn add(&self, term: f64, take: bool) {
        let (word, parts) = units(term);
        self.change(word, parts, (term < 0.0) != take);
    }

    /// Adds a number of units of 2^`exponent`. The exponent is -80 at least, and the product is below 2¹¹².
    pub fn add_units(&self, count: i64, exponent: i32) {
        let shift = (exponent + FRACTION) as u32;
        let wide = u128::from(count.unsigned_abs()) << (shift % 64);
        self.change(shift as usize / 64, [wide as u64, (wide >> 64) as u64], count < 0);
    }

    /// Adds an integer, modulo 2⁶⁴; see [`Shared::low`].
    pub fn add_low(&self, count: u64) {
        self.0[0].fetch_add(count, Relaxed);
    }

    /// The lowest word, which is the sum of integers.
    pub fn low(&self) -> u64 {
        self.0[0].load(Relaxed)
    }

    pub fn load(&self) -> Wide {
        Wide(std::array::from_fn(|i| self.0[i].load(Relaxed)))
    }

    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// Adds to two words and carries on as far as it has to, or subtracts. Others may do the same in between: each carry
    /// reaches its word at last, and words are added modulo 2⁶⁴, so what stands there in the end is the sum.
    fn change(&self, first: usize, parts: [u64; 2], subtract: bool) {
        let mut carry = 0;
        for (i, word) in self.0[first..].iter().enumerate() {
            // The second part is at most 2⁶³, so a carry fits.
            let amount = parts.get(i).map_or(0, |part| *part) + carry;
            carry = match (amount, subtract) {
                (0, _) => 0,
                (_, false) => u64::from(word.fetch_add(amount, Relaxed).overflowing_add(amount).1),
                (_, true) => u64::from(word.fetch_sub(amount, Relaxed).overflowing_sub(amount).1),
            };
            if i > 0 && carry == 0 {
                break;
            }
        }
    }
}

/// The size of a term in units: a word, and what is added there and to the next one.
fn units(term: f64) -> (usize, [u64; 2]) {
    let bits = term.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // A subnormal of f64 is far below a unit.
    let mantissa = if exponent == 0 { 0 } else { fraction | 1 << 52 };
    let shift = exponent - 1023 - 52 + FRACTION;
    if shift < 0 {
        return (0, [mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0), 0]);
    }
    // A term below 2⁷⁶ ends below bit 76 + 80 = 156, so the next word exists.
    let wide = u128::from(mantissa) << (shift % 64);
    (shift as usize / 64, [wide as u64, (wide >> 64) as u64])
}

/// A sum that one thread has.
#[derive(Clone, Copy, Default)]
pub struct Wide([u64; WORDS]);

impl Wide {
    /// As [`Shared::add_units`].
    pub fn add_units(&mut self, count: i64, exponent: i32) {
        let shift = (exponent + FRACTION) as u32;
        let wide = u128::from(count.unsigned_abs()) << (shift % 64);
        let mut term = [0; WORDS];
        for (slot, part) in term[shift as usize / 64..].iter_mut().zip([wide as u64, (wide >> 64) as u64]) {
            *slot = part;
        }
        if count < 0 {
            term = negated(term);
        }
        let mut carry = false;
        for (word, part) in self.0.iter_mut().zip(term) {
            (*word, carry) = with_carry(*word, part, carry);
        }
    }

    /// To the nearest f32, ties to even.
    pub fn rounded(self) -> f32 {
        let negative = self.0[WORDS - 1] >> 63 != 0;
        let words = if negative { negated(self.0) } else { self.0 };
        let Some(top) = words.iter().rposition(|&word| word != 0) else { return 0.0 };
        // The highest 64 bits, and in the lowest of them whether anything lies below: as a number of 128 bits it rounds as
        // the whole would.
        let high = u128::from(words[top]) << 64 | u128::from(if top > 0 { words[top - 1] } else { 0 });
        let rest = words[..top.saturating_sub(1)].iter().any(|&word| word != 0);
        // 2⁻⁸⁰ in units of the word below the top one.
        let exponent = 64 * (top as i32 - 1) - FRACTION;
        // In f64, since the power may be below those of f32; the product is a power times the f32 again.
        let size = f64::from((high | u128::from(rest)) as f32) * 2f64.powi(exponent);
        (if negative { -size } else { size }) as f32
    }
}

/// A sum of threads' parts without high ones, as most are: 128 bits hold it.
#[derive(Clone, Copy, Default)]
pub struct Narrow(i128);

impl Narrow {
    /// Adds a thread's parts, from low to high; `None` if there is a high one.
    pub fn plus(self, [low, middle, high]: [i64; 3]) -> Option<Narrow> {
        (high == 0).then(|| Narrow(self.0 + i128::from(low) + (i128::from(middle) << BITS)))
    }

    /// To the nearest f32, ties to even. Units are far above the subnormal numbers, so the product is exact.
    pub fn rounded(self) -> f32 {
        const UNIT: f32 = 1.0 / (1u128 << FRACTION) as f32;
        match i64::try_from(self.0) {
            Ok(sum) => sum as f32 * UNIT,
            Err(_) => self.0 as f32 * UNIT,
        }
    }
}

fn negated(mut words: [u64; WORDS]) -> [u64; WORDS] {
    let mut carry = true;
    for word in &mut words {
        (*word, carry) = with_carry(!*word, 0, carry);
    }
    words
}

/// What `u64::carrying_add` will be.
fn with_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, over) = a.overflowing_add(b);
    let (sum, again) = sum.overflowing_add(u64::from(carry));
    (sum, over || again)
}
