//! Methods: functions of a type. A method that is not static takes the value that it is called on as its first
//! parameter, `this`; so no stage after the checker knows of methods.

use super::Checker;
use super::arguments::{Given, value_of};
use super::generics::Bindings;
use super::hir::{Access, Argument, Expr, ExprKind, Function, FunctionId, Place, Stmt, StmtKind, VarId};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Attribute, Direction, Ident, THIS};
use crate::types::Type;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What stands before methods only.
pub(super) const OF_METHODS: &[&str] = &["mutating", "NoDiffThis"];

/// The methods of a program.
#[derive(Default)]
pub(super) struct Methods {
    of: HashMap<Type, BTreeMap<String, Vec<FunctionId>>>,
    known: HashMap<FunctionId, Method>,
    /// Functions that do what methods do, without a derivative through `this`.
    without_this: HashMap<FunctionId, FunctionId>,
    /// Methods that do what an interface asks for.
    witnesses: HashSet<FunctionId>,
}

/// What is known of a method.
#[derive(Clone)]
pub(super) struct Method {
    pub owner: Type,
    pub is_static: bool,
}

/// The type whose method is being checked.
#[derive(Clone)]
pub(super) struct Owner {
    ty: Type,
    /// `None` in a static method.
    this: Option<VarId>,
}

impl Checker<'_> {
    /// Declares the methods of a type, in which some names are bound.
    pub(super) fn methods<'a>(
        &mut self,
        owner: &Type,
        list: &'a [ast::Method],
        bindings: &Bindings,
    ) -> Vec<(FunctionId, &'a [ast::Stmt])> {
        let mut bodies = Vec::new();
        for m in list {
            let Some(id) = self.method(owner, m, bindings) else { continue };
            bodies.extend(m.function.body.as_ref().map(|body| (id, body.as_slice())));
        }
        bodies
    }

    fn method(&mut self, owner: &Type, m: &ast::Method, bindings: &Bindings) -> Option<FunctionId> {
        let decl = &m.function;
        let (own, others): (Vec<&Attribute>, Vec<&Attribute>) =
            decl.attributes.iter().partition(|a| OF_METHODS.contains(&a.name.text.as_str()));
        if m.is_static
            && let Some(a) = own.first()
        {
            let message = format!("`[{}]` stands before a static method", a.name.text);
            self.error(&codes::ATTRIBUTE, a.span, message, "it is about `this`, which static methods do not have");
        }
        let name = &decl.name;
        if let Some(g) = decl.generics.first() {
            let hint = "write a generic function beside the struct, which takes the struct as a parameter";
            let message = format!("the method `{}` cannot be generic", name.text);
            self.error(&codes::BAD_DECLARATION, g.name.span, message, hint);
            return None;
        }
        let function = self.new_function(decl, Self::this_of(owner, m))?;
        let is_member = match owner {
            Type::Struct(id) => self.program.types.get(*id).fields.iter().any(|f| f.name == name.text),
            _ => false,
        };
        let signature = function.signature();
        let alike = self.methods_named(owner, &name.text).iter().find(|id| self.signature(**id) == signature);
        if let Some(first) = alike.map(|id| self.program.function(*id).span) {
            let message = format!("`{}` is declared twice with the same parameters", name.text);
            self.twice(name.span, message, Some(first));
            return None;
        }
        if is_member {
            self.twice(name.span, format!("{} has a member `{}` already", self.name_of(owner), name.text), None);
            return None;
        }
        if self.methods_named(owner, &name.text).len() >= super::functions::MAX_OVERLOADS {
            let hint =
                format!("at most {} may share a name; give some of them another one", super::functions::MAX_OVERLOADS);
            self.error(&codes::TOO_LARGE, name.span, format!("too many methods are called `{}`", name.text), hint);
            return None;
        }
        let id = self.add_method(owner, name, m.is_static, function, bindings.clone());
        if !others.is_empty() {
            self.attributed.push((id, others.into_iter().cloned().collect()));
        }
        Some(id)
    }

    /// Gives a type a method.
    pub(super) fn add_method(
        &mut self,
        owner: &Type,
        name: &Ident,
        is_static: bool,
        mut function: Function,
        bindings: Bindings,
    ) -> FunctionId {
        function.name = format!("{}.{}", self.name_of(owner), name.text);
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.methods.of.entry(owner.clone()).or_default().entry(name.text.clone()).or_default().push(id);
        self.methods.known.insert(id, Method { owner: owner.clone(), is_static });
        self.bind(id, bindings);
        id
    }

    /// A method that an interface asks for need not be called.
    pub(super) fn keep_as_witness(&mut self, id: FunctionId) {
        self.methods.witnesses.insert(id);
    }

    pub(super) fn is_witness(&self, id: FunctionId) -> bool {
        self.methods.witnesses.contains(&self.any_length.origin(id))
    }

    /// The methods of a type that have this name.
    pub(super) fn methods_named(&self, owner: &Type, name: &str) -> &[FunctionId] {
        self.methods.of.get(owner).and_then(|list| list.get(name)).map_or(&[], Vec::as_slice)
    }

    /// What is known of a function as a method, if it is one.
    pub(super) fn as_method(&self, id: FunctionId) -> Option<&Method> {
        self.methods.known.get(&self.any_length.origin(id))
    }

    /// Whether a function takes `this`.
    pub(super) fn takes_this(&self, id: FunctionId) -> bool {
        self.as_method(id).is_some_and(|m| !m.is_static)
    }

    /// Of a function whose body is checked, what its names may stand for beside those of the file.
    pub(super) fn owner_of(&self, id: FunctionId) -> Option<Owner> {
        let method = self.as_method(id)?;
        Some(Owner { ty: method.owner.clone(), this: (!method.is_static).then_some(VarId(0)) })
    }

    /// `this`, in a method.
    fn this(&self, span: Span) -> Option<Expr> {
        let owner = self.local.owner.as_ref()?;
        let place = Place { variable: owner.this?, path: Vec::new(), ty: owner.ty.clone(), span };
        Some(Expr { kind: ExprKind::Place(place), ty: owner.ty.clone(), span })
    }

    /// Which member of the method's own type a name is.
    fn own_member(&self, name: &str) -> Option<(usize, Type)> {
        let Type::Struct(id) = self.local.owner.as_ref()?.ty else { return None };
        let fields = &self.program.types.get(id).fields;
        fields.iter().position(|f| f.name == name).map(|i| (i, fields[i].ty.clone()))
    }

    /// A member of `this` by its name alone.
    pub(super) fn implicit_member(&self, name: &str, span: Span) -> Option<Expr> {
        let variable = self.local.owner.as_ref()?.this?;
        let (i, ty) = self.own_member(name)?;
        let place = Place { variable, path: vec![Access::Member(i)], ty: ty.clone(), span };
        Some(Expr { kind: ExprKind::Place(place), ty, span })
    }

    /// Whether a name is that of a variable, or of a member of `this`.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.lookup(name).is_some()
            || self.local.owner.as_ref().is_some_and(|o| o.this.is_some()) && self.own_member(name).is_some()
    }

    /// Why a name means nothing that would mean something in another method.
    pub(super) fn advise_member(&self, name: &str) -> Option<String> {
        if name == THIS {
            return Some(match self.local.owner {
                Some(_) => "a static method belongs to the type, and is called on no value".to_owned(),
                None => "only methods of a struct have it".to_owned(),
            });
        }
        let static_method = self.local.owner.as_ref().is_some_and(|o| o.this.is_none());
        (static_method && self.own_member(name).is_some())
            .then(|| format!("`{name}` is a member, and a static method is called on no value"))
    }

    /// The methods that a call without anything before it may mean.
    pub(super) fn own_methods(&self, name: &str) -> Vec<FunctionId> {
        self.local.owner.as_ref().map_or(Vec::new(), |owner| self.methods_named(&owner.ty, name).to_vec())
    }

    /// Calls the method that fits best, if one does; else gives back what was given.
    pub(super) fn own_call(
        &mut self,
        ids: &[FunctionId],
        name: &Ident,
        mut given: Given,
        span: Span,
    ) -> Result<Expr, Given> {
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
        let ast::ExprKind::Name(name) = &on.kind else { return None };
        let is_value = self.is_variable(name) || self.scope.names.contains_key(name);
        let is_type =
            Type::from_name(name).is_some() || self.bound_type(name).is_some() || self.scope.types.contains_key(name);
        if is_value || !is_type {
            return None;
        }
        Some(self.resolve(&ast::TypeName::plain(Ident { text: name.clone(), span: on.span }), &[]))
    }

    /// `value.name(…)`, or `Type.name(…)`.
    pub(super) fn method_call(
        &mut self,
        on: &ast::Expr,
        name: &Ident,
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
        let ids = self.callable(&owner, this.is_some(), name, function, span);
        let given = self.given_for(&ids, this, arguments);
        match given {
            Some(given) if !ids.is_empty() => self.call_among(&ids, name, given, span),
            _ => Expr::error(span),
        }
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
        if is_struct && !has_function {
            let message = format!("{ty} has no method `{}`", name.text);
            let hint = match known.as_slice() {
                [] => "it has none at all".to_owned(),
                list => {
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

    /// The methods whose derivative is asked for, and the value on which they are called, if there is one. What is wrong
    /// is reported.
    pub(super) fn differentiable_methods(
        &mut self,
        on: &ast::Expr,
        name: &Ident,
    ) -> Option<(Vec<FunctionId>, Option<Expr>)> {
        if let Some(ty) = self.type_before_dot(on) {
            let all = self.methods_named(&ty, &name.text).to_vec();
            if all.is_empty() && ty != Type::Error {
                self.no_method(&ty, name, None, name.span);
            }
            return (!all.is_empty()).then_some((all, None));
        }
        let this = self.expr(on);
        let ids = self.callable(&this.ty.clone(), true, name, None, name.span);
        let changes = |id: &&FunctionId| self.program.function(**id).parameters[0].direction != Direction::In;
        if let Some(id) = ids.iter().find(changes) {
            let place = self.program.function(*id).span;
            let message = format!("`{}` changes the value that it is called on", name.text);
            let hint = format!(
                "differentiate it by that, too: `{}.{}`, and hand in a pair first",
                self.name_of(&this.ty),
                name.text
            );
            let d = Diagnostic::error(&codes::DERIVED_FUNCTION, name.span, message, hint);
            self.diagnostics.push(d.with_label(place, "declared here"));
            return None;
        }
        (!ids.is_empty()).then_some((ids, Some(this)))
    }

    /// A function that calls a method, and through whose `this` no derivative goes.
    pub(super) fn without_this(&mut self, method: FunctionId) -> FunctionId {
        if let Some(id) = self.methods.without_this.get(&method) {
            return *id;
        }
        let f = self.program.function(method);
        let span = f.span;
        let argument = |p: &super::hir::Parameter| {
            let ty = f.variables[p.variable.0 as usize].ty.clone();
            let place = Place { variable: p.variable, path: Vec::new(), ty: ty.clone(), span };
            match p.direction {
                Direction::In if ty == Type::Texture2d => {
                    Argument::Texture(super::hir::TextureRef::Parameter(p.variable))
                }
                Direction::In => Argument::In(Expr { kind: ExprKind::Place(place), ty, span }),
                direction => Argument::Place(place, direction),
            }
        };
        let arguments = f.parameters.iter().map(argument).collect();
        let call = Expr { kind: ExprKind::Call(method, arguments), ty: f.result.clone(), span };
        let kind = if f.result == Type::Void { StmtKind::Expr(call) } else { StmtKind::Return(Some(call)) };
        let mut parameters = f.parameters.clone();
        parameters[0].no_diff = true;
        let count = parameters.len();
        let function = Function {
            name: f.name.clone(),
            is_shader: false,
            is_kernel: false,
            result: f.result.clone(),
            parameters,
            metadata: Vec::new(),
            variables: f.variables[..count].to_vec(),
            body: Some(vec![Stmt { kind, span }]),
            external: None,
            derived: None,
            attributes: super::hir::Attributes::default(),
            span,
        };
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.methods.without_this.insert(method, id);
        id
    }

    /// Checks arguments that go to nothing.
    pub(super) fn drop_arguments(&mut self, arguments: &[ast::Expr]) {
        arguments.iter().for_each(|e| drop(self.expr(value_of(e))));
    }
}

/// The first parameter of a method.
pub(super) struct This {
    pub ty: Type,
    pub direction: Direction,
    pub no_diff: bool,
}
