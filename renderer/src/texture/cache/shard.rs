//! One part of the cache's table, behind one lock: which tiles there are, which are being loaded, and which may go.
//!
//! Eviction is by clock (Corbató 1968): a hand goes round and spares a tile once if it was requested since the hand
//! last passed. A tile that somebody holds is never dropped.

use super::budget::Charge;
use super::loading::Waiter;
use super::tile::{Texels, TileKey};
use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Default)]
pub struct Shard {
    /// Where each tile stands in `entries`.
    places: FxHashMap<TileKey, usize>,
    entries: Vec<Entry>,
    hand: usize,
}

struct Entry {
    key: TileKey,
    state: State,
    /// Asked for since the hand last passed.
    used: bool,
}

enum State {
    /// With its bytes of the budget, given back with it.
    Ready(Texels, Charge),
    /// Somebody loads it, and these wait.
    Loading(Vec<Arc<Waiter>>),
}

/// A tile that was taken out: its memory, which nobody else holds, and its bytes of the budget.
pub struct Evicted {
    pub key: TileKey,
    pub texels: Texels,
    pub charge: Charge,
}

/// What asking for a tile came to.
pub enum Asked {
    Ready(Texels),
    /// Whoever asked has to load it, and to call [`Shard::publish`] afterwards, whatever happens.
    Yours,
    /// Somebody loads it. The waiter, where there was one, will hear of it.
    Loading,
}

impl Shard {
    /// Asks for a tile, waiting as `waiter` (made where it is needed) if somebody else loads it.
    pub fn ask(&mut self, key: TileKey, waiter: impl FnOnce() -> Option<Arc<Waiter>>) -> Asked {
        match self.places.get(&key) {
            Some(&place) => {
                let entry = &mut self.entries[place];
                match &mut entry.state {
                    State::Ready(texels, _) => {
                        entry.used = true;
                        Asked::Ready(texels.clone())
                    }
                    State::Loading(waiters) => {
                        waiters.extend(waiter());
                        Asked::Loading
                    }
                }
            }
            None => {
                self.places.insert(key, self.entries.len());
                self.entries.push(Entry { key, state: State::Loading(Vec::new()), used: false });
                Asked::Yours
            }
        }
    }

    /// Adds a waiter for a tile that its owner has asked somebody else to load.
    pub fn wait_for(&mut self, key: TileKey, waiter: Arc<Waiter>) {
        if let Some(&place) = self.places.get(&key)
            && let State::Loading(waiters) = &mut self.entries[place].state
        {
            waiters.push(waiter);
        }
    }

    /// Takes out all who wait.
    pub fn waiters(&mut self) -> Vec<Arc<Waiter>> {
        let mut all = Vec::new();
        for entry in &mut self.entries {
            if let State::Loading(waiters) = &mut entry.state {
                all.append(waiters);
            }
        }
        all
    }

    /// Takes back a tile that was to be loaded; hands back who waits for it.
    pub fn forget(&mut self, key: TileKey) -> Vec<Arc<Waiter>> {
        let Some(&place) = self.places.get(&key) else { return Vec::new() };
        let waiters = match &mut self.entries[place].state {
            State::Loading(waiters) => std::mem::take(waiters),
            State::Ready(..) => return Vec::new(),
        };
        self.remove(place);
        waiters
    }

    /// Puts a loaded tile into the place that was kept for it; hands back who waits for it.
    pub fn publish(&mut self, key: TileKey, texels: Texels, charge: Charge) -> Vec<Arc<Waiter>> {
        let Some(&place) = self.places.get(&key) else { return Vec::new() };
        let entry = &mut self.entries[place];
        entry.used = true;
        match std::mem::replace(&mut entry.state, State::Ready(texels, charge)) {
            State::Loading(waiters) => waiters,
            State::Ready(..) => Vec::new(),
        }
    }

    /// Moves the hand on to a tile that nobody holds and takes it out, sparing once those that were asked for since it
    /// last passed. `None` where every tile is held.
    pub fn evict(&mut self) -> Option<Evicted> {
        for _ in 0..2 * self.entries.len() {
            if self.hand >= self.entries.len() {
                self.hand = 0;
            }
            let entry = &mut self.entries[self.hand];
            match &entry.state {
                // Nobody can take a second hold meanwhile: that needs this shard's lock.
                State::Ready(texels, _) if Arc::strong_count(texels) == 1 => {
                    if !entry.used {
                        return self.remove(self.hand);
                    }
                    entry.used = false;
                }
                State::Ready(..) | State::Loading(_) => {}
            }
            self.hand += 1;
        }
        None
    }

    fn remove(&mut self, place: usize) -> Option<Evicted> {
        let entry = self.entries.swap_remove(place);
        self.places.remove(&entry.key);
        if let Some(moved) = self.entries.get(place) {
            self.places.insert(moved.key, place);
        }
        match entry.state {
            State::Ready(texels, charge) => Some(Evicted { key: entry.key, texels, charge }),
            State::Loading(_) => None,
        }
    }

    /// Says what is wrong with the table, and counts the bytes of its tiles and those being loaded.
    pub fn validate(&self) -> Result<(usize, usize), String> {
        if self.places.len() != self.entries.len() {
            return Err(format!("{} places for {} entries", self.places.len(), self.entries.len()));
        }
        let (mut bytes, mut loading) = (0, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            if self.places.get(&entry.key) != Some(&i) {
                return Err(format!("{:?} is not where the table says", entry.key));
            }
            match &entry.state {
                State::Ready(_, charge) => bytes += charge.bytes(),
                State::Loading(_) => loading += 1,
            }
        }
        Ok((bytes, loading))
    }
}
