//! What was not tested because something is not installed here: steps of `ci` without their tools, and tests that say
//! so (`ssl_tests::skip`). It is printed when the task ends, and fails `ci` unless that was told to allow it.

use super::commands::root;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

/// The name of the variable by which tests find the file; `tests/src/skips.rs` reads it.
const RECORD: &str = "SSL_SKIPPED_TESTS";

static STEPS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The file that tests append to, one for each run of this program, empty at its start.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = root().join("target");
    let file = folder.join(format!("skipped-tests-{}.txt", std::process::id()));
    // Where these fail, so does the first test that skips.
    let _ = std::fs::create_dir_all(&folder);
    let _ = std::fs::remove_file(&file);
    file
});

/// What a command gets so that tests can say what they skip.
pub fn variable() -> (&'static str, &'static PathBuf) {
    (RECORD, &FILE)
}

/// Notes that tests were skipped.
pub fn gap(what: &str, why: &str) {
    println!("skipped: {what}: {why}");
    STEPS.lock().unwrap_or_else(|e| e.into_inner()).push(format!("{what}: {why}"));
}

/// Everything that was skipped, each once; the file is gone then.
pub fn take() -> Vec<String> {
    let mut all = std::mem::take(&mut *STEPS.lock().unwrap_or_else(|e| e.into_inner()));
    // There is no file where no test skipped.
    let text = std::fs::read_to_string(&*FILE).unwrap_or_default();
    let _ = std::fs::remove_file(&*FILE);
    let mut tests: Vec<&str> = text.lines().collect();
    // The order in which tests end is chance, and several steps run the same ones.
    tests.sort_unstable();
    tests.dedup();
    all.extend(tests.into_iter().map(str::to_owned));
    all
}

/// Prints the skipped tests and their number; nothing if there are none.
pub fn report(skipped: &[String]) {
    if skipped.is_empty() {
        return;
    }
    println!("\nskipped: {}", skipped.len());
    skipped.iter().for_each(|s| println!("  {s}"));
}
