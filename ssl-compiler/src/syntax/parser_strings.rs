//! String literals: their escapes, and adjacent ones joined to one.

use super::lexer::TokenKind;
use super::parser::Parser;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Parser<'_> {
    /// One or more literals in a row; the caller sees the first.
    pub(super) fn string(&mut self) -> (String, Span) {
        let start = self.peek().span;
        let mut text = String::new();
        while self.peek().kind == TokenKind::Str {
            let span = self.advance().span;
            self.unescape(span, &mut text);
        }
        (text, start.to(self.previous()))
    }

    /// Appends what a literal stands for.
    fn unescape(&mut self, span: Span, out: &mut String) {
        let literal = self.slice(span);
        let inside = literal.strip_prefix('"').unwrap_or(literal);
        let inside = inside.strip_suffix('"').unwrap_or(inside);
        let mut chars = inside.char_indices();
        while let Some((at, c)) = chars.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            // The lexer ends no literal behind a lone backslash, so one without a follower has no end
            // and was reported.
            let Some((_, escaped)) = chars.next() else { return };
            match escaped {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                '\\' | '"' | '\'' => out.push(escaped),
                other => {
                    let start = span.start + 1 + at as u32;
                    let span = Span { start, end: start + 1 + other.len_utf8() as u32, ..span };
                    let message = format!("`\\{}` means nothing in a string", other.escape_debug());
                    let hint = "there are `\\n`, `\\t`, `\\r`, `\\\\` and `\\\"`; for a backslash write `\\\\`";
                    self.report(Diagnostic::error(&codes::BAD_ESCAPE, span, message, hint));
                    out.push(other);
                }
            }
        }
    }
}
