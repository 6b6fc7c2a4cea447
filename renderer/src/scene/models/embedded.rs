//! Images within other files: they are put into the folder of converted images, and read like any other.

use crate::texture::make::{Partial, make_folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// A file with an image's bytes; its name is their hash, so that it is written once. It is in the first of the folders that
/// can be used. The error is a sentence for the user.
pub fn stored(bytes: &[u8], folders: &[PathBuf]) -> Result<PathBuf, String> {
    let extension = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [0xFF, 0xD8, 0xFF, ..] => "jpg",
        _ => return Err("an image within it is neither PNG nor JPEG".to_owned()),
    };
    let name = format!("embedded-{:032x}.{extension}", xxh3_128(bytes));
    let mut why = Err("an image within it cannot be kept anywhere".to_owned());
    for folder in folders {
        match written(bytes, folder, &name) {
            Ok(path) => return Ok(path),
            Err(e) => why = Err(format!("an image within it cannot be kept in `{}`: {e}", folder.display())),
        }
    }
    why
}

fn written(bytes: &[u8], folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let path = folder.join(name);
    make_folder(folder)?;
    if std::fs::metadata(&path).is_ok_and(|m| m.len() == bytes.len() as u64) {
        return Ok(path);
    }
    let (partial, mut file) = Partial::create(&path)?;
    file.write_all(bytes)?;
    drop(file);
    partial.finish()?;
    Ok(path)
}
