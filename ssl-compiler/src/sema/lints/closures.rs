//! Closures that a shader hands out and only ever assigns nothing to.
//!
//! An output that no statement assigns is reported as unwritten. One that a call hands out is taken to get lobes.

use super::{Found, each_expr, each_stmt, silent};
use crate::diagnostics::{Diagnostic, codes};
use crate::sema::hir::{Expr, ExprKind, Function, Stmt, VarId};
use crate::sema::walk::{Part, Touch, parts};
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::Type;
use std::collections::{HashMap, HashSet};

/// What a function does to its closures.
#[derive(Default)]
struct Assigned {
    /// The first time that one becomes the empty closure.
    emptied: HashMap<VarId, Span>,
    /// Those that may get lobes.
    filled: HashSet<VarId>,
}

impl Assigned {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Assign(place, value) = &e.kind
            && is_empty(value)
            && place.path.is_empty()
        {
            self.emptied.entry(place.variable).or_insert(value.span);
            return;
        }
        parts(e, &mut |part| match part {
            Part::Operand(inner) => self.expr(inner),
            Part::Touch(place, how) if how != Touch::Read => drop(self.filled.insert(place.variable)),
            Part::Touch(..) | Part::Call(_) => {}
        });
    }
}

/// `0`, and nothing else that is no closure.
fn is_empty(e: &Expr) -> bool {
    e.ty == Type::Closure && matches!(&e.kind, ExprKind::Construct(parts) if parts.is_empty())
}

pub(super) fn check(function: &Function, body: &[Stmt], found: &mut Found) {
    let is_closure = |v: VarId| function.variables[v.0 as usize].ty == Type::Closure;
    let outputs = function.parameters.iter().filter(|p| p.direction == Direction::Out && is_closure(p.variable));
    let outputs: Vec<VarId> = outputs.map(|p| p.variable).collect();
    if !function.is_shader || outputs.is_empty() {
        return;
    }
    let mut assigned = Assigned::default();
    each_stmt(body, &mut |s| each_expr(s, &mut |e, _| assigned.expr(e)));
    for v in outputs {
        let variable = &function.variables[v.0 as usize];
        let Some(place) = assigned.emptied.get(&v).filter(|_| !assigned.filled.contains(&v)) else { continue };
        if silent(&variable.name) {
            continue;
        }
        let message = format!("`{}` is only ever the empty closure, so a surface with it is black", variable.name);
        let hint = "assign a closure to it: `make_closure<Name>(…)`";
        let d = Diagnostic::warning(&codes::EMPTY_CLOSURE, variable.span, message, hint);
        found.push(if *place == variable.span { d } else { d.with_label(*place, "all that it becomes") });
    }
}
