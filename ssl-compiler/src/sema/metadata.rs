//! Metadata: constants that the compiler keeps for user interfaces, and has no opinion about.

use super::Checker;
use super::constants::Known;
use super::hir::Constant;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::interface::{Metadata, MetadataValue};
use crate::syntax::ast;
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn metadata(&mut self, list: &[ast::Metadata]) -> Vec<Metadata> {
        let mut checked: Vec<Metadata> = Vec::new();
        for (i, entry) in list.iter().enumerate() {
            let name = &entry.name;
            if let Some(first) = list[..i].iter().find(|other| other.name.text == name.text) {
                let message = format!("the metadata have two entries `{}`", name.text);
                let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, name.span, message, "remove one of them");
                self.diagnostics.push(diagnostic.with_label(first.name.span, "the first one"));
            } else if let Some(value) = self.metadata_value(&entry.value) {
                checked.push(Metadata { name: name.text.clone(), value });
            }
        }
        checked
    }

    fn metadata_value(&mut self, e: &ast::Expr) -> Option<MetadataValue> {
        if let ast::ExprKind::List(list) = &e.kind {
            return list.iter().map(|e| self.metadata_value(e)).collect::<Option<_>>().map(MetadataValue::List);
        }
        let checked = self.expr(e);
        if checked.ty == Type::Error {
            return None;
        }
        match self.known(&checked) {
            Some(known) => Some(self.plain_value(&known)),
            None => {
                let hint = "metadata are literals and constants: numbers, strings, vectors and `{…}` lists";
                self.error(&codes::NOT_CONSTANT, e.span, "the value of a metadata entry must be a constant", hint);
                None
            }
        }
    }

    fn plain_value(&self, known: &Known) -> MetadataValue {
        match known {
            Known::Scalar(Constant::Bool(x)) => MetadataValue::Bool(*x),
            Known::Scalar(Constant::Int(x)) => MetadataValue::Int(*x),
            Known::Scalar(Constant::Float(x)) => MetadataValue::Float(*x),
            Known::Scalar(Constant::String(i)) => MetadataValue::String(self.program.strings[*i as usize].clone()),
            Known::Parts(list) => MetadataValue::List(list.iter().map(|k| self.plain_value(k)).collect()),
        }
    }
}
