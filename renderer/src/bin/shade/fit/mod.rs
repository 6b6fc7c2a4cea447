//! `shade fit JOB`: fits what a job file says.

mod folder;
mod memory;
mod scene;

use crate::code_cache::CodeCacheArgument;
use crate::includes::Includes;
use crate::interrupt;
use crate::json::JsonArgument;
use crate::kinds::Kind;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::target::TargetArguments;
use crate::warnings::Warnings;
use folder::Folder;
use kernels::jobs::{self, Fit, FitError, Job, Options, Point, Setting, Watch, codes};
use renderer::material::LIBRARY;
use serde_json::{Value, json};
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::passes::sweeps::Sweep;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Enough for kernels that call functions recursively.
const STACK_BYTES: usize = 16 << 20;

#[derive(clap::Args)]
pub struct Arguments {
    /// The job: a `.toml` or `.json` file. With `--job` or `--list`, the scene
    #[arg(required_unless_present_any = ["schema", "scene_schema"])]
    job: Option<PathBuf>,
    /// Fit a scene: what of it is fitted, and to which pictures, says this file
    #[arg(long = "job", value_name = "FILE")]
    scene_job: Option<PathBuf>,
    /// List what of a scene can be fitted, with its values; `*` in NAME stands for any text without dots
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["scene_job", "output", "steps", "seed", "resume"])]
    list: Option<String>,
    /// The folder for results and the checkpoint. The default is the name of the job with `-fit`, in the current folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Number of steps. The default is what the job says
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u64>,
    /// Seed of the random numbers. The default is what the job says
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Set a value of the job, a buffer's file or number, or any key by its path; may be repeated: target=photo.png,
    /// size=3e-5, fit.0.rate=0.01. With `--job` or `--list`, any key of the scene: film.tone=clamp
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,
    /// Begin with what a file holds: an `.npy` or `.raw` that another fit wrote. NAME is a buffer, and may be left out
    /// if only one is fitted; may be repeated
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with_all = ["scene_job", "list"])]
    init: Vec<String>,
    /// Go on from the checkpoint in the output folder
    #[arg(long)]
    resume: bool,
    /// Seconds between two checkpoints. 0 writes one behind each step
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "10", value_parser = interval)]
    checkpoint_every: Duration,
    /// Most memory that the fit may take, in megabytes, of a job that fits a scene beside that scene. The default is what is
    /// free, where the system tells
    #[arg(long, conflicts_with = "list", value_name = "MB", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    memory: Option<u32>,
    /// Number of threads, from 1 to 1024. The default is one for each core. The results are the same
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How the gradients of loops get the states of the rounds: asked (as the attributes say), undo, tape or recompute
    #[arg(long, value_name = "WAY", default_value = "asked", value_parser = sweep, conflicts_with_all = ["scene_job", "list"])]
    sweep: Sweep,
    /// Seconds between two lines of progress on stderr, where stderr is not a terminal. 0 shows no progress at all
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "5", value_parser = interval)]
    progress: Duration,
    /// Compute everything anew in each step, also what has not changed. The results are the same
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    no_cache: bool,
    /// Run each launch by itself, also where several could run in one pass. The results are the same
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    no_packing: bool,
    /// Draw what runs in a step, as it is and without cache and packing, in the output folder, and fit nothing
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    show_graph: bool,
    /// Print the JSON Schema of jobs, for editors, and fit nothing
    #[arg(long, conflicts_with = "job")]
    schema: bool,
    /// Print the JSON Schema of jobs that fit scenes, and fit nothing
    #[arg(long, conflicts_with = "job")]
    scene_schema: bool,
    #[command(flatten)]
    json: JsonArgument,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    warnings: Warnings,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    code_cache: CodeCacheArgument,
}

fn interval(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|s: &f64| *s >= 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    parsed.ok_or_else(|| "an interval is a number of seconds, 0 or more".to_owned())
}

fn sweep(text: &str) -> Result<Sweep, String> {
    let named = Sweep::NAMED.iter().find(|(name, _)| *name == text);
    let names = || Sweep::NAMED.map(|(name, _)| name).join(", ");
    named.map(|&(_, sweep)| sweep).ok_or_else(|| format!("it is one of {}", names()))
}

pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.scene_schema {
        return Outcome { output: format!("{:#}\n", renderer::inverse::job::keys::schema()), ..Outcome::default() };
    }
    if let (Some(scene), true) = (&arguments.job, arguments.scene_job.is_some() || arguments.list.is_some()) {
        return scene::run(arguments, scene);
    }
    // Clap sees to it that there is a job where no schema is asked for.
    let Some(path) = arguments.job.as_ref().filter(|_| !arguments.schema) else {
        return Outcome { output: jobs::schema::text(), ..Outcome::default() };
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let unheard = interrupt::sets(&cancel).err();
    let (options, note) = arguments.options();
    let loaded = jobs::load(path, &options);
    let mut outcome = Outcome { diagnostics: loaded.diagnostics, sources: loaded.sources, note, ..Outcome::default() };
    arguments.warnings.apply_to(&mut outcome);
    if let Some(e) = unheard {
        outcome.note.push_str(&format!("note: Ctrl-C ends the fit without a checkpoint: {e}\n"));
    }
    let Some(job) = loaded.job.filter(|_| outcome.code == outcome::FINE) else {
        outcome.code = code_of(&outcome);
        Kind::Job.tell_if_other(path, &codes::UNREADABLE, &mut outcome);
        return outcome;
    };
    let folder = match Folder::open(arguments.folder(path)) {
        Ok(folder) => folder,
        Err(why) => {
            return failed(
                outcome,
                outcome::ENVIRONMENT_FAILED,
                Diagnostic::without_place(&codes::OUTPUT, why, "`-o` names another folder"),
            );
        }
    };
    let threads = arguments.threads.map_or_else(renderer::render::available_threads, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    let mut outcome = match pool {
        Ok(pool) => pool.install(|| fit(arguments, job, &folder, &cancel, outcome)),
        Err(e) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("threads could not be started: {e}\n"));
            outcome
        }
    };
    arguments.warnings.apply_to(&mut outcome);
    outcome
}

impl Arguments {
    fn options(&self) -> (Options, String) {
        let (cache, note) = self.code_cache.open();
        // A name has no dots and no slashes, so a path with a `=` in it stays one.
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let start = |text: &String| match text.split_once('=') {
            Some((name, file)) if is_name(name) => (name.to_owned(), file.to_owned()),
            _ => (String::new(), text.clone()),
        };
        let options = Options {
            settings: self.settings.iter().cloned().chain(self.numbers()).collect(),
            start: self.init.iter().map(start).collect(),
            target: self.target.for_long_runs(),
            memory: self.memory_limit(),
            sweep: self.sweep,
            folders: self.includes.search().folders,
            library: LIBRARY,
            functions: renderer::bsdf::functions(),
            cache,
        };
        (options, note)
    }

    /// The keys of the job, of either kind, that have options of their own.
    fn numbers(&self) -> Vec<Setting> {
        let number = |name: &str, n: Option<u64>| n.map(|n| Setting { path: name.to_owned(), value: n.to_string() });
        [number("steps", self.steps), number("seed", self.seed)].into_iter().flatten().collect()
    }

    /// In bytes.
    fn memory_limit(&self) -> Option<usize> {
        self.memory.map(|mb| (mb as usize) << 20).or_else(memory::free)
    }

    fn folder(&self, job: &std::path::Path) -> PathBuf {
        let name = || job.file_stem().unwrap_or("job".as_ref()).to_string_lossy().into_owned();
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-fit", name())))
    }
}

/// That of a job with errors: whether memory is what it lacks.
fn code_of(outcome: &Outcome) -> u8 {
    let found = ssl_compiler::diagnostics::render::json(&outcome.diagnostics, &outcome.sources);
    let is_memory = found.as_array().is_some_and(|list| list.iter().any(|d| d["code"] == codes::MEMORY.id));
    if is_memory { outcome::ENVIRONMENT_FAILED } else { outcome::INPUT_AT_FAULT }
}

fn failed(mut outcome: Outcome, code: u8, diagnostic: Diagnostic) -> Outcome {
    outcome.code = code;
    outcome.diagnostics.push(diagnostic);
    outcome
}

fn fit(arguments: &Arguments, job: Job, folder: &Folder, cancel: &AtomicBool, mut outcome: Outcome) -> Outcome {
    let progress = Progress::new("fitting", arguments.progress);
    let needed = job.bytes(rayon::current_num_threads());
    progress.tell(&format!("memory: {}", memory::megabytes(needed)));
    let mut fit = match job.build(arguments.memory_limit()) {
        Ok(fit) => fit,
        Err((diagnostics, sources)) => {
            (outcome.diagnostics, outcome.sources) = (diagnostics, sources);
            outcome.code = code_of(&outcome);
            return outcome;
        }
    };
    fit.set_cached(!arguments.no_cache);
    fit.set_packed(!arguments.no_packing);
    if arguments.show_graph {
        return show_graph(&mut fit, folder, outcome);
    }
    if arguments.resume {
        let loaded = match folder.checkpoint() {
            Ok(Some(bytes)) => fit.load(&bytes),
            Ok(None) => {
                let note = format!("there is no checkpoint in `{}`: the fit began anew\n", folder.path().display());
                outcome.note.push_str(&note);
                Ok(())
            }
            Err(e) => Err(e.to_string()),
        };
        if let Err(why) = loaded {
            let message = format!("the checkpoint in `{}` cannot be used: {why}", folder.path().display());
            let hint = "leave out `--resume` to begin anew, or name another folder by `-o`";
            return failed(
                outcome,
                outcome::INPUT_AT_FAULT,
                Diagnostic::without_place(&codes::CHECKPOINT, message, hint),
            );
        }
    }
    let (start, first) = (Instant::now(), fit.step());
    let mut watch = Watcher {
        folder,
        progress: &progress,
        every: arguments.checkpoint_every,
        last: start,
        steps: fit.steps(),
        files: Vec::new(),
        kept: None,
    };
    let ended = fit.run(cancel, &mut watch);
    progress.finish();
    let Watcher { files, kept, .. } = watch;
    let seconds = start.elapsed().as_secs_f64();
    finish(&fit, ended, folder, (files, kept), (first, seconds), outcome)
}

/// Draws what runs in each step, before and after packing and cache.
fn show_graph(fit: &mut Fit, folder: &Folder, mut outcome: Outcome) -> Outcome {
    let (plain, drawing) = (fit.plain_drawing(), fit.drawing());
    let files = [
        ("graph-before.dot", plain.dot()),
        ("graph-before.svg", plain.svg()),
        ("graph-after.dot", drawing.dot()),
        ("graph-after.svg", drawing.svg()),
    ];
    for (name, text) in &files {
        if let Err(why) = folder.write(name, text.as_bytes()) {
            let hint = "look at the folder and the disk; `-o` names another folder";
            let diagnostic = Diagnostic::without_place(&codes::OUTPUT, why, hint);
            return failed(outcome, outcome::ENVIRONMENT_FAILED, diagnostic);
        }
    }
    let ((before, _), (launches, passes)) = (plain.counts(), drawing.counts());
    let (path, names) = (folder.path().display(), files.each_ref().map(|(name, _)| *name).join(", "));
    outcome.output =
        format!("{path}: {names} written; a step runs {launches} of {before} launches again, in {passes} passes\n");
    outcome.report = Some(Box::new(json!({"graph": {"launches": before, "again": launches, "passes": passes}})));
    outcome
}

/// Keeps results and checkpoints, and shows progress.
struct Watcher<'a> {
    folder: &'a Folder,
    progress: &'a Progress,
    every: Duration,
    last: Instant,
    steps: u64,
    files: Vec<String>,
    /// The step of the last checkpoint.
    kept: Option<u64>,
}

impl Watch for Watcher<'_> {
    fn measured(&mut self, point: &Point) {
        let psnr = point.psnr.map_or(String::new(), |psnr| format!(", PSNR {psnr:.2} dB"));
        self.progress.say(&format!("step {}, loss {:.4e}{psnr}", point.step, point.loss));
    }

    fn stepped(&mut self, fit: &Fit) -> Result<(), FitError> {
        self.progress.set(fit.step() as f32 / self.steps.max(1) as f32);
        if self.last.elapsed() >= self.every {
            self.folder.keep(fit).map_err(FitError::Output)?;
            self.folder.plot(fit).map_err(FitError::Output)?;
            (self.last, self.kept) = (Instant::now(), Some(fit.step()));
        }
        Ok(())
    }

    fn result(&mut self, name: &str, bytes: &[u8]) -> Result<(), FitError> {
        self.folder.write(name, bytes).map_err(FitError::Output)?;
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_owned());
        }
        Ok(())
    }
}

/// Keeps the state, and says how it went.
fn finish(
    fit: &Fit,
    ended: Result<(), FitError>,
    folder: &Folder,
    (files, kept): (Vec<String>, Option<u64>),
    (first, seconds): (u64, f64),
    mut outcome: Outcome,
) -> Outcome {
    let mut tell = |code: &'static ssl_compiler::diagnostics::Code, message: String, hint: &str| {
        outcome.diagnostics.push(Diagnostic::without_place(code, message, hint));
    };
    let is_whole = ended.is_ok();
    outcome.code = match ended {
        Ok(()) => outcome::FINE,
        Err(FitError::Cancelled) => outcome::INTERRUPTED,
        Err(FitError::Stopped(why)) => {
            tell(&codes::STOPPED, why, "the results of earlier steps are kept; look at the rates and at the kernel");
            outcome::INPUT_AT_FAULT
        }
        Err(FitError::Memory(why)) => {
            tell(&codes::MEMORY, why, "fit less, or raise `--memory`");
            outcome::ENVIRONMENT_FAILED
        }
        Err(FitError::Output(why)) => {
            tell(&codes::OUTPUT, why, "look at the folder and the disk; `-o` names another folder");
            outcome::ENVIRONMENT_FAILED
        }
    };
    for sentence in fit.findings().sentences() {
        let warning =
            Diagnostic::warning_without_place(&codes::NUMBERS, sentence, "look for divisions by 0 and for indices");
        outcome.diagnostics.push(warning);
    }
    // The end has one more point of the loss than the checkpoint behind the last step.
    if (is_whole || kept != Some(fit.step()))
        && let Err(why) = folder.keep(fit).and_then(|()| folder.plot(fit))
    {
        outcome.code = outcome::ENVIRONMENT_FAILED;
        outcome.note.push_str(&format!("the checkpoint could not be kept: {why}\n"));
    }
    if outcome.code == outcome::INTERRUPTED {
        let shown = folder.path().display();
        outcome.note.push_str(&format!("kept in `{shown}`: the same command with `--resume` goes on from there\n"));
    }
    let last = fit.history().last();
    let figures = last.map_or(String::new(), |point| {
        let psnr = point.psnr.map_or(String::new(), |psnr| format!(", PSNR {psnr:.2} dB"));
        format!(", loss {:.6e}{psnr}", point.loss)
    });
    let (path, step, steps) = (folder.path().display(), fit.step(), fit.steps());
    let taken = if !fit.has_fit() && is_whole {
        format!("{} written", files.join(", "))
    } else if step == steps {
        format!("{step} steps")
    } else {
        format!("stopped at {step} of {steps} steps")
    };
    outcome.output = format!("{path}: {taken}{figures}, {seconds:.1} s\n");
    outcome.report = Some(Box::new(json!({"fit": report(fit, folder, &files, (first, seconds))})));
    outcome
}

fn report(fit: &Fit, folder: &Folder, files: &[String], (first, seconds): (u64, f64)) -> Value {
    let point = |point: &Point| json!({"step": point.step, "loss": point.loss, "psnr": point.psnr});
    let taken = fit.step() - first;
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
