//! A texture file as a source of tiles, with its storage: for tests and callers that keep the file open themselves.

use super::{FileError, Scratch, TextureFile};
use crate::texture::{Layout, StoredFile, TileSource};
use std::sync::{Arc, Mutex, PoisonError};

pub struct FileSource {
    file: Arc<dyn StoredFile>,
    texture: TextureFile,
    /// As many as there were readers at once.
    scratches: Mutex<Vec<Scratch>>,
}

impl FileSource {
    pub fn open(file: Arc<dyn StoredFile>) -> Result<FileSource, FileError> {
        let texture = TextureFile::open(file.as_ref())?;
        Ok(FileSource { file, texture, scratches: Mutex::default() })
    }

    pub fn texture(&self) -> &TextureFile {
        &self.texture
    }
}

impl TileSource for FileSource {
    fn layout(&self) -> &Layout {
        self.texture.layout()
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        // Buffers have no state that a panic could break.
        let kept = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = kept().pop().unwrap_or_default();
        let result = self.texture.read_tile(self.file.as_ref(), level, x, y, &mut scratch, out);
        kept().push(scratch);
        result.map_err(|e| e.to_string())
    }
}
