//! `shade test PATH…`: runs the tests in shader files on every back end.

use super::check::read;
use super::outcome::{self, Outcome};
use renderer::material::ShadingLanguage;
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{self, Session, TestReport, discover, run_file};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Shader files, or folders to search for them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Junit,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut outcome = Outcome::default();
    let mut reports: Vec<TestReport> = Vec::new();
    let mut broken = 0;
    for path in &arguments.paths {
        let files = match discover(path) {
            Ok(files) => files,
            Err(e) => {
                outcome.note.push_str(&format!("`{}` cannot be searched: {e}\n", path.display()));
                broken += 1;
                continue;
            }
        };
        for file in files {
            let (sources, result) = run_one(&file);
            match result {
                Ok(found) => {
                    if arguments.format == Format::Text {
                        found.iter().for_each(|r| outcome.output.push_str(&line(r, &sources)));
                    }
                    reports.extend(found);
                }
                Err(diagnostics) => {
                    outcome.note.push_str(&render::text(&diagnostics, &sources, false));
                    broken += 1;
                }
            }
        }
    }
    let failed = reports.iter().filter(|r| !r.passed()).count();
    let passed = reports.len() - failed;
    match arguments.format {
        Format::Text => outcome.output.push_str(&format!("{passed} passed, {} failed\n", failed + broken)),
        Format::Json => outcome.output = format!("{:#}\n", testing::json(&reports)),
        Format::Junit => outcome.output = testing::junit(&reports),
    }
    if reports.is_empty() && broken == 0 {
        outcome.note.push_str("no tests were found: write `test \"name\" { … }` into an .ssl file\n");
    }
    outcome.code = if failed + broken > 0 || reports.is_empty() { outcome::INPUT_AT_FAULT } else { outcome::FINE };
    outcome
}

fn run_one(path: &Path) -> (SourceMap, Result<Vec<TestReport>, Diagnostics>) {
    let mut sources = SourceMap::new();
    let file = match read(path, &mut sources) {
        Ok(file) => file,
        Err(d) => return (sources, Err((*d).into())),
    };
    let language = ShadingLanguage::new();
    let session = Session { globals: language.globals(), closures: language.closures(), backends: &BackendKind::ALL };
    let result = run_file(&session, &sources, file).map(|(reports, _)| reports);
    (sources, result)
}

/// A line for the test, and for each failure where, what and how to see it again.
fn line(r: &TestReport, sources: &SourceMap) -> String {
    let verdict = if r.passed() { "ok    " } else { "FAILED" };
    let note = r.note.as_ref().map_or(String::new(), |n| format!(" ({n})"));
    let mut out = format!("{verdict} {}:{} {} [{}]{note}\n", r.file, r.line, r.name, r.backend);
    for f in &r.failures {
        let file = sources.get(f.span.file);
        let (line, _) = file.line_column(f.span.start);
        out.push_str(&format!("    {}: {}\n", sources.place(f.span), f.message));
        out.push_str(&format!("    {line:4} | {}\n", file.line(line).trim_end()));
        if let Some(command) = &f.reproduce {
            out.push_str(&format!("    see it with: {command}\n"));
        }
    }
    out
}
