//! The folder of converted images: each image is converted once, whichever program asks, and again when it has changed.

use super::conversion::Conversion;
use super::convert::{MakeError, convert};
use crate::caches;
use crate::texture::file::{Probed, TextureFile, probe};
use crate::texture::{Disk, Storage};
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fmt::Display;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// The name of folders for converted images.
const KIND: &str = "textures";

/// Raised when files of the same name would hold something else.
const FORMAT: u32 = 6;

/// A file to read `path` from: itself where it is tiled and mip-mapped, else its conversion in `folder`, made now if it
/// is not there. `progress` hears the share that is done and says whether to go on.
///
/// Several processes may ask at once: files appear whole under their final name, by which everyone finds them; if two
/// convert the same image, both results are the same, and the last one stays. A conversion that cannot be opened is
/// made anew. Where the folder is at fault, the error is [`MakeError::Output`].
pub fn prepared(
    path: &Path,
    how: &Conversion,
    folder: &Path,
    progress: &dyn Fn(f32) -> bool,
) -> Result<PathBuf, MakeError> {
    let unreadable = |e: &dyn Display| MakeError::Input(format!("`{}` cannot be read: {e}", path.display()));
    let file = Disk.open(path).map_err(|e| unreadable(&e))?;
    if probe(file.as_ref()).map_err(|e| unreadable(&e))? == Probed::Texture {
        return Ok(path.to_owned());
    }
    drop(file);
    let converted = folder.join(name(path, how).map_err(|e| unreadable(&e))?);
    // Before the look for what is there: others may have put it into a folder that is not ours.
    make_folder(folder)
        .map_err(|e| MakeError::Output(format!("the folder `{}` cannot be used: {e}", folder.display())))?;
    if is_whole(&converted) {
        return Ok(converted);
    }
    remove_stale(folder);
    match convert(path, &converted, how, progress) {
        Ok(()) => Ok(converted),
        // Somebody else may have been quicker, where replacing an open file fails.
        Err(MakeError::Output(_)) if is_whole(&converted) => Ok(converted),
        Err(e) => Err(e),
    }
}

/// Where converted images go unless somebody says otherwise: `SSL_TEXTURE_CACHE`, else `ssl/textures` in the user's
/// folder of caches; `None` where there is no such folder.
pub fn default_folder() -> Option<PathBuf> {
    caches::folder("SSL_TEXTURE_CACHE", KIND)
}

/// Where they go if nothing can be written there: a folder of this user among temporary files.
pub fn temporary_folder() -> PathBuf {
    caches::temporary(KIND)
}

/// Makes a folder for converted images. The one among temporary files must be this user's alone.
///
/// # Errors
/// It cannot be made, or cannot be trusted.
pub fn make_folder(folder: &Path) -> std::io::Result<()> {
    match folder == temporary_folder() {
        true => caches::make_private(folder),
        false => std::fs::create_dir_all(folder),
    }
}

/// A name by all that the content depends on: the image's place, length and time, and how it is converted.
fn name(path: &Path, how: &Conversion) -> std::io::Result<String> {
    let place = path.canonicalize()?;
    let about = std::fs::metadata(&place)?;
    let time = about.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Two hashes of 64 bits, so that no two images ever meet. Should a later compiler hash otherwise, images are
    // converted once more.
    let hash = |seed: u32| {
        let mut hasher = DefaultHasher::new();
        (seed, FORMAT, &place, about.len(), time).hash(&mut hasher);
        format!("{how:?}").hash(&mut hasher);
        hasher.finish()
    };
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let plain: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).take(40).collect();
    Ok(format!("{plain}-{:016x}{:016x}.tx", hash(1), hash(2)))
}

/// Removes what processes left behind that were killed while they converted. Nobody converts an image for a day.
fn remove_stale(folder: &Path) {
    const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).map(|time| time.elapsed().unwrap_or_default());
        if entry.file_name().to_string_lossy().ends_with(".partial") && age.is_ok_and(|age| age > DAY) {
            // What cannot be removed is left.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a conversion is there and can be opened.
fn is_whole(path: &Path) -> bool {
    let Ok(file) = Disk.open(path) else { return false };
    let Ok(texture) = TextureFile::open(file.as_ref()) else { return false };
    // Conversions are only ever cut off by what happens to disks; then the end is missing first.
    texture.is_mip_mapped() && texture.end() <= file.length()
}
