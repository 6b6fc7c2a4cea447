//! What runs when a function runs, with its callees: which built-ins, and which functions are called from where.

use super::hir::{Expr, ExprKind, FunctionId, Program, Stmt, StmtKind};
use super::walk::{Part, deep, parts};
use crate::builtins::BuiltinId;
use crate::source::Span;
use std::collections::BTreeSet;

/// Each call of a built-in that a function may reach, with its place.
pub fn builtins(program: &Program, from: FunctionId) -> Vec<(BuiltinId, Span)> {
    Reach::of(program, from).found
}

/// Each call of a function that a function may reach, with its place.
pub fn functions(program: &Program, from: FunctionId) -> Vec<(FunctionId, Span)> {
    Reach::of(program, from).calls
}

/// What a function may reach that only a shader at a point has, with its place: what it does there, in words.
pub fn outside(program: &Program, from: FunctionId) -> Vec<(&'static str, Span)> {
    Reach::of(program, from).outside
}

/// Whether an expression calls a function that is no built-in.
pub fn calls_functions(e: &Expr) -> bool {
    let mut found = false;
    deep(e, &mut |part| found |= matches!(part, Part::Call(_)));
    found
}

struct Reach {
    found: Vec<(BuiltinId, Span)>,
    calls: Vec<(FunctionId, Span)>,
    outside: Vec<(&'static str, Span)>,
    open: Vec<FunctionId>,
    seen: BTreeSet<FunctionId>,
}

impl Reach {
    fn of(program: &Program, from: FunctionId) -> Reach {
        let mut reach = Reach {
            found: Vec::new(),
            calls: Vec::new(),
            outside: Vec::new(),
            open: vec![from],
            seen: BTreeSet::from([from]),
        };
        while let Some(id) = reach.open.pop() {
            program.function(id).body.iter().flatten().for_each(|s| reach.statement(s));
            if let Some(derived) = &program.function(id).derived {
                reach.call(derived.of, derived.place);
            }
        }
        reach
    }

    fn statement(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Block(list) => list.iter().for_each(|s| self.statement(s)),
            StmtKind::Let(_, e) | StmtKind::Return(e) => e.iter().for_each(|e| self.expression(e)),
            StmtKind::Expr(e) => self.expression(e),
            StmtKind::If { condition, then, otherwise } => {
                self.expression(condition);
                self.statement(then);
                otherwise.iter().for_each(|s| self.statement(s));
            }
            StmtKind::Loop { init, condition, step, body, .. } => {
                init.iter().for_each(|s| self.statement(s));
                condition.iter().chain(step).for_each(|e| self.expression(e));
                self.statement(body);
            }
            StmtKind::Switch { value, sections } => {
                self.expression(value);
                sections.iter().flat_map(|s| &s.body).for_each(|s| self.statement(s));
            }
            StmtKind::Break | StmtKind::Continue => {}
        }
    }

    fn expression(&mut self, e: &Expr) {
        match e.kind {
            ExprKind::Builtin(id, _) => self.found.push((id, e.span)),
            ExprKind::Global(_) => self.outside.push(("reads a global", e.span)),
            ExprKind::Sample(..) | ExprKind::TextureSize(_) => self.outside.push(("looks up a texture", e.span)),
            ExprKind::Print(..) => self.outside.push(("prints", e.span)),
            _ => {}
        }
        parts(e, &mut |part| match part {
            Part::Operand(inner) => self.expression(inner),
            Part::Call(id) => self.call(id, e.span),
            Part::Touch(..) => {}
        });
    }

    fn call(&mut self, id: FunctionId, place: Span) {
        self.calls.push((id, place));
        if self.seen.insert(id) {
            self.open.push(id);
        }
    }
}
