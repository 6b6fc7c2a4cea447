//! Integers that must be known here: sizes of arrays and constant indices.

use super::Checker;
use super::hir::{Constant, Conversion, Expr, ExprKind};
use crate::diagnostics::codes;
use crate::ir::fold;
use crate::ir::ops::{Int1, Int2};
use crate::syntax::ast::{self, BinaryOp, UnaryOp};
use crate::types::Type;

impl Checker<'_> {
    /// The value of a constant integer expression; anything else is reported.
    pub(super) fn constant_int(&mut self, e: &ast::Expr) -> Option<i32> {
        let checked = self.expr(e);
        if checked.ty == Type::Error {
            return None;
        }
        let value = int_value(&checked);
        if value.is_none() {
            self.error(
                &codes::NOT_CONSTANT,
                e.span,
                "the size of an array must be a constant integer",
                "use a literal or a `const int` of the file",
            );
        }
        value
    }
}

/// The integer that an expression always gives, where that is plain.
pub(super) fn int_value(e: &Expr) -> Option<i32> {
    match &e.kind {
        ExprKind::Constant(Constant::Int(x)) => Some(*x),
        ExprKind::Unary(UnaryOp::Neg, e) => Some(fold::int1(Int1::Neg, int_value(e)?)),
        ExprKind::Unary(UnaryOp::Plus, e) => int_value(e),
        ExprKind::Unary(UnaryOp::BitNot, e) => Some(fold::int1(Int1::Not, int_value(e)?)),
        ExprKind::Binary(op, a, b) if e.ty == Type::Int => Some(fold::int2(int_op(*op)?, int_value(a)?, int_value(b)?)),
        ExprKind::Convert(Conversion::FloatToInt, e) => match e.kind {
            ExprKind::Constant(Constant::Float(x)) => Some(x as i32),
            _ => None,
        },
        _ => None,
    }
}

/// The integer operation of an arithmetic or bit operator.
pub(crate) fn int_op(op: BinaryOp) -> Option<Int2> {
    Some(match op {
        BinaryOp::Add => Int2::Add,
        BinaryOp::Sub => Int2::Sub,
        BinaryOp::Mul => Int2::Mul,
        BinaryOp::Div => Int2::Div,
        BinaryOp::Rem => Int2::Rem,
        BinaryOp::Shl => Int2::Shl,
        BinaryOp::Shr => Int2::Shr,
        BinaryOp::BitAnd => Int2::And,
        BinaryOp::BitOr => Int2::Or,
        BinaryOp::BitXor => Int2::Xor,
        _ => return None,
    })
}
