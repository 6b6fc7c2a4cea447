//! What an `expect…` statement says, parsed once for checking and for running tests.

use super::compare::Tolerance;
use super::formula::is_condition;
use super::functions::{
    Called, GRADIENT, Gradient, INTEGRAL, INTEGRAL_SAMPLES, INVERSE, Inverse, MIN_INTEGRAL_SAMPLES, UNDO, Undo,
};
use super::values::constant;
use crate::diagnostics::{Code, Diagnostic, closest, codes};
use crate::ir::points::MAX_SAMPLES;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Ident, TestArgument};

/// Every expectation that is a statement with arguments.
pub(super) const NAMES: [&str; 9] = [
    "expect",
    "expect_gradient",
    "expect_integral_gradient",
    "expect_inverse",
    "expect_lobe",
    "expect_lobes",
    "expect_numeric_derivatives",
    "expect_undo",
    "expect_zero_cost",
];

pub(super) enum Expectation<'a> {
    /// A comparison, or an output that is a bool, is true.
    Holds { condition: &'a Expr },
    /// An output, or what is computed of outputs, has a value.
    Value { what: &'a Expr, wanted: &'a Expr, tolerance: Tolerance },
    /// A closure has a lobe like this.
    Lobe(Lobe<'a>),
    /// A closure has so many lobes, of a type if one is named.
    Lobes { output: &'a Expr, count: usize, closure: Option<Ident> },
    /// Shadows are slopes.
    Numeric { tolerance: f64 },
    /// Nothing was computed for derivatives.
    ZeroCost,
    /// The gradient of a function is its slope.
    Gradient(Gradient<'a>),
    /// What inverts a function gives the point that it took.
    Inverse(Inverse<'a>),
    /// What takes a step back gives the state that there was.
    Undo(Undo<'a>),
}

/// A lobe of a closure; what is left out may be anything.
pub(super) struct Lobe<'a> {
    pub output: &'a Expr,
    pub closure: Ident,
    /// The type of the layer that it lies under.
    pub under: Option<Ident>,
    pub weight: Option<&'a Expr>,
    /// The closure's parameters.
    pub parameters: Vec<(&'a Ident, &'a Expr)>,
    pub tolerance: Tolerance,
}

/// What is wrong with a statement of a test.
pub(super) type Fault = Box<Diagnostic>;

pub(super) fn fault(code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Box::new(Diagnostic::error(code, span, message.into(), hint.into()))
}

/// Something that does not go by that name; `known` are the names that there are.
pub(super) fn unknown<'n>(message: String, name: &Ident, known: impl Iterator<Item = &'n str> + Clone) -> Fault {
    let near = closest(&name.text, known.clone());
    let hint = match near {
        Some(c) => format!("did you mean `{c}`?"),
        None if known.clone().next().is_none() => "there is none at all".to_owned(),
        None => format!("there is {}", known.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
    };
    let d = Diagnostic::error(&codes::TEST_NAME, name.span, message, hint);
    Box::new(match near {
        Some(c) => d.with_fix(name.span, c),
        None => d,
    })
}

/// The arguments of an expectation, taken one by one.
struct Arguments<'a> {
    statement: &'a Ident,
    takes: &'static str,
    span: Span,
    positional: std::collections::VecDeque<&'a Expr>,
    named: Vec<(&'a Ident, &'a Expr)>,
}

pub(super) fn read<'a>(
    statement: &'a Ident,
    arguments: &'a [TestArgument],
    span: Span,
) -> Result<Expectation<'a>, Fault> {
    let takes = match statement.text.as_str() {
        "expect" => "an output, its value and tolerances, or a comparison",
        "expect_gradient" => "a call of a function, and by name `wrt`, `cotangent`, `rel`, `abs` and `differs`",
        "expect_integral_gradient" => {
            "a call of a function, and by name `wrt`, `cotangent`, `samples`, `rel` and `abs`"
        }
        "expect_inverse" | "expect_undo" => "a call of a function, and by name `rel` and `abs`",
        "expect_lobe" => "a closure output, the type of a lobe, and what is expected of it by name",
        "expect_lobes" => "a closure output, how many lobes it has, and a type of lobes if only those count",
        "expect_numeric_derivatives" => "a tolerance",
        "expect_zero_cost" => "nothing",
        other => return Err(unknown(format!("there is no expectation `{other}`"), statement, NAMES.into_iter())),
    };
    let positional = arguments.iter().filter(|a| a.name.is_none()).map(|a| &a.value).collect();
    let named: Vec<(&Ident, &Expr)> = arguments.iter().filter_map(|a| Some((a.name.as_ref()?, &a.value))).collect();
    for (i, (name, _)) in named.iter().enumerate() {
        if named[..i].iter().any(|(n, _)| n.text == name.text) {
            return Err(fault(
                &codes::TEST_ARGUMENTS,
                name.span,
                format!("`{}` is given twice", name.text),
                "keep one of the two",
            ));
        }
    }
    let mut arguments = Arguments { statement, takes, span, positional, named };
    let read = match statement.text.as_str() {
        "expect" if arguments.is_condition() => Expectation::Holds { condition: arguments.next()? },
        "expect" => Expectation::Value {
            what: arguments.next()?,
            wanted: arguments.next()?,
            tolerance: arguments.tolerance(true)?,
        },
        "expect_gradient" => Expectation::Gradient(arguments.gradient()?),
        "expect_integral_gradient" => Expectation::Gradient(arguments.integral_gradient()?),
        "expect_inverse" => Expectation::Inverse(Inverse {
            called: called(arguments.next()?)?,
            tolerance: arguments.tolerance_or(INVERSE)?,
        }),
        "expect_undo" => {
            Expectation::Undo(Undo { called: called(arguments.next()?)?, tolerance: arguments.tolerance_or(UNDO)? })
        }
        "expect_lobe" => Expectation::Lobe(arguments.lobe()?),
        "expect_lobes" => {
            let (output, count) = (arguments.next()?, arguments.next()?);
            let closure = arguments.positional.pop_front().map(closure_name).transpose()?;
            Expectation::Lobes { output, count: count_of(count)?, closure }
        }
        "expect_numeric_derivatives" => Expectation::Numeric { tolerance: not_negative(arguments.next()?)? },
        _ => Expectation::ZeroCost,
    };
    arguments.done()?;
    Ok(read)
}

impl<'a> Arguments<'a> {
    fn wrong(&self) -> Fault {
        let n = self.positional.len() + self.named.len();
        let message = format!("`{}` takes {}", self.statement.text, self.takes);
        let hint = if n == 0 { "give what is missing".to_owned() } else { format!("{n} arguments are too many here") };
        fault(&codes::TEST_ARGUMENTS, self.span, message, hint)
    }

    /// Whether there is one argument only, which holds or does not.
    fn is_condition(&self) -> bool {
        self.positional.len() == 1 && self.named.is_empty() && is_condition(self.positional[0])
    }

    fn next(&mut self) -> Result<&'a Expr, Fault> {
        match self.positional.pop_front() {
            Some(e) => Ok(e),
            None => {
                self.named.clear();
                Err(self.wrong())
            }
        }
    }

    fn take(&mut self, name: &str) -> Option<&'a Expr> {
        let at = self.named.iter().position(|(n, _)| n.text == name)?;
        Some(self.named.remove(at).1)
    }

    /// `abs` and `rel`, by name, or in this order.
    fn tolerance(&mut self, by_place: bool) -> Result<Tolerance, Fault> {
        let mut one = |name: &str| {
            let e = match self.take(name) {
                None if by_place => self.positional.pop_front(),
                e => e,
            };
            e.map_or(Ok(0.0), not_negative)
        };
        Ok(Tolerance { absolute: one("abs")?, relative: one("rel")? })
    }

    /// `abs` and `rel` by name, each with what it is unless it is given.
    fn tolerance_or(&mut self, usual: Tolerance) -> Result<Tolerance, Fault> {
        let mut one = |name: &str, usual: f64| self.take(name).map_or(Ok(usual), not_negative);
        Ok(Tolerance { absolute: one("abs", usual.absolute)?, relative: one("rel", usual.relative)? })
    }

    fn gradient(&mut self) -> Result<Gradient<'a>, Fault> {
        let called = called(self.next()?)?;
        let tolerance = self.tolerance_or(GRADIENT)?;
        let (wrt, cotangent) = (self.take("wrt"), self.take("cotangent"));
        let differs = match self.take("differs").map(|e| (&e.kind, e.span)) {
            None => false,
            Some((ExprKind::Bool(x), _)) => *x,
            Some((_, span)) => {
                let message = "`differs` is `true` or `false`";
                return Err(fault(&codes::TEST_VALUE, span, message, "write `differs = true`, or leave it out"));
            }
        };
        Ok(Gradient { called, wrt, cotangent, tolerance, integrals: None, more: false, differs })
    }

    fn integral_gradient(&mut self) -> Result<Gradient<'a>, Fault> {
        let called = called(self.next()?)?;
        let tolerance = self.tolerance_or(INTEGRAL)?;
        let given = self.take("samples").map(samples_of).transpose()?;
        let (integrals, more) = (Some(given.unwrap_or(INTEGRAL_SAMPLES)), given.is_none());
        let (wrt, cotangent) = (self.take("wrt"), self.take("cotangent"));
        Ok(Gradient { called, wrt, cotangent, tolerance, integrals, more, differs: false })
    }

    fn lobe(&mut self) -> Result<Lobe<'a>, Fault> {
        let (output, closure) = (self.next()?, closure_name(self.next()?)?);
        let tolerance = self.tolerance(false)?;
        let under = self.take("under").map(closure_name).transpose()?;
        let weight = self.take("weight");
        Ok(Lobe { output, closure, under, weight, parameters: std::mem::take(&mut self.named), tolerance })
    }

    /// Nothing may be left.
    fn done(&self) -> Result<(), Fault> {
        let statement = self.statement.text.as_str();
        let known: &[&str] = match statement {
            "expect" | "expect_inverse" | "expect_undo" => &["abs", "rel"],
            "expect_gradient" => &["wrt", "cotangent", "rel", "abs", "differs"],
            "expect_integral_gradient" => &["wrt", "cotangent", "samples", "rel", "abs"],
            _ => &[],
        };
        match self.named.first() {
            Some((name, _)) if !known.is_empty() => {
                Err(unknown(format!("`{statement}` takes no `{}`", name.text), name, known.iter().copied()))
            }
            Some(_) => Err(self.wrong()),
            None if self.positional.is_empty() => Ok(()),
            None => Err(self.wrong()),
        }
    }
}

/// `f(…)`, or `f` alone.
fn called(e: &Expr) -> Result<Called<'_>, Fault> {
    match &e.kind {
        ExprKind::Name(text) => Ok(Called { function: Ident { text: text.clone(), span: e.span }, arguments: &[] }),
        ExprKind::Call(name, arguments) => Ok(Called { function: name.clone(), arguments }),
        _ => {
            let hint = "write `f(uniform(0.1, 2.0))`, or `f` alone to have all inputs drawn";
            Err(fault(&codes::TEST_VALUE, e.span, "this is no call of a function", hint))
        }
    }
}

fn closure_name(e: &Expr) -> Result<Ident, Fault> {
    match &e.kind {
        ExprKind::Name(text) => Ok(Ident { text: text.clone(), span: e.span }),
        _ => Err(fault(&codes::TEST_VALUE, e.span, "this is no type of closures", "write a name, such as `Lambert`")),
    }
}

pub(super) fn one_number(e: &Expr) -> Result<f64, Fault> {
    match constant(e).as_deref() {
        Ok([x]) => Ok(*x),
        Ok(_) => Err(fault(&codes::TEST_VALUE, e.span, "one number belongs here", "write a single number")),
        Err(message) => Err(fault(&codes::TEST_VALUE, e.span, message.as_str(), "write a number")),
    }
}

fn not_negative(e: &Expr) -> Result<f64, Fault> {
    let x = one_number(e)?;
    if x >= 0.0 {
        return Ok(x);
    }
    let message = if x.is_nan() { "a tolerance must be a number" } else { "a tolerance cannot be negative" };
    Err(fault(&codes::TEST_VALUE, e.span, message, "it is how far the value may be off"))
}

fn samples_of(e: &Expr) -> Result<i32, Fault> {
    let x = one_number(e)?;
    if x >= f64::from(MIN_INTEGRAL_SAMPLES) && x.fract() == 0.0 && x <= f64::from(MAX_SAMPLES) {
        return Ok(x as i32);
    }
    let hint = format!("write a whole number, {MIN_INTEGRAL_SAMPLES} to {MAX_SAMPLES}");
    Err(fault(&codes::TEST_VALUE, e.span, "so many samples tell no difference", hint))
}

fn count_of(e: &Expr) -> Result<usize, Fault> {
    let x = one_number(e)?;
    if x >= 0.0 && x.fract() == 0.0 && x <= 64.0 {
        return Ok(x as usize);
    }
    Err(fault(&codes::TEST_VALUE, e.span, "this is no number of lobes", "write a whole number, 0 to 64"))
}
