//! Expressions: what operators stand between, and what stands alone.

use super::ast::*;
use super::foreign;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, is_reserved};
use super::parser_derivatives::PAIR;
use super::parser_operators::MAX_CHAIN;
use crate::diagnostics::codes;
use crate::source::Span;

/// Names that take an argument in angle brackets.
pub(super) const GENERIC: &[&str] = &[
    "global_value",
    "texture2d_sample",
    "texture2d_sample_alpha",
    "texture2d_sample4",
    "texture2d_sample_grad",
    "texture2d_sample_alpha_grad",
    "texture2d_sample4_grad",
    "texture2d_sample_level",
    "texture2d_sample_alpha_level",
    "texture2d_sample4_level",
    "texture2d_size",
    "make_closure",
];

impl Parser<'_> {
    /// A whole expression, comma operator included.
    pub fn expression(&mut self) -> Parsed<Expr> {
        let mut e = self.assignment()?;
        let mut chain = 0;
        while self.eat(",") {
            chain += 1;
            if chain > MAX_CHAIN {
                let span = self.previous();
                return self.error(
                    span,
                    format!("more than {MAX_CHAIN} commas in a row"),
                    "write statements of their own",
                );
            }
            let right = self.assignment()?;
            let span = e.span.to(right.span);
            e = Expr { kind: ExprKind::Comma(Box::new(e), Box::new(right)), span };
        }
        Ok(e)
    }

    /// A value for a declared variable: an expression or a `{…}` list.
    pub fn initialiser(&mut self) -> Parsed<Expr> {
        if !self.is("{") {
            return self.assignment();
        }
        self.nested(|p| {
            let start = p.advance().span;
            let mut list = Vec::new();
            while !p.is("}") {
                p.refuse_named_member();
                list.push(p.initialiser()?);
                if !p.eat(",") {
                    break;
                }
            }
            let end = p.expect("}", "to close the list")?;
            Ok(Expr { kind: ExprKind::List(list), span: start.to(end) })
        })
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        if self.eat_word("no_diff") {
            let e = self.nested(Self::unary)?;
            let span = start.to(e.span);
            return Ok(Expr { kind: ExprKind::NoDiff(Box::new(e)), span });
        }
        let TokenKind::Punct(p) = self.peek().kind else { return self.postfix() };
        let op = match p {
            "-" => UnaryOp::Neg,
            "+" => UnaryOp::Plus,
            "!" => UnaryOp::Not,
            "~" => UnaryOp::BitNot,
            "++" | "--" => {
                self.advance();
                let target = Box::new(self.nested(Self::unary)?);
                let span = start.to(target.span);
                let delta = if p == "++" { 1 } else { -1 };
                return Ok(Expr { kind: ExprKind::Step { target, delta, prefix: true }, span });
            }
            "(" if self.starts_cast() => {
                self.advance();
                let ty = self.type_name()?;
                self.advance();
                let e = self.nested(Self::unary)?;
                let span = start.to(e.span);
                return Ok(Expr { kind: ExprKind::Cast(ty, Box::new(e)), span });
            }
            _ => return self.postfix(),
        };
        self.advance();
        let e = self.nested(Self::unary)?;
        let span = start.to(e.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(e)), span })
    }

    /// `(type)`, the type being one of another language only where a value follows for sure: `(half) - 1`
    /// may be about a variable.
    fn starts_cast(&self) -> bool {
        let end = self.type_end(1);
        let value =
            |kind| matches!(kind, TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Punct("("));
        self.is_at(end, ")")
            && self
                .word_at(1)
                .is_some_and(|w| self.is_type(w) || foreign::find(w).is_some() && value(self.peek_at(end + 1).kind))
    }

    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut e = self.primary()?;
        for _ in 0..MAX_CHAIN {
            let start = e.span;
            self.refuse_arrow();
            let kind = if self.eat(".") {
                let member = self.member_name()?;
                let called = self.is("(") || self.is("<") && self.starts_generic_call(&member.text);
                match called {
                    true => self.method_call(e, member)?,
                    false => ExprKind::Member(Box::new(e), member),
                }
            } else if self.at_osl_metadata() {
                return self.refuse_osl_metadata();
            } else if self.eat("[") {
                let index = self.expression()?;
                self.expect("]", "after the index")?;
                ExprKind::Index(Box::new(e), Box::new(index))
            } else if self.is("++") || self.is("--") {
                let delta = if self.is("++") { 1 } else { -1 };
                self.advance();
                ExprKind::Step { target: Box::new(e), delta, prefix: false }
            } else {
                return Ok(e);
            };
            e = Expr { kind, span: start.to(self.previous()) };
        }
        self.error(e.span, "too many accesses in a row", "split the expression with variables")
    }

    /// Members may be called like types or built-ins.
    fn member_name(&mut self) -> Parsed<Ident> {
        self.any_name("the name of a member")
    }

    /// A name in a place where no keyword or type can stand.
    pub fn any_name(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind != TokenKind::Name {
            let found = self.describe();
            return self.error(token.span, format!("expected {what}, found {found}"), "write the name here");
        }
        self.advance();
        Ok(Ident { text: self.slice(token.span).to_owned(), span: token.span })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Int(v) => ExprKind::Int(v),
            TokenKind::Float(v) => ExprKind::Float(v),
            TokenKind::Str => {
                let (text, span) = self.string();
                return Ok(Expr { kind: ExprKind::Str(text), span });
            }
            TokenKind::Name => return self.name_expression(),
            TokenKind::Punct("(") => {
                self.advance();
                let e = self.nested(Self::expression)?;
                let end = self.expect(")", "to close the parenthesis")?;
                return Ok(Expr { kind: e.kind, span: token.span.to(end) });
            }
            TokenKind::Punct("*" | "&") if self.peek_at(1).kind == TokenKind::Name => {
                let hint = "variables hold values: write the name alone";
                return self.fail(&codes::FOREIGN_FORM, token.span, "there are no pointers and references", hint);
            }
            _ => {
                self.refuse_operand()?;
                let found = self.describe();
                return self.error(
                    token.span,
                    format!("expected an expression, found {found}"),
                    "a value, a variable or a call belongs here",
                );
            }
        };
        self.advance();
        Ok(Expr { kind, span: token.span })
    }

    fn name_expression(&mut self) -> Parsed<Expr> {
        let span = self.peek().span;
        let text = self.slice(span);
        if let Some(value) = match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        } {
            self.advance();
            return Ok(Expr { kind: ExprKind::Bool(value), span });
        }
        if Mode::from_word(text).is_some() {
            return self.derived_call();
        }
        if self.starts_integral() {
            return self.integral();
        }
        self.refuse_word()?;
        let (length, end) = (self.type_length(0), self.type_end(0));
        // `Pair<float>(…)` may be a function, too.
        let generic = end > length && self.is_at(length, "<") && text != PAIR;
        let of_type = end > length && (self.is_type(text) || self.is_at(end, "("));
        if of_type && !generic || generic && self.names_part(length, end) {
            return self.construct_derived();
        }
        if generic
            && !GENERIC.contains(&text)
            && self.list_of_types(length).is_some_and(|list| self.is_at(list.end, "."))
        {
            return self.type_name().map(TypeName::into_expr);
        }
        if text == THIS {
            self.advance();
            return Ok(Expr { kind: ExprKind::Name(text.to_owned()), span });
        }
        if is_reserved(text) && !self.is_type(text) {
            return self.error(
                span,
                format!("expected an expression, found `{text}`"),
                "this word starts a statement or declaration",
            );
        }
        let name = Ident { text: text.to_owned(), span };
        self.advance();
        if GENERIC.contains(&text) && self.is("<") {
            return self.generic(name);
        }
        if self.is("<") && self.starts_generic_call(text) {
            let types = self.generic_arguments()?;
            let arguments = self.arguments()?;
            let span = span.to(self.previous());
            return Ok(Expr { kind: ExprKind::GenericCall { name, types, arguments }, span });
        }
        if self.is("(") {
            self.called.insert(text);
            let arguments = self.arguments()?;
            if let Some(Expr { kind: ExprKind::Str(first), .. }) = arguments.first() {
                self.called_with.insert((text.to_owned(), first.clone()));
            }
            let span = span.to(self.previous());
            return Ok(Expr { kind: ExprKind::Call(name, arguments), span });
        }
        if self.is_type(text) && self.is("[") {
            let hint = "write a list, such as `{1.0, 2.0}`, for a declared array, an argument or behind `=`";
            return self.fail(&codes::FOREIGN_FORM, span, "arrays have no constructors", hint);
        }
        // Before a dot it is the type that a static method belongs to.
        if self.is_type(text) && !self.is(".") {
            return self.fail(
                &codes::TYPE_AS_VALUE,
                span,
                format!("the type `{text}` is not a value"),
                format!("construct one: `{text}(…)`"),
            );
        }
        Ok(Expr { kind: ExprKind::Name(name.text), span })
    }

    /// Whether `Pair<float>` in front of a token has something of the type behind it: `.make(`, `.Differential(`.
    fn names_part(&self, list: usize, end: usize) -> bool {
        let behind = self.list_of_types(list).map_or(end, |list| list.end);
        let mut at = behind;
        while self.is_at(at, ".") && self.peek_at(at + 1).kind == TokenKind::Name {
            at += 2;
        }
        at > behind && self.is_at(at, "(")
    }

    fn generic(&mut self, name: Ident) -> Parsed<Expr> {
        self.expect("<", "after the name")?;
        let argument = self.any_name("a name between `<` and `>`")?;
        self.expect(">", "after the name")?;
        let arguments = if self.is("(") { Some(self.arguments()?) } else { None };
        let span: Span = name.span.to(self.previous());
        Ok(Expr { kind: ExprKind::Generic { name, argument, arguments }, span })
    }

    pub fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(", "before the arguments")?;
        let mut list = Vec::new();
        while !self.is(")") {
            list.push(self.nested(Self::argument)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the arguments")?;
        Ok(list)
    }

    /// A value, or `name = value`, where the name may be that of a type.
    fn argument(&mut self) -> Parsed<Expr> {
        if self.peek().kind != TokenKind::Name || !self.is_at(1, "=") {
            return self.initialiser();
        }
        let name = self.any_name("the name of a parameter")?;
        self.advance();
        let value = self.initialiser()?;
        let span = name.span.to(value.span);
        Ok(Expr { kind: ExprKind::Named(name, Box::new(value)), span })
    }
}
