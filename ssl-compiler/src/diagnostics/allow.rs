//! `// ssl: allow(W0401, W0403)` in a source drops those warnings there.
//!
//! Behind code, it applies to its own line. Alone on a line, it applies to the next line with code.

use super::Diagnostics;
use crate::source::{SourceFile, SourceMap};

const MARK: &str = "// ssl: allow(";

/// Leaves out the warnings that their sources allow.
pub fn apply(diagnostics: &mut Diagnostics, sources: &SourceMap) {
    diagnostics.list.retain(|d| {
        let Some(span) = d.span.filter(|_| !d.is_error()) else { return true };
        let file = sources.get(span.file);
        !allowed(file, file.line_column(span.start).0, d.code.id)
    });
}

fn allowed(file: &SourceFile, line: usize, id: &str) -> bool {
    let names = |text: &str| {
        let list = text.find(MARK).map(|at| &text[at + MARK.len()..]).and_then(|rest| rest.split(')').next());
        list.is_some_and(|list| list.split(',').any(|c| c.trim().eq_ignore_ascii_case(id)))
    };
    // Lines of comments above, nearest first.
    let above = (1..line).rev().map(|l| file.line(l)).take_while(|l| l.trim_start().starts_with("//"));
    names(file.line(line)) || above.into_iter().any(names)
}

#[cfg(test)]
mod tests {
    use super::apply;
    use crate::diagnostics::{Diagnostic, Diagnostics, codes};
    use crate::source::{SourceMap, Span};

    #[test]
    fn a_comment_speaks_of_its_line_or_the_next() {
        let text =
            "a; // ssl: allow(W0402)\n// ssl: allow(W0401, w0402)\n// and why\nb;\nc;\n// ssl: allow(W0401)\nd;\n";
        let mut sources = SourceMap::new();
        let file = sources.add("a.ssl", text);
        let mut all = Diagnostics::new();
        for name in ["a;", "b;", "c;", "d;"] {
            let at = text.find(name).expect("the text has it");
            all.push(Diagnostic::warning(&codes::UNUSED_RESULT, Span::new(file, at..at + 1), name, "hint"));
        }
        all.push(Diagnostic::error(&codes::SYNTAX, Span::new(file, 0..1), "error", "hint"));
        apply(&mut all, &sources);
        assert_eq!(all.list.iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), ["c;", "d;", "error"]);
    }
}
