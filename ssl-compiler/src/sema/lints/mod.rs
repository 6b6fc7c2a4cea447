//! Warnings about programs that are valid but probably not what the author meant.
//!
//! The lints run only if there was no error, so no warning follows from an error. Warnings about single expressions are
//! in `suspicious`.

mod closures;
mod flow;
mod imports;
mod loops;
mod unused;

use super::Checker;
use super::hir::{Function, FunctionId, Stmt, StmtKind};
use crate::diagnostics::Diagnostic;
use crate::modules::Modules;

impl Checker<'_> {
    pub(super) fn lint(&mut self, modules: &Modules) {
        let mut found = Vec::new();
        self.unused_imports(modules, &mut found);
        imports::nothing_declared(modules.root(), &mut found);
        self.unused_items(modules, &mut found);
        let own = |f: &&Function| f.span.file == self.program.root;
        let functions = self.program.functions.iter().enumerate();
        // Of a function that takes arrays of any length the first version speaks for all.
        let functions = functions.filter(|(i, _)| !self.is_repeated(FunctionId(*i as u32)));
        for function in functions.map(|(_, f)| f).filter(own) {
            if let Some(body) = &function.body {
                unused::variables(function, body, &self.names_used, &mut found);
                flow::check(&self.program.types, function, body, &mut found);
                loops::check(function, body, &mut found);
                closures::check(function, body, &mut found);
            }
        }
        found.into_iter().for_each(|d| self.diagnostics.push(d));
    }
}

/// Whether a name asks not to be spoken of.
fn silent(name: &str) -> bool {
    name.starts_with('_')
}

/// Visits a statement and all inside it, outermost first.
pub(super) fn each_stmt<'a>(list: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in list {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Block(inner) => each_stmt(inner, visit),
            StmtKind::If { then, otherwise, .. } => {
                each_stmt(std::slice::from_ref(&**then), visit);
                otherwise.iter().for_each(|s| each_stmt(std::slice::from_ref(&**s), visit));
            }
            StmtKind::Loop { init, body, .. } => {
                init.iter().for_each(|s| each_stmt(std::slice::from_ref(&**s), visit));
                each_stmt(std::slice::from_ref(&**body), visit);
            }
            StmtKind::Switch { sections, .. } => sections.iter().for_each(|s| each_stmt(&s.body, visit)),
            StmtKind::Let(..) | StmtKind::Expr(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => {}
        }
    }
}

/// Visits the expressions that a statement has of its own; whether the value of one is used.
pub(super) fn each_expr<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a super::hir::Expr, bool)) {
    match &stmt.kind {
        StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue => {}
        StmtKind::Let(_, value) | StmtKind::Return(value) => value.iter().for_each(|e| visit(e, true)),
        StmtKind::Expr(e) => visit(e, false),
        StmtKind::If { condition, .. } => visit(condition, true),
        StmtKind::Switch { value, .. } => visit(value, true),
        StmtKind::Loop { condition, step, .. } => {
            condition.iter().for_each(|e| visit(e, true));
            step.iter().for_each(|e| visit(e, false));
        }
    }
}

fn variable_name(function: &Function, id: super::hir::VarId) -> &str {
    &function.variables[id.0 as usize].name
}

type Found = Vec<Diagnostic>;
