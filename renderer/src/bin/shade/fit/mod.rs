//! `shade fit JOB`: fits what a job file says.

mod arguments;
mod ending;
mod folder;
mod memory;
mod scene;

pub use arguments::Arguments;

use crate::interrupt;
use crate::kinds::Kind;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use ending::Run;
use folder::Folder;
use kernels::jobs::{self, Fit, FitError, Job, Point, Watch, WriteResult, codes};
use serde_json::json;
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::Diagnostic;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Enough for kernels that call functions recursively.
const STACK_BYTES: usize = 16 << 20;

/// A note for fits without LLVM: the sweep of splats is 4.1 times as fast with it, a whole step 3.4 times
/// (docs/src/performance.md). Renders gain less than a fifth, so nothing is said there.
const LLVM: &str = "note: this program was built without LLVM, whose code for kernels is several times as fast: `cargo xtask setup` \
                    brings it, and `cargo run --release --features llvm -- fit …` runs with it";

fn advice(arguments: &Arguments) -> Option<&'static str> {
    let chosen = arguments.target.backend == BackendKind::Auto;
    (cfg!(not(feature = "llvm")) && chosen && !arguments.json.is_wanted()).then_some(LLVM)
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
    let progress = Progress::new("fitting", arguments.progress).advising(advice(arguments));
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
    if let Err(why) = folder.check(fit.files()) {
        let diagnostic = Diagnostic::without_place(&codes::OUTPUT, why, "look at the folder; `-o` names another one");
        return failed(outcome, outcome::ENVIRONMENT_FAILED, diagnostic);
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
    if ended.is_ok() {
        let doubts = fit.review(cancel);
        doubts.iter().for_each(|doubt| outcome.diagnostics.push(jobs::review::warning(doubt)));
    }
    progress.finish();
    let Watcher { files, kept, .. } = watch;
    let run = Run { ended, files, kept, first, seconds: start.elapsed().as_secs_f64() };
    ending::finish(&fit, run, folder, outcome)
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
        self.large_result(name, &mut |to| to.write_all(bytes))
    }

    fn large_result(&mut self, name: &str, write: &mut WriteResult<'_>) -> Result<(), FitError> {
        self.folder.write_by(name, write).map_err(FitError::Output)?;
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_owned());
        }
        Ok(())
    }
}
