//! Metadata: constants that the compiler keeps for user interfaces. It knows the meaning only of those that bound a
//! parameter, and warns of values outside.

use super::Checker;
use super::constants::Known;
use super::hir::{Constant, Expr};
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::interface::{Metadata, MetadataValue};
use crate::runtime::{ParameterValue, disallowed};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use std::collections::HashMap;

impl Checker<'_> {
    pub(super) fn metadata(&mut self, list: &[ast::Metadata]) -> Vec<Metadata> {
        let mut checked: Vec<Metadata> = Vec::new();
        let mut known: HashMap<&str, Span> = HashMap::new();
        for entry in list {
            let name = &entry.name;
            let first = *known.entry(&name.text).or_insert(name.span);
            if first != name.span {
                let message = format!("the metadata have two entries `{}`", name.text);
                let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, name.span, message, "remove one of them");
                self.diagnostics.push(diagnostic.with_label(first, "the first one"));
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
            Some(known) => Some(self.plain_value(&known, &checked.ty)),
            None => {
                let hint = "metadata are literals and constants: numbers, strings, vectors and `{…}` lists";
                self.error(&codes::NOT_CONSTANT, e.span, "the value of a metadata entry must be a constant", hint);
                None
            }
        }
    }

    /// Warns where metadata of the parameter `name` do not allow a constant that it is given.
    pub(super) fn inspect_given(&mut self, name: &str, metadata: &[Metadata], value: &Expr) {
        if metadata.is_empty() {
            return;
        }
        let given = self.known(value).and_then(|known| self.parameter_value(&known));
        if let Some(found) = given.and_then(|given| disallowed(name, metadata, &given)) {
            self.diagnostics.push(found.warning(Some(value.span)));
        }
    }

    /// A constant as a host would give it to a parameter.
    fn parameter_value(&self, known: &Known) -> Option<ParameterValue> {
        Some(match known {
            Known::Scalar(Constant::Bool(x)) => ParameterValue::Bool(*x),
            Known::Scalar(Constant::Int(x)) => ParameterValue::Int(*x),
            Known::Scalar(Constant::Float(x)) => ParameterValue::Float(*x),
            Known::Scalar(Constant::String(i)) => ParameterValue::String(self.program.strings[*i as usize].clone()),
            Known::Parts(_) => {
                let float = |c| if let Constant::Float(x) = c { Some(x) } else { None };
                ParameterValue::Vector(known.scalars().into_iter().map(float).collect::<Option<_>>()?)
            }
        })
    }

    fn plain_value(&self, known: &Known, ty: &Type) -> MetadataValue {
        match known {
            Known::Scalar(Constant::Bool(x)) => MetadataValue::Bool(*x),
            Known::Scalar(Constant::Int(x)) => MetadataValue::Int(*x),
            Known::Scalar(Constant::Float(x)) => MetadataValue::Float(*x),
            Known::Scalar(Constant::String(i)) => MetadataValue::String(self.program.strings[*i as usize].clone()),
            Known::Parts(list) => {
                let types: Vec<&Type> = match ty {
                    Type::Array(element, n) => vec![&**element; *n as usize],
                    Type::Struct(id) => self.program.types.get(*id).fields.iter().map(|f| &f.ty).collect(),
                    _ => vec![&Type::Float; list.len()],
                };
                let at = |i: usize| &list[i.min(list.len() - 1)];
                let values = types.into_iter().enumerate().map(|(i, ty)| self.plain_value(at(i), ty));
                MetadataValue::List(if list.is_empty() { Vec::new() } else { values.collect() })
            }
        }
    }
}
