//! A file that appears whole or not at all: it is written beside its place and renamed when it is finished.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Partial {
    path: PathBuf,
    beside: PathBuf,
}

impl Partial {
    /// A new file, of a name that nobody else uses, in the folder of `path`.
    pub fn create(path: &Path) -> io::Result<(Partial, File)> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file, which could be replaced"));
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // The time keeps apart processes of one number on several machines.
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mut name = path.file_name().unwrap_or_default().to_owned();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{number}-{:x}.partial", std::process::id(), time.as_nanos()));
        let beside = path.with_file_name(name);
        let file = File::create_new(&beside)?;
        Ok((Partial { path: path.to_owned(), beside }, file))
    }

    /// Puts the file in its place, where it replaces what is there.
    pub fn finish(self) -> io::Result<()> {
        std::fs::rename(&self.beside, &self.path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After `finish` there is nothing here; what cannot be removed is left.
        let _ = std::fs::remove_file(&self.beside);
    }
}
