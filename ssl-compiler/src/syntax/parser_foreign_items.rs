//! Forms of other languages that stand for declarations and statements as a whole. As inside of expressions, the parser
//! names a replacement, and goes on behind them.

use super::ast::{Expr, Ident, TypeName};
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use crate::diagnostics::codes;

pub(super) const NO_LISTS: &str = "count an index: `for (int i = 0; i < n; ++i) { … list[i] … }`";
const NO_EXCEPTIONS: &str = "`return;` ends a shader early; hand out what went wrong by an `out` parameter";

impl Parser<'_> {
    /// A replacement for something at file level that starts with this word.
    pub(super) fn foreign_item(&self, word: &str) -> Option<&'static str> {
        if self.is_type(word) {
            return None;
        }
        let named = self.peek_at(1).kind == TokenKind::Name;
        Some(match word {
            "in" | "out" | "inout" | "layout" | "buffer" => {
                "what comes from outside is a parameter of the shader or a global, what goes out an `out` parameter: \
                 `shader main(float amount = 1.0, out closure result) { … }`"
            }
            "cbuffer" | "tbuffer" | "block" => "what the host sets is a parameter of the shader",
            "template" | "generic" | "__generic" => {
                "write the types behind the name of the function: `T twice<T : IFloat>(T x) { … }`"
            }
            "class" | "union" => "write `struct`, and give it methods",
            "namespace" | "using" | "module" => {
                "a file is one: `import \"file.ssl\" as name;` puts `name::` before its names"
            }
            "precision" => "remove the line: floats have 32 bits everywhere",
            "func" | "fn" | "function" | "def" if named => "write the types first: `float f(float x) { … }`",
            "let" | "var" if named => "write `const` and the type: `const float amount = 1.0;`",
            "extension" if self.is_at(1, "<") => {
                "name one type, `extension float { … }`; for many types write a generic function, \
                 `T twice<T : IFloat>(T x) { … }`"
            }
            "kernel" if named => {
                "write its name behind the word, and what it hands out as buffers: \
                 `kernel name(in buffer<float> a, out buffer<float> b) { b = 2.0 * a[index]; }`"
            }
            _ => return None,
        })
    }

    /// The token behind `[…]`, if it stands so far ahead.
    pub(super) fn behind_brackets(&self, ahead: usize) -> usize {
        let (mut end, mut open) = (ahead, 0usize);
        while !self.at_osl_metadata() {
            match self.peek_at(end).kind {
                TokenKind::Punct("[") => open += 1,
                TokenKind::Punct("]") if open > 0 => open -= 1,
                TokenKind::End | TokenKind::Punct(";" | "{" | "}") => return ahead,
                _ if open == 0 => return end,
                _ => {}
            }
            end += 1;
        }
        ahead
    }

    /// `float[3] x`, which is read as `float x[3]`.
    pub(super) fn refuse_type_brackets(&mut self, ty: &TypeName) -> Parsed<Vec<Expr>> {
        if !self.is("[") || self.at_osl_metadata() {
            return Ok(Vec::new());
        }
        let start = self.peek().span;
        let dims = match self.eat_empty_brackets() {
            Some(_) => vec![self.not_understood()],
            None => self.dimensions()?,
        };
        let span = start.to(self.previous());
        let hint = format!("write `{ty} {}{}`", self.word_at(0).unwrap_or("name"), self.slice(span));
        self.foreign_form(span, "the size of an array stands behind its name", hint);
        Ok(dims)
    }

    /// `float[3] f(…)`; whether it is one.
    pub(super) fn refuse_array_result(&mut self) -> Parsed<bool> {
        if !self.is("[") {
            return Ok(false);
        }
        let start = self.peek().span;
        while self.is("[") {
            if self.eat_empty_brackets().is_none() {
                self.dimensions()?;
            }
        }
        let hint =
            "hand it out by a parameter, `void f(float x, out float result[3])`, or return a struct that holds it";
        self.foreign_form(start.to(self.previous()), "a function does not return an array", hint);
        Ok(true)
    }

    /// Words of C++ and Slang between a head and its body: `const`, `where T : IFloat`.
    pub(super) fn refuse_behind_head(&mut self, function: &str) {
        while let Some(word @ ("const" | "override" | "final" | "noexcept")) = self.word_at(0) {
            let span = self.advance().span;
            let hint = "remove it: only a method behind `[mutating]` changes what it is called on";
            self.foreign_form(span, format!("there is no `{word}` behind a head"), hint);
        }
        if self.is_word("where") {
            let start = self.peek().span;
            while !self.is("{") && !self.is(";") && self.peek().kind != TokenKind::End {
                self.advance();
            }
            let hint = "the constraint stands behind the type parameter: `T twice<T : IFloat>(T x) { … }`";
            self.foreign_form(start.to(self.previous()), "there is no `where`", hint);
            // Without its constraint, the body has no meaning.
            self.broken.insert(function.to_owned());
        }
    }

    /// Whether `public Base` stands so far ahead.
    pub(super) fn starts_inheritance(&self, ahead: usize) -> bool {
        let access = matches!(self.word_at(ahead), Some("public" | "private" | "protected" | "virtual"));
        access && self.peek_at(ahead + 1).kind == TokenKind::Name
    }

    /// `: public Base` and its kin, in front of the name; whether that is one.
    pub(super) fn refuse_inheritance(&mut self) -> bool {
        if !self.starts_inheritance(0) {
            return false;
        }
        let span = self.advance().span.to(self.peek().span);
        let base = self.word_at(0).unwrap_or("Base");
        let hint = format!("give it a member, `{base} base;`; behind the `:` of a struct stand interfaces");
        self.foreign_form(span, "structs do not inherit", hint);
        true
    }

    /// `IShape<float>`, where the name of an interface stands.
    pub(super) fn refuse_generic_interface(&mut self, name: &Ident) -> Parsed<()> {
        let start = self.peek().span;
        self.generic_arguments()?;
        if !self.broken.contains(&name.text) {
            let hint =
                format!("write `{}`; an interface names types inside of it: `associatedtype Sample;`", name.text);
            self.foreign_form(start.to(self.previous()), "interfaces have no type parameters", hint);
        }
        Ok(())
    }

    /// Parts of a struct that only other languages have.
    pub(super) fn refuse_part(&mut self) -> Parsed<()> {
        while let Some(word @ ("public" | "private" | "protected")) = self.word_at(0)
            && self.is_at(1, ":")
        {
            let span = self.advance().span.to(self.advance().span);
            self.foreign_form(span, format!("there is no `{word}` here"), "remove it: all members can be seen");
        }
        let span = self.peek().span;
        let (message, hint) = match self.word_at(0) {
            Some("__init") => ("structs have no constructors of their own", "write a function that returns the struct"),
            Some("property" | "__subscript") if !self.is_type(self.slice(span)) => {
                ("structs have no properties", "write a method: `float twice() { return 2.0 * x; }`")
            }
            Some(word) if self.is_at(1, "(") && !self.is_type_of_value(word) => (
                "structs have no constructors of their own",
                "remove it: `Name(1.0, 2.0)` gives the members their values in order; or write a function",
            ),
            Some(_) if self.word_at(1) == Some("operator") => {
                ("operators cannot be declared", "write a method or a function: `V add(V other) { … }`")
            }
            _ => return Ok(()),
        };
        self.fail(&codes::FOREIGN_FORM, span, message, hint)
    }

    fn is_type_of_value(&self, word: &str) -> bool {
        crate::types::Type::from_name(word).is_some()
    }

    /// `Ray ray(1.0);`, `float x{1.0};` and `void helper() { … }` among statements; whether it is one of the first two.
    pub(super) fn refuse_start(&mut self, ty: &TypeName, name: &Ident) -> Parsed<bool> {
        let braces = self.is("{");
        if !braces && !self.is("(") {
            return Ok(false);
        }
        let span = self.peek().span;
        if !braces && self.is_at(self.behind_parentheses(), "{") {
            self.broken.insert(name.text.clone());
            let message = format!("the function `{}` inside of another one", name.text);
            let hint = "declare it outside of all braces";
            return self.fail(&codes::FOREIGN_FORM, name.span, message, hint);
        }
        let hint = match braces {
            true => format!("write `{ty} {} = …;`", name.text),
            false => format!("write `{ty} {} = {ty}(…);`", name.text),
        };
        self.foreign_form(span, "a variable is given its value by `=`", hint);
        Ok(true)
    }

    /// How far ahead the token is that stands behind the `(…)` here.
    fn behind_parentheses(&self) -> usize {
        let mut open = 0usize;
        for ahead in 0.. {
            match self.peek_at(ahead).kind {
                TokenKind::Punct("(") => open += 1,
                TokenKind::Punct(")") if open <= 1 => return ahead + 1,
                TokenKind::Punct(")") => open -= 1,
                TokenKind::End | TokenKind::Punct(";" | "{" | "}") => return ahead + 1,
                _ => {}
            }
        }
        0
    }

    /// Statements that only other languages have; whether one was skipped that needs nothing in its place.
    pub(super) fn refuse_statement(&mut self) -> Parsed<bool> {
        let span = self.peek().span;
        match self.word_at(0) {
            Some("try") if self.is_at(1, "{") => {
                self.advance();
                self.foreign_form(span, "there are no exceptions", NO_EXCEPTIONS);
                Ok(false)
            }
            // The report stands at the `try`.
            Some("catch") if self.is_at(1, "(") => {
                self.advance();
                self.advance();
                self.skip_parameters();
                self.skip_statement();
                Ok(true)
            }
            Some("throw") if !self.is_at(1, "(") && !self.is_at(1, "=") => {
                self.fail(&codes::FOREIGN_FORM, span, "there are no exceptions", NO_EXCEPTIONS)
            }
            Some("foreach" | "for_each") if self.is_at(1, "(") => {
                self.fail(&codes::FOREIGN_FORM, span, "loops do not go through lists by themselves", NO_LISTS)
            }
            _ => Ok(false),
        }
    }
}
