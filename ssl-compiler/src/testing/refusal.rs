//! Sources inside tests that must not compile.
//!
//! The source is compiled at its place in the file, with all tests removed. So it can use everything that the file
//! declares and imports, and places are those of the file.

use super::compiled::Session;
use crate::diagnostics::{Code, Diagnostic};
use crate::facade::{CompileOptions, check, lower_checked};
use crate::source::{SourceFile, SourceMap, Span};
use crate::syntax::ast::TestDecl;

/// What compiling a source inside a test said.
pub(super) struct Refusal {
    /// About the source itself, or errors wherever they are.
    found: Vec<Diagnostic>,
}

impl Refusal {
    /// Compiles what stands in `source`, which lies in `file`; `tests` are all of that file.
    pub fn of(session: &Session<'_>, file: &SourceFile, tests: &[TestDecl], source: Span) -> Refusal {
        let mut sources = SourceMap::new();
        let text = alone(&file.text, tests, source);
        let id = match &file.path {
            Some(path) => sources.add_at(file.name.clone(), path.clone(), text),
            None => sources.add(file.name.clone(), text),
        };
        let options = CompileOptions {
            imports: session.imports,
            externals: session.externals,
            passes: session.passes,
            ..CompileOptions::new(session.globals, session.closures)
        };
        let (checked, diagnostics) = check(&mut sources, id, &options);
        let failed = diagnostics.has_errors();
        let mut found = diagnostics.list;
        let inside = |s: Span| s.file == id && s.start >= source.start && s.end <= source.end;
        if !failed {
            // Some mistakes show only when a shader is put together with what it calls.
            for (_, shader) in checked.program.shaders().filter(|(_, f)| inside(f.span)) {
                if let Err(d) = lower_checked(&checked, id, Some(&shader.name), &options, &mut |_, _| {}) {
                    found.extend(d.list);
                }
            }
        }
        found.retain(|d| d.is_error() || d.span.is_some_and(inside));
        Refusal { found }
    }

    /// `Ok` if the source is refused with this code, or, where it is a warning's, warned of, and with no
    /// error of another code. Otherwise what was said instead.
    pub fn matches(&self, code: &Code) -> Result<(), String> {
        let met = self.found.iter().any(|d| d.code.id == code.id);
        let other = self.found.iter().find(|d| d.is_error() && d.code.id != code.id);
        match (met, other) {
            (true, None) => Ok(()),
            (true, Some(d)) => Err(format!("{} ({}) as well", d.code.id, d.message)),
            (false, Some(d)) => Err(format!("{} ({})", d.code.id, d.message)),
            (false, None) => Err("nothing of the kind".to_owned()),
        }
    }
}

/// The file's text with every test blanked but for `source`; nothing moves.
fn alone(text: &str, tests: &[TestDecl], source: Span) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for test in tests {
        for (at, byte) in bytes.iter_mut().enumerate().take(test.span.end as usize).skip(test.span.start as usize) {
            let keep = (source.start as usize..source.end as usize).contains(&at) || *byte == b'\n';
            if !keep {
                *byte = b' ';
            }
        }
    }
    // Tests and sources start and end at brackets and words, so no character is cut in two; if one were,
    // it would be a replacement character and be reported.
    String::from_utf8_lossy(&bytes).into_owned()
}
