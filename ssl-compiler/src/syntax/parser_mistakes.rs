//! What the parser says about text that does not fit the grammar, and how it recovers: if it is plain what is missing,
//! the parser goes on as if it were there, so one mistake makes one message.

use super::ast::{Expr, ExprKind};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover, is_reserved};
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::source::Span;

/// Qualifiers of C, GLSL, HLSL and OSL that mean nothing here.
const QUALIFIERS: &[&str] = &[
    "static",
    "uniform",
    "varying",
    "extern",
    "inline",
    "volatile",
    "register",
    "highp",
    "mediump",
    "lowp",
    "precise",
    "flat",
    "nointerpolation",
    "attribute",
    "public",
    "private",
    "signed",
    "constexpr",
    "mutable",
    "groupshared",
];

/// Bytes of a text that a replacement may repeat.
const MAX_REPLACED: usize = 200;

/// Shader kinds of OSL and RSL, and other spellings of the one there is.
const SHADER_KINDS: &[&str] = &["surface", "displacement", "volume", "Shader", "SHADER"];

impl Parser<'_> {
    /// Reports a mistake and gives up the current construct.
    pub fn fail<T>(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Parsed<T> {
        self.report(Diagnostic::error(code, span, message, hint));
        Err(Recover)
    }

    /// Reports that a punctuation is missing; where it is plain that it was only forgotten, it is taken as read.
    pub fn missing(&mut self, punct: &str, context: &str) -> Parsed<Span> {
        let previous = self.previous();
        let behind = Span { start: previous.end, ..previous };
        let forgotten = self.at > 0 && self.is_forgotten(punct);
        if !self.gave_up {
            let diagnostic = self.missing_diagnostic(punct, context, behind);
            self.report(if forgotten { diagnostic.with_fix(behind, punct) } else { diagnostic });
        }
        if forgotten { Ok(behind) } else { Err(Recover) }
    }

    fn missing_diagnostic(&self, punct: &str, context: &str, behind: Span) -> Diagnostic {
        let message = format!("expected `{punct}` {context}, found {}", self.describe());
        let closes = matches!(punct, ")" | "]" | "}");
        if self.at == 0 || !(closes || matches!(punct, ";" | ",")) {
            Diagnostic::error(&codes::SYNTAX, self.peek().span, message, self.spelling(punct))
        } else if closes {
            let d = Diagnostic::error(&codes::MISSING_BRACKET, behind, message, self.spelling(punct));
            match self.opening(punct) {
                Some(open) => d.with_label(open, "opened here"),
                None => d,
            }
        } else {
            let code = if punct == ";" { &codes::MISSING_SEMICOLON } else { &codes::SYNTAX };
            Diagnostic::error(code, behind, message, self.spelling(punct))
        }
    }

    /// What to do about a missing punctuation; words of other languages stand in its place often.
    fn spelling(&self, punct: &str) -> String {
        match self.word_at(0) {
            Some("and") => "write `&&`".to_owned(),
            Some("or") => "write `||`".to_owned(),
            Some("elif" | "elsif" | "elseif") => "write `else if`".to_owned(),
            Some("then") => "remove `then`".to_owned(),
            _ if punct == "(" => "add the parentheses".to_owned(),
            _ => format!("add `{punct}` here"),
        }
    }

    fn is_forgotten(&self, punct: &str) -> bool {
        let next = self.peek();
        let gap = &self.text[self.previous().end as usize..next.span.start as usize];
        let starts_statement = matches!(
            self.word_at(0),
            Some("return" | "if" | "for" | "while" | "do" | "break" | "continue" | "const" | "switch")
        );
        let end = next.kind == TokenKind::End;
        match punct {
            ";" => gap.contains('\n') || self.is("}") || starts_statement || end,
            ")" => self.is(";") || self.is("{") || self.is("}") || starts_statement,
            "]" => self.is(";") || self.is(")") || self.is("=") || self.is(",") || self.is("}"),
            "}" => end,
            _ => false,
        }
    }

    /// The bracket that `closing` would close.
    fn opening(&self, closing: &str) -> Option<Span> {
        if self.diagnostics.is_full() {
            return None;
        }
        let mut open = 0usize;
        for token in self.tokens[..self.at].iter().rev() {
            match token.kind {
                TokenKind::Punct(")" | "]" | "}") => open += 1,
                TokenKind::Punct(p @ ("(" | "[" | "{")) => {
                    let fits = matches!((p, closing), ("(", ")") | ("[", "]") | ("{", "}"));
                    if open == 0 {
                        return fits.then_some(token.span);
                    }
                    open -= 1;
                }
                _ => {}
            }
        }
        None
    }

    /// `1,5` where one number was meant: the comma was taken, a second number follows.
    pub fn decimal_comma(&mut self, before: Span) -> bool {
        let next = self.peek();
        let number = |kind| matches!(kind, TokenKind::Int(_) | TokenKind::Float(_));
        if !number(next.kind) || !self.tokens[..self.at].iter().rev().nth(1).is_some_and(|t| number(t.kind)) {
            return false;
        }
        self.advance();
        let both = before.to(next.span);
        let point = format!("{}.{}", self.slice(before), self.slice(next.span));
        let hint = format!("write `{point}`");
        let d = Diagnostic::error(&codes::DECIMAL_COMMA, both, "a number has a point, not a comma", hint);
        self.report(if point.len() < MAX_REPLACED { d.with_fix(both, point) } else { d });
        true
    }

    /// Gets past words that other languages put before a declaration, saying so; whether there was one.
    pub fn skip_qualifiers(&mut self, at_file_level: bool) -> bool {
        let mut any = false;
        while let Some(word) = self.word_at(0).filter(|w| QUALIFIERS.contains(w))
            && self.peek_at(1).kind == TokenKind::Name
        {
            let span = self.advance().span;
            let hint = match word {
                "constexpr" => "write `const`",
                "uniform" | "varying" | "attribute" | "extern" if at_file_level => {
                    "what comes from outside is a parameter of the shader, `shader main(float amount = 1.0, …)`, a global, or a \
                     texture: `texture2d map;`"
                }
                "groupshared" => "points share nothing but `add` buffers, whose elements they add to",
                _ => "leave it out",
            };
            let d = Diagnostic::error(&codes::FOREIGN_QUALIFIER, span, format!("there is no `{word}` here"), hint);
            self.report(d);
            any = true;
        }
        any
    }

    /// Loses the names that the tokens from `start` on seem to declare: the mistake in these tokens was reported. They
    /// stand outside of brackets, or behind a type.
    pub(super) fn lose_names(&mut self, start: usize) {
        let (mut braces, mut parentheses) = (0usize, 0usize);
        for i in start..self.at {
            match self.tokens[i].kind {
                TokenKind::Punct("{") => braces += 1,
                TokenKind::Punct("}") => braces = braces.saturating_sub(1),
                TokenKind::Punct("(") => parentheses += 1,
                TokenKind::Punct(")") => parentheses = parentheses.saturating_sub(1),
                TokenKind::Name if parentheses == 0 => {
                    let word = self.slice(self.tokens[i].span);
                    let before = i.checked_sub(1).filter(|before| *before >= start).map(|before| self.tokens[before]);
                    let is_declared = before.is_some_and(|t| match t.kind {
                        TokenKind::Punct(">") => true,
                        TokenKind::Name => self.is_type(self.slice(t.span)) || !is_reserved(self.slice(t.span)),
                        _ => false,
                    });
                    if !is_reserved(word) && (braces == 0 || is_declared) {
                        self.broken.insert(word.to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    /// `surface main(…)` and its kin, which are shaders; says so.
    pub fn foreign_shader(&mut self) -> bool {
        let Some(word) = self.word_at(0).filter(|w| SHADER_KINDS.contains(w)) else { return false };
        if self.peek_at(1).kind != TokenKind::Name || !self.is_at(2, "(") {
            return false;
        }
        let span = self.peek().span;
        let message = format!("there is no kind of shader `{word}`");
        let d = Diagnostic::error(&codes::FOREIGN_QUALIFIER, span, message, "write `shader`");
        self.report(d.with_fix(span, "shader"));
        true
    }

    /// A lone `;` as the body of what starts with `head`, where that is hardly meant.
    pub fn warn_empty_body(&mut self, head: Span) {
        let word = self.slice(head);
        let loop_with_block = matches!(word, "for" | "while") && self.is_at(1, "{");
        if self.is(";") && (word == "if" || loop_with_block) {
            let span = self.peek().span;
            let hint = "remove it, or write `{}` if nothing shall happen";
            let message = format!("this `;` is all that belongs to the `{word}`");
            self.report(Diagnostic::warning(&codes::EMPTY_BODY, span, message, hint).with_label(head, "this one"));
        }
    }

    /// A statement behind an `if` or loop without braces, indented as if it belonged to it. `body` is where
    /// the one that does belong to it starts.
    pub fn warn_indentation(&mut self, head: Span, body: Span) {
        let next = self.peek();
        if self.gave_up || next.kind == TokenKind::End || self.is("}") || self.is_word("else") {
            return;
        }
        // Where a line starts and its blanks, for what stands first in it.
        let indent = |span: Span| {
            let head = &self.text[..span.start as usize];
            let start = head.trim_end_matches([' ', '\t']).len();
            (start == 0 || head[..start].ends_with('\n')).then_some((start, &head[start..]))
        };
        if let (Some((_, head_at)), Some((body_line, body_at)), Some((next_line, next_at))) =
            (indent(head), indent(body), indent(next.span))
            && body_line != next_line
            && body_at == next_at
            && body_at.len() > head_at.len()
        {
            let message = format!("only the statement before belongs to the `{}`", self.slice(head));
            let hint = "put braces round both, or mend the indentation";
            let d = Diagnostic::warning(&codes::MISLEADING_INDENTATION, next.span, message, hint);
            self.report(d.with_label(head, "this one"));
        }
    }

    /// Stands for a value that was not understood.
    pub fn not_understood(&self) -> Expr {
        Expr { kind: ExprKind::Error, span: self.previous() }
    }

    /// Skips to the `)` that closes what was opened before, and takes it.
    pub fn skip_parameters(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek().kind {
                TokenKind::End | TokenKind::Punct("{" | ";") => return,
                TokenKind::Punct("(") => open += 1,
                TokenKind::Punct(")") if open == 0 => {
                    self.advance();
                    return;
                }
                TokenKind::Punct(")") => open -= 1,
                _ => {}
            }
            self.advance();
        }
    }
}
