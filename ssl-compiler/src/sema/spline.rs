//! Calls of `spline`: which basis, and the values as one array.

use super::Checker;
use super::convert::distance;
use super::hir::{Expr, ExprKind};
use crate::builtins::expand::spline::{Basis, KNOTS};
use crate::builtins::{Expand, overloads};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::types::Type;

impl Checker<'_> {
    /// `spline(basis, x, values…)`, or with an array of values.
    pub(super) fn spline(&mut self, values: Vec<Expr>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(basis), Some(x)) = (values.next(), values.next()) else {
            let hint = "for instance `spline(\"catmull-rom\", x, knots)`, with an array of values";
            self.error(&codes::NO_OVERLOAD, span, "`spline` takes a basis, a number and values", hint);
            return Expr::error(span);
        };
        if distance(&x.ty, &Type::Float).is_none() {
            let hint = "from 0 to 1, it runs along the curve";
            self.error(&codes::NO_OVERLOAD, x.span, "the second argument of `spline` is a number", hint);
            return Expr::error(span);
        }
        let (basis, x) = (self.basis(&basis), self.coerce(x, &Type::Float));
        let (Some(basis), Some(knots)) = (basis, self.knots(values.collect(), span)) else {
            return Expr::error(span);
        };
        let Type::Array(element, count) = &knots.ty else { return Expr::error(span) };
        if *count < KNOTS || !(count - KNOTS).is_multiple_of(basis.step()) {
            let step = basis.step();
            let message = format!("`spline(\"{}\")` cannot run along {count} values", basis.name());
            let hint = format!("it takes 4, {}, {}, … of them", 4 + step, 4 + 2 * step);
            self.error(&codes::NO_OVERLOAD, knots.span, message, hint);
            return Expr::error(span);
        }
        let ty = (**element).clone();
        let row = overloads("spline").find(|(_, b)| matches!(b.expand, Expand::Spline(own) if own == basis));
        match row {
            Some((id, _)) => Expr { kind: ExprKind::Builtin(id, vec![x, knots]), ty, span },
            None => Expr::error(span),
        }
    }

    fn basis(&mut self, e: &Expr) -> Option<Basis> {
        let names = Basis::ALL.map(Basis::name);
        let list = names.map(|n| format!("\"{n}\"")).join(", ");
        let Some(text) = self.string_value(e).map(str::to_owned) else {
            let message = "the first argument of `spline` is the name of a basis";
            self.error(&codes::NO_OVERLOAD, e.span, message, format!("write one of {list}"));
            return None;
        };
        let found = Basis::ALL.into_iter().find(|b| b.name() == text);
        if found.is_none() {
            let hint = match closest(&text, names) {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("there are {list}"),
            };
            self.error(&codes::NO_OVERLOAD, e.span, format!("`spline` has no basis \"{text}\""), hint);
        }
        found
    }

    /// The array that was given, or one of the single values.
    fn knots(&mut self, mut values: Vec<Expr>, span: Span) -> Option<Expr> {
        let numbers = |ty: &Type| matches!(ty, Type::Float | Type::Vector(_));
        if let [Expr { ty: Type::Array(element, _), .. }] = values.as_slice() {
            if numbers(element) {
                return values.pop();
            }
        } else if values.iter().all(|e| numbers(&e.ty) || e.ty == Type::Int) {
            let vector = values.iter().map(|e| &e.ty).find(|ty| matches!(ty, Type::Vector(_)));
            let element = vector.cloned().unwrap_or(Type::Float);
            let ty = Type::Array(Box::new(element.clone()), values.len() as u32);
            let list = values.into_iter().map(|e| self.coerce(e, &element)).collect();
            return Some(Expr { kind: ExprKind::Construct(list), ty, span });
        }
        let hint = "give at least four floats or vectors, or one array of them";
        self.error(&codes::NO_OVERLOAD, span, "`spline` runs along floats or vectors", hint);
        None
    }
}
