//! The fibers of one thread that are ready to run, in the order in which they were woken.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

pub(super) struct Ready {
    numbers: Mutex<VecDeque<usize>>,
    some: Condvar,
}

impl Ready {
    pub fn new() -> Arc<Ready> {
        Arc::new(Ready { numbers: Mutex::default(), some: Condvar::new() })
    }

    pub fn take(&self) -> Option<usize> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Blocks the thread until a fiber may go on, or until so long has passed.
    pub fn wait(&self, at_most: Duration) -> Option<usize> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.some.wait_timeout_while(numbers, at_most, |numbers| numbers.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }
}

/// Lets one suspended fiber go on; from any thread.
pub struct Waker {
    ready: Arc<Ready>,
    number: usize,
}

impl Waker {
    pub(super) fn new(ready: Arc<Ready>, number: usize) -> Waker {
        Waker { ready, number }
    }

    pub fn wake(self) {
        self.ready.numbers.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.number);
        self.ready.some.notify_one();
    }
}
