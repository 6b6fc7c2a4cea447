//! Sums that are the same for any order of their terms.
//!
//! Many points add to one element, on as many threads as there are, in an order that nobody fixes. Sums of floats would come
//! out differently each time. Here a sum is an integer of 192 bits in units of 2⁻⁸⁰. Adding integers has no rounding, so the
//! order does not matter; the sum is rounded once, when it is read.
//!
//! - A term goes in exactly if its lowest bit is at least 2⁻⁸⁰: any f32 of 2⁻⁵⁷ (7·10⁻¹⁸) or more in size. What lies below
//!   2⁻⁸⁰ (8·10⁻²⁵) is cut off, so n terms lose less than n·2⁻⁸⁰.
//! - A term that is not finite, or not below 2⁷⁶ (7·10²²) in size, adds nothing and is counted. Terms below that bound cannot
//!   overflow the sum before 2³⁵ of them have come.
//! - An element takes 24 bytes, six times those of an f32. If there are few elements, each thread adds to a copy of its own,
//!   since cores that write to the same line of memory wait for each other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of a sum, the lowest one first, in two's complement.
const WORDS: usize = 3;
/// Bits behind the point.
const FRACTION: i32 = 80;
/// Terms are smaller than this.
pub const LIMIT: f64 = (1u128 << 76) as f64;
/// With at most so many elements each thread has a copy of its own.
const FEW: usize = 1 << 12;

type Element = [AtomicU64; WORDS];

/// A sum for each element of a buffer.
pub struct Sums {
    copies: Vec<Box<[Element]>>,
    left_out: AtomicU64,
}

impl Sums {
    /// Zeros.
    pub fn new(len: usize) -> Self {
        let copies = if len <= FEW { rayon::current_num_threads() } else { 1 };
        let zeros = || (0..len).map(|_| Element::default()).collect();
        Self { copies: (0..copies).map(|_| zeros()).collect(), left_out: AtomicU64::new(0) }
    }

    pub fn len(&self) -> usize {
        self.copies[0].len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that all copies take.
    pub fn bytes(&self) -> usize {
        self.copies.len() * self.len() * size_of::<Element>()
    }

    /// Adds a term to an element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn add(&self, element: usize, term: f64) {
        let copy = rayon::current_thread_index().unwrap_or(0) % self.copies.len();
        let sum = &self.copies[copy][element];
        let fits = term.abs() < LIMIT;
        if !fits {
            self.left_out.fetch_add(1, Relaxed);
            return;
        }
        let (word, parts) = units(term);
        if term < 0.0 {
            change(sum, word, parts, AtomicU64::fetch_sub, u64::overflowing_sub);
        } else {
            change(sum, word, parts, AtomicU64::fetch_add, u64::overflowing_add);
        }
    }

    /// The sum of an element. Its error is that of what was cut off, and one rounding.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn read(&self, element: usize) -> f32 {
        let mut total = [0; WORDS];
        for copy in &self.copies {
            let mut carry = false;
            for (total, word) in total.iter_mut().zip(&copy[element]) {
                (*total, carry) = total.with_carry(word.load(Relaxed), carry);
            }
        }
        rounded(total)
    }

    /// How many terms were not finite or too large, and added nothing.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self) {
        self.left_out = AtomicU64::new(0);
        self.copies.iter_mut().flatten().flatten().for_each(|word| *word.get_mut() = 0);
    }
}

/// What `u64::carrying_add` will be.
trait Carry: Sized {
    fn with_carry(self, other: Self, carry: bool) -> (Self, bool);
}

impl Carry for u64 {
    fn with_carry(self, other: u64, carry: bool) -> (u64, bool) {
        let (sum, over) = self.overflowing_add(other);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        (sum, over || again)
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

/// Adds to two words, or takes from them, and carries on as far as it has to. Others may do the same in between: each
/// carry reaches its word at last, and words are added modulo 2⁶⁴, so what stands there in the end is the sum.
fn change(
    sum: &Element,
    first: usize,
    parts: [u64; 2],
    swap: fn(&AtomicU64, u64, std::sync::atomic::Ordering) -> u64,
    overflowing: fn(u64, u64) -> (u64, bool),
) {
    let mut carry = 0;
    for (i, word) in sum[first..].iter().enumerate() {
        // The second part is below 2⁵³, so a carry fits.
        let part = parts.get(i).map_or(0, |part| *part);
        let amount = part + carry;
        if amount != 0 {
            carry = u64::from(overflowing(swap(word, amount, Relaxed), amount).1);
        }
        if i > 0 && carry == 0 {
            break;
        }
    }
}

/// To the nearest f32, ties to even.
fn rounded(sum: [u64; WORDS]) -> f32 {
    let negative = sum[WORDS - 1] >> 63 != 0;
    let mut words = sum;
    if negative {
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).with_carry(0, carry);
        }
    }
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
