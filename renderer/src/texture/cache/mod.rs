//! Tiles of textures in a fixed memory budget.
//!
//! [`TileReader::with`] asks for a tile. It finds it in the thread's own front without a lock, or in a shard of the
//! table behind a short lock, or reads it. While it is read, a fiber lets its thread do something else.
//!
//! Promises. The bytes of tiles, of the entries for them, of fronts and of what is kept of each texture never exceed
//! the budget: they are counted before they are allocated. A tile that a fiber waited for stays until the fiber has
//! used it. No fiber waits for a tile while it holds another; only a thread's front holds tiles meanwhile, and these
//! are a fraction of the budget, or none if it is small. So a budget of a few tiles is enough for any number of threads
//! and fibers, and every wait ends: the reader of a tile needs room, there is room as soon as answered fibers have used
//! their tiles, and those can always run.
//!
//! A tile that cannot be read becomes an empty one, with a note for the user. A bit keeps that it failed, so it is not read
//! again.

mod budget;
mod cached;
mod failures;
mod files;
mod front;
mod loading;
mod shard;
mod shared;
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
use budget::Budget;
use cached::Cached;
use failures::Failures;
use loading::Queue;
use shared::{Patience, Shared};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tile::OVERHEAD;

/// How a cache is set up.
#[derive(Clone, Copy, Debug)]
pub struct CacheOptions {
    /// The budget, in bytes.
    pub bytes: usize,
    /// Threads that look tiles up at the same time.
    pub threads: usize,
    /// Reads of the storage that may be under way for fibers at the same time.
    pub reads: usize,
    /// Fibers of a thread, at most; a small budget bears fewer. With one, the thread waits for each miss.
    pub fibers: usize,
}

impl CacheOptions {
    /// What the tables of open files may take of the budget.
    pub fn table_bytes(&self) -> usize {
        self.bytes / 4
    }
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions { bytes: 1 << 30, threads: 1, reads: 16, fibers: 32 }
    }
}

/// The cache. Dropping it ends its threads.
pub struct TileCache {
    shared: Arc<Shared>,
    readers: Vec<JoinHandle<()>>,
    fibers: usize,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl TileCache {
    /// A cache for textures, each with the name that reports use. A texture's number is its place in the list. `files`
    /// are those that they are read from, if they are: as many of them may be open as their tables fit a quarter of the
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
        let tables = files.as_ref().map_or(0, |files| files.fit(options.table_bytes()));
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
            // Slow until it was seen to be quick.
            read_time: AtomicU64::new(1_000_000),
            front_entries,
            release_front: front::release,
            fixed: fixed.ok_or("the texture memory is too small")?,
        });
        let reads = options.reads.clamp(1, (tiles / 4).max(1));
        let mut cache =
            TileCache { shared, readers: Vec::new(), fibers: (tiles / (4 * threads)).clamp(1, options.fibers.max(1)) };
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

    /// Lets `work` read tiles for so many look-ups of a texture on this thread. `ahead` lists the tiles that it is going to ask for: it is called at most
    /// once, before it waits for the first of them.
    pub fn read<R>(
        &self,
        look_ups: (u32, u32),
        ahead: &dyn Fn(&mut Vec<TileKey>),
        work: impl FnOnce(&TileReader<'_>) -> R,
    ) -> R {
        front::read(&self.shared, look_ups, ahead, work)
    }

    /// Gives up what this thread's front holds, as when it has nothing more to do.
    pub fn release(&self) {
        front::release(&self.shared);
    }

    /// Lets who asks for tiles wait for them again, after [`TileCache::cancel`]. Nobody may be waiting still.
    pub fn go_on(&self) {
        self.shared.cancelled.store(false, Ordering::Release);
        self.shared.blanks.store(0, Ordering::Release);
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
        let (mut bytes, budget) = (self.shared.fixed.bytes(), &self.shared.budget);
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
