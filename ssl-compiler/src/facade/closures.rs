//! What the host runs for closure types that the files declare.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::runtime::ClosureId;
use crate::sema::Checked;
use crate::sema::hir::FunctionId;
use crate::source::{FileId, Span};

/// A function that the host runs for a closure type which the files declare.
pub(super) fn of_closure(
    checked: &Checked,
    file: FileId,
    closure: ClosureId,
    entry: Option<&str>,
) -> Result<FunctionId, Diagnostics> {
    let host = checked.closures.types().len() - checked.program.closures.len();
    let own = (closure.0 as usize).checked_sub(host).and_then(|i| checked.program.closures.get(i));
    let functions = checked.closures.interface().map_or(&[][..], |i| i.functions);
    let at = functions.iter().position(|name| Some(*name) == entry);
    match own.zip(at).and_then(|(own, at)| own.functions.get(at)) {
        Some(id) => Ok(*id),
        None => {
            let hint = "ask for a function of the interface, by the number of a closure type that the files declare";
            let message = "there is no such function of a closure";
            Err(Diagnostic::error(&codes::NO_SHADER, Span::new(file, 0..0), message, hint).into())
        }
    }
}
