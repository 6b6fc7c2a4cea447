//! `shade test PATH…`: runs the tests in shader files on every back end.

use super::check::read;
use super::includes::Includes;
use super::outcome::{self, Outcome};
use super::warnings::Warnings;
use renderer::material::ShadingLanguage;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::modules::SearchPath;
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
    #[command(flatten)]
    includes: Includes,
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
    let mut outcome = Outcome::default();
    let mut reports: Vec<TestReport> = Vec::new();
    let mut broken = 0;
    let imports = arguments.includes.search();
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
            let (sources, result) = run_one(&file, &imports, &arguments.warnings);
            match result {
                Ok((found, warnings)) => {
                    outcome.note.push_str(&render::text(&warnings, &sources, false));
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

/// What comes of one file: the reports of its tests and its warnings, or what keeps them from running.
type Tested = Result<(Vec<TestReport>, Diagnostics), Diagnostics>;

fn run_one(path: &Path, imports: &SearchPath<'_>, warnings: &Warnings) -> (SourceMap, Tested) {
    let mut sources = SourceMap::new();
    let file = match read(path, &mut sources) {
        Ok(file) => file,
        Err(d) => return (sources, Err((*d).into())),
    };
    let language = ShadingLanguage::new();
    let session = Session { imports, ..Session::new(language.globals(), language.closures()) };
    let result = run_file(&session, &mut sources, file).and_then(|(reports, mut found)| {
        warnings.apply(&mut found);
        if found.has_errors() { Err(found) } else { Ok((reports, found)) }
    });
    (sources, result)
}

/// A line for the test, and for each failure where, what and how to see it again.
fn line(r: &TestReport, sources: &SourceMap) -> String {
    let verdict = if r.passed() { "ok    " } else { "FAILED" };
    let note = r.note.as_ref().map_or(String::new(), |n| format!(" ({n})"));
    let mut out = format!("{verdict} {}:{} {} [{}]{note}\n", r.file, r.line, r.name, r.backend);
    for message in &r.messages {
        message.lines().for_each(|l| out.push_str(&format!("    | {l}\n")));
    }
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
