//! The bytes that the cache may hold: counted before they are allocated, and returned when they are freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
    /// Threads that wait for bytes to be given back.
    waiting: AtomicUsize,
    lock: Mutex<()>,
    given_back: Condvar,
}

impl Budget {
    pub fn new(limit: usize) -> Arc<Budget> {
        Arc::new(Budget {
            limit,
            used: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            lock: Mutex::new(()),
            given_back: Condvar::new(),
        })
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Most bytes that were in use together.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Takes bytes, or none where they would pass the limit.
    pub fn take(self: &Arc<Budget>, bytes: usize) -> Option<Charge> {
        let fits = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        let before = self.used.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fits).ok()?;
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        Some(Charge { budget: self.clone(), bytes })
    }

    /// Waits a moment, or until bytes are given back or [`Budget::stir`] is called.
    pub fn wait(&self) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // What frees memory without telling, such as another thread's front, is found by looking again.
        let woken = self.given_back.wait_timeout(guard, Duration::from_micros(500));
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        drop(woken);
    }

    /// Lets who waits for bytes look again: a tile may be dropped that could not before.
    pub fn stir(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.given_back.notify_all();
        }
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
        self.stir();
    }
}

/// Bytes that were taken, given back when dropped.
pub struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Charge {
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_never_passed() {
        let budget = Budget::new(100);
        let held = budget.take(60).expect("60 of 100");
        assert!(budget.take(41).is_none());
        assert!(budget.take(usize::MAX).is_none());
        let rest = budget.take(40).expect("40 are left");
        assert_eq!((budget.used(), held.bytes()), (100, 60));
        drop((held, rest));
        assert_eq!((budget.used(), budget.peak()), (0, 100));
    }
}
