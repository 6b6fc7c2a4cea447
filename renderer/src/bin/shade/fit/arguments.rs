//! What `shade fit` is asked.

use super::memory;
use crate::code_cache::CodeCacheArgument;
use crate::includes::Includes;
use crate::json::JsonArgument;
use crate::target::TargetArguments;
use crate::warnings::Warnings;
use kernels::jobs::{Options, Setting};
use renderer::material::LIBRARY;
use ssl_compiler::passes::sweeps::Sweep;
use std::path::PathBuf;
use std::time::Duration;

/// The largest whole number of a job file.
const MOST: u64 = i64::MAX as u64;

#[derive(clap::Args)]
pub struct Arguments {
    /// The job: a `.toml` or `.json` file. With `--job` or `--list`, the scene
    #[arg(required_unless_present_any = ["schema", "scene_schema"])]
    pub job: Option<PathBuf>,
    /// Fit a scene: what of it is fitted, and to which pictures, says this file
    #[arg(long = "job", value_name = "FILE")]
    pub scene_job: Option<PathBuf>,
    /// List what of a scene can be fitted, with its values; `*` in NAME stands for any text without dots
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["scene_job", "output", "steps", "seed", "resume"])]
    pub list: Option<String>,
    /// The folder for results and the checkpoint. The default is the name of the job with `-fit`, in the current folder
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Number of steps. The default comes from the job
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=MOST))]
    pub steps: Option<u64>,
    /// Seed of the random numbers. The default comes from the job
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=MOST))]
    pub seed: Option<u64>,
    /// Set a value of the job, a buffer's file or number, or any key by its path; may be repeated: target=photo.png,
    /// size=3e-5, fit.0.rate=0.01. With `--job` or `--list`, any key of the scene: film.tone=clamp
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<Setting>,
    /// Begin with what a file holds: an `.npy` or `.raw` that another fit wrote. NAME is a buffer, and may be left out
    /// if only one is fitted; may be repeated
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with_all = ["scene_job", "list"])]
    pub init: Vec<String>,
    /// Go on from the checkpoint in the output folder
    #[arg(long)]
    pub resume: bool,
    /// Seconds between two checkpoints. 0 writes one behind each step
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "10", value_parser = interval)]
    pub checkpoint_every: Duration,
    /// Most memory that the fit may take, in megabytes, of a job that fits a scene beside that scene. The default is what is
    /// free, where the system tells
    #[arg(long, conflicts_with = "list", value_name = "MB", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub memory: Option<u32>,
    /// Number of threads, from 1 to 1024. The default is one for each core. The results are the same
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// How the gradients of loops get the states of the rounds: asked (as the attributes say), undo, tape or recompute
    #[arg(long, value_name = "WAY", default_value = "asked", value_parser = sweep, conflicts_with_all = ["scene_job", "list"])]
    pub sweep: Sweep,
    /// Seconds between two lines of progress on stderr, where stderr is not a terminal. 0 shows no progress at all
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "5", value_parser = interval)]
    pub progress: Duration,
    /// Compute everything anew in each step, also what has not changed. The results are the same
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    pub no_cache: bool,
    /// Run each launch by itself, also where several could run in one pass. The results are the same
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    pub no_packing: bool,
    /// Draw what runs in a step, as it is and without cache and packing, in the output folder, and fit nothing
    #[arg(long, conflicts_with_all = ["scene_job", "list"])]
    pub show_graph: bool,
    /// Print the JSON Schema of jobs, for editors, and fit nothing
    #[arg(long, conflicts_with = "job")]
    pub schema: bool,
    /// Print the JSON Schema of jobs that fit scenes, and fit nothing
    #[arg(long, conflicts_with = "job")]
    pub scene_schema: bool,
    #[command(flatten)]
    pub json: JsonArgument,
    #[command(flatten)]
    pub includes: Includes,
    #[command(flatten)]
    pub warnings: Warnings,
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub code_cache: CodeCacheArgument,
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

impl Arguments {
    /// What the job is read with, and a note on the code cache.
    pub fn options(&self) -> (Options, String) {
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
    pub fn numbers(&self) -> Vec<Setting> {
        let number = |name: &str, n: Option<u64>| n.map(|n| Setting { path: name.to_owned(), value: n.to_string() });
        [number("steps", self.steps), number("seed", self.seed)].into_iter().flatten().collect()
    }

    /// In bytes.
    pub fn memory_limit(&self) -> Option<usize> {
        self.memory.map(|mb| (mb as usize) << 20).or_else(memory::free)
    }

    pub fn folder(&self, job: &std::path::Path) -> PathBuf {
        let name = || job.file_stem().unwrap_or("job".as_ref()).to_string_lossy().into_owned();
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-fit", name())))
    }
}
