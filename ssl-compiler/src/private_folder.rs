//! Folders that belong to one user: what lies in them is trusted, or is nobody else's business.

use std::io;
use std::path::Path;

/// Makes a folder, and those above it, that no other user can look into. One that is there is taken as it is; one behind a link only
/// where links are `followed`: where all users may put files, anybody may have made the link.
///
/// # Errors
/// It cannot be made; or, on Unix, it belongs to somebody else, or others may write to it, or it is a link that is not followed.
#[cfg(unix)]
pub fn make(folder: &Path, followed: bool) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    // Once it is there: where files are protected from others, nobody can put something else in its place.
    let about = if followed { std::fs::metadata(folder) } else { std::fs::symlink_metadata(folder) }?;
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned()));
    if about.is_symlink() {
        return refuse("a link has its name");
    }
    if !about.is_dir() {
        return refuse("it is no folder");
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user, who could change what is in it");
    }
    if about.mode() & 0o022 != 0 {
        return refuse("others may write to it, and so change what is in it (`chmod go-w` mends that)");
    }
    Ok(())
}

/// Makes a folder, and those above it. Here each user has folders of their own.
///
/// # Errors
/// It cannot be made.
#[cfg(not(unix))]
pub fn make(folder: &Path, _followed: bool) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}
