//! Images within glTF files: they are put into the folder of converted images, and read like any other.
//!
//! Whatever an image says of its color space must be ignored (glTF 2.0, "Images"). PNG alone says something that would count
//! elsewhere. So copies lack it, and a file beside the glTF that says it is copied.

use super::png_gamma::{gamma_chunks, without_gamma};
use crate::texture::make::{Partial, make_folder};
use ssl_compiler::input;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// A file to read the colors of another one from: itself, or a copy. The error is a sentence for the user, here and below.
pub fn of_file(path: PathBuf, folders: &[PathBuf]) -> Result<PathBuf, String> {
    // What cannot be read here cannot be read later, which is said then.
    let chunks = input::open(&path, MOST_BYTES).and_then(|(file, _)| gamma_chunks(&mut BufReader::new(file)));
    if chunks.unwrap_or_default().is_empty() {
        return Ok(path);
    }
    match input::bytes(&path, MOST_BYTES) {
        Ok(bytes) => stored(&bytes, folders),
        Err(_) => Ok(path),
    }
}

/// Of a file with an image.
const MOST_BYTES: u64 = 1 << 32;

/// A file with an image's bytes; its name is their hash, so that it is written once. It is in the first of the folders that
/// can be used.
pub fn stored(bytes: &[u8], folders: &[PathBuf]) -> Result<PathBuf, String> {
    let bytes = &*without_gamma(bytes);
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
