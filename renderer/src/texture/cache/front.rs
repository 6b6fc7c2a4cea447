//! Each thread's own small table of recently used tiles: finding a tile there takes no lock and no atomic operation.
//!
//! The front holds its tiles, so the cache cannot drop them. Its size is a fraction of the tiles that the budget holds,
//! and it is emptied as other tiles come and go. A front belongs to a thread, so the fibers on it share it. It is never
//! borrowed while one of them waits.

use super::shared::Shared;
use super::statistics::add;
use super::tile::{Texels, TileKey};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

struct Front {
    /// The cache that the entries come from.
    owner: u64,
    /// A power of two of them, each for the keys whose hash says so. One that is never filled where there are to be none.
    entries: Vec<(TileKey, Texels)>,
    /// Brings the upper bits of a hash down to an index.
    shift: u32,
    /// Tiles that the cache had dropped when this was last emptied.
    evictions: usize,
    /// Look-ups of each texture that were not yet added to its counters.
    look_ups: Vec<u64>,
}

thread_local! {
    static FRONT: RefCell<Front> =
        const { RefCell::new(Front { owner: 0, entries: Vec::new(), shift: 63, evictions: 0, look_ups: Vec::new() }) };
}

/// How many entries a thread's front has: all fronts together hold at most a quarter of the tiles.
pub(super) fn entries(tiles: usize, threads: usize) -> usize {
    let most = tiles / (4 * threads);
    if most == 0 { 0 } else { (1 << most.ilog2()).min(MOST) }
}

/// Past this a front would not stay in a core's own memory.
const MOST: usize = 8192;

/// What a thread's front takes, in bytes.
pub(super) fn bytes(entries: usize, textures: usize) -> usize {
    entries.max(2) * size_of::<(TileKey, Texels)>() + 8 * textures
}

/// Gives up what this thread's front holds.
pub(super) fn release(cache: &Shared) {
    FRONT.with_borrow_mut(|front| front.empty(cache));
}

/// Adds this thread's look-ups to the counters of the cache.
fn count(cache: &Shared, front: &mut Front) {
    if front.owner == cache.id {
        for (n, texture) in front.look_ups.iter_mut().zip(&cache.textures) {
            add(&texture.counters.look_ups, std::mem::take(n));
        }
    }
}

impl Front {
    fn empty(&mut self, cache: &Shared) {
        count(cache, self);
        self.owner = cache.id;
        self.look_ups.resize(cache.textures.len(), 0);
        let size = cache.front_entries.max(2);
        self.entries.clear();
        self.entries.resize_with(size, || (TileKey::NONE, Texels::default()));
        self.shift = 64 - size.ilog2();
        self.evictions = cache.evictions.load(Ordering::Relaxed);
    }

    fn index(&self, key: TileKey) -> usize {
        (key.hash() >> self.shift) as usize
    }

    fn keep(&mut self, cache: &Shared, key: TileKey, texels: Texels) {
        if cache.front_entries == 0 || self.owner != cache.id {
            return;
        }
        // What is held and not used any more would stay for ever.
        let evictions = cache.evictions.load(Ordering::Relaxed);
        if evictions.wrapping_sub(self.evictions) > 4 * cache.front_entries {
            self.empty(cache);
        }
        let index = self.index(key);
        self.entries[index] = (key, texels);
    }
}

/// Lists tiles.
type List<'c> = dyn Fn(&mut Vec<TileKey>) + 'c;

/// Reads tiles for one request of one thread.
pub struct TileReader<'c> {
    cache: &'c Shared,
    front: &'c RefCell<Front>,
    /// Lists the tiles that the whole request needs; used once, before the first wait.
    ahead: Cell<Option<&'c List<'c>>>,
}

/// See [`TileCache::read`](super::TileCache::read).
pub fn read<R>(
    shared: &Shared,
    (texture, look_ups): (u32, u32),
    ahead: &dyn Fn(&mut Vec<TileKey>),
    work: impl FnOnce(&TileReader<'_>) -> R,
) -> R {
    FRONT.with(|front| {
        {
            let mut front = front.borrow_mut();
            // Another cache's entries are of no use here.
            if front.owner != shared.id {
                front.empty(shared);
            }
            front.look_ups[texture as usize] += u64::from(look_ups);
        }
        work(&TileReader { cache: shared, front, ahead: Cell::new(Some(ahead)) })
    })
}

impl TileReader<'_> {
    /// Reads from a tile, waiting for it where it is not there. `read` must not ask for another.
    #[inline]
    pub fn with<R>(&self, key: TileKey, read: impl FnOnce(&[u8]) -> R) -> R {
        {
            let front = self.front.borrow();
            // The thread may have looked into another cache while a fiber of this one waited.
            if front.owner == self.cache.id {
                let (known, texels) = &front.entries[front.index(key)];
                if *known == key {
                    return read(texels);
                }
            }
        }
        self.fetch(key, read)
    }

    /// The same for several tiles, at most `MOST`, one after the other: `read` is given the place in the list, and
    /// before that `soon` for those of them that need not be waited for.
    #[inline(always)]
    pub fn each<const MOST: usize>(
        &self,
        keys: &[TileKey],
        soon: impl Fn(usize, &[u8]),
        mut read: impl FnMut(usize, &[u8]),
    ) {
        let mut next = 0;
        while next < keys.len() {
            next = self.each_known::<MOST>(keys, next, &soon, &mut read);
            if next < keys.len() {
                self.fetch(keys[next], |tile| read(next, tile));
                next += 1;
            }
        }
    }

    /// Goes on until a tile is not in the front; returns its place.
    #[inline(always)]
    fn each_known<const MOST: usize>(
        &self,
        keys: &[TileKey],
        first: usize,
        soon: &impl Fn(usize, &[u8]),
        read: &mut impl FnMut(usize, &[u8]),
    ) -> usize {
        let front = self.front.borrow();
        // The thread may have looked into another cache while a fiber of this one waited.
        if front.owner != self.cache.id {
            return first;
        }
        let (mut tiles, mut known): ([&[u8]; MOST], usize) = ([&[]; MOST], first);
        while known < keys.len() {
            let (key, texels) = &front.entries[front.index(keys[known])];
            if *key != keys[known] {
                break;
            }
            tiles[known] = texels;
            soon(known, texels);
            known += 1;
        }
        (first..known).for_each(|i| read(i, tiles[i]));
        known
    }

    #[cold]
    #[inline(never)]
    fn fetch<R>(&self, key: TileKey, read: impl FnOnce(&[u8]) -> R) -> R {
        let mut ahead = |others: &mut Vec<TileKey>| {
            if let Some(list) = self.ahead.take() {
                list(others);
            }
        };
        let texels = self.cache.fetch(key, &mut ahead);
        let result = read(&texels);
        self.front.borrow_mut().keep(self.cache, key, texels);
        self.cache.budget.stir();
        result
    }
}
