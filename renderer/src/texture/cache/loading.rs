//! Tiles that are being read: which fibers and threads wait for them, and the threads that read them.

use super::tile::{Texels, TileKey};
use crate::fiber::{self, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Thread;

/// Somebody who waits for one tile, and the place where it is handed over. Holding it there keeps it in the cache until
/// it has been read.
pub struct Waiter {
    texels: Mutex<Option<Texels>>,
    wake: Mutex<Option<Wake>>,
}

enum Wake {
    Fiber(Waker),
    Thread(Thread),
}

impl Waiter {
    /// For the fiber, or the thread, that calls this.
    pub fn here() -> Arc<Waiter> {
        let wake = fiber::current_waker().map_or_else(|| Wake::Thread(std::thread::current()), Wake::Fiber);
        Arc::new(Waiter { texels: Mutex::new(None), wake: Mutex::new(Some(wake)) })
    }

    /// Hands the tile over, and lets who waits go on.
    pub fn answer(&self, texels: Texels) {
        *self.texels.lock().unwrap_or_else(PoisonError::into_inner) = Some(texels);
        match self.wake.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Wake::Fiber(waker)) => waker.wake(),
            Some(Wake::Thread(thread)) => thread.unpark(),
            None => {}
        }
    }

    /// Waits where [`Waiter::here`] was called: a fiber lets its thread run others, a thread stands still.
    pub fn wait(&self) -> Texels {
        loop {
            if let Some(texels) = self.texels.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return texels;
            }
            match fiber::current_waker() {
                Some(_) => fiber::suspend(),
                None => std::thread::park(),
            }
        }
    }
}

/// Tiles to be read, in the order in which they were asked for.
#[derive(Default)]
pub struct Queue {
    keys: Mutex<State>,
    some: Condvar,
}

#[derive(Default)]
struct State {
    keys: VecDeque<TileKey>,
    closed: bool,
}

impl Queue {
    pub fn push(&self, key: TileKey) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).keys.push_back(key);
        self.some.notify_one();
    }

    /// The next tile to read; `None` when there will be none.
    pub fn next(&self) -> Option<TileKey> {
        let mut state = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(key) = state.keys.pop_front() {
                return Some(key);
            }
            if state.closed {
                return None;
            }
            state = self.some.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No more tiles: who waits in [`Queue::next`] gets `None`.
    pub fn close(&self) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.some.notify_all();
    }
}
