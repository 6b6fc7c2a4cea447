//! Tiles that could not be read, for the user: one note for each, however often it is requested.

use super::TileKey;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Notes past which only their number is kept.
const MOST: usize = 1000;

#[derive(Default)]
pub struct Failures {
    notes: Mutex<BTreeMap<TileKey, String>>,
}

/// What went wrong with the tiles of a texture, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The texture's name, which is its file.
    pub texture: String,
    /// A sentence for the user.
    pub why: String,
    /// Tiles to which it happened.
    pub tiles: usize,
}

impl Failures {
    pub fn add(&self, key: TileKey, why: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MOST {
            notes.entry(key).or_insert(why);
        }
    }

    /// One entry for each texture and reason.
    pub fn list(&self, name: impl Fn(u32) -> String) -> Vec<Failure> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tiles: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        notes.iter().for_each(|(key, why)| *tiles.entry((key.texture(), why)).or_default() += 1);
        let failure = |((texture, why), tiles): ((u32, &str), usize)| Failure {
            texture: name(texture),
            why: why.to_owned(),
            tiles,
        };
        tiles.into_iter().map(failure).collect()
    }
}
