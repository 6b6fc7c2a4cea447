//! Follows control through a function: variables read before they are written, `out` parameters left
//! unwritten, code that is never reached.
//!
//! The state is the set of variables that may still be without a value. It shrinks at writes and is united where paths
//! meet. A write to a part counts as one to the whole, since authors usually fill parts one by one. The lint assumes
//! that a loop runs at least once, and that what some iteration writes under a condition is written: so it never
//! reports more than an author would. It misses a read in the second iteration of a variable that only the first
//! iteration may write.

use super::{Found, each_expr, each_stmt, silent};
use crate::diagnostics::{Diagnostic, codes};
use crate::sema::hir::{Expr, ExprKind, Function, Section, Stmt, StmtKind, VarId};
use crate::sema::stmts::is_true;
use crate::sema::walk::{Part, Touch, deep};
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::{Type, TypeTable};
use std::collections::{BTreeSet, HashSet};

/// Variables without a value; `None` where control does not get.
type State = Option<BTreeSet<VarId>>;

/// Past so many (variables × branches) a function is not followed: no author wrote it.
const MAX_WORK: usize = 10_000_000;

/// A loop around the statement, or a `switch`, which has no rounds.
struct Loop {
    is_switch: bool,
    breaks: State,
    continues: State,
    written: HashSet<VarId>,
}

struct Flow<'a> {
    types: &'a TypeTable,
    function: &'a Function,
    unset: State,
    loops: Vec<Loop>,
    /// Variables that were written somewhere already.
    touched: HashSet<VarId>,
    /// `out` parameters that some way out leaves unwritten.
    missing: BTreeSet<VarId>,
    /// The statement that control did not pass.
    left_at: Option<Span>,
    found: &'a mut Found,
}

pub(super) fn check(types: &TypeTable, function: &Function, body: &[Stmt], found: &mut Found) {
    let mut branches = 1;
    each_stmt(body, &mut |s| match &s.kind {
        StmtKind::If { .. } | StmtKind::Loop { .. } => branches += 1,
        StmtKind::Switch { sections, .. } => branches += sections.len(),
        _ => {}
    });
    if branches.saturating_mul(function.variables.len()) > MAX_WORK {
        return;
    }
    let handed_out = function.parameters.iter().filter(|p| p.direction == Direction::Out).map(|p| p.variable);
    let mut flow = Flow {
        types,
        function,
        unset: Some(handed_out.collect()),
        loops: Vec::new(),
        touched: HashSet::new(),
        missing: BTreeSet::new(),
        left_at: None,
        found,
    };
    flow.list(body);
    flow.leave();
    flow.report_missing();
}

fn meet(a: State, b: State) -> State {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.extend(b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

impl Flow<'_> {
    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            if self.unset.is_none() {
                return self.unreachable(stmt);
            }
            self.stmt(stmt);
        }
    }

    fn unreachable(&mut self, stmt: &Stmt) {
        let hint = "remove it, or move it before what leaves";
        let mut d = Diagnostic::warning(&codes::UNREACHABLE, stmt.span, "control never gets here", hint);
        if let Some(span) = self.left_at {
            d = d.with_label(span, "because of this");
        }
        self.found.push(d);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => self.list(list),
            StmtKind::Let(variable, value) => {
                match (value, &mut self.unset) {
                    (None, Some(unset)) => {
                        unset.insert(*variable);
                        // In the next round of a loop it starts anew.
                        self.touched.remove(variable);
                    }
                    (None, None) => {}
                    (Some(e), _) => self.expr(e),
                }
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::If { condition, then, otherwise } => self.choice(condition, then, otherwise.as_deref()),
            StmtKind::Loop { init, condition, step, body, body_first, .. } => {
                init.iter().for_each(|s| self.stmt(s));
                self.rounds(stmt, condition.as_ref(), step.as_ref(), body, *body_first);
            }
            StmtKind::Switch { value, sections } => self.switch(value, sections),
            StmtKind::Break => {
                let state = self.unset.take();
                self.left_at = Some(stmt.span);
                if let Some(l) = self.loops.last_mut() {
                    l.breaks = meet(l.breaks.take(), state);
                }
            }
            StmtKind::Continue => {
                let state = self.unset.take();
                self.left_at = Some(stmt.span);
                if let Some(l) = self.loops.iter_mut().rev().find(|l| !l.is_switch) {
                    l.continues = meet(l.continues.take(), state);
                }
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|e| self.expr(e));
                self.leave();
                self.left_at = Some(stmt.span);
            }
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) {
        self.expr(condition);
        let before = self.unset.clone();
        self.assume_rounds();
        let start = self.unset.clone();
        self.stmt(then);
        let after = std::mem::replace(&mut self.unset, start);
        match otherwise {
            Some(s) => self.stmt(s),
            // The way past the `if` assumes nothing, unless a round of a loop may have been before.
            None if !self.in_loop() => self.unset = before,
            None => {}
        }
        self.unset = meet(after, self.unset.take());
    }

    /// Each section is entered from the top, or from the one before it.
    fn switch(&mut self, value: &Expr, sections: &[Section]) {
        self.expr(value);
        let before = self.unset.clone();
        self.assume_rounds();
        let entry = self.unset.take();
        self.loops.push(Loop { is_switch: true, breaks: None, continues: None, written: HashSet::new() });
        for section in sections {
            self.unset = meet(self.unset.take(), entry.clone());
            self.list(&section.body);
        }
        let breaks = self.loops.pop().and_then(|l| l.breaks);
        self.unset = meet(self.unset.take(), breaks);
        if !sections.iter().any(|s| s.default) {
            let past = if self.in_loop() { entry } else { before };
            self.unset = meet(self.unset.take(), past);
        }
    }

    fn in_loop(&self) -> bool {
        self.loops.iter().any(|l| !l.is_switch)
    }

    /// Under a condition in a loop, what the loop writes may have been written in an earlier round.
    fn assume_rounds(&mut self) {
        if let Some(unset) = &mut self.unset {
            unset.retain(|v| !self.loops.iter().any(|l| l.written.contains(v)));
        }
    }

    fn rounds(&mut self, stmt: &Stmt, condition: Option<&Expr>, step: Option<&Expr>, body: &Stmt, body_first: bool) {
        let mut written = HashSet::new();
        let mut declared = HashSet::new();
        let mut look = |e: &Expr| {
            deep(e, &mut |part| {
                if let Part::Touch(place, how) = part
                    && how != Touch::Read
                {
                    written.insert(place.variable);
                }
            });
        };
        condition.iter().chain(&step).for_each(|e| look(e));
        each_stmt(std::slice::from_ref(body), &mut |s| {
            each_expr(s, &mut |e, _| look(e));
            if let StmtKind::Let(v, _) = s.kind {
                declared.insert(v);
            }
        });
        written.retain(|v| !declared.contains(v));
        self.loops.push(Loop { is_switch: false, breaks: None, continues: None, written });
        if !body_first {
            condition.iter().for_each(|e| self.expr(e));
        }
        let entry = self.unset.clone();
        self.stmt(body);
        let Some(done) = self.loops.pop() else { return };
        self.unset = meet(self.unset.take(), done.continues);
        let endless = condition.is_none_or(is_true);
        if self.unset.is_some() {
            step.iter().for_each(|e| self.expr(e));
            if body_first {
                condition.iter().for_each(|e| self.expr(e));
            }
        } else if !body_first {
            // Every round leaves, so what comes behind saw none.
            self.unset = entry;
        }
        if endless {
            self.unset = None;
            self.left_at = Some(Span { end: stmt.span.start + 3, ..stmt.span });
        }
        self.unset = meet(self.unset.take(), done.breaks);
    }

    fn expr(&mut self, e: &Expr) {
        // The sides of `?`, `&&` and `||` are taken to be evaluated both, which can only say less.
        let mut events = Vec::new();
        deep(e, &mut |part| {
            if let Part::Touch(place, how) = part {
                events.push((place.variable, how, place.span));
            }
        });
        for (variable, how, span) in events {
            let whole = self.is_aggregate(variable);
            match how {
                Touch::Read => self.read(variable, span),
                Touch::Update => self.read(variable, span),
                // An array is mostly handed over to be filled.
                Touch::HandedThrough if !whole => self.read(variable, span),
                Touch::HandedThrough | Touch::HandedOut | Touch::Write => {}
            }
            if how != Touch::Read {
                self.touched.insert(variable);
                self.unset.iter_mut().for_each(|unset| {
                    unset.remove(&variable);
                });
            }
        }
        debug_assert!(!matches!(e.kind, ExprKind::Error), "lints run on programs without errors");
    }

    fn is_aggregate(&self, variable: VarId) -> bool {
        self.types.leaf_count(&self.variable(variable).ty) > 4
            || matches!(self.variable(variable).ty, Type::Array(..) | Type::Struct(_))
    }

    fn variable(&self, id: VarId) -> &crate::sema::hir::Variable {
        &self.function.variables[id.0 as usize]
    }

    fn read(&mut self, id: VarId, span: Span) {
        // Said once for a variable.
        if !self.unset.as_mut().is_some_and(|unset| unset.remove(&id)) {
            return;
        }
        let variable = &self.function.variables[id.0 as usize];
        // Lobes are added to an empty closure one by one, and a value without members needs none.
        if silent(&variable.name) || variable.ty == Type::Closure || self.types.leaf_count(&variable.ty) == 0 {
            return;
        }
        let message = if self.touched.contains(&id) {
            format!("on some path, `{}` is read before it is given a value", variable.name)
        } else {
            format!("`{}` is read before it is given a value", variable.name)
        };
        let hint = "it is zero here; where that is meant, declare it with that value";
        let d = Diagnostic::warning(&codes::READ_BEFORE_WRITTEN, span, message, hint);
        self.found.push(d.with_label(variable.span, "declared here without a value"));
    }

    /// A way out of the function.
    fn leave(&mut self) {
        if let Some(unset) = self.unset.take() {
            let parameters = self.function.parameters.iter().map(|p| p.variable);
            self.missing.extend(parameters.filter(|v| unset.contains(v)));
        }
    }

    fn report_missing(&mut self) {
        for id in std::mem::take(&mut self.missing) {
            let variable = self.variable(id);
            if silent(&variable.name) {
                continue;
            }
            let message = if self.touched.contains(&id) {
                format!("`{}` is not given a value on every path", variable.name)
            } else {
                format!("`{}` is never given a value", variable.name)
            };
            let hint = match variable.ty {
                Type::Closure => "without a closure a surface is black: make one, `make_closure<Name>(…)`",
                _ => "it is zero there; where that is meant, assign it at the start",
            };
            self.found.push(Diagnostic::warning(&codes::OUT_NOT_WRITTEN, variable.span, message, hint));
        }
    }
}
