//! Calls of functions and built-ins.

use super::Checker;
use super::arguments::{Given, Misfit, Parameters, slots, value_of};
use super::hir::{Argument, Expr, ExprKind, FunctionId};
use super::overloads::{Choice, Target, best, builtin_candidates};
use super::spaces::named_spaces;
use crate::builtins::{self, Builtin, BuiltinId, Expand, Gives, Param};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn call(&mut self, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let bound = self.bound_type(&name.text).is_some();
        if bound || Type::from_name(&name.text).is_some() || self.scope.types.contains_key(&name.text) {
            return self.construct(name, arguments, span);
        }
        if let Some(interface) = self.scope.interfaces.get(&name.text).map(|d| d.meaning) {
            return self.construct_value(interface, name, arguments, span);
        }
        if let Some(id) = self.generic_struct_named(name) {
            return self.construct_generic(id, arguments, span);
        }
        let own = self.own_methods(&name.text);
        if !own.is_empty() || !self.own_generic_methods(&name.text).is_empty() {
            return self.call_in_method(&own, (name, &[]), arguments, span);
        }
        if name.text == "printf" && !self.scope.functions.contains_key("printf") {
            return self.printf(arguments, span);
        }
        let named = self.scope.functions.get(&name.text).map_or(&[][..], Vec::as_slice);
        if named.is_empty()
            && !self.scope.generics.contains_key(&name.text)
            && builtins::overloads(&name.text).next().is_none()
            && let Some(ty) = self.foreign_type(name)
        {
            return self.construct_type(ty, name, arguments, span);
        }
        let named = self.scope.functions.get(&name.text).map_or(&[][..], Vec::as_slice);
        if let Some(shader) = self.called_shader(named, arguments) {
            self.speak_of(&name.text, span, self.program.function(shader).span);
            return self.shader_call(shader, arguments, span);
        }
        if named.is_empty() && name.text == "diffPair" {
            return self.differential_pair(arguments, span);
        }
        if named.is_empty() && name.text == "detach" {
            return self.detach(arguments, span);
        }
        if named.is_empty() && name.text == "arraylength" {
            return self.array_length(arguments, span);
        }
        if named.is_empty() && name.text == "transformc" {
            let values: Vec<Expr> = arguments.iter().map(|e| self.expr(e)).collect();
            return match values.iter().any(|e| e.ty == Type::Error) {
                true => Expr::error(span),
                false => self.transform_color(name, values, span),
            };
        }
        if named.is_empty()
            && !self.scope.generics.contains_key(&name.text)
            && self.library_functions(&name.text).is_empty()
            && builtins::overloads(&name.text).next().is_none()
        {
            let message = format!("there is no function `{}`", name.text);
            self.unknown(&codes::UNKNOWN_FUNCTION, (&name.text, name.span), message, Self::advise_function);
            arguments.iter().for_each(|e| drop(self.expr(value_of(e))));
            return Expr::error(span);
        }
        if let Some(function) = self.noise_function(name, arguments) {
            return function
                .map_or(Expr::error(span), |function| self.noise_call(function, name, &arguments[1..], span));
        }
        let Some(given) = self.given(name, arguments) else { return Expr::error(span) };
        self.call_with(name, given, span)
    }

    /// A call in a method of a type that has methods of this name, which come before all else that the name may mean.
    fn call_in_method(
        &mut self,
        own: &[FunctionId],
        (name, types): (&Ident, &[ast::GenericArgument]),
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let Some(given) = self.given_for(own, None, arguments) else { return Expr::error(span) };
        let given = match self.own_call(own, (name, types), given, span) {
            Ok(call) => return call,
            Err(given) => given,
        };
        let elsewhere = self.scope.functions.contains_key(&name.text)
            || self.scope.generics.contains_key(&name.text)
            || builtins::overloads(&name.text).next().is_some()
            || !self.library_functions(&name.text).is_empty();
        if elsewhere && types.is_empty() {
            return self.call_with(name, given, span);
        }
        if own.is_empty() {
            let generic = self.own_generic_methods(&name.text);
            let (_, refused) = self.instances_among(&generic, (&name.text, types), &given, span);
            self.no_instance(name, &[], refused, &given, span);
            return Expr::error(span);
        }
        self.no_own_method(own, name, given, span);
        Expr::error(span)
    }

    /// Calls the function or built-in of a name that takes what is given.
    fn call_with(&mut self, name: &Ident, given: Given, span: Span) -> Expr {
        let own = !self.scope.functions.get(&name.text).is_none_or(Vec::is_empty);
        if given.names.is_empty() && named_spaces(&name.text, &given.values) && !own {
            return self.transform(given.values, span);
        }
        let mut candidates = self.function_candidates(&name.text, &given);
        let exact = candidates.iter().any(|c| c.distances.iter().all(|d| *d == 0));
        if !exact && self.scope.generics.contains_key(&name.text) {
            // What is written for these types comes before what is written for any.
            let (instances, refused) = self.instances_for(&name.text, &[], &given, span);
            let generic = self.candidates_among(&instances, &given);
            if candidates.is_empty() && generic.is_empty() && builtins::overloads(&name.text).next().is_none() {
                self.no_instance(name, &instances, refused, &given, span);
                return Expr::error(span);
            }
            if !matches!(best(&candidates), Choice::One(_)) {
                candidates.extend(generic);
            }
        }
        if candidates.is_empty() && matches!(name.text.as_str(), "spline" | "splineinverse") {
            given.names.iter().for_each(|name| self.nameless(name));
            return if given.names.is_empty() {
                self.spline(&name.text, given.values, span)
            } else {
                Expr::error(span)
            };
        }
        if candidates.is_empty() {
            candidates = builtin_candidates(&name.text, &given);
            candidates.extend(self.candidates_among(self.library_functions(&name.text), &given));
        }
        match best(&candidates) {
            Choice::None => {
                self.no_candidate(name, &given, span);
                Expr::error(span)
            }
            Choice::Ambiguous => {
                let tied: Vec<_> = candidates.iter().map(|c| self.described(c.target)).collect();
                self.ambiguous(name, &tied, span);
                Expr::error(span)
            }
            Choice::One(Target::Function(id)) => {
                self.speak_of(&name.text, span, self.program.function(id).span);
                self.function_call(id, given, span)
            }
            Choice::One(Target::Builtin(id)) => self.builtin_call(id, given.values, span),
        }
    }

    /// The arguments of a function, of which none is checked against its parameter yet.
    fn given(&mut self, name: &Ident, arguments: &[ast::Expr]) -> Option<Given> {
        let ids = self.scope.functions.get(&name.text).cloned().unwrap_or_default();
        self.given_for(&ids, None, arguments)
    }

    /// Likewise, where one of these functions is called, on a value if there is one.
    pub(super) fn given_for(
        &mut self,
        ids: &[FunctionId],
        this: Option<Expr>,
        arguments: &[ast::Expr],
    ) -> Option<Given> {
        let names = self.argument_names(arguments);
        let is_method = this.is_some();
        let wanted = self.only_signature(ids, is_method, arguments, names.as_deref().unwrap_or(&[]));
        let value = |(i, e): (usize, &ast::Expr)| {
            let e = value_of(e);
            match (&e.kind, wanted.get(i)) {
                (ast::ExprKind::List(_), Some(ty)) => self.initialiser(e, ty),
                _ => self.expr(e),
            }
        };
        let rest: Vec<Expr> = arguments.iter().enumerate().map(value).collect();
        let values: Vec<Expr> = this.into_iter().chain(rest).collect();
        let fine = values.iter().all(|e| e.ty != Type::Error);
        names.filter(|_| fine).map(|names| Given { values, names, this: is_method, order: 0 })
    }

    /// What the parameters are where only one function can be meant: a `{…}` list has no type by which to
    /// choose among several.
    fn only_signature(
        &self,
        ids: &[FunctionId],
        is_method: bool,
        arguments: &[ast::Expr],
        names: &[Ident],
    ) -> Vec<Type> {
        if !arguments.iter().any(|e| matches!(value_of(e).kind, ast::ExprKind::List(_))) {
            return Vec::new();
        }
        let before = usize::from(is_method);
        let order = |id: &FunctionId| Some((*id, self.slots_of(*id, before + arguments.len(), names).ok()?));
        let fitting: Vec<(FunctionId, Vec<Option<usize>>)> = ids.iter().filter_map(order).collect();
        let [(id, order)] = fitting.as_slice() else { return Vec::new() };
        let mut types = vec![Type::Error; arguments.len()];
        for (ty, argument) in self.program.function(*id).signature().into_iter().zip(order) {
            if let Some(i) = argument.and_then(|i| i.checked_sub(before)) {
                types[i] = ty;
            }
        }
        types
    }

    /// Which argument each parameter of a function takes.
    pub(super) fn slots_of(
        &self,
        id: FunctionId,
        arguments: usize,
        names: &[Ident],
    ) -> Result<Vec<Option<usize>>, Misfit> {
        slots(&self.parameters_of(id), arguments, names)
    }

    pub(super) fn parameters_of(&self, id: FunctionId) -> Parameters<'_> {
        let f = self.program.function(id);
        let names = f.parameters.iter().map(|p| f.variables[p.variable.0 as usize].name.as_str()).collect();
        Parameters { names, optional: f.parameters.iter().map(|p| p.default.is_some()).collect() }
    }

    pub(super) fn library_functions(&self, name: &str) -> &[FunctionId] {
        self.library.get(name).map_or(&[], Vec::as_slice)
    }

    /// Calls one of these functions, the one that fits best.
    pub(super) fn call_among(&mut self, ids: &[FunctionId], name: &Ident, given: Given, span: Span) -> Expr {
        let candidates = self.candidates_among(ids, &given);
        match best(&candidates) {
            Choice::One(Target::Function(id)) => self.function_call(id, given, span),
            Choice::Ambiguous => {
                let tied: Vec<_> = candidates.iter().map(|c| self.described(c.target)).collect();
                self.ambiguous(name, &tied, span);
                Expr::error(span)
            }
            _ => {
                self.none_fits(name, ids, &given, span);
                Expr::error(span)
            }
        }
    }

    /// Calls the library's function that fits best; the mistake is that of `name` where none does.
    pub(super) fn library_call(&mut self, function: &str, name: &Ident, values: Vec<Expr>, span: Span) -> Expr {
        let given = Given { values, names: Vec::new(), this: false, order: 0 };
        let candidates = self.candidates_among(self.library_functions(function), &given);
        match best(&candidates) {
            Choice::One(Target::Function(id)) => self.function_call(id, given, span),
            _ => {
                let called = Ident { text: function.to_owned(), span: name.span };
                self.no_candidate(&called, &given, span);
                Expr::error(span)
            }
        }
    }

    /// `blend<float3>(…)`
    pub(super) fn generic_call(
        &mut self,
        name: &Ident,
        types: &[ast::GenericArgument],
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        if self.generic_struct_named(name).is_some() {
            let ty = ast::TypeName { generics: types.to_vec(), ..ast::TypeName::plain(name.clone()) };
            return self.construct_written(&ty, arguments, span);
        }
        if !self.own_generic_methods(&name.text).is_empty() {
            return self.call_in_method(&[], (name, types), arguments, span);
        }
        if !self.scope.generics.contains_key(&name.text) {
            let message = format!("there is no generic function `{}`", name.text);
            let name = (name.text.as_str(), name.span);
            self.unknown(&codes::UNKNOWN_FUNCTION, name, message, Self::advise_generic_function);
            self.drop_arguments(arguments);
            return Expr::error(span);
        }
        let Some(given) = self.given_for(&[], None, arguments) else { return Expr::error(span) };
        let (instances, refused) = self.instances_for(&name.text, types, &given, span);
        if self.fits_any(&instances, &given) {
            return self.call_among(&instances, name, given, span);
        }
        self.no_instance(name, &instances, refused, &given, span);
        Expr::error(span)
    }

    /// Counts the defaults that a call writes in; where that is too much, it is said.
    pub(super) fn may_write_defaults(&mut self, id: FunctionId, left_out: &[usize], span: Span) -> bool {
        let function = self.program.function(id);
        if left_out.is_empty() {
            return true;
        }
        // What was too much already need not be counted again.
        let counted = if self.expressions > super::MAX_EXPRESSIONS { &[] } else { left_out };
        let defaults = counted.iter().filter_map(|i| function.parameters[*i].default.as_ref());
        let size: usize = defaults.map(super::walk::size).sum();
        self.expressions = self.expressions.saturating_add(size);
        if self.expressions <= super::MAX_EXPRESSIONS {
            return true;
        }
        let message = format!("`{}` is called too often for the defaults that these calls leave to it", function.name);
        let hint = "give the arguments, or make the defaults shorter: they are written into each call";
        self.error(&codes::TOO_LARGE, span, message, hint);
        false
    }

    fn function_call(&mut self, id: FunctionId, given: Given, span: Span) -> Expr {
        // The candidate was chosen because every parameter has a value or a default.
        let Ok(slots) = self.slots_of(id, given.values.len(), &given.names) else { return Expr::error(span) };
        let left_out: Vec<usize> = (0..slots.len()).filter(|i| slots[*i].is_none()).collect();
        if !self.may_write_defaults(id, &left_out, span) {
            return Expr::error(span);
        }
        let function = self.program.function(id);
        let result = function.result.clone();
        // Of the function only what a call needs is copied: its body may be long.
        let type_of = |p: &super::hir::Parameter| function.variables[p.variable.0 as usize].ty.clone();
        let default = |(i, p): (usize, &super::hir::Parameter)| p.default.clone().filter(|_| slots[i].is_none());
        let parameters: Vec<_> =
            function.parameters.iter().enumerate().map(|(i, p)| (p.direction, type_of(p), default((i, p)))).collect();
        let (mut arguments, mut lengths) = (Vec::new(), Vec::new());
        let mut values: Vec<Option<Expr>> = given.values.into_iter().map(Some).collect();
        for ((direction, ty, default), argument) in parameters.into_iter().zip(slots) {
            let ty = &ty;
            let value = argument.and_then(|i| values[i].take()).or(default);
            let Some(value) = value else { return Expr::error(span) };
            if let (Type::Array(_, 0), Type::Array(_, n)) = (ty, &value.ty) {
                lengths.push(*n);
            }
            let argument = match (direction, ty) {
                (Direction::In, ty) if ty.is_slot() => Self::texture_argument(&value),
                (Direction::In, _) => Some(Argument::In(self.coerce(value, ty))),
                (direction, _) => self.assignable(value).map(|place| Argument::Place(place, direction)),
            };
            match argument {
                Some(argument) => arguments.push(argument),
                None => return Expr::error(span),
            }
        }
        self.call_instance(id);
        self.note_names(id, &arguments);
        let Some(id) = self.version(id, lengths, span) else { return Expr::error(span) };
        Expr { kind: ExprKind::Call(id, arguments), ty: result, span }
    }

    fn builtin_call(&mut self, id: BuiltinId, values: Vec<Expr>, span: Span) -> Expr {
        let builtin = Builtin::get(id);
        if matches!(builtin.expand, Expand::Derivative(_)) && values[0].ty == Type::Int {
            self.not_differentiable(&values[0], span);
            return Expr::error(span);
        }
        let common = common_type(builtin, &values);
        let [first, last] = [values.first(), values.last()].map(|e| e.map(|e| e.ty.clone()));
        let arguments: Vec<Expr> = builtin
            .params
            .iter()
            .zip(values)
            .map(|(p, e)| {
                let ty = builtins::wanted(*p, &common);
                self.coerce(e, &ty)
            })
            .collect();
        let ty = match builtin.gives {
            Gives::Bool => Type::Bool,
            Gives::Int => Type::Int,
            Gives::Float => Type::Float,
            Gives::Any => common,
            Gives::First => first.unwrap_or(Type::Error),
            Gives::Last => last.unwrap_or(Type::Error),
            Gives::Matrix => Type::Matrix,
        };
        Expr { kind: ExprKind::Builtin(id, arguments), ty, span }
    }

    pub(super) fn not_differentiable(&mut self, e: &Expr, span: Span) {
        let message = format!("{} has no derivatives", self.name_of(&e.ty));
        let hint = "floats, vectors and colors have; `float(x)` of an int has the derivative 0";
        self.error(&codes::DERIVATIVE_OPERAND, span, message, hint);
    }
}

pub(super) fn common_type(builtin: &Builtin, values: &[Expr]) -> Type {
    builtins::common_type(builtin.params.iter().zip(values).filter(|(p, _)| **p == Param::Any).map(|(_, e)| &e.ty))
}
