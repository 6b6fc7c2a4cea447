//! `shade test PATH…`: runs the tests in shader files on every back end.

use super::bsdf::BsdfArguments;
use super::check::read;
use super::derivatives::Calls;
use super::includes::Includes;
use super::json;
use super::outcome::{self, Outcome};
use super::target;
use super::warnings::Warnings;
use renderer::film::{OutputError, check_writable, write_whole};
use renderer::material::ShadingLanguage;
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{self, BrokenFile, Session, TestReport, discover, run_file};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Shader files, or folders to search for them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print the report as JSON, for other programs; the same as `--format json`
    #[arg(long, overrides_with = "format")]
    json: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    format: Format,
    /// Write the report to this file. Then stdout gets only its last line
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
    /// Run tests on this back end only: interp, cranelift, or llvm in builds that have it; may be given more than once
    #[arg(long, value_name = "BACKEND", value_parser = target::one_backend)]
    backend: Vec<BackendKind>,
    #[command(flatten)]
    bsdf: BsdfArguments,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    calls: Calls,
    #[command(flatten)]
    warnings: Warnings,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Junit,
}

pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(name) = &arguments.bsdf.bsdf {
        let [path] = arguments.paths.as_slice() else {
            return Outcome::default().usage("`--bsdf` checks a BSDF of one file");
        };
        let backend = arguments.backend.first().copied().unwrap_or_default();
        return arguments.bsdf.run(name, path, &arguments.includes.search(), backend);
    }
    let mut outcome = Outcome::default();
    if let Some(Err(e)) = arguments.output.as_deref().map(check_writable) {
        return unwritable(outcome, &e);
    }
    let mut reports: Vec<TestReport> = Vec::new();
    let mut broken: Vec<BrokenFile> = Vec::new();
    let mut text = String::new();
    let mut findings: Vec<serde_json::Value> = Vec::new();
    let mut find = |found: &Diagnostics, sources: &SourceMap| {
        if let serde_json::Value::Array(list) = render::json(found, sources) {
            findings.extend(list);
        }
    };
    let imports = arguments.includes.search();
    for path in &arguments.paths {
        let files = match discover(path) {
            Ok(files) => files,
            Err(e) => {
                let reason = format!("`{}` cannot be searched: {e}", path.display());
                outcome.note.push_str(&format!("{reason}\n"));
                broken.push(BrokenFile { file: path.display().to_string(), reason });
                continue;
            }
        };
        for file in files {
            let (sources, result) = run_one(&file, &imports, arguments);
            match result {
                Ok((found, warnings)) => {
                    find(&warnings, &sources);
                    outcome.note.push_str(&render::text(&warnings, &sources, false));
                    found.iter().for_each(|r| text.push_str(&r.to_string()));
                    reports.extend(found);
                }
                Err(diagnostics) => {
                    find(&diagnostics, &sources);
                    let reason = render::text(&diagnostics, &sources, false);
                    outcome.note.push_str(&reason);
                    broken.push(BrokenFile { file: file.display().to_string(), reason });
                }
            }
        }
    }
    let failed = testing::failed(&reports, &broken);
    let passed = reports.len() + broken.len() - failed;
    let summary = format!("{passed} passed, {failed} failed\n");
    let form = if arguments.json { Format::Json } else { arguments.format };
    let report = match form {
        Format::Text => text + &summary,
        Format::Json => {
            let mut report = testing::json(&reports, &broken);
            report["diagnostics"] = findings.into();
            json::text(report)
        }
        Format::Junit => testing::junit(&reports, &broken),
    };
    let is_empty = reports.is_empty() && broken.is_empty();
    if is_empty {
        outcome.note.push_str(&match arguments.filter.as_str() {
            "" => "no tests were found: write `test \"name\" { … }` into an .ssl file\n".to_owned(),
            filter => format!("no test has `{filter}` in its name\n"),
        });
    }
    outcome.code = if failed > 0 || is_empty { outcome::INPUT_AT_FAULT } else { outcome::FINE };
    deliver(arguments.output.as_deref(), report, summary, outcome)
}

/// Hands the report out: into a file, whole or not at all, and the summary then goes to stdout.
fn deliver(file: Option<&Path>, report: String, summary: String, mut outcome: Outcome) -> Outcome {
    let Some(file) = file else {
        outcome.output = report;
        return outcome;
    };
    outcome.output = summary;
    match write_whole(file, report.as_bytes()) {
        Ok(()) => outcome,
        Err(e) => unwritable(outcome, &e),
    }
}

fn unwritable(mut outcome: Outcome, why: &OutputError) -> Outcome {
    outcome.note.push_str(&format!("{why}\n"));
    outcome.code = outcome::ENVIRONMENT_FAILED;
    outcome
}

/// What comes of one file: the reports of its tests and its warnings, or what keeps them from running.
type Tested = Result<(Vec<TestReport>, Diagnostics), Diagnostics>;

fn run_one(path: &Path, imports: &SearchPath<'_>, arguments: &Arguments) -> (SourceMap, Tested) {
    let mut sources = SourceMap::new();
    let file = match read(path, &mut sources) {
        Ok(file) => file,
        Err(d) => return (sources, Err((*d).into())),
    };
    let language = ShadingLanguage::new();
    let passes = arguments.calls.passes();
    let every = Session::new(language.globals(), language.closures());
    let backends = if arguments.backend.is_empty() { every.backends } else { &arguments.backend };
    let session =
        Session { imports, externals: language.functions(), passes, backends, filter: &arguments.filter, ..every };
    let result = run_file(&session, &mut sources, file).and_then(|(reports, mut found)| {
        arguments.warnings.apply(&mut found);
        if found.has_errors() { Err(found) } else { Ok((reports, found)) }
    });
    (sources, result)
}
