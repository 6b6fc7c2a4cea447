//! Well-typed programs: all ways of running one agree.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::programs(data));
