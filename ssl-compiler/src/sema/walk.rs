//! The parts of a typed expression, in the order in which they are evaluated.

use super::hir::{Access, Argument, Expr, ExprKind, FunctionId, Place};
use crate::syntax::ast::Direction;

/// What an expression does to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    /// Read, then written: `x += 1`, `++x`.
    Update,
    /// Handed out by a call: `f(out x)`.
    HandedOut,
    /// Handed in and out by a call: `f(inout x)`.
    HandedThrough,
}

pub(super) enum Part<'a> {
    /// An operand, whose own parts are the caller's to walk.
    Operand(&'a Expr),
    Touch(&'a Place, Touch),
    Call(FunctionId),
}

/// Visits what an expression consists of, its operands not opened.
pub(super) fn parts<'a>(e: &'a Expr, visit: &mut dyn FnMut(Part<'a>)) {
    match &e.kind {
        ExprKind::Constant(_)
        | ExprKind::Global(_)
        | ExprKind::Texture(_)
        | ExprKind::TextureSize(_)
        | ExprKind::BufferLength(_)
        | ExprKind::Error => {}
        ExprKind::AddTo(addition) => {
            visit(Part::Operand(&addition.index));
            visit(Part::Operand(&addition.value));
        }
        ExprKind::Place(place) => touch(place, Touch::Read, visit),
        ExprKind::Unary(_, a)
        | ExprKind::Convert(_, a)
        | ExprKind::Swizzle(a, _)
        | ExprKind::Member(a, _)
        | ExprKind::Element(_, a)
        | ExprKind::Detach(a) => {
            visit(Part::Operand(a));
        }
        ExprKind::Integral(integral) => integral.parts().for_each(|e| visit(Part::Operand(e))),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) | ExprKind::Comma(a, b) => {
            visit(Part::Operand(a));
            visit(Part::Operand(b));
        }
        ExprKind::Ternary(c, a, b) => [c, a, b].into_iter().for_each(|e| visit(Part::Operand(e))),
        ExprKind::Assign(place, value) => {
            visit(Part::Operand(value));
            touch(place, Touch::Write, visit);
        }
        ExprKind::AssignOp(_, place, value) => {
            visit(Part::Operand(value));
            touch(place, Touch::Update, visit);
        }
        ExprKind::Step { place, .. } => touch(place, Touch::Update, visit),
        ExprKind::Builtin(_, list)
        | ExprKind::Print(_, list)
        | ExprKind::Construct(list)
        | ExprKind::Closure(_, list)
        | ExprKind::Sample(_, _, _, list) => {
            list.iter().for_each(|e| visit(Part::Operand(e)));
        }
        ExprKind::Call(id, arguments) => {
            arguments.iter().for_each(|a| match a {
                Argument::In(e) => visit(Part::Operand(e)),
                Argument::Place(place, Direction::InOut) => touch(place, Touch::HandedThrough, visit),
                Argument::Place(place, _) => touch(place, Touch::HandedOut, visit),
                Argument::Texture(_) | Argument::Dropped => {}
            });
            visit(Part::Call(*id));
        }
    }
}

fn touch<'a>(place: &'a Place, how: Touch, visit: &mut dyn FnMut(Part<'a>)) {
    // As an operand a variable comes before its indices; as a place it comes behind them.
    if how == Touch::Read {
        visit(Part::Touch(place, how));
    }
    for access in &place.path {
        if let Access::Index(index) = access {
            visit(Part::Operand(index));
        }
    }
    if how != Touch::Read {
        visit(Part::Touch(place, how));
    }
}

/// Of how many expressions one is made.
pub(super) fn size(e: &Expr) -> usize {
    let mut n = 1;
    parts(e, &mut |part| {
        if let Part::Operand(inner) = part {
            n += size(inner);
        }
    });
    n
}

/// Everything that happens in an expression, its operands opened, in order.
pub(super) fn deep<'a>(e: &'a Expr, visit: &mut dyn FnMut(Part<'a>)) {
    parts(e, &mut |part| match part {
        Part::Operand(inner) => deep(inner, visit),
        other => visit(other),
    });
}
