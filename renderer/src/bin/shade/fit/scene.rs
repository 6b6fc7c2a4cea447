//! `shade fit SCENE --job JOB`: fits a scene to pictures, and `--list`, which tells what of it can be fitted.

use super::folder::Folder;
use super::{Arguments, STACK_BYTES, failed, memory};
use crate::interrupt;
use crate::kinds::Kind;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use kernels::jobs::{Point, codes, plots};
use renderer::film::{ImageFormat, Picture, ToneCurve, write};
use renderer::inverse::job::{self, Fit, FitError, Job, Watch};
use renderer::inverse::{Differentiated, NotDifferentiable, Parameter, choose, list, not_chosen};
use renderer::material::Making;
use renderer::math::figures::number;
use renderer::scene::{self, LoadOptions, Scene, Setting};
use serde_json::{Value, json};
use ssl_compiler::diagnostics::Diagnostic;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub fn run(arguments: &Arguments, path: &Path) -> Outcome {
    let (cache, note) = arguments.code_cache.open();
    let making = Making { cache, differentiable: true, ..Making::from(arguments.target.target()) };
    let options = LoadOptions { making, set: arguments.settings.clone(), ..LoadOptions::default() };
    let loaded = scene::load(path, options, &arguments.includes.search());
    let (diagnostics, sources) = (loaded.diagnostics, loaded.sources);
    let mut outcome = Outcome { diagnostics, sources, note, ..Outcome::default() };
    arguments.warnings.apply_to(&mut outcome);
    let Some(scene) = loaded.scene.filter(|_| outcome.code == outcome::FINE) else {
        Kind::Scene.tell_if_other(path, &scene::codes::UNREADABLE, &mut outcome);
        outcome.code = if loaded.machine_failed { outcome::ENVIRONMENT_FAILED } else { outcome::INPUT_AT_FAULT };
        return outcome;
    };
    if loaded.incomplete && arguments.list.is_none() {
        let message = "files of the scene are missing, and a fit would take for given what stands in their place";
        let missing = Diagnostic::without_place(&codes::BAD_DATA, message, "bring back what the warnings name");
        return failed(outcome, outcome::INPUT_AT_FAULT, missing);
    }
    match (&arguments.list, &arguments.scene_job) {
        (Some(pattern), _) => listed(scene, pattern, outcome),
        (None, Some(file)) => fit(arguments, (path, file), scene, outcome),
        (None, None) => outcome.usage("write `--job FILE` or `--list`"),
    }
}

/// The parameters of a scene, each with its values.
fn listed(scene: Scene, pattern: &str, mut outcome: Outcome) -> Outcome {
    let all = list(&scene);
    let chosen = match pattern {
        "" => Ok(all),
        pattern => choose(&all, pattern),
    };
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(hint) => {
            let (message, hint) = not_chosen(&scene, pattern, hint);
            let unknown = Diagnostic::without_place(&codes::UNKNOWN_NAME, message, hint);
            return failed(outcome, outcome::INPUT_AT_FAULT, unknown);
        }
    };
    let values = renderer::inverse::values(&scene, &chosen);
    let (mut text, mut rows) = (String::new(), Vec::new());
    for (parameter, values) in chosen.iter().zip(values) {
        // Writing to a text does not fail.
        let (name, components) = (&parameter.name, parameter.components);
        if let Some([width, height]) = parameter.size {
            let _ = writeln!(text, "{name}: {width}×{height} texels of {components}");
            rows.push(json!({"name": name, "size": [width, height], "channels": components}));
        } else if parameter.is_field() {
            let vertices = parameter.len / components;
            let _ = writeln!(text, "{name}: {vertices} vertices of {components}");
            rows.push(json!({"name": name, "vertices": vertices, "components": components}));
        } else {
            let values: Value = values.into_iter().map(number).collect();
            let _ = writeln!(text, "{name} = {values}");
            rows.push(json!({"name": name, "value": values}));
        }
    }
    outcome.output = text;
    outcome.report = Some(Box::new(json!({"parameters": rows})));
    outcome
}

fn fit(arguments: &Arguments, (path, file): (&Path, &Path), scene: Scene, mut outcome: Outcome) -> Outcome {
    let cancel = Arc::new(AtomicBool::new(false));
    if let Err(e) = interrupt::sets(&cancel) {
        outcome.note.push_str(&format!("note: Ctrl-C ends the fit without a checkpoint: {e}\n"));
    }
    let loaded = job::load(file, &arguments.numbers(), &scene);
    let (found, sources) = (loaded.diagnostics, loaded.sources);
    let Some(job) = loaded.job.filter(|_| !found.has_errors()) else {
        outcome.code = outcome::INPUT_AT_FAULT;
        (outcome.diagnostics, outcome.sources) = (found, sources);
        Kind::SceneJob.tell_if_other(file, &codes::UNREADABLE, &mut outcome);
        return outcome;
    };
    let progress = Progress::new("fitting", arguments.progress);
    if let Some(refused) = too_large(arguments, job.bytes(&scene), &progress) {
        return failed(outcome, outcome::ENVIRONMENT_FAILED, refused);
    }
    let begin = Instant::now();
    let mut differentiated = match job::differentiated(scene, &job) {
        Ok(differentiated) => differentiated,
        Err(NotDifferentiable::Shader(e)) => {
            outcome.code = outcome::INPUT_AT_FAULT;
            (outcome.sources, outcome.diagnostics) = (e.sources, e.diagnostics);
            return outcome;
        }
        Err(NotDifferentiable::Memory(e)) => {
            let message = format!("the gradients by the texels do not fit: {e}");
            let memory = Diagnostic::without_place(&codes::STOPPED, message, "fit smaller or fewer textures");
            return failed(outcome, outcome::ENVIRONMENT_FAILED, memory);
        }
    };
    tell_limits(&differentiated, &mut outcome);
    if let Err(why) = differentiated.begin(&job) {
        let stopped = Diagnostic::without_place(&codes::STOPPED, why, "look at what the fit begins with");
        return failed(outcome, outcome::ENVIRONMENT_FAILED, stopped);
    }
    let name = || PathBuf::from(format!("{}-fit", file.file_stem().unwrap_or("job".as_ref()).to_string_lossy()));
    let opened = Folder::open(arguments.output.clone().unwrap_or_else(name))
        .and_then(|folder| folder.check(file_names(&differentiated, &job)).map(|()| folder));
    let folder = match opened {
        Ok(folder) => folder,
        Err(why) => {
            let output = Diagnostic::without_place(&codes::OUTPUT, why, "`-o` names another folder");
            return failed(outcome, outcome::ENVIRONMENT_FAILED, output);
        }
    };
    let threads = arguments.threads.map_or_else(renderer::render::available_threads, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    match pool {
        Ok(pool) => pool.install(|| {
            let fit = Fit::new(job, differentiated, threads);
            match fit {
                Ok(fit) => go(arguments, path, fit, &folder, (&cancel, begin, &progress), outcome),
                Err(e) => {
                    let message = format!("the fit cannot begin: {e}");
                    let hint = "look at the rates and the bounds under `[[fit]]`";
                    failed(outcome, outcome::INPUT_AT_FAULT, Diagnostic::without_place(&codes::CONFLICT, message, hint))
                }
            }
        }),
        Err(e) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("threads could not be started: {e}\n"));
            outcome
        }
    }
}

/// Says how much memory a fit takes, and refuses it if that is more than it may.
fn too_large(arguments: &Arguments, needed: usize, progress: &Progress) -> Option<Diagnostic> {
    progress.tell(&format!("memory: {} beside the scene", memory::megabytes(needed)));
    let limit = arguments.memory_limit().filter(|limit| needed > *limit)?;
    let (needed, limit) = (memory::megabytes(needed), memory::megabytes(limit));
    let message = format!("the fit needs {needed} beside the scene, and it may take {limit}");
    Some(Diagnostic::without_place(
        &codes::MEMORY,
        message,
        "fit smaller textures to smaller pictures, or raise `--memory`",
    ))
}

/// Notes what the gradients leave out.
fn tell_limits(scene: &Differentiated, outcome: &mut Outcome) {
    for (closure, materials) in scene.without_adjoint() {
        let of = match &materials[..] {
            [one] => format!("the material {one}"),
            [first, ..] => format!("{first} and {} more materials", materials.len() - 1),
            [] => continue,
        };
        let note = format!("note: but for its weight, the parameters of `{closure}` in {of} count as constants\n");
        outcome.note.push_str(&note);
    }
}

/// Shows progress, and keeps results and checkpoints.
struct Watcher<'a> {
    folder: &'a Folder,
    progress: &'a Progress,
    every: Duration,
    last: Instant,
    steps: u64,
    files: Vec<String>,
}

impl Watch for Watcher<'_> {
    fn measured(&mut self, point: &Point) {
        let psnr = point.psnr.map_or(String::new(), |psnr| format!(", PSNR {psnr:.2} dB"));
        self.progress.say(&format!("step {}, loss {:.4e}{psnr}", point.step, point.loss));
    }

    fn stepped(&mut self, fit: &mut Fit) -> Result<(), FitError> {
        self.progress.set(fit.step() as f32 / self.steps.max(1) as f32);
        if self.last.elapsed() >= self.every {
            keep(fit, self.folder).map_err(FitError::Output)?;
            self.last = Instant::now();
        }
        Ok(())
    }

    fn seen(&mut self, step: u64, view: usize, picture: &Picture, developed: (f32, ToneCurve)) -> Result<(), FitError> {
        let name = view_name(view, step);
        let written = write(picture, &self.folder.path().join(&name), ImageFormat::Png, developed, None);
        written.map_err(|e| FitError::Output(e.to_string()))?;
        self.files.push(name);
        Ok(())
    }
}

fn view_name(view: usize, step: u64) -> String {
    format!("view-{view}-step-{step}.png")
}

/// The files that a fit leaves in its folder when it has taken all steps.
fn file_names(scene: &Differentiated, job: &Job) -> Vec<String> {
    let plain = ["scene.json".to_owned()].into_iter().chain(plots(&[]).into_iter().map(|(name, _)| name.to_owned()));
    let views = (0..job.views()).map(|view| view_name(view, job.steps()));
    plain.chain(views).chain(job::file_names(scene)).collect()
}

/// The checkpoint, and the loss so far.
fn keep(fit: &mut Fit, folder: &Folder) -> Result<(), String> {
    folder.keep_bytes(&fit.save().map_err(|e| e.to_string())?)?;
    plots(fit.history()).iter().try_for_each(|(name, text)| folder.write(name, text.as_bytes()))
}

/// Runs a fit, and keeps what it came to.
fn go(
    arguments: &Arguments,
    scene: &Path,
    mut fit: Fit,
    folder: &Folder,
    (cancel, begin, progress): (&AtomicBool, Instant, &Progress),
    mut outcome: Outcome,
) -> Outcome {
    let shown = folder.path().display().to_string();
    if arguments.resume {
        let loaded = match folder.checkpoint() {
            Ok(Some(bytes)) => fit.load(&bytes),
            Ok(None) => {
                outcome.note.push_str(&format!("there is no checkpoint in `{shown}`: the fit began anew\n"));
                Ok(())
            }
            Err(e) => Err(e.to_string()),
        };
        if let Err(why) = loaded {
            let message = format!("the checkpoint in `{shown}` cannot be used: {why}");
            let hint = "leave out `--resume` to begin anew, or name another folder by `-o`";
            let unusable = Diagnostic::without_place(&codes::CHECKPOINT, message, hint);
            return failed(outcome, outcome::INPUT_AT_FAULT, unusable);
        }
    }
    let first = fit.step();
    let mut watch = Watcher {
        folder,
        progress,
        every: arguments.checkpoint_every,
        last: Instant::now(),
        steps: fit.steps(),
        files: Vec::new(),
    };
    let ended = fit.run(cancel, &mut watch);
    if ended.is_ok() {
        let doubts = fit.review(cancel);
        doubts.iter().for_each(|doubt| outcome.diagnostics.push(kernels::jobs::review::warning(doubt)));
    }
    progress.finish();
    let files = watch.files;
    let mut tell = |code, message: String, hint: &str| {
        outcome.diagnostics.push(Diagnostic::without_place(code, message, hint));
    };
    outcome.code = match ended {
        Ok(()) => outcome::FINE,
        Err(FitError::Cancelled) => outcome::INTERRUPTED,
        Err(FitError::Output(why)) => {
            tell(&codes::OUTPUT, why, "look at the folder and the disk; `-o` names another folder");
            outcome::ENVIRONMENT_FAILED
        }
        Err(e) => {
            tell(&codes::STOPPED, e.to_string(), "the results of earlier steps are kept");
            outcome::INPUT_AT_FAULT
        }
    };
    fit.findings().iter().for_each(|found| outcome.diagnostics.push(found.clone()));
    if fit.left_out() > 0 {
        let message = format!("{} terms of gradients were no numbers and were left out", fit.left_out());
        let hint = "look for divisions by 0 in the shaders";
        outcome.diagnostics.push(Diagnostic::warning_without_place(&codes::NUMBERS, message, hint));
    }
    let written = keep(&mut fit, folder).and_then(|()| write_scene((scene, &arguments.settings), &fit.scene, folder));
    if let Err(why) = written {
        outcome.code = outcome.code.max(outcome::ENVIRONMENT_FAILED);
        outcome.note.push_str(&format!("the result could not be kept: {why}\n"));
    }
    if outcome.code == outcome::INTERRUPTED {
        outcome.note.push_str(&format!("kept in `{shown}`: the same command with `--resume` goes on from there\n"));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (step, steps, last) = (fit.step(), fit.steps(), fit.history().last().copied());
    let taken = if step == steps { format!("{step} steps") } else { format!("stopped at {step} of {steps} steps") };
    let loss = last.map_or(String::new(), |point| format!(", loss {:.6e} before the last", point.loss));
    outcome.output = format!("{shown}: {taken}{loss}, {seconds:.1} s\n");
    let values = renderer::inverse::values(&fit.scene.scene, fit.scene.parameters());
    let fitted = fit.scene.parameters().iter().zip(values);
    let told = |(p, values): (&Parameter, Vec<f32>)| match p.size {
        Some(size) => json!({"name": p.name, "size": size}),
        None if p.is_field() => json!({"name": p.name, "vertices": p.len / p.components}),
        None => json!({"name": p.name, "value": values.into_iter().map(number).collect::<Value>()}),
    };
    let parameters: Value = fitted.map(told).collect();
    outcome.report = Some(Box::new(json!({"fit": {
        "folder": shown,
        "steps": step,
        "resumed_from": first,
        "seconds": seconds,
        "ms_per_step": if step > first { json!(1e3 * seconds / (step - first) as f64) } else { json!(null) },
        "loss": last.map(|point| point.loss),
        "files": files,
        "parameters": parameters,
        "left_out": fit.left_out(),
    }})));
    outcome
}

/// The scene with what was fitted, and the images and tables among that.
fn write_scene(from: (&Path, &[Setting]), scene: &Differentiated, folder: &Folder) -> Result<(), String> {
    job::files(scene)?.iter().try_for_each(|(name, bytes)| folder.write(name, bytes))?;
    folder.write("scene.json", job::scene_text(from, scene, folder.path())?.as_bytes())
}
