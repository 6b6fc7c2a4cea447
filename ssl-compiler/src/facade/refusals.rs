//! Why the passes refuse a program, in words.

use super::jumps;
use crate::diagnostics::{Diagnostic, codes};
use crate::passes::ad::Refused;
use crate::pipeline::Failure;
use crate::source::Span;

/// What is wrong with a shader that the passes refused.
pub(super) fn explain(failure: Failure, shader: Span) -> Diagnostic {
    match failure {
        Failure::Refused(Refused::Unbounded(span)) => {
            let hint = "derive a value that was not itself derived in an earlier round of the loop or recursion";
            Diagnostic::error(&codes::UNBOUNDED_ORDER, span, "this derivative is derived again without end", hint)
        }
        Failure::Refused(Refused::TooLarge) => {
            let message = "the derivatives of this shader come to too many instructions";
            let hint =
                "derive less often, or in a smaller shader: each nested `ddx` or `ddy` derives all that came before";
            Diagnostic::error(&codes::TOO_LARGE, shader, message, hint)
        }
        Failure::Refused(Refused::ThroughScreen(span)) => {
            let message = "this gradient would have to go on through a derivative along the screen";
            let hint = "the gradient treats what `ddx`, `ddy` give inside the function as values of their own; pass them \
                        as parameters, so that it gives their gradient too, or `detach` what they derive";
            Diagnostic::error(&codes::THROUGH_SCREEN, span, message, hint)
        }
        Failure::Refused(Refused::NoRule { span, function, component }) => {
            let message =
                format!("the host gives no derivative of `{function}` by component {component} of its arguments");
            let hint = "it is asked for by `ddx`, `ddy` or a texture; let the host register one, or say that it is 0";
            Diagnostic::error(&codes::NO_DERIVATIVE, span, message, hint)
        }
        Failure::Refused(Refused::Jumps { span, why }) => jumps::explain(span, why),
        Failure::Refused(Refused::NoUndo { span, why, variable }) => {
            let hint = "write the update so that it can be taken back, or keep the rounds: remove `[Undo]`, or write \
                        `[Checkpoint(every = 64)]`";
            let variable = variable.map_or(String::new(), |name| format!(" (`{name}`)"));
            let message = format!("the rounds of this loop cannot be taken back: {why}{variable}");
            Diagnostic::error(&codes::NO_UNDO, span, message, hint)
        }
        Failure::Refused(Refused::TooManyTapes(span)) => {
            let message = format!(
                "reverse sweeps that keep values go through each other here, and only {} can",
                crate::ir::MAX_TAPES
            );
            let hint = "take some of the derivatives in forward mode: `fwd_diff` of `bwd_diff`, or the other way round";
            Diagnostic::error(&codes::DERIVED_FUNCTION, span, message, hint)
        }
        Failure::Refused(Refused::NoTape(span)) => {
            let message = "the rounds of this loop cannot be remembered for a reverse sweep";
            Diagnostic::error(&codes::BACKEND, span, message, "please report this with the shader")
        }
        Failure::Broken { pass, errors } => {
            let message = format!("the pass `{pass}` broke the program: {}", errors.join("; "));
            Diagnostic::error(&codes::BACKEND, shader, message, "please report this with the shader")
        }
    }
}
