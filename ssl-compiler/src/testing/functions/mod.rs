//! Tests that call functions of a file by themselves: `expect_gradient(f(…))` compares the gradient of a function with
//! finite differences, `expect_undo(f(…))` a step that was taken back with the state before it.
//!
//! The function is called by shaders that are written for the test, behind the text of its file. They take the inputs and
//! give the results scalar by scalar, so nothing else needs to know how a value is laid out.

mod appended;
mod called;
mod customs;
mod gradient;
mod inputs;
mod judge;
mod plan;
mod point;
mod show;
mod source;
mod undo;

pub(super) use appended::Appended;
pub(super) use called::Called;
pub(super) use customs::{is_made, tests_of_customs};
pub(super) use judge::Judged;
pub(super) use plan::{Gradient, plan};
pub(super) use undo::{Undo, undo_plan};

use super::compare::Tolerance;

/// How far a gradient may be from finite differences unless a test says otherwise.
pub(super) const GRADIENT: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-3 };

/// How far a state may be from what it was before the step: relative to the larger one of before and behind the step.
pub(super) const UNDO: Tolerance = Tolerance { absolute: 1e-6, relative: 1e-4 };
