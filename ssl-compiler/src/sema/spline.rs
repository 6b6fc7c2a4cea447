//! Calls of `spline` and `splineinverse`: which basis, and the values as one array.

use super::Checker;
use super::convert::distance;
use super::hir::{Expr, ExprKind};
use crate::builtins::expand::spline::{Basis, KNOTS};
use crate::builtins::{Builtin, Expand, overloads};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::types::Type;

impl Checker<'_> {
    /// `spline(basis, x, values…)`, or with an array of values; `splineinverse` alike. `name` is which of the two.
    pub(super) fn spline(&mut self, name: &str, values: Vec<Expr>, span: Span) -> Expr {
        let inverse = name == "splineinverse";
        let mut values = values.into_iter();
        let (Some(basis), Some(x)) = (values.next(), values.next()) else {
            let hint = format!("for instance `{name}(\"catmull-rom\", x, knots)`, with an array of values");
            self.error(&codes::NO_OVERLOAD, span, format!("`{name}` takes a basis, a number and values"), hint);
            return Expr::error(span);
        };
        if distance(&x.ty, &Type::Float).is_none() {
            let hint = match inverse {
                true => "a value that the curve has",
                false => "from 0 to 1, it runs along the curve",
            };
            self.error(&codes::NO_OVERLOAD, x.span, format!("the second argument of `{name}` is a number"), hint);
            return Expr::error(span);
        }
        let (basis, x) = (self.basis(name, &basis), self.coerce(x, &Type::Float));
        let (Some(basis), Some(knots)) = (basis, self.knots(name, values.collect(), span)) else {
            return Expr::error(span);
        };
        let Type::Array(element, count) = &knots.ty else { return Expr::error(span) };
        if inverse && **element != Type::Float {
            let hint = "give floats: a curve of vectors takes no value in order";
            self.error(&codes::NO_OVERLOAD, knots.span, "`splineinverse` runs along floats", hint);
            return Expr::error(span);
        }
        if *count < KNOTS || !(count - KNOTS).is_multiple_of(basis.step()) {
            let step = basis.step();
            let message = format!("`{name}(\"{}\")` cannot run along {count} values", basis.name());
            let hint = format!("it takes 4, {}, {}, … of them", 4 + step, 4 + 2 * step);
            self.error(&codes::NO_OVERLOAD, knots.span, message, hint);
            return Expr::error(span);
        }
        let ty = (**element).clone();
        let own = |b: &Builtin| matches!(b.expand, Expand::Spline(own) | Expand::SplineInverse(own) if own == basis);
        let row = overloads(name).find(|(_, b)| own(b));
        match row {
            Some((id, _)) => Expr { kind: ExprKind::Builtin(id, vec![x, knots]), ty, span },
            None => Expr::error(span),
        }
    }

    fn basis(&mut self, name: &str, e: &Expr) -> Option<Basis> {
        // Steps have no inverse.
        let has = |b: &Basis| name == "spline" || *b != Basis::Constant;
        let names: Vec<&str> = Basis::ALL.iter().filter(|b| has(b)).map(|b| b.name()).collect();
        let list = names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
        let Some(text) = self.string_value(e).map(str::to_owned) else {
            let message = format!("the first argument of `{name}` is the name of a basis");
            self.error(&codes::NO_OVERLOAD, e.span, message, format!("write one of {list}"));
            return None;
        };
        let found = Basis::ALL.into_iter().find(|b| has(b) && b.name() == text);
        if found.is_none() {
            let hint = match closest(&text, names.iter().copied()) {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("there are {list}"),
            };
            self.error(&codes::NO_OVERLOAD, e.span, format!("`{name}` has no basis \"{text}\""), hint);
        }
        found
    }

    /// The array that was given, or one of the single values.
    fn knots(&mut self, name: &str, mut values: Vec<Expr>, span: Span) -> Option<Expr> {
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
        self.error(&codes::NO_OVERLOAD, span, format!("`{name}` runs along floats or vectors"), hint);
        None
    }
}
