//! The text of a graph file: read, linked, checked, drawn, compiled, run.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::graph(data));
