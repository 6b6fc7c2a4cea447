//! Every `.ssl` file in `shaders/` is a set of tests in the language itself; each must pass on every
//! back end.

use ssl_compiler::BackendKind;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, explain, files, folder};

#[test]
fn all_tests_in_the_language_pass_on_every_backend() {
    let host = Host::default();
    let session = Session { globals: &host.globals, closures: &host.closures, backends: &BackendKind::ALL };
    let mut wrong = String::new();
    let mut passed = 0;
    for path in files(&folder("shaders"), &["ssl"]) {
        let mut sources = SourceMap::new();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let file = sources.add(name, std::fs::read_to_string(&path).expect("the file is readable"));
        let reports = match run_file(&session, &sources, file) {
            Ok((reports, _)) => reports,
            Err(diagnostics) => {
                wrong.push_str(&explain(&sources, &diagnostics));
                continue;
            }
        };
        assert!(!reports.is_empty(), "{} has no tests", path.display());
        for report in reports {
            passed += usize::from(report.passed());
            for failure in &report.failures {
                let place = sources.place(failure.span);
                wrong.push_str(&format!("{place}: `{}` on {}: {}\n", report.name, report.backend, failure.message));
                wrong.push_str(&format!("    {}\n", failure.reproduce.as_deref().unwrap_or("")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(passed > 100, "only {passed} tests were found");
}
