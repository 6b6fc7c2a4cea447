//! `switch`: the values of its labels, and which sections they start.

use super::Checker;
use super::hir::{Constant, Expr, Section, Stmt, StmtKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::string_id;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use std::collections::HashMap;

/// Labels of one `switch`: which one it is takes a comparison with each.
const MAX_LABELS: usize = 1024;

/// The labels met so far, each with its place.
#[derive(Default)]
struct Labels {
    values: HashMap<i32, Span>,
    default: Option<Span>,
}

impl Checker<'_> {
    pub(super) fn switch(&mut self, value: &ast::Expr, sections: &[ast::SwitchSection]) -> StmtKind {
        let mut value = self.expr(value);
        if !matches!(value.ty, Type::Int | Type::String | Type::Error) {
            let message = format!("`switch` chooses by an int or string, not by {}", self.name_of(&value.ty));
            let hint = if value.ty == Type::Float { "convert it: `int(…)`" } else { "use `if` and `else`" };
            self.error(&codes::TYPE_MISMATCH, value.span, message, hint);
            value = Expr::error(value.span);
        }
        self.local.breakable += 1;
        let sections = self.scoped(|c| c.sections(&value.ty, sections));
        self.local.breakable -= 1;
        StmtKind::Switch { value, sections }
    }

    fn sections(&mut self, ty: &Type, sections: &[ast::SwitchSection]) -> Vec<Section> {
        let count: usize = sections.iter().map(|s| s.labels.len()).sum();
        if let Some(label) = sections.iter().flat_map(|s| &s.labels).nth(MAX_LABELS) {
            let message = format!("this `switch` has {count} labels");
            let hint = format!("at most {MAX_LABELS} are possible; an array can hold a value for each number");
            self.error(&codes::TOO_LARGE, label.span, message, hint);
        }
        let mut labels = Labels::default();
        let mut list: Vec<Section> = Vec::new();
        for section in sections {
            let mut checked = Section { labels: Vec::new(), default: false, body: Vec::new() };
            for label in &section.labels {
                self.label(label, ty, &mut labels, &mut checked);
            }
            checked.body = section.body.iter().filter_map(|s| self.stmt(s)).collect();
            match list.last_mut() {
                // Labels in a row start the same statements.
                Some(before) if before.body.is_empty() => {
                    before.labels.append(&mut checked.labels);
                    before.default |= checked.default;
                    before.body = checked.body;
                }
                _ => list.push(checked),
            }
        }
        list
    }

    fn label(&mut self, label: &ast::SwitchLabel, ty: &Type, met: &mut Labels, section: &mut Section) {
        let first = match &label.value {
            None => {
                section.default = true;
                met.default.replace(label.span)
            }
            Some(e) => {
                let checked = self.expr(e);
                let Some(value) = self.label_value(checked, ty) else { return };
                section.labels.push(value);
                met.values.insert(value, e.span)
            }
        };
        if let Some(first) = first {
            let (span, what) = match &label.value {
                Some(e) => (e.span, "this value has a `case` already"),
                None => (label.span, "the `switch` has a `default` already"),
            };
            let diagnostic = Diagnostic::error(&codes::DUPLICATE_CASE, span, what, "remove one of the two");
            self.diagnostics.push(diagnostic.with_label(first, "the first one"));
        }
    }

    fn label_value(&mut self, e: Expr, ty: &Type) -> Option<i32> {
        if *ty == Type::Error || e.ty == Type::Error {
            return None;
        }
        if e.ty != *ty {
            let (wanted, found) = (self.name_of(ty), self.name_of(&e.ty));
            let message = format!("a `case` of this `switch` needs {wanted}, not {found}");
            self.error(&codes::TYPE_MISMATCH, e.span, message, "write a literal, or a constant of this type");
            return None;
        }
        let value = match self.constant_scalar(&e) {
            Some(Constant::Int(i)) => Some(i),
            Some(Constant::String(i)) => Some(string_id(&self.program.strings[i as usize])),
            _ => None,
        };
        if value.is_none() {
            let hint = "use a literal or a constant; for anything else there is `if`";
            self.error(&codes::NOT_CONSTANT, e.span, "the value of a `case` must be a constant", hint);
        }
        value
    }
}

/// Whether control never gets past a `switch` with these sections: some section runs for every value,
/// and none ends at the closing brace.
pub(super) fn never_passed(sections: &[Section], contains_break: impl Fn(&Stmt) -> bool) -> bool {
    sections.iter().any(|s| s.default)
        && !sections.iter().flat_map(|s| &s.body).any(contains_break)
        && sections.last().is_some_and(|s| super::always_exits(&s.body))
}
