//! Tiles of textures in a fixed budget of memory.
//!
//! A tile is asked for by [`TileReader::with`], which finds it in the thread's own front without a lock, in a shard of
//! the table behind a short one, or reads it. While it is read, a fiber lets its thread do something else.
//!
//! Promises. The bytes of tiles, of the entries for them, of fronts and of what is kept of each texture never pass the
//! budget: they are counted before they are allocated. A tile that was waited for stays until whoever waited has read
//! it. Nobody waits for a tile while holding another, but for a thread's front, whose holds are a fraction of the budget
//! and none where it is small. So a budget of a few tiles is enough for any number of threads and fibers, and who waits
//! is answered: the reader of a tile needs room, room is there as soon as answered fibers have read, and those can
//! always run.
//!
//! A tile that cannot be read is an empty one, with a note for the user; it is not tried again while it is there.

mod budget;
mod failures;
mod files;
mod front;
mod loading;
mod shard;
mod statistics;
#[cfg(test)]
mod tests;
mod tile;

pub use failures::Failure;
pub use files::{FileTexture, Files};
pub use front::TileReader;
pub use statistics::{CacheStatistics, TextureStatistics};
pub use tile::TileKey;

use super::TileSource;
use crate::fiber;
use budget::{Budget, Charge};
use failures::Failures;
use loading::{Queue, Waiter};
use shard::{Asked, Shard};
use statistics::{Counters, add, add_time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tile::{OVERHEAD, Texels};

/// How a cache is set up.
#[derive(Clone, Copy, Debug)]
pub struct CacheOptions {
    /// The budget, in bytes.
    pub bytes: usize,
    /// Threads that look tiles up at the same time.
    pub threads: usize,
    /// Reads of the storage that may be under way for fibers at the same time.
    pub reads: usize,
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions { bytes: 1 << 30, threads: 1, reads: 16 }
    }
}

/// A texture whose tiles the cache keeps.
struct Cached {
    name: String,
    source: Arc<dyn TileSource>,
    /// The number of each level's first tile, and at the end that of all tiles.
    first_tiles: Vec<u64>,
    /// A bit for each tile that was ever read.
    seen: Box<[AtomicU64]>,
    counters: Counters,
}

impl Cached {
    fn new(name: String, source: Arc<dyn TileSource>) -> Cached {
        let mut first_tiles = vec![0];
        for level in &source.layout().levels {
            first_tiles.push(first_tiles[first_tiles.len() - 1] + level.tiles());
        }
        let tiles = first_tiles[first_tiles.len() - 1];
        let seen = (0..tiles.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Cached { name, source, first_tiles, seen, counters: Counters::default() }
    }

    /// What is kept of the texture as long as the cache lives, in bytes.
    fn bytes(&self) -> usize {
        size_of::<Cached>()
            + self.name.len()
            + 8 * (self.first_tiles.len() + self.seen.len())
            + size_of_val(self.source.layout().levels.as_slice())
    }

    /// Level, column and row of a tile.
    fn place(&self, tile: u64) -> (usize, u32, u32) {
        let level = self.first_tiles.partition_point(|&first| first <= tile) - 1;
        let columns = u64::from(self.source.layout().levels[level].columns());
        let within = tile - self.first_tiles[level];
        (level, (within % columns) as u32, (within / columns) as u32)
    }
}

/// What threads share.
struct Shared {
    /// Distinguishes this cache from others that a thread has seen.
    id: u64,
    budget: Arc<Budget>,
    shards: Box<[Mutex<Shard>]>,
    textures: Box<[Cached]>,
    files: Option<Arc<Files>>,
    failures: Failures,
    queue: Queue,
    /// Which shard gives up a tile next.
    turn: AtomicUsize,
    evictions: AtomicUsize,
    /// Nothing is read any more: see [`TileCache::cancel`].
    cancelled: AtomicBool,
    blanks: AtomicU64,
    /// A moving mean of what a read takes, in nanoseconds.
    read_time: AtomicU64,
    front_entries: usize,
    /// Of the budget, for as long as the cache lives: tables and fronts.
    _fixed: Charge,
}

/// Below this, a fiber that needs a tile reads it itself: handing it over costs more.
const QUICK_READ: Duration = Duration::from_micros(150);

/// The cache. Dropping it ends its threads.
pub struct TileCache {
    shared: Arc<Shared>,
    readers: Vec<JoinHandle<()>>,
    fibers: usize,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl TileCache {
    /// A cache for textures, each with the name that reports use. A texture's number is its place in the list. `files`
    /// are those that they are read from, if they are: as many of them may be open as their tables fit a sixteenth of the
    /// budget.
    ///
    /// The error is a sentence for the user: the budget holds too little, or threads cannot be started.
    pub fn new(
        options: &CacheOptions,
        sources: Vec<(String, Arc<dyn TileSource>)>,
        files: Option<Arc<Files>>,
    ) -> Result<TileCache, String> {
        let textures: Box<[Cached]> = sources.into_iter().map(|(name, source)| Cached::new(name, source)).collect();
        let largest = |t: &Cached| {
            let layout = t.source.layout();
            (0..layout.levels.len()).map(|l| layout.tile_bytes(l)).max().unwrap_or(0)
        };
        let tile = textures.iter().map(largest).max().unwrap_or(0) + OVERHEAD;
        let threads = options.threads.max(1);
        let tables = files.as_ref().map_or(0, |files| files.fit(options.bytes / 16));
        let kept =
            tables + textures.iter().map(Cached::bytes).sum::<usize>() + threads * front::bytes(0, textures.len());
        // One to read, one to be read from.
        let least = kept + 2 * tile;
        if options.bytes < least {
            let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
            return Err(format!(
                "a texture memory of {} MB is too small for these textures: give at least {} MB",
                megabytes(options.bytes),
                megabytes(least)
            ));
        }
        let tiles = (options.bytes - kept) / tile;
        let front_entries = front::entries(tiles, threads);
        let fronts = threads * (front::bytes(front_entries, 0) - front::bytes(0, 0));
        let budget = Budget::new(options.bytes);
        let fixed = budget.take(kept + fronts);
        let shared = Arc::new(Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            budget: budget.clone(),
            shards: (0..(tiles / 16).clamp(1, SHARDS)).map(|_| Mutex::default()).collect(),
            textures,
            files,
            failures: Failures::default(),
            queue: Queue::default(),
            turn: AtomicUsize::new(0),
            evictions: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            blanks: AtomicU64::new(0),
            read_time: AtomicU64::new(u64::from(u32::MAX)),
            front_entries,
            _fixed: fixed.ok_or("the texture memory is too small")?,
        });
        let reads = options.reads.clamp(1, (tiles / 4).max(1));
        let mut cache =
            TileCache { shared, readers: Vec::new(), fibers: (tiles / (4 * threads)).clamp(1, MOST_FIBERS) };
        for _ in 0..reads {
            let shared = cache.shared.clone();
            let reader = std::thread::Builder::new().name("texture reader".to_owned());
            let reader = reader.spawn(move || {
                while let Some(key) = shared.queue.next() {
                    if shared.load(key, Patience::Endless).is_none() {
                        shared.give_up(key);
                    }
                }
            });
            cache.readers.push(reader.map_err(|e| format!("a thread could not be started: {e}"))?);
        }
        Ok(cache)
    }

    /// Ends all waiting: who waits for a tile, and who asks for one that is not there, gets one without texels. What is
    /// computed from then on is to be thrown away, if [`TileCache::has_given_up`].
    pub fn cancel(&self) {
        if self.shared.cancelled.swap(true, Ordering::AcqRel) {
            return;
        }
        for shard in &self.shared.shards {
            let waiters = shard.lock().unwrap_or_else(PoisonError::into_inner).waiters();
            for waiter in waiters {
                waiter.answer(self.shared.blank());
            }
        }
    }

    /// Whether anybody got a tile without texels because of [`TileCache::cancel`].
    pub fn has_given_up(&self) -> bool {
        self.shared.blanks.load(Ordering::Acquire) > 0
    }

    /// How many fibers a thread should run: few enough that what they wait for is a part of the budget.
    pub fn fibers(&self) -> usize {
        self.fibers
    }

    pub fn layout(&self, texture: u32) -> &super::Layout {
        self.shared.textures[texture as usize].source.layout()
    }

    /// What was done so far. Amounts of a running render are those of a moment ago.
    pub fn statistics(&self) -> CacheStatistics {
        let shared = &*self.shared;
        let reports: Vec<_> = shared.textures.iter().map(|t| t.counters.report(t.name.clone())).collect();
        let mut total = TextureStatistics::default();
        reports.iter().for_each(|r| total.add(r));
        let distinct = total.bytes_read as f64 * (1.0 - total.redundant_reads as f64 / total.tiles_read.max(1) as f64);
        let (open_files_limit, peak_open_files, files_opened) =
            shared.files.as_ref().map_or((0, 0, 0), |files| files.counts());
        CacheStatistics {
            open_files_limit,
            peak_open_files,
            files_opened,
            budget_bytes: shared.budget.limit() as u64,
            peak_bytes: shared.budget.peak() as u64,
            read_amplification: if distinct > 0.0 { total.bytes_read as f64 / distinct } else { 1.0 },
            total,
            textures: reports,
        }
    }

    /// Tiles that could not be read, in the order of textures and tiles.
    pub fn failures(&self) -> Vec<Failure> {
        self.shared.failures.list(|texture| self.shared.textures[texture as usize].name.clone())
    }

    /// Says what is wrong with the cache's own tables. To be called while nobody uses it.
    pub fn validate(&self) -> Result<(), String> {
        let (mut bytes, budget) = (self.shared._fixed.bytes(), &self.shared.budget);
        for shard in &self.shared.shards {
            let (tiles, loading) = shard.lock().unwrap_or_else(PoisonError::into_inner).validate()?;
            if loading > 0 {
                return Err(format!("{loading} tiles are still being read"));
            }
            bytes += tiles;
        }
        match () {
            () if bytes != budget.used() => Err(format!("{bytes} bytes are there, {} are counted", budget.used())),
            () if budget.peak() > budget.limit() => Err(format!("{} bytes pass the budget", budget.peak())),
            () => Ok(()),
        }
    }
}

impl Drop for TileCache {
    fn drop(&mut self) {
        self.shared.queue.close();
        for reader in self.readers.drain(..) {
            // A panic was printed where it happened.
            let _ = reader.join();
        }
    }
}

/// Parts of the table that are locked one by one.
const SHARDS: usize = 64;
/// Past this, more fibers on a thread gain nothing.
const MOST_FIBERS: usize = 32;

/// What to do where there is no room for a tile.
#[derive(Clone, Copy, PartialEq)]
enum Patience {
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
    fn fetch(&self, key: TileKey, ahead: &mut dyn FnMut(&mut Vec<TileKey>)) -> Texels {
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
            if matches!(self.shard(other).ask(other, || None), Asked::Yours) {
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
    fn blank(&self) -> Texels {
        self.blanks.fetch_add(1, Ordering::AcqRel);
        Texels::default()
    }

    /// Gives back a tile that the caller was to load.
    fn give_up(&self, key: TileKey) {
        let waiters = self.shard(key).forget(key);
        waiters.iter().for_each(|waiter| waiter.answer(self.blank()));
    }

    /// Reads a tile that was given to the caller to load, and tells who waits for it. `None` where there is no room and
    /// no patience, or where all was cancelled; it is then still the caller's.
    fn load(&self, key: TileKey, patience: Patience) -> Option<Texels> {
        if self.cancelled.load(Ordering::Acquire) {
            return None;
        }
        let cached = &self.textures[key.texture() as usize];
        let (level, x, y) = cached.place(key.tile());
        let size = cached.source.layout().tile_bytes(level);
        let charge = self.room(size + OVERHEAD, patience)?;
        let mut texels: Texels = std::iter::repeat_n(0, size).collect();
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
            texels = Texels::default();
        }
        let waiters = self.shard(key).publish(key, texels.clone(), charge);
        waiters.iter().for_each(|waiter| waiter.answer(texels.clone()));
        Some(texels)
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

    /// Takes bytes from the budget, dropping tiles for them.
    fn room(&self, bytes: usize, patience: Patience) -> Option<Charge> {
        loop {
            if let Some(charge) = self.budget.take(bytes) {
                return Some(charge);
            }
            if !self.evict() {
                front::release(self);
                if patience == Patience::None || self.cancelled.load(Ordering::Acquire) {
                    return None;
                }
                self.budget.wait();
            }
        }
    }

    /// Drops one tile; `false` where every tile is held.
    fn evict(&self) -> bool {
        for _ in 0..self.shards.len() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.shards.len();
            let dropped = self.shards[turn].lock().unwrap_or_else(PoisonError::into_inner).evict();
            if let Some(key) = dropped {
                self.evictions.fetch_add(1, Ordering::Relaxed);
                add(&self.textures[key.texture() as usize].counters.evictions, 1);
                return true;
            }
        }
        false
    }
}
