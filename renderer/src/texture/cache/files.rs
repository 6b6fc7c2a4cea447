//! Textures in files, of which a limited number is open at once.
//!
//! The cache opens a file to read one of its tiles. The file stays open until the cache needs its handle for another;
//! the least recently used one goes first. The limit is strict: if all handles are in use, a reader that needs one
//! waits. The table of tiles of a file lives as long as its handle. The cache's budget has room for these tables: as
//! many times the largest table as files may be open.

use crate::texture::file::{Scratch, TextureFile};
use crate::texture::{Layout, Storage, StoredFile, TileSource};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The files that a cache's textures are read from.
pub struct Files {
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
    /// A handle may be had, or a file has been opened.
    changed: Condvar,
    scratches: Mutex<Vec<Scratch>>,
}

struct State {
    open: HashMap<PathBuf, Entry>,
    limit: usize,
    peak: usize,
    /// How often files were opened.
    opened: u64,
    clock: u64,
    largest_table: usize,
    /// What the tables of open files may take together.
    most_bytes: usize,
}

enum Entry {
    /// Somebody opens it.
    Opening,
    Open {
        file: Arc<Open>,
        used: u64,
    },
}

struct Open {
    handle: Arc<dyn StoredFile>,
    texture: TextureFile,
}

impl Files {
    /// Files of a storage, at most so many open together; at least one.
    pub fn new(storage: Arc<dyn Storage>, limit: usize) -> Arc<Files> {
        let limit = limit.max(1);
        let state = State {
            open: HashMap::new(),
            limit,
            peak: 0,
            opened: 0,
            clock: 0,
            largest_table: 0,
            most_bytes: usize::MAX,
        };
        let (changed, scratches) = (Condvar::new(), Mutex::default());
        Arc::new(Files { storage, state: Mutex::new(state), changed, scratches })
    }

    /// A texture of a file, which is opened to see what it holds. The error is a sentence for the user.
    pub fn texture(self: &Arc<Files>, path: &Path) -> Result<FileTexture, String> {
        let lease = self.lease(path)?;
        let layout = lease.file().texture.layout().clone();
        let table = lease.file().texture.bytes();
        drop(lease);
        let mut state = self.state();
        state.largest_table = state.largest_table.max(table);
        state.shrink();
        let place = || path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
        let identity = layout.fingerprint.clone().unwrap_or_else(place);
        Ok(FileTexture { files: self.clone(), path: path.to_owned(), layout, identity })
    }

    /// Lowers the limit, now and when larger files come, until the tables of open files fit a number of bytes; one may
    /// always be open. Gives back how many they may take.
    pub fn fit(&self, bytes: usize) -> usize {
        let mut state = self.state();
        state.most_bytes = state.most_bytes.min(bytes);
        state.shrink();
        state.limit * state.largest_table
    }

    /// Of files: most that may be open, most that were open together, and how often one was opened.
    pub fn counts(&self) -> (usize, usize, u64) {
        let state = self.state();
        (state.limit, state.peak, state.opened)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file that stays open while the lease lives.
    fn lease(&self, path: &Path) -> Result<Lease<'_>, String> {
        let mut state = self.state();
        loop {
            state.clock += 1;
            let now = state.clock;
            let being_opened = match state.open.get_mut(path) {
                Some(Entry::Open { file, used }) => {
                    *used = now;
                    return Ok(Lease { files: self, file: Some(file.clone()) });
                }
                found => found.is_some(),
            };
            if !being_opened && (state.open.len() < state.limit || state.close_one()) {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.open.insert(path.to_owned(), Entry::Opening);
        state.peak = state.peak.max(state.open.len());
        state.opened += 1;
        drop(state);
        let opened = self.open(path);
        let mut state = self.state();
        self.changed.notify_all();
        match opened {
            Ok(file) => {
                let (file, used) = (Arc::new(file), state.clock);
                state.open.insert(path.to_owned(), Entry::Open { file: file.clone(), used });
                Ok(Lease { files: self, file: Some(file) })
            }
            Err(why) => {
                state.open.remove(path);
                Err(why)
            }
        }
    }

    fn open(&self, path: &Path) -> Result<Open, String> {
        let handle = self.storage.open(path).map_err(|e| format!("it cannot be opened: {e}"))?;
        let texture = TextureFile::open(handle.as_ref()).map_err(|e| e.to_string())?;
        Ok(Open { handle, texture })
    }
}

impl State {
    fn shrink(&mut self) {
        let most = self.most_bytes / self.largest_table.max(1);
        self.limit = self.limit.min(most).max(1);
        while self.open.len() > self.limit && self.close_one() {}
    }

    /// Closes the file that nobody reads from and that was used least lately; `false` where all are being read from.
    fn close_one(&mut self) -> bool {
        let idle = self.open.iter().filter_map(|(path, entry)| match entry {
            Entry::Open { file, used } if Arc::strong_count(file) == 1 => Some((*used, path)),
            _ => None,
        });
        let oldest = idle.min().map(|(_, path)| path.clone());
        oldest.is_some_and(|path| self.open.remove(&path).is_some())
    }
}

struct Lease<'f> {
    files: &'f Files,
    /// `None` only while it is dropped.
    file: Option<Arc<Open>>,
}

impl Lease<'_> {
    fn file(&self) -> &Open {
        self.file.as_ref().expect("it is there until the lease is dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // Under the lock, so that nobody looks between and waits for ever.
        let state = self.files.state();
        self.file = None;
        drop(state);
        self.files.changed.notify_all();
    }
}

/// A texture of a tiled file.
pub struct FileTexture {
    files: Arc<Files>,
    path: PathBuf,
    layout: Layout,
    identity: String,
}

impl TileSource for FileTexture {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What the file says of its content, else its path.
    fn identity(&self) -> Option<&str> {
        Some(&self.identity)
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        let lease = self.files.lease(&self.path)?;
        if lease.file().texture.layout() != &self.layout {
            return Err("the file was changed while it was in use; render again".to_owned());
        }
        let kept = || self.files.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = kept().pop().unwrap_or_default();
        let Open { handle, texture } = lease.file();
        let result = texture.read_tile(handle.as_ref(), level, x, y, &mut scratch, out);
        kept().push(scratch);
        result.map_err(|e| e.to_string())
    }
}
