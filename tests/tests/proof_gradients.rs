//! The proof of forward and reverse mode by random programs. `cargo xtask prove` runs 10,000 of each; here as many as
//! take seconds. `SSL_PROOF_GRADIENTS` says how many.

use ssl_tests::proof::gradients::bits::Bits;
use ssl_tests::proof::gradients::first::First;
use ssl_tests::proof::gradients::mutation::Mutation;
use ssl_tests::proof::gradients::second::Second;
use ssl_tests::proof::gradients::taylor::Taylor;
use ssl_tests::proof::{Claim, Judged, Tally, judged, prove, wanted_gradients};

#[test]
fn tangents_agree_with_the_second_evaluator() {
    let tally = prove("tangents and Taylor series", wanted_gradients(60), &Taylor::default());
    assert!(tally.share_of_points() < 0.6, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

/// ⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩, each gradient against the tangent along its parameter, and tangents against slopes.
#[test]
fn cotangents_belong_to_tangents_and_tangents_are_slopes() {
    let tally = prove("cotangents, tangents and finite differences", wanted_gradients(60), &First::new(true));
    assert!(tally.share_of_points() < 0.8, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

/// A claim that could not fail would prove nothing: here each program's derivative has a fault of one instruction. Some
/// change nothing that a point shows: a sum with 0, or a value that is kept for a branch not taken.
#[test]
fn faults_in_reverse_sweeps_are_found() {
    for (mutation, programs, least) in [(Mutation::Sign, 60, 30), (Mutation::DroppedPush, 120, 90)] {
        let wrong = First { mutation: Some(mutation), ..First::new(true) };
        let (mut found, mut all) = (0, 0);
        for seed in 0..programs {
            match judged(&wrong, &wrong.program(seed), seed, &mut Tally::default()) {
                Judged::Fails(_) => (found, all) = (found + 1, all + 1),
                Judged::Again("nothing to change") => {}
                _ => all += 1,
            }
        }
        assert!(all > 10 && 100 * found >= least * all, "{mutation:?}: {found} of {all}");
    }
}

/// Forward of forward, reverse of forward, forward of reverse and reverse of reverse mode.
#[test]
fn second_derivatives_agree() {
    let tally = prove("second derivatives", wanted_gradients(40), &Second::default());
    assert!(tally.share_of_points() < 0.8, "{tally:?}");
    assert!(tally.share_of_programs() < 0.4, "{tally:?}");
}

#[test]
fn derivatives_have_the_same_bits_on_every_back_end() {
    let tally = prove("tangents and cotangents on back ends", wanted_gradients(16), &Bits::new(true));
    assert!(tally.share_of_programs() < 0.3, "{tally:?}");
}
