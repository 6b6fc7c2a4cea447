//! Prototypes that stand for functions of the host.

use super::Checker;
use super::hir::Function;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::{External, ExternalRegistry};
use crate::syntax::ast::Direction;
use crate::types::Type;

/// Vectors of one length are the same but for their names.
fn alike(a: &Type, b: &Type) -> bool {
    a == b || matches!((a, b), (Type::Vector(x), Type::Vector(y)) if x.len() == y.len())
}

fn fits(function: &Function, external: &External) -> bool {
    let types = function.signature();
    types.len() == external.parameters.len()
        && types.iter().zip(&external.parameters).all(|(a, b)| alike(a, b))
        && alike(&function.result, &external.result)
        && function.parameters.iter().all(|p| p.direction == Direction::In)
}

impl Checker<'_> {
    /// Binds prototypes without a body to the host's functions of their names.
    pub(super) fn bind_externals(&mut self, externals: &ExternalRegistry) {
        for i in 0..self.program.functions.len() {
            let function = &self.program.functions[i];
            if function.body.is_some() || function.is_shader || self.is_version(super::hir::FunctionId(i as u32)) {
                continue;
            }
            let Some((id, external)) = externals.find(&function.name) else { continue };
            if fits(function, external) {
                self.program.functions[i].external = Some(id);
                continue;
            }
            let types: Vec<String> = external.parameters.iter().map(|t| self.name_of(t)).collect();
            let own = self.head(super::hir::FunctionId(i as u32));
            let registered = format!("{} {}({})", self.name_of(&external.result), external.name, types.join(", "));
            let message = format!("the host's `{}` is another than declared here", external.name);
            let hint = format!("it is `{registered}`, this is `{own}`");
            let span = self.program.functions[i].span;
            self.diagnostics.push(Diagnostic::error(&codes::EXTERNAL_MISMATCH, span, message, hint));
        }
    }
}
