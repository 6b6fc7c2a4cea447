//! Statements, and how early exits become structure.

use super::facts::FunctionFacts;
use super::state::one;
use super::{TOKEN, Writer};
use crate::ir::{BOOL, Op, Ty, Value, Values};
use crate::sema::always_exits;
use crate::sema::hir::*;

/// How deep an `if` that leaves early may push what follows it into its other branch. Past this, what
/// follows is guarded by flags one stretch after the other, which nests no deeper.
const MAX_CONTINUATION: usize = 64;

/// The early exits that a statement may take.
#[derive(Clone, Copy, Default)]
pub(super) struct Exits {
    pub returns: bool,
    pub breaks: bool,
    pub continues: bool,
}

impl Exits {
    fn any(self) -> bool {
        self.returns || self.breaks || self.continues
    }

    pub fn or(self, other: Exits) -> Exits {
        Exits {
            returns: self.returns || other.returns,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
        }
    }
}

pub(super) fn exits(stmt: &Stmt) -> Exits {
    match &stmt.kind {
        StmtKind::Return(_) => Exits { returns: true, ..Exits::default() },
        StmtKind::Break => Exits { breaks: true, ..Exits::default() },
        StmtKind::Continue => Exits { continues: true, ..Exits::default() },
        StmtKind::Block(list) => list.iter().fold(Exits::default(), |e, s| e.or(exits(s))),
        StmtKind::If { then, otherwise, .. } => otherwise.iter().fold(exits(then), |e, s| e.or(exits(s))),
        StmtKind::Loop { body, .. } => Exits { returns: exits(body).returns, ..Exits::default() },
        // Its `break`s end there.
        StmtKind::Switch { sections, .. } => {
            let inside = sections.iter().flat_map(|s| &s.body).fold(Exits::default(), |e, s| e.or(exits(s)));
            Exits { breaks: false, ..inside }
        }
        StmtKind::Let(..) | StmtKind::Expr(_) => Exits::default(),
    }
}

/// Whether a loop's body may leave the loop, or the function.
pub(super) fn leaves_loop(body: &Stmt) -> bool {
    let exits = exits(body);
    exits.breaks || exits.returns
}

/// Whether one of the branches never reaches what follows.
fn one_leaves(then: &Stmt, otherwise: Option<&Stmt>) -> bool {
    let leaves = |s: &Stmt| always_exits(std::slice::from_ref(s));
    leaves(then) || otherwise.is_some_and(leaves)
}

impl Writer<'_, '_> {
    /// The body of a function, inside its recursion guard if it has one.
    pub(super) fn guarded_body(&mut self, function: &Function, facts: FunctionFacts) {
        let body = function.body.as_deref().unwrap_or(&[]);
        if facts.fuel == 0 {
            return self.stmts(body, 0);
        }
        let op = if facts.recursive { Op::Enter } else { Op::Burn(facts.fuel) };
        if facts.recursive {
            self.burn(Op::Burn(facts.fuel));
        }
        let alive = self.burn(op);
        self.branches(alive, |w| w.stmts(body, 0), |_| {});
        if facts.recursive {
            let token = self.token();
            let inst = self.b.push(Op::Leave, Values::from_slice(&[token]), &[Ty::Token], &[]);
            let token = self.b.results(inst)[0];
            self.set(TOKEN, one(token));
        }
    }

    /// Takes fuel; whether there was some.
    pub(super) fn burn(&mut self, op: Op) -> Value {
        let token = self.token();
        let inst = self.b.push(op, Values::from_slice(&[token]), &[Ty::Token, BOOL], &[]);
        let (token, alive) = (self.b.results(inst)[0], self.b.results(inst)[1]);
        self.set(TOKEN, one(token));
        alive
    }

    /// Statements in order; those behind an early exit run only where it was not taken.
    pub(super) fn stmts(&mut self, list: &[Stmt], depth: usize) {
        for (i, stmt) in list.iter().enumerate() {
            let rest = &list[i + 1..];
            let taken = exits(stmt);
            if rest.is_empty() || !taken.any() {
                self.stmt(stmt, depth);
                continue;
            }
            match &stmt.kind {
                _ if always_exits(std::slice::from_ref(stmt)) => self.stmt(stmt, depth),
                // What follows is written once: into the branch that does not leave.
                StmtKind::If { condition, then, otherwise }
                    if depth < MAX_CONTINUATION && one_leaves(then, otherwise.as_deref()) =>
                {
                    let condition = self.scalar(condition);
                    let otherwise = otherwise.as_deref();
                    self.branches(
                        condition,
                        |w| w.then_rest(Some(then), rest, depth),
                        |w| w.then_rest(otherwise, rest, depth),
                    );
                }
                _ => {
                    self.stmt(stmt, depth);
                    self.guarded_rest(taken, rest, depth);
                }
            }
            return;
        }
    }

    /// One branch of an `if`, and what follows the `if` unless the branch leaves for good.
    fn then_rest(&mut self, branch: Option<&Stmt>, rest: &[Stmt], depth: usize) {
        let Some(branch) = branch else {
            return self.stmts(rest, depth + 1);
        };
        self.stmt(branch, depth + 1);
        let taken = exits(branch);
        if always_exits(std::slice::from_ref(branch)) {
            return;
        }
        if taken.any() { self.guarded_rest(taken, rest, depth + 1) } else { self.stmts(rest, depth + 1) }
    }

    /// Statements that run only where none of the exits was taken.
    ///
    /// Each stretch up to the next early exit gets a guard of its own: nesting them would go as deep as
    /// there are exits.
    fn guarded_rest(&mut self, mut taken: Exits, rest: &[Stmt], depth: usize) {
        // What one stretch declares, the next ones may use.
        rest.iter().for_each(|s| self.declare(s));
        let mut from = 0;
        while from < rest.len() {
            let length = rest[from..].iter().position(|s| exits(s).any()).map_or(rest.len() - from, |i| i + 1);
            let stretch = &rest[from..from + length];
            let left = self.left(taken);
            let depth = depth.max(MAX_CONTINUATION);
            self.branches(left, |_| {}, |w| w.stmts(stretch, depth));
            taken = stretch.iter().fold(taken, |e, s| e.or(exits(s)));
            from += length;
        }
    }

    /// Gives the variables that a statement declares for its block their zeros.
    pub(super) fn declare(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let(variable, _) => {
                let zero = self.zero_variable(*variable);
                self.set_unnamed(self.frame.base + variable.0 as usize, zero);
            }
            // A declaration of several names; what a real block declares costs nothing either.
            StmtKind::Block(list) => list.iter().for_each(|s| self.declare(s)),
            _ => {}
        }
    }

    /// Whether one of the exits was taken.
    pub(super) fn left(&mut self, taken: Exits) -> Value {
        let mut flags = Vec::new();
        if taken.returns {
            flags.push(self.frame.returned);
        }
        if let Some(slots) = self.frame.loops {
            flags.extend(taken.breaks.then_some(slots.broken));
            flags.extend(taken.continues.then_some(slots.continued));
        }
        let mut any = self.b.bool(false);
        for slot in flags {
            let flag = self.value(slot);
            any = self.b.or(any, flag);
        }
        any
    }

    fn raise(&mut self, slot: usize) {
        let flag = self.b.bool(true);
        self.set(slot, one(flag));
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        self.b.span = stmt.span;
        // Nothing comes of the shader any more; what it would be about can be large.
        if self.is_full() {
            return;
        }
        match &stmt.kind {
            StmtKind::Block(list) => self.stmts(list, depth),
            StmtKind::Let(variable, value) => {
                let zero = self.zero_variable(*variable);
                let slot = self.frame.base + variable.0 as usize;
                let Some(e) = value else { return self.set_unnamed(slot, zero) };
                let state = self.expr(e);
                let state = self.like(state, &zero);
                self.b.span = stmt.span;
                self.set(slot, state);
            }
            StmtKind::Expr(e) => {
                self.expr(e);
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.scalar(condition);
                self.branches(
                    condition,
                    |w| w.stmt(then, depth + 1),
                    |w| otherwise.iter().for_each(|s| w.stmt(s, depth + 1)),
                );
            }
            StmtKind::Loop { .. } => self.loop_stmt(stmt),
            StmtKind::Switch { value, sections } => self.switch(value, sections, depth),
            StmtKind::Break | StmtKind::Continue => {
                if let Some(slots) = self.frame.loops {
                    let is_break = matches!(stmt.kind, StmtKind::Break);
                    self.raise(if is_break { slots.broken } else { slots.continued });
                }
            }
            StmtKind::Return(value) => {
                if let Some(e) = value {
                    let shape = self.get(self.frame.result);
                    let state = self.expr(e);
                    let state = self.like(state, &shape);
                    self.set(self.frame.result, state);
                }
                self.raise(self.frame.returned);
            }
        }
    }
}
