//! Forms of other languages that the parser knows. It says what to write instead, and goes on behind them. It also
//! takes C's `struct Name` and arrays whose size comes from a list, which mean the same here.

use super::ast::{Expr, ExprKind};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

/// What to write instead of something at file level that starts with this word.
pub(super) fn foreign_item(word: &str) -> Option<&'static str> {
    Some(match word {
        "in" | "out" | "inout" | "layout" | "buffer" => {
            "what comes from outside is a parameter of the shader or a global, what goes out an `out` parameter: \
             `shader main(float amount = 1.0, out closure result) { … }`"
        }
        "cbuffer" | "tbuffer" | "block" => "what the host sets is a parameter of the shader",
        "template" | "generic" => "write the types behind the name of the function: `T twice<T : IFloat>(T x) { … }`",
        "class" | "union" => "write `struct`, and give it methods",
        "namespace" | "using" | "module" => {
            "a file is one: `import \"file.ssl\" as name;` puts `name::` before its names"
        }
        "precision" => "remove the line: floats have 32 bits everywhere",
        _ => return None,
    })
}

impl Parser<'_> {
    fn foreign_form(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
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

    /// HLSL's `: TEXCOORD0` behind a parameter or a head.
    pub(super) fn refuse_semantic(&mut self) {
        if self.is(":") && self.peek_at(1).kind == TokenKind::Name {
            let span = self.advance().span.to(self.advance().span);
            let hint = "remove it: globals such as `global_value<uvw>` bring what belongs to the point, `out` parameters \
                        are named by the host";
            self.foreign_form(span, "there are no semantics", hint);
        }
    }

    /// `a ** b`, the first star of which was taken.
    pub(super) fn refuse_power(&mut self, first: Span) {
        let span = first.to(self.advance().span);
        self.foreign_form(span, "there is no operator `**`", "powers are `pow(a, b)`");
    }

    /// `for (x : list)` and `for (x in list)`, whose `(` was taken.
    pub(super) fn refuse_each(&mut self) -> Parsed<()> {
        let colon = (1..4).find(|&i| self.is_at(i, ":") || self.word_at(i) == Some("in"));
        let names = |n: usize| (0..n).all(|i| self.peek_at(i).kind == TokenKind::Name);
        match colon.filter(|&n| names(n)) {
            Some(n) => {
                let span = self.peek_at(n).span;
                let hint = "count an index: `for (int i = 0; i < n; ++i) { … list[i] … }`";
                self.fail(&codes::FOREIGN_FORM, span, "loops do not go through lists by themselves", hint)
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
