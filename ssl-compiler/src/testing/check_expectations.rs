//! Checks expectations without running anything: outputs, closures and their parameters must exist, and values must fit
//! them.

use super::check::{Check, Ran, parameters};
use super::expectation::{Expectation, Fault, Lobe, fault, read, unknown};
use super::formula::{Outputs, compute, is_output, named};
use super::functions::{inverse_plan, plan, undo_plan};
use super::run_expectations::{output_name, part_of};
use super::values::constant;
use crate::diagnostics::codes;
use crate::runtime::ClosureType;
use crate::sema::hir::Function;
use crate::source::Span;
use crate::syntax::ast::{Direction, Expr, ExprKind, Ident, TestArgument};
use crate::types::Type;

/// Zeros for every output: enough to see whether sizes fit.
struct Sizes<'c, 'a> {
    check: &'c Check<'a>,
    shader: &'a Function,
}

impl Outputs for Sizes<'_, '_> {
    type Error = Fault;

    fn read(&mut self, e: &Expr) -> Result<Vec<f64>, Fault> {
        self.check.output(self.shader, e).map(|n| vec![0.0; n])
    }

    fn wrong(&self, span: Span, message: String) -> Fault {
        fault(&codes::TEST_VALUE, span, message, "compute with numbers and outputs, component by component")
    }
}

impl<'a> Check<'a> {
    pub(super) fn expect(&mut self, name: &Ident, arguments: &[TestArgument], span: Span) {
        self.expected = true;
        let expectation = match read(name, arguments, span) {
            Ok(expectation) => expectation,
            Err(fault) => return self.note(Err(fault)),
        };
        // These call functions by themselves, whatever was run.
        match &expectation {
            Expectation::Gradient(gradient) => return self.note(plan(self.program, gradient).map(drop)),
            Expectation::Inverse(inverse) => return self.note(inverse_plan(self.program, inverse).map(drop)),
            Expectation::Undo(undo) => return self.note(undo_plan(self.program, undo).map(drop)),
            _ => {}
        }
        let shader = match self.ran {
            Some(Ran::Shader(f)) => f,
            Some(Ran::Unknown) => return,
            None => {
                let hint = "`run shader();` comes before what is expected";
                return self.note(Err(fault(&codes::TEST_SETUP, span, "nothing was run yet", hint)));
            }
        };
        let outcome = match expectation {
            Expectation::Holds { condition } => self.expect_truth(shader, condition, span),
            Expectation::Value { what, wanted, .. } => self.expect_output(shader, what, wanted),
            Expectation::Lobe(lobe) => return self.expect_lobe(shader, &lobe),
            Expectation::Lobes { output, closure, .. } => self
                .closure_output(shader, output)
                .and_then(|()| closure.as_ref().map_or(Ok(()), |c| self.closure_type(c).map(drop))),
            Expectation::Numeric { .. }
            | Expectation::ZeroCost
            | Expectation::Gradient(_)
            | Expectation::Inverse(_)
            | Expectation::Undo(_) => Ok(()),
        };
        self.note(outcome);
    }

    fn expect_output(&mut self, shader: &'a Function, what: &Expr, wanted: &Expr) -> Result<(), Fault> {
        let n = match named(what) {
            Some(_) => self.output(shader, what)?,
            None => self.sizes(shader, what)?,
        };
        let computed = constant(wanted).or_else(|message| match self.speaks_of_outputs(shader, wanted) {
            true => Ok(vec![0.0; self.sizes(shader, wanted)?]),
            false => Err(fault(&codes::TEST_VALUE, wanted.span, message, "write a number, or `float3(…)`")),
        });
        match computed {
            Ok(v) if v.len() == 1 || v.len() == n => Ok(()),
            Ok(v) => {
                let message = format!("{n} values are compared with {}", v.len());
                let hint = "give a value for each component, or one for all";
                Err(fault(&codes::TEST_VALUE, wanted.span, message, hint))
            }
            Err(fault) => Err(fault),
        }
    }

    /// A comparison, or an output that is a bool.
    fn expect_truth(&mut self, shader: &'a Function, condition: &Expr, span: Span) -> Result<(), Fault> {
        self.sizes(shader, condition)?;
        if !is_output(condition) || *self.named_output(shader, condition)?.1 == Type::Bool {
            return Ok(());
        }
        let message = "`expect` takes an output, its value and tolerances, or a comparison";
        Err(fault(&codes::TEST_ARGUMENTS, span, message, "give the value, or compare it: `expect(output > 1.0);`"))
    }

    /// How many values come of an expression with outputs.
    fn sizes(&self, shader: &'a Function, e: &Expr) -> Result<usize, Fault> {
        compute(e, &mut Sizes { check: self, shader }).map(|values| values.len())
    }

    /// Whether some name in an expression is that of an output.
    fn speaks_of_outputs(&self, shader: &'a Function, e: &Expr) -> bool {
        let of = |list: &[&Expr]| list.iter().any(|e| self.speaks_of_outputs(shader, e));
        match &e.kind {
            ExprKind::Name(name) => parameters(shader, Direction::Out).any(|v| v.name == *name),
            ExprKind::Member(a, _) | ExprKind::Index(a, _) | ExprKind::Unary(_, a) => of(&[a]),
            ExprKind::Binary(_, a, b) => of(&[a, b]),
            ExprKind::Call(_, list) => of(&list.iter().collect::<Vec<_>>()),
            _ => false,
        }
    }

    /// How many values an output, or a part of one, has.
    fn output(&self, shader: &'a Function, e: &Expr) -> Result<usize, Fault> {
        if let ExprKind::Member(base, _) | ExprKind::Index(base, _) = &e.kind {
            let whole = vec![0.0; self.output(shader, base)?];
            let wrong = |(span, message): (Span, String)| {
                fault(&codes::TEST_NAME, span, message, format!("it has {} values", whole.len()))
            };
            return part_of(&whole, e).map(|part| part.len()).map_err(wrong);
        }
        let (name, ty) = self.named_output(shader, e)?;
        if *ty == Type::Closure {
            let message = format!("`{name}` is a closure, which cannot be compared");
            let hint = format!("write `expect_lobe({name}, Lambert, weight = 0.5);`, or `expect_lobes({name}, 1);`");
            return Err(fault(&codes::TEST_VALUE, e.span, message, hint));
        }
        Ok(self.types.leaf_count(ty))
    }

    fn named_output(&self, shader: &'a Function, e: &Expr) -> Result<(String, &'a Type), Fault> {
        let Some(name) = output_name(e) else {
            let hint = "write the name of an output, or one of its components";
            return Err(fault(&codes::TEST_VALUE, e.span, "this is no output", hint));
        };
        let outputs = || parameters(shader, Direction::Out);
        match outputs().find(|v| v.name == *name) {
            Some(output) => Ok((name.to_owned(), &output.ty)),
            None => {
                let names: Vec<&str> = outputs().map(|v| v.name.as_str()).collect();
                let message = format!("`{}` has no output `{name}`", shader.name);
                Err(unknown(message, &Ident { text: name.to_owned(), span: e.span }, names.into_iter()))
            }
        }
    }

    fn closure_output(&self, shader: &'a Function, e: &Expr) -> Result<(), Fault> {
        let (name, ty) = self.named_output(shader, e)?;
        if *ty == Type::Closure {
            return Ok(());
        }
        let message = format!("`{name}` is {}, which has no lobes", self.types.display(ty));
        Err(fault(&codes::TEST_VALUE, e.span, message, format!("compare its value: `expect({name}, value);`")))
    }

    fn closure_type(&self, name: &Ident) -> Result<&'a ClosureType, Fault> {
        let known = self.closures.types();
        // Those of the file stand last, and go before those of the host.
        if let Some(found) = known.iter().rfind(|t| t.name == name.text) {
            return Ok(found);
        }
        if self.types.structs.iter().any(|s| s.name == name.text) {
            let message = format!("no shader makes a closure `{}`", name.text);
            let hint = format!("a lobe of this type comes from `make_closure<{}>(…)`", name.text);
            return Err(fault(&codes::TEST_NAME, name.span, message, hint));
        }
        let message = format!("there is no closure `{}`", name.text);
        Err(unknown(message, name, known.iter().map(|t| &*t.name)))
    }

    fn expect_lobe(&mut self, shader: &'a Function, lobe: &Lobe<'_>) {
        let output = self.closure_output(shader, lobe.output);
        self.note(output);
        if let Some(under) = &lobe.under {
            let known = self.closure_type(under).map(drop);
            self.note(known);
        }
        if let Some(weight) = lobe.weight {
            self.value(weight, &crate::types::COLOR, "weight", None);
        }
        let ty = match self.closure_type(&lobe.closure) {
            Ok(ty) => ty,
            Err(fault) => return self.note(Err(fault)),
        };
        let mut known: Vec<&str> = ty.parameters.iter().filter(|p| p.ty != Type::Closure).map(|p| &*p.name).collect();
        known.extend(["weight", "under", "abs", "rel"]);
        for (name, value) in &lobe.parameters {
            match ty.parameters.iter().find(|p| p.name == name.text && p.ty != Type::Closure) {
                Some(p) => self.value(value, &p.ty, &p.name, None),
                None => {
                    let message = format!("the closure {} has no parameter `{}`", ty.name, name.text);
                    self.note(Err(unknown(message, name, known.clone().into_iter())));
                }
            }
        }
    }
}
