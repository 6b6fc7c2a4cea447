//! What the cache did, in total and for each texture.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counted while the cache works.
#[derive(Default)]
pub struct Counters {
    pub look_ups: AtomicU64,
    pub misses: AtomicU64,
    pub evictions: AtomicU64,
    pub tiles_read: AtomicU64,
    pub bytes_read: AtomicU64,
    /// Of the tiles read, those that had been read before.
    pub redundant_reads: AtomicU64,
    pub failed_reads: AtomicU64,
    pub read_nanoseconds: AtomicU64,
    pub waiting_nanoseconds: AtomicU64,
}

/// A counter that says how it went.
pub fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

pub fn add_time(counter: &AtomicU64, time: Duration) {
    add(counter, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

/// A report of what was counted. Times are summed over threads and fibers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct TextureStatistics {
    /// The file; empty in the total.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Texture look-ups of one point.
    pub look_ups: u64,
    /// Tiles that were asked for and not there, those that were being read included.
    pub misses: u64,
    pub evictions: u64,
    pub tiles_read: u64,
    /// Of texels, as they stand in memory.
    pub bytes_read: u64,
    /// Of the tiles read, those that had been read before and dropped since.
    pub redundant_reads: u64,
    pub failed_reads: u64,
    /// In storage and decompression.
    pub read_seconds: f64,
    /// For tiles.
    pub waiting_seconds: f64,
}

impl Counters {
    pub fn report(&self, name: String) -> TextureStatistics {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TextureStatistics {
            name,
            look_ups: get(&self.look_ups),
            misses: get(&self.misses),
            evictions: get(&self.evictions),
            tiles_read: get(&self.tiles_read),
            bytes_read: get(&self.bytes_read),
            redundant_reads: get(&self.redundant_reads),
            failed_reads: get(&self.failed_reads),
            read_seconds: get(&self.read_nanoseconds) as f64 * 1e-9,
            waiting_seconds: get(&self.waiting_nanoseconds) as f64 * 1e-9,
        }
    }
}

impl TextureStatistics {
    pub fn add(&mut self, other: &TextureStatistics) {
        self.look_ups += other.look_ups;
        self.misses += other.misses;
        self.evictions += other.evictions;
        self.tiles_read += other.tiles_read;
        self.bytes_read += other.bytes_read;
        self.redundant_reads += other.redundant_reads;
        self.failed_reads += other.failed_reads;
        self.read_seconds += other.read_seconds;
        self.waiting_seconds += other.waiting_seconds;
    }
}

/// The cache's whole report.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CacheStatistics {
    /// Most bytes that the cache may hold, and most that it held.
    pub budget_bytes: u64,
    pub peak_bytes: u64,
    /// Handles: the limit, and most that were open together.
    pub open_files_limit: usize,
    pub peak_open_files: usize,
    /// How often a file was opened.
    pub files_opened: u64,
    /// Bytes read over bytes of the distinct tiles read: 1 where no tile was read twice.
    pub read_amplification: f64,
    pub total: TextureStatistics,
    pub textures: Vec<TextureStatistics>,
}
