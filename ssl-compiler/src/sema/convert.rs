//! Which type converts to which, silently or on request, and how well it fits.

use super::Checker;
use super::hir::{Constant, Conversion, Expr, ExprKind};
use crate::diagnostics::codes;
use crate::syntax::ast;
use crate::types::Type;

/// How far a value is from what is wanted; less is better. `None` where it does not convert silently.
pub(crate) fn distance(from: &Type, to: &Type) -> Option<u32> {
    match (from, to) {
        (Type::Error, _) | (_, Type::Error) => Some(0),
        _ if from == to => Some(0),
        // So a function of just this length is nearer.
        (Type::Array(a, _), Type::Array(b, 0)) | (Type::Array(a, 0), Type::Array(b, _)) if a == b => Some(1),
        (Type::Vector(a), Type::Vector(b)) if a.len() == b.len() => Some(1),
        (Type::Int, Type::Float) => Some(2),
        (Type::Float, Type::Vector(_)) => Some(3),
        (Type::Int, Type::Vector(_)) => Some(4),
        _ => None,
    }
}

fn wrap(kind: Conversion, ty: Type, e: Expr) -> Expr {
    let span = e.span;
    match (kind, &e.kind) {
        (Conversion::IntToFloat, ExprKind::Constant(Constant::Int(i))) => {
            Expr::constant(Constant::Float(*i as f32), span)
        }
        _ => Expr { kind: ExprKind::Convert(kind, Box::new(e)), ty, span },
    }
}

/// Converts silently; the caller knows by [`distance`] that it works.
fn convert(e: Expr, to: &Type) -> Expr {
    match (&e.ty, to) {
        (Type::Error, _) | (_, Type::Error) => e,
        (from, to) if from == to => e,
        (Type::Vector(_), Type::Vector(_)) => wrap(Conversion::Rename, to.clone(), e),
        (Type::Int, Type::Float) => wrap(Conversion::IntToFloat, Type::Float, e),
        (Type::Float, Type::Vector(_)) => wrap(Conversion::Splat, to.clone(), e),
        (Type::Int, Type::Vector(_)) => {
            let float = wrap(Conversion::IntToFloat, Type::Float, e);
            wrap(Conversion::Splat, to.clone(), float)
        }
        _ => e,
    }
}

impl Checker<'_> {
    /// Brings a value to a type, or reports that it does not convert.
    pub(super) fn coerce(&mut self, e: Expr, to: &Type) -> Expr {
        if *to == Type::Closure && matches!(e.kind, ExprKind::Constant(Constant::Int(0))) {
            // No lobes, as Open Shading Language writes it.
            return Expr { kind: ExprKind::Construct(Vec::new()), ty: Type::Closure, span: e.span };
        }
        if distance(&e.ty, to).is_some() {
            self.inspect_widening(&e, to);
            return convert(e, to);
        }
        if self.distance(&e.ty, to).is_some() {
            return self.converted(e, to);
        }
        let (from, wanted) = (self.name_of(&e.ty), self.name_of(to));
        let hint = match (&e.ty, to) {
            (Type::Float, Type::Int) => "write `int(…)` to cut the fraction off".to_owned(),
            (Type::Bool, Type::Int | Type::Float) => format!("write `{wanted}(…)`, or choose with `? :`"),
            (_, Type::Matrix) if e.ty.is_numeric() => "build it: `matrix(x)` has x on the diagonal".to_owned(),
            (Type::Matrix, _) => "take a row `m[i]` or an element `m[i][j]`".to_owned(),
            (Type::Vector(_), Type::Float) => "take one component, such as `.x`, or `length(…)`".to_owned(),
            (Type::String, Type::Bool) => "compare it with another one, such as `!= \"\"`".to_owned(),
            (Type::String, _) => "a string is a name, and converts to nothing".to_owned(),
            (_, Type::String) => "write a name in quotes, such as `\"world\"`".to_owned(),
            (_, Type::Bool) => "compare it with something, such as `!= 0`".to_owned(),
            (Type::Vector(_), Type::Vector(_)) => format!("build it: `{wanted}(…)`, or take components by a swizzle"),
            (_, Type::Closure) => "closures are made by `make_closure<Name>(…)`".to_owned(),
            (Type::Void, _) => self.returns_nothing(&e),
            _ if self.interface_of(to).is_some() => format!("give a value that conforms to {wanted}"),
            _ if self.interface_of(&e.ty).is_some() => {
                "what it holds is known at run time only: ask it by a method of the interface".to_owned()
            }
            _ => format!("a value of type {wanted} is needed here"),
        };
        let message = format!("expected {wanted}, found {from}");
        self.error(&codes::TYPE_MISMATCH, e.span, message, hint);
        Expr::error(e.span)
    }

    /// The remedy for a call that gives no value where one is needed.
    pub(super) fn returns_nothing(&self, e: &Expr) -> String {
        let ExprKind::Call(id, _) = &e.kind else { return "it returns nothing".to_owned() };
        let function = self.program.function(*id);
        let name = &function.name;
        if function.derived.as_ref().is_some_and(|d| d.mode == ast::Mode::Backward) {
            return "the derivatives stand in the pairs that are handed in: call it as a statement, and read `p.d`"
                .to_owned();
        }
        let handed_out = function.parameters.iter().find(|p| p.direction != ast::Direction::In);
        let output = handed_out.map(|p| function.variables[p.variable.0 as usize].name.as_str());
        match (function.is_shader, output) {
            (true, Some(output)) => {
                format!(
                    "a shader returns nothing: call it as a statement, `{name}({output} = variable);`, and read the variable"
                )
            }
            (false, Some(output)) => format!("`{name}` returns nothing; it hands its result out by `{output}`"),
            _ => format!("`{name}` returns nothing: declare it with the type of its result in place of `void`"),
        }
    }

    /// A condition: a bool, or a number that is compared with zero as C does.
    pub(super) fn condition(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        self.truth(e)
    }

    pub(super) fn truth(&mut self, e: Expr) -> Expr {
        match e.ty {
            Type::Int => wrap(Conversion::IntToBool, Type::Bool, e),
            Type::Float => wrap(Conversion::FloatToBool, Type::Bool, e),
            _ => self.coerce(e, &Type::Bool),
        }
    }

    /// A conversion that the author asked for: `int(x)` or `(int)x`.
    pub(super) fn explicit(&mut self, e: Expr, to: &Type) -> Expr {
        match (&e.ty, to) {
            (Type::Float, Type::Int) => wrap(Conversion::FloatToInt, Type::Int, e),
            // Who asks for it knows of fractions cut off.
            (Type::Int, Type::Float) => convert(e, to),
            (Type::Bool, Type::Int) => wrap(Conversion::BoolToInt, Type::Int, e),
            (Type::Bool, Type::Float) => wrap(Conversion::BoolToFloat, Type::Float, e),
            (Type::Int | Type::Float, Type::Bool) => self.truth(e),
            (Type::Bool | Type::Int | Type::Float, Type::Matrix) => {
                let float = self.explicit(e, &Type::Float);
                wrap(Conversion::Diagonal, Type::Matrix, float)
            }
            _ => self.coerce(e, to),
        }
    }
}
