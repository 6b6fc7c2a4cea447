//! One thread's part of the sums: three integers of 64 bits for each, in units that are fixed.
//!
//! What an element's integers hold is exact, wherever a term went. So the result is the same whatever went where.

use super::Base;
use super::fixed::{LIMIT, Wide};
use super::lanes::{self, AddRows, BITS, UNITS};
use ssl_compiler::runtime::{AddRequest, LANES, Row};
use ssl_compiler::types::Scalar;

/// Memory of one thread's part.
const BYTES: usize = 16 << 20;
/// Requests after which low and middle integers hand on what is above their [`BITS`]. A request adds less than 16 times 2 to
/// these, so the integers cannot overflow before.
const PENDING: u32 = 256;
/// A high integer that grows over this goes to the shared sums. A term is below 2⁵⁸.
const FULL: u64 = 1 << 61;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The element that has it, plus 1.
    owner: u32,
    /// Requests since the integers handed on.
    pending: u32,
}

pub struct Local {
    /// The number of entries less 1; entries are a power of 2.
    mask: usize,
    entries: Vec<Entry>,
    /// Whether an entry has an owner.
    used: bool,
    /// By entry and column. Of ints the low integers are the sums.
    lows: Vec<i64>,
    middles: Vec<i64>,
    highs: Vec<i64>,
    add_rows: AddRows,
}

impl Local {
    pub fn new(len: usize, columns: usize) -> Local {
        let count = Local::entries(len, columns);
        let zeros = || vec![0; count * columns];
        Local {
            mask: count - 1,
            entries: vec![Entry::default(); count],
            used: false,
            lows: zeros(),
            middles: zeros(),
            highs: zeros(),
            add_rows: AddRows::fastest(),
        }
    }

    /// The largest power of 2 that fits into the memory, or one that holds all.
    fn entries(len: usize, columns: usize) -> usize {
        let most = (BYTES / (3 * size_of::<i64>() * columns.max(1) + size_of::<Entry>())).max(64);
        len.max(1).next_power_of_two().min(1 << most.ilog2())
    }

    pub fn bytes_of(len: usize, columns: usize) -> usize {
        Local::entries(len, columns) * (size_of::<Entry>() + 3 * size_of::<i64>() * columns)
    }

    pub fn bytes(&self) -> usize {
        size_of::<Entry>() * self.entries.len() + 3 * size_of::<i64>() * self.lows.len()
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.used) {
            self.entries.fill(Entry::default());
        }
    }

    /// Whether there may be something to read.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Whether single terms for an element should go to the shared sums, since there are more elements than entries and this
    /// one has none: few terms would follow before another element takes the entry.
    #[inline]
    fn is_elsewhere(&self, base: &Base, element: usize) -> bool {
        base.len() > self.entries.len() && self.entries[element & self.mask].owner != element as u32 + 1
    }

    /// The first slot of an element, which may have to take the entry from another one, before a request.
    #[inline]
    fn slots(&mut self, base: &Base, element: usize) -> usize {
        let number = element & self.mask;
        let entry = &mut self.entries[number];
        if entry.owner != element as u32 + 1 {
            self.used = true;
            let owner = std::mem::replace(&mut entry.owner, element as u32 + 1);
            self.hand_over(base, number, owner);
        }
        let entry = &mut self.entries[number];
        entry.pending += 1;
        if entry.pending >= PENDING {
            self.carry(base, number, element);
        }
        number * base.columns()
    }

    #[cold]
    fn hand_over(&mut self, base: &Base, number: usize, owner: u32) {
        self.entries[number].pending = 0;
        for column in 0..base.columns() {
            let slot = number * base.columns() + column;
            let parts =
                [&mut self.lows, &mut self.middles, &mut self.highs].map(|parts| std::mem::take(&mut parts[slot]));
            let Some(element) = (owner as usize).checked_sub(1) else { continue };
            if base.kind(column) != Scalar::Float {
                base.at(element, column).add_low(parts[0] as u64);
                continue;
            }
            for (count, exponent) in parts.into_iter().zip(UNITS).filter(|(count, _)| *count != 0) {
                base.at(element, column).add_units(count, exponent);
            }
        }
    }

    /// Hands what is above the bits of a part to the next one.
    #[cold]
    fn carry(&mut self, base: &Base, number: usize, element: usize) {
        self.entries[number].pending = 0;
        let floats = (0..base.columns()).filter(|column| base.kind(*column) == Scalar::Float);
        for slot in floats.map(|column| number * base.columns() + column) {
            let mut carry = 0;
            for parts in [&mut self.lows, &mut self.middles] {
                let sum = parts[slot] + carry;
                carry = sum >> BITS;
                parts[slot] = sum - (carry << BITS);
            }
            self.highs[slot] += carry;
        }
        (0..base.columns()).for_each(|column| self.relieve(base, number, (element, column)));
    }

    /// Sends a high integer that is large to the shared sums.
    #[inline]
    fn relieve(&mut self, base: &Base, number: usize, (element, column): (usize, usize)) {
        let high = &mut self.highs[number * base.columns() + column];
        if high.unsigned_abs() > FULL {
            base.at(element, column).add_units(std::mem::take(high), UNITS[2]);
        }
    }

    /// What this part holds of an element's sum, from low to high, if that is anything.
    #[inline]
    pub fn read(&self, base: &Base, element: usize, column: usize) -> Option<[i64; 3]> {
        let number = element & self.mask;
        let slot = number * base.columns() + column;
        let own = self.entries[number].owner == element as u32 + 1;
        own.then(|| [self.lows[slot], self.middles[slot], self.highs[slot]])
    }

    /// Adds what lanes of a request have in rows, the first of which goes to the column `first`, or takes it away.
    pub fn add(&mut self, base: &Base, (first, values): (usize, &[Row]), request: &AddRequest, mask: u32, take: bool) {
        if request.uniform != 0 {
            let lane = mask.trailing_zeros() as usize;
            if lane < LANES
                && let element = request.index.0[lane] as usize
                && element < base.len()
            {
                self.uniform(base, element, first, values, mask, take);
            }
            return;
        }
        // Lanes that add to one element do so together: neighbouring pixels often see the same triangle.
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let same = (0..LANES).fold(0, |same, i| same | u32::from(request.index.0[i] == request.index.0[lane]) << i);
            let mask = left & same;
            left &= !mask;
            let element = request.index.0[lane] as usize;
            if element >= base.len() {
                continue;
            }
            if self.is_elsewhere(base, element) {
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                    for (i, row) in values.iter().enumerate() {
                        base.add_lane((element, first + i), row, lane, take);
                    }
                }
            } else if mask.is_power_of_two() {
                let slots = self.slots(base, element) + first;
                for (i, row) in values.iter().enumerate() {
                    self.lane(base, slots + i, (element, first + i), row, lane, take);
                }
            } else {
                self.uniform(base, element, first, values, mask, take);
            }
        }
    }

    fn uniform(&mut self, base: &Base, element: usize, first: usize, values: &[Row], mask: u32, take: bool) {
        let slots = self.slots(base, element) + first;
        let range = slots..slots + values.len();
        let mut left = (1u32 << values.len()) - 1;
        let floats = || (first..first + values.len()).all(|column| base.kind(column) == Scalar::Float);
        if !take && (base.floats || floats()) {
            left = self.add_rows.add(values, mask, [&mut self.lows[range.clone()], &mut self.middles[range]]);
        }
        if left == 0 {
            return;
        }
        for (i, row) in values.iter().enumerate().filter(|(i, _)| left >> i & 1 != 0) {
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                self.lane(base, slots + i, (element, first + i), row, lane, take);
            }
        }
    }

    #[inline]
    fn lane(&mut self, base: &Base, slot: usize, place: (usize, usize), row: &Row, lane: usize, take: bool) {
        if base.kind(place.1) != Scalar::Float {
            let term = i64::from(row.int(lane));
            self.lows[slot] = self.lows[slot].wrapping_add(if take { term.wrapping_neg() } else { term });
            return;
        }
        let term = f64::from(row.0[lane]);
        // Of what is not finite, too.
        if term.abs() < LIMIT {
            let [low, middle, high] = lanes::units(if take { -term } else { term });
            self.lows[slot] += low;
            self.middles[slot] += middle;
            if high != 0 {
                self.highs[slot] += high;
                self.relieve(base, place.0 & self.mask, place);
            }
        } else {
            base.leave_out(take);
        }
    }

    /// Adds this part's share of a sum of floats.
    pub fn add_to(&self, base: &Base, element: usize, column: usize, sum: &mut Wide) {
        for (count, unit) in self.read(base, element, column).into_iter().flat_map(|parts| parts.into_iter().zip(UNITS))
        {
            sum.add_units(count, unit);
        }
    }
}

// Low and middle integers begin below 2^BITS, and a request adds less than 2^(BITS + 4). A high integer is at most FULL, and
// takes the carries of that many requests, or a term.
const _: () = assert!((PENDING as i64 + 1) < 1 << (62 - BITS - 4) && FULL + (1 << 60) < 1 << 62);
