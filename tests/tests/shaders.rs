//! Every `.ssl` file in `shaders/` is a set of tests in the language itself; each must pass on every
//! back end, with every optimisation and with none. Those in `host_shaders/` call functions that only the host
//! of these tests has, so `shade test` cannot run them.

use ssl_compiler::backend::OptLevel;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, explain, files, folder};
use std::path::Path;

/// Runs one file's tests; how many passed, and what is wrong.
fn run(session: &Session<'_>, path: &Path) -> (usize, String) {
    run_text(session, path, &std::fs::read_to_string(path).expect("the file is readable"))
}

/// Likewise for a text, as if it stood in a file.
fn run_text(session: &Session<'_>, path: &Path, text: &str) -> (usize, String) {
    let mut sources = SourceMap::new();
    let name = path.strip_prefix(folder("")).unwrap_or(path).to_string_lossy().into_owned();
    let file = sources.add_at(name, path.to_owned(), text);
    let reports = match run_file(session, &mut sources, file) {
        Ok((reports, _)) => reports,
        Err(diagnostics) => return (0, explain(&sources, &diagnostics)),
    };
    assert!(!reports.is_empty(), "{} has no tests", path.display());
    let mut wrong = String::new();
    for report in &reports {
        for failure in &report.failures {
            let place = sources.place(failure.span);
            wrong.push_str(&format!("{place}: `{}` on {}: {}\n", report.name, report.backend, failure.message));
            wrong.push_str(&format!("    {}\n", failure.reproduce.as_deref().unwrap_or("")));
        }
    }
    (reports.iter().filter(|r| r.passed()).count(), wrong)
}

fn run_all(passes: Options, opt: OptLevel) {
    let host = Host::default();
    let imports = SearchPath::on_disk(Vec::new());
    let session = Session {
        passes,
        opt,
        imports: &imports,
        externals: &host.externals,
        ..Session::new(&host.globals, &host.closures)
    };
    let (mut passed, mut wrong) = (0, String::new());
    for path in ["shaders", "host_shaders"].iter().flat_map(|name| files(&folder(name), &["ssl"])) {
        let (count, said) = run(&session, &path);
        passed += count;
        wrong.push_str(&said);
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(passed > 400, "only {passed} tests were found");
}

#[test]
fn all_tests_in_the_language_pass_on_every_backend() {
    run_all(Options::default(), OptLevel::O2);
}

#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn all_tests_in_the_language_pass_unoptimised() {
    run_all(Options { optimise: false, ..Options::default() }, OptLevel::O0);
}

/// The files that the chapter on integrals shows.
#[test]
fn the_chapter_on_integrals_is_true() {
    let page = std::fs::read_to_string(folder("../docs/src/integrals.md")).expect("the page exists");
    let host = Host::default();
    let imports = SearchPath::on_disk(Vec::new());
    let session =
        Session { imports: &imports, externals: &host.externals, ..Session::new(&host.globals, &host.closures) };
    let examples: Vec<&str> = page.split("```c\n").skip(1).map(|part| part.split("```").next().unwrap_or("")).collect();
    assert_eq!(examples.len(), 6, "examples");
    for example in examples {
        let (passed, wrong) = run_text(&session, Path::new("integrals.md"), example);
        assert!(wrong.is_empty() && passed > 0, "{example}\n{wrong}");
    }
}

/// What the chapter on gradients shows: files whose tests pass, and functions as the compiler prints them.
#[test]
fn the_chapter_on_gradients_is_true() {
    let page = std::fs::read_to_string(folder("../docs/src/gradients.md")).expect("the page exists");
    let blocks = |kind: &str| -> Vec<String> {
        let start = format!("```{kind}\n");
        let parts = page.split(start.as_str()).skip(1);
        parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
    };
    let host = Host::default();
    let imports = SearchPath::on_disk(Vec::new());
    let session =
        Session { imports: &imports, externals: &host.externals, ..Session::new(&host.globals, &host.closures) };
    let examples = blocks("c");
    assert!(examples.len() >= 4, "{} examples", examples.len());
    for example in &examples {
        let (passed, wrong) = run_text(&session, Path::new("gradients.md"), example);
        assert!(wrong.is_empty() && passed > 0, "{example}\n{wrong}");
    }
    let host = Host::default();
    let dumps = [Stage::Lowered, Stage::Differentiated].map(|stage| host.stage(&examples[0], stage).to_string());
    let blocks = blocks("text");
    let listings = blocks.iter().filter(|block| block.starts_with("fn @"));
    let functions: Vec<&str> = listings.flat_map(|block| block.split("\n\n")).collect();
    assert!(functions.len() >= 3, "{} functions", functions.len());
    for shown in functions {
        assert!(dumps.iter().any(|dump| dump.contains(shown.trim())), "the page shows what is not made:\n{shown}");
    }
}
