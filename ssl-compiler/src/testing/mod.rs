//! Shader tests: finding them, running them on every back end, saying what failed.
//!
//! A test sets globals, runs a shader and states expectations. What it names and
//! the values that it gives are checked before.

mod check;
mod compiled;
mod numeric;
mod report;
mod reproduce;
mod runner;
mod texture;
mod values;

pub use check::check_tests;
pub use compiled::Session;
pub use report::{Failure, FileReport, TestReport, json, junit};
pub use runner::run_file;
pub use texture::TestTexture;

use std::path::{Path, PathBuf};

/// The `.ssl` files of a path: itself, or those in a folder and below, in order of their names.
pub fn discover(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        // A file that cannot be read is reported by whoever reads it.
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ssl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
