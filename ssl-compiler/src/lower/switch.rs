//! Turns `switch` into `if`s. Sections that fall through into each other form a group. Exactly one group runs, so the
//! groups become a tree of `if`s. Only inside a group of several sections do flags say what runs.

use super::stmts::{Exits, exits};
use super::{LoopSlots, Writer};
use crate::ir::{Compare, Value};
use crate::sema::always_exits;
use crate::sema::hir::*;

/// Up to so many groups are asked one after the other; more become a balanced tree, which nests less.
const MAX_CHAIN: usize = 8;

impl Writer<'_, '_> {
    pub(super) fn switch(&mut self, value: &Expr, sections: &[Section], depth: usize) {
        let value = self.scalar(value);
        // All sections share one scope: what one declares, the next ones may use.
        sections.iter().flat_map(|s| &s.body).for_each(|s| self.declare(s));
        let outer = self.frame.loops;
        let broken = self.new_slot();
        self.lower_flag(broken);
        let continued = outer.map_or(broken, |l| l.continued);
        self.frame.loops = Some(LoopSlots { broken, continued });
        let mut groups = groups(sections);
        // The group with `default` runs where no other does.
        let default = groups.iter().position(|g| g.iter().any(|s| s.default)).map(|i| groups.remove(i));
        if groups.len() <= MAX_CHAIN {
            self.chain(value, &groups, default, depth);
        } else {
            let matches: Vec<Value> = groups.iter().map(|g| self.matches(value, g)).collect();
            let any = self.any(&matches);
            self.branches(
                any,
                |w| w.tree(value, &groups, &matches, depth + 1),
                |w| default.iter().for_each(|g| w.group(value, g, depth + 1)),
            );
        }
        self.frame.loops = outer;
    }

    fn chain(&mut self, value: Value, groups: &[&[Section]], default: Option<&[Section]>, depth: usize) {
        let Some((first, rest)) = groups.split_first() else {
            return default.iter().for_each(|g| self.group(value, g, depth));
        };
        let matches = self.matches(value, first);
        self.branches(matches, |w| w.group(value, first, depth + 1), |w| w.chain(value, rest, default, depth + 1));
    }

    /// One of the groups matches: halves that it may be in, down to itself.
    fn tree(&mut self, value: Value, groups: &[&[Section]], matches: &[Value], depth: usize) {
        if let [group] = groups {
            return self.group(value, group, depth);
        }
        let half = groups.len() / 2;
        let low = self.any(&matches[..half]);
        self.branches(
            low,
            |w| w.tree(value, &groups[..half], &matches[..half], depth + 1),
            |w| w.tree(value, &groups[half..], &matches[half..], depth + 1),
        );
    }

    /// Whether one of the labels of these sections is the value.
    fn matches(&mut self, value: Value, sections: &[Section]) -> Value {
        let labels: Vec<i32> = sections.iter().flat_map(|s| &s.labels).copied().collect();
        let one = |w: &mut Self, label: i32| {
            let label = w.b.int(label);
            w.b.int_compare(Compare::Eq, value, label)
        };
        let matches: Vec<Value> = labels.into_iter().map(|label| one(self, label)).collect();
        self.any(&matches)
    }

    fn any(&mut self, conditions: &[Value]) -> Value {
        match conditions {
            [] => self.b.bool(false),
            [condition] => *condition,
            _ => {
                let (left, right) = conditions.split_at(conditions.len() / 2);
                let (left, right) = (self.any(left), self.any(right));
                self.b.or(left, right)
            }
        }
    }

    /// Sections of which one matches: it and those behind it run, until one leaves.
    fn group(&mut self, value: Value, sections: &[Section], depth: usize) {
        let mut taken = Exits::default();
        let own: Vec<Value> = match sections {
            [_] => Vec::new(),
            _ => sections.iter().map(|s| self.matches(value, std::slice::from_ref(s))).collect(),
        };
        let default = sections.iter().position(|s| s.default);
        let behind = default.map_or(Vec::new(), |at| self.any_behind(&own[at.min(own.len())..]));
        let mut before = self.b.bool(false);
        for (i, section) in sections.iter().enumerate() {
            let body = without_last_break(&section.body);
            // Entered where this section or one before it matches, or the `default` before it is what is left.
            let entered = if i + 1 == sections.len() {
                self.b.bool(true)
            } else if let Some(at) = default.filter(|at| *at <= i) {
                self.b.not(behind[i - at])
            } else {
                before = self.b.or(before, own[i]);
                before
            };
            let left = self.left(taken);
            let stays = self.b.not(left);
            let runs = self.b.and(entered, stays);
            self.branches(runs, |w| w.stmts(body, depth + 1), |_| {});
            taken = section.body.iter().fold(taken, |e, s| e.or(exits(s)));
        }
    }

    /// For each section whether one behind it matches.
    fn any_behind(&mut self, own: &[Value]) -> Vec<Value> {
        let mut any = self.b.bool(false);
        let mut list = Vec::with_capacity(own.len());
        for &matches in own.iter().rev() {
            list.push(any);
            any = self.b.or(any, matches);
        }
        list.reverse();
        list
    }
}

/// Sections in stretches, in which each but the last may fall into the next.
fn groups(sections: &[Section]) -> Vec<&[Section]> {
    sections.split_inclusive(|s| always_exits(&s.body)).collect()
}

/// A `break` at the very end says nothing that the end does not.
fn without_last_break(body: &[Stmt]) -> &[Stmt] {
    match body.split_last() {
        Some((Stmt { kind: StmtKind::Break, .. }, rest)) => rest,
        _ => body,
    }
}
