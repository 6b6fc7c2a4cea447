//! Loops: which variables they carry, their fuel, and the unrolling of those that build closures.

use super::facts::each_child;
use super::state::{LeafState, State, one};
use super::{LoopSlots, TOKEN, Writer};
use crate::diagnostics::{Code, codes};
use crate::ir::{Const, Op, Ty, Value, Values};
use crate::sema::hir::*;
use crate::types::Type;
use std::collections::BTreeSet;

/// Why the rounds of a loop are written one after the other, and how many may be.
#[derive(Clone, Copy)]
struct Limits {
    /// What is said to be in such a loop.
    what: &'static str,
    code: &'static Code,
    /// Of one loop.
    rounds: usize,
    /// Of all loops together, those of inner loops counted each time.
    all: usize,
}

/// Loops that make closures.
const CLOSURES: Limits = Limits { what: "a closure is made in", code: &codes::CLOSURE_FLATTEN, rounds: 64, all: 512 };

/// `[ForceUnroll]`
const FORCED: Limits =
    Limits { what: "`[ForceUnroll]` stands before", code: &codes::ATTRIBUTE, rounds: 256, all: 4096 };

/// The pieces of a loop statement.
#[derive(Clone, Copy)]
struct Parts<'s> {
    condition: Option<&'s Expr>,
    step: Option<&'s Expr>,
    body: &'s Stmt,
    body_first: bool,
    attributes: LoopAttributes,
}

impl Writer<'_, '_> {
    pub(super) fn loop_stmt(&mut self, stmt: &Stmt) {
        let StmtKind::Loop { init, condition, step, body, body_first, attributes } = &stmt.kind else { return };
        init.iter().for_each(|s| self.stmt(s, 0));
        let parts = Parts {
            condition: condition.as_ref(),
            step: step.as_ref(),
            body,
            body_first: *body_first,
            attributes: *attributes,
        };
        let outer = self.frame.loops;
        let slots = LoopSlots { broken: self.new_slot(), continued: self.new_slot() };
        self.lower_flag(slots.broken);
        self.lower_flag(slots.continued);
        self.frame.loops = Some(slots);
        let assigned = self.assigned(parts);
        let closures = assigned.iter().any(|&slot| self.holds_closure(slot));
        if closures || attributes.unroll.is_some() {
            let limits = if closures { CLOSURES } else { FORCED };
            self.unroll(parts, stmt, limits, 0);
        } else {
            self.carried_loop(parts, slots, &assigned);
        }
        self.frame.loops = outer;
    }

    pub(super) fn lower_flag(&mut self, slot: usize) {
        let unset = self.b.bool(false);
        self.set(slot, one(unset));
    }

    fn holds_closure(&self, slot: usize) -> bool {
        self.env[slot].iter().flatten().any(|leaf| matches!(leaf, LeafState::Lobes(_) | LeafState::Closures(_)))
    }

    /// Slots that exist before the loop and may change in it, the token among them.
    fn assigned(&self, parts: Parts<'_>) -> Vec<usize> {
        let mut found = BTreeSet::new();
        parts.condition.iter().chain(&parts.step).for_each(|e| assigned_expr(e, &mut found));
        assigned_stmt(parts.body, &mut found);
        let mut slots: BTreeSet<usize> = found.iter().map(|v| self.frame.base + v.0 as usize).collect();
        slots.insert(TOKEN);
        if super::stmts::leaves_loop(parts.body) {
            slots.extend([self.frame.returned, self.frame.result]);
            slots.extend(self.frame.loops.map(|l| l.broken));
        }
        slots.into_iter().filter(|&slot| self.env[slot].is_some()).collect()
    }

    fn carried_loop(&mut self, parts: Parts<'_>, slots: LoopSlots, carried: &[usize]) {
        let initial: Vec<State> = carried.iter().map(|&slot| self.get(slot)).collect();
        let args = self.carried_values(&initial);
        let types: Vec<Ty> = args.iter().map(|&v| self.b.ty(v)).collect();
        let (mark, span) = (self.journal.len(), self.b.span);

        let condition = self.b.open(&types);
        self.rebind(carried, &initial, &self.b.params(condition));
        if parts.body_first {
            self.round(parts, slots);
        }
        let alive = self.burn(Op::Burn(1));
        let unbroken = self.unbroken(slots);
        let go = self.b.and(alive, unbroken);
        let test = match parts.condition {
            None => go,
            Some(e) => self.guarded_bool(go, false, |w| w.scalar(e)),
        };
        let mut tested = Values::from_slice(&[test]);
        let states: Vec<State> = carried.iter().map(|&slot| self.get(slot)).collect();
        tested.extend(self.carried_values(&states));
        self.b.close(tested);

        let body = self.b.open(&types);
        self.rebind(carried, &initial, &self.b.params(body));
        if !parts.body_first {
            self.round(parts, slots);
        }
        let states: Vec<State> = carried.iter().map(|&slot| self.get(slot)).collect();
        let next = self.carried_values(&states);
        self.b.close(next);

        while self.journal.len() > mark {
            if let Some((slot, old)) = self.journal.pop() {
                self.env[slot] = old;
            }
        }
        self.b.span = span;
        let inst = self.b.push(Op::Loop(parts.attributes.checkpoint), args, &types, &[condition, body]);
        let results = Values::from_slice(self.b.results(inst));
        self.rebind(carried, &initial, &results);
    }

    /// `!broken && !returned`
    fn unbroken(&mut self, slots: LoopSlots) -> Value {
        let (broken, returned) = (self.value(slots.broken), self.value(self.frame.returned));
        let left = self.b.or(broken, returned);
        self.b.not(left)
    }

    /// The body, then the step unless the loop was left.
    fn round(&mut self, parts: Parts<'_>, slots: LoopSlots) {
        self.lower_flag(slots.continued);
        self.stmt(parts.body, 0);
        if let Some(step) = parts.step {
            let unbroken = self.unbroken(slots);
            self.branches(
                unbroken,
                |w| {
                    w.expr(step);
                },
                |_| {},
            );
        }
    }

    /// The IR values of carried variables: exploded arrays element by element.
    fn carried_values(&self, states: &[State]) -> Values {
        let mut out = Values::new();
        for leaf in states.iter().flatten() {
            match leaf {
                LeafState::Value(v) => out.push(*v),
                LeafState::Exploded(list) => out.extend(list.iter().copied()),
                LeafState::Lobes(_) | LeafState::Closures(_) => {}
            }
        }
        out
    }

    /// Gives the variables new values, in the order of [`Writer::carried_values`].
    fn rebind(&mut self, slots: &[usize], shape: &[State], values: &Values) {
        let mut values = values.iter().copied();
        for (&slot, shape) in slots.iter().zip(shape) {
            let state = shape
                .iter()
                .map(|leaf| match leaf {
                    LeafState::Value(old) => LeafState::Value(values.next().unwrap_or(*old)),
                    LeafState::Exploded(list) => LeafState::Exploded(values.by_ref().take(list.len()).collect()),
                    closures => closures.clone(),
                })
                .collect();
            self.set(slot, state);
        }
    }

    /// Writes the rounds of a loop one after the other. The condition must turn out constant.
    fn unroll(&mut self, parts: Parts<'_>, stmt: &Stmt, limits: Limits, round: usize) {
        let Some(slots) = self.frame.loops else { return };
        let body_only = Parts { step: None, ..parts };
        if parts.body_first {
            self.round(body_only, slots);
        }
        let unbroken = self.unbroken(slots);
        // The step runs in the same branch as the next test, which sees a constant then.
        self.branches(
            unbroken,
            |w| {
                if let Some(step) = parts.step.filter(|_| round > 0) {
                    w.expr(step);
                }
                w.next_round(parts, slots, stmt, limits, round);
            },
            |_| {},
        );
    }

    fn next_round(&mut self, parts: Parts<'_>, slots: LoopSlots, stmt: &Stmt, limits: Limits, round: usize) {
        let test = parts.condition.map(|e| (self.scalar(e), e.span));
        match test.map(|(value, _)| self.b.constant_of(value)) {
            Some(Some(Const::Bool(false))) => return,
            Some(Some(_)) if round < limits.rounds && self.unrolled < limits.all => self.unrolled += 1,
            Some(Some(_)) => {
                let message = format!("{} a loop with too many rounds", limits.what);
                let hint = format!("one loop may have {}, all together {}", limits.rounds, limits.all);
                return self.cx.error(limits.code, stmt.span, message, hint);
            }
            _ => {
                let span = test.map_or(stmt.span, |(_, span)| span);
                let message = format!("{} a loop whose number of rounds is not known beforehand", limits.what);
                let hint =
                    format!("use a loop such as `for (int i = 0; i < 4; ++i)` with at most {} rounds", limits.rounds);
                return self.cx.error(limits.code, span, message, hint);
            }
        }
        if !parts.body_first {
            self.round(Parts { step: None, ..parts }, slots);
        }
        if !self.cx.diagnostics.has_errors() {
            self.unroll(parts, stmt, limits, round + 1);
        }
    }
}

fn assigned_stmt(stmt: &Stmt, found: &mut BTreeSet<VarId>) {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(|s| assigned_stmt(s, found)),
        StmtKind::Let(variable, value) => {
            found.insert(*variable);
            value.iter().for_each(|e| assigned_expr(e, found));
        }
        StmtKind::Expr(e) => assigned_expr(e, found),
        StmtKind::Return(value) => value.iter().for_each(|e| assigned_expr(e, found)),
        StmtKind::If { condition, then, otherwise } => {
            assigned_expr(condition, found);
            assigned_stmt(then, found);
            otherwise.iter().for_each(|s| assigned_stmt(s, found));
        }
        StmtKind::Loop { init, condition, step, body, .. } => {
            init.iter().for_each(|s| assigned_stmt(s, found));
            condition.iter().chain(step).for_each(|e| assigned_expr(e, found));
            assigned_stmt(body, found);
        }
        StmtKind::Switch { value, sections } => {
            assigned_expr(value, found);
            sections.iter().flat_map(|s| &s.body).for_each(|s| assigned_stmt(s, found));
        }
        StmtKind::Break | StmtKind::Continue => {}
    }
}

fn assigned_expr(e: &Expr, found: &mut BTreeSet<VarId>) {
    match &e.kind {
        ExprKind::Assign(p, _) | ExprKind::AssignOp(_, p, _) | ExprKind::Step { place: p, .. } => {
            found.insert(p.variable);
        }
        ExprKind::Call(_, arguments) => found.extend(arguments.iter().filter_map(|a| match a {
            Argument::Place(p, _) => Some(p.variable),
            _ => None,
        })),
        _ => {}
    }
    each_child(e, &mut |child| assigned_expr(child, found));
}

/// Whether evaluating an expression where its value is not wanted costs little and does nothing.
pub(super) fn is_idle(e: &Expr) -> bool {
    let plain = match &e.kind {
        ExprKind::Constant(_) | ExprKind::Global(_) => true,
        ExprKind::Place(p) => !p.path.iter().any(|a| matches!(a, Access::Index(_))),
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Convert(..)
        | ExprKind::Swizzle(..)
        | ExprKind::Member(..) => e.ty != Type::Closure,
        _ => false,
    };
    let mut all = plain;
    each_child(e, &mut |child| all = all && is_idle(child));
    all
}
