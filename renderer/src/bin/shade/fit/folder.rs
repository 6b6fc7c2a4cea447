//! The output folder of a fit: results, and the checkpoint. Whatever happens at whatever moment, each file is the old one or
//! the new one.

use kernels::jobs::Fit;
use renderer::film::{check_writable, write_durably, write_durably_by, write_whole_by};
use ssl_compiler::input;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const CHECKPOINT: &str = "fit.checkpoint";

/// Bytes that a checkpoint may have.
const MOST: u64 = 1 << 40;

pub struct Folder {
    path: PathBuf,
    /// Keeps other fits away. The system releases it where the process ends, however that happens.
    _lock: Option<File>,
}

impl Folder {
    /// Makes the folder, if it is not there, and finds out whether it can be written to and whether another fit does so.
    pub fn open(path: PathBuf) -> Result<Folder, String> {
        std::fs::create_dir_all(&path).map_err(|e| format!("the folder `{}` cannot be made: {e}", path.display()))?;
        check_writable(&path.join(CHECKPOINT)).map_err(|e| e.to_string())?;
        let lock = lock(&path)?;
        Ok(Folder { path, _lock: lock })
    }

    /// Finds out before the work whether files can be written under these names, some of which may lie in folders of their own.
    pub fn check(&self, names: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<(), String> {
        names.into_iter().try_for_each(|name| {
            let path = self.path.join(name);
            make_parent(&path)?;
            check_writable(&path).map_err(|e| e.to_string())
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A result, which may lie in a folder of its own.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        self.write_by(name, |to| to.write_all(bytes))
    }

    /// As `write`, piece by piece.
    pub fn write_by(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), String> {
        let path = self.path.join(name);
        make_parent(&path)?;
        write_whole_by(&path, write).map_err(|e| e.to_string())
    }

    /// The state of the fit, in place of the one before.
    pub fn keep(&self, fit: &Fit) -> Result<(), String> {
        if !fit.has_fit() {
            return Ok(());
        }
        write_durably_by(&self.path.join(CHECKPOINT), |to| fit.save_to(to)).map_err(|e| e.to_string())
    }

    /// Likewise of a fit of another kind, by the bytes of its state.
    pub fn keep_bytes(&self, bytes: &[u8]) -> Result<(), String> {
        write_durably(&self.path.join(CHECKPOINT), bytes).map_err(|e| e.to_string())
    }

    /// The loss so far.
    pub fn plot(&self, fit: &Fit) -> Result<(), String> {
        fit.plots().iter().try_for_each(|(name, text)| self.write(name, text.as_bytes()))
    }

    /// The state that an earlier run left; `None` if there is none.
    pub fn checkpoint(&self) -> std::io::Result<Option<Vec<u8>>> {
        match input::bytes(&self.path.join(CHECKPOINT), MOST) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}

fn make_parent(path: &Path) -> Result<(), String> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|e| format!("the folder `{}` cannot be made: {e}", folder.display()))
}

/// A lock on the folder itself, so that no file is left behind; `None` where the system cannot lock folders.
fn lock(path: &Path) -> Result<Option<File>, String> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => {
            Err(format!("another fit writes to the folder `{}`; wait for its end, or take another", path.display()))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
