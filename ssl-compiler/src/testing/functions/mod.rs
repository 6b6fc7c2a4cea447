//! Tests that call functions of a file by themselves: `expect_gradient(f(…))` compares the gradient of a function with
//! finite differences, `expect_integral_gradient(f(…))` that of a function whose integrals jump with differences of means
//! over many samples, `expect_inverse(f(…))` a point that was mapped and led back with itself, `expect_undo(f(…))` a step that was taken back with the state before it.
//!
//! The function is called by shaders that are written for the test, behind the text of its file. They take the inputs and
//! give the results scalar by scalar, so nothing else needs to know how a value is laid out.

mod appended;
mod called;
mod customs;
mod gradient;
mod inputs;
mod integral;
mod inverse;
mod judge;
mod plan;
mod point;
mod show;
mod source;
mod undo;

pub(super) use appended::Appended;
pub(super) use called::Called;
pub(super) use customs::{is_made, tests_of_customs};
pub(super) use inverse::{Inverse, inverse_plan};
pub(super) use judge::Judged;
pub(super) use plan::{Gradient, plan};
pub(super) use undo::{Undo, undo_plan};

use super::compare::Tolerance;

/// How far a gradient may be from finite differences unless a test says otherwise.
pub(super) const GRADIENT: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-3 };

/// How far the gradient of an integral may be from finite differences, beside what neither of them knows better.
pub(super) const INTEGRAL: Tolerance = Tolerance { absolute: 1e-3, relative: 0.02 };

/// Samples that each integral takes in a test of such a gradient, for one seed.
pub(super) const INTEGRAL_SAMPLES: i32 = 4096;

/// With fewer, none may happen to lie where the integrand changes, and all seeds agree on nothing.
pub(super) const MIN_INTEGRAL_SAMPLES: i32 = 256;

/// How far a state may be from what it was before the step: relative to the larger one of before and behind the step.
pub(super) const UNDO: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-4 };

/// How far a point may be from where it was before it was mapped: relative to its largest number.
pub(super) const INVERSE: Tolerance = Tolerance { absolute: 1e-5, relative: 1e-4 };
