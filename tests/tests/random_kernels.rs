//! Random kernels: every way of running one gives the same bits, and its gradient is the transpose of its derivative.
//!
//! `SSL_RANDOM_CASES` runs more of them than usual. A failure prints the program.

use ssl_tests::generate::{Held, Random, held_kernel_and_derivative, kernel, kernel_and_derivative};
use ssl_tests::kernel_programs::{
    derivatives_are_alike, gives_the_same_bits, gradient_is_the_transpose, policies_agree,
};
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

/// `no_diff` before a parameter is `no_diff` before the argument of each call, in recursions and in loops, forwards and in
/// reverse.
#[test]
fn no_derivative_goes_through_a_parameter_however_it_is_reached() {
    let (cases, mut held) = (cases(30), 0);
    on_large_stack(|| {
        for seed in 0..cases {
            let write = |how| held_kernel_and_derivative(Random::new(seed), seed as usize % 12, how);
            let sources = [Held::Parameter, Held::Argument].map(write);
            held += u64::from(sources[1].contains("no_diff"));
            derivatives_are_alike([&sources[0], &sources[1]], &mut Random::new(seed ^ 1 << 40))
                .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    });
    assert!(held * 6 >= cases, "only {held} of {cases} programs hold an argument");
}

#[test]
fn the_policy_for_calls_changes_a_gradient_by_rounding_only() {
    let (cases, mut compared) = (cases(20), 0);
    on_large_stack(|| {
        for seed in 0..cases {
            let source = kernel_and_derivative(Random::new(seed), seed as usize % 12);
            let judged = policies_agree(&source, &mut Random::new(seed ^ 1 << 40));
            compared += u64::from(judged.unwrap_or_else(|why| panic!("seed {seed}: {why}")));
        }
    });
    assert!(compared * 2 >= cases, "{compared} of {cases} could be compared");
}
