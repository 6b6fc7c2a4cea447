//! Operators and their operand types.

use super::Checker;
use super::hir::{Expr, ExprKind};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, UnaryOp};
use crate::types::{COLOR, Type, VectorKind};

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, e: Expr, span: Span) -> Expr {
        let ty = match (op, &e.ty) {
            (_, Type::Error) => return Expr::error(span),
            (UnaryOp::Not, Type::Bool | Type::Int | Type::Float) => {
                let e = self.truth(e);
                return Expr { kind: ExprKind::Unary(op, Box::new(e)), ty: Type::Bool, span };
            }
            (UnaryOp::Neg | UnaryOp::Plus, ty) if ty.is_numeric() || *ty == Type::Matrix => ty.clone(),
            (UnaryOp::BitNot, Type::Int) => Type::Int,
            _ => {
                let message = format!("`{}` does not work on {}", op.symbol(), self.name_of(&e.ty));
                let hint = match op {
                    UnaryOp::Not => "it takes a bool",
                    UnaryOp::BitNot => "it takes an int",
                    _ => "it takes a number or a vector",
                };
                self.error(&codes::BAD_OPERANDS, span, message, hint);
                return Expr::error(span);
            }
        };
        Expr { kind: ExprKind::Unary(op, Box::new(e)), ty, span }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        if a.ty == Type::Error || b.ty == Type::Error {
            return Expr::error(span);
        }
        if a.ty == Type::Closure || b.ty == Type::Closure {
            return self.closure_algebra(op, a, b, span);
        }
        if a.ty == Type::Matrix || b.ty == Type::Matrix {
            return self.matrix_algebra(op, a, b, span);
        }
        use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Div, Eq, Mul, Ne, Or, Rem, Shl, Shr, Sub};
        let both = |ty: Type| a.ty == ty && b.ty == ty;
        let operands = match op {
            And | Or => Some(Type::Bool),
            BitAnd | BitOr | BitXor if both(Type::Bool) => Some(Type::Bool),
            BitAnd | BitOr | BitXor | Shl | Shr | Rem => both(Type::Int).then_some(Type::Int),
            Add | Sub | Mul | Div => arithmetic(&a.ty, &b.ty),
            Eq | Ne if both(Type::Bool) => Some(Type::Bool),
            Eq | Ne if both(Type::String) => Some(Type::String),
            Eq | Ne => arithmetic(&a.ty, &b.ty),
            _ => arithmetic(&a.ty, &b.ty).filter(|ty| ty.scalar().is_some()),
        };
        let displaced = operands.as_ref().map_or(Type::Error, |ty| displaced(op, &a.ty, &b.ty).unwrap_or(ty.clone()));
        let Some(operands) = operands else {
            self.bad_operands(op, &a, &b, span);
            return Expr::error(span);
        };
        let (a, b) = match op {
            And | Or => (self.truth(a), self.truth(b)),
            _ => (self.coerce(a, &operands), self.coerce(b, &operands)),
        };
        self.inspect_binary(op, &a, &b, span);
        let ty = match op {
            _ if op.is_comparison() => Type::Bool,
            Add | Sub => displaced,
            _ => operands,
        };
        if a.ty == Type::Error || b.ty == Type::Error {
            return Expr::error(span);
        }
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    fn bad_operands(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) {
        let (left, right) = (self.name_of(&a.ty), self.name_of(&b.ty));
        let chained = matches!(a.kind, ExprKind::Binary(first, ..) if first.is_comparison());
        if chained && op.is_comparison() && a.ty == Type::Bool {
            let message = format!("`{}` compares the result of a comparison", op.symbol());
            let hint = "compare twice: `a < b && b < c`";
            return self.error(&codes::COMPARISON_CHAIN, span, message, hint);
        }
        let message = format!("`{}` does not work on {left} and {right}", op.symbol());
        if let Some(e) = [a, b].into_iter().find(|e| e.ty == Type::Void) {
            let hint = self.returns_nothing(e);
            return self.error(&codes::BAD_OPERANDS, e.span, message, hint);
        }
        let float = a.ty == Type::Float || b.ty == Type::Float;
        let hint = match op {
            _ if a.ty == Type::String || b.ty == Type::String => {
                "strings are names: `==` and `!=` compare two of them, nothing else is possible"
            }
            BinaryOp::Mul if a.ty == Type::Matrix && matches!(b.ty, Type::Vector(_)) => {
                "for points, vectors and normals there is `transform(m, v)`; `m * v` takes a float4"
            }
            BinaryOp::Mul if matches!(a.ty, Type::Vector(_)) && b.ty == Type::Matrix => {
                "matrices multiply columns: write `m * v`, or `transpose(m) * v` for a row"
            }
            BinaryOp::Add | BinaryOp::Sub if a.ty == Type::Matrix || b.ty == Type::Matrix => {
                "both sides must be matrices; `matrix(x)` has x on the diagonal"
            }
            _ if a.ty == Type::Matrix || b.ty == Type::Matrix => "compare single elements, such as `m[0][3]`",
            BinaryOp::Eq | BinaryOp::Ne if matches!(a.ty, Type::Struct(_)) => "compare their members one by one",
            BinaryOp::Eq | BinaryOp::Ne if matches!(a.ty, Type::Array(..)) => "compare their elements one by one",
            BinaryOp::Rem if float => "for floats there is `fmod(a, b)`",
            BinaryOp::BitXor if float => "for powers there is `pow(a, b)`",
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                "it takes two ints"
            }
            _ if a.ty == Type::Bool || b.ty == Type::Bool => "convert the bool, `float(…)`, or choose with `? :`",
            _ if op.is_comparison() => "compare single components, or `length(…)`",
            _ => "both sides must be numbers, or vectors of one length",
        };
        self.error(&codes::BAD_OPERANDS, span, message, hint);
    }

    /// Matrices are added, multiplied with each other, with a `float4` and with numbers, and compared.
    fn matrix_algebra(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        use BinaryOp::{Add, Div, Eq, Mul, Ne, Sub};
        const FLOAT4: Type = crate::types::FLOAT4;
        let number = |ty: &Type| matches!(ty, Type::Int | Type::Float);
        let (ty, left, right) = match (op, &a.ty, &b.ty) {
            (Eq | Ne, Type::Matrix, Type::Matrix) => (Type::Bool, Type::Matrix, Type::Matrix),
            (Add | Sub | Mul | Div, Type::Matrix, Type::Matrix) => (Type::Matrix, Type::Matrix, Type::Matrix),
            (Mul, Type::Matrix, ty) if *ty == FLOAT4 => (FLOAT4, Type::Matrix, FLOAT4),
            (Mul | Div, Type::Matrix, ty) if number(ty) => (Type::Matrix, Type::Matrix, Type::Float),
            (Mul | Div, ty, Type::Matrix) if number(ty) => (Type::Matrix, Type::Float, Type::Matrix),
            _ => {
                self.bad_operands(op, &a, &b, span);
                return Expr::error(span);
            }
        };
        let (a, b) = (self.coerce(a, &left), self.coerce(b, &right));
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    /// Closures are added, and scaled by floats and colors from either side. The sides stay where they are, so that
    /// they are evaluated in the order in which they are written.
    fn closure_algebra(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let (a, b) = match (op, &a.ty, &b.ty) {
            (BinaryOp::Add, Type::Closure, Type::Closure) => (a, b),
            (BinaryOp::Mul, Type::Closure, ty) if ty.is_numeric() => {
                let scale = self.coerce(b, &COLOR);
                (a, scale)
            }
            (BinaryOp::Mul, ty, Type::Closure) if ty.is_numeric() => {
                let scale = self.coerce(a, &COLOR);
                (scale, b)
            }
            _ => {
                let message =
                    format!("`{}` does not work on {} and {}", op.symbol(), self.name_of(&a.ty), self.name_of(&b.ty));
                self.error(
                    &codes::BAD_OPERANDS,
                    span,
                    message,
                    "closures can be added, and multiplied by a float or color",
                );
                return Expr::error(span);
            }
        };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: Type::Closure, span }
    }

    pub(super) fn ternary(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        self.inspect_condition(c, false);
        let condition = self.condition(c);
        let (a, b) = (self.expr(a), self.expr(b));
        if a.ty == Type::Error || b.ty == Type::Error {
            return Expr::error(span);
        }
        let ty = match (self.distance(&b.ty, &a.ty), self.distance(&a.ty, &b.ty)) {
            (Some(_), _) => a.ty.clone(),
            (None, Some(_)) => b.ty.clone(),
            (None, None) => {
                let message =
                    format!("the two values of `?` have the types {} and {}", self.name_of(&a.ty), self.name_of(&b.ty));
                let hint = match (&a.ty, &b.ty) {
                    (Type::Closure, _) | (_, Type::Closure) => {
                        "both must be closures; no light at all is a closure variable that was assigned `0`"
                    }
                    (Type::String, _) | (_, Type::String) => "both must be strings, or neither",
                    _ => "convert one of them",
                };
                self.error(&codes::TYPE_MISMATCH, span, message, hint);
                return Expr::error(span);
            }
        };
        if ty.is_slot() {
            self.error(
                &codes::TEXTURE_USE,
                span,
                "a texture cannot be chosen while shading",
                "sample both and choose between the results",
            );
            return Expr::error(span);
        }
        let (a, b) = (self.coerce(a, &ty), self.coerce(b, &ty));
        Expr { kind: ExprKind::Ternary(Box::new(condition), Box::new(a), Box::new(b)), ty, span }
    }
}

/// What a sum or difference of points is: between two points lies a vector, and a vector leads from a point to another.
/// `transform` moves each by its own rule.
fn displaced(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    use VectorKind::{Normal, Point, Vector};
    let (Type::Vector(a), Type::Vector(b)) = (a, b) else { return None };
    match (op, a, b) {
        (BinaryOp::Sub, Point, Point) => Some(Type::Vector(Vector)),
        (BinaryOp::Add, Vector | Normal, Point) => Some(Type::Vector(Point)),
        _ => None,
    }
}

/// The type in which two numbers or vectors are computed; `None` where they do not go together.
fn arithmetic(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Vector(x), Type::Vector(y)) => (x.len() == y.len()).then(|| a.clone()),
        (Type::Vector(_), other) if other.is_numeric() => Some(a.clone()),
        (other, Type::Vector(_)) if other.is_numeric() => Some(b.clone()),
        (Type::Int, Type::Int) => Some(Type::Int),
        (Type::Int | Type::Float, Type::Int | Type::Float) => Some(Type::Float),
        _ => None,
    }
}
