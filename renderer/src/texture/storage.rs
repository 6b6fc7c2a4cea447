//! Where the bytes of files come from: the file system, or in tests slow or broken storage in its place.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file that is read at any place, from many threads at once.
pub trait StoredFile: Send + Sync {
    /// Its length in bytes when it was opened.
    fn length(&self) -> u64;

    /// Fills `buffer` with what stands from `offset` on; an error where the file ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// Opens files. Each call of [`StoredFile::read_at`] is one read of the storage, which is what slow storage charges for.
pub trait Storage: Send + Sync {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>>;
}

/// The file system.
pub struct Disk;

impl Storage for Disk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        // Opening a pipe would wait for somebody to write into it.
        let about = std::fs::metadata(path)?;
        if !about.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let (file, length) = (File::open(path)?, about.len());
        Ok(Arc::new(OnDisk { file, length }))
    }
}

struct OnDisk {
    file: File,
    length: u64,
}

impl StoredFile for OnDisk {
    fn length(&self) -> u64 {
        self.length
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    buffer = &mut buffer[n..];
                    offset += n as u64;
                }
            }
        }
        Ok(())
    }
}
