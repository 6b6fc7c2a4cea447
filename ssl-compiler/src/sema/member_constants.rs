//! Constants of types: `static const int SIZE = 4;` in a struct or an extension, and those that interfaces ask for.
//!
//! They are computed when something asks for them, so their order does not matter: the members of a struct may have sizes
//! that are constants of it, or defaults that an interface gives. What is left is computed once the type is known, so that a
//! constant may be of the type itself.

use super::Checker;
use super::generics::{Bindings, Bound};
use super::hir::Expr;
use super::interfaces::InterfaceId;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Conforming, Declaration, Declarator, Ident, SELF};
use crate::types::Type;
use std::collections::{BTreeMap, HashMap};

/// Constants that need each other, one the next.
const MAX_CHAIN: usize = 64;

#[derive(Clone)]
pub(super) struct MemberConstant {
    pub value: Expr,
    /// Of how many expressions it is made.
    pub size: usize,
    pub span: Span,
}

/// The constants of the types of a program.
#[derive(Default)]
pub(super) struct MemberConstants {
    pub of: HashMap<Type, BTreeMap<String, MemberConstant>>,
}

/// A constant of the type that is being declared.
pub(super) struct Open<'a> {
    declaration: &'a Declaration,
    declarator: &'a Declarator,
    /// The file that it stands in, and what names stand for there.
    file: Option<usize>,
    bindings: Bindings,
    state: State,
}

#[derive(Clone)]
enum State {
    Waiting,
    Busy,
    Known(MemberConstant),
}

impl<'a> Checker<'a> {
    /// Makes the constants of a type known that it declares or that its interfaces give it, without computing them. Of a
    /// type that is known already, those that it has are left out.
    pub(super) fn open_constants(&mut self, ty: Option<&Type>, body: &'a Conforming) {
        let mut open: Vec<Open<'a>> = Vec::new();
        let (file, bindings) = (self.file, self.bound.clone());
        let earlier = self.diagnostics.list.len();
        for declaration in &body.constants {
            for declarator in declaration.declarators.iter().filter(|d| d.init.is_some()) {
                let name = &declarator.name;
                let first = open.iter().map(|o| &o.declarator.name).find(|first| first.text == name.text);
                let known = ty.and_then(|ty| self.constants.of.get(ty)?.get(&name.text));
                if let Some(first) = first.map(|first| first.span).or_else(|| known.map(|c| c.span)) {
                    if first != name.span {
                        self.twice(name.span, format!("two constants are called `{}`", name.text), Some(first));
                    }
                    continue;
                }
                let bindings = bindings.clone();
                open.push(Open { declaration, declarator, file, bindings, state: State::Waiting });
            }
        }
        self.diagnostics.leave_out_repeated(earlier);
        for id in self.interfaces_in(&body.interfaces) {
            let Some(decl) = self.interfaces.list[id.0].decl else { continue };
            let file = Some(self.interfaces.list[id.0].file);
            let bindings = ty.map_or_else(Bindings::default, |ty| self.bindings_for(ty, id));
            for declaration in &decl.constants {
                for declarator in declaration.declarators.iter().filter(|d| d.init.is_some()) {
                    let name = &declarator.name.text;
                    let known = ty.is_some_and(|ty| self.has_constant(ty, name));
                    if !known && !open.iter().any(|o| o.declarator.name.text == *name) {
                        let bindings = bindings.clone();
                        open.push(Open { declaration, declarator, file, bindings, state: State::Waiting });
                    }
                }
            }
        }
        self.local.open = open;
    }

    /// The interfaces of these names, and all that they inherit from; what is unknown is reported elsewhere.
    fn interfaces_in(&self, names: &[Ident]) -> Vec<InterfaceId> {
        let found = names.iter().filter_map(|name| self.scope.interfaces.get(&name.text));
        found.flat_map(|d| self.interfaces.list[d.meaning.0].all.clone()).collect()
    }

    /// Computes all constants of the type that is being declared.
    pub(super) fn compute_constants(&mut self) {
        for i in 0..self.local.open.len() {
            let span = self.local.open[i].declarator.name.span;
            self.open_value(i, span);
        }
    }

    /// Gives a type those of its constants that were computed.
    pub(super) fn close_constants(&mut self, ty: &Type) {
        for open in std::mem::take(&mut self.local.open) {
            let State::Known(constant) = open.state else { continue };
            let name = &open.declarator.name;
            let member = match ty {
                Type::Struct(id) => self.program.types.get(*id).fields.iter().any(|f| f.name == name.text),
                _ => false,
            };
            if member {
                self.twice(name.span, format!("{} has a member `{}` already", self.name_of(ty), name.text), None);
            } else if !self.methods_named(ty, &name.text).is_empty() {
                self.twice(name.span, format!("{} has a method `{}` already", self.name_of(ty), name.text), None);
            }
            self.constants.of.entry(ty.clone()).or_default().insert(name.text.clone(), constant);
        }
    }

    /// The value of a constant of the type that is being declared.
    fn open_value(&mut self, i: usize, place: Span) -> MemberConstant {
        let name = self.local.open[i].declarator.name.clone();
        let unknown = MemberConstant { value: Expr::error(place), size: 0, span: name.span };
        match &self.local.open[i].state {
            State::Known(constant) => return constant.clone(),
            State::Busy => {
                let hint = "give one of the constants in the circle a value of its own";
                self.error(&codes::NOT_CONSTANT, place, format!("`{}` needs its own value", name.text), hint);
                return unknown;
            }
            State::Waiting => {}
        }
        if self.local.open.iter().filter(|o| matches!(o.state, State::Busy)).count() >= MAX_CHAIN {
            let message = format!("`{}` needs too many other constants, one after the other", name.text);
            let hint = format!("at most {MAX_CHAIN} may need each other; write a value instead of a name");
            self.error(&codes::TOO_LARGE, place, message, hint);
            return unknown;
        }
        let open = &mut self.local.open[i];
        open.state = State::Busy;
        let (declaration, declarator, file) = (open.declaration, open.declarator, open.file);
        let bindings = open.bindings.clone();
        let earlier = self.diagnostics.list.len();
        let constant = match file {
            Some(file) => {
                let open = std::mem::take(&mut self.local.open);
                let (constant, open) = self.bound_in(file, bindings, |c| {
                    c.local.open = open;
                    let constant = c.declared_constant(declaration, declarator);
                    (constant, std::mem::take(&mut c.local.open))
                });
                self.local.open = open;
                constant
            }
            None => self.declared_constant(declaration, declarator),
        };
        self.diagnostics.leave_out_repeated(earlier);
        self.local.open[i].state = State::Known(constant.clone());
        constant
    }

    /// A constant as it is declared; what is wrong with it is reported.
    pub(super) fn declared_constant(&mut self, declaration: &Declaration, declarator: &Declarator) -> MemberConstant {
        let span = declarator.name.span;
        let unknown = MemberConstant { value: Expr::error(span), size: 0, span };
        let ty = self.resolve(&declaration.ty, &declarator.dims);
        let Some(init) = declarator.init.as_ref().filter(|_| self.can_be_constant(&ty, span)) else { return unknown };
        let (value, size) = self.constant_value(init, &ty);
        if value.ty == Type::Error {
            return unknown;
        }
        if self.known(&value).is_none() {
            let message =
                format!("`{}` must have a value that is known when the shader is compiled", declarator.name.text);
            let hint = "use literals, constants and built-ins";
            self.error(&codes::NOT_CONSTANT, init.span, message, hint);
            return unknown;
        }
        MemberConstant { value, size, span }
    }

    pub(super) fn can_be_constant(&mut self, ty: &Type, span: Span) -> bool {
        if *ty == Type::Error {
            return false;
        }
        let refused = ty.is_slot()
            || *ty == Type::Void
            || self.program.types.holds_closures(ty)
            || self.interface_of(ty).is_some();
        if refused {
            let message = format!("{} cannot be the type of a constant", self.name_of(ty));
            let hint =
                "a constant is a number, a truth value, a string, a vector, a matrix, or a struct or array of these";
            self.error(&codes::BAD_DECLARATION, span, message, hint);
        }
        !refused
    }

    /// A constant of the type that is being declared, or whose method is being checked, by its name alone.
    pub(super) fn own_constant(&mut self, name: &str, span: Span) -> Option<Expr> {
        if let Some(i) = self.local.open.iter().position(|o| o.declarator.name.text == name) {
            let constant = self.open_value(i, span);
            return Some(self.written_in(name, constant.value, constant.size, span));
        }
        let Some(Bound::Type(ty)) = self.bound(SELF) else { return None };
        let constant = self.constants.of.get(ty)?.get(name)?.clone();
        Some(self.written_in(name, constant.value, constant.size, span))
    }

    /// `Grid.SIZE`; that there is no such constant is reported.
    pub(super) fn constant_of(&mut self, ty: &Type, name: &Ident, span: Span) -> Expr {
        if *ty == Type::Error {
            return Expr::error(span);
        }
        if let Some(constant) = self.constants.of.get(ty).and_then(|list| list.get(&name.text)).cloned() {
            return self.written_in(&name.text, constant.value, constant.size, span);
        }
        // A constant of the type itself, while others of it are computed.
        if self.bound(SELF) == Some(&Bound::Type(ty.clone()))
            && let Some(constant) = self.own_constant(&name.text, span)
        {
            return constant;
        }
        let message = format!("{} has no constant `{}`", self.name_of(ty), name.text);
        let known: Vec<String> = self.constants.of.get(ty).map_or(Vec::new(), |list| list.keys().cloned().collect());
        let d = match closest(&name.text, known.iter().map(String::as_str)) {
            Some(near) => {
                let hint = format!("did you mean `{near}`?");
                Diagnostic::error(&codes::UNKNOWN_MEMBER, name.span, message, hint).with_fix(name.span, near)
            }
            None => {
                let hint = self.advise_constant(ty, &name.text);
                Diagnostic::error(&codes::UNKNOWN_MEMBER, name.span, message, hint)
            }
        };
        self.diagnostics.push(d);
        Expr::error(span)
    }

    fn advise_constant(&self, ty: &Type, name: &str) -> String {
        if let Some(id) = self.interface_of(ty) {
            let asked = self.interfaces_of_value(id).any(|d| d.declarators.iter().any(|d| d.name.text == name));
            if asked {
                return format!("each type that conforms has one of its own: `Implementation.{name}`");
            }
        }
        if !self.methods_named(ty, name).is_empty() {
            return format!("`{name}` is a method: call it, `{}.{name}(…)`", self.name_of(ty));
        }
        let is_member = match ty {
            Type::Struct(id) => self.program.types.get(*id).fields.iter().any(|f| f.name == name),
            Type::Vector(_) => super::swizzle_type(ty, name).is_some(),
            _ => false,
        };
        if is_member {
            return format!("`{name}` is a member of values: write a value before the dot");
        }
        if self.scope.names.contains_key(name) {
            return format!("`{name}` is a constant of the file: write it alone");
        }
        match self.constants.of.get(ty).filter(|list| !list.is_empty()) {
            Some(list) => {
                let names: Vec<&str> = list.keys().map(String::as_str).collect();
                format!("it has {}", super::arguments::listed(&names))
            }
            None => format!("a struct or an extension declares it: `static const int {name} = …;`"),
        }
    }

    /// The constants that an interface asks for, those included that it inherits.
    fn interfaces_of_value(&self, id: InterfaceId) -> impl Iterator<Item = &'a Declaration> {
        let all = self.interfaces.list[id.0].all.iter();
        let of = |id: &InterfaceId| self.interfaces.list[id.0].decl.map_or(&[][..], |d| &d.constants[..]);
        all.flat_map(of).collect::<Vec<_>>().into_iter()
    }

    /// Whether a type has a constant of this name.
    pub(super) fn has_constant(&self, ty: &Type, name: &str) -> bool {
        self.constants.of.get(ty).is_some_and(|list| list.contains_key(name))
    }

    /// Says, if it is so, that a member of a value is a constant of its type.
    pub(super) fn refuse_constant_of_value(&mut self, ty: &Type, member: &Ident, span: Span) -> bool {
        let Some(declared) = self.constants.of.get(ty).and_then(|list| list.get(&member.text)).map(|c| c.span) else {
            return false;
        };
        let message = format!("`{}` is a constant of the type, and of no value", member.text);
        let text = format!("{}.{}", self.name_of(ty), member.text);
        let hint = format!("write `{text}`");
        let d = Diagnostic::error(&codes::UNKNOWN_MEMBER, span, message, hint).with_fix(span, text);
        self.diagnostics.push(d.with_label(declared, "declared here"));
        true
    }

    /// Says, if it is so, that something is assigned to a constant of a type.
    pub(super) fn sets_member_constant(&mut self, target: &ast::Expr) -> bool {
        let (name, ty) = match &target.kind {
            ast::ExprKind::Name(name) if !self.is_variable(name) => match self.bound(SELF) {
                Some(Bound::Type(ty)) => (name.clone(), ty.clone()),
                _ => return false,
            },
            ast::ExprKind::Member(on, member) => match self.type_before_dot(on) {
                Some(ty) => (member.text.clone(), ty),
                None => return false,
            },
            _ => return false,
        };
        let Some(declared) = self.constants.of.get(&ty).and_then(|list| list.get(&name)).map(|c| c.span) else {
            return false;
        };
        let message = format!("`{name}` is a constant of {} and keeps its value", self.name_of(&ty));
        let d = Diagnostic::error(&codes::CONSTANT_ASSIGNED, target.span, message, "copy it into a variable");
        self.diagnostics.push(d.with_label(declared, "declared here"));
        true
    }
}
