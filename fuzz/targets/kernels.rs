//! Well-typed kernels: all ways of running one agree, and its gradient is the transpose of its derivative.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssl_tests::fuzz::kernels(data));
