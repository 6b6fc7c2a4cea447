//! `shade merge PART… -o FILE`: adds partial renders up to their picture.

use crate::denoise::{denoiser, refused};
use crate::outcome::{self, Outcome};
use crate::render::output::{DevelopArguments, ExrArguments, Format, Output};
use renderer::film::Aov;
use renderer::film::denoise::{DenoiseError, Denoiser};
use renderer::film::part::{self, Part};
use renderer::render::available_threads;
use renderer::scene::codes;
use ssl_compiler::diagnostics::Diagnostic;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Partial renders of one picture, in any order. No two of them may have the same samples
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// Where to write the picture. The extension chooses the format: `.png`, `.exr`, or `.part` for a larger partial render
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write a picture even if some samples are missing
    #[arg(long)]
    allow_missing: bool,
    /// Take the noise out of the picture, as `shade render --denoise` does. The parts need the layers albedo, normal and
    /// variance, which it adds to them
    #[arg(long, value_name = "DENOISER", num_args = 0..=1, require_equals = true, default_missing_value = "auto", value_parser = denoiser)]
    denoise: Option<Denoiser>,
    #[command(flatten)]
    develop: DevelopArguments,
    #[command(flatten)]
    exr: ExrArguments,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let output = match Output::check(arguments.output.clone(), &arguments.exr, None) {
        Ok(output) => Output { denoise: arguments.denoise.map(|d| (d, available_threads())), ..output },
        Err(refused) => return refused,
    };
    let exposed = arguments.develop.exposure.is_some() || output.is_linear();
    let merged = merge(&arguments.parts, exposed).and_then(|sum| complete(sum, arguments.allow_missing, &output));
    let sum = match merged {
        Ok(mut sum) => {
            sum.plan.exposure = arguments.develop.exposure.unwrap_or(sum.plan.exposure);
            sum
        }
        Err(wrong) => return Outcome::default().refuse((*wrong).into()),
    };
    let builtin = matches!(output.denoise, Some((Denoiser::Builtin, _))) && output.format != Format::Part;
    if builtin && !sum.plan.aovs.contains(&Aov::Variance) {
        return refused(&arguments.parts[0], &DenoiseError::NoVariance);
    }
    let denoised = match output.write(&sum) {
        Ok(denoised) => denoised,
        Err(e) => return Outcome { code: outcome::ENVIRONMENT_FAILED, note: format!("{e}\n"), ..Outcome::default() },
    };
    if let Some(why) = &denoised.failed {
        return refused(&arguments.parts[0], why);
    }
    let (window, samples) = (sum.plan.window, sum.ranges.iter().map(|r| r.end - r.start).sum::<u32>());
    let (path, width, height) = (output.path.display(), window.width(), window.height());
    let said = format!("{path}: {width}×{height}, {samples} of {} samples a pixel{}\n", sum.plan.samples, denoised.by);
    let remarks = [output.stays_linear(&arguments.develop), output.has_no_form(&arguments.exr), output.keeps_noise()];
    let note = output.left_out(&sum.plan) + &remarks.concat() + &denoised.note;
    Outcome { output: said, note, ..Outcome::default() }
}

fn read(path: &Path) -> Result<Part, Box<Diagnostic>> {
    let refused = |why: String| {
        let message = format!("`{}` cannot be merged: {why}", path.display());
        Diagnostic::without_place(&codes::PART, message, "name files that `shade render -o NAME.part` wrote")
    };
    let bytes = part::read(path).map_err(|e| refused(e.to_string()))?;
    let part = Part::decode(&bytes).map_err(|e| refused(e.to_string()))?;
    if part.unfinished.is_some() {
        let hint = "render it to its end with `--resume`";
        let message = format!("`{}` cannot be merged: it is the checkpoint of an unfinished render", path.display());
        return Err(Diagnostic::without_place(&codes::MISFIT, message, hint).into());
    }
    Ok(part)
}

/// The sum of all, one held at a time. Unless it is `exposed` otherwise, all must have the same exposure.
fn merge(paths: &[PathBuf], exposed: bool) -> Result<Part, Box<Diagnostic>> {
    let mut sum: Option<Part> = None;
    for path in paths {
        let part = read(path)?;
        let Some(sum) = &mut sum else {
            sum = Some(part);
            continue;
        };
        let refused = |why: String, hint: &str| {
            let before = paths[0].display();
            let message = format!("`{}` does not go with `{before}` and those after it: {why}", path.display());
            Diagnostic::without_place(&codes::MISFIT, message, hint)
        };
        let hint = "render all parts from the same files with the same options, each with samples of its own";
        sum.join(&part).map_err(|why| refused(why.to_string(), hint))?;
        let (wanted, its) = (sum.plan.exposure, part.plan.exposure);
        if !exposed && its != wanted {
            let hint = "say with `--exposure` which one the picture is to have";
            return Err(refused(format!("its exposure is {its}, not {wanted}"), hint).into());
        }
    }
    sum.ok_or_else(|| Diagnostic::without_place(&codes::PART, "there is nothing to merge", "name files").into())
}

/// Refuses pictures that lack samples unless they are wanted so; a partial render may.
fn complete(sum: Part, allowed: bool, output: &Output) -> Result<Part, Box<Diagnostic>> {
    let missing: Vec<String> = sum.missing().iter().map(|r| format!("{}..{}", r.start, r.end)).collect();
    if missing.is_empty() || allowed || output.format == Format::Part {
        return Ok(sum);
    }
    let message = format!("of {} samples a pixel, no part has {}", sum.plan.samples, missing.join(", "));
    let hint = "add the parts that are missing, or give `--allow-missing` for a picture of those that there are";
    Err(Diagnostic::without_place(&codes::INCOMPLETE, message, hint).into())
}
