//! Names that a program passes to the library's functions as strings, such as that of a metal. A function that chooses
//! by a string with `switch` knows the names of its cases. A constant that is none of them is a spelling mistake, which
//! its `default` would hide.

use super::Checker;
use super::hir::{Argument, Expr, ExprKind, Function, FunctionId, Stmt, StmtKind, VarId};
use crate::diagnostics::{closest, codes};
use crate::runtime::string_id;
use crate::source::Span;
use crate::types::Type;
use std::collections::HashMap;

/// A constant string that a function of the library was given.
pub(super) struct GivenName {
    function: FunctionId,
    parameter: usize,
    text: String,
    span: Span,
}

impl Checker<'_> {
    /// Notes the constant strings of a call. What they should be shows when the function's body was checked, too.
    pub(super) fn note_names(&mut self, function: FunctionId, arguments: &[Argument]) {
        let name = |(parameter, argument): (usize, &Argument)| {
            let Argument::In(e) = argument else { return None };
            let text = self.string_value(e).filter(|_| e.ty == Type::String)?.to_owned();
            Some(GivenName { function, parameter, text, span: e.span })
        };
        let given: Vec<GivenName> = arguments.iter().enumerate().filter_map(name).collect();
        if !given.is_empty() && self.library.values().flatten().any(|id| *id == function) {
            self.given_names.extend(given);
        }
    }

    /// Reports those that no case of the function has.
    pub(super) fn check_names(&mut self) {
        let names: HashMap<i32, String> = self.program.strings.iter().map(|s| (string_id(s), s.clone())).collect();
        for given in std::mem::take(&mut self.given_names) {
            let function = self.program.function(given.function);
            let labels = labels(function, given.parameter);
            if labels.is_empty() || labels.contains(&string_id(&given.text)) {
                continue;
            }
            let mut known: Vec<&str> = labels.iter().filter_map(|l| names.get(l).map(String::as_str)).collect();
            known.sort_unstable();
            let hint = match closest(&given.text, known.iter().copied()) {
                Some(near) => format!("did you mean `\"{near}\"`?"),
                None => {
                    format!("there is {}", known.iter().map(|n| format!("`\"{n}\"`")).collect::<Vec<_>>().join(", "))
                }
            };
            let message = format!("`{}` knows no `\"{}\"`", function.name, given.text);
            self.error(&codes::UNKNOWN_CASE, given.span, message, hint);
        }
    }
}

/// The cases of the `switch`es by a parameter that are statements of the function itself.
pub(super) fn labels(function: &Function, parameter: usize) -> Vec<i32> {
    let Some(parameter) = function.parameters.get(parameter) else { return Vec::new() };
    let chosen_by = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Switch { value, sections } if is_variable(value, parameter.variable) => {
            sections.iter().flat_map(|s| s.labels.iter().copied()).collect()
        }
        _ => Vec::new(),
    };
    function.body.iter().flatten().flat_map(chosen_by).collect()
}

fn is_variable(e: &Expr, variable: VarId) -> bool {
    matches!(&e.kind, ExprKind::Place(place) if place.variable == variable && place.path.is_empty())
}
