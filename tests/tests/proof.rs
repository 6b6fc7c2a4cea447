//! The proof by random programs: three comparisons, each on thousands of programs without an exception.
//!
//! Here a few hundred; `cargo xtask prove` runs 10,000 of each. `SSL_PROOF_PROGRAMS` says how many.

use ssl_tests::generate::Random;
use ssl_tests::proof::backends::Backends;
use ssl_tests::proof::differences::Differences;
use ssl_tests::proof::duals::Duals;
use ssl_tests::proof::{Claim, Judged, Tally, prove, wanted};

#[test]
fn differentiated_programs_agree_with_the_second_evaluator() {
    let tally = prove("f64 interpreter and duals", wanted(150), &Duals::default());
    assert!(tally.share_of_points() < 0.6, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

/// A claim that could not fail would prove nothing: here one partial is off by a millionth.
#[test]
fn a_wrong_partial_is_found() {
    let wrong = Duals { error: 1e-6, ..Duals::default() };
    let found = (0..200).filter(|&seed| {
        let judged = wrong.judge(&wrong.program(seed), Random::new(seed), &mut Tally::default());
        matches!(judged, Judged::Fails(_))
    });
    // Programs that ask for no derivative of that global cannot tell.
    let found = found.count();
    assert!(found > 40, "{found} of 200");
}

#[test]
fn every_back_end_agrees_with_the_interpreter() {
    let tally = prove("f32 interpreter and back ends", wanted(60), &Backends::default());
    assert!(tally.share_of_programs() < 0.2, "{tally:?}");
}

#[test]
fn derivatives_agree_with_finite_differences() {
    let tally = prove("duals and finite differences", wanted(150), &Differences);
    assert!(tally.share_of_points() < 0.8, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}
