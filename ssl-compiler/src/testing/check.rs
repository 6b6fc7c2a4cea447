//! Looks at the tests of a file without running them: names, numbers of arguments, types and sizes of values,
//! the order of the statements. What remains for running is whether the shaders do what is expected.

use super::runner::part_of;
use super::values::{Setting, constant, setting};
use crate::diagnostics::{Diagnostic, Diagnostics, allow, closest, codes};
use crate::runtime::GlobalsLayout;
use crate::sema::Checked;
use crate::sema::hir::{Function, Variable};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Direction, Expr, ExprKind, Ident, TestDecl, TestStmt, TestStmtKind};
use crate::types::{Type, TypeTable};

const EXPECTATIONS: [&str; 2] = ["expect", "expect_numeric_derivatives"];

/// What is wrong with the tests of a file that was checked and has no errors.
pub fn check_tests(checked: &Checked, sources: &SourceMap) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for test in &checked.tests {
        let mut check = Check {
            types: &checked.program.types,
            layout: &checked.layout,
            shaders: checked.program.shaders().map(|(_, f)| f).collect(),
            ran: None,
            expected: false,
            diagnostics: &mut diagnostics,
        };
        check.test(test);
    }
    allow::apply(&mut diagnostics, sources);
    diagnostics
}

/// What the last `run` named.
enum Ran<'a> {
    Shader(&'a Function),
    /// Reported; its outputs are not known.
    Unknown,
}

struct Check<'a> {
    types: &'a TypeTable,
    layout: &'a GlobalsLayout,
    shaders: Vec<&'a Function>,
    ran: Option<Ran<'a>>,
    expected: bool,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Check<'a> {
    fn error(&mut self, code: &'static crate::diagnostics::Code, span: Span, message: String, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    fn test(&mut self, test: &TestDecl) {
        for statement in &test.body {
            self.statement(statement);
        }
        if !self.expected {
            let hint = "state what should come out: `expect(output, value, tolerance);`";
            let message = "this test expects nothing";
            self.diagnostics.push(Diagnostic::warning(&codes::NOTHING_EXPECTED, test.name_span, message, hint));
        }
    }

    fn statement(&mut self, s: &TestStmt) {
        match &s.kind {
            TestStmtKind::Set(name, e) if name.text == "samples" => {
                let valid = self.number(e).is_none_or(|n| (1.0..=1e6).contains(&n));
                if !valid {
                    let message = "a test cannot draw so many samples".to_owned();
                    self.error(&codes::TEST_VALUE, e.span, message, "`samples` goes from 1 to 1000000");
                }
            }
            TestStmtKind::Set(name, e) => self.set(name, e),
            TestStmtKind::Run(shader, arguments) => self.run(shader, arguments),
            TestStmtKind::Expect(name, arguments) => self.expect(name, arguments, s.span),
        }
    }

    fn unknown<'n>(&mut self, what: &str, name: &Ident, known: impl Iterator<Item = &'n str> + Clone) {
        self.unknown_as(format!("there is no {what} `{}`", name.text), name.clone(), known);
    }

    fn unknown_as<'n>(&mut self, message: String, name: Ident, known: impl Iterator<Item = &'n str> + Clone) {
        let near = closest(&name.text, known.clone());
        let hint = match near {
            Some(c) => format!("did you mean `{c}`?"),
            None if known.clone().next().is_none() => "there is none at all".to_owned(),
            None => format!("there is {}", known.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
        };
        let d = Diagnostic::error(&codes::TEST_NAME, name.span, message, hint);
        self.diagnostics.push(match near {
            Some(c) => d.with_fix(name.span, c),
            None => d,
        });
    }

    fn set(&mut self, name: &Ident, e: &Expr) {
        let layout = self.layout;
        let Some((_, field)) = layout.find(&name.text) else {
            let names = layout.fields().iter().map(|f| f.name.as_str());
            return self.unknown("global", name, names.chain(["samples"]));
        };
        if let ExprKind::Call(f, list) = &e.kind
            && let Some((n, takes)) = match f.text.as_str() {
                "dual" => Some((3, "a value, its ddx and its ddy")),
                "uniform" => Some((2, "the lowest and the highest value")),
                _ => None,
            }
        {
            if list.len() != n {
                let message = format!("`{}` takes {takes}", f.text);
                return self.error(&codes::TEST_ARGUMENTS, e.span, message, format!("give {n} arguments"));
            }
            return list.iter().for_each(|part| self.value(part, &field.ty, &name.text, None));
        }
        match setting(e) {
            Ok(Setting::Fixed(_) | Setting::Uniform(..)) => self.value(e, &field.ty, &name.text, None),
            Err(message) => self.error(&codes::TEST_VALUE, e.span, message, "write a number, or `float3(…)`"),
        }
    }

    /// A value for something of a type; a single number serves for all components.
    fn value(&mut self, e: &Expr, ty: &Type, name: &str, declared: Option<Span>) {
        let n = self.types.leaf_count(ty);
        let shown = self.types.display(ty).to_string();
        let fault = match constant(e) {
            Err(message) => Some((message, "write a number, or `float3(…)`".to_owned())),
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
        if let Some((message, hint)) = fault {
            let d = Diagnostic::error(&codes::TEST_VALUE, e.span, message, hint);
            self.diagnostics.push(match declared {
                Some(place) => d.with_label(place, "declared here"),
                None => d,
            });
        }
    }

    fn number(&mut self, e: &Expr) -> Option<f64> {
        match constant(e) {
            Ok(v) if v.len() == 1 => Some(v[0]),
            Ok(_) => {
                self.error(&codes::TEST_VALUE, e.span, "one number belongs here".to_owned(), "write a single number");
                None
            }
            Err(message) => {
                self.error(&codes::TEST_VALUE, e.span, message, "write a number");
                None
            }
        }
    }

    fn run(&mut self, name: &Ident, arguments: &[(Ident, Expr)]) {
        let Some(&shader) = self.shaders.iter().find(|f| f.name == name.text) else {
            let names: Vec<&str> = self.shaders.iter().map(|f| f.name.as_str()).collect();
            self.unknown("shader", name, names.into_iter());
            self.ran = Some(Ran::Unknown);
            return;
        };
        self.ran = Some(Ran::Shader(shader));
        let inputs = || parameters(shader, Direction::In);
        for (i, (parameter, value)) in arguments.iter().enumerate() {
            if arguments[..i].iter().any(|(p, _)| p.text == parameter.text) {
                let message = format!("`{}` is given twice", parameter.text);
                self.error(&codes::TEST_ARGUMENTS, parameter.span, message, "keep one of the two");
                continue;
            }
            match inputs().find(|v| v.name == parameter.text) {
                // A slot of the shader's textures, by number.
                Some(v) if v.ty == Type::Texture2d => {
                    self.number(value);
                }
                Some(v) => self.value(value, &v.ty, &v.name, Some(v.span)),
                None => {
                    let names: Vec<&str> = inputs().map(|v| v.name.as_str()).collect();
                    self.unknown(&format!("parameter of `{}` called", shader.name), parameter, names.into_iter());
                }
            }
        }
    }

    fn expect(&mut self, name: &Ident, arguments: &[Expr], span: Span) {
        self.expected = true;
        let takes = match name.text.as_str() {
            "expect" if !(2..=3).contains(&arguments.len()) => "an output, its value and a tolerance",
            "expect_numeric_derivatives" if arguments.len() != 1 => "a tolerance",
            "expect" | "expect_numeric_derivatives" => "",
            _ => return self.unknown("expectation", name, EXPECTATIONS.into_iter()),
        };
        if !takes.is_empty() {
            let message = format!("`{}` takes {takes}", name.text);
            let hint = format!("{} arguments are given", arguments.len());
            return self.error(&codes::TEST_ARGUMENTS, span, message, hint);
        }
        let shader = match self.ran {
            Some(Ran::Shader(f)) => f,
            Some(Ran::Unknown) => return,
            None => {
                let message = "nothing was run yet".to_owned();
                return self.error(&codes::TEST_SETUP, span, message, "`run shader();` comes before what is expected");
            }
        };
        let tolerance = if name.text == "expect" { arguments.get(2) } else { arguments.first() };
        if let Some(e) = tolerance
            && self.number(e).is_some_and(|t| t.is_nan() || t < 0.0)
        {
            let message = "a tolerance cannot be negative".to_owned();
            self.error(&codes::TEST_VALUE, e.span, message, "it is how far the value may be off");
        }
        if name.text == "expect" {
            self.expect_output(shader, &arguments[0], &arguments[1]);
        }
    }

    fn expect_output(&mut self, shader: &'a Function, what: &Expr, value: &Expr) {
        let Some(n) = self.output(shader, what) else { return };
        match constant(value) {
            Ok(v) if v.len() == 1 || v.len() == n => {}
            Ok(v) => {
                let message = format!("{n} values are compared with {}", v.len());
                self.error(&codes::TEST_VALUE, value.span, message, "give a value for each component, or one for all");
            }
            Err(message) => self.error(&codes::TEST_VALUE, value.span, message, "write a number, or `float3(…)`"),
        }
    }

    /// How many values an output, or a part of one, has; `None` where that was reported.
    fn output(&mut self, shader: &'a Function, e: &Expr) -> Option<usize> {
        if let ExprKind::Member(base, _) | ExprKind::Index(base, _) = &e.kind {
            let whole = vec![0.0; self.output(shader, base)?];
            return match part_of(&whole, e) {
                Ok(part) => Some(part.len()),
                Err((span, message)) => {
                    self.error(&codes::TEST_NAME, span, message, format!("it has {} values", whole.len()));
                    None
                }
            };
        }
        let ExprKind::Name(name) = &e.kind else {
            let hint = "write the name of an output, or one of its components";
            self.error(&codes::TEST_VALUE, e.span, "this is no output".to_owned(), hint);
            return None;
        };
        let outputs = || parameters(shader, Direction::Out);
        let Some(output) = outputs().find(|v| v.name == *name) else {
            let names: Vec<&str> = outputs().map(|v| v.name.as_str()).collect();
            let message = format!("`{}` has no output `{name}`", shader.name);
            self.unknown_as(message, Ident { text: name.clone(), span: e.span }, names.into_iter());
            return None;
        };
        if output.ty == Type::Closure {
            let message = format!("`{name}` is a closure, which cannot be compared");
            self.error(&codes::TEST_VALUE, e.span, message, "hand its weights and parameters out beside it");
            return None;
        }
        Some(self.types.leaf_count(&output.ty))
    }
}

fn parameters(f: &Function, direction: Direction) -> impl Iterator<Item = &Variable> {
    f.parameters.iter().filter(move |p| p.direction == direction).map(|p| &f.variables[p.variable.0 as usize])
}
