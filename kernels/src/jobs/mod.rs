//! Jobs: fits that a TOML file describes. The file says what runs over which points, what is fitted, and what is to become
//! small. The gradients, their launches and the memory follow from that.
//!
//! [`load`] reads a file and says all that is wrong with it, [`Job::build`] allocates, [`Fit`] runs.

mod adjoint;
mod build;
mod check;
pub mod codes;
mod context;
mod data;
mod file;
mod fit;
mod host;
mod keys;
mod plan;
mod plot;
mod programs;
mod ramps;
pub mod reading;
pub mod review;
pub mod schema;
mod settings;
mod state;
mod stopped;

pub use fit::{Findings, Fit, FitError, Point, Watch, WriteResult};
pub use ssl_compiler::tree::Setting;

use context::Context;
use file::JobFile;
use plan::Plan;
use programs::Programs;
use ssl_compiler::builtins::library::LibraryFile;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::passes::sweeps::Sweep;
use ssl_compiler::runtime::ExternalRegistry;
use ssl_compiler::source::SourceMap;
use ssl_compiler::tree::{Data, Table, Value, Wording};
use ssl_compiler::{CodeCache, Compiler, Target, input, pipeline, tree};
use std::path::Path;

const WORDING: Wording = Wording {
    what: "job",
    json: "it begins `{ \"file\": \"…",
    heads: "a table begins with `[loss]` or `[buffers.target]`, one of a list with `[[launches]]`",
    twice: "each key stands once in its table, and each table has one head; launches, fits and writes are lists, \
            `[[launches]]`",
};

/// What may be said of a job beside its file.
#[derive(Clone, Default)]
pub struct Options {
    /// Keys that take the place of the file's.
    pub settings: Vec<Setting>,
    /// Files with the start of fitted buffers, by name; the name may be empty if only one buffer is fitted.
    pub start: Vec<(String, String)>,
    /// What makes the code.
    pub target: Target,
    /// How sweeps get their states.
    pub sweep: Sweep,
    /// Where imported files are looked for, beside the folder of the importing file.
    pub folders: Vec<std::path::PathBuf>,
    /// What the host adds to the library, from which every file may import.
    pub library: &'static [LibraryFile],
    /// The functions of the host that this library calls.
    pub functions: ExternalRegistry,
    /// Keeps machine code.
    pub cache: Option<CodeCache>,
    /// Most bytes that files may take while they are read; what takes more is refused before.
    pub memory: Option<usize>,
}

/// A job that was read, and what there is to say of it.
pub struct Loaded {
    /// `None` if there are errors.
    pub job: Option<Job>,
    /// The files that the diagnostics point into.
    pub sources: SourceMap,
    /// Everything that was found.
    pub diagnostics: Diagnostics,
}

/// A job without errors, before memory is taken for it.
pub struct Job {
    plan: Plan,
    adjoint: adjoint::Adjoint,
    fingerprint: u64,
    context: Context,
    target: Target,
}

/// The loss over the steps, as a table and as a picture: names of files and texts.
pub fn plots(history: &[Point]) -> Vec<(&'static str, String)> {
    vec![("loss.csv", plot::csv(history)), ("loss.svg", plot::svg(history))]
}

/// Whether a TOML or JSON file is a job of kernels: by the tables that it has.
pub fn is_job(path: &Path) -> bool {
    has_tables(path, &["launches", "fit"]) && !is_scene_job(path)
}

/// Whether a TOML or JSON file is a job that fits a scene to pictures, its views.
pub fn is_scene_job(path: &Path) -> bool {
    has_tables(path, &["views"])
}

/// Whether a file has one of these tables. A file that cannot be parsed may still have them.
fn has_tables(path: &Path, names: &[&str]) -> bool {
    let Ok(text) = input::text(path, input::MOST_TEXT) else { return false };
    match tree::parse(&text, is_json(path), &WORDING) {
        Ok(tree) => names.iter().any(|name| tree.contains(name)),
        Err(_) => text.lines().any(|line| names.iter().any(|name| line.starts_with(&format!("[[{name}]]")))),
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

/// Reads a job, compiles its kernels and reads its files.
pub fn load(path: &Path, options: &Options) -> Loaded {
    let mut context = Context::new(path);
    context.memory = options.memory;
    match make(path, options, &mut context) {
        Some((plan, adjoint, fingerprint)) if !context.diagnostics.has_errors() => {
            let (sources, diagnostics) = (context.sources.clone(), context.diagnostics.clone());
            let job = Job { plan, adjoint, fingerprint, context, target: options.target };
            Loaded { job: Some(job), sources, diagnostics }
        }
        _ => Loaded { job: None, sources: context.sources, diagnostics: context.diagnostics },
    }
}

fn make(path: &Path, options: &Options, context: &mut Context) -> Option<(Plan, adjoint::Adjoint, u64)> {
    let (job, canonical) = read(path, options, context)?;
    let programs = Programs::compile(path, &job, options, context)?;
    let mut losses = compiler(options);
    let plan = Plan::new(&job, &programs, &mut losses, context)?;
    let adjoint = adjoint::Adjoint::new(&plan, context)?;
    let texts = context.shaders(&context.sources);
    let starts = plan.buffers.iter().filter_map(|buffer| match &buffer.source {
        plan::Source::Start(plan::Start::Words(words)) => Some(words.as_slice()),
        _ => None,
    });
    let fingerprint = state::fingerprint(&canonical, options.sweep, texts, starts);
    Some((plan, adjoint, fingerprint))
}

/// The file as typed data, and all of it but what may differ from run to run as a text.
fn read(path: &Path, options: &Options, context: &mut Context) -> Option<(JobFile, String)> {
    let text = match input::named_text(path) {
        Ok(text) => text,
        Err(e) => {
            let message = format!("`{}` cannot be read: {e}", path.display());
            let hint = "a job is a text in TOML or JSON";
            context.diagnostics.push(Diagnostic::without_place(&codes::UNREADABLE, message, hint));
            return None;
        }
    };
    context.file = context.sources.add(path.display().to_string(), text.as_str());
    let mut tree = match tree::parse(&text, is_json(path), &WORDING) {
        Ok(tree) => tree,
        Err(faults) => {
            for fault in faults {
                context.error(&codes::SYNTAX, fault.at, fault.message, fault.hint);
            }
            return None;
        }
    };
    settings::apply(&mut tree, &options.settings, &options.start, context);
    check::check(&mut tree, context);
    if context.diagnostics.has_errors() {
        return None;
    }
    let mut canonical = String::new();
    // More steps, and other results, are no other job.
    tree.entries.iter().filter(|e| !["steps", "write", "file", "at"].contains(&e.key.as_str())).for_each(|e| {
        canonical.push_str(&e.key);
        write_value(&e.value, &mut canonical);
    });
    let checked = Value { data: Data::Table(tree), at: 0..text.len() };
    let read = tree::typed::read(&checked);
    let job = read
        .map_err(|e| context.error(&codes::SYNTAX, 0..0, format!("the job cannot be read: {e}"), "look at its keys"))
        .ok()?;
    Some((job, canonical))
}

/// A value without its place, and without the names of files: what these hold counts.
fn write_value(value: &Value, out: &mut String) {
    match &value.data {
        Data::List(list) => {
            out.push('[');
            list.iter().for_each(|v| write_value(v, out));
            out.push(']');
        }
        Data::Table(Table { entries }) => {
            out.push('{');
            for entry in entries.iter().filter(|entry| entry.key != "file") {
                out.push_str(&format!("{:?}", entry.key));
                write_value(&entry.value, out);
            }
            out.push('}');
        }
        other => out.push_str(&format!("{other:?}")),
    }
}

fn compiler(options: &Options) -> Compiler {
    let mut compiler = Compiler::new();
    let passes = pipeline::Options { sweep: options.sweep, ..pipeline::Options::default() };
    compiler.set_target(options.target).set_passes(passes).set_code_cache(options.cache.clone());
    compiler.set_externals(options.functions.clone());
    compiler.set_imports(&SearchPath::on_disk(options.folders.clone()).with_library(options.library));
    compiler
}

impl Job {
    /// The bytes that the job takes with so many threads, besides lists of tiles and the like.
    pub fn bytes(&self, threads: usize) -> usize {
        self.plan.bytes(self.adjoint.buffers.iter().copied(), threads)
    }

    /// The steps that it takes in all.
    pub fn steps(&self) -> u64 {
        self.plan.steps
    }
}
