//! Checks the tests of a file without running them: names, numbers of arguments, types and sizes of values, the order
//! of the statements. Only running shows whether the shaders do what the tests expect.

use super::cases;
use super::expectation::{Fault, fault, one_number, unknown};
use super::values::{Numbers, constant, numbers, setting, texture};
use crate::diagnostics::{Diagnostic, Diagnostics, allow, codes};
use crate::runtime::{ClosureRegistry, GlobalsLayout};
use crate::sema::Checked;
use crate::sema::hir::{Function, Program, Variable};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Direction, Expr, ExprKind, Ident, TestDecl, TestStmt, TestStmtKind};
use crate::types::{Type, TypeTable};

/// What is wrong with the tests of a file that was checked and has no errors.
pub fn check_tests(checked: &Checked, sources: &SourceMap) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (i, test) in checked.tests.iter().enumerate() {
        if let Some(first) = checked.tests[..i].iter().find(|t| t.name == test.name) {
            let message = format!("two tests are called \"{}\"", test.name);
            let hint = "give it another name: reports and `--filter` go by it, and so does what is drawn";
            let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, test.name_span, message, hint);
            diagnostics.push(diagnostic.with_label(first.name_span, "the other one"));
        }
        let tables = cases::faults(test, &checked.layout);
        if !tables.is_empty() {
            tables.into_iter().for_each(|d| diagnostics.push(d));
            continue;
        }
        let mut found: Vec<Diagnostic> = Vec::new();
        for test in cases::expand(test, &checked.layout) {
            let mut check = Check {
                program: &checked.program,
                types: &checked.program.types,
                layout: &checked.layout,
                closures: &checked.closures,
                textures: &checked.program.textures,
                shaders: checked.program.shaders().map(|(_, f)| f).collect(),
                ran: None,
                expected: false,
                found: &mut found,
            };
            check.test(&test);
        }
        // What is wrong in each case is said once.
        for (i, d) in found.iter().enumerate() {
            if !found[..i].iter().any(|e| e.span == d.span && e.message == d.message) {
                diagnostics.push(d.clone());
            }
        }
    }
    allow::apply(&mut diagnostics, sources);
    diagnostics
}

/// What the last `run` named.
#[derive(Clone, Copy)]
pub(super) enum Ran<'a> {
    Shader(&'a Function),
    /// Reported; its outputs are not known.
    Unknown,
}

pub(super) struct Check<'a> {
    pub program: &'a Program,
    pub types: &'a TypeTable,
    pub layout: &'a GlobalsLayout,
    pub closures: &'a ClosureRegistry,
    /// Texture slots of the file.
    pub textures: &'a [String],
    pub shaders: Vec<&'a Function>,
    pub ran: Option<Ran<'a>>,
    pub expected: bool,
    pub found: &'a mut Vec<Diagnostic>,
}

const NUMBERS: &str = "write a number, or `float3(…)`";

impl<'a> Check<'a> {
    pub fn note(&mut self, outcome: Result<(), Fault>) {
        if let Err(fault) = outcome {
            self.found.push(*fault);
        }
    }

    fn test(&mut self, test: &TestDecl) {
        for statement in &test.body {
            self.statement(statement);
        }
        if !self.expected {
            let hint = "state what should come out: `expect(output, value, tolerance);`";
            let message = "this test expects nothing";
            self.found.push(Diagnostic::warning(&codes::NOTHING_EXPECTED, test.name_span, message, hint));
        }
    }

    fn statement(&mut self, s: &TestStmt) {
        match &s.kind {
            TestStmtKind::Set(name, e) if name.text == "samples" => {
                let outcome = samples(e);
                self.note(outcome);
            }
            TestStmtKind::Set(name, e) => self.set(name, e),
            TestStmtKind::Run(shader, arguments) => self.run(shader, arguments),
            TestStmtKind::Expect(name, arguments) => self.expect(name, arguments, s.span),
            TestStmtKind::ExpectError { code, .. } => {
                self.expected = true;
                if codes::find(&code.text).is_none() {
                    let known = codes::ALL.iter().map(|c| c.id);
                    let mut d = unknown(format!("there is no diagnostic `{}`", code.text), code, known.clone());
                    if d.fixes.is_empty() {
                        d.hint = "write the code of a diagnostic, such as `E0205`; errors.md lists them".into();
                    }
                    self.found.push(*d);
                }
            }
            TestStmtKind::Cases(_) => {}
        }
    }

    fn set(&mut self, name: &Ident, e: &Expr) {
        let layout = self.layout;
        let Some((_, field)) = layout.find(&name.text) else {
            let takes = |f: &&Function| parameters(f, Direction::In).any(|v| v.name == name.text);
            if let Some(shader) = self.shaders.iter().copied().find(takes) {
                let message = format!("`{}` is a parameter of `{}`, not a global", name.text, shader.name);
                let hint = format!("give it where the shader runs: `run {}({} = …);`", shader.name, name.text);
                return self.note(Err(fault(&codes::TEST_NAME, name.span, message, hint)));
            }
            let names = layout.fields().iter().map(|f| f.name.as_str()).chain(["samples"]);
            return self.note(Err(unknown(format!("there is no global `{}`", name.text), name, names)));
        };
        if let ExprKind::Call(f, list) = &e.kind
            && f.text == "dual"
            && list.len() == 3
        {
            for (i, part) in list.iter().enumerate() {
                let ty =
                    if i > 0 && field.ty.component_scalar().is_some() { partial(&field.ty) } else { field.ty.clone() };
                self.numbers(part, &ty, &name.text, None);
            }
            return;
        }
        match setting(e) {
            Ok(_) => self.numbers(e, &field.ty, &name.text, None),
            Err(message) => {
                let outcome = self.malformed(e, message);
                self.note(outcome);
            }
        }
    }

    /// What cannot be read as a value at all.
    fn malformed(&self, e: &Expr, message: String) -> Result<(), Fault> {
        let called = if let ExprKind::Call(f, _) = &e.kind { f.text.as_str() } else { "" };
        match called {
            "dual" => Err(fault(&codes::TEST_ARGUMENTS, e.span, message, "give 3 arguments")),
            "uniform" => Err(fault(&codes::TEST_ARGUMENTS, e.span, message, "give 2 arguments")),
            _ => Err(fault(&codes::TEST_VALUE, e.span, message, NUMBERS)),
        }
    }

    /// A value for something of a type, or the ends of a range of such values.
    fn numbers(&mut self, e: &Expr, ty: &Type, name: &str, declared: Option<Span>) {
        let ExprKind::Call(f, list) = &e.kind else { return self.value(e, ty, name, declared) };
        if f.text != "uniform" {
            return self.value(e, ty, name, declared);
        }
        if *ty == Type::String {
            let message = format!("`{name}` is string, which cannot be drawn");
            return self.note(Err(fault(&codes::TEST_VALUE, e.span, message, "write the text in quotes")));
        }
        match numbers(e) {
            Err(message) => {
                let bad = list.iter().find(|part| constant(part).is_err()).filter(|_| list.len() == 2);
                let outcome = self.malformed(bad.unwrap_or(e), message);
                self.note(outcome);
            }
            Ok(Numbers::Uniform(low, high)) => {
                list.iter().for_each(|part| self.value(part, ty, name, declared));
                let at = |v: &[f64], i: usize| if v.len() == 1 { v[0] } else { v.get(i).copied().unwrap_or(0.0) };
                let ordered = |i: usize| at(&low, i) <= at(&high, i) && (at(&high, i) - at(&low, i)).is_finite();
                if !(0..low.len().max(high.len())).all(ordered) {
                    let message = "the lowest value is above the highest";
                    let hint = "write `uniform(LOWEST, HIGHEST)`, both finite";
                    self.note(Err(fault(&codes::TEST_VALUE, e.span, message, hint)));
                }
            }
            Ok(Numbers::Fixed(_)) => {}
        }
    }

    /// A value for something of a type; a single number serves for all components.
    pub fn value(&mut self, e: &Expr, ty: &Type, name: &str, declared: Option<Span>) {
        let n = self.types.leaf_count(ty);
        let shown = self.types.display(ty).to_string();
        let found = match constant(e) {
            Err(message) => Some((message, NUMBERS.to_owned())),
            Ok(_) if matches!(e.kind, ExprKind::Str(_)) != (*ty == Type::String) => {
                Some((format!("`{name}` is {shown}"), format!("give a value of type {shown}")))
            }
            Ok(v) if v.len() != n && (v.len() != 1 || (*ty == Type::Matrix && v[0] != 0.0)) => {
                let components = if n == 1 { "component" } else { "components" };
                let message = format!("`{name}` has {n} {components}, {} are given", v.len());
                Some((message, format!("it is {shown}; give each of them, or one number for all of a vector")))
            }
            Ok(v) if *ty == Type::Int && v.iter().any(|x| x.fract() != 0.0) => {
                Some((format!("`{name}` is int"), "give a whole number".to_owned()))
            }
            Ok(v) if *ty == Type::Bool && v.iter().any(|x| *x != 0.0 && *x != 1.0) => {
                Some((format!("`{name}` is bool"), "give `true` or `false`".to_owned()))
            }
            Ok(_) => None,
        };
        if let Some((message, hint)) = found {
            let d = Diagnostic::error(&codes::TEST_VALUE, e.span, message, hint);
            self.found.push(match declared {
                Some(place) => d.with_label(place, "declared here"),
                None => d,
            });
        }
    }

    fn run(&mut self, name: &Ident, arguments: &[(Ident, Expr)]) {
        let Some(&shader) = self.shaders.iter().find(|f| f.name == name.text) else {
            let names: Vec<&str> = self.shaders.iter().map(|f| f.name.as_str()).collect();
            self.ran = Some(Ran::Unknown);
            return self.note(Err(unknown(format!("there is no shader `{}`", name.text), name, names.into_iter())));
        };
        self.ran = Some(Ran::Shader(shader));
        for (i, (parameter, value)) in arguments.iter().enumerate() {
            if arguments[..i].iter().any(|(p, _)| p.text == parameter.text) {
                let message = format!("`{}` is given twice", parameter.text);
                let hint = "keep one of the two";
                self.note(Err(fault(&codes::TEST_ARGUMENTS, parameter.span, message, hint)));
                continue;
            }
            self.argument(shader, parameter, value);
        }
    }

    fn argument(&mut self, shader: &'a Function, parameter: &Ident, value: &Expr) {
        let inputs = || parameters(shader, Direction::In);
        let slots = self.textures;
        let known = inputs().find(|v| v.name == parameter.text);
        let is_slot = known.is_none() && slots.contains(&parameter.text);
        match known {
            Some(v) if v.ty != Type::Texture2d => {
                if matches!(&value.kind, ExprKind::Call(f, _) if f.text == "dual") {
                    let message = "a parameter has no partials";
                    return self.note(Err(fault(&codes::TEST_VALUE, value.span, message, "give its value alone")));
                }
                self.numbers(value, &v.ty, &v.name, Some(v.span));
            }
            _ if known.is_some() || is_slot => {
                if let Err(message) = texture(value) {
                    let hint = "every slot that is not named holds `test_texture`";
                    self.note(Err(fault(&codes::TEST_VALUE, value.span, message, hint)));
                }
            }
            _ => {
                let names: Vec<&str> =
                    inputs().map(|v| v.name.as_str()).chain(slots.iter().map(String::as_str)).collect();
                let message = format!("there is no parameter of `{}` called `{}`", shader.name, parameter.text);
                self.note(Err(unknown(message, parameter, names.into_iter())));
            }
        }
    }
}

/// What the partials of a global are made of.
fn partial(ty: &Type) -> Type {
    match ty {
        Type::Int | Type::Bool => Type::Float,
        other => other.clone(),
    }
}

fn samples(e: &Expr) -> Result<(), Fault> {
    let n = one_number(e)?;
    if (1.0..=1e6).contains(&n) && n.fract() == 0.0 {
        return Ok(());
    }
    let message = "a test cannot draw so many samples";
    Err(fault(&codes::TEST_VALUE, e.span, message, "`samples` goes from 1 to 1000000"))
}

pub(super) fn parameters(f: &Function, direction: Direction) -> impl Iterator<Item = &Variable> {
    f.parameters.iter().filter(move |p| p.direction == direction).map(|p| &f.variables[p.variable.0 as usize])
}
