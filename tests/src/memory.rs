//! Files that are texts in memory.

use ssl_compiler::Files;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Texts by their paths.
#[derive(Clone)]
pub struct Memory(HashMap<PathBuf, String>);

impl Memory {
    pub fn of(files: &[(&str, &str)]) -> Memory {
        Memory(files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect())
    }
}

impl Files for Memory {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        self.0.contains_key(path).then(|| path.to_owned())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).map(|text| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }
}
