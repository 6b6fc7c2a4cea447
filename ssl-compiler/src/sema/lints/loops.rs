//! Loops that nothing ends, and statements that assign the value that is already there.

use super::{Found, each_expr, each_stmt, variable_name};
use crate::diagnostics::{Diagnostic, codes};
use crate::sema::hir::{Constant, Expr, ExprKind, Function, Stmt, StmtKind, VarId};
use crate::sema::stmts::{contains_break, is_true};
use crate::sema::suspicious::same_place;
use crate::sema::walk::{Part, Touch, deep};
use std::collections::HashSet;

pub(super) fn check(function: &Function, body: &[Stmt], found: &mut Found) {
    each_stmt(body, &mut |stmt| match &stmt.kind {
        StmtKind::Loop { condition, step, body, .. } => {
            endless(function, stmt, condition.as_ref(), step.as_ref(), body, found);
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(place, value), .. }) => {
            if matches!(&value.kind, ExprKind::Place(p) if same_place(place, p)) {
                let message = "this assigns a variable to itself";
                let hint = "one of the two names is probably another; otherwise remove the statement";
                found.push(Diagnostic::warning(&codes::SELF_ASSIGNMENT, stmt.span, message, hint));
            }
        }
        _ => {}
    });
}

fn endless(
    function: &Function,
    stmt: &Stmt,
    condition: Option<&Expr>,
    step: Option<&Expr>,
    body: &Stmt,
    found: &mut Found,
) {
    let inside = std::slice::from_ref(body);
    let mut returns = contains_break(body);
    each_stmt(inside, &mut |s| returns |= matches!(s.kind, StmtKind::Return(_)));
    if returns {
        return;
    }
    let Some(condition) = condition.filter(|c| !is_true(c)) else {
        let hint = "leave it with `break` or `return`, or give it a condition";
        found.push(Diagnostic::warning(&codes::ENDLESS_LOOP, head(stmt), "nothing ends this loop", hint));
        return;
    };
    if matches!(condition.kind, ExprKind::Constant(Constant::Bool(_)) | ExprKind::Convert(..)) && is_constant(condition)
    {
        return;
    }
    let mut read: Vec<VarId> = Vec::new();
    let mut changed: HashSet<VarId> = HashSet::new();
    let mut look = |e: &Expr, reads: Option<&mut Vec<VarId>>| {
        let mut list = Vec::new();
        deep(e, &mut |part| match part {
            Part::Touch(place, Touch::Read) => list.push(place.variable),
            Part::Touch(place, _) => {
                list.push(place.variable);
                changed.insert(place.variable);
            }
            Part::Operand(_) | Part::Call(_) => {}
        });
        if let Some(reads) = reads {
            reads.extend(list);
        }
    };
    look(condition, Some(&mut read));
    step.iter().for_each(|e| look(e, None));
    each_stmt(inside, &mut |s| each_expr(s, &mut |e, _| look(e, None)));
    if read.iter().any(|v| changed.contains(v)) {
        return;
    }
    let message = "once entered, nothing ends this loop";
    let hint = match read.first() {
        Some(v) => format!("nothing in it changes `{}`", variable_name(function, *v)),
        None => "nothing in it changes the condition".to_owned(),
    };
    found.push(Diagnostic::warning(&codes::ENDLESS_LOOP, condition.span, message, hint));
}

fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Convert(_, inner) => is_constant(inner),
        _ => false,
    }
}

/// The word that starts a loop.
fn head(stmt: &Stmt) -> crate::source::Span {
    crate::source::Span { end: stmt.span.end.min(stmt.span.start + 3), ..stmt.span }
}
