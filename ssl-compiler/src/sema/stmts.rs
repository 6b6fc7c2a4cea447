//! Statements.

use super::Checker;
use super::hir::{Constant, ExprKind, LoopAttributes, Stmt, StmtKind, VarId, Variable};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::Type;
use std::collections::HashMap;

/// Constants of functions up to this size are remembered, for array sizes, labels and indices.
const MAX_KNOWN_BYTES: u64 = 16 << 10;

impl Checker<'_> {
    pub(super) fn scoped<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.local.scopes.push(HashMap::new());
        let result = check(self);
        self.local.scopes.pop();
        result
    }

    /// Declares a variable in the innermost scope.
    fn declare(&mut self, name: &Ident, ty: Type, constant: bool) -> VarId {
        let id = VarId(self.local.variables.len() as u32);
        self.local.variables.push(Variable { name: name.text.clone(), ty, span: name.span, constant, dynamic: false });
        let previous = self.local.scopes.last_mut().and_then(|scope| scope.insert(name.text.clone(), id));
        if let Some(previous) = previous {
            let first = self.variable(previous).span;
            let message = format!("`{}` is declared twice in this block", name.text);
            let diagnostic = Diagnostic::error(
                &codes::DUPLICATE_NAME,
                name.span,
                message,
                "rename one of them, or assign without the type",
            );
            self.diagnostics.push(diagnostic.with_label(first, "the first one"));
        } else {
            self.warn_shadowing(name);
        }
        id
    }

    /// The name of a new variable or parameter may be that of one around it, or of something of the file.
    pub(super) fn warn_shadowing(&mut self, name: &Ident) {
        let around = self.local.scopes.iter().rev().skip(1).find_map(|scope| scope.get(&name.text)).copied();
        let (first, what) = match around {
            Some(id) => (self.variable(id).span, "a variable around it"),
            None => match self.scope.names.get(&name.text).map(|d| d.span) {
                Some(span) if span.file == name.span.file => (span, "something of the file"),
                Some(span) => (span, "something imported"),
                None => return,
            },
        };
        if name.text.starts_with('_') {
            return;
        }
        let message = format!("`{}` hides {what} that is called the same", name.text);
        let d = Diagnostic::warning(&codes::SHADOWED, name.span, message, "rename one of them");
        self.diagnostics.push(d.with_label(first, "hidden from here on"));
    }

    pub(super) fn stmt(&mut self, stmt: &ast::Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            ast::StmtKind::Empty => return None,
            ast::StmtKind::Block(list) => {
                StmtKind::Block(self.scoped(|c| list.iter().filter_map(|s| c.stmt(s)).collect()))
            }
            ast::StmtKind::Declaration(d) => self.declaration(d, stmt.span),
            ast::StmtKind::Expr(e) => {
                let e = self.expr(e);
                self.warn_unused(&e);
                StmtKind::Expr(e)
            }
            ast::StmtKind::If { condition, then, otherwise } => {
                self.inspect_condition(condition, false);
                StmtKind::If {
                    condition: self.condition(condition),
                    then: self.body(then),
                    otherwise: otherwise.as_ref().map(|s| self.body(s)),
                }
            }
            ast::StmtKind::While { condition, body } => StmtKind::Loop {
                init: None,
                condition: Some(self.loop_condition(condition)),
                step: None,
                body: self.loop_body(body),
                body_first: false,
                attributes: LoopAttributes::default(),
            },
            ast::StmtKind::DoWhile { body, condition } => StmtKind::Loop {
                init: None,
                body: self.loop_body(body),
                condition: Some(self.loop_condition(condition)),
                step: None,
                body_first: true,
                attributes: LoopAttributes::default(),
            },
            ast::StmtKind::For { init, condition, step, body } => self.scoped(|c| StmtKind::Loop {
                init: c.stmt(init).map(Box::new),
                condition: condition.as_ref().map(|e| c.loop_condition(e)),
                step: step.as_ref().map(|e| c.expr(e)),
                body: c.loop_body(body),
                body_first: false,
                attributes: LoopAttributes::default(),
            }),
            ast::StmtKind::Switch { value, sections } => self.switch(value, sections),
            ast::StmtKind::Break => {
                let inside = self.local.breakable > 0;
                self.jump(StmtKind::Break, inside, "`break` outside a loop or `switch`", stmt.span)
            }
            ast::StmtKind::Continue => {
                let inside = self.local.loops > 0;
                self.jump(StmtKind::Continue, inside, "`continue` outside a loop", stmt.span)
            }
            ast::StmtKind::Attributed(attributes, inner) => {
                let asked = self.loop_attributes(attributes, inner);
                let mut checked = self.stmt(inner)?;
                if let StmtKind::Loop { attributes, .. } = &mut checked.kind {
                    *attributes = asked;
                }
                return Some(checked);
            }
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
        };
        Some(Stmt { kind, span: stmt.span })
    }

    /// A statement in a scope of its own.
    fn body(&mut self, stmt: &ast::Stmt) -> Box<Stmt> {
        let checked = self.scoped(|c| c.stmt(stmt));
        Box::new(checked.unwrap_or(Stmt { kind: StmtKind::Block(Vec::new()), span: stmt.span }))
    }

    fn loop_condition(&mut self, e: &ast::Expr) -> super::hir::Expr {
        self.inspect_condition(e, true);
        self.condition(e)
    }

    fn loop_body(&mut self, stmt: &ast::Stmt) -> Box<Stmt> {
        self.local.loops += 1;
        self.local.breakable += 1;
        let body = self.body(stmt);
        self.local.loops -= 1;
        self.local.breakable -= 1;
        body
    }

    fn declaration(&mut self, d: &ast::Declaration, span: Span) -> StmtKind {
        let mut list = Vec::new();
        for declarator in &d.declarators {
            let ty = self.resolve(&d.ty, &declarator.dims);
            if ty.is_slot() || ty == Type::Void {
                let message = format!("a variable cannot have the type {}", self.name_of(&ty));
                let (code, hint) = match ty {
                    Type::Void => (&codes::BAD_DECLARATION, "only functions can be `void`"),
                    _ => (&codes::TEXTURE_USE, "declare textures at file level or as parameters"),
                };
                self.error(code, declarator.name.span, message, hint);
                // One message is enough: whatever is done with it now is fine.
                self.declare(&declarator.name, Type::Error, d.is_const);
                continue;
            }
            // The name becomes visible behind its own value.
            let init = match &declarator.init {
                Some(e) => Some(self.initialiser(e, &ty)),
                None => self.start_of(&ty, declarator.name.span),
            };
            let small = self.program.types.byte_size(&ty) <= MAX_KNOWN_BYTES;
            let known = init.as_ref().filter(|_| d.is_const && small).and_then(|e| self.known(e));
            let variable = self.declare(&declarator.name, ty, d.is_const);
            if let Some(known) = known {
                self.local.constants.insert(variable, known);
            }
            list.push(Stmt { kind: StmtKind::Let(variable, init), span });
        }
        match list.len() {
            1 => list.remove(0).kind,
            _ => StmtKind::Block(list),
        }
    }

    fn warn_unused(&mut self, e: &super::hir::Expr) {
        if super::suspicious::is_idle(e) && e.ty != Type::Error {
            let hint = "assign it to something, or remove it; `==` compares, `=` assigns";
            self.diagnostics.push(Diagnostic::warning(&codes::UNUSED_RESULT, e.span, "this value is not used", hint));
        }
    }

    fn jump(&mut self, kind: StmtKind, inside: bool, message: &str, span: Span) -> StmtKind {
        if !inside {
            self.error(&codes::MISPLACED_STATEMENT, span, message, "remove it, or use `return`");
        }
        kind
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        if let (true, None, Some(e)) = (self.local.infers, &self.local.result, value) {
            return StmtKind::Return(Some(self.first_return(e)));
        }
        let wanted = self.local.result.clone().unwrap_or(Type::Error);
        let value = match (value, &wanted) {
            (None, Type::Void | Type::Error) => None,
            (None, _) => {
                let hint = format!("the function returns {}", self.name_of(&wanted));
                self.error(&codes::RETURN_VALUE, span, "`return` without a value", hint);
                None
            }
            (Some(e), Type::Void) => {
                let e = self.expr(e);
                let (what, hint) = if self.local.is_shader {
                    ("a shader returns nothing", "assign to its `out` parameters")
                } else {
                    ("a `void` function returns nothing", "give the function a result type, or drop the value")
                };
                self.error(&codes::RETURN_VALUE, e.span, what, hint);
                None
            }
            (Some(e), _) => Some(self.initialiser(e, &wanted)),
        };
        StmtKind::Return(value)
    }
}

/// Whether control never gets past these statements.
pub(crate) fn always_exits(list: &[Stmt]) -> bool {
    list.iter().any(exits)
}

fn exits(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(list) => always_exits(list),
        // Where something was not understood, who knows; one message is enough.
        StmtKind::Expr(e) => matches!(e.kind, ExprKind::Error),
        StmtKind::If { then, otherwise, .. } => exits(then) && otherwise.as_ref().is_some_and(|s| exits(s)),
        // A loop without end is left by `return` only.
        StmtKind::Loop { condition, body, .. } => {
            let endless = match condition {
                None => true,
                Some(c) => is_true(c),
            };
            endless && !contains_break(body)
        }
        StmtKind::Switch { sections, .. } => super::switch::never_passed(sections, contains_break),
        _ => false,
    }
}

pub(super) fn is_true(e: &super::hir::Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(Constant::Bool(b)) => *b,
        ExprKind::Convert(_, inner) => matches!(inner.kind, ExprKind::Constant(Constant::Int(i)) if i != 0),
        _ => false,
    }
}

/// Whether a `break` of the loop or `switch` around this statement is inside.
pub(super) fn contains_break(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(contains_break),
        StmtKind::If { then, otherwise, .. } => {
            contains_break(then) || otherwise.as_ref().is_some_and(|s| contains_break(s))
        }
        _ => false,
    }
}
