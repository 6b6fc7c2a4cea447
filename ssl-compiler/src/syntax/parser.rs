//! The parser's engine: tokens, errors and recovery, and the statements. Expressions and items have
//! files of their own.

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

    /// The statements of a block whose `{` was taken, with the `}`.
    pub fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.nested(|p| {
            let mut list = Vec::new();
            while !p.is("}") {
                if p.peek().kind == TokenKind::End {
                    p.expect("}", "to close the block")?;
                    break;
                }
                list.push(p.recovered_statement());
            }
            p.advance();
            Ok(list)
        })
    }

    /// A statement, or what stands for one that was not understood.
    pub(super) fn recovered_statement(&mut self) -> Stmt {
        self.statement().unwrap_or_else(|Recover| {
            let span = self.previous();
            self.skip_statement();
            // What was here may have been anything, a `return` for instance.
            Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Error, span }), span }
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

    /// What belongs to the statement that starts with `head`.
    fn body(&mut self, head: Span) -> Parsed<Box<Stmt>> {
        self.warn_empty_body(head);
        let braces = self.is("{");
        let body = self.boxed_statement()?;
        if !braces {
            self.warn_indentation(head, body.span);
        }
        Ok(body)
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        self.skip_qualifiers();
        if self.is("[") && !self.at_osl_metadata() {
            let attributes = self.attributes()?;
            return Ok(StmtKind::Attributed(attributes, self.boxed_statement()?));
        }
        if self.eat(";") {
            return Ok(StmtKind::Empty);
        }
        if self.eat("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        match self.word_at(0) {
            Some("if") => self.if_statement(),
            Some("while") => {
                let head = self.advance().span;
                let condition = self.parenthesised("after `while`")?;
                Ok(StmtKind::While { condition, body: self.body(head)? })
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
            Some("switch") => self.switch_statement(),
            Some(word @ ("case" | "default")) => {
                let (span, message) = (self.peek().span, format!("`{word}` outside the braces of a `switch`"));
                self.error(span, message, "labels stand directly in the braces, in no block inside them")
            }
            Some("break") => self.keyword_statement(StmtKind::Break),
            Some("continue") => self.keyword_statement(StmtKind::Continue),
            Some("return") => {
                self.advance();
                let value = match (self.is(";"), self.is("{")) {
                    (true, _) => None,
                    (_, true) => Some(self.initialiser()?),
                    _ => Some(self.expression()?),
                };
                self.expect(";", "after `return`")?;
                Ok(StmtKind::Return(value))
            }
            Some(word @ ("struct" | "enum" | "typedef")) if word == "typedef" || self.declares_type() => {
                let span = self.peek().span;
                self.error(span, format!("`{word}` inside a function"), "declare it above, outside of all braces")
            }
            Some("import") => {
                let span = self.peek().span;
                self.error(span, "an import inside a function", "imports stand outside of all braces")
            }
            Some("else") => {
                let span = self.advance().span;
                let hint = "remove it, or check the `;` and braces before it";
                self.report(Diagnostic::error(&codes::STRAY_ELSE, span, "`else` without an `if`", hint));
                self.nested(Self::statement_kind)
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
        let head = self.advance().span;
        let condition = self.parenthesised("after `if`")?;
        let then = self.body(head)?;
        let otherwise = if self.is_word("else") {
            let head = self.advance().span;
            let chained = self.is_word("if");
            Some(if chained { self.boxed_statement()? } else { self.body(head)? })
        } else {
            None
        };
        Ok(StmtKind::If { condition, then, otherwise })
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        let head = self.advance().span;
        self.expect("(", "after `for`")?;
        self.refuse_each()?;
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
        Ok(StmtKind::For { init, condition, step, body: self.body(head)? })
    }

    /// Declarations start with `const`, or a type followed by a name.
    pub fn starts_declaration(&self) -> bool {
        match self.word_at(0) {
            Some("const") => true,
            Some("struct" | "enum") => !self.declares_type(),
            Some(word) if foreign::is_compound(word) => self.word_at(self.type_length(0)).is_some(),
            Some(word) if self.is_type(word) || self.type_end(0) > 1 => {
                matches!(self.peek_at(self.declared_type_end(0)).kind, TokenKind::Name) || self.starts_pointer()
            }
            // `T.Sample x`: the name of a variable is no type.
            Some(word) if !is_reserved(word) && self.is_at(1, ".") => {
                self.peek_at(self.declared_type_end(0)).kind == TokenKind::Name
            }
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
        self.refuse_pointer()?;
        let mut declarators = Vec::new();
        loop {
            let (declarator, understood) = self.declarator()?;
            declarators.push(declarator);
            if !understood {
                self.skip_statement();
                return Ok(Declaration { is_const, ty, declarators, span: start.to(self.previous()) });
            }
            let before = self.previous();
            if !self.eat(",") || self.decimal_comma(before) {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(Declaration { is_const, ty, declarators, span: start.to(self.previous()) })
    }

    /// A name with what it is made of; whether that was understood. The name is declared in any case.
    fn declarator(&mut self) -> Parsed<(Declarator, bool)> {
        let name = self.ident("a name")?;
        let counted = self.eat_empty_brackets();
        let Ok(mut dims) = self.dimensions() else {
            // Its size being unknown, its type is.
            let dims = vec![self.not_understood()];
            return Ok((Declarator { name, dims, init: None }, false));
        };
        self.refuse_metadata("a variable or constant")?;
        if !self.eat("=") {
            if let Some(brackets) = counted {
                self.missing_size(brackets);
                dims = vec![self.not_understood()];
            }
            return Ok((Declarator { name, dims, init: None }, true));
        }
        let init = self.initialiser();
        let understood = init.is_ok();
        if let Some(brackets) = counted {
            dims.insert(0, self.counted_size(brackets, init.as_ref().ok()));
        }
        let init = Some(init.unwrap_or_else(|Recover| self.not_understood()));
        if understood {
            self.refuse_metadata("a variable or constant")?;
        }
        Ok((Declarator { name, dims, init }, understood))
    }

    pub fn dimensions(&mut self) -> Parsed<Vec<Expr>> {
        let mut dims = Vec::new();
        while !self.at_osl_metadata() && self.eat("[") {
            if self.is("]") {
                let brackets = self.previous().to(self.advance().span);
                self.missing_size(brackets);
                dims.push(self.not_understood());
                continue;
            }
            dims.push(self.assignment()?);
            self.expect("]", "after the array's size")?;
        }
        Ok(dims)
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
