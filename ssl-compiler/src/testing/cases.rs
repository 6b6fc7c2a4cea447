//! Tables of cases: each row becomes a test of its own, in which the row's values replace the names of the columns.
//!
//! The result is plain tests, so checking and running know nothing of tables.

use super::formula::is_output;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::GlobalsLayout;
use crate::syntax::ast::{Expr, ExprKind, Ident, TestArgument, TestCases, TestDecl, TestStmt, TestStmtKind};
use std::collections::{BTreeSet, HashMap};

/// A test, or one for each of its cases. What is wrong with a table is what [`faults`] says.
pub(super) fn expand(test: &TestDecl, layout: &GlobalsLayout) -> Vec<TestDecl> {
    let Some((TestStmtKind::Cases(cases), rest)) = test.body.split_first().map(|(s, rest)| (&s.kind, rest)) else {
        return vec![test.clone()];
    };
    let row = |i: usize| {
        let case = &cases.rows[i];
        let names: HashMap<&str, &Expr> = cases.columns.iter().map(|c| c.text.as_str()).zip(&case.values).collect();
        let set = |(column, value): (&Ident, &Expr)| {
            sets(column, layout)
                .then(|| TestStmt { kind: TestStmtKind::Set(column.clone(), value.clone()), span: value.span })
        };
        let mut body: Vec<TestStmt> = cases.columns.iter().zip(&case.values).filter_map(set).collect();
        body.extend(rest.iter().map(|s| Put { names: &names, used: BTreeSet::new() }.statement(s)));
        let name = format!("{}: {}", test.name, case.name);
        TestDecl { name, name_span: case.name_span, body, span: test.span }
    };
    (0..cases.rows.len()).map(row).collect()
}

/// Whether a column sets something by itself.
fn sets(column: &Ident, layout: &GlobalsLayout) -> bool {
    column.text == "samples" || layout.find(&column.text).is_some()
}

/// What is wrong with the tables of a test.
pub(super) fn faults(test: &TestDecl, layout: &GlobalsLayout) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (i, statement) in test.body.iter().enumerate() {
        let TestStmtKind::Cases(cases) = &statement.kind else { continue };
        let mut fault = |span, message: String, hint: &str| {
            found.push(Diagnostic::error(&codes::TEST_CASES, span, message, hint));
        };
        if i > 0 {
            let hint = "write `cases` first in the test, once";
            fault(statement.span, "a table of cases starts its test".to_owned(), hint);
            continue;
        }
        if cases.columns.is_empty() || cases.rows.is_empty() {
            let hint = "write `cases(x, y) { \"first\": 1.0, 2.0; }`";
            fault(statement.span, "a table of cases has columns and cases".to_owned(), hint);
        }
        for (n, column) in cases.columns.iter().enumerate() {
            if cases.columns[..n].iter().any(|c| c.text == column.text) {
                fault(column.span, format!("the column `{}` stands there twice", column.text), "keep one of the two");
            }
        }
        for (n, row) in cases.rows.iter().enumerate() {
            if cases.rows[..n].iter().any(|r| r.name == row.name) {
                fault(row.name_span, format!("the case \"{}\" stands there twice", row.name), "give it another name");
            }
            if row.values.len() != cases.columns.len() {
                let message = format!("{} columns, {} values", cases.columns.len(), row.values.len());
                fault(row.name_span, message, "give each column a value, between commas");
            }
        }
        for column in unused(cases, &test.body[1..], layout) {
            let message = format!("the column `{}` is neither a global nor used", column.text);
            fault(column.span, message, "use it in a value, such as `expect(output, wanted);`, or remove it");
        }
    }
    found
}

fn unused<'a>(cases: &'a TestCases, rest: &[TestStmt], layout: &GlobalsLayout) -> Vec<&'a Ident> {
    let Some(row) = cases.rows.first() else { return Vec::new() };
    let names: HashMap<&str, &Expr> = cases.columns.iter().map(|c| c.text.as_str()).zip(&row.values).collect();
    let mut put = Put { names: &names, used: BTreeSet::new() };
    for statement in rest {
        put.statement(statement);
    }
    let is_unused = |c: &&Ident| !put.used.contains(c.text.as_str()) && !sets(c, layout);
    cases.columns.iter().filter(is_unused).collect()
}

/// Puts values in place of names.
struct Put<'a> {
    names: &'a HashMap<&'a str, &'a Expr>,
    used: BTreeSet<String>,
}

impl Put<'_> {
    fn statement(&mut self, s: &TestStmt) -> TestStmt {
        let kind = match &s.kind {
            TestStmtKind::Set(name, e) => TestStmtKind::Set(name.clone(), self.expr(e)),
            TestStmtKind::Run(shader, arguments) => {
                let put = |(name, e): &(Ident, Expr)| (name.clone(), self.expr(e));
                TestStmtKind::Run(shader.clone(), arguments.iter().map(put).collect())
            }
            TestStmtKind::Expect(name, arguments) => {
                // An output may have the name of a column; what is computed of outputs speaks of columns, too.
                // `wrt` names parameters.
                let put = |(i, a): (usize, &TestArgument)| match i {
                    _ if a.name.as_ref().is_some_and(|n| n.text == "wrt") => a.clone(),
                    0 if name.text != "expect_numeric_derivatives" && is_output(&a.value) => a.clone(),
                    _ => TestArgument { name: a.name.clone(), value: self.expr(&a.value) },
                };
                TestStmtKind::Expect(name.clone(), arguments.iter().enumerate().map(put).collect())
            }
            other => other.clone(),
        };
        TestStmt { kind, span: s.span }
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Name(name) => match self.names.get(name.as_str()) {
                Some(&value) => {
                    self.used.insert(name.clone());
                    return value.clone();
                }
                None => e.kind.clone(),
            },
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(self.expr(a))),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, Box::new(self.expr(a)), Box::new(self.expr(b))),
            ExprKind::Call(name, list) => ExprKind::Call(name.clone(), list.iter().map(|e| self.expr(e)).collect()),
            ExprKind::Named(name, value) => ExprKind::Named(name.clone(), Box::new(self.expr(value))),
            ExprKind::List(list) => ExprKind::List(list.iter().map(|e| self.expr(e)).collect()),
            other => other.clone(),
        };
        Expr { kind, span: e.span }
    }
}
