//! Shader tests: finding them, running them on every back end, and reporting what failed.
//!
//! A test sets globals, runs a shader and states expectations. Its names and values are checked before it runs.

mod cases;
mod check;
mod check_expectations;
mod compare;
mod compiled;
mod differences;
mod draws;
mod drift;
mod expectation;
mod formula;
mod functions;
mod junit;
mod lobes;
mod numeric;
mod refusal;
mod report;
mod reproduce;
mod ridders;
mod run;
mod run_expectations;
mod runner;
mod shrink;
mod texels;
mod texture;
mod values;
mod zero_cost;

pub use check::check_tests;
pub use compiled::Session;
pub use differences::{Differences, Differing, Globals, differences, zero_globals};
pub use drift::{Drift, Drifted, drift};
pub use junit::junit;
pub use report::{BrokenFile, Failure, FileReport, TestReport, failed, json};
pub use runner::run_file;
pub use texels::{Levels, TestImage, Texel};
pub use texture::{TestPattern, TestTexture, TestTextures};

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
