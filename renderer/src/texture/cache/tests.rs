//! The cache under random requests, small budgets, many fibers, slow and broken sources.

use super::*;
use crate::fiber;
use crate::texture::{Alpha, Layout, Level, Sample};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Textures whose bytes say where they are; slow, and broken in places, where a test wants it.
struct Formula {
    layout: Layout,
    delay: Duration,
    /// Tiles in this column of level 0 cannot be read.
    broken: Option<u32>,
    reading: AtomicU32,
    most_reading: AtomicU32,
}

fn formula(side: u32, tile: u32, channels: u32) -> Formula {
    let sides = std::iter::successors(Some(side), |s| (*s > 1).then_some(s / 2));
    let level = |side: u32| Level { width: side, height: side, tile_width: tile, tile_height: tile };
    let levels = sides.map(level).collect();
    let layout = Layout {
        sample: Sample::U8,
        channels,
        alpha: Alpha::None,
        levels,
        color_space: None,
        wrap: None,
        fingerprint: None,
        not_finite: None,
    };
    let (reading, most_reading) = (AtomicU32::new(0), AtomicU32::new(0));
    Formula { layout, delay: Duration::ZERO, broken: None, reading, most_reading }
}

fn byte(level: usize, x: u32, y: u32, i: usize) -> u8 {
    (level * 31 + x as usize * 7 + y as usize * 13 + i) as u8
}

impl TileSource for Formula {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        let now = self.reading.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_reading.fetch_max(now, Ordering::Relaxed);
        if self.delay > Duration::ZERO {
            std::thread::sleep(self.delay);
        }
        self.reading.fetch_sub(1, Ordering::Relaxed);
        if level == 0 && self.broken == Some(x) {
            return Err("it is broken".to_owned());
        }
        out.iter_mut().enumerate().for_each(|(i, b)| *b = byte(level, x, y, i));
        Ok(())
    }
}

fn named(sources: Vec<Formula>) -> Vec<(String, Arc<dyn TileSource>)> {
    let sources = sources.into_iter().enumerate();
    sources.map(|(i, s)| (format!("texture {i}"), Arc::new(s) as Arc<dyn TileSource>)).collect()
}

fn cache(options: CacheOptions, sources: Vec<Formula>) -> TileCache {
    TileCache::new(&options, named(sources), None).expect("the budget is large enough")
}

/// The smallest budget that a cache for such sources accepts.
fn least(sources: impl Fn() -> Vec<Formula>, threads: usize) -> usize {
    let accepts = |bytes: usize| {
        TileCache::new(&CacheOptions { bytes, threads, reads: 1, ..CacheOptions::default() }, named(sources()), None)
            .is_ok()
    };
    let (mut no, mut yes) = (0, 1 << 30);
    while yes - no > 1 {
        let middle = (no + yes) / 2;
        if accepts(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// Reads one tile and says whether it holds what it must.
fn look(cache: &TileCache, texture: u32, tile: u64) -> bool {
    let (level, x, y) = cache.shared.textures[texture as usize].place(tile);
    cache.read((texture, 1), &|_| {}, |reader| {
        reader.with(TileKey::new(texture, tile), |texels| {
            texels.len() > 100 && [0, 1, 99].iter().all(|&i| texels[i] == byte(level, x, y, i))
        })
    })
}

fn tiles(cache: &TileCache, texture: u32) -> u64 {
    let first = &cache.shared.textures[texture as usize].first_tiles;
    first[first.len() - 1]
}

/// xorshift64 (Marsaglia 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Looks at random tiles, most of them near each other.
fn wander(cache: &TileCache, seed: u64, times: usize) {
    let textures = cache.shared.textures.len() as u64;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let (mut texture, mut tile) = (0, 0);
    for _ in 0..times {
        if next(&mut state).is_multiple_of(8) {
            texture = (next(&mut state) % textures) as u32;
        }
        let n = tiles(cache, texture);
        tile =
            if next(&mut state).is_multiple_of(4) { next(&mut state) % n } else { (tile + next(&mut state) % 3) % n };
        assert!(look(cache, texture, tile), "texture {texture}, tile {tile}");
    }
}

/// Wanders on several threads with several fibers each.
fn wander_on_fibers(cache: &TileCache, threads: usize, fibers: usize, times: usize) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let begun = AtomicUsize::new(0);
                // One fiber may come to do all of it, where no other waits.
                let body = |_: usize| loop {
                    let number = begun.fetch_add(1, Ordering::Relaxed);
                    if number >= fibers {
                        return;
                    }
                    wander(cache, (thread * 1000 + number) as u64 + 1, times);
                };
                let more = || begun.load(Ordering::Relaxed) < fibers;
                fiber::run(fibers, 256 << 10, &more, &body).expect("there is memory for a stack");
                cache.release();
            });
        }
    });
}

/// A few sources that differ in size, tiles and channels.
fn mixed() -> Vec<Formula> {
    vec![formula(300, 64, 3), formula(64, 16, 4), formula(1000, 32, 1), formula(40, 64, 2)]
}

#[test]
fn a_large_budget_reads_each_tile_once() {
    let cache = cache(CacheOptions::default(), mixed());
    for texture in 0..4 {
        for _ in 0..2 {
            (0..tiles(&cache, texture)).for_each(|tile| assert!(look(&cache, texture, tile)));
        }
    }
    cache.release();
    let (s, all) = (cache.statistics(), (0..4).map(|t| tiles(&cache, t)).sum::<u64>());
    assert_eq!((s.total.tiles_read, s.total.misses, s.total.look_ups), (all, all, 2 * all));
    assert_eq!((s.total.evictions, s.total.redundant_reads, s.read_amplification), (0, 0, 1.0));
    cache.validate().expect("nothing is wrong");
}

/// Budgets from the smallest on, on threads and fibers of any number: no deadlock, no livelock, the right texels, and
/// never a byte too much.
#[test]
fn small_budgets_serve_any_number_of_threads_and_fibers() {
    for (more, threads, fibers) in [(0, 1, 1), (0, 4, 6), (20_000, 3, 5), (80_000, 8, 3), (500_000, 2, 16)] {
        let bytes = least(mixed, threads) + more;
        let cache = cache(CacheOptions { bytes, threads, reads: 4, ..CacheOptions::default() }, mixed());
        wander_on_fibers(&cache, threads, fibers, 150);
        cache.validate().expect("nothing is wrong");
        let s = cache.statistics();
        assert!(s.peak_bytes <= s.budget_bytes && s.total.evictions > 0, "{s:?}");
        assert_eq!(s.total.look_ups, (threads * fibers * 150) as u64);
    }
}

#[test]
fn threads_without_fibers_share_one_cache() {
    let cache = cache(CacheOptions { bytes: 400_000, threads: 6, reads: 1, ..CacheOptions::default() }, mixed());
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let cache = &cache;
            scope.spawn(move || {
                wander(cache, thread + 1, 3000);
                cache.release();
            });
        }
    });
    cache.validate().expect("nothing is wrong");
    assert!(cache.statistics().total.evictions > 0);
}

#[test]
fn too_small_a_budget_is_refused_with_the_size_that_is_needed() {
    let named = vec![("big".to_owned(), Arc::new(formula(4096, 1024, 4)) as Arc<dyn TileSource>)];
    let refused =
        TileCache::new(&CacheOptions { bytes: 1 << 20, threads: 1, reads: 1, ..CacheOptions::default() }, named, None)
            .err();
    let message = refused.expect("two tiles of 4 MB do not fit");
    assert!(message.contains("give at least 9 MB"), "{message}");
}

/// While a fiber waits, others of its thread go on: reads overlap, though there is one thread.
#[test]
fn a_thread_of_fibers_reads_many_tiles_at_once() {
    let source = Formula { delay: Duration::from_millis(3), ..formula(1024, 64, 1) };
    let source = Arc::new(source);
    let options = CacheOptions { bytes: 1 << 24, threads: 1, reads: 8, ..CacheOptions::default() };
    let named = vec![("slow".to_owned(), source.clone() as Arc<dyn TileSource>)];
    let cache = TileCache::new(&options, named, None).expect("the budget is large enough");
    let taken = AtomicU64::new(0);
    let body = |_| loop {
        let tile = taken.fetch_add(1, Ordering::Relaxed);
        if tile >= 64 {
            break;
        }
        assert!(look(&cache, 0, tile));
    };
    let counts = fiber::run(16, 256 << 10, &|| taken.load(Ordering::Relaxed) < 64, &body).expect("there are stacks");
    assert!(counts.most_alive > 4, "{counts:?}");
    assert!(source.most_reading.load(Ordering::Relaxed) > 2, "{:?}", source.most_reading);
}

/// Before it waits for its first tile, a request asks for all that it needs.
#[test]
fn a_request_asks_for_all_its_tiles_before_it_waits() {
    let source = Arc::new(Formula { delay: Duration::from_millis(5), ..formula(1024, 64, 1) });
    let options = CacheOptions { bytes: 1 << 24, threads: 1, reads: 8, ..CacheOptions::default() };
    let named = vec![("slow".to_owned(), source.clone() as Arc<dyn TileSource>)];
    let cache = TileCache::new(&options, named, None).expect("the budget is large enough");
    let body = |_| {
        let ahead = |keys: &mut Vec<TileKey>| keys.extend((0..8).map(|tile| TileKey::new(0, tile)));
        cache.read((0, 8), &ahead, |reader| {
            (0..8).for_each(|tile| reader.with(TileKey::new(0, tile), |texels| assert!(!texels.is_empty())));
        });
    };
    fiber::run(1, 256 << 10, &|| false, &body).expect("there is a stack");
    assert!(source.most_reading.load(Ordering::Relaxed) > 3, "{:?}", source.most_reading);
    assert_eq!(cache.statistics().total.tiles_read, 8);
}

#[test]
fn broken_tiles_are_empty_and_said_once() {
    let broken = Formula { broken: Some(1), ..formula(256, 64, 3) };
    let cache = cache(CacheOptions::default(), vec![broken]);
    for _ in 0..3 {
        let good: Vec<bool> = (0..16).map(|tile| look(&cache, 0, tile)).collect();
        assert_eq!(good.iter().filter(|good| !**good).count(), 4);
        assert!(!good[1] && good[2]);
    }
    let failures = cache.failures();
    assert_eq!(failures, [Failure { texture: "texture 0".to_owned(), why: "it is broken".to_owned(), tiles: 4 }]);
    assert_eq!(cache.statistics().total.failed_reads, 4);
}

/// With the least budget, any number of broken tiles leaves room for good tiles, also by fibers and ahead of time. Each
/// broken tile is read once.
#[test]
fn broken_tiles_take_nothing_of_the_budget() {
    let sources = || vec![Formula { broken: Some(1), ..formula(4096, 64, 3) }];
    let cache =
        cache(CacheOptions { bytes: least(sources, 1), threads: 1, reads: 1, ..CacheOptions::default() }, sources());
    let broken = |row: u64| 64 * row + 1;
    let body = |_| {
        for row in 0..64 {
            let ahead = |keys: &mut Vec<TileKey>| keys.extend([0, row].map(|row| TileKey::new(0, broken(row))));
            cache.read((0, 2), &ahead, |reader| {
                [broken(row), broken(row)].iter().for_each(|&tile| {
                    reader.with(TileKey::new(0, tile), |texels| assert!(texels.is_empty()));
                });
            });
            assert!(look(&cache, 0, 64 * row) && !look(&cache, 0, broken(0)));
        }
    };
    fiber::run(1, 256 << 10, &|| false, &body).expect("there is a stack");
    cache.release();
    cache.validate().expect("nothing is wrong");
    let total = cache.statistics().total;
    assert_eq!((total.failed_reads, cache.failures()[0].tiles), (64, 64));
}

/// Cancelling answers all who wait, and leaves nothing behind.
#[test]
fn cancelling_ends_all_waiting() {
    let slow = Formula { delay: Duration::from_millis(20), ..formula(1024, 64, 1) };
    let cache = cache(CacheOptions { bytes: 1 << 24, threads: 1, reads: 2, ..CacheOptions::default() }, vec![slow]);
    let taken = AtomicU64::new(0);
    let body = |_| {
        for _ in 0..10 {
            let tile = taken.fetch_add(1, Ordering::Relaxed) % 256;
            cache.read((0, 1), &|_| {}, |reader| reader.with(TileKey::new(0, tile), |_| {}));
        }
    };
    let more = || {
        let many = taken.load(Ordering::Relaxed) > 4;
        if many {
            cache.cancel();
        }
        !many
    };
    fiber::run(8, 256 << 10, &more, &body).expect("there are stacks");
    assert!(cache.has_given_up());
    // What was being read when all was cancelled may still be on its way.
    while cache.validate().is_err_and(|why| why.contains("still being read")) {
        std::thread::sleep(Duration::from_millis(5));
    }
    cache.release();
    cache.validate().expect("nothing is wrong");
    // Who asks again gets what is there.
    cache.go_on();
    cache.read((0, 1), &|_| {}, |reader| reader.with(TileKey::new(0, 255), |texels| assert!(!texels.is_empty())));
    assert!(!cache.has_given_up());
}
