//! Calls of methods: on a value, on a type, and on `this` by the name alone.

use super::Checker;
use super::arguments::{Given, value_of};
use super::generics::GenericId;
use super::hir::{Expr, FunctionId};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident};
use crate::types::Type;

impl Checker<'_> {
    /// The methods that a call without anything before it may mean.
    pub(super) fn own_generic_methods(&self, name: &str) -> Vec<GenericId> {
        self.local.owner.as_ref().map_or(Vec::new(), |owner| self.generic_methods(&owner.ty, name))
    }

    /// Likewise, those that are not generic.
    pub(super) fn own_methods(&self, name: &str) -> Vec<FunctionId> {
        self.local.owner.as_ref().map_or(Vec::new(), |owner| self.methods_named(&owner.ty, name).to_vec())
    }

    /// Calls the method that fits best, if one does; else gives back what was given.
    pub(super) fn own_call(
        &mut self,
        ids: &[FunctionId],
        (name, types): (&Ident, &[ast::GenericArgument]),
        mut given: Given,
        span: Span,
    ) -> Result<Expr, Given> {
        let mut ids = ids.to_vec();
        let generic = self.own_generic_methods(&name.text);
        if !generic.is_empty() && !self.fits_in_method(&ids, name, &given) {
            ids.extend(self.instances_among(&generic, (&name.text, types), &given, span).0);
        }
        let (instance, fixed): (Vec<FunctionId>, Vec<FunctionId>) = ids.iter().partition(|id| self.takes_this(**id));
        if let Some(this) = self.this(name.span) {
            given.values.insert(0, this);
            given.this = true;
            if self.fits_any(&instance, &given) {
                return Ok(self.call_among(&instance, name, given, span));
            }
            given.values.remove(0);
            given.this = false;
        }
        match self.fits_any(&fixed, &given) {
            true => Ok(self.call_among(&fixed, name, given, span)),
            false => Err(given),
        }
    }

    /// Whether one of these methods takes exactly what is given, on `this` or on nothing.
    fn fits_in_method(&self, ids: &[FunctionId], name: &Ident, given: &Given) -> bool {
        let values = self.this(name.span).into_iter().chain(given.values.iter().cloned()).collect();
        let on_this = Given { values, names: given.names.clone(), this: true, order: 0 };
        let (instance, fixed): (Vec<FunctionId>, Vec<FunctionId>) = ids.iter().partition(|id| self.takes_this(**id));
        self.fits_exactly(&instance, &on_this) || self.fits_exactly(&fixed, given)
    }

    /// Says why none of the own methods fits.
    pub(super) fn no_own_method(&mut self, ids: &[FunctionId], name: &Ident, mut given: Given, span: Span) {
        let (instance, fixed): (Vec<FunctionId>, Vec<FunctionId>) = ids.iter().partition(|id| self.takes_this(**id));
        match self.this(name.span) {
            Some(this) if !instance.is_empty() => {
                given.values.insert(0, this);
                given.this = true;
                self.none_fits(name, &instance, &given, span);
            }
            None if fixed.is_empty() => {
                let message = format!("`{}` needs a value to be called on", name.text);
                let hint = "a static method has none; hand one in, and write `value.` before the call";
                self.error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
            }
            _ => self.none_fits(name, &fixed, &given, span),
        }
    }

    /// The type that stands before a dot, if it is one.
    pub(super) fn type_before_dot(&mut self, on: &ast::Expr) -> Option<Type> {
        let name = match &on.kind {
            ast::ExprKind::Name(name) => name,
            ast::ExprKind::Type(ty) => return Some(self.resolve(ty, &[])),
            ast::ExprKind::Member(of, member) => {
                let of = self.type_before_dot(of)?;
                return self.associated(&of, &member.text);
            }
            _ => return None,
        };
        let is_value = self.is_variable(name) || self.scope.names.contains_key(name);
        let is_type = Type::from_name(name).is_some()
            || self.bound_type(name).is_some()
            || self.scope.types.contains_key(name)
            || self.scope.interfaces.contains_key(name);
        if is_value || !is_type {
            return None;
        }
        Some(self.resolve(&ast::TypeName::plain(Ident { text: name.clone(), span: on.span }), &[]))
    }

    /// `Pair<float>.name(…)`
    pub(super) fn static_call(&mut self, owner: &Type, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        self.call_of(owner, None, (name, &[]), arguments, None, span)
    }

    /// `value.name(…)`, or `Type.name(…)`.
    pub(super) fn method_call(
        &mut self,
        on: &ast::Expr,
        (name, types): (&Ident, &[ast::GenericArgument]),
        arguments: &[ast::Expr],
        function: Option<&str>,
        span: Span,
    ) -> Expr {
        let (owner, this) = match self.type_before_dot(on) {
            Some(ty) => (ty, None),
            None => {
                let e = self.expr(on);
                (e.ty.clone(), Some(e))
            }
        };
        self.call_of(&owner, this, (name, types), arguments, function, span)
    }

    /// Calls a method of a type, on a value or without one.
    fn call_of(
        &mut self,
        owner: &Type,
        this: Option<Expr>,
        (name, types): (&Ident, &[ast::GenericArgument]),
        arguments: &[ast::Expr],
        function: Option<&str>,
        span: Span,
    ) -> Expr {
        let on_value = this.is_some();
        let mut generic = self.generic_methods(owner, &name.text);
        generic.retain(|id| self.is_static_generic(*id) != on_value);
        if generic.is_empty() && !types.is_empty() && *owner != Type::Error {
            let message = format!("{} has no generic method `{}`", self.name_of(owner), name.text);
            self.error(&codes::UNKNOWN_FUNCTION, name.span, message, "call it without `<…>`, or declare it with it");
            self.drop_arguments(arguments);
            return Expr::error(span);
        }
        if generic.is_empty() {
            let ids = self.callable(owner, on_value, name, function, span);
            let given = self.given_for(&ids, this, arguments);
            return match given {
                Some(given) if !ids.is_empty() => self.call_among(&ids, name, given, span),
                _ => Expr::error(span),
            };
        }
        let mut ids = self.methods_named(owner, &name.text).to_vec();
        ids.retain(|id| types.is_empty() && self.takes_this(*id) == on_value);
        let Some(given) = self.given_for(&ids, this, arguments) else { return Expr::error(span) };
        // What is written for these types comes before what is written for any.
        if self.fits_exactly(&ids, &given) {
            return self.call_among(&ids, name, given, span);
        }
        let (instances, refused) = self.instances_among(&generic, (&name.text, types), &given, span);
        ids.extend(instances);
        if self.fits_any(&ids, &given) {
            return self.call_among(&ids, name, given, span);
        }
        self.no_instance(name, &ids, refused, &given, span);
        Expr::error(span)
    }

    /// The methods of a type that can be called by a name, on a value or without one; if there are none, that is reported.
    fn callable(
        &mut self,
        owner: &Type,
        on_value: bool,
        name: &Ident,
        function: Option<&str>,
        span: Span,
    ) -> Vec<FunctionId> {
        if *owner == Type::Error {
            return Vec::new();
        }
        self.provide_operation(owner, name);
        let all = self.methods_named(owner, &name.text).to_vec();
        let ids: Vec<FunctionId> = all.iter().copied().filter(|id| self.takes_this(*id) == on_value).collect();
        if !ids.is_empty() {
            return ids;
        }
        let ty = self.name_of(owner);
        if let Some(first) = all.first() {
            let place = self.program.function(*first).span;
            let (message, hint) = match on_value {
                true => (
                    format!("`{}` is a static method", name.text),
                    format!("call it on the type: `{ty}.{}(…)`", name.text),
                ),
                false => (
                    format!("`{}` is called without a value", name.text),
                    format!("call it on a value of type {ty}, or declare it `static`"),
                ),
            };
            let d = Diagnostic::error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
            self.diagnostics.push(d.with_label(place, "declared here"));
            return Vec::new();
        }
        self.no_method(owner, name, function.filter(|_| on_value), span);
        Vec::new()
    }

    /// Says that a type has no method of this name.
    fn no_method(&mut self, owner: &Type, name: &Ident, function: Option<&str>, span: Span) {
        let ty = self.name_of(owner);
        if let Some(method) = self.static_of_interface(owner, &name.text) {
            let message = format!("`{}` is a static method, which only implementations of {ty} have", name.text);
            let hint = format!("call it on one of them: `Implementation.{}(…)`", name.text);
            let d = Diagnostic::error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
            return self.diagnostics.push(d.with_label(method.function.name.span, "declared here"));
        }
        let known = self.methods.of.get(owner).map_or(Vec::new(), |list| list.keys().cloned().collect());
        if let Some(near) = closest(&name.text, known.iter().map(String::as_str)).map(str::to_owned) {
            let message = format!("{ty} has no method `{}`", name.text);
            let hint = format!("did you mean `{near}`?");
            let d = Diagnostic::error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
            return self.diagnostics.push(d.with_fix(name.span, near));
        }
        let has_function = self.scope.functions.contains_key(&name.text)
            || crate::builtins::overloads(&name.text).next().is_some()
            || !self.library_functions(&name.text).is_empty();
        let is_struct = matches!(owner, Type::Struct(_));
        let has_function = has_function || matches!(owner, Type::Texture2d | Type::Array(..));
        if !has_function {
            if self.is_broken(&name.text) {
                return;
            }
            let message = format!("{ty} has no method `{}`", name.text);
            let hint = match (self.member_meant(owner, &name.text), known.as_slice()) {
                (Some(member), _) => format!("its members are read without parentheses: write `.{member}`"),
                (None, []) if is_struct => "it has none at all".to_owned(),
                (None, []) => {
                    format!(
                        "there is no function `{0}` either; `extension {ty} {{ … }}` gives a type methods",
                        name.text
                    )
                }
                (None, list) => {
                    format!("it has {}", super::arguments::listed(&list.iter().map(String::as_str).collect::<Vec<_>>()))
                }
            };
            return self.error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
        }
        let message =
            if is_struct { format!("{ty} has no method `{}`", name.text) } else { format!("{ty} has no methods") };
        let told = |hint: String| Diagnostic::error(&codes::FOREIGN_FORM, name.span, message, hint);
        let d = match function {
            _ if name.text == "length" && matches!(owner, Type::Array(..)) => {
                told("the number of elements is `arraylength(…)`".to_owned())
            }
            Some(text) if *owner == Type::Texture2d => told(format!("write `{text}`")),
            Some(text) => told(format!("write the function: `{text}`")).with_fix(span, text),
            None => told(format!("write the function: `{}(…)`", name.text)),
        };
        self.diagnostics.push(d);
    }

    /// The struct member that a method call means: a member of its name, or Slang's methods of pairs.
    fn member_meant(&self, owner: &Type, name: &str) -> Option<String> {
        let Type::Struct(id) = owner else { return None };
        let of_slang = match name {
            "getPrimal" | "getValue" => "p",
            "getDifferential" => "d",
            name => name,
        };
        let pair = self.value_of_pair(*id).is_some();
        let wanted = if pair { of_slang } else { name };
        let fields = self.program.types.get(*id).named();
        fields.iter().find(|f| f.name == wanted).map(|f| f.name.clone())
    }

    /// The methods whose derivative is asked for, and the value on which they are called, if there is one. What is wrong
    /// is reported.
    pub(super) fn differentiable_methods(
        &mut self,
        on: &ast::Expr,
        name: &Ident,
    ) -> Option<(Vec<FunctionId>, Option<Expr>)> {
        if let Some(ty) = self.type_before_dot(on) {
            self.provide_operation(&ty, name);
            let all = self.methods_named(&ty, &name.text).to_vec();
            if all.is_empty() && ty != Type::Error {
                self.no_method(&ty, name, None, name.span);
            }
            return (!all.is_empty()).then_some((all, None));
        }
        let this = self.expr(on);
        let ids = self.callable(&this.ty.clone(), true, name, None, name.span);
        let changes = self.refuse_changing(&ids, &this.ty, name);
        (!ids.is_empty() && !changes).then_some((ids, Some(this)))
    }

    /// Says, if it is so, that a method whose derivative is asked for on a value changes that value.
    pub(super) fn refuse_changing(&mut self, ids: &[FunctionId], this: &Type, name: &Ident) -> bool {
        let changes = |id: &&FunctionId| self.program.function(**id).parameters[0].direction != Direction::In;
        let Some(id) = ids.iter().find(changes) else { return false };
        let place = self.program.function(*id).span;
        let message = format!("`{}` changes the value that it is called on", name.text);
        let hint =
            format!("differentiate it by that, too: `{}.{}`, and hand in a pair first", self.name_of(this), name.text);
        let d = Diagnostic::error(&codes::DERIVED_FUNCTION, name.span, message, hint);
        self.diagnostics.push(d.with_label(place, "declared here"));
        true
    }

    /// Checks arguments that go to nothing.
    pub(super) fn drop_arguments(&mut self, arguments: &[ast::Expr]) {
        arguments.iter().for_each(|e| drop(self.expr(value_of(e))));
    }
}
