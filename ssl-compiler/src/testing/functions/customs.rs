//! Tests of derivatives and inverses that authors give, which are made without being asked for.

use super::called::{Called, own_name};
use super::plan::{Gradient, plan};
use crate::sema::Checked;
use crate::sema::hir::{Custom, Function};
use crate::syntax::ast::{Expr, ExprKind, Ident, TestArgument, TestDecl, TestStmt, TestStmtKind};

const EXPECTATION: &str = "expect_gradient";
const OF_INVERSES: &str = "expect_inverse";

/// A test for each function of which the file gives a derivative, unless a test of the file looks at its gradient.
///
/// What such a test could not call, because it takes or gives closures, is left out, and so are instances of generic
/// functions: no expectation could name one to say that its derivative is meant to be another one.
pub(in crate::testing) fn tests_of_customs(checked: &Checked) -> Vec<TestDecl> {
    let program = &checked.program;
    let is_here = |f: &Function| f.span.file == program.root;
    let mut made: Vec<TestDecl> = Vec::new();
    let is_instance = |f: &Function| f.name.ends_with('>');
    for f in program.functions.iter().filter(|f| !f.is_shader && f.derived.is_none() && !is_instance(f)) {
        let by = |custom: Option<Custom>| custom.map(|custom| program.function(custom.by));
        let given = [("forward", by(f.attributes.forward)), ("backward", by(f.attributes.backward))];
        let functions = || [f].into_iter().chain(given.iter().filter_map(|(_, g)| *g));
        let Some(here) = functions().find(|f| is_here(f)) else { continue };
        let modes: Vec<String> = given.iter().filter_map(|(mode, g)| Some(format!("{mode} {}", (*g)?.name))).collect();
        if modes.is_empty() || is_tested(checked, f, EXPECTATION) {
            continue;
        }
        let name = format!("derivatives given for {}: {}", f.name, modes.join(", "));
        // Overloads may have derivatives of one name.
        let count = made.iter().filter(|t| t.name == name || t.name.starts_with(&format!("{name} ("))).count();
        let name = if count == 0 { name } else { format!("{name} ({})", count + 1) };
        let function = Ident { text: f.name.clone(), span: f.span };
        let called = Called { function: function.clone(), arguments: &[] };
        let gradient = Gradient {
            called,
            wrt: None,
            cotangent: None,
            tolerance: super::GRADIENT,
            integrals: None,
            more: false,
            differs: false,
        };
        if plan(program, &gradient).is_ok() {
            made.push(test_of(&function, EXPECTATION, name, here));
        }
    }
    made.extend(tests_of_inverses(checked));
    made
}

/// A test for each function of the file that has an inverse, unless a test of the file looks at that.
fn tests_of_inverses(checked: &Checked) -> impl Iterator<Item = TestDecl> {
    let program = &checked.program;
    let own = program.functions.iter().filter(|f| f.span.file == program.root && f.derived.is_none());
    own.filter(|f| !is_tested(checked, f, OF_INVERSES)).filter_map(|f| {
        let inverse = program.function(f.attributes.inverse?);
        let function = Ident { text: f.name.clone(), span: f.span };
        Some(test_of(&function, OF_INVERSES, format!("inverse given for {}: {}", f.name, inverse.name), f))
    })
}

/// Whether a test was made here.
pub(in crate::testing) fn is_made(test: &TestDecl) -> bool {
    // What is written in a file stands inside of its test.
    test.body.first().is_some_and(|s| s.span == test.span)
}

/// Whether a test of the file expects this of a function of this name.
fn is_tested(checked: &Checked, f: &Function, expectation: &str) -> bool {
    let looks = |s: &TestStmt| s.called(&[expectation]).is_some_and(|name| own_name(name) == f.name);
    checked.tests.iter().any(|t| t.body.iter().any(looks))
}

/// `expect_gradient(f);`, or another expectation: the function says which one is meant, `here` where the test stands in reports.
fn test_of(function: &Ident, expectation: &str, name: String, here: &Function) -> TestDecl {
    let span = here.span;
    let value = Expr { kind: ExprKind::Name(function.text.clone()), span: function.span };
    let expectation = Ident { text: expectation.to_owned(), span };
    let kind = TestStmtKind::Expect(expectation, vec![TestArgument { name: None, value }]);
    TestDecl { name, name_span: span, body: vec![TestStmt { kind, span }], span }
}
