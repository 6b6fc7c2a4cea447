//! The shader files of the tests, checked, with the shaders of which a test expects something.

use renderer::material::ShadingLanguage;
use ssl_compiler::sema::hir::FunctionId;
use ssl_compiler::source::{FileId, SourceMap};
use ssl_compiler::syntax::ast::TestStmtKind;
use ssl_compiler::{Checked, CompileOptions, check};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file of tests.
pub struct Tested {
    pub checked: Checked,
    pub file: FileId,
    pub shaders: Vec<Expected>,
}

/// A shader of which a test expects something after it ran it.
pub struct Expected {
    pub id: FunctionId,
    pub name: String,
    /// The value of an output or a lobe; not only that derivatives agree with differences.
    pub by_value: bool,
}

/// Checks the files; one with errors is a fault.
pub fn tested(paths: &[PathBuf], faults: &mut Vec<String>) -> Vec<Tested> {
    let language = ShadingLanguage::new();
    let options = CompileOptions::new(language.globals(), language.closures());
    let mut found = Vec::new();
    for path in paths {
        let mut sources = SourceMap::new();
        let file = sources.add(path.display().to_string(), std::fs::read_to_string(path).unwrap_or_default());
        let (checked, diagnostics) = check(&mut sources, file, &options);
        if diagnostics.has_errors() {
            faults.push(format!("{} has errors", path.display()));
            continue;
        }
        let shaders = expected_of(&checked);
        found.push(Tested { checked, file, shaders });
    }
    found
}

fn expected_of(checked: &Checked) -> Vec<Expected> {
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    for test in &checked.tests {
        let mut last = None;
        for statement in &test.body {
            match &statement.kind {
                TestStmtKind::Run(name, _) => last = Some(name.text.as_str()),
                TestStmtKind::Expect(what, _) => {
                    if let Some(name) = last {
                        *names.entry(name).or_default() |= matches!(what.text.as_str(), "expect" | "expect_lobe");
                    }
                }
                TestStmtKind::Set(..) | TestStmtKind::ExpectError { .. } | TestStmtKind::Cases(_) => {}
            }
        }
    }
    let shaders = checked.program.shaders().filter_map(|(id, f)| {
        let by_value = *names.get(f.name.as_str())?;
        Some(Expected { id, name: f.name.clone(), by_value })
    });
    shaders.collect()
}
