//! The words of differentiation: `fwd_diff(f)(…)`, types with differentials, attributes.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use crate::diagnostics::{Diagnostic, codes};

/// The type of a value together with its derivative; it takes a type between angle brackets.
pub(crate) const PAIR: &str = "DifferentialPair";

/// The type of a kernel's buffers.
pub(crate) const BUFFER: &str = "buffer";

/// What stands behind a type for that of its derivatives.
pub(crate) const DIFFERENTIAL: &str = "Differential";

impl Parser<'_> {
    /// The token behind a type that starts so far ahead: `float`, `DifferentialPair<float[3]>`, `Surface.Differential`.
    pub(super) fn type_end(&self, ahead: usize) -> usize {
        let mut end = ahead + self.type_length(ahead);
        if matches!(self.word_at(ahead), Some(PAIR | BUFFER)) && self.is_at(end, "<") {
            let mut open = 0usize;
            loop {
                match self.peek_at(end).kind {
                    TokenKind::Punct("<") => open += 1,
                    TokenKind::Punct(">") => open -= 1,
                    TokenKind::End | TokenKind::Punct(";" | "{" | "}") => return end,
                    _ => {}
                }
                end += 1;
                if open == 0 {
                    break;
                }
            }
        } else if self.may_be_generic(ahead)
            && let Some(list) = self.is_at(end, "<").then(|| self.list_of_types(end)).flatten()
        {
            end = list.end;
        }
        while self.is_at(end, ".") && self.word_at(end + 1) == Some(DIFFERENTIAL) {
            end += 2;
        }
        end
    }

    /// Whether a word may be the name of a generic struct.
    fn may_be_generic(&self, ahead: usize) -> bool {
        let named = |w: &str| !super::parser::is_reserved(w) && w != PAIR && w != BUFFER;
        self.word_at(ahead).is_some_and(named)
    }

    /// What may stand behind the name of a type and belongs to it.
    pub(super) fn type_behind(&mut self, name: Ident) -> Parsed<TypeName> {
        let mut ty = TypeName::plain(name);
        if ty.name.text == PAIR || ty.name.text == BUFFER && self.is("<") {
            let after = match ty.name.text == PAIR {
                true => {
                    ["behind `DifferentialPair`, with the type of its value", "behind the type of the pair's value"]
                }
                false => ["behind `buffer`, with the type of its elements", "behind the type of the buffer's elements"],
            };
            self.expect("<", after[0])?;
            let argument = self.nested(|p| {
                let ty = p.type_name()?;
                Ok(TypeArgument { ty, dims: p.dimensions()? })
            })?;
            self.expect(">", after[1])?;
            ty.argument = Some(Box::new(argument));
        } else if self.is("<") && self.list_of_types(0).is_some() {
            ty.generics = self.generic_arguments()?;
        }
        while self.is(".") && self.peek_at(1).kind == TokenKind::Name {
            self.advance();
            let member = self.any_name("the name of a type")?;
            match member.text.as_str() {
                DIFFERENTIAL => ty.differential = true,
                // The differential of a differential is itself, and has no other types.
                _ => ty.members.push(member),
            }
        }
        Ok(ty)
    }

    /// `Surface.Differential(…)`, `DifferentialPair<float>(…)`
    pub(super) fn construct_derived(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let ty = self.type_name()?;
        if !self.is("(") {
            let span = start.to(self.previous());
            let message = format!("the type `{ty}` is not a value");
            return self.fail(&codes::TYPE_AS_VALUE, span, message, format!("construct one: `{ty}(…)`"));
        }
        let arguments = self.arguments()?;
        Ok(Expr { kind: ExprKind::Construct(ty, arguments), span: start.to(self.previous()) })
    }

    /// `fwd_diff(f)(…)`, `bwd_diff(fwd_diff(f))(…)`
    pub(super) fn derived_call(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let mut modes = Vec::new();
        while let Some(mode) = self.word_at(0).and_then(Mode::from_word) {
            self.advance();
            self.expect("(", &format!("behind `{}`, with the name of a function", mode.word()))?;
            modes.push(mode);
        }
        let (on, name) = match self.is_at(1, ".") || self.is_at(1, "[") {
            true => self.differentiated_method()?,
            false => (None, self.any_name("the name of a function")?),
        };
        let word = self.slice(name.span);
        self.called.insert(word);
        let types = match self.is("<") {
            true => self.generic_arguments()?,
            false => Vec::new(),
        };
        if !self.is(")") {
            let (span, found) = (self.peek().span, self.describe());
            let hint = format!(
                "it takes the name of a function, and gives one that is called with pairs: `{}({word})(diffPair(x, 1.0))`",
                modes[0].word()
            );
            return self.error(span, format!("expected `)` behind the name of the function, found {found}"), hint);
        }
        for _ in &modes {
            self.expect(")", "behind the name of the function")?;
        }
        if !self.is("(") {
            let span = start.to(self.previous());
            let message = "the derivative of a function is a function, no value";
            return self.error(span, message, "call it: write its arguments behind it, in parentheses of their own");
        }
        let arguments = self.arguments()?;
        Ok(Expr { kind: ExprKind::Derived { modes, on, name, types, arguments }, span: start.to(self.previous()) })
    }

    /// `Ray.at`, `materials[i].eval`
    fn differentiated_method(&mut self) -> Parsed<(Option<Box<Expr>>, Ident)> {
        let whole = self.nested(Self::postfix)?;
        match whole.kind {
            ExprKind::Member(on, name) => Ok((Some(on), name)),
            _ => {
                let hint = "write `fwd_diff(f)` for a function, `fwd_diff(Ray.at)` or `fwd_diff(ray.at)` for a method";
                self.error(whole.span, "this is neither the name of a function nor that of a method", hint)
            }
        }
    }

    /// `[PreferRecompute] [Checkpoint(every = 8)]`, all that stand here.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut list = Vec::new();
        while self.is("[") && !self.at_osl_metadata() {
            self.advance();
            loop {
                let name = self.any_name("the name of an attribute")?;
                let arguments = if self.is("(") { self.arguments()? } else { Vec::new() };
                for e in &arguments {
                    if let ExprKind::Name(_) = e.kind {
                        self.called.insert(self.slice(e.span));
                    }
                }
                let span = name.span.to(self.previous());
                list.push(Attribute { name, arguments, span });
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]", "behind the attribute")?;
        }
        Ok(list)
    }

    /// A function with attributes before it.
    pub(super) fn attributed_item(&mut self) -> Parsed<Option<Item>> {
        let attributes = self.attributes()?;
        let mut item = self.nested(Self::item)?;
        match (&mut item, attributes.first()) {
            (Some(Item::Function(f)), _) => f.attributes = attributes,
            (_, Some(first)) => {
                let message = format!("`[{}]` stands before nothing that it could be about", first.name.text);
                let hint = "attributes stand before functions and before loops";
                self.report(Diagnostic::error(&codes::ATTRIBUTE, first.span, message, hint));
            }
            (_, None) => {}
        }
        Ok(item)
    }
}
