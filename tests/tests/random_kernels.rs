//! Random kernels: every way of running one gives the same bits, and its gradient is the transpose of its derivative.
//!
//! `SSL_RANDOM_CASES` runs more of them than usual. A failure prints the program.

use ssl_tests::generate::{Random, kernel, kernel_and_derivative};
use ssl_tests::kernel_programs::{gives_the_same_bits, gradient_is_the_transpose};
use ssl_tests::on_large_stack;

fn cases(usual: u64) -> u64 {
    std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

// rule: defined.same_bits accept
#[test]
fn every_way_of_running_a_kernel_gives_the_same_bits() {
    on_large_stack(|| {
        for seed in 0..cases(30) {
            let source = kernel(Random::new(seed), seed as usize % 20, seed % 3 == 0);
            gives_the_same_bits(&source, &mut Random::new(seed ^ 1 << 40))
                .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    });
}

#[test]
fn the_gradient_of_a_kernel_is_the_transpose_of_its_derivative() {
    let cases = cases(30);
    let mut compared = 0;
    on_large_stack(|| {
        for seed in 0..cases {
            let source = kernel_and_derivative(Random::new(seed), seed as usize % 12);
            let judged = gradient_is_the_transpose(&source, &mut Random::new(seed ^ 1 << 40));
            compared += u64::from(judged.unwrap_or_else(|why| panic!("seed {seed}: {why}")));
        }
    });
    assert!(compared * 4 >= cases * 3, "{compared} of {cases} could be compared");
}
