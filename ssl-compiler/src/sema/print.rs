//! `printf`: parses its format, so that each mistake is shown at its place in the string.

use super::Checker;
use super::hir::{Conversion as Convert, Expr, ExprKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::externals::MAX_WORDS;
use crate::runtime::format::{Conversion, Piece, Takes, pieces};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use std::ops::Range;

impl Checker<'_> {
    pub(super) fn printf(&mut self, arguments: &[ast::Expr], span: Span) -> Expr {
        let Some((first, rest)) = arguments.split_first() else {
            let hint = "write `printf(\"x is %g\\n\", x)`";
            self.error(&codes::FORMAT, span, "`printf` without a format", hint);
            return Expr::error(span);
        };
        let format = self.expr(first);
        let values: Vec<Expr> = rest.iter().map(|e| self.expr(e)).collect();
        if format.ty == Type::Error || values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        let Some(text) = self.string_value(&format).map(str::to_owned) else {
            let hint = "write the format in quotes; strings that vary are printed by `%s`";
            self.error(&codes::FORMAT, first.span, "the format of `printf` must be a constant string", hint);
            return Expr::error(span);
        };
        let literal = matches!(first.kind, ast::ExprKind::Str(_));
        let place = |range: Range<usize>| if literal { inside(first.span, &text, range) } else { first.span };
        let (pieces, mistakes) = pieces(&text);
        let wrong = !mistakes.is_empty();
        for m in mistakes {
            self.error(&codes::FORMAT, place(m.range), m.message, m.hint);
        }
        let wanted = pieces.iter().filter(|p| matches!(p, Piece::Conversion(_))).count();
        if wrong || !self.counts_agree(&pieces, &values, wanted, &place, span) {
            return Expr::error(span);
        }
        self.match_up(&text, pieces, values, &place, span)
    }

    fn counts_agree(
        &mut self,
        pieces: &[Piece],
        values: &[Expr],
        wanted: usize,
        place: &dyn Fn(Range<usize>) -> Span,
        span: Span,
    ) -> bool {
        let (at, message) = if let Some(extra) = values.get(wanted) {
            (extra.span, format!("the format has {wanted} conversions, this is value {}", wanted + 1))
        } else if values.len() < wanted {
            let conversions = pieces.iter().filter_map(|p| match p {
                Piece::Conversion(c) => Some(c),
                Piece::Text(_) => None,
            });
            let first = conversions.skip(values.len()).map(|c| place(c.range.clone())).next();
            (first.unwrap_or(span), format!("there is no value for this conversion, only {}", values.len()))
        } else {
            return true;
        };
        self.error(&codes::FORMAT, at, message, "each conversion takes one value, in order; `%%` is a percent sign");
        false
    }

    /// Brings each value to what its conversion takes. One for a vector stands for each component.
    fn match_up(
        &mut self,
        text: &str,
        pieces: Vec<Piece>,
        values: Vec<Expr>,
        place: &dyn Fn(Range<usize>) -> Span,
        span: Span,
    ) -> Expr {
        let (mut format, mut list, mut words) = (String::new(), Vec::new(), 0);
        let mut values = values.into_iter();
        for piece in pieces {
            match piece {
                Piece::Text(t) => format.push_str(&t.replace('%', "%%")),
                Piece::Conversion(c) => {
                    let Some(value) = values.next() else { return Expr::error(span) };
                    let Some(value) = self.printed(&c, value, place(c.range.clone())) else { return Expr::error(span) };
                    let n = value.ty.components().unwrap_or(1);
                    format.push_str(&vec![&text[c.range.clone()]; n].join(" "));
                    words += n;
                    list.push(value);
                }
            }
        }
        if words > MAX_WORDS {
            let message = format!("{words} values in one `printf`, the components of vectors counted");
            self.error(&codes::FORMAT, span, message, format!("at most {MAX_WORDS} are possible; split it in two"));
            return Expr::error(span);
        }
        let index = self.numbers.of_format(&format, &mut self.program.formats);
        Expr { kind: ExprKind::Print(index as u32, list), ty: Type::Void, span }
    }

    fn printed(&mut self, c: &Conversion, value: Expr, place: Span) -> Option<Expr> {
        let span = value.span;
        let converted = |kind, ty, value: Expr| Some(Expr { kind: ExprKind::Convert(kind, Box::new(value)), ty, span });
        match (c.takes(), &value.ty) {
            (Takes::Int, Type::Int)
            | (Takes::Float, Type::Float | Type::Vector(_) | Type::Matrix)
            | (Takes::String, Type::String) => {
                return Some(value);
            }
            (Takes::Int, Type::Bool) => return converted(Convert::BoolToInt, Type::Int, value),
            (Takes::Float, Type::Int) => return converted(Convert::IntToFloat, Type::Float, value),
            _ => {}
        }
        let (takes, hint) = match (c.takes(), &value.ty) {
            (Takes::Int, Type::Float | Type::Vector(_) | Type::Matrix) => {
                ("an int", "floats and vectors are printed by `%g` or `%f`")
            }
            (Takes::Int, _) => ("an int", "print an int or bool; strings are printed by `%s`"),
            (Takes::Float, _) => ("a float, vector or matrix", "ints and bools are printed by `%d`, strings by `%s`"),
            (Takes::String, _) => ("a string", "numbers are printed by `%d` and `%g`"),
        };
        let message = format!("`%{}` prints {takes}, and its value is {}", c.letter, self.name_of(&value.ty));
        self.diagnostics.push(Diagnostic::error(&codes::FORMAT, place, message, hint).with_label(span, "this value"));
        None
    }
}

/// Where a part of a string stands in the literal that gives it. Escapes take two bytes; where it is not
/// clear which, and where several literals were joined, that is the whole literal.
fn inside(literal: Span, text: &str, range: Range<usize>) -> Span {
    let escapes = |text: &str| text.matches(['\n', '\r', '\t', '\\', '"']).count();
    let length = (literal.end - literal.start) as usize;
    if length != text.len() + escapes(text) + 2 {
        return literal;
    }
    let at = |i: usize| literal.start + 1 + (i + escapes(&text[..i])) as u32;
    Span { start: at(range.start), end: at(range.end), ..literal }
}
