//! `shade render SCENE`: a scene file to a picture.

mod arguments;
mod checkpoint;
mod command;
mod follow;
mod gradient;
pub mod output;
mod said;
mod tev;

pub use arguments::Arguments;

use crate::interrupt;
use crate::json;
use crate::kinds::Kind;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use checkpoint::{Checkpoint, refuse};
use output::{Denoised, Format, Output};
use renderer::film::part::{Part, Plan};
use renderer::film::{self, Film};
use renderer::render::{Checkpoints, Control, Ending, Preview, RenderError, RenderOptions, RenderOutput, render_with};
use renderer::scene::{self, LoadOptions, Loaded, Scene, TextureSetup, codes};
use ssl_compiler::diagnostics::Diagnostic;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tev::Tev;

pub fn run(arguments: &Arguments) -> Outcome {
    let cancel = Arc::new(AtomicBool::new(false));
    if let Some(pixel) = arguments.pixel {
        return match open(arguments, &cancel) {
            Ok((mut scene, _, mut outcome)) => {
                follow::run(arguments, &mut scene, pixel, &mut outcome);
                outcome
            }
            Err(refused) => refused,
        };
    }
    // What would only be found out after the render is looked at before.
    let output = match Output::check(arguments.output_path(), &arguments.exr, arguments.stats.as_deref()) {
        Ok(output) => Output { denoise: arguments.denoise(), ..output },
        Err(refused) => return refused,
    };
    let (mut scene, incomplete, mut outcome) = match open(arguments, &cancel) {
        Ok(opened) => opened,
        Err(refused) => return refused,
    };
    if let Some(pattern) = &arguments.gradient {
        gradient::run(arguments, (scene, pattern), &output, &cancel, &mut outcome);
        if incomplete && outcome.code == outcome::FINE {
            outcome.code = outcome::SOMETHING_MISSING;
        }
        arguments.warnings.apply_to(&mut outcome);
        return outcome;
    }
    let checkpoint = Checkpoint::of(&output.path, arguments.checkpoint_every, arguments.keep_checkpoint);
    match begin(arguments, &scene, (&output, &checkpoint), &mut outcome) {
        Ok((options, from)) => {
            let files = (&output, &checkpoint, arguments.stats.as_deref());
            let frame = options.size.unwrap_or((scene.film.width, scene.film.height));
            let tev = arguments.tev.as_ref().map(|address| Tev::new(address, &output.path, frame));
            let progress = Progress::new("rendering", arguments.progress);
            make((&mut scene, incomplete, &progress), (&options, from), files, (&cancel, tev.as_ref()), &mut outcome);
        }
        Err(wrong) => refuse(&mut outcome, *wrong),
    }
    arguments.warnings.apply_to(&mut outcome);
    outcome
}

/// The scene, whether something is missing from it, and what there is to say of it; or why there is none. From now on
/// Ctrl-C sets `cancel`.
fn open(arguments: &Arguments, cancel: &Arc<AtomicBool>) -> Result<(Scene, bool, Outcome), Outcome> {
    let unheard = interrupt::sets(cancel).err();
    let (loaded, note) = load(arguments, cancel);
    let (diagnostics, sources) = (loaded.diagnostics, loaded.sources);
    let mut outcome = Outcome { diagnostics, sources, note, ..Outcome::default() };
    if cancel.load(Ordering::Relaxed) {
        let note = "stopped before the first sample; textures that were converted are kept\n".to_owned();
        return Err(Outcome { code: outcome::INTERRUPTED, note, ..Outcome::default() });
    }
    arguments.warnings.apply_to(&mut outcome);
    let Some(scene) = loaded.scene.filter(|_| outcome.code == outcome::FINE) else {
        Kind::Scene.tell_if_other(&arguments.scene, &codes::UNREADABLE, &mut outcome);
        outcome.code = if loaded.machine_failed { outcome::ENVIRONMENT_FAILED } else { outcome::INPUT_AT_FAULT };
        return Err(outcome);
    };
    if let Some(e) = unheard {
        outcome.note += &format!("Ctrl-C will end the render without keeping it: {e}\n");
    }
    Ok((scene, loaded.incomplete, outcome))
}

/// Reads the scene, and converts its images where that was not done before. Beside it stands what there is to say of
/// the folder that keeps code.
fn load(arguments: &Arguments, cancel: &Arc<AtomicBool>) -> (Loaded, String) {
    let (bar, cancel) = (Arc::new(Progress::new("converting textures", arguments.progress)), cancel.clone());
    let shown = bar.clone();
    let progress = Arc::new(move |share| {
        shown.set(share);
        !cancel.load(Ordering::Relaxed)
    });
    let textures = TextureSetup { cache: arguments.cache(), progress, ..TextureSetup::default() };
    let (cache, note) = arguments.code_cache.open();
    let loaded = scene::load(
        &arguments.scene,
        LoadOptions {
            making: arguments.making(cache),
            textures,
            structure: arguments.accel,
            set: arguments.set.list(),
            ..LoadOptions::default()
        },
        &arguments.includes.search(),
    );
    bar.finish();
    (loaded, note)
}

/// What is to be rendered, and what an earlier render left to go on from, if anything.
fn begin(
    arguments: &Arguments,
    scene: &Scene,
    (output, checkpoint): (&Output, &Checkpoint),
    outcome: &mut Outcome,
) -> Result<(RenderOptions, Option<Part>), Box<Diagnostic>> {
    let hint = "a crop lies within the picture; a range of samples, and the least number of them, within those of the scene or \
                of `--spp`";
    let wrong = |why| Diagnostic::without_place(&codes::BAD_NUMBER, why, hint);
    let options = arguments.options(scene)?;
    let plan: Plan = options.plan(scene).map_err(wrong)?;
    outcome.note.push_str(&output.left_out(&plan));
    outcome.note.push_str(output.stays_linear(&arguments.develop));
    outcome.note.push_str(output.has_no_form(&arguments.exr));
    outcome.note.push_str(output.keeps_noise());
    if arguments.develop.exposure.is_some() && arguments.view.is_some() {
        outcome.note.push_str("`--exposure` changes nothing of a view, which is shown as it is\n");
    }
    let from = if arguments.resume { checkpoint.read(&plan, output, outcome)? } else { None };
    Ok((options, from))
}

/// Renders, and keeps what comes of it.
fn make(
    (scene, incomplete, progress): (&mut Scene, bool, &Progress),
    (options, from): (&RenderOptions, Option<Part>),
    (output, checkpoint, stats): (&Output, &Checkpoint, Option<&Path>),
    (cancel, tev): (&AtomicBool, Option<&Tev>),
    outcome: &mut Outcome,
) {
    let keep = |part: &Part| {
        checkpoint.keep(part);
    };
    let checkpoints = checkpoint.every.map(|every| Checkpoints { every, keep: &keep });
    let show = |film: &Film| {
        if let Some(tev) = tev {
            tev.show(film);
        }
    };
    let preview = tev.map(|_| Preview { every: tev::EVERY, show: &show });
    let control = Control { cancel, progress: &|done| progress.set(done), from, checkpoints, preview };
    let result = render_with(scene, options, control);
    progress.finish();
    match result {
        Ok(rendered) => finish(rendered, incomplete, (output, checkpoint), stats, outcome),
        Err(RenderError::Machine(why)) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("{why}\n"));
        }
        Err(e @ (RenderError::Options(_) | RenderError::Misfit(_))) => {
            let hint = "leave out `--resume` to begin anew";
            refuse(outcome, Diagnostic::without_place(&codes::MISFIT, e.to_string(), hint));
        }
    }
    checkpoint.report(outcome);
    if let Some(tev) = tev {
        tev.report(outcome);
    }
}

/// Writes the picture and the statistics, and says how it went.
fn finish(
    mut rendered: RenderOutput,
    incomplete: bool,
    (output, checkpoint): (&Output, &Checkpoint),
    stats: Option<&Path>,
    outcome: &mut Outcome,
) {
    outcome.diagnostics.extend(std::mem::take(&mut rendered.diagnostics));
    let incomplete = incomplete || rendered.incomplete;
    let complete = rendered.ending == Ending::Complete;
    outcome.code = match rendered.ending {
        Ending::Cancelled => outcome::INTERRUPTED,
        Ending::OutOfTime => outcome::SOMETHING_MISSING,
        Ending::Complete if incomplete => outcome::SOMETHING_MISSING,
        Ending::Complete => outcome::FINE,
    };
    // Others would take a part for whole, and a picture without samples for black.
    let writes = complete || (output.format != Format::Part && rendered.part.mean_samples() > 0.0);
    if rendered.ending == Ending::OutOfTime {
        let (there, wanted) = (rendered.part.mean_samples(), rendered.statistics.samples_per_pixel);
        let picture = if writes { "the picture is noisier" } else { "nothing was written" };
        outcome.note.push_str(&format!(
            "the time limit was reached: {there:.1} of {wanted} samples a pixel were taken, so {picture}\n"
        ));
    }
    if rendered.ending == Ending::Cancelled && rendered.part.mean_samples() == 0.0 {
        outcome.note.push_str("stopped before the first sample: nothing was written\n");
    }
    let written = if writes { output.write(&rendered.part) } else { Ok(Denoised::default()) };
    let statistics = serde_json::to_value(&rendered.statistics).map(json::text);
    let counted = match (stats, statistics) {
        (Some(file), Ok(json)) => film::write_whole(file, json.as_bytes()),
        _ => Ok(()),
    };
    if complete && written.is_ok() {
        checkpoint.done_with(&rendered.part, outcome);
    } else if rendered.part.mean_samples() > 0.0 {
        // One without samples would only take the place of an earlier one.
        checkpoint.keep_last(&rendered.part, outcome);
    }
    let denoised = written.as_ref().map_or_else(
        |_| String::new(),
        |denoised| {
            outcome.note.push_str(&denoised.note);
            if let Some(why) = &denoised.failed {
                outcome.code = if outcome.code == outcome::FINE { outcome::SOMETHING_MISSING } else { outcome.code };
                outcome.note.push_str(&format!("{why}; it was written with its noise\n"));
            }
            denoised.by.clone()
        },
    );
    for e in [written.err(), counted.err()].into_iter().flatten() {
        outcome.code = outcome::ENVIRONMENT_FAILED;
        outcome.note.push_str(&format!("{e}\n"));
    }
    if outcome.code != outcome::ENVIRONMENT_FAILED {
        outcome.output = said::said(&rendered.messages, rendered.said);
        outcome.output += &summary(&rendered, output, writes, &denoised);
    }
}

/// A line on the render and its file, if `written`, and how it was `denoised`.
fn summary(rendered: &RenderOutput, output: &Output, written: bool, denoised: &str) -> String {
    let (s, there) = (&rendered.statistics, rendered.part.mean_samples());
    let share = match rendered.ending {
        Ending::Complete if rendered.part.plan.adaptive.is_some() => {
            format!("{there:.1} of {} samples a pixel", s.samples_per_pixel)
        }
        Ending::Complete => format!("{} samples a pixel", s.samples_per_pixel),
        Ending::Cancelled | Ending::OutOfTime => {
            format!("stopped at {there:.1} of {} samples a pixel", s.samples_per_pixel)
        }
    };
    if written {
        return format!("{}: {}×{}, {share}, {:.1} s{denoised}\n", output.path.display(), s.width, s.height, s.seconds);
    }
    let what = if output.format == Format::Part { "partial render" } else { "picture" };
    format!("no {what} was written: {share}, {:.1} s\n", s.seconds)
}
