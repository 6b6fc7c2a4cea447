//! The parser's engine: tokens, errors and recovery. Statements, expressions and items have files of their own.

use super::ast::*;
use super::foreign;
use super::lexer::{Token, TokenKind, lex};
use super::parser_derivatives::PAIR;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::{FileId, SourceMap, Span};
use crate::types::Type;
use std::collections::{BTreeSet, HashSet};

/// How deep blocks and expressions may nest.
///
/// A pair of parentheses takes two or three of these.
pub(super) const MAX_DEPTH: usize = 600;

/// An error was reported; the caller skips to a place where it can go on.
#[derive(Debug)]
pub(super) struct Recover;

pub(super) type Parsed<T> = Result<T, Recover>;

/// Parses a file. What could not be understood is reported and left out of the tree.
pub fn parse(sources: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> File {
    let text = sources.get(file).text.clone();
    let before = diagnostics.list.len();
    let tokens = lex(file, &text, diagnostics);
    let lexed = before..diagnostics.list.len();
    let mut parser = Parser {
        text: &text,
        tokens,
        at: 0,
        depth: 0,
        gave_up: false,
        types: HashSet::new(),
        generic_names: HashSet::new(),
        broken: macros(&text).collect(),
        called: BTreeSet::new(),
        called_with: BTreeSet::new(),
        named_in_tests: BTreeSet::new(),
        diagnostics,
    };
    let words = parser.tokens.iter().map(|t| (t.kind, &parser.text[t.span.range()]));
    parser.generic_names = super::parser_generics::generic_names(words);
    let items = parser.file().items;
    parser.leave_to_tests(lexed, &items);
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    File {
        items,
        broken: parser.broken,
        called: owned(parser.called),
        called_with: parser.called_with,
        named_in_tests: owned(parser.named_in_tests),
    }
}

/// Names that `#define` lines would give a meaning to.
fn macros(text: &str) -> impl Iterator<Item = String> {
    let names = text.lines().filter_map(|l| l.trim_start().strip_prefix("#define"));
    names.filter_map(|rest| {
        let name: String = rest.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some(name)
    })
}

pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub depth: usize,
    /// The rest of the file is skipped, and nothing more is said about it.
    pub gave_up: bool,
    /// Names of the types declared so far.
    pub types: HashSet<String>,
    /// Names of the functions that are declared with `<…>`.
    pub generic_names: HashSet<&'a str>,
    /// Names whose declarations were not understood.
    pub broken: HashSet<String>,
    pub called: BTreeSet<&'a str>,
    pub called_with: BTreeSet<(String, String)>,
    pub named_in_tests: BTreeSet<&'a str>,
    pub diagnostics: &'a mut Diagnostics,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    pub fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    pub fn is(&self, punct: &str) -> bool {
        self.is_at(0, punct)
    }

    pub fn is_at(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.peek_at(ahead).kind, TokenKind::Punct(p) if p == punct)
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.peek().kind == TokenKind::Name && self.slice(self.peek().span) == word
    }

    pub fn word_at(&self, ahead: usize) -> Option<&'a str> {
        let token = self.peek_at(ahead);
        (token.kind == TokenKind::Name).then(|| self.slice(token.span))
    }

    pub fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Where the last token ended; the natural place for a missing `;`.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Reports something from which the parser need not recover.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if !self.gave_up {
            self.diagnostics.push(diagnostic);
        }
    }

    pub fn error<T>(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Parsed<T> {
        self.fail(&codes::SYNTAX, span, message, hint)
    }

    pub fn expect(&mut self, punct: &str, context: &str) -> Parsed<Span> {
        if self.is(punct) {
            return Ok(self.advance().span);
        }
        self.missing(punct, context)
    }

    /// The current token for a message.
    pub fn describe(&self) -> String {
        let token = self.peek();
        match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.slice(token.span)),
        }
    }

    pub fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind == TokenKind::Name && !is_reserved(self.slice(token.span)) {
            self.advance();
            self.refuse_qualified(token.span)?;
            return Ok(Ident { text: self.slice(token.span).to_owned(), span: token.span });
        }
        let found = self.describe();
        if token.kind != TokenKind::Name {
            let hint = "names start with a letter or `_`";
            return self.error(token.span, format!("expected {what}, found {found}"), hint);
        }
        let message = format!("{found} is a word of the language, no name");
        let hint = "choose another name";
        let d = Diagnostic::error(&codes::RESERVED_WORD, token.span, message, hint);
        self.report(d);
        // Where only the name is wrong, the rest is read on.
        match self.peek_at(1).kind {
            TokenKind::Punct("=" | ";" | "," | ")" | "[") => {
                self.advance();
                Ok(Ident { text: self.slice(token.span).to_owned(), span: token.span })
            }
            _ => Err(Recover),
        }
    }

    /// What is declared belongs to its own file.
    pub fn refuse_qualified(&mut self, span: Span) -> Parsed<()> {
        if !self.slice(span).contains("::") {
            return Ok(());
        }
        let message = format!("`{}` cannot be declared here", self.slice(span));
        self.error(span, message, "names with `::` belong to imported files; declare a name of this file's own")
    }

    /// Whether `word` names a type here.
    pub fn is_type(&self, word: &str) -> bool {
        Type::from_name(word).is_some() || word == PAIR || self.types.contains(word)
    }

    pub fn type_name(&mut self) -> Parsed<TypeName> {
        self.skip_type_word();
        let token = self.peek();
        if token.kind == TokenKind::Name {
            let text = self.slice(token.span);
            if self.is_type(text) || !is_reserved(text) {
                let name = self.type_words();
                return self.type_behind(name);
            }
        }
        let found = self.describe();
        self.error(
            token.span,
            format!("expected a type, found {found}"),
            "such as `float`, `color` or the name of a struct",
        )
    }

    /// How many words the name of a type has that starts so far ahead: one in SSL, more where an author
    /// writes `unsigned int` or OSL's `closure color`.
    pub(super) fn type_length(&self, ahead: usize) -> usize {
        match self.word_at(ahead) {
            Some("closure") if self.word_at(ahead + 1) == Some("color") => 2,
            Some(word) if foreign::is_compound(word) => {
                1 + (1..).take_while(|i| self.word_at(ahead + i).is_some_and(foreign::continues)).count()
            }
            _ => 1,
        }
    }

    fn type_words(&mut self) -> Ident {
        let length = self.type_length(0);
        let words: Vec<&str> = (0..length).filter_map(|i| self.word_at(i)).collect();
        let text = if words.contains(&"double") { "double" } else { words[0] }.to_owned();
        let start = self.advance().span;
        (1..length).for_each(|_| {
            self.advance();
        });
        let span = start.to(self.previous());
        if words[0] == "closure" && length > 1 {
            let hint = "closures carry their color as a weight: write `closure`";
            self.report(Diagnostic::error(&codes::FOREIGN_TYPE, span, "there is no type `closure color`", hint));
        }
        Ident { text, span }
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.peek().span;
            let message = "this nests too deeply";
            self.diagnostics.push(Diagnostic::error(
                &codes::NESTING,
                span,
                message,
                "split it with variables or functions",
            ));
            self.at = self.tokens.len() - 1;
            self.gave_up = true;
            return Err(Recover);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Skips past the current statement: behind the next `;`, or before the `}` that closes the block.
    pub fn skip_statement(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek().kind {
                TokenKind::End => return,
                TokenKind::Punct("{") => open += 1,
                TokenKind::Punct("}") if open == 0 => return,
                TokenKind::Punct("}") => {
                    open -= 1;
                    if open == 0 {
                        self.advance();
                        return;
                    }
                }
                TokenKind::Punct(";") if open == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }
}

/// Words that cannot name anything.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "break"
            | "continue"
            | "return"
            | "switch"
            | "case"
            | "default"
            | "const"
            | "in"
            | "out"
            | "inout"
            | "struct"
            | "enum"
            | "typedef"
            | "shader"
            | "true"
            | "false"
            | "import"
            | "fwd_diff"
            | "bwd_diff"
            | "no_diff"
            | THIS
            | PAIR
    ) || Type::from_name(word).is_some()
}
