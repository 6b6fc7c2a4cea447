//! The proof of forward and reverse mode by random programs. `cargo xtask prove` runs 10,000 of each; here as many as
//! take seconds. `SSL_PROOF_PROGRAMS` says how many.

use ssl_tests::proof::gradients::bits::Bits;
use ssl_tests::proof::gradients::first::First;
use ssl_tests::proof::gradients::taylor::Taylor;
use ssl_tests::proof::{prove, wanted};

#[test]
fn tangents_agree_with_the_second_evaluator() {
    let tally = prove("tangents and Taylor series", wanted(60), &Taylor::default());
    assert!(tally.share_of_points() < 0.6, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

#[test]
fn tangents_are_slopes() {
    let tally = prove("tangents and finite differences", wanted(60), &First::new(false));
    assert!(tally.share_of_points() < 0.8, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

#[test]
fn tangents_have_the_same_bits_on_every_back_end() {
    let tally = prove("tangents on back ends", wanted(20), &Bits::new(false));
    assert!(tally.share_of_programs() < 0.3, "{tally:?}");
}
