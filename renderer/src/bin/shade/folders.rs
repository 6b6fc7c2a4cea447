//! What there is to check in a folder: shaders, graphs, scenes and jobs. Other TOML and JSON files are left alone.

use super::kinds::Kind;
use std::path::{Path, PathBuf};

/// The files of a path: itself, or those in a folder and below, in order of their names.
pub fn checkable(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        // A file that cannot be read is reported by whoever reads it.
        return Ok(vec![path.to_owned()]);
    }
    let (mut found, mut folders) = (Vec::new(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if Kind::of(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
