//! What `shade fit` leaves behind and says once a fit has ended.

use super::folder::Folder;
use crate::outcome::{self, Outcome};
use kernels::jobs::{Fit, FitError, Point, codes};
use serde_json::{Value, json};
use ssl_compiler::diagnostics::{Code, Diagnostic};

/// How a fit went, beside what it holds itself.
pub struct Run {
    pub ended: Result<(), FitError>,
    /// Names of results in the folder.
    pub files: Vec<String>,
    /// The step of the last checkpoint.
    pub kept: Option<u64>,
    /// The step that it began with.
    pub first: u64,
    pub seconds: f64,
}

/// Keeps the state, and says how it went.
pub fn finish(fit: &Fit, run: Run, folder: &Folder, mut outcome: Outcome) -> Outcome {
    let is_whole = run.ended.is_ok();
    outcome.code = code_of(&run.ended);
    if let Some(diagnostic) = run.ended.as_ref().err().and_then(what_to_do) {
        outcome.diagnostics.push(diagnostic);
    }
    for sentence in fit.findings().sentences() {
        let hint = "look for divisions by 0 and for indices";
        outcome.diagnostics.push(Diagnostic::warning_without_place(&codes::NUMBERS, sentence, hint));
    }
    // The end has one more point of the loss than the checkpoint behind the last step.
    if (is_whole || run.kept != Some(fit.step()))
        && let Err(why) = folder.keep(fit).and_then(|()| folder.plot(fit))
    {
        outcome.code = outcome::ENVIRONMENT_FAILED;
        outcome.note.push_str(&format!("the checkpoint could not be kept: {why}\n"));
    }
    if outcome.code == outcome::INTERRUPTED {
        let shown = folder.path().display();
        outcome.note.push_str(&format!("kept in `{shown}`: the same command with `--resume` goes on from there\n"));
    }
    outcome.output = format!("{}: {}, {:.1} s\n", folder.path().display(), in_words(fit, &run), run.seconds);
    outcome.report = Some(Box::new(json!({"fit": report(fit, folder, &run)})));
    outcome
}

fn code_of(ended: &Result<(), FitError>) -> u8 {
    match ended {
        Ok(()) => outcome::FINE,
        Err(FitError::Cancelled) => outcome::INTERRUPTED,
        Err(FitError::Stopped(_)) => outcome::INPUT_AT_FAULT,
        Err(FitError::Memory(_) | FitError::Output(_)) => outcome::ENVIRONMENT_FAILED,
    }
}

/// What to do about an error; nothing about Ctrl-C.
fn what_to_do(error: &FitError) -> Option<Diagnostic> {
    let (code, why, hint): (&'static Code, _, _) = match error {
        FitError::Cancelled => return None,
        FitError::Stopped(why) => {
            (&codes::STOPPED, why, "the results of earlier steps are kept; look at the rates and at the kernel")
        }
        FitError::Memory(why) => (&codes::MEMORY, why, "fit less, or raise `--memory`"),
        FitError::Output(why) => (&codes::OUTPUT, why, "look at the folder and the disk; `-o` names another folder"),
    };
    Some(Diagnostic::without_place(code, why.clone(), hint))
}

/// What was done, and the last loss.
fn in_words(fit: &Fit, run: &Run) -> String {
    let (step, steps) = (fit.step(), fit.steps());
    let taken = if !fit.has_fit() && run.ended.is_ok() {
        format!("{} written", run.files.join(", "))
    } else if step == steps {
        format!("{step} steps")
    } else {
        format!("stopped at {step} of {steps} steps")
    };
    let loss = fit.history().last().map(|point| {
        let psnr = point.psnr.map_or(String::new(), |psnr| format!(", PSNR {psnr:.2} dB"));
        format!(", loss {:.6e}{psnr}", point.loss)
    });
    taken + &loss.unwrap_or_default()
}

fn report(fit: &Fit, folder: &Folder, run: &Run) -> Value {
    let Run { files, first, seconds, .. } = run;
    let point = |point: &Point| json!({"step": point.step, "loss": point.loss, "psnr": point.psnr});
    let taken = fit.step() - *first;
    let findings = fit.findings();
    json!({
        "folder": folder.path().display().to_string(),
        "steps": fit.step(),
        "resumed_from": first,
        "seconds": seconds,
        "ms_per_step": if taken > 0 { json!(1e3 * seconds / taken as f64) } else { Value::Null },
        "threads": rayon::current_num_threads(),
        "memory_bytes": fit.bytes(),
        "last": fit.history().last().map(point),
        "history": fit.history().iter().map(point).collect::<Vec<_>>(),
        "files": files,
        "clamped_indices": findings.clamped_indices,
        "non_finite_derivatives": findings.non_finite_derivatives,
        "left_out": findings.left_out,
        "not_fitted": findings.not_fitted,
    })
}
