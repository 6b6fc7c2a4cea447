//! Ctrl-C, and the signals that ask a program to end. The first signal asks the command to stop and keep what there is
//! so far. The second one ends the program at once, whether it reads a slow disk or writes; only a shader
//! that is being compiled is waited for.

use crate::outcome::INTERRUPTED;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// From now on the first signal sets `cancel`. Files that are being written when the second one comes keep their temporary
/// names beside the final ones.
pub fn sets(cancel: &Arc<AtomicBool>) -> Result<(), ctrlc::Error> {
    let cancel = cancel.clone();
    ctrlc::set_handler(move || {
        if cancel.swap(true, Ordering::Relaxed) {
            ssl_compiler::finish();
            std::process::exit(i32::from(INTERRUPTED));
        }
    })
}
