//! `shade check FILE…`: diagnostics for shaders, scenes and jobs; as JSON, with the interfaces of the shaders.

use super::folders::checkable;
use super::graph::check_graph;
use super::includes::Includes;
use super::json::JsonArgument;
use super::kinds::Kind;
use super::outcome::{self, Outcome};
use super::program::Program;
use super::set::SetArguments;
use super::warnings::Warnings;
use kernels::jobs;
use renderer::material::ShadingLanguage;
use renderer::scene::{LoadOptions, Setting};
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes, render};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, CompileOptions};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Shaders (`.ssl`), graphs (`.toml`), scenes and jobs (`.toml`, `.json`), and folders of them
    #[arg(required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Print the JSON Schema of scenes, for editors, and check nothing; `shade fit --schema` prints that of jobs
    #[arg(long, conflicts_with = "files")]
    schema: bool,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    json: JsonArgument,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    warnings: Warnings,
}

pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.schema {
        return Outcome { output: renderer::scene::json_schema::text(), ..Outcome::default() };
    }
    let imports = arguments.includes.search();
    let files = arguments.files.iter().flat_map(|f| checkable(f).unwrap_or_else(|_| vec![f.clone()]));
    let files: Vec<PathBuf> = files.collect();
    let mut set = Settings { of_scenes: arguments.set.list(), of_jobs: Vec::new() };
    if !arguments.set.is_empty() && !files.iter().any(|file| renderer::scene::is_scene(file)) {
        if !files.iter().any(|file| jobs::is_job(file)) {
            return Outcome::default().usage("`--set` sets keys of scenes and jobs, and none of the files is one");
        }
        // Beside scenes, jobs stay as they are: no key is one of both.
        set.of_jobs = arguments.set.list();
    }
    report(files.iter().map(|file| check(file, &set, &imports)), arguments.json.is_wanted(), &arguments.warnings)
}

/// What was found in files, as text or as JSON.
pub fn report(found: impl Iterator<Item = Found>, json: bool, warnings: &Warnings) -> Outcome {
    let (mut findings, mut shaders) = (Vec::new(), Vec::new());
    let mut failed = false;
    let mut outcome = Outcome::default();
    for Found { sources, mut diagnostics, shaders: described } in found {
        warnings.apply(&mut diagnostics);
        failed |= diagnostics.has_errors();
        shaders.extend(described);
        if !json {
            outcome.note.push_str(&render::text(&diagnostics, &sources, false));
        } else if let serde_json::Value::Array(list) = render::json(&diagnostics, &sources) {
            findings.extend(list);
        }
    }
    outcome.report = json.then(|| Box::new(serde_json::json!({"diagnostics": findings, "shaders": shaders})));
    outcome.code = if failed { outcome::INPUT_AT_FAULT } else { outcome::FINE };
    outcome
}

/// What was found in a file.
pub struct Found {
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
    /// The interfaces of its shaders that are without errors.
    pub shaders: Vec<serde_json::Value>,
}

/// What `--set` gives.
struct Settings {
    of_scenes: Vec<Setting>,
    of_jobs: Vec<Setting>,
}

fn check(path: &Path, set: &Settings, imports: &SearchPath<'static>) -> Found {
    let language = ShadingLanguage::new();
    let options = CompileOptions {
        imports,
        externals: language.functions(),
        ..CompileOptions::new(language.globals(), language.closures())
    };
    match Kind::of(path) {
        Some(Kind::Graph) => return check_graph(path, false, &options),
        Some(Kind::SceneJob) => {
            let (sources, diagnostics) = renderer::inverse::job::check(path);
            return Found { sources, diagnostics, shaders: Vec::new() };
        }
        Some(Kind::Job) => {
            let options = jobs::Options {
                settings: set.of_jobs.clone(),
                folders: imports.folders.clone(),
                library: imports.library,
                ..jobs::Options::default()
            };
            let loaded = jobs::load(path, &options);
            return Found { sources: loaded.sources, diagnostics: loaded.diagnostics, shaders: Vec::new() };
        }
        Some(Kind::Scene | Kind::Shader) | None => {}
    }
    // What else ends like a scene was meant to be one.
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml") || e.eq_ignore_ascii_case("json")) {
        let options = LoadOptions { set: set.of_scenes.clone(), ..BackendKind::Cranelift.into() };
        let loaded = renderer::scene::load(path, options, imports);
        return Found { sources: loaded.sources, diagnostics: loaded.diagnostics, shaders: Vec::new() };
    }
    let mut sources = SourceMap::new();
    let (diagnostics, shaders) = match Program::read(path, &mut sources, &options) {
        Ok(program) => program.check(path, &mut sources, &options),
        Err(errors) => (errors, Vec::new()),
    };
    Found { sources, diagnostics, shaders }
}

/// Reads a shader file, or says why not.
pub fn read(path: &Path, sources: &mut SourceMap) -> Result<ssl_compiler::source::FileId, Box<Diagnostic>> {
    match ssl_compiler::input::named_text(path) {
        Ok(text) => Ok(sources.add_file(path, text)),
        Err(e) => {
            let message = format!("`{}` cannot be read: {e}", path.display());
            Err(Box::new(Diagnostic::without_place(
                &codes::UNREADABLE_FILE,
                message,
                "check the path, and that it is a text file",
            )))
        }
    }
}
