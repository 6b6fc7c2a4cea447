//! The folders in which the program keeps files for the next run.

use std::io;
use std::path::{Path, PathBuf};

/// The folder for files of one kind: the one that the environment variable names, else the one of this name in `ssl` in the
/// user's cache folder. `None` if the system has no such folder.
pub fn folder(variable: &str, kind: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = set(variable) {
        return Some(folder);
    }
    let caches = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // A relative path there is to be ignored, says the specification of these folders.
        set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).or_else(|| set("HOME").map(|home| home.join(".cache")))
    };
    Some(caches?.join("ssl").join(kind))
}

/// A folder for files of one kind among temporary files, for where no other can be written. All users may share the folder of
/// those, so the name is this user's own.
pub fn temporary(kind: &str) -> PathBuf {
    #[cfg(unix)]
    let name = format!("ssl-{kind}-{}", rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    let name = format!("ssl-{kind}");
    std::env::temp_dir().join(name)
}

/// Makes a [`temporary`] folder that no other user can look into.
///
/// # Errors
/// It cannot be made, or is there and others may put files into it.
#[cfg(unix)]
pub fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let made = std::fs::DirBuilder::new().mode(0o700).create(folder);
    // A link may lead to a folder of somebody else.
    let Ok(about) = std::fs::symlink_metadata(folder) else { return made };
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned()));
    if !about.is_dir() {
        return refuse("something that is no folder has its name");
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    if about.mode() & 0o022 != 0 {
        return refuse("others may write to it (`chmod go-w` mends that)");
    }
    Ok(())
}

/// Likewise where each user has a folder for temporary files.
///
/// # Errors
/// It cannot be made.
#[cfg(not(unix))]
pub fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}
