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
//! - Ints are added modulo 2³², as the language adds them.
//! - A sum takes 24 bytes, which are written only if the integers of 64 bits that each thread keeps do not suffice, and 4
//!   for a term that comes alone.

mod alone;
mod compact;
mod fixed;
mod lanes;
mod local;

pub use compact::Compact;
pub use fixed::LIMIT;

use crate::buffer::{BufferError, Element, ViewMut};
use alone::Alone;
use fixed::{Narrow, Shared};
use lanes::UNITS;
use local::Local;
use rayon::prelude::*;
use ssl_compiler::runtime::{AddRequest, LANES, Row};
use ssl_compiler::types::Scalar;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sums of which one flag says that they are not all zero, and that one thread reads together.
const CHUNK: usize = 1 << 10;

/// The sums that all threads share.
struct Base {
    kinds: Box<[Scalar]>,
    /// Whether there is nothing but floats.
    floats: bool,
    len: usize,
    sums: Box<[Shared]>,
    /// By chunk of sums.
    written: Box<[AtomicBool]>,
    alone: Alone,
    left_out: AtomicI64,
}

impl Base {
    fn columns(&self) -> usize {
        self.kinds.len()
    }

    fn kind(&self, column: usize) -> Scalar {
        self.kinds[column]
    }

    fn len(&self) -> usize {
        self.len
    }

    /// A sum that is about to change.
    fn at(&self, element: usize, column: usize) -> &Shared {
        let sum = element * self.columns() + column;
        let written = &self.written[sum / CHUNK];
        // Storing what stands there already would take the line from other cores.
        if !written.load(Relaxed) {
            written.store(true, Relaxed);
        }
        &self.sums[sum]
    }

    fn add(&self, element: usize, column: usize, term: f64, take: bool) {
        if term.abs() < LIMIT {
            self.at(element, column).add(term, take);
        } else {
            self.leave_out(take);
        }
    }

    /// Counts a term that is not finite or too large.
    fn leave_out(&self, take: bool) {
        self.left_out.fetch_add(if take { -1 } else { 1 }, Relaxed);
    }
}

impl Base {
    /// Adds a lane of a row to a sum, or takes it away.
    fn add_lane(&self, (element, column): (usize, usize), row: &Row, lane: usize, take: bool) {
        match self.kind(column) {
            Scalar::Float => self.add(element, column, f64::from(row.0[lane]), take),
            Scalar::Int | Scalar::Bool => {
                let term = i64::from(row.int(lane));
                self.at(element, column).add_low(if take { term.wrapping_neg() } else { term } as u64);
            }
        }
    }
}

/// A sum for each scalar of each element of a buffer.
///
/// ```
/// use kernels::{Arrangement, Buffer, Element, sums::Sums};
///
/// let mut sums = Sums::new(&Element::floats(1), 3)?;
/// // In floats, either order would lose the small terms.
/// [1e8, 1e-8, -1e8, 1e-8].into_iter().for_each(|term| sums.add(2, 0, term));
/// let mut buffer = Buffer::new(Element::floats(1), Arrangement::Columns, 3)?;
/// sums.write(buffer.view_mut())?;
/// assert_eq!(buffer.values::<f32>()?, [0.0, 0.0, 2e-8]);
/// # Ok::<(), kernels::BufferError>(())
/// ```
pub struct Sums {
    element: Element,
    base: Base,
    locals: Box<[Mutex<Local>]>,
}

impl Sums {
    /// Zeros.
    ///
    /// # Errors
    /// The element has a bool, which cannot be added to; there are too many elements, or no memory for them.
    pub fn new(element: &Element, len: usize) -> Result<Sums, BufferError> {
        if element.scalars().contains(&Scalar::Bool) {
            return Err(BufferError::Type { wanted: "floats and ints".to_owned(), found: element.to_string() });
        }
        if len > i32::MAX as usize {
            return Err(BufferError::TooLong { length: len, limit: i32::MAX as usize });
        }
        let count = len * element.len();
        let mut sums = Vec::new();
        let bytes = count.saturating_mul(size_of::<Shared>());
        sums.try_reserve_exact(count).map_err(|_| BufferError::OutOfMemory { bytes })?;
        sums.resize_with(count, Shared::default);
        let alone = Alone::new(len, element.len());
        let alone = alone.ok_or(BufferError::OutOfMemory { bytes: Alone::bytes_of(len, element.len()) })?;
        let written = (0..count.div_ceil(CHUNK)).map(|_| AtomicBool::new(false)).collect();
        let local = || Mutex::new(Local::new(len, element.len()));
        Ok(Sums {
            element: element.clone(),
            base: Base {
                kinds: element.scalars().into(),
                floats: element.scalars().iter().all(|scalar| *scalar == Scalar::Float),
                len,
                sums: sums.into_boxed_slice(),
                written,
                alone,
                left_out: AtomicI64::new(0),
            },
            locals: (0..rayon::current_num_threads()).map(|_| local()).collect(),
        })
    }

    /// The type of the elements.
    pub fn element(&self) -> &Element {
        &self.element
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.base.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that the sums take, those of all threads included.
    pub fn bytes(&self) -> usize {
        let locals = self.locals.iter().map(|local| lock(local).bytes()).sum::<usize>();
        let alone = Alone::bytes_of(self.len(), self.base.columns());
        self.base.sums.len() * size_of::<Shared>() + self.base.written.len() + alone + locals
    }

    /// The bytes that so many sums take, those of all threads of rayon's current pool included.
    pub fn bytes_of(element: &Element, len: usize) -> usize {
        let count = len.saturating_mul(element.len());
        let shared = count.saturating_mul(size_of::<Shared>()).saturating_add(count.div_ceil(CHUNK));
        let shared = shared.saturating_add(Alone::bytes_of(len, element.len()));
        shared.saturating_add(Local::bytes_of(len, element.len()).saturating_mul(rayon::current_num_threads()))
    }

    /// Adds a float.
    ///
    /// # Panics
    /// If there is no such element or column, or the column holds ints.
    pub fn add(&self, element: usize, column: usize, term: f64) {
        assert!(element < self.len(), "no element {element} among {}", self.len());
        assert_eq!(self.base.kind(column), Scalar::Float, "the column holds no floats");
        self.base.add(element, column, term, false);
    }

    /// A thread's access while it runs a part of a launch. Threads that add at the same time should have different
    /// numbers; where two have the same, the later one adds to the shared sums, more slowly.
    pub fn adder(&self, thread: usize) -> Adder<'_> {
        let local = match self.locals[thread % self.locals.len()].try_lock() {
            Ok(local) => Some(local),
            Err(std::sync::TryLockError::Poisoned(local)) => Some(local.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        };
        Adder { base: &self.base, local }
    }

    /// How many terms were not finite or too large, and added nothing.
    pub fn left_out(&self) -> u64 {
        // Terms are taken away only after they were added.
        self.base.left_out.load(Relaxed).max(0) as u64
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self) {
        *self.base.left_out.get_mut() = 0;
        self.locals.iter_mut().for_each(|local| unlocked(local).clear());
        self.base.alone.clear();
        let chunks = self.base.sums.par_chunks_mut(CHUNK).zip(&mut self.base.written);
        chunks.for_each(|(sums, written)| {
            if std::mem::take(written.get_mut()) {
                sums.iter_mut().for_each(Shared::clear);
            }
        });
    }

    /// Rounds the sums into a buffer.
    ///
    /// # Errors
    /// The buffer has another type or length.
    pub fn write(&mut self, mut to: ViewMut<'_>) -> Result<(), BufferError> {
        if to.element() != &self.element {
            return Err(BufferError::Type { wanted: to.element().to_string(), found: self.element.to_string() });
        }
        if to.len() != self.len() {
            return Err(BufferError::Length { wanted: to.len(), found: self.len() });
        }
        // No thread waits for a lock, since nobody else has a reference.
        let locals = self.locals.iter_mut().map(|local| &*unlocked(local)).filter(|local| local.is_used());
        let locals: smallvec::SmallVec<[&Local; 64]> = locals.collect();
        let (base, columns) = (&self.base, self.base.columns());
        let per_chunk = (CHUNK / columns.max(1)).max(1);
        to.fill_with(per_chunk, &|element, column| {
            let sum = element * columns + column;
            let shared = base.written[sum / CHUNK].load(Relaxed).then(|| &base.sums[sum]);
            if base.floats && locals.is_empty() && shared.is_none() {
                return base.alone.get(element, column).map_or(0, |term| alone::sum_of(term).to_bits());
            }
            read(base, &locals, shared, element, column)
        });
        Ok(())
    }

    /// The sum of an element's float.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn read(&self, element: usize, column: usize) -> f32 {
        let mut sum = self.base.sums[element * self.base.columns() + column].load();
        self.locals.iter().for_each(|local| lock(local).add_to(&self.base, element, column, &mut sum));
        let alone = self.base.alone.get(element, column).map(|term| lanes::units(term.into()));
        alone.into_iter().flat_map(|parts| parts.into_iter().zip(UNITS)).for_each(|(n, unit)| sum.add_units(n, unit));
        sum.rounded()
    }
}

impl Sums {
    /// The sum of an element's int.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn read_int(&self, element: usize, column: usize) -> i32 {
        let sum = self.base.sums[element * self.base.columns() + column].low();
        let parts = self.locals.iter().filter_map(|local| lock(local).read(&self.base, element, column));
        parts.fold(sum, |sum, [count, ..]| sum.wrapping_add(count as u64)) as i32
    }
}

/// The word of a sum, from what all threads share and what each has.
fn read(base: &Base, locals: &[&Local], shared: Option<&Shared>, element: usize, column: usize) -> u32 {
    let parts = || locals.iter().filter_map(|local| local.read(base, element, column));
    if base.kind(column) != Scalar::Float {
        let sum = shared.map_or(0, Shared::low);
        return parts().fold(sum, |sum, [count, ..]| sum.wrapping_add(count as u64)) as u32;
    }
    let alone = base.alone.get(element, column);
    if shared.is_none() && parts().next().is_none() {
        return alone.map_or(0, |term| alone::sum_of(term).to_bits());
    }
    let parts = || parts().chain(alone.map(|term| lanes::units(term.into())));
    if shared.is_none()
        && let Some(sum) = parts().try_fold(Narrow::default(), Narrow::plus)
    {
        return sum.rounded().to_bits();
    }
    let mut sum = shared.map(Shared::load).unwrap_or_default();
    parts().flat_map(|parts| parts.into_iter().zip(UNITS)).for_each(|(count, unit)| sum.add_units(count, unit));
    sum.rounded().to_bits()
}

fn lock(local: &Mutex<Local>) -> MutexGuard<'_, Local> {
    local.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlocked(local: &mut Mutex<Local>) -> &mut Local {
    local.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// See [`Sums::adder`].
pub struct Adder<'a> {
    base: &'a Base,
    local: Option<MutexGuard<'a, Local>>,
}

impl Adder<'_> {
    /// Adds what a request of compiled code says; with `take`, takes it away again. The column `first` of the request is the
    /// first one of the element.
    pub fn request(&mut self, request: &AddRequest, first: usize, take: bool) {
        let own = request.column as usize - first;
        let values = &request.values[..request.count as usize];
        let neighbours = request.uniform == 0 && self.base.floats && !take;
        if let Some(start) = neighbours.then(|| self.base.alone.start(request)).flatten() {
            for (i, row) in values.iter().enumerate() {
                let late = self.base.alone.keep(start, own + i, row, request.mask);
                if late != 0 {
                    self.add((own + i, std::slice::from_ref(row)), request, late, take);
                }
            }
        } else {
            self.add((own, values), request, request.mask, take);
        }
    }

    /// Adds to integers what lanes of a request have in rows, the first of which goes to the column `first`.
    fn add(&mut self, (first, values): (usize, &[Row]), request: &AddRequest, mask: u32, take: bool) {
        if let Some(local) = &mut self.local {
            local.add(self.base, (first, values), request, mask, take);
            return;
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let element = request.index.0[lane] as usize;
            if element >= self.base.len {
                continue;
            }
            for (i, row) in values.iter().enumerate() {
                self.base.add_lane((element, first + i), row, lane, take);
            }
        }
    }
}
