//! Statements: blocks, branches, loops and jumps, and declarations of variables.

use super::ast::*;
use super::foreign;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover, is_reserved};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Parser<'_> {
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
        self.skip_qualifiers(false);
        if self.refuse_statement()? {
            return Ok(StmtKind::Empty);
        }
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
            _ if self.starts_declaration() => {
                let start = self.peek().span;
                let (mut declaration, ended) = self.unended_declaration()?;
                if ended.is_err() {
                    // The declared names are known.
                    self.skip_statement();
                    declaration.span = start.to(self.previous());
                }
                Ok(StmtKind::Declaration(declaration))
            }
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
                let end = self.behind_brackets(self.declared_type_end(0));
                matches!(self.peek_at(end).kind, TokenKind::Name) || self.starts_pointer()
            }
            Some(word) if foreign::find(word).is_some() && self.is_at(1, "[") => {
                self.peek_at(self.behind_brackets(1)).kind == TokenKind::Name
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
        let (declaration, ended) = self.unended_declaration()?;
        ended.map(|_| declaration)
    }

    /// A declaration, and whether its `;` was found or plainly forgotten.
    fn unended_declaration(&mut self) -> Parsed<(Declaration, Parsed<Span>)> {
        let start = self.peek().span;
        let is_const = self.eat_word("const");
        let ty = self.type_name()?;
        self.refuse_pointer()?;
        let of_type = self.refuse_type_brackets(&ty)?;
        let mut declarators = Vec::new();
        loop {
            let (mut declarator, understood) = self.declarator(&ty)?;
            declarator.dims.extend(of_type.iter().cloned());
            declarators.push(declarator);
            if !understood {
                self.skip_statement();
                let span = start.to(self.previous());
                return Ok((Declaration { is_const, ty, declarators, span }, Ok(span)));
            }
            let before = self.previous();
            if !self.eat(",") || self.decimal_comma(before) {
                break;
            }
        }
        let ended = self.expect(";", "after the declaration");
        Ok((Declaration { is_const, ty, declarators, span: start.to(self.previous()) }, ended))
    }

    /// A name with its dimensions and initial value. Gives whether these were understood. The name is declared in any
    /// case.
    fn declarator(&mut self, ty: &TypeName) -> Parsed<(Declarator, bool)> {
        let name = self.ident("a name")?;
        let counted = self.eat_empty_brackets();
        let Ok(mut dims) = self.dimensions() else {
            // Its size being unknown, its type is.
            let dims = vec![self.not_understood()];
            return Ok((Declarator { name, dims, init: None }, false));
        };
        self.refuse_metadata("a variable or constant")?;
        self.refuse_semantic();
        if self.refuse_start(ty, &name)? {
            return Ok((Declarator { name, dims, init: Some(self.not_understood()) }, false));
        }
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
