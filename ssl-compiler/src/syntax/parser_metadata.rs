//! Metadata of shaders and their parameters: `<<< key = value, … >>>`.

use super::ast::Metadata;
use super::parser::{Parsed, Parser};
use crate::diagnostics::{Diagnostic, codes};

impl Parser<'_> {
    /// Metadata, if they start here, behind those that the list has already.
    pub(super) fn metadata(&mut self, list: &mut Vec<Metadata>) -> Parsed<()> {
        if self.at_osl_metadata() {
            return self.refuse_osl_metadata();
        }
        if !self.at_metadata() {
            return Ok(());
        }
        self.advance();
        self.advance();
        while !self.is(">") {
            if self.word_at(0).is_some_and(|w| self.is_type(w)) && self.word_at(1).is_some() {
                let span = self.peek().span;
                return self.error(span, "metadata have no type", "write `name = value`, the value shows its type");
            }
            let name = self.any_name("the name of a metadata entry")?;
            self.expect("=", "between the name and its value")?;
            list.push(Metadata { name, value: self.initialiser()? });
            if !self.eat(",") {
                break;
            }
        }
        for _ in 0..3 {
            self.expect(">", "to close the metadata with `>>>`")?;
        }
        Ok(())
    }

    /// Metadata behind something that has none: read, reported and left out.
    pub(super) fn refuse_metadata(&mut self, what: &str) -> Parsed<()> {
        if self.at_osl_metadata() {
            return self.refuse_osl_metadata();
        }
        if !self.at_metadata() {
            return Ok(());
        }
        let start = self.peek().span;
        self.metadata(&mut Vec::new())?;
        let message = format!("{what} has no metadata");
        let hint = "metadata stand behind the name or the parameters of a shader, or behind one of its parameters";
        self.report(Diagnostic::error(&codes::MISPLACED_METADATA, start.to(self.previous()), message, hint));
        Ok(())
    }

    pub(super) fn at_metadata(&self) -> bool {
        self.is("<<") && self.is_at(1, "<") && self.touching(0)
    }

    /// Three `>` in a row are no operator; they end metadata.
    pub(super) fn at_metadata_end(&self) -> bool {
        (0..3).all(|i| self.is_at(i, ">")) && self.touching(0) && self.touching(1)
    }

    pub(super) fn at_osl_metadata(&self) -> bool {
        self.is("[") && self.is_at(1, "[")
    }

    pub(super) fn refuse_osl_metadata<T>(&mut self) -> Parsed<T> {
        let span = self.peek().span.to(self.peek_at(1).span);
        self.error(span, "metadata are not written in brackets", "write `<<< label = \"…\", min = 0.0 >>>`")
    }
}
