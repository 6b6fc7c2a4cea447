//! Forms of other languages inside of declarations and expressions. The parser names a replacement, and goes on behind
//! them. It also takes C's `struct Name` and arrays whose size comes from a list, which mean the same here.

use super::ast::{Expr, ExprKind};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover};
use super::parser_foreign_items::NO_LISTS;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn foreign_form(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Diagnostic::error(&codes::FOREIGN_FORM, span, message, hint));
    }

    /// Whether `struct` or `enum` stands here.
    pub(super) fn is_type_word(&self) -> bool {
        self.is_word("struct") || self.is_word("enum")
    }

    /// Whether `struct` or `enum` starts a declaration of one, and does not stand before its name as C allows.
    pub(super) fn declares_type(&self) -> bool {
        self.is_type_word() && (self.peek_at(1).kind != TokenKind::Name || self.peek_at(2).kind != TokenKind::Name)
    }

    /// C's `struct Name` or `enum Name` in front of what is of that type.
    pub(super) fn skip_type_word(&mut self) {
        if self.is_type_word() && !self.declares_type() {
            self.advance();
        }
    }

    /// Whether a type with `*` or `&` and a name follow: no product, for a type is no value.
    pub(super) fn starts_pointer(&self) -> bool {
        (self.is_at(1, "*") || self.is_at(1, "&")) && self.peek_at(2).kind == TokenKind::Name
    }

    /// `float *x` and `float &x` as a variable, whose name is known from here on as one that was not understood.
    pub(super) fn refuse_pointer(&mut self) -> Parsed<()> {
        if !self.is("*") && !self.is("&") {
            return Ok(());
        }
        let span = self.advance().span;
        if let Some(name) = self.word_at(0) {
            self.broken.insert(name.to_owned());
        }
        let hint = "variables hold values: name the variable itself, or copy its value";
        self.fail(&codes::FOREIGN_FORM, span, "there are no pointers and references", hint)
    }

    /// `float& x` as a parameter.
    pub(super) fn refuse_reference(&mut self, is_const: bool) {
        if !self.is("*") && !self.is("&") {
            return;
        }
        let ty = self.slice(self.previous());
        let span = self.advance().span;
        let name = self.word_at(0).unwrap_or("x");
        let hint = match is_const {
            true => format!("write `{ty} {name}`: parameters are passed by value"),
            false => format!("write `inout {ty} {name}`, which is copied in and back out, or `{ty} {name}`"),
        };
        self.foreign_form(span, "there are no pointers and references", hint);
    }

    /// HLSL's `: TEXCOORD0` behind a parameter or a head, and its `: register(t0)` behind a variable.
    pub(super) fn refuse_semantic(&mut self) {
        if self.is(":") && self.peek_at(1).kind == TokenKind::Name {
            let (colon, name) = (self.advance().span, self.advance().span);
            if self.eat("(") {
                self.skip_parameters();
            }
            let hint = match self.slice(name) {
                "register" | "packoffset" => "remove it: the host binds by names",
                "SV_DispatchThreadID" | "SV_GroupThreadID" | "SV_GroupID" | "SV_GroupIndex" => {
                    "remove it: the point of a kernel is `index`, and `index.x`, `index.y` and `index.z` are its places"
                }
                _ => {
                    "remove it: globals such as `global_value<uvw>` bring what belongs to the point, `out` parameters are \
                     named by the host"
                }
            };
            self.foreign_form(colon.to(self.previous()), "there are no semantics", hint);
        }
    }

    /// `a ** b`, the first star of which was taken.
    pub(super) fn refuse_power(&mut self, first: Span) {
        let span = first.to(self.advance().span);
        self.foreign_form(span, "there is no operator `**`", "powers are `pow(a, b)`");
    }

    /// `a === b` and `a <> b`, of which the first part was taken as an operator, and C++'s `[&](float x) { … }`.
    pub(super) fn refuse_operand(&mut self) -> Parsed<()> {
        let (before, here) = (self.previous(), self.peek().span);
        let (span, message, hint) = match (self.slice(before), self.slice(here)) {
            ("==", "=") => (before.to(here), "there is no operator `===`", "write `==`"),
            ("!=", "=") => (before.to(here), "there is no operator `!==`", "write `!=`"),
            ("<", ">") => (before.to(here), "there is no operator `<>`", "write `!=`"),
            (_, "[") if self.is_at(1, "&") || self.is_at(1, "=") || self.is_at(1, "]") => {
                (here, "there are no functions without a name", "declare the function outside of all braces")
            }
            _ => return Ok(()),
        };
        self.fail(&codes::FOREIGN_FORM, span, message, hint)
    }

    /// `this->x`, which is read as `this.x`.
    pub(super) fn refuse_arrow(&mut self) {
        if self.is("-") && self.is_at(1, ">") && self.touching(0) && self.peek_at(2).kind == TokenKind::Name {
            let span = self.advance().span.to(self.peek().span);
            let d = Diagnostic::error(&codes::FOREIGN_FORM, span, "there is no operator `->`", "write `.`");
            self.report(d.with_fix(span, "."));
            // The `>` stands for the dot.
            self.tokens[self.at].kind = TokenKind::Punct(".");
        }
    }

    /// `.x = ` in a list, which is read without it.
    pub(super) fn refuse_named_member(&mut self) {
        if self.is(".") && self.peek_at(1).kind == TokenKind::Name && self.is_at(2, "=") {
            let span = self.advance().span.to(self.advance().span);
            self.advance();
            let hint = "write the values in the order of the members: `{1.0, 2.0}`";
            self.foreign_form(span, "the values of a list have no names", hint);
        }
    }

    /// C++'s `new Ray(1.0)`, and `__fwd_diff(f)`, an old spelling of Slang's.
    pub(super) fn refuse_word(&mut self) -> Parsed<()> {
        if let Some(word @ ("__fwd_diff" | "__bwd_diff")) = self.word_at(0) {
            let (span, meant) = (self.peek().span, &word[2..10]);
            let (message, hint) = (format!("there is no `{word}`"), format!("write `{meant}`"));
            self.report(Diagnostic::error(&codes::FOREIGN_FORM, span, message, hint).with_fix(span, meant));
            return Err(Recover);
        }
        if self.is_word("new") && self.peek_at(1).kind == TokenKind::Name && !self.is_type("new") {
            let span = self.peek().span;
            let hint = "variables hold values, and need no memory: write `Name(…)` alone";
            return self.fail(&codes::FOREIGN_FORM, span, "there is no `new`", hint);
        }
        Ok(())
    }

    /// `for (x : list)` and `for (x in list)`, whose `(` was taken.
    pub(super) fn refuse_each(&mut self) -> Parsed<()> {
        let colon = (1..4).find(|&i| self.is_at(i, ":") || self.word_at(i) == Some("in"));
        let names = |n: usize| (0..n).all(|i| self.peek_at(i).kind == TokenKind::Name);
        match colon.filter(|&n| names(n)) {
            Some(n) => {
                let span = self.peek_at(n).span;
                self.fail(&codes::FOREIGN_FORM, span, "loops do not go through lists by themselves", NO_LISTS)
            }
            None => Ok(()),
        }
    }

    /// `[]` behind the name of a variable, whose list will say how long it is, or of a parameter, whose argument will.
    pub(super) fn eat_empty_brackets(&mut self) -> Option<Span> {
        (self.is("[") && self.is_at(1, "]")).then(|| self.advance().span.to(self.advance().span))
    }

    /// The size of an array by the list that it is given.
    pub(super) fn counted_size(&mut self, brackets: Span, init: Option<&Expr>) -> Expr {
        match init {
            Some(Expr { kind: ExprKind::List(list), .. }) if !list.is_empty() => {
                Expr { kind: ExprKind::Int(list.len() as i32), span: brackets }
            }
            Some(Expr { kind: ExprKind::Error, .. }) | None => Expr { kind: ExprKind::Error, span: brackets },
            Some(_) => {
                self.missing_size(brackets);
                Expr { kind: ExprKind::Error, span: brackets }
            }
        }
    }

    pub(super) fn missing_size(&mut self, brackets: Span) {
        let hint = "write how many elements it has, `[3]`, or give a variable a list, `= {1.0, 2.0, 3.0}`; of a function's \
                    parameter the first brackets may be empty";
        self.report(Diagnostic::error(&codes::ARRAY_SIZE, brackets, "this array has no size", hint));
    }
}
