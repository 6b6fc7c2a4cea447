//! What a failure shows: the inputs, and a test that fails again with just these.

use super::called::Input;
use super::inputs::Leaf;
use super::plan::{Gradient, Plan};
use super::point::Point;
use super::{GRADIENT, INTEGRAL, INTEGRAL_SAMPLES};
use crate::runtime::string_id;
use crate::syntax::ast::Expr;
use crate::testing::compare::Tolerance;
use crate::testing::reproduce::{Inputs, number, numbers};
use crate::testing::run::{Again, Run, Wrong};
use crate::types::Type;

/// A gradient that is wrong, with its inputs and a test that shows it again.
pub(super) fn again(run: &Run<'_, '_>, wrong: Wrong, plan: &Plan, point: &Point, asked: &Gradient<'_>) -> Wrong {
    let mut more = String::new();
    let mut cotangents = None;
    if let Some(wrt) = asked.wrt {
        more.push_str(&format!(", wrt = {}", text(run, wrt)));
    }
    if plan.results() > 1 || plan.cotangents.is_some() {
        let list: Vec<String> = point.cotangents.iter().copied().map(number).collect();
        cotangents = Some(format!("cotangent = {}", numbers(&point.cotangents)));
        more.push_str(&format!(", cotangent = {{{}}}", list.join(", ")));
    }
    let (expectation, usual) = match asked.integrals {
        None => ("expect_gradient", GRADIENT),
        Some(_) => ("expect_integral_gradient", INTEGRAL),
    };
    more.push_str(&tolerances(asked.tolerance, usual));
    if let Some(samples) = asked.integrals.filter(|n| *n != INTEGRAL_SAMPLES) {
        more.push_str(&format!(", samples = {samples}"));
    }
    if asked.differs {
        more.push_str(", differs = true");
    }
    let again = of_call(run, (expectation, &plan.function), (&plan.inputs, point), &more, cotangents);
    Wrong { again: Some(Box::new(again)), ..wrong }
}

/// The tolerances that are not the usual ones.
pub(super) fn tolerances(tolerance: Tolerance, usual: Tolerance) -> String {
    let one = |name: &str, x: f64, usual: f64| {
        if x == usual { String::new() } else { format!(", {name} = {}", number(x)) }
    };
    one("rel", tolerance.relative, usual.relative) + &one("abs", tolerance.absolute, usual.absolute)
}

/// The inputs of a call, and the test that expects the same of it again.
pub(super) fn of_call(
    run: &Run<'_, '_>,
    (expectation, function): (&str, &str),
    (inputs, point): (&[Input], &Point),
    more: &str,
    last: Option<String>,
) -> Again {
    let mut lines = Inputs { layout: run.layout, seeds: &run.seeds, given: &[] }.lines();
    let mut statements = lines.clone();
    let mut arguments = Vec::new();
    for (input, values) in inputs.iter().zip(&point.inputs) {
        let value = match input.texture {
            Some(pattern) => pattern.to_string(),
            None if input.goes_in() && input.ty != Type::Texture2d => {
                written(run, &input.ty, &mut input.leaves.iter().zip(values.iter().copied()))
            }
            None => continue,
        };
        arguments.push(format!("{} = {value}", input.name));
    }
    lines.extend(arguments.iter().cloned().chain(last));
    statements.push(format!("{expectation}({function}({}){more})", arguments.join(", ")));
    Again { inputs: lines, test: format!("test \"again\" {{ {}; }}", statements.join("; ")) }
}

fn text(run: &Run<'_, '_>, e: &Expr) -> String {
    let file = run.sources.get(e.span.file);
    file.text.get(e.span.start as usize..e.span.end as usize).unwrap_or_default().to_owned()
}

/// A value as a test writes it.
fn written(run: &Run<'_, '_>, ty: &Type, scalars: &mut dyn Iterator<Item = (&Leaf, f64)>) -> String {
    let program = &run.compiled.checked.program;
    let list = |members: Vec<String>| members.join(", ");
    match ty {
        Type::Struct(id) => {
            let fields = &program.types.get(*id).fields;
            format!("{{{}}}", list(fields.iter().map(|f| written(run, &f.ty, scalars)).collect()))
        }
        Type::Array(element, n) => {
            format!("{{{}}}", list((0..*n).map(|_| written(run, element, scalars)).collect()))
        }
        _ => {
            let parts = scalars.take(program.types.leaf_count(ty));
            let parts = list(parts.map(|(leaf, x)| scalar(&leaf.ty, x, &program.strings)).collect());
            match ty {
                Type::Vector(kind) => format!("{}({parts})", kind.name()),
                Type::Matrix => format!("matrix({parts})"),
                _ => parts,
            }
        }
    }
}

fn scalar(ty: &Type, x: f64, strings: &[String]) -> String {
    match ty {
        Type::Bool => (x != 0.0).to_string(),
        Type::String => {
            let known = strings.iter().find(|s| f64::from(string_id(s)) == x);
            format!("\"{}\"", known.map_or("", String::as_str))
        }
        _ => number(x),
    }
}
