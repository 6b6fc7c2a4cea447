//! `expect_inverse`: what `[Inverse(g)]` names must lead what a function gives back to the point that it took.

use super::appended::Behind;
use super::called::{Called, Input, resolve};
use super::point::{Point, Setting};
use super::{INVERSE, show, source};
use crate::diagnostics::codes;
use crate::sema::hir::Program;
use crate::source::Span;
use crate::testing::compare::Tolerance;
use crate::testing::expectation::{Fault, fault};
use crate::testing::reproduce::number;
use crate::testing::run::{Run, Sink, Stop, Wrong};

/// What `expect_inverse` says.
pub(in crate::testing) struct Inverse<'a> {
    pub called: Called<'a>,
    pub tolerance: Tolerance,
}

/// The same, made out.
pub(in crate::testing) struct InversePlan {
    /// As the test calls it.
    pub function: String,
    /// It takes what the function gives in place of the point.
    pub inverse: String,
    /// The point comes first.
    pub inputs: Vec<Input>,
}

/// Makes out what a test of an inverse says.
pub(in crate::testing) fn inverse_plan(program: &Program, inverse: &Inverse<'_>) -> Result<InversePlan, Fault> {
    let (f, inputs) = resolve(program, &inverse.called)?;
    let called = &inverse.called.function;
    let Some(g) = f.attributes.inverse else {
        let message = format!("nothing inverts `{}`", f.name);
        let hint = "write `[Inverse(g)]` before the function, where `g` gives the point back";
        let d = fault(&codes::TEST_VALUE, called.span, message, hint);
        return Err(Box::new(d.with_label(f.span, "declared here")));
    };
    // It stands where the function stands, so it is called by the same name of an import.
    let import = called.text.rfind("::").map_or("", |at| &called.text[..at + 2]);
    let inverse = format!("{import}{}", program.function(g).name);
    Ok(InversePlan { function: called.text.clone(), inverse, inputs })
}

impl Run<'_, '_> {
    pub(in crate::testing) fn inverse(&mut self, asked: &Inverse<'_>, span: Span) -> Result<(), Stop> {
        let checked = self.compiled.checked;
        let plan = inverse_plan(&checked.program, asked).map_err(Wrong::from)?;
        let file = self.sources.get(self.compiled.file);
        let (text, name, names) = source::of_inverse(&checked.program.types, &plan, &file.text);
        let behind = Behind { text: &text, samples: None };
        let shader = self.compiled.native(behind, &name, file, self.backend).map_err(|unmade| unmade.wrong(span))?;
        let point = Point::draw(self, &plan.inputs);
        let rows = Setting::new(self, &plan.inputs, &names).native(&shader, &point, span)?;
        let input = &plan.inputs[0];
        let (mapped, back) = rows.split_at(input.leaves.len());
        // Where the function is not defined, there is nothing to give back.
        if mapped.iter().any(|row| !row.0[0].is_finite()) {
            let message = format!("`{}` gives no number in any sample", plan.function);
            self.attempt.vacuous.push((span, message));
            return Ok(());
        }
        self.attempt.met.push(span);
        let size = point.inputs[0].iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let allowed = asked.tolerance.absolute.max(asked.tolerance.relative * size);
        for (i, leaf) in input.leaves.iter().enumerate() {
            let (before, found) = (point.inputs[0][i], f64::from(back[i].0[0]));
            let off = (found - before).abs();
            if off.is_nan() || off > allowed {
                let values: Vec<String> = mapped.iter().map(|row| number(f64::from(row.0[0]))).collect();
                let message = format!(
                    "`{}` gives {}{} = {} back from {}, but `{}` took {} to it (tolerance {allowed:.1e})",
                    plan.inverse,
                    input.name,
                    leaf.path,
                    number(found),
                    values.join(", "),
                    plan.function,
                    number(before)
                );
                let more = show::tolerances(asked.tolerance, INVERSE);
                let inputs = (plan.inputs.as_slice(), &point);
                let again = show::of_call(self, ("expect_inverse", &plan.function), inputs, &more, None);
                let values = Some((before.to_string(), found.to_string()));
                let off = off / before.abs().max(found.abs());
                let sink = Some(Box::new(Sink { place: input.span, direction: "inverse", off, tolerance: 0.0 }));
                let wrong = Wrong { values, sink, again: Some(Box::new(again)), ..Wrong::new(span, message) };
                return Err(wrong.into());
            }
        }
        Ok(())
    }
}
