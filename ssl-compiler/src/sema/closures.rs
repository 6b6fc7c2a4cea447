//! `make_closure<Name>(…)`: arguments in order, then by name, and the host's defaults for missing arguments.

use super::Checker;
use super::arguments::{Misfit, Parameters, slots, value_of};
use super::hir::{Constant, Expr, ExprKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::{ClosureDefault, ClosureParameter};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{FLOAT3, Type};

/// Parameters that a message lists.
const MAX_LISTED: usize = 12;

impl Checker<'_> {
    pub(super) fn closure(&mut self, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        if let Some(own) = self.closure_struct(&name.text) {
            return self.own_closure(own, name, arguments, span);
        }
        let Some((id, closure)) = self.closures.find(&name.text) else {
            if self.no_closure_struct(name) {
                return Expr::error(span);
            }
            let message = format!("there is no closure `{}`", name.text);
            self.unknown(&codes::UNKNOWN_CLOSURE, (&name.text, name.span), message, Self::advise_closure);
            return Expr::error(span);
        };
        let Some(names) = self.argument_names(arguments) else { return Expr::error(span) };
        let parameters = Parameters {
            names: closure.parameters.iter().map(|p| &*p.name).collect(),
            optional: closure.parameters.iter().map(|p| self.has_default(p)).collect(),
        };
        let slots = match slots(&parameters, arguments.len(), &names) {
            Ok(slots) => slots,
            Err(misfit) => {
                let diagnostic = match misfit {
                    Misfit::Unknown(_) | Misfit::Twice(_) => {
                        self.misfit(&format!("the closure `{}`", name.text), &parameters, &names, &misfit, span)
                    }
                    _ => self.wrong_closure_arguments(name, &closure.parameters, arguments.len(), &misfit, span),
                };
                self.diagnostics.push(diagnostic);
                return Expr::error(span);
            }
        };
        let mut values = Vec::new();
        for (parameter, argument) in closure.parameters.iter().zip(slots) {
            values.push(match (argument, &parameter.default) {
                (Some(i), _) => self.closure_argument(name, value_of(&arguments[i]), parameter),
                (None, Some(default)) => self.closure_default(default, &parameter.ty, span),
                (None, None) => Expr::error(span),
            });
        }
        Expr { kind: ExprKind::Closure(id, values), ty: Type::Closure, span }
    }

    /// Whether a parameter may be left out; a global that the host does not fill in is no default.
    fn has_default(&self, parameter: &ClosureParameter) -> bool {
        match &parameter.default {
            None => false,
            Some(ClosureDefault::Global(name)) => self.layout.find(name).is_some(),
            Some(_) => true,
        }
    }

    pub(super) fn wrong_closure_arguments(
        &self,
        name: &Ident,
        parameters: &[ClosureParameter],
        given: usize,
        misfit: &Misfit,
        span: Span,
    ) -> Diagnostic {
        let one = |p: &ClosureParameter| match self.has_default(p) {
            true => format!("[{} {}]", self.name_of(&p.ty), p.name),
            false => format!("{} {}", self.name_of(&p.ty), p.name),
        };
        let list: Vec<String> = parameters.iter().map(one).collect();
        let needed = parameters.iter().filter(|p| !self.has_default(p)).count();
        let hint = match needed == parameters.len() {
            _ if parameters.len() > MAX_LISTED => {
                let all = parameters.iter().filter(|p| !self.has_default(p)).map(|p| &*p.name);
                let first: Vec<&str> = all.take(MAX_LISTED).collect();
                let more =
                    if needed > first.len() { format!(" and {} more", needed - first.len()) } else { String::new() };
                format!("these must be given: {}{more}", super::arguments::listed(&first))
            }
            true => format!("they are ({})", list.join(", ")),
            false => format!("they are ({}), of which those in brackets may be left out", list.join(", ")),
        };
        let message = match misfit {
            Misfit::Missing(missing) if given >= needed => {
                let missing: Vec<&str> = missing.iter().map(|i| &*parameters[*i].name).collect();
                format!("`{}` is made without {}", name.text, super::arguments::listed(&missing))
            }
            _ if needed == parameters.len() => format!("`{}` takes {needed} arguments, not {given}", name.text),
            _ => format!("`{}` takes {needed} to {} arguments, not {given}", name.text, parameters.len()),
        };
        Diagnostic::error(&codes::CLOSURE_ARGUMENTS, span, message, hint)
    }

    fn closure_default(&mut self, default: &ClosureDefault, ty: &Type, span: Span) -> Expr {
        self.expressions += 1;
        let float = |x: f32| Expr::constant(Constant::Float(x), span);
        let value = match *default {
            ClosureDefault::Float(x) => float(x),
            ClosureDefault::Int(x) => Expr::constant(Constant::Int(x), span),
            ClosureDefault::Bool(x) => Expr::constant(Constant::Bool(x), span),
            ClosureDefault::Vector(v) => {
                Expr { kind: ExprKind::Construct(v.into_iter().map(float).collect()), ty: FLOAT3, span }
            }
            ClosureDefault::Global(name) => match self.layout.find(name) {
                Some((index, field)) => Expr { kind: ExprKind::Global(index), ty: field.ty.clone(), span },
                None => Expr::error(span),
            },
            ClosureDefault::NoLobes => Expr { kind: ExprKind::Construct(Vec::new()), ty: Type::Closure, span },
        };
        self.coerce(value, ty)
    }

    /// A value for a closure's parameter, which a message names.
    fn closure_argument(&mut self, closure: &Ident, e: &ast::Expr, parameter: &ClosureParameter) -> Expr {
        if matches!(e.kind, ast::ExprKind::List(_)) {
            return self.initialiser(e, &parameter.ty);
        }
        let value = self.expr(e);
        if super::convert::distance(&value.ty, &parameter.ty).is_some() {
            return self.coerce(value, &parameter.ty);
        }
        let (wanted, found) = (self.name_of(&parameter.ty), self.name_of(&value.ty));
        let message = format!("`{}` of `{}` is {wanted}, found {found}", parameter.name, closure.text);
        let hint = "arguments stand in the order of the parameters, or have their names in front";
        self.error(&codes::CLOSURE_ARGUMENTS, e.span, message, hint);
        Expr::error(e.span)
    }
}
