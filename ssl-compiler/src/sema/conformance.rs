//! Conformance: what a type must have to conform to an interface, and which of its methods stand for those of the
//! interface.

use super::Checker;
use super::generics::Bound;
use super::hir::{Function, FunctionId};
use super::interfaces::{ARITHMETIC, DIFFERENTIABLE, FLOAT, InterfaceId};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Conforming, Direction, SELF};
use crate::types::Type;
use std::rc::Rc;

/// Methods that all types together are asked for.
const MAX_REQUIREMENTS: usize = 1 << 16;

impl<'a> Checker<'a> {
    /// What a struct or an extension says of a type: its methods, its associated types, and what it conforms to.
    pub(super) fn conforming(
        &mut self,
        (ty, in_struct): (&Type, bool),
        place: Span,
        body: &'a Conforming,
        file: usize,
    ) {
        let interfaces = self.interfaces_named(&body.interfaces);
        // Heads of methods may name types for which this one must conform; what it lacks is reported below.
        for id in interfaces.iter().filter(|id| **id > DIFFERENTIABLE) {
            let all = self.interfaces.list[id.0].all.clone();
            let own = all.into_iter().filter(|id| *id > DIFFERENTIABLE);
            self.interfaces.conforming.extend(own.map(|id| (ty.clone(), id)));
        }
        let mut list = (*self.bound).clone();
        list.push((SELF.to_owned(), Bound::Type(ty.clone())));
        for alias in &body.types {
            if alias.name.text == crate::syntax::DIFFERENTIAL {
                match self.differential(ty).filter(|_| in_struct) {
                    Some(to) => list.push((alias.name.text.clone(), Bound::Type(to))),
                    None if in_struct => {}
                    None => {
                        let message = "an extension cannot choose the differential of a type";
                        let hint = "write the line into the struct";
                        self.error(&codes::BAD_DECLARATION, alias.name.span, message, hint);
                    }
                }
                continue;
            }
            let to = self.resolve(&alias.ty.ty, &alias.ty.dims);
            if self.interfaces.types.insert((ty.clone(), alias.name.text.clone()), to.clone()).is_some() {
                let message = format!("{} has a type `{}` already", self.name_of(ty), alias.name.text);
                self.twice(alias.name.span, message, None);
            }
            list.push((alias.name.text.clone(), Bound::Type(to)));
        }
        let bindings = Rc::new(list);
        let bound = std::mem::replace(&mut self.bound, bindings.clone());
        self.open_constants(Some(ty), body);
        self.compute_constants();
        self.close_constants(ty);
        let made = self.methods(ty, &body.methods, &bindings);
        self.bound = bound;
        for (id, body) in made {
            self.check_later(id, file, body);
        }
        for (i, id) in interfaces.iter().enumerate() {
            let place = body.interfaces.get(i).map_or(place, |name| name.span);
            self.conform(ty, *id, place);
        }
    }

    /// Reports that a type has no differential, where an interface asks for one.
    fn without_differential(&mut self, ty: &Type, of: InterfaceId, place: Span) {
        let (name, interface) = (self.name_of(ty), self.interface_name(of));
        let message = format!("{name} has no differential, and `{interface}` asks for one");
        let hint = format!(
            "an empty differential cannot be: give the struct a float, which may stay unused, or leave `IDifferentiable` out \
             of `{interface}`: functions that take values of it can be differentiated all the same"
        );
        self.error(&codes::NO_DIFFERENTIAL, place, message, hint);
    }

    /// Lets a type conform to an interface; what it lacks is reported.
    fn conform(&mut self, ty: &Type, id: InterfaceId, place: Span) {
        let all = self.interfaces.list[id.0].all.clone();
        if !self.may_ask(&all, place) {
            return;
        }
        let mut lacks: Vec<(Option<Span>, String)> = Vec::new();
        let of = id;
        for id in &all {
            match *id {
                DIFFERENTIABLE if of != DIFFERENTIABLE && self.differential(ty).is_none() => {
                    self.without_differential(ty, of, place);
                }
                DIFFERENTIABLE => {
                    if self.differential_of(ty, place) != Type::Error {
                        self.check_operations(ty, place);
                    }
                }
                ARITHMETIC | FLOAT if !self.conforms(ty, *id) => {
                    let message = format!("{} cannot conform to `{}`", self.name_of(ty), self.interface_name(*id));
                    let hint = "only built-in numbers and vectors do; declare an interface of your own, with methods";
                    self.error(&codes::CONFORMANCE, place, message, hint);
                }
                ARITHMETIC | FLOAT => {}
                id => self.conform_to_own(ty, id, place, &mut lacks),
            }
        }
        all.iter().for_each(|id| self.implements(ty, *id));
        self.interfaces.conforming.extend(all.into_iter().map(|id| (ty.clone(), id)));
        if lacks.is_empty() {
            return;
        }
        let message = format!("{} does not do all that `{}` asks for", self.name_of(ty), self.interface_name(id));
        let names: Vec<&str> = lacks.iter().map(|(_, text)| text.as_str()).collect();
        let hint = format!("add {}", super::arguments::listed(&names));
        let mut d = Diagnostic::error(&codes::CONFORMANCE, place, message, hint);
        for (span, text) in &lacks {
            d = d.with_note(*span, format!("`{text}` is asked for here"));
        }
        self.diagnostics.push(d);
    }

    /// Counts the methods that interfaces ask a type for; where that is too much, it is said.
    pub(super) fn may_ask(&mut self, all: &[InterfaceId], place: Span) -> bool {
        let methods =
            |id: &InterfaceId| self.interfaces.list[id.0].decl.map_or(0, |d| d.methods.len() + d.constants.len());
        let asked = self.interfaces.asked + all.iter().map(methods).sum::<usize>();
        let first = std::mem::replace(&mut self.interfaces.asked, asked) <= MAX_REQUIREMENTS;
        if asked > MAX_REQUIREMENTS && first {
            let hint = format!("at most {MAX_REQUIREMENTS} are possible, those of each struct for each interface");
            self.error(&codes::TOO_LARGE, place, "too many methods are asked for by interfaces", hint);
        }
        asked <= MAX_REQUIREMENTS
    }

    /// What one interface asks for, those aside that it inherits from.
    fn conform_to_own(&mut self, ty: &Type, id: InterfaceId, place: Span, lacks: &mut Vec<(Option<Span>, String)>) {
        let Some(decl) = self.interfaces.list[id.0].decl else { return };
        let file = self.interfaces.list[id.0].file;
        self.interfaces.conforming.insert((ty.clone(), id));
        let types = self.interfaces.list[id.0].types.clone();
        for ((name, bounds), written) in types.iter().zip(&decl.types) {
            let Some(found) = self.associated(ty, name) else {
                lacks.push((Some(written.name.span), format!("typealias {name} = …;")));
                continue;
            };
            for bound in bounds {
                if !self.conforms(&found, *bound) {
                    let (is, wanted) = (self.name_of(&found), self.interface_name(*bound).to_owned());
                    let message =
                        format!("`{name}` of {} is {is}, which does not conform to `{wanted}`", self.name_of(ty));
                    let hint = format!("choose another type, or let {is} conform");
                    let d = Diagnostic::error(&codes::CONFORMANCE, place, message, hint);
                    self.diagnostics.push(d.with_label(written.name.span, "asked for here"));
                }
            }
        }
        self.conform_constants(ty, id, place, lacks);
        if !lacks.is_empty() {
            return;
        }
        for (i, method) in decl.methods.iter().enumerate() {
            let Some(wanted) = self.required(ty, id, method) else { continue };
            let promises = method.function.attributes.iter().any(|a| a.name.text == "Differentiable");
            let witness = self.witness(ty, method, &wanted);
            if let Some(hides) = self.hides_default(ty, method, &wanted).filter(|_| witness.is_none()) {
                let (head, of) = (self.method_head(method, &wanted), self.interface_name(id));
                let message = format!("`{of}` has `{head}`, and this method is another");
                let hint = "change its head to that one, or its name";
                let own = &mut self.program.functions[hides.0 as usize];
                let d = Diagnostic::error(&codes::CONFORMANCE, own.span, message, hint);
                // What comes of it where it is called need not be told.
                own.result = Type::Error;
                self.diagnostics.push(d.with_note(Some(method.function.name.span), "that one stands here"));
                continue;
            }
            let Some(witness) = witness.or_else(|| self.default_method(ty, id, method, &wanted, file)) else {
                lacks.push((Some(method.function.name.span), self.method_head(method, &wanted)));
                continue;
            };
            self.keep_as_witness(witness);
            self.values.witnesses.insert((ty.clone(), id, i), witness);
            self.program.functions[witness.0 as usize].attributes.differentiable |= promises;
        }
    }

    /// The head of a method that an interface asks a type for.
    pub(super) fn required(&mut self, ty: &Type, id: InterfaceId, method: &ast::Method) -> Option<Function> {
        let file = self.interfaces.list[id.0].file;
        let bindings = self.bindings_for(ty, id);
        let earlier = self.diagnostics.list.len();
        let this = Self::this_of(ty, method);
        let function = self.bound_in(file, bindings, |c| c.new_function(&method.function, this));
        self.diagnostics.leave_out_repeated(earlier);
        function
    }

    /// Methods of a type whose bodies an interface gives.
    pub(super) fn defaults_of(&mut self, ty: &Type, id: InterfaceId) -> Vec<(FunctionId, &'a [ast::Stmt])> {
        let Some(decl) = self.interfaces.list[id.0].decl else { return Vec::new() };
        let mut made = Vec::new();
        for method in &decl.methods {
            let Some(body) = &method.function.body else { continue };
            let Some(function) = self.required(ty, id, method) else { continue };
            made.extend(self.witness(ty, method, &function).map(|witness| (witness, body.as_slice())));
        }
        made
    }

    /// The method that an interface gives to a type which has none of its own.
    fn default_method(
        &mut self,
        ty: &Type,
        id: InterfaceId,
        method: &'a ast::Method,
        wanted: &Function,
        file: usize,
    ) -> Option<FunctionId> {
        let body = method.function.body.as_ref()?;
        let bindings = self.bindings_for(ty, id);
        let made = self.add_method(ty, &method.function.name, method.is_static, wanted.clone(), bindings);
        self.keep_quiet(made);
        self.check_later(made, file, body);
        Some(made)
    }

    /// The method of a type that does what an interface asks for.
    fn witness(&self, ty: &Type, method: &ast::Method, wanted: &Function) -> Option<FunctionId> {
        let head = |f: &Function, skip: usize| -> Vec<(Direction, bool)> {
            f.parameters.iter().skip(skip).map(|p| (p.direction, p.no_diff)).collect()
        };
        let skip = usize::from(!method.is_static);
        let fits = |id: &&FunctionId| {
            let f = self.program.function(**id);
            let same_this = self.takes_this(**id) != method.is_static;
            // A method that changes nothing does where one may that does.
            let this = |f: &Function| f.parameters.first().is_some_and(|p| p.direction == Direction::InOut);
            let changes = !method.is_static && this(f) && !this(wanted);
            same_this
                && !changes
                && f.result == wanted.result
                && f.signature() == wanted.signature()
                && head(f, skip) == head(wanted, skip)
        };
        self.methods_named(ty, &method.function.name.text).iter().find(fits).copied()
    }

    /// A method with the arguments of one that an interface gives, of which calls could not tell it: it gives something
    /// else, or hands it on otherwise.
    fn hides_default(&self, ty: &Type, method: &ast::Method, wanted: &Function) -> Option<FunctionId> {
        let hides = |id: &&FunctionId| {
            let f = self.program.function(**id);
            self.takes_this(**id) != method.is_static && f.signature() == wanted.signature() && f.result != Type::Error
        };
        method.function.body.as_ref()?;
        self.methods_named(ty, &method.function.name.text).iter().find(hides).copied()
    }

    /// The head of a method of an interface, as it is written there.
    pub(super) fn method_head(&self, method: &ast::Method, f: &Function) -> String {
        let word = match () {
            () if method.is_static => "static ",
            () if f.parameters[0].direction == Direction::InOut => "[mutating] ",
            () => "",
        };
        format!("{word}{}", self.written_head(f, usize::from(!method.is_static)))
    }

    /// The head of a method with the names of its parameters.
    fn written_head(&self, f: &Function, skipped: usize) -> String {
        let one = |p: &super::hir::Parameter| {
            let variable = &f.variables[p.variable.0 as usize];
            let word = match (p.no_diff, p.direction) {
                (true, _) => "no_diff ",
                (_, Direction::In) => "",
                (_, Direction::Out) => "out ",
                (_, Direction::InOut) => "inout ",
            };
            format!("{word}{} {}", self.name_of(&variable.ty), variable.name)
        };
        let parameters: Vec<String> = f.parameters.iter().skip(skipped).map(one).collect();
        format!("{} {}({})", self.name_of(&f.result), f.name, parameters.join(", "))
    }
}
