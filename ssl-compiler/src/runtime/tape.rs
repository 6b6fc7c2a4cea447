//! Memory for the tapes of one call: rows of 16 lanes, each lane with a column of its own.
//!
//! A call takes an arena and has it alone until it ends. Meanwhile the host may suspend the call (a look-up waits for a
//! tile) and run others on the same thread; each of those takes an arena of its own. Arenas that come back wait for the
//! thread's next call, so that a thread that goes on allocates nothing. The operating system gives memory only for the
//! rows that were ever written.

use super::Row;
use super::block::MAX_TAPE_ROWS;
use std::cell::RefCell;
use std::mem::MaybeUninit;

/// Rows up to which an arena is kept beside the one that a thread keeps in any case.
const MAX_SPARE_ROWS: u32 = 1 << 14;

thread_local! {
    static FREE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

/// The memory of an arena.
struct Memory {
    /// Not even zeros: to write them would take the memory of all rows.
    rows: Box<[MaybeUninit<Row>]>,
    /// Rows from the start that were ever written.
    touched: u32,
}

/// A call's memory for tapes.
pub(crate) struct Arena {
    /// There until the arena is dropped.
    memory: Option<Memory>,
    rows: u32,
}

impl Arena {
    /// An arena of so many rows, within what can be asked for. What stands in them is of no meaning. At least `least`
    /// rows from the first one on can be read and written all the same.
    pub fn take(rows: u32, least: u32) -> Arena {
        let rows = rows.min(MAX_TAPE_ROWS);
        let length = rows.max(least) as usize;
        let kept = FREE.try_with(|free| free.borrow_mut().pop()).ok().flatten();
        let fitting = kept.filter(|memory| memory.rows.len() >= length);
        let memory = fitting.unwrap_or_else(|| Memory { rows: Box::new_uninit_slice(length), touched: 0 });
        Arena { memory: Some(memory), rows }
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    pub fn as_mut_ptr(&mut self) -> *mut Row {
        self.memory.as_mut().map_or(std::ptr::null_mut(), |memory| memory.rows.as_mut_ptr().cast())
    }

    /// Notes that so many rows were written.
    pub fn touched(&mut self, rows: u32) {
        if let Some(memory) = &mut self.memory {
            memory.touched = memory.touched.max(rows);
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        // A thread that ends has no list any more, and the memory goes.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if free.is_empty() || memory.touched <= MAX_SPARE_ROWS {
                free.push(memory);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(arena: &mut Arena) -> usize {
        arena.as_mut_ptr() as usize
    }

    #[test]
    fn a_call_that_ends_leaves_its_arena_to_the_next_and_one_that_is_suspended_does_not() {
        let mut first = Arena::take(100, 1);
        let mut inner = Arena::take(100, 1);
        let (of_first, of_inner) = (address(&mut first), address(&mut inner));
        assert_ne!(of_first, of_inner);
        drop(inner);
        let mut again = Arena::take(50, 1);
        assert_eq!((address(&mut again), again.rows()), (of_inner, 50));
        drop(first);
        drop(again);
        // Whichever comes first, both are there.
        let mut both = [Arena::take(100, 1), Arena::take(100, 1)].map(|mut arena| address(&mut arena));
        both.sort_unstable();
        let mut known = [of_first, of_inner];
        known.sort_unstable();
        assert_eq!(both, known);
    }

    #[test]
    fn of_arenas_that_took_much_memory_a_thread_keeps_one() {
        let mut arenas = [0; 3].map(|_| Arena::take(MAX_SPARE_ROWS + 1, 1));
        arenas.iter_mut().for_each(|arena| arena.touched(MAX_SPARE_ROWS + 1));
        drop(arenas);
        assert_eq!(FREE.with(|free| free.borrow().len()), 1);
    }

    #[test]
    fn an_arena_without_rows_can_be_written_and_read_all_the_same() {
        let mut none = Arena::take(0, 3);
        assert_eq!(none.rows(), 0);
        // SAFETY: an arena has at least as many rows as it was asked for at least, and what is read was just written.
        let read = unsafe {
            let last = none.as_mut_ptr().add(2);
            last.write(Row::splat(5.0));
            (*last).0
        };
        assert_eq!(read, [5.0; 16]);
    }
}
