//! Matches arguments to parameters: those without a name in order, then the others by name, as in `falloff(2.0, power =
//! 3.0)`.

use super::Checker;
use super::hir::Expr;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Ident};

/// What stands in the parentheses of a call.
pub(super) struct Given {
    pub values: Vec<Expr>,
    /// Of the last values.
    pub names: Vec<Ident>,
    /// The first value is what a method is called on.
    pub this: bool,
    /// They are for a derivative of a function, of this order.
    pub order: usize,
}

/// What the parameters are called, and which may be left out.
pub(super) struct Parameters<'a> {
    pub names: Vec<&'a str>,
    pub optional: Vec<bool>,
}

/// Why arguments do not go to parameters.
pub(super) enum Misfit {
    /// More without a name than there are parameters.
    TooMany,
    /// Which of the names no parameter has.
    Unknown(usize),
    /// Which of the names belongs to a parameter that has an argument already.
    Twice(usize),
    /// Parameters that need an argument and have none.
    Missing(Vec<usize>),
}

/// The argument of each parameter; those without a name are the first.
pub(super) fn slots(
    parameters: &Parameters<'_>,
    arguments: usize,
    names: &[Ident],
) -> Result<Vec<Option<usize>>, Misfit> {
    let positional = arguments - names.len();
    if positional > parameters.names.len() {
        return Err(Misfit::TooMany);
    }
    let mut slots: Vec<Option<usize>> = (0..parameters.names.len()).map(|i| (i < positional).then_some(i)).collect();
    for (i, name) in names.iter().enumerate() {
        match parameters.names.iter().position(|p| *p == name.text) {
            None => return Err(Misfit::Unknown(i)),
            Some(at) if slots[at].is_some() => return Err(Misfit::Twice(i)),
            Some(at) => slots[at] = Some(positional + i),
        }
    }
    let is_missing = |i: &usize| slots[*i].is_none() && !parameters.optional[*i];
    let missing: Vec<usize> = (0..slots.len()).filter(is_missing).collect();
    if missing.is_empty() { Ok(slots) } else { Err(Misfit::Missing(missing)) }
}

/// The value of an argument, its name taken off.
pub(super) fn value_of(argument: &ast::Expr) -> &ast::Expr {
    match &argument.kind {
        ExprKind::Named(_, value) => value,
        _ => argument,
    }
}

impl Checker<'_> {
    /// The names in front of the last arguments. `None` after a mistake that no callee could make good.
    pub(super) fn argument_names(&mut self, arguments: &[ast::Expr]) -> Option<Vec<Ident>> {
        let mut names: Vec<Ident> = Vec::new();
        let mut fine = true;
        for argument in arguments {
            match &argument.kind {
                ExprKind::Named(name, _) if names.iter().any(|n| n.text == name.text) => {
                    fine = false;
                    self.given_twice(name);
                }
                ExprKind::Named(name, _) => names.push(name.clone()),
                _ if names.is_empty() => {}
                _ => {
                    fine = false;
                    let message = "an argument without a name stands behind one with a name";
                    let hint = "arguments without names come first; give this one its name too, or move it";
                    self.error(&codes::UNNAMED_ARGUMENT, argument.span, message, hint);
                }
            }
        }
        fine.then_some(names)
    }

    pub(super) fn given_twice(&mut self, name: &Ident) {
        let message = format!("`{}` is given twice", name.text);
        self.error(&codes::DUPLICATE_NAME, name.span, message, "keep one of the two");
    }

    /// No parameter of the callee has this name.
    pub(super) fn no_parameter(&mut self, callee: &str, parameters: &[&str], name: &Ident) {
        let (message, hint) = (format!("{callee} has no parameter `{}`", name.text), self.near(parameters, name));
        self.error(&codes::UNKNOWN_PARAMETER, name.span, message, hint);
    }

    /// What may have been meant instead of a parameter that there is not.
    pub(super) fn near(&self, parameters: &[&str], name: &Ident) -> String {
        // `roughness` for `specular_roughness`: one that ends alike, if it is the only one.
        let ends_alike = |p: &&&str| p.strip_suffix(&name.text).is_some_and(|rest| rest.ends_with('_'));
        let alike: Vec<&str> = parameters.iter().filter(ends_alike).copied().collect();
        let near = closest(&name.text, parameters.iter().copied());
        match (near, alike.as_slice()) {
            (Some(near), _) | (None, &[near]) => format!("did you mean `{near}`?"),
            _ if self.lookup(&name.text).is_some() => {
                format!("to assign to the variable, put the assignment in parentheses: `({} = …)`", name.text)
            }
            (None, [_, ..]) => format!("did you mean one of {}?", listed(&alike)),
            (None, []) if parameters.is_empty() => "it has none".to_owned(),
            (None, []) => format!("it has {}", listed(parameters)),
        }
    }

    /// A name in front of a value that goes to nothing with a name.
    pub(super) fn nameless(&mut self, name: &Ident) {
        let message = format!("nothing takes an argument called `{}` here", name.text);
        let hint = format!("write the value alone; an assignment stands in parentheses: `({} = …)`", name.text);
        self.error(&codes::UNKNOWN_PARAMETER, name.span, message, hint);
    }

    /// Why arguments do not go to the parameters of the only callee that can be meant.
    pub(super) fn misfit(
        &self,
        callee: &str,
        parameters: &Parameters<'_>,
        names: &[Ident],
        misfit: &Misfit,
        span: Span,
    ) -> Diagnostic {
        match misfit {
            Misfit::TooMany => {
                let message = format!("{callee} does not take that many arguments");
                let hint = match parameters.names.as_slice() {
                    [] => "it takes none".to_owned(),
                    list => format!("it takes {}", listed(list)),
                };
                Diagnostic::error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint)
            }
            Misfit::Unknown(i) => {
                let message = format!("{callee} has no parameter `{}`", names[*i].text);
                let hint = self.near(&parameters.names, &names[*i]);
                Diagnostic::error(&codes::UNKNOWN_PARAMETER, names[*i].span, message, hint)
            }
            Misfit::Twice(i) => {
                let message = format!("the parameter `{}` is given twice", names[*i].text);
                let hint = "an argument without a name has gone to it already; keep one of the two";
                Diagnostic::error(&codes::DUPLICATE_NAME, names[*i].span, message, hint)
            }
            Misfit::Missing(list) => {
                let missing: Vec<&str> = list.iter().map(|i| parameters.names[*i]).collect();
                let message = format!("{callee} is called without {}", listed(&missing));
                let hint = "only parameters with a default may be left out";
                Diagnostic::error(&codes::MISSING_ARGUMENT, span, message, hint)
            }
        }
    }
}

/// `` `a`, `b` and `c` ``
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
