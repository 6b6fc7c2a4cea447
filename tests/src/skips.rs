//! Tests that cannot run because a program or a file is missing. Each says so and is counted: a test that ends early
//! without a word would pass for one that ran.

use std::fmt::Display;
use std::io::Write;

/// Names the file in which `cargo xtask` collects what was skipped; `xtask/src/skips.rs` sets it.
pub const RECORD: &str = "SSL_SKIPPED_TESTS";

/// Says that the running test, or a part of it, is skipped. The test returns then.
///
/// # Panics
/// If the file that `cargo xtask` named cannot be written: a skip that nobody hears of is what this is against.
pub fn skip(why: impl Display) {
    let test = test_name();
    println!("skipped: {test}: {why}");
    if let Some(path) = std::env::var_os(RECORD) {
        // In one piece, since other processes write there, too.
        let line = format!("{test}: {why}\n");
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

/// The program and the test in it.
fn test_name() -> String {
    let program = std::env::current_exe().ok().and_then(|p| Some(p.file_stem()?.to_string_lossy().into_owned()));
    let program = program.unwrap_or_default();
    // Cargo puts a hash behind the name.
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    // Nextest runs a test on the main thread.
    let thread = std::thread::current().name().map(str::to_owned);
    let test = std::env::var("NEXTEST_TEST_NAME").ok().or(thread).unwrap_or_default();
    format!("{program}::{test}")
}
