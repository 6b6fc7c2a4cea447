//! Any text: checker, and what follows where it finds no error.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::checker(data));
