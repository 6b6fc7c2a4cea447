//! The program, for tests that meet it as a user does.

use std::process::{Command, Output};

pub fn shade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("the program was built for this test")
}

/// What it said.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
