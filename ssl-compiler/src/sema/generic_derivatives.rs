//! Derivatives of one's own that are generic functions: an instance for each function that they stand for.

use super::Checker;
use super::arguments::Given;
use super::generics::GenericId;
use super::hir::{Expr, ExprKind, FunctionId};
use crate::diagnostics::{Diagnostic, codes};
use crate::syntax::ast::{self, Attribute, Ident};

impl Checker<'_> {
    /// The generic functions that the only argument of an attribute of `f` names; none where a function has the name.
    pub(super) fn generics_of(&self, f: FunctionId, a: &Attribute) -> Option<(Ident, Vec<GenericId>)> {
        let [ast::Expr { kind: ast::ExprKind::Name(text), span }] = a.arguments.as_slice() else { return None };
        let owner = self.as_method(f).map(|m| m.owner.clone());
        let methods = owner.as_ref().map_or(Vec::new(), |owner| self.generic_methods(owner, text));
        let plain = owner.is_some_and(|owner| !self.methods_named(&owner, text).is_empty())
            || self.scope.functions.contains_key(text);
        let all = if methods.is_empty() { self.generics_named(text) } else { methods };
        (!plain && !all.is_empty()).then(|| (Ident { text: text.clone(), span: *span }, all))
    }

    /// The instances with this function's signature; reports if there are none.
    pub(super) fn standing_instances(
        &mut self,
        (name, generics): (&Ident, &[GenericId]),
        wanted: FunctionId,
        a: &Attribute,
    ) -> Vec<FunctionId> {
        let span = name.span;
        let typed = |ty| Expr { kind: ExprKind::Error, ty, span };
        let values = self.program.function(wanted).signature().into_iter().map(typed).collect();
        let given = Given { values, names: Vec::new(), this: false, order: 0 };
        let (instances, refused) = self.instances_among(generics, (&name.text, &[]), &given, span);
        instances.iter().for_each(|id| self.call_instance(*id));
        if let (true, Some((head, declared, why))) = (instances.is_empty(), refused.into_iter().next()) {
            let message = format!("no `{head}` has the signature that `[{}]` asks for", a.name.text);
            let d = Diagnostic::error(&codes::CUSTOM_SIGNATURE, span, message, why);
            self.diagnostics.push(d.with_label(declared, "declared here"));
        }
        instances
    }

    /// Reports a generic function where an attribute takes a plain one, with a replacement.
    pub(super) fn refuse_generic(&mut self, f: FunctionId, name: &Ident, a: &Attribute) {
        let message = format!("`{}` is a generic function, and `[{}]` takes one that is not", name.text, a.name.text);
        let own = &self.program.function(f).name;
        let own = own.split('<').next().unwrap_or(own);
        let hint = match a.name.text.strip_suffix("Of") {
            Some(attribute) => format!("say it the other way round: `[{attribute}({own})]` before `{}`", name.text),
            None => "write a function without `<…>` that calls it, and name that".to_owned(),
        };
        self.error(&codes::ATTRIBUTE, name.span, message, hint);
    }
}
