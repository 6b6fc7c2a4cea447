//! Noise by the name of its kind, as in Open Shading Language: `noise("simplex", p)`, `pnoise("cell", p, period)`.
//!
//! The kind must be a literal, because it decides which function of the library is called, and so what the value is
//! made of. The points are those of that language: one number, two numbers, a point, a point and a time.

use super::Checker;
use super::hir::{Expr, ExprKind};
use super::scope::Meaning;
use crate::builtins::library;
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{Type, VectorKind};

impl Checker<'_> {
    /// The function that a call by kind means; `Some(None)` where the kind was reported, `None` where the call is
    /// an ordinary one.
    pub(super) fn noise_function(&mut self, name: &Ident, arguments: &[ast::Expr]) -> Option<Option<&'static str>> {
        let own = self.scope.functions.get(&name.text).is_some_and(|list| !list.is_empty());
        if !matches!(name.text.as_str(), "noise" | "pnoise") || own {
            return None;
        }
        let first = arguments.first()?;
        let ast::ExprKind::Str(kind) = &first.kind else {
            if !self.names_a_string(first) {
                return None;
            }
            let hint = "write it in quotes here; `switch` chooses between several calls";
            self.error(&codes::NOISE_KIND, first.span, "the kind of noise must be known beforehand", hint);
            return Some(None);
        };
        let function = library::noise_of_kind(&name.text, kind);
        if function.is_none() {
            let kinds = library::noise_kinds(&name.text);
            let hint = match closest(kind, kinds.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is {}", kinds.map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")),
            };
            let message = match library::noise_of_kind("noise", kind) {
                Some(_) => format!("noise of the kind `{kind}` does not repeat"),
                None => format!("there is no noise of the kind `{kind}`"),
            };
            self.error(&codes::NOISE_KIND, first.span, message, hint);
        }
        Some(function)
    }

    /// Whether an expression is the name of a variable or constant of type string.
    fn names_a_string(&self, e: &ast::Expr) -> bool {
        let ast::ExprKind::Name(name) = &e.kind else { return false };
        match (self.lookup(name), self.scope.names.get(name).map(|d| &d.meaning)) {
            (Some(id), _) => self.variable(id).ty == Type::String,
            (None, Some(Meaning::Constant(value, _))) => value.ty == Type::String,
            _ => false,
        }
    }

    pub(super) fn noise_call(&mut self, function: &str, name: &Ident, points: &[ast::Expr], span: Span) -> Expr {
        let values: Vec<Expr> = points.iter().map(|e| self.expr(e)).collect();
        if values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        if let Some(option) = values.iter().find(|e| e.ty == Type::String) {
            let hint = format!("call the function of this noise, which has them as arguments: `{function}(…)`");
            self.error(&codes::NOISE_KIND, option.span, "noise has no options by name", hint);
            return Expr::error(span);
        }
        let values = match (name.text.as_str(), values.len()) {
            ("noise", 2) | ("pnoise", 4) => {
                let mut values = values.into_iter();
                let mut joined = Vec::new();
                while let (Some(a), Some(b)) = (values.next(), values.next()) {
                    joined.push(self.joined(a, b, span));
                }
                joined
            }
            _ => values,
        };
        if values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        self.library_call(function, name, values, span)
    }

    /// Two numbers, or a point and a time, as one point.
    fn joined(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        let kind = match a.ty.components() {
            Some(1) => VectorKind::Float2,
            _ => VectorKind::Float4,
        };
        let mut float = |e: Expr| if matches!(e.ty, Type::Vector(_)) { e } else { self.coerce(e, &Type::Float) };
        let parts = vec![float(a), float(b)];
        let fits = parts.iter().map(|e| e.ty.components().unwrap_or(0)).sum::<usize>() == kind.len();
        if !fits && parts.iter().all(|e| e.ty != Type::Error) {
            let hint = "give one number, two numbers, a point, or a point and a time";
            self.error(&codes::NO_OVERLOAD, span, "these are no coordinates of noise", hint);
        }
        match fits {
            true => Expr { kind: ExprKind::Construct(parts), ty: Type::Vector(kind), span },
            false => Expr::error(span),
        }
    }
}
