//! Why a derivative of an integral cannot be had.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::Why;
use crate::source::Span;

pub(super) fn explain(span: Span, why: Why) -> Diagnostic {
    let (message, hint) = match why {
        Why::Curved => (
            "the derivative of the integral needs the place where this condition changes, and it cannot be solved for it",
            "solve it by hand for something of at most the second degree in the variables of integration, such as `x < a * y + b`, \
             or soften it: `smoothing = 0.01`",
        ),
        Why::Rounding => (
            "the integrand jumps here at a place that depends on a parameter, and by no condition that can be solved",
            "round something that is affine in the variables of integration, or write the jump as a condition, such as \
             `x < a ? 0.0 : 1.0`",
        ),
        Why::Loop => (
            "this integrand jumps at a place that depends on a parameter, and has a loop, a recursion, another integral or a \
             function with a derivative of its own in it",
            "unroll the loop with `[ForceUnroll]`; write an integral in an integral as one over the variables of both",
        ),
        Why::Effects => (
            "this integrand jumps at a place that depends on a parameter, and looks up a texture or prints",
            "move the look-up or `printf` out of the integrand",
        ),
        Why::LookUp => {
            ("a condition in an integral depends on what a texture gives", "look the texture up before the integral")
        }
        Why::Linked => (
            "a method that is linked to the integrand jumps here, and its arguments are not affine in the variables of integration",
            "hand over values that are affine in the variables of integration, such as these themselves, and compute the rest in \
             the method",
        ),
        Why::Twice => (
            "this asks for a second derivative of an integral, by something that moves the place where this condition changes, \
             and that derivative is not known",
            "second derivatives are known over one variable, and of lines over two, see `integrals.md`; take only the first \
             one here, or the second one of a function without jumps",
        ),
    };
    let hint = format!("{hint}; `boundaries = false` leaves out what the jump adds to derivatives");
    Diagnostic::error(&codes::JUMPS, span, message, hint)
}
