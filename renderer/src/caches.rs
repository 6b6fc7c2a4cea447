//! Where the program keeps what it made for the next run.

use std::path::PathBuf;

/// The folder of a kind of such files: what the variable of the environment says, else one of this name in the folder
/// `ssl` of the user's caches; `None` where the system names no such folder.
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
