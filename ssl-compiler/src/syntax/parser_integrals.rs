//! `integral(x in [a, b], y in [c, d]; samples = 64) { … return e; }`
//!
//! `integral` is no keyword: with `NAME in` behind its parenthesis it cannot be a call.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn starts_integral(&self) -> bool {
        self.word_at(0) == Some("integral")
            && self.is_at(1, "(")
            && self.peek_at(2).kind == TokenKind::Name
            && self.word_at(3) == Some("in")
    }

    pub(super) fn integral(&mut self) -> Parsed<Expr> {
        let word = self.peek().span;
        self.advance();
        self.expect("(", "behind `integral`")?;
        let mut variables = vec![self.integral_variable()?];
        while self.eat(",") {
            variables.push(self.integral_variable()?);
        }
        let mut options = Vec::new();
        if self.eat(";") {
            loop {
                let name = self.any_name("an option, such as `samples = 64`")?;
                self.expect("=", "between an option and its value")?;
                options.push((name, self.nested(Self::ternary)?));
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect(")", "behind the variables and options of the integral")?;
        let names = self.names_in_braces();
        self.expect("{", "before the integrand")?;
        let body = self.block()?;
        let integral = Integral { variables, options, body, names, word };
        Ok(Expr { kind: ExprKind::Integral(Box::new(integral)), span: word.to(self.previous()) })
    }

    fn integral_variable(&mut self) -> Parsed<IntegralVariable> {
        let name = self.any_name("the name of a variable of integration")?;
        if !self.eat_word("in") {
            let (span, found) = (self.peek().span, self.describe());
            return self.error(span, format!("expected `in`, found {found}"), "write `x in [0.0, 1.0]`");
        }
        self.expect("[", "before the bounds, as in `x in [0.0, 1.0]`")?;
        let low = self.nested(Self::ternary)?;
        self.expect(",", "between the bounds")?;
        let high = self.nested(Self::ternary)?;
        self.expect("]", "behind the bounds")?;
        Ok(IntegralVariable { name, bounds: [low, high] })
    }

    /// The names between the brace that stands here and its partner, each once.
    fn names_in_braces(&self) -> Vec<String> {
        let (mut names, mut open, mut at) = (std::collections::BTreeSet::new(), 0usize, 0);
        loop {
            match self.peek_at(at).kind {
                TokenKind::Punct("{") => open += 1,
                TokenKind::Punct("}") => open = open.saturating_sub(1),
                // Behind a dot it is a member.
                TokenKind::Name if at > 0 && !self.is_at(at - 1, ".") => names.extend(self.word_at(at)),
                TokenKind::End => break,
                _ => {}
            }
            if open == 0 {
                break;
            }
            at += 1;
        }
        names.into_iter().map(str::to_owned).collect()
    }
}
