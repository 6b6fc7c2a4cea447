//! `switch`: the labels, and the statements of each section.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover};

impl Parser<'_> {
    pub(super) fn switch_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let value = self.parenthesised("after `switch`")?;
        self.expect("{", "to start the cases")?;
        let sections = self.nested(Self::sections)?;
        Ok(StmtKind::Switch { value, sections })
    }

    /// All sections, with the closing `}`.
    fn sections(&mut self) -> Parsed<Vec<SwitchSection>> {
        let mut sections: Vec<SwitchSection> = Vec::new();
        while !self.eat("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", "to close the `switch`")?;
                break;
            }
            if self.at_label() {
                let labels = self.labels();
                sections.push(SwitchSection { labels, body: Vec::new() });
                continue;
            }
            let statement = self.recovered_statement();
            match sections.last_mut() {
                Some(section) => section.body.push(statement),
                None => {
                    let message = "a statement before the first `case`";
                    let _ = self.error::<()>(statement.span, message, "it would never run: move it above the `switch`");
                    // Its declarations may be used further down: keep it, under no label.
                    sections.push(SwitchSection { labels: Vec::new(), body: vec![statement] });
                }
            }
        }
        Ok(sections)
    }

    fn at_label(&self) -> bool {
        matches!(self.word_at(0), Some("case" | "default"))
    }

    /// Labels in a row. One that was not understood counts as if its value were missing.
    fn labels(&mut self) -> Vec<SwitchLabel> {
        let mut labels = Vec::new();
        while self.at_label() {
            let start = self.peek().span;
            let value = self.label().unwrap_or_else(|Recover| {
                self.skip_label();
                Some(Expr { kind: ExprKind::Error, span: start })
            });
            labels.push(SwitchLabel { value, span: start.to(self.previous()) });
        }
        labels
    }

    fn label(&mut self) -> Parsed<Option<Expr>> {
        let is_case = self.is_word("case");
        self.advance();
        let value = if is_case { Some(self.assignment()?) } else { None };
        self.expect(":", if is_case { "after the value of `case`" } else { "after `default`" })?;
        Ok(value)
    }

    /// To behind the colon, or to where a statement may start.
    fn skip_label(&mut self) {
        let line_end = |p: &Self| p.text[p.previous().range().end..p.peek().span.range().start].contains('\n');
        while self.peek().kind != TokenKind::End && !self.is("}") && !self.is("{") && !line_end(self) {
            if self.is(":") || self.is(";") {
                self.advance();
                return;
            }
            self.advance();
        }
    }
}
