//! Any text: lexer, parser, formatter.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::syntax(data));
