//! The parser's engine: tokens, errors and recovery, and the statements. Expressions and items have
//! files of their own.

use super::ast::*;
use super::lexer::{Token, TokenKind, lex};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::source::{FileId, SourceMap, Span};
use crate::types::Type;
use std::collections::HashSet;

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
    let tokens = lex(file, &text, diagnostics);
    let mut parser =
        Parser { text: &text, tokens, at: 0, depth: 0, gave_up: false, types: HashSet::new(), diagnostics };
    parser.file()
}

pub(super) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    pub depth: usize,
    /// The rest of the file is skipped, and nothing more is said about it.
    gave_up: bool,
    /// Names of the structs declared so far.
    pub types: HashSet<String>,
    diagnostics: &'a mut Diagnostics,
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

    pub fn error<T>(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) -> Parsed<T> {
        if !self.gave_up {
            self.diagnostics.push(Diagnostic::error(&codes::SYNTAX, span, message, hint));
        }
        Err(Recover)
    }

    pub fn expect(&mut self, punct: &str, context: &str) -> Parsed<Span> {
        if self.is(punct) {
            return Ok(self.advance().span);
        }
        let found = self.describe();
        // A missing `;` or `)` is best shown behind what it should follow.
        let previous = self.previous();
        let behind = matches!(punct, ";" | ")" | "]" | "}" | ",") && self.at > 0;
        let span = if behind { Span { start: previous.end.saturating_sub(1), ..previous } } else { self.peek().span };
        self.error(span, format!("expected `{punct}` {context}, found {found}"), format!("add `{punct}` here"))
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
            return Ok(Ident { text: self.slice(token.span).to_owned(), span: token.span });
        }
        let found = self.describe();
        let hint = match token.kind {
            TokenKind::Name => "this word is part of the language: choose another name",
            _ => "names start with a letter or `_`",
        };
        self.error(token.span, format!("expected {what}, found {found}"), hint)
    }

    /// Whether `word` names a type here.
    pub fn is_type(&self, word: &str) -> bool {
        Type::from_name(word).is_some() || self.types.contains(word)
    }

    pub fn type_name(&mut self) -> Parsed<TypeName> {
        let token = self.peek();
        if token.kind == TokenKind::Name {
            let text = self.slice(token.span);
            if self.is_type(text) || !is_reserved(text) {
                self.advance();
                return Ok(TypeName { name: Ident { text: text.to_owned(), span: token.span } });
            }
        }
        let found = self.describe();
        self.error(
            token.span,
            format!("expected a type, found {found}"),
            "such as `float`, `color` or the name of a struct",
        )
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
    fn skip_statement(&mut self) {
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

    /// The statements of a block whose `{` was taken, with the `}`.
    pub fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.nested(|p| {
            let mut list = Vec::new();
            while !p.is("}") {
                if p.peek().kind == TokenKind::End {
                    p.expect("}", "to close the block")?;
                }
                match p.statement() {
                    Ok(s) => list.push(s),
                    Err(Recover) => {
                        let span = p.previous();
                        p.skip_statement();
                        // What was here may have been anything, a `return` for instance.
                        list.push(Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Error, span }), span });
                    }
                }
            }
            p.advance();
            Ok(list)
        })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = self.statement_kind()?;
        Ok(Stmt { kind, span: start.to(self.previous()) })
    }

    fn boxed_statement(&mut self) -> Parsed<Box<Stmt>> {
        self.nested(|p| p.statement().map(Box::new))
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        if self.eat(";") {
            return Ok(StmtKind::Empty);
        }
        if self.eat("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        match self.word_at(0) {
            Some("if") => self.if_statement(),
            Some("while") => {
                self.advance();
                let condition = self.parenthesised("after `while`")?;
                Ok(StmtKind::While { condition, body: self.boxed_statement()? })
            }
            Some("do") => {
                self.advance();
                let body = self.boxed_statement()?;
                if !self.eat_word("while") {
                    let (span, found) = (self.peek().span, self.describe());
                    return self.error(
                        span,
                        format!("expected `while` after the body of `do`, found {found}"),
                        "a `do` loop ends with `while (condition);`",
                    );
                }
                let condition = self.parenthesised("after `while`")?;
                self.expect(";", "after the condition of `do`")?;
                Ok(StmtKind::DoWhile { body, condition })
            }
            Some("for") => self.for_statement(),
            Some("break") => self.keyword_statement(StmtKind::Break),
            Some("continue") => self.keyword_statement(StmtKind::Continue),
            Some("return") => {
                self.advance();
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";", "after `return`")?;
                Ok(StmtKind::Return(value))
            }
            Some("else") => {
                let span = self.peek().span;
                self.error(span, "`else` without an `if`", "remove it, or check the braces before it")
            }
            _ if self.starts_declaration() => Ok(StmtKind::Declaration(self.declaration()?)),
            _ => {
                let e = self.expression()?;
                self.expect(";", "after the expression")?;
                Ok(StmtKind::Expr(e))
            }
        }
    }

    fn keyword_statement(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        let span = self.advance().span;
        let word = self.slice(span);
        self.expect(";", &format!("after `{word}`"))?;
        Ok(kind)
    }

    pub fn parenthesised(&mut self, context: &str) -> Parsed<Expr> {
        self.expect("(", context)?;
        let e = self.expression()?;
        self.expect(")", "to close the condition")?;
        Ok(e)
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let condition = self.parenthesised("after `if`")?;
        let then = self.boxed_statement()?;
        let otherwise = if self.eat_word("else") { Some(self.boxed_statement()?) } else { None };
        Ok(StmtKind::If { condition, then, otherwise })
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(", "after `for`")?;
        let start = self.peek().span;
        let kind = if self.eat(";") {
            StmtKind::Empty
        } else if self.starts_declaration() {
            StmtKind::Declaration(self.declaration()?)
        } else {
            let e = self.expression()?;
            self.expect(";", "after the start of `for`")?;
            StmtKind::Expr(e)
        };
        let init = Box::new(Stmt { kind, span: start.to(self.previous()) });
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";", "after the condition of `for`")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")", "to close the head of `for`")?;
        Ok(StmtKind::For { init, condition, step, body: self.boxed_statement()? })
    }

    /// Declarations start with `const`, or a type followed by a name.
    pub fn starts_declaration(&self) -> bool {
        match self.word_at(0) {
            Some("const") => true,
            Some(word) if self.is_type(word) => matches!(self.peek_at(1).kind, TokenKind::Name),
            // Two names in a row can only be a declaration with a type that was not declared.
            Some(word) => !is_reserved(word) && self.word_at(1).is_some_and(|w| !is_reserved(w)),
            None => false,
        }
    }

    /// A declaration with its `;`.
    pub fn declaration(&mut self) -> Parsed<Declaration> {
        let start = self.peek().span;
        let is_const = self.eat_word("const");
        let ty = self.type_name()?;
        let mut declarators = Vec::new();
        loop {
            declarators.push(self.declarator()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(Declaration { is_const, ty, declarators, span: start.to(self.previous()) })
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.ident("a name")?;
        let dims = self.dimensions()?;
        let init = if self.eat("=") { Some(self.initialiser()?) } else { None };
        Ok(Declarator { name, dims, init })
    }

    pub fn dimensions(&mut self) -> Parsed<Vec<Expr>> {
        let mut dims = Vec::new();
        while self.eat("[") {
            dims.push(self.assignment()?);
            self.expect("]", "after the array's size")?;
        }
        Ok(dims)
    }
}

/// Words that cannot name anything.
pub(super) fn is_reserved(word: &str) -> bool {
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
            | "shader"
            | "true"
            | "false"
            | "import"
    ) || Type::from_name(word).is_some()
}
