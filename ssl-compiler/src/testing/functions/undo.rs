//! `expect_undo`: a step, then what `[Undo(g)]` names to take it back, must give the state that there was, or say `false`.

use super::appended::Behind;
use super::called::{Called, Input, resolve};
use super::point::{Point, Setting};
use super::{UNDO, show, source};
use crate::diagnostics::codes;
use crate::runtime::Row;
use crate::sema::hir::Program;
use crate::source::Span;
use crate::testing::compare::Tolerance;
use crate::testing::expectation::{Fault, fault};
use crate::testing::reproduce::number;
use crate::testing::run::{Run, Sink, Stop, Wrong};
use crate::types::Type;

/// What `expect_undo` says.
pub(in crate::testing) struct Undo<'a> {
    pub called: Called<'a>,
    pub tolerance: Tolerance,
}

/// The same, made out.
pub(in crate::testing) struct UndoPlan {
    /// As the test calls it.
    pub function: String,
    /// What takes a step back; it takes the same.
    pub undo: String,
    /// The state comes first.
    pub inputs: Vec<Input>,
}

/// Makes out what a test of a step says.
pub(in crate::testing) fn undo_plan(program: &Program, undo: &Undo<'_>) -> Result<UndoPlan, Fault> {
    let (f, inputs) = resolve(program, &undo.called)?;
    let called = &undo.called.function;
    let Some(g) = f.attributes.undo else {
        let message = format!("nothing takes back what `{}` does", f.name);
        let hint = "write `[Undo(g)]` before the function, where `g` takes a step back";
        let d = fault(&codes::TEST_VALUE, called.span, message, hint);
        return Err(Box::new(d.with_label(f.span, "declared here")));
    };
    // It stands where the function stands, so it is called by the same name of an import.
    let import = called.text.rfind("::").map_or("", |at| &called.text[..at + 2]);
    let undo = format!("{import}{}", program.function(g).name);
    Ok(UndoPlan { function: called.text.clone(), undo, inputs })
}

impl Run<'_, '_> {
    pub(in crate::testing) fn undo(&mut self, asked: &Undo<'_>, span: Span) -> Result<(), Stop> {
        let checked = self.compiled.checked;
        let plan = undo_plan(&checked.program, asked).map_err(Wrong::from)?;
        let file = self.sources.get(self.compiled.file);
        let (text, name, names) = source::of_undo(&checked.program.types, &plan, &file.text);
        let shader = self
            .compiled
            .native(Behind { text: &text, samples: None }, &name, file, self.backend)
            .map_err(|unmade| unmade.wrong(span))?;
        let point = Point::draw(self, &plan.inputs);
        let rows = Setting::new(self, &plan.inputs, &names).native(&shader, &point, span)?;
        let state = &plan.inputs[0];
        let (stepped, rest) = rows.split_at(state.leaves.len());
        let (undone, could) = rest.split_at(state.leaves.len());
        if could.first().is_none_or(|row| row.int(0) == 0) {
            let message = format!("`{}` could not take back a step in any sample", plan.undo);
            self.attempt.vacuous.push((span, message));
            return Ok(());
        }
        self.attempt.met.push(span);
        for (i, leaf) in state.leaves.iter().enumerate() {
            let value = |row: &Row| match leaf.ty {
                Type::Float => f64::from(row.0[0]),
                _ => f64::from(row.int(0)),
            };
            let (before, behind, found) = (point.inputs[0][i], value(&stepped[i]), value(&undone[i]));
            let allowed = match leaf.ty {
                Type::Float => asked.tolerance.absolute.max(asked.tolerance.relative * before.abs().max(behind.abs())),
                _ => 0.0,
            };
            let off = (found - before).abs();
            // A step that left the numbers is for `g` to refuse.
            if off.is_nan() || off > allowed {
                let (what, numbers) = (format!("{}{}", state.name, leaf.path), [before, behind, found].map(number));
                let message = format!(
                    "`{}` gives {what} = {} back, which was {} before `{}` and {} behind it (tolerance {allowed:.1e})",
                    plan.undo, numbers[2], numbers[0], plan.function, numbers[1]
                );
                let more = show::tolerances(asked.tolerance, UNDO);
                let inputs = (plan.inputs.as_slice(), &point);
                let again = show::of_call(self, ("expect_undo", &plan.function), inputs, &more, None);
                let values = Some((before.to_string(), found.to_string()));
                let off = off / before.abs().max(found.abs());
                let sink = Some(Box::new(Sink { place: state.span, direction: "undo", off, tolerance: 0.0 }));
                let wrong = Wrong { values, sink, again: Some(Box::new(again)), ..Wrong::new(span, message) };
                return Err(wrong.into());
            }
        }
        Ok(())
    }
}
