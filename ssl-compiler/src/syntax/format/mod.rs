//! One style for a file, without options.
//!
//! Requires that the file parses. Keeps every token and every comment, in order and as written; this is checked before
//! the result is returned. Changes only blanks and line breaks. Formatting a formatted file changes nothing.
//!
//! Works on tokens and not on the tree, so it loses no comment, and lays out unknown syntax by its brackets and
//! semicolons. A nesting deeper than the parser's limit never gets here.

mod document;
mod expressions;
mod statements;
mod words;
mod writer;

use super::lexer::lex;
use super::parser::parse;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::{FileId, SourceMap, Span};
use words::{Between, Words};
use writer::Writer;

/// The text of a file as it should be. Line ends stay what the first one is, and a byte order mark stays.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    parse(sources, file, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let text: &str = &sources.get(file).text;
    // Words that mean nothing may stand in sources that must not compile, but where they end is not known.
    lex(file, text, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let refuse = || {
        let message = "formatting would change more than blanks and line breaks, so nothing is changed";
        let hint = "please report this with the file";
        Diagnostics::from(Diagnostic::error(&codes::FORMATTER, Span::new(file, 0..0), message, hint))
    };
    let words = words_of(file, text).ok_or_else(refuse)?;
    let mut writer = Writer::new(&words);
    writer.file();
    let printed = document::print(&writer.ops);
    let same = words_of(file, &printed).is_some_and(|again| content(&words) == content(&again));
    if !same {
        return Err(refuse());
    }
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let has_returns = text.find('\n').is_some_and(|i| text[..i].ends_with('\r'));
    Ok(format!("{mark}{}", if has_returns { printed.replace('\n', "\r\n") } else { printed }))
}

fn words_of(file: FileId, text: &str) -> Option<Words<'_>> {
    let mut diagnostics = Diagnostics::new();
    let tokens = lex(file, text, &mut diagnostics);
    if diagnostics.has_errors() { None } else { Words::new(text, &tokens) }
}

/// What must not change: the words, and the comments without the blanks at the ends of their lines.
fn content<'a>(words: &Words<'a>) -> (Vec<&'a str>, Vec<Vec<&'a str>>) {
    let mut comments = Vec::new();
    for i in 0..=words.len() {
        let Between { trailing, rows, inline, .. } = &words.get(i).before;
        let all = trailing.iter().chain(rows.iter().flat_map(|r| &r.comments)).chain(inline);
        comments.extend(all.map(|c| c.text.lines().map(str::trim).collect()));
    }
    ((0..words.len()).map(|i| words.text(i)).collect(), comments)
}
