//! One thread's part of the sums: integers of 64 bits, each in a unit that suits its terms.
//!
//! A term that is a whole number of units goes in exactly; if not, the sum goes to the shared ones and begins again with a
//! unit for the new term. Terms that no unit suits are added to the shared sums at once. All of it is exact, so the result
//! is the same whatever went where.

use super::Base;
use super::fixed::{FRACTION, LIMIT, Wide};
use super::lanes::{self, AddRows, Added, BITS, FULL};
use ssl_compiler::runtime::{AddRequest, LANES, Row};
use ssl_compiler::types::Scalar;

/// Memory of one thread's part.
const BYTES: usize = 8 << 20;
/// 1 over the unit of a sum that has none yet, 2²⁰⁰: no term but 0 is a whole number of these.
const NO_UNIT: f64 = 1.0 / (1u128 << 100) as f64 / (1u128 << 100) as f64;
/// The largest term of those that choose the unit is below 2 to this many units: larger ones fit later on, and the 20
/// binades below it are whole numbers of units.
const FIRST_BITS: i32 = 44;

pub struct Local {
    /// The number of entries less 1; entries are a power of 2.
    mask: usize,
    /// The element that has each entry, plus 1.
    owners: Vec<u32>,
    /// By entry and column: 1 over the unit, a power of 2.
    scales: Vec<f64>,
    sums: Vec<i64>,
    /// Small units, see [`lanes`].
    lows: Vec<i64>,
    add_rows: AddRows,
}

impl Local {
    pub fn new(len: usize, columns: usize) -> Local {
        let most = (BYTES / (24 * columns.max(1) + 4)).max(64);
        // The largest power of 2 that fits, or one that holds all.
        let entries = len.max(1).next_power_of_two().min(1 << most.ilog2());
        Local {
            mask: entries - 1,
            owners: vec![0; entries],
            scales: vec![NO_UNIT; entries * columns],
            sums: vec![0; entries * columns],
            lows: vec![0; entries * columns],
            add_rows: lanes::fastest(),
        }
    }

    pub fn bytes(&self) -> usize {
        4 * self.owners.len() + 8 * self.scales.len() + 16 * self.sums.len()
    }

    pub fn clear(&mut self) {
        self.owners.fill(0);
    }

    /// Whether single terms for an element should go to the shared sums, since there are more elements than entries and this
    /// one has none: few terms would follow before another element takes the entry.
    #[inline]
    fn is_elsewhere(&self, base: &Base, element: usize) -> bool {
        base.len() > self.owners.len() && self.owners[element & self.mask] != element as u32 + 1
    }

    /// The first slot of an element, which may have to take the entry from another one.
    #[inline]
    fn slots(&mut self, base: &Base, element: usize) -> usize {
        let entry = element & self.mask;
        let owner = self.owners[entry];
        if owner != element as u32 + 1 {
            self.hand_over(base, entry, owner);
            self.owners[entry] = element as u32 + 1;
        }
        entry * base.columns()
    }

    #[cold]
    fn hand_over(&mut self, base: &Base, entry: usize, owner: u32) {
        for column in 0..base.columns() {
            let slot = entry * base.columns() + column;
            if owner != 0 {
                self.spill(base, slot, owner as usize - 1, column);
            }
            (self.scales[slot], self.sums[slot], self.lows[slot]) = (NO_UNIT, 0, 0);
        }
    }

    /// Adds a slot to the shared sums and empties it.
    fn spill(&mut self, base: &Base, slot: usize, element: usize, column: usize) {
        let counts = [std::mem::take(&mut self.sums[slot]), std::mem::take(&mut self.lows[slot])];
        if base.kind(column) != Scalar::Float {
            base.at(element, column).add_low(counts[0] as u64);
            return;
        }
        for (count, exponent) in counts.into_iter().zip(lanes::exponents(self.scales[slot])) {
            if count != 0 {
                base.at(element, column).add_units(count, exponent);
            }
        }
    }

    /// What this part holds of an element's sum: numbers, and the exponents of their units.
    pub fn read(&self, base: &Base, element: usize, column: usize) -> impl Iterator<Item = (i64, i32)> + use<> {
        let entry = element & self.mask;
        let slot = entry * base.columns() + column;
        let own = self.owners[entry] == element as u32 + 1;
        let counts = if own { [self.sums[slot], self.lows[slot]] } else { [0; 2] };
        // A sum that has no unit yet is 0.
        counts.into_iter().zip(lanes::exponents(self.scales[slot])).filter(|(count, _)| *count != 0)
    }

    /// Adds what a request says, or takes it away.
    pub fn request(&mut self, base: &Base, request: &AddRequest, own: usize, take: bool) {
        let values = &request.values[..request.count as usize];
        let first = request.column as usize - own;
        if request.uniform != 0 {
            let Some(lane) = request.lanes().next() else { return };
            let element = request.index.0[lane] as usize;
            if element < base.len() {
                self.uniform(base, element, first, values, request.mask, take);
            }
            return;
        }
        for lane in request.lanes() {
            let element = request.index.0[lane] as usize;
            if element >= base.len() {
                continue;
            }
            if self.is_elsewhere(base, element) {
                for (i, row) in values.iter().enumerate() {
                    base.add_lane((element, first + i), row, lane, take);
                }
                continue;
            }
            let slots = self.slots(base, element) + first;
            for (i, row) in values.iter().enumerate() {
                match base.kind(first + i) {
                    Scalar::Float => self.term(base, slots + i, (element, first + i), f64::from(row.0[lane]), take),
                    Scalar::Int | Scalar::Bool => self.int(slots + i, i64::from(row.int(lane)), take),
                }
            }
        }
    }

    fn uniform(&mut self, base: &Base, element: usize, first: usize, values: &[Row], mask: u32, take: bool) {
        let slots = self.slots(base, element) + first;
        let range = slots..slots + values.len();
        let mut added = Added { rest: (1u32 << values.len()) - 1, full: false };
        // Columns of ints have no unit, so their rows are among the rest.
        if !take {
            let sums = [&mut self.sums[range.clone()], &mut self.lows[range.clone()]];
            added = (self.add_rows)(values, mask, &self.scales[range], sums);
        }
        if added != Added::default() {
            self.finish(base, element, first, values, mask, take, added);
        }
    }

    /// What the fast way left.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "the rest of a function that has one less")]
    fn finish(
        &mut self,
        base: &Base,
        element: usize,
        first: usize,
        values: &[Row],
        mask: u32,
        take: bool,
        added: Added,
    ) {
        let slots = self.slots(base, element) + first;
        for (i, row) in values.iter().enumerate().filter(|(i, _)| added.rest >> i & 1 != 0) {
            let (slot, place) = (slots + i, (element, first + i));
            if base.kind(first + i) == Scalar::Float {
                self.row(base, slot, place, row, mask, take);
            } else {
                (0..LANES).filter(|l| mask >> l & 1 != 0).for_each(|l| self.int(slot, i64::from(row.int(l)), take));
            }
        }
        if added.full {
            (slots..slots + values.len()).enumerate().for_each(|(i, slot)| self.spill(base, slot, element, first + i));
        }
    }

    /// Terms of a row that the fast way left. The unit changes if it does not suit at least most of them.
    fn row(&mut self, base: &Base, slot: usize, place: (usize, usize), row: &Row, mask: u32, take: bool) {
        let terms = || (0..LANES).filter(|lane| mask >> lane & 1 != 0).map(|lane| f64::from(row.0[lane]));
        let whole = |term: f64| lanes::units(term, self.scales[slot]).is_some();
        let largest = terms().map(f64::abs).filter(|size| *size < LIMIT).fold(0.0, f64::max);
        if !whole(largest) || terms().filter(|term| !whole(*term)).count() > 2 {
            self.choose_unit(base, slot, place, largest);
        }
        terms().for_each(|term| self.term_as_is(base, slot, place, term, take));
    }

    fn choose_unit(&mut self, base: &Base, slot: usize, (element, column): (usize, usize), largest: f64) {
        if largest == 0.0 {
            return;
        }
        let exponent = (largest.to_bits() >> 52) as i32 - 1023;
        // The limit of terms keeps this below 34.
        let scale = 2f64.powi(-(exponent + 1 - FIRST_BITS).max(-FRACTION));
        if scale != self.scales[slot] {
            self.spill(base, slot, element, column);
            self.scales[slot] = scale;
        }
    }

    #[inline]
    fn term(&mut self, base: &Base, slot: usize, place: (usize, usize), term: f64, take: bool) {
        match lanes::units(term, self.scales[slot]) {
            Some(counts) => self.add(base, slot, place, counts, take),
            None => self.other_term(base, slot, place, term, take),
        }
    }

    #[cold]
    fn other_term(&mut self, base: &Base, slot: usize, place: (usize, usize), term: f64, take: bool) {
        // A unit that is too large for a term suits those before it. If it were to change, it would do so again and again.
        let larger = term.abs() * self.scales[slot] >= (1u64 << BITS) as f64 || self.scales[slot] == NO_UNIT;
        if term.abs() < LIMIT && larger {
            self.choose_unit(base, slot, place, term.abs());
        }
        self.term_as_is(base, slot, place, term, take);
    }

    fn term_as_is(&mut self, base: &Base, slot: usize, place: (usize, usize), term: f64, take: bool) {
        match lanes::units(term, self.scales[slot]) {
            Some(counts) => self.add(base, slot, place, counts, take),
            None => base.add(place.0, place.1, term, take),
        }
    }

    #[inline]
    fn add(&mut self, base: &Base, slot: usize, (element, column): (usize, usize), counts: [i64; 2], take: bool) {
        let [count, low] = if take { counts.map(|count| -count) } else { counts };
        let (sum, lows) = (&mut self.sums[slot], &mut self.lows[slot]);
        *sum += count;
        *lows += low;
        if sum.unsigned_abs().max(lows.unsigned_abs()) > FULL {
            self.spill(base, slot, element, column);
        }
    }

    #[inline]
    fn int(&mut self, slot: usize, term: i64, take: bool) {
        let sum = &mut self.sums[slot];
        *sum = sum.wrapping_add(if take { term.wrapping_neg() } else { term });
    }

    /// Adds this part's share of a sum of floats.
    pub fn add_to(&self, base: &Base, element: usize, column: usize, sum: &mut Wide) {
        for (count, unit) in self.read(base, element, column) {
            sum.add_units(count, unit);
        }
    }
}

/// The exponent of a unit, from 1 over the unit.
// The sum of 16 lanes of terms below 2^BITS is exact in f64, and fits above FULL.
const _: () =
    assert!(BITS + 4 <= f64::MANTISSA_DIGITS as i32 && (1 << (BITS + 4)) < (1 << 63) - FULL && FIRST_BITS < BITS);
