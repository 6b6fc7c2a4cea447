//! Methods: functions of a type. A method that is not static takes the value that it is called on as its first
//! parameter, `this`; so no stage after the checker knows of methods.

use super::Checker;
use super::dispatch::argument;
use super::generics::{Bindings, GenericId, GenericMethod};
use super::hir::{Access, Expr, ExprKind, Function, FunctionId, Place, Stmt, StmtKind, VarId};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Attribute, Direction, Ident, THIS};
use crate::types::Type;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What stands before methods only.
pub(super) const OF_METHODS: &[&str] = &["mutating", "NoDiffThis"];

/// The methods of a program.
#[derive(Default)]
pub(super) struct Methods {
    pub of: HashMap<Type, BTreeMap<String, Vec<FunctionId>>>,
    known: HashMap<FunctionId, Method>,
    /// Functions that do what methods do, without a derivative through `this`.
    without_this: HashMap<FunctionId, FunctionId>,
    generic: HashMap<(Type, String), Vec<GenericId>>,
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
    pub ty: Type,
    /// `None` in a static method.
    pub this: Option<VarId>,
}

impl<'a> Checker<'a> {
    /// Declares the methods of a type, in which some names are bound.
    pub(super) fn methods(
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

    fn method(&mut self, owner: &Type, m: &'a ast::Method, bindings: &Bindings) -> Option<FunctionId> {
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
        if !decl.generics.is_empty() {
            if self.is_member(owner, &name.text) {
                self.twice(name.span, format!("{} has a member `{}` already", self.name_of(owner), name.text), None);
            }
            let method = GenericMethod { method: m, owner: owner.clone(), bindings: bindings.clone() };
            if let (Some(file), true) = (self.file, decl.body.is_some())
                && let Some(id) = self.generic_method(method, file)
            {
                self.methods.generic.entry((owner.clone(), name.text.clone())).or_default().push(id);
            }
            return None;
        }
        let function = self.new_function(decl, Self::this_of(owner, m))?;
        let signature = function.signature();
        let alike = self.methods_named(owner, &name.text).iter().find(|id| self.signature(**id) == signature);
        if let Some(first) = alike.map(|id| self.program.function(*id).span) {
            let message = format!("`{}` is declared twice with the same parameters", name.text);
            self.twice(name.span, message, Some(first));
            return None;
        }
        if self.is_member(owner, &name.text) {
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

    /// The `this` of a method.
    pub(super) fn this_of(ty: &Type, method: &ast::Method) -> Option<This> {
        let says = |name: &str| method.function.attributes.iter().any(|a| a.name.text == name);
        let direction = if says("mutating") { Direction::InOut } else { Direction::In };
        (!method.is_static).then(|| This { ty: ty.clone(), direction, no_diff: says("NoDiffThis") })
    }

    fn is_member(&self, owner: &Type, name: &str) -> bool {
        if self.has_constant(owner, name) {
            return true;
        }
        let Type::Struct(id) = owner else { return false };
        self.program.types.get(*id).fields.iter().any(|f| f.name == name)
    }

    /// The generic methods of a type that have this name.
    pub(super) fn generic_methods(&self, owner: &Type, name: &str) -> Vec<GenericId> {
        self.methods.generic.get(&(owner.clone(), name.to_owned())).cloned().unwrap_or_default()
    }

    /// Makes a method of a function, without a name by which calls find it.
    pub(super) fn know_method(&mut self, id: FunctionId, owner: Type, is_static: bool) {
        self.methods.known.insert(id, Method { owner, is_static });
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
    pub(super) fn this(&self, span: Span) -> Option<Expr> {
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

    /// A function that calls a method, and through whose `this` no derivative goes.
    pub(super) fn without_this(&mut self, method: FunctionId) -> FunctionId {
        if let Some(id) = self.methods.without_this.get(&method) {
            return *id;
        }
        let f = self.program.function(method);
        let span = f.span;
        let arguments = f.parameters.iter().map(|p| argument(f, p)).collect();
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
}

/// The first parameter of a method.
pub(super) struct This {
    pub ty: Type,
    pub direction: Direction,
    pub no_diff: bool,
}
