//! Methods of an interface's values: each looks at which implementation is held, and calls the method of that one.

use super::Checker;
use super::hir::{
    Argument, Expr, ExprKind, Function, FunctionId, Parameter, Place, Stmt, StmtKind, TextureRef, VarId, Variable,
};
use super::interface_packing::{by_kind, returned};
use super::interfaces::{ARITHMETIC, DIFFERENTIABLE, FLOAT, InterfaceId};
use crate::diagnostics::{Diagnostic, codes};
use crate::syntax::ast::{self, Direction};
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Gives the values of an interface its methods.
    pub(super) fn dispatch(&mut self, id: InterfaceId) {
        let Some(place) = self.named_as_type(id) else { return };
        let ty = self.interface_value(id, place);
        let all = self.interfaces.list[id.0].all.clone();
        if !self.settle_types(id, &ty) || !self.may_ask(&all, place) {
            return;
        }
        // Only built-in types do arithmetic.
        let mut whole = !all.contains(&ARITHMETIC) && !all.contains(&FLOAT);
        for of in &all {
            let Some(decl) = self.interfaces.list[of.0].decl else { continue };
            whole &= decl.constants.is_empty();
            for (i, method) in decl.methods.iter().enumerate() {
                whole &= !method.is_static;
                if !method.is_static {
                    self.dispatched_method(id, (*of, i), method, &ty);
                }
            }
        }
        // A static method or a constant belongs to an implementation, and a value may hold any.
        if whole {
            let own = all.into_iter().filter(|id| *id != DIFFERENTIABLE);
            self.interfaces.conforming.extend(own.map(|id| (ty.clone(), id)));
        }
    }

    /// Binds the associated types of an interface's values: those that are the same for all implementations.
    fn settle_types(&mut self, id: InterfaceId, ty: &Type) -> bool {
        let of = |id: &InterfaceId| self.interfaces.list[id.0].types.clone();
        let names: Vec<String> = self.interfaces.list[id.0].all.iter().flat_map(of).map(|(name, _)| name).collect();
        let held = self.implementations(id);
        for name in names {
            let found: Vec<Option<Type>> = held.iter().map(|ty| self.associated(ty, &name)).collect();
            let first = found.first().cloned().flatten();
            let Some(other) = found.iter().position(|ty| *ty != first) else {
                if let Some(first) = first {
                    self.interfaces.types.insert((ty.clone(), name), first);
                    continue;
                }
                let why = format!("no struct says what its type `{name}` is");
                self.not_a_type(id, &why, "let a struct conform to it", None);
                return false;
            };
            let show = |i: usize| found[i].as_ref().map_or("missing".to_owned(), |ty| self.name_of(ty));
            let why = format!(
                "its type `{name}` is {} in {} and {} in {}",
                show(0),
                self.name_of(&held[0]),
                show(other),
                self.name_of(&held[other])
            );
            let own = self.interface_name(id);
            let mut hint = format!("write a generic function, `f<T : {own}>(T x)`");
            if let Some(bound) = self.bound_of_type(id, &name) {
                hint = format!(
                    "let the methods of `{own}` and of its structs take and give `{bound}` in place of `{name}`: it holds a value of each; or {hint}"
                );
            }
            self.not_a_type(id, &why, &hint, None);
            return false;
        }
        true
    }

    /// The interface of the author's to which an associated type conforms, if there is one.
    fn bound_of_type(&self, id: InterfaceId, name: &str) -> Option<String> {
        let interfaces = &self.interfaces.list;
        let mut types = interfaces[id.0].all.iter().flat_map(|of| &interfaces[of.0].types);
        let (_, bounds) = types.find(|(known, _)| known == name)?;
        let bound = bounds.iter().find(|bound| interfaces[bound.0].decl.is_some())?;
        Some(self.interface_name(*bound).to_owned())
    }

    /// Says why an interface cannot be a type of values.
    fn not_a_type(&mut self, id: InterfaceId, why: &str, hint: &str, method: Option<&ast::Method>) {
        let Some(place) = self.named_as_type(id) else { return };
        let message = format!("`{}` cannot be a type of values: {why}", self.interface_name(id));
        let d = Diagnostic::error(&codes::INTERFACE_AS_TYPE, place, message, hint);
        self.diagnostics.push(match method {
            Some(method) => d.with_label(method.function.name.span, "declared here"),
            None => d,
        });
    }

    /// The method of an interface's values that stands for one of the interface.
    fn dispatched_method(
        &mut self,
        id: InterfaceId,
        (of, i): (InterfaceId, usize),
        method: &'a ast::Method,
        ty: &Type,
    ) {
        let name = &method.function.name;
        let Some(mut function) = self.required(ty, of, method) else { return };
        let signature = function.signature();
        if self.methods_named(ty, &name.text).iter().any(|id| self.signature(*id) == signature) {
            return;
        }
        if signature.iter().any(Type::is_any_length) {
            let why = format!("`{}` takes arrays of any length", name.text);
            return self.not_a_type(id, &why, "give the parameter a length", Some(method));
        }
        let head = function.clone();
        let (mut cases, mut witnesses) = (Vec::new(), Vec::new());
        for held in self.implementations(id) {
            let Some(witness) = self.values.witnesses.get(&(held.clone(), of, i)).copied() else { return };
            let own = self.program.function(witness);
            let gives = own.result == function.result || own.result == held && function.result == *ty;
            if own.signature()[1..] != signature[1..] || !gives {
                let why = format!("`{}` asks for another value of the same implementation", name.text);
                let hint = "take the interface itself in place of `This`, or write a generic function";
                return self.not_a_type(id, &why, hint, Some(method));
            }
            let case = self.case(&mut function, ty, &held, witness);
            cases.push(case);
            witnesses.push((held, witness));
        }
        let span = function.span;
        let mut none = match function.result {
            Type::Void => Stmt { kind: StmtKind::Block(Vec::new()), span },
            ref ty => returned(Expr { kind: ExprKind::Construct(Vec::new()), ty: ty.clone(), span }),
        };
        if self.room_of(id).is_some() {
            none = self.linked(id, (&head, ty), &witnesses);
            cases.push(none.clone());
        }
        let this = Place { variable: VarId(0), path: Vec::new(), ty: ty.clone(), span };
        function.body = Some(vec![by_kind(&this, &mut cases.into_iter(), none)]);
        function.attributes.differentiable = method.function.attributes.iter().any(|a| a.name.text == "Differentiable");
        let bindings = self.bindings_for(ty, of);
        let made = self.add_method(ty, name, false, function, bindings);
        self.keep_quiet(made);
    }

    /// What is done for one implementation: its value is taken out, its method called and, where that changes it, the
    /// value put back.
    pub(super) fn case(&mut self, function: &mut Function, ty: &Type, held: &Type, witness: FunctionId) -> Stmt {
        let span = function.span;
        let own = local(function, "own", held);
        let this = Place { variable: VarId(0), path: Vec::new(), ty: ty.clone(), span };
        let direction = self.program.function(witness).parameters[0].direction;
        let first = match direction {
            Direction::In => Argument::In(self.read(&own)),
            direction => Argument::Place(own.clone(), direction),
        };
        let rest = function.parameters.iter().skip(1).map(|p| argument(function, p));
        let arguments = std::iter::once(first).chain(rest).collect();
        let gives = self.program.function(witness).result.clone();
        let call = Expr { kind: ExprKind::Call(witness, arguments), ty: gives, span };
        let call = if call.ty == function.result { call } else { self.converted(call, &function.result) };
        let statement = |kind: StmtKind| Stmt { kind, span };
        let taken = self.read(&this);
        let taken = self.converted(taken, held);
        let mut list = vec![statement(StmtKind::Let(own.variable, Some(taken)))];
        let gives_nothing = function.result == Type::Void;
        if direction == Direction::In && !gives_nothing {
            list.push(returned(call));
            return statement(StmtKind::Block(list));
        }
        let result = (!gives_nothing).then(|| local(function, "result", &call.ty));
        list.push(statement(match &result {
            Some(result) => StmtKind::Let(result.variable, Some(call)),
            None => StmtKind::Expr(call),
        }));
        if direction != Direction::In {
            let back = self.read(&own);
            let back = Box::new(self.converted(back, ty));
            let assigned = Expr { kind: ExprKind::Assign(this, back), ty: ty.clone(), span };
            list.push(statement(StmtKind::Expr(assigned)));
        }
        list.extend(result.map(|result| returned(self.read(&result))));
        statement(StmtKind::Block(list))
    }

    /// A static method of an interface by its name, where nothing but an implementation has it.
    pub(super) fn static_of_interface(&self, ty: &Type, name: &str) -> Option<&'a ast::Method> {
        let id = self.interface_of(ty)?;
        let of = |id: &InterfaceId| self.interfaces.list[id.0].decl.map_or(&[][..], |d| &d.methods);
        let mut all = self.interfaces.list[id.0].all.iter().flat_map(of);
        all.find(|m| m.is_static && m.function.name.text == name)
    }
}

/// A new variable of a function.
fn local(function: &mut Function, name: &str, ty: &Type) -> Place {
    let (variable, span) = (VarId(function.variables.len() as u32), function.span);
    let name = name.to_owned();
    function.variables.push(Variable { name, ty: ty.clone(), span, constant: false, dynamic: false });
    Place { variable, path: Vec::new(), ty: ty.clone(), span }
}

/// A parameter, handed on.
pub(super) fn argument(function: &Function, p: &Parameter) -> Argument {
    let (ty, span) = (function.variables[p.variable.0 as usize].ty.clone(), function.span);
    let place = Place { variable: p.variable, path: Vec::new(), ty: ty.clone(), span };
    match p.direction {
        Direction::In if ty.is_slot() => Argument::Texture(TextureRef::Parameter(p.variable)),
        Direction::In => Argument::In(Expr { kind: ExprKind::Place(place), ty, span }),
        direction => Argument::Place(place, direction),
    }
}
