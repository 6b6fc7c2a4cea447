//! Warnings about single expressions, found while they are checked: comparisons, conditions, divisions and literals
//! that are valid but probably not what the author meant.

use super::Checker;
use super::hir::{Access, Constant, Conversion, Expr, ExprKind, Place};
use crate::builtins::Builtin;
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp};
use crate::types::Type;

/// Integers above this are not all floats.
const EXACT_INTEGERS: i32 = 1 << 24;

/// Results of these are whole numbers.
const WHOLE: &[&str] = &["floor", "ceil", "round", "trunc", "sign", "step"];

impl Checker<'_> {
    fn warn(&mut self, code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::warning(code, span, message, hint));
    }

    /// Looks at an operator whose operands have been brought to one type.
    pub(super) fn inspect_binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) {
        let float = matches!(a.ty, Type::Float | Type::Vector(_));
        let same = matches!((&a.kind, &b.kind), (ExprKind::Place(p), ExprKind::Place(q)) if same_place(p, q));
        match op {
            BinaryOp::Div | BinaryOp::Rem if is_zero(b) => {
                let gives = if float { "infinity or NaN" } else { "0" };
                let hint = format!("the result is {gives}; divide by something else");
                self.warn(&codes::DIVISION_BY_ZERO, b.span, "this divides by zero", hint);
            }
            // A value differs from itself if it is NaN.
            BinaryOp::Eq | BinaryOp::Ne if same && float => {}
            _ if same && is_settled(op) => {
                let message = format!("`{}` has the same on both sides", op.symbol());
                self.warn(&codes::SAME_OPERANDS, span, message, "one of the names is probably another");
            }
            BinaryOp::Eq | BinaryOp::Ne if float && !is_whole(a) && !is_whole(b) => {
                let message = format!("`{}` compares floats, which are rounded", op.symbol());
                let hint = match op {
                    BinaryOp::Eq => "compare the difference: `abs(a - b) < 1e-6`",
                    _ => "compare the difference: `abs(a - b) > 1e-6`",
                };
                self.warn(&codes::FLOAT_EQUALITY, span, message, hint);
            }
            _ => {}
        }
    }

    /// `2 ^ n` where a power was meant; as written, since hexadecimal says that it was not.
    pub(super) fn inspect_power(&mut self, op: BinaryOp, a: &ast::Expr, b: &ast::Expr, span: Span) {
        let ast::ExprKind::Int(base) = a.kind else { return };
        let decimal = (a.span.end - a.span.start) < 3;
        let literal = matches!(b.kind, ast::ExprKind::Int(_)) && (b.span.end - b.span.start) < 3;
        if op == BinaryOp::BitXor && decimal && literal && matches!(base, 2 | 10) {
            let hint = if base == 2 { "powers of two are `1 << n`" } else { "write the number, or `pow(10.0, n)`" };
            self.warn(&codes::XOR_AS_POWER, span, "`^` is the exclusive or, no power", hint);
        }
    }

    /// A condition as written, of an `if`, `?` or loop.
    pub(super) fn inspect_condition(&mut self, e: &ast::Expr, of_loop: bool) {
        match &e.kind {
            ast::ExprKind::Assign(None, target, _) if e.span.start == target.span.start => {
                let hint = "compare with `==`; if an assignment is meant, add parentheses: `((a = b))`";
                let found =
                    Diagnostic::warning(&codes::ASSIGNED_CONDITION, e.span, "this assigns, it does not compare", hint);
                self.diagnostics.push(found);
            }
            _ if !of_loop && is_literal(e) => {
                let hint = "remove the condition; a constant of the file can serve as a switch";
                self.warn(&codes::CONSTANT_CONDITION, e.span, "this condition never changes", hint);
            }
            _ => {}
        }
    }

    /// An integer on its way to become a float without being asked.
    pub(super) fn inspect_widening(&mut self, e: &Expr, to: &Type) {
        if e.ty != Type::Int || !matches!(to, Type::Float | Type::Vector(_)) {
            return;
        }
        match &e.kind {
            ExprKind::Constant(Constant::Int(i))
                if i.unsigned_abs() > EXACT_INTEGERS as u32 && *i as f32 as i64 != i64::from(*i) =>
            {
                let message = format!("{i} is no float, and is rounded to {}", *i as f32);
                self.warn(&codes::LOSSY_LITERAL, e.span, message, "floats hold whole numbers up to 16777216");
            }
            ExprKind::Binary(BinaryOp::Div, a, b) if !divides(self, a, b) => {
                let hint = "write one side as a float, `1.0`; if cutting off is meant, `float(…)`";
                let message = "this division of integers cuts the fraction off before it becomes a float";
                self.warn(&codes::INTEGER_DIVISION, e.span, message, hint);
            }
            _ => {}
        }
    }

    /// `(a, b, c)` gives only `c`.
    pub(super) fn inspect_comma(&mut self, a: &Expr) {
        if is_idle(a) {
            let hint = "name what is made of the values: `float3(a, b, c)`";
            self.warn(&codes::COMMA_VALUE, a.span, "the value before this comma is not used", hint);
        }
    }
}

/// Whether computing it does nothing but give a value.
pub(super) fn is_idle(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(_)
        | ExprKind::Place(_)
        | ExprKind::Global(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Builtin(..)
        | ExprKind::Swizzle(..)
        | ExprKind::Member(..)
        | ExprKind::Index(..)
        | ExprKind::Construct(_)
        | ExprKind::Closure(..)
        | ExprKind::Sample(..) => {
            let mut idle = true;
            super::walk::parts(e, &mut |part| {
                if let super::walk::Part::Operand(inner) = part {
                    idle &= is_idle(inner);
                }
            });
            idle
        }
        ExprKind::Convert(_, inner) => is_idle(inner),
        _ => false,
    }
}

/// Whether an operator's result is known where both sides are one variable.
fn is_settled(op: BinaryOp) -> bool {
    use BinaryOp::{And, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Ne, Or, Rem, Sub};
    matches!(op, And | BitAnd | BitOr | BitXor | Div | Eq | Ge | Gt | Le | Lt | Ne | Or | Rem | Sub)
}

fn is_zero(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(Constant::Int(i)) => *i == 0,
        ExprKind::Constant(Constant::Float(x)) => *x == 0.0,
        ExprKind::Convert(Conversion::Splat | Conversion::Rename | Conversion::IntToFloat, e) => is_zero(e),
        _ => false,
    }
}

/// Whether a float is a whole number for certain.
fn is_whole(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(Constant::Float(x)) => x.fract() == 0.0,
        ExprKind::Convert(Conversion::IntToFloat | Conversion::BoolToFloat, _) => true,
        ExprKind::Convert(Conversion::Splat | Conversion::Rename, e) => is_whole(e),
        ExprKind::Unary(_, e) => is_whole(e),
        ExprKind::Construct(list) => list.iter().all(is_whole),
        ExprKind::Builtin(id, _) => WHOLE.contains(&Builtin::get(*id).name),
        _ => false,
    }
}

/// Whether both are constants, and the division has no fraction.
fn divides(checker: &Checker<'_>, a: &Expr, b: &Expr) -> bool {
    match (checker.int_value(a), checker.int_value(b)) {
        (Some(a), Some(b)) => b == 0 || a.wrapping_rem(b) == 0,
        _ => false,
    }
}

fn is_literal(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Int(_) | ast::ExprKind::Float(_) | ast::ExprKind::Bool(_) => true,
        ast::ExprKind::Unary(_, e) => is_literal(e),
        ast::ExprKind::Binary(_, a, b) => is_literal(a) && is_literal(b),
        _ => false,
    }
}

/// Whether two places are the same variable, or the same part of it, for certain.
pub(super) fn same_place(a: &Place, b: &Place) -> bool {
    let same = |(x, y): (&Access, &Access)| match (x, y) {
        (Access::Member(i), Access::Member(j)) => i == j,
        (Access::Swizzle(s), Access::Swizzle(t)) => s == t,
        (Access::Index(i), Access::Index(j)) => match (&i.kind, &j.kind) {
            (ExprKind::Constant(x), ExprKind::Constant(y)) => x == y,
            (ExprKind::Place(p), ExprKind::Place(q)) => same_place(p, q),
            _ => false,
        },
        _ => false,
    };
    a.variable == b.variable && a.path.len() == b.path.len() && a.path.iter().zip(&b.path).all(same)
}
