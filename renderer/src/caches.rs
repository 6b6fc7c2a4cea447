//! The folders in which the program keeps files for the next run.

use std::path::PathBuf;

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
