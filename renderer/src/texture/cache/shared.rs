//! What the threads of a cache share, and how a tile is found, read and dropped.

use super::TileKey;
use super::budget::{Budget, Charge};
use super::cached::Cached;
use super::failures::Failures;
use super::files::Files;
use super::loading::{Queue, Waiter};
use super::shard::{Asked, Evicted, Shard};
use super::statistics::{add, add_time};
use super::tile::{OVERHEAD, Texels};
use crate::fiber;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What threads share.
pub(super) struct Shared {
    /// Distinguishes this cache from others that a thread has seen.
    pub id: u64,
    pub budget: Arc<Budget>,
    pub shards: Box<[Mutex<Shard>]>,
    pub textures: Box<[Cached]>,
    pub files: Option<Arc<Files>>,
    pub failures: Failures,
    pub queue: Queue,
    /// Which shard gives up a tile next.
    pub turn: AtomicUsize,
    pub evictions: AtomicUsize,
    /// Nothing is read any more: see [`TileCache::cancel`].
    pub cancelled: AtomicBool,
    pub blanks: AtomicU64,
    /// A moving mean of what a read takes, in nanoseconds.
    pub read_time: AtomicU64,
    pub front_entries: usize,
    /// Gives up the tiles that the calling thread's front holds.
    pub release_front: fn(&Shared),
    /// Of the budget, for as long as the cache lives: tables and fronts.
    pub fixed: Charge,
}

/// Below this, a fiber that needs a tile reads it itself: handing it over costs more.
const QUICK_READ: Duration = Duration::from_micros(150);

/// What to do where there is no room for a tile.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Patience {
    Endless,
    None,
}

impl Shared {
    fn shard(&self, key: TileKey) -> MutexGuard<'_, Shard> {
        // Upper bits: a front's index takes those above.
        let index = (key.hash() >> 40) as usize % self.shards.len();
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tile, from the table or from its source. `ahead` lists other tiles that the caller will ask for: they are
    /// asked for before it waits.
    pub fn fetch(&self, key: TileKey, ahead: &mut dyn FnMut(&mut Vec<TileKey>)) -> Texels {
        if self.textures[key.texture() as usize].has_failed(key.tile()) {
            return Texels::default();
        }
        let mut waiter = None;
        let asked = self.shard(key).ask(key, || {
            waiter = Some(Waiter::here());
            waiter.clone()
        });
        let counters = &self.textures[key.texture() as usize].counters;
        if self.cancelled.load(Ordering::Acquire) && !matches!(asked, Asked::Ready(_)) {
            if matches!(asked, Asked::Yours) {
                self.give_up(key);
            }
            return self.blank();
        }
        match asked {
            Asked::Ready(tile) => return tile,
            Asked::Loading => {}
            Asked::Yours => {
                let on_fiber = fiber::current_waker().is_some();
                let quick = self.read_time.load(Ordering::Relaxed) < QUICK_READ.as_nanos() as u64;
                let patience = if on_fiber { Patience::None } else { Patience::Endless };
                if (quick || !on_fiber)
                    && let Some(tile) = self.load(key, patience)
                {
                    add(&counters.misses, 1);
                    return tile;
                }
                let here = Waiter::here();
                self.shard(key).wait_for(key, here.clone());
                self.queue.push(key);
                waiter = Some(here);
            }
        }
        add(&counters.misses, 1);
        let mut others = Vec::new();
        ahead(&mut others);
        for other in others {
            let has_failed = self.textures[other.texture() as usize].has_failed(other.tile());
            if !has_failed && matches!(self.shard(other).ask(other, || None), Asked::Yours) {
                self.queue.push(other);
            }
        }
        let begin = Instant::now();
        let tile = match waiter {
            Some(waiter) => waiter.wait(),
            // Unreachable: whoever does not load it waits for it. Asking again is right in any case.
            None => return self.fetch(key, &mut |_| {}),
        };
        add_time(&counters.waiting_nanoseconds, begin.elapsed());
        tile
    }

    /// A tile for who shall not wait any more.
    pub fn blank(&self) -> Texels {
        self.blanks.fetch_add(1, Ordering::AcqRel);
        Texels::default()
    }

    /// Gives back a tile that the caller was to load.
    pub fn give_up(&self, key: TileKey) {
        let waiters = self.shard(key).forget(key);
        waiters.iter().for_each(|waiter| waiter.answer(self.blank()));
    }

    /// Reads a tile that was given to the caller to load, and tells who waits for it. `None` where there is no room and
    /// no patience, or where all was cancelled; it is then still the caller's.
    pub fn load(&self, key: TileKey, patience: Patience) -> Option<Texels> {
        if self.cancelled.load(Ordering::Acquire) {
            return None;
        }
        let cached = &self.textures[key.texture() as usize];
        if cached.has_failed(key.tile()) {
            return Some(self.without_texels(key));
        }
        let (level, x, y) = cached.place(key.tile());
        let size = cached.source.layout().tile_bytes(level);
        let (mut texels, charge) = self.room(size, patience)?;
        let begin = Instant::now();
        let result = match Arc::get_mut(&mut texels) {
            // Who waits must be answered whatever happens in a decoder.
            Some(out) => catch_unwind(AssertUnwindSafe(|| cached.source.read_tile(level, x, y, out)))
                .unwrap_or_else(|_| Err("its reader failed".to_owned())),
            None => Err("its memory is shared".to_owned()),
        };
        self.count_read(cached, key, size, begin.elapsed());
        if let Err(why) = result {
            add(&cached.counters.failed_reads, 1);
            self.failures.add(key, why);
            cached.fail(key.tile());
            return Some(self.without_texels(key));
        }
        let waiters = self.shard(key).publish(key, texels.clone(), charge);
        waiters.iter().for_each(|waiter| waiter.answer(texels.clone()));
        Some(texels)
    }

    /// Answers who waits for a tile that could not be read. It takes no place in the table and nothing of the budget: the bit
    /// says all of it. An empty `Arc` is shared by all who have one, so in the table it would look held for ever.
    fn without_texels(&self, key: TileKey) -> Texels {
        let waiters = self.shard(key).forget(key);
        waiters.iter().for_each(|waiter| waiter.answer(Texels::default()));
        Texels::default()
    }

    fn count_read(&self, cached: &Cached, key: TileKey, size: usize, time: Duration) {
        let counters = &cached.counters;
        add(&counters.tiles_read, 1);
        add(&counters.bytes_read, size as u64);
        add_time(&counters.read_nanoseconds, time);
        let (word, bit) = (key.tile() / 64, 1 << (key.tile() % 64));
        if cached.seen[word as usize].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            add(&counters.redundant_reads, 1);
        }
        // Racing threads may lose an update, which a mean can bear.
        let (mean, now) = (self.read_time.load(Ordering::Relaxed), time.as_nanos().min(u128::from(u32::MAX)) as u64);
        self.read_time.store(mean - mean / 8 + now / 8, Ordering::Relaxed);
    }

    /// Memory for a tile of so many bytes, dropping tiles for it. What it holds means nothing.
    fn room(&self, size: usize, patience: Patience) -> Option<(Texels, Charge)> {
        loop {
            if let Some(charge) = self.budget.take(size + OVERHEAD) {
                return Some((std::iter::repeat_n(0, size).collect(), charge));
            }
            match self.evict() {
                // The memory goes on as it is: freed, it would stay with the thread that allocated it, and as many times
                // the budget could be taken as there are threads.
                Some(Evicted { texels, charge, .. }) if texels.len() == size => return Some((texels, charge)),
                Some(_) => {}
                None => {
                    (self.release_front)(self);
                    if patience == Patience::None || self.cancelled.load(Ordering::Acquire) {
                        return None;
                    }
                    self.budget.wait();
                }
            }
        }
    }

    /// Takes one tile out; `None` where every tile is held.
    fn evict(&self) -> Option<Evicted> {
        for _ in 0..self.shards.len() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.shards.len();
            let dropped = self.shards[turn].lock().unwrap_or_else(PoisonError::into_inner).evict();
            if let Some(evicted) = dropped {
                self.evictions.fetch_add(1, Ordering::Relaxed);
                add(&self.textures[evicted.key.texture() as usize].counters.evictions, 1);
                return Some(evicted);
            }
        }
        None
    }
}
