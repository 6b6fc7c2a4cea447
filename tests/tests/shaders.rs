//! Every `.ssl` file in `shaders/` is a set of tests in the language itself; each must pass on every
//! back end, with every optimisation and with none. Those in `host_shaders/` call functions that only the host
//! of these tests has, so `shade test` cannot run them.

use ssl_compiler::backend::OptLevel;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::pipeline::Options;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, explain, files, folder};
use std::path::Path;

/// Runs one file's tests; how many passed, and what is wrong.
fn run(session: &Session<'_>, path: &Path) -> (usize, String) {
    let mut sources = SourceMap::new();
    let name = path.strip_prefix(folder("")).unwrap_or(path).to_string_lossy().into_owned();
    let file = sources.add_at(name, path.to_owned(), std::fs::read_to_string(path).expect("the file is readable"));
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
fn all_tests_in_the_language_pass_unoptimised() {
    run_all(Options { optimise: false, ..Options::default() }, OptLevel::O0);
}
