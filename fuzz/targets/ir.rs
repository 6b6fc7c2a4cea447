//! Textual intermediate code: reader, verifier, passes, native code.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::ir(data));
