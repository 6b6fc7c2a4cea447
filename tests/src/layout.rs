//! What formatting a file must not change, found without the formatter's own means.

use crate::explain;
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{on_large_stack, syntax};

pub fn format(text: &str) -> Result<String, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", text);
    ssl_compiler::format(&sources, file).map_err(|d| explain(&sources, &d))
}

/// The tree of a text, or `None` if it does not parse.
pub fn tree(text: &str) -> Option<String> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", text);
    let mut diagnostics = Diagnostics::new();
    let parsed = on_large_stack(|| syntax::print::tree(&syntax::parse(&sources, file, &mut diagnostics)));
    (!diagnostics.has_errors()).then_some(parsed)
}

/// Whether there are words that mean nothing; sources that must not compile may have them.
fn has_unknown_words(text: &str) -> bool {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", text);
    let mut diagnostics = Diagnostics::new();
    syntax::lexer::lex(file, text, &mut diagnostics);
    diagnostics.has_errors()
}

/// The comments of a text, blanks at the ends of their lines aside.
fn comments(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |i| i + 2)
        } else {
            let string = rest.strip_prefix('"').map_or(0, |inside| inside.find('"').map_or(rest.len(), |i| i + 2));
            rest = &rest[string.max(c.len_utf8())..];
            continue;
        };
        found.push(rest[..length].lines().map(str::trim).collect::<Vec<_>>().join("\n"));
        rest = &rest[length..];
    }
    found
}

/// What is wrong with how a text is formatted.
pub fn complaint(text: &str) -> Option<String> {
    let once = match format(text) {
        Ok(once) => once,
        Err(_) if tree(text).is_none() || has_unknown_words(text) => return None,
        Err(e) => return Some(e),
    };
    match format(&once) {
        Ok(twice) if twice == once => {}
        Ok(twice) => return Some(format!("once\n{once}\ntwice\n{twice}")),
        Err(e) => return Some(format!("once\n{once}\ntwice\n{e}")),
    }
    if tree(text) != tree(&once) {
        return Some(format!("another program:\n{once}"));
    }
    if comments(text) != comments(&once) {
        return Some(format!("comments were lost or changed:\n{once}"));
    }
    let blank = once.lines().any(|l| l.ends_with(' ')) || once.contains("\n\n\n") || !once.ends_with('\n');
    (blank && !once.is_empty()).then(|| format!("blanks are left:\n{once}"))
}
