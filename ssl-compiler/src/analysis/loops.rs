//! How many loops a function may have.
//!
//! For long functions, back ends use a register allocator that visits at each block all values that are alive there.
//! Loops keep values alive, so its time grows with the square of their number.

use crate::ir::{Function, Module};

/// Loops of one function, with those of functions that were written into it.
pub const MAX_LOOPS: usize = 2048;

/// Fails with a message where a function has more than [`MAX_LOOPS`].
pub fn check(module: &Module) -> Result<(), String> {
    match module.functions.iter().map(count).max() {
        Some(n) if n > MAX_LOOPS => Err(format!("this shader has {n} loops in one function, more than {MAX_LOOPS}")),
        _ => Ok(()),
    }
}

fn count(f: &Function) -> usize {
    let mut n = 0;
    f.walk(|_, data| n += usize::from(data.op.is_loop()));
    n
}
