//! The folders in which the program keeps files for the next run.

use ssl_compiler::private_folder;
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
pub fn make_private(folder: &Path) -> io::Result<()> {
    private_folder::make(folder, false)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use ssl_tests::temporary::Folder;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Beside the message of a refusal stands why.
    #[test]
    fn a_private_folder_is_neither_open_to_others_nor_behind_a_link() {
        let around = Folder::new("private");
        let path = |name: &str| around.path().join(name);
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let refused = |path: &Path| make_private(path).expect_err("it is not private").to_string();
        let own = path("own");
        for time in ["new", "there already"] {
            make_private(&own).unwrap_or_else(|e| panic!("{time}: {e}"));
            assert_eq!(mode(&own), 0o700, "{time}");
        }
        symlink(&own, path("link")).expect("the folder is ours");
        assert!(refused(&path("link")).contains("link"));
        symlink(path("nowhere"), path("dangling")).expect("the folder is ours");
        assert!(refused(&path("dangling")).contains("link") && !path("nowhere").exists());
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o777)).expect("it is ours");
        assert!(refused(&own).contains("chmod"));
        std::fs::write(path("file"), "").expect("the folder is ours");
        assert!(refused(&path("file")).contains("no folder"));
    }
}
