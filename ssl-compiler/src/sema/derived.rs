//! `fwd_diff(f)` and `bwd_diff(f)`: functions with the signatures that Slang gives them.
//!
//! Each is a function of its own without a body, which says what it is derived from; a call of one is a call like any
//! other. So defaults, names of arguments, overloads and derivatives of derivatives need no rules of their own. Lowering
//! writes what it does.

use super::Checker;
use super::arguments::{Parameters, slots};
use super::hir::{Attributes, Derived, Expr, ExprKind, Function, FunctionId, Parameter, Role, VarId, Variable};
use crate::builtins;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident, Mode};
use crate::types::Type;

/// Derivatives of derivatives: as many as differentiation itself goes through.
const MAX_ORDER: usize = 6;

/// What the cotangent of the result is called, if no parameter is.
const RESULT: &str = "dResult";

/// A parameter of a derivative.
struct Slot {
    name: String,
    ty: Type,
    direction: Direction,
    no_diff: bool,
    default: Option<Expr>,
    span: Span,
}

impl Checker<'_> {
    /// `fwd_diff(f)(…)`; the modes go from outside to inside.
    pub(super) fn derived_call(
        &mut self,
        modes: &[Mode],
        (on, name): (Option<&ast::Expr>, &Ident),
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let place = span;
        let found = match on {
            _ if self.too_often(modes, name) => None,
            Some(on) => self.differentiable_methods(on, name),
            None => self.differentiable_functions(name, modes).map(|ids| (ids, None)),
        };
        let Some((ids, this)) = found else {
            self.drop_arguments(arguments);
            return Expr::error(span);
        };
        let any_length = ids.iter().any(|id| self.takes_any_length(*id));
        let on_value = this.is_some();
        let known = if any_length { Vec::new() } else { self.derive_called(modes, &ids, on_value, place) };
        let Some(given) = self.given_for(&known, this, arguments) else { return Expr::error(span) };
        let derived = match any_length {
            false => known,
            true => {
                let types: Vec<Type> = given.values.iter().map(|e| e.ty.clone()).collect();
                let fits = |id: &FunctionId| self.version_for(modes, *id, &types, &given.names, span);
                let ids: Vec<FunctionId> = ids.iter().filter_map(fits).collect();
                self.derive_called(modes, &ids, on_value, place)
            }
        };
        if derived.is_empty() {
            return Expr::error(span);
        }
        let word = modes.iter().rev().fold(name.text.clone(), |f, mode| format!("{}({f})", mode.word()));
        for id in &ids {
            self.speak_of(&name.text, name.span, self.program.function(*id).span);
        }
        self.call_among(&derived, &Ident { text: word, span: name.span }, given, span)
    }
}

impl Checker<'_> {
    /// `fwd_diff(blend<float>)(…)`, or without `<float>` where the pairs tell.
    pub(super) fn derived_generic(
        &mut self,
        modes: &[Mode],
        (name, types): (&Ident, &[ast::GenericArgument]),
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        if self.too_often(modes, name) {
            self.drop_arguments(arguments);
            return Expr::error(span);
        }
        let Some(mut given) = self.given_for(&[], None, arguments) else { return Expr::error(span) };
        given.order = modes.len();
        let (instances, refused) = self.instances_for(&name.text, types, &given, span);
        given.order = 0;
        if instances.is_empty() {
            self.no_instance(name, &[], refused, &given, span);
            return Expr::error(span);
        }
        instances.iter().for_each(|id| self.call_instance(*id));
        let derived = self.derive_all(modes, &instances, span);
        if derived.is_empty() {
            return Expr::error(span);
        }
        let word = modes.iter().rev().fold(name.text.clone(), |f, mode| format!("{}({f})", mode.word()));
        self.call_among(&derived, &Ident { text: word, span: name.span }, given, span)
    }

    /// `fwd_diff(scale.by<float>)(…)`, or without `<float>` where the pairs tell; `None` if the method is not generic.
    pub(super) fn derived_method(
        &mut self,
        modes: &[Mode],
        on: &ast::Expr,
        (name, types): (&Ident, &[ast::GenericArgument]),
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let earlier = self.diagnostics.list.len();
        let (owner, this) = match self.type_before_dot(on) {
            Some(ty) => (ty, None),
            None => {
                let e = self.expr(on);
                (e.ty.clone(), Some(e))
            }
        };
        let mut generic = self.generic_methods(&owner, &name.text);
        generic.retain(|id| this.is_none() || !self.is_static_generic(*id));
        let others = types.is_empty() && !self.methods_named(&owner, &name.text).is_empty();
        if generic.is_empty() && !types.is_empty() && owner != Type::Error {
            let message = format!("{} has no generic method `{}`", self.name_of(&owner), name.text);
            self.error(&codes::UNKNOWN_FUNCTION, name.span, message, "leave `<…>` out, or declare it with it");
            self.drop_arguments(arguments);
            return Some(Expr::error(span));
        }
        if generic.is_empty() || others {
            // What is wrong with the value is said where the method is looked for.
            self.diagnostics.list.truncate(earlier);
            return None;
        }
        if self.too_often(modes, name) {
            self.drop_arguments(arguments);
            return Some(Expr::error(span));
        }
        let on_value = this.clone();
        let Some(mut given) = self.given_for(&[], this, arguments) else { return Some(Expr::error(span)) };
        given.order = modes.len();
        let (mut instances, mut refused) = (Vec::new(), Vec::new());
        for of in generic {
            // A method that is named behind its type takes the pair for `this` first.
            given.this = on_value.is_some() || !self.is_static_generic(of) && !given.values.is_empty();
            let (found, why) = self.instances_among(&[of], (&name.text, types), &given, span);
            instances.extend(found);
            refused.extend(why);
        }
        (given.order, given.this) = (0, on_value.is_some());
        if instances.is_empty() {
            self.no_instance(name, &[], refused, &given, span);
            return Some(Expr::error(span));
        }
        if on_value.is_some() && self.refuse_changing(&instances, &owner, name) {
            return Some(Expr::error(span));
        }
        instances.iter().for_each(|id| self.call_instance(*id));
        let derived = self.derive_called(modes, &instances, on_value.is_some(), span);
        if derived.is_empty() {
            return Some(Expr::error(span));
        }
        let word = modes.iter().rev().fold(name.text.clone(), |f, mode| format!("{}({f})", mode.word()));
        Some(self.call_among(&derived, &Ident { text: word, span: name.span }, given, span))
    }

    /// Whether more derivatives of each other are asked for than there can be, which is reported.
    fn too_often(&mut self, modes: &[Mode], name: &Ident) -> bool {
        if modes.len() > MAX_ORDER {
            let message = format!("{} derivatives of each other", modes.len());
            let hint = format!("the compiler can differentiate at most {MAX_ORDER} times");
            self.error(&codes::DERIVED_FUNCTION, name.span, message, hint);
        }
        modes.len() > MAX_ORDER
    }

    /// The functions that a name in front of which a mode stands can mean.
    fn differentiable_functions(&mut self, name: &Ident, modes: &[Mode]) -> Option<Vec<FunctionId>> {
        let methods = self.own_methods(&name.text);
        if !methods.is_empty() {
            return Some(methods);
        }
        let own = self.scope.functions.get(&name.text).map_or(&[][..], Vec::as_slice);
        let all = if own.is_empty() { self.library_functions(&name.text) } else { own };
        let is_shader = |id: &&FunctionId| self.program.function(**id).is_shader;
        let functions: Vec<FunctionId> = all.iter().filter(|id| !is_shader(id)).copied().collect();
        if !functions.is_empty() {
            return Some(functions);
        }
        let word = modes.last().map_or("", |mode| mode.word());
        if let Some(shader) = all.first() {
            let place = self.program.function(*shader).span;
            let message = format!("`{}` is a shader, which cannot be differentiated as a whole here", name.text);
            let hint = "move what is to be differentiated into a function, which the shader calls";
            let d = Diagnostic::error(&codes::DERIVED_FUNCTION, name.span, message, hint);
            self.diagnostics.push(d.with_label(place, "declared here"));
        } else if builtins::overloads(&name.text).next().is_some() || builtins::FORMS.contains(&name.text.as_str()) {
            let message = format!("`{word}` does not take the built-in `{}`", name.text);
            let hint = "write a function of your own that calls it, and differentiate that";
            self.error(&codes::DERIVED_FUNCTION, name.span, message, hint);
        } else {
            let message = format!("there is no function `{}`", name.text);
            self.unknown(&codes::UNKNOWN_FUNCTION, (&name.text, name.span), message, Self::advise_function);
        }
        None
    }

    /// Derivatives of functions, or of methods that are called on a value: that has no derivative.
    fn derive_called(&mut self, modes: &[Mode], ids: &[FunctionId], on_value: bool, place: Span) -> Vec<FunctionId> {
        if !on_value {
            return self.derive_all(modes, ids, place);
        }
        let ids: Vec<FunctionId> = ids.iter().map(|id| self.without_this(*id)).collect();
        self.derive_all(modes, &ids, place)
    }

    fn derive_all(&mut self, modes: &[Mode], ids: &[FunctionId], place: Span) -> Vec<FunctionId> {
        let one = |id: &FunctionId| modes.iter().rev().try_fold(*id, |id, mode| self.derive(*mode, id, place));
        ids.iter().map(one).collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// The derivative of a function; `None` where that was refused.
    pub(super) fn derive(&mut self, mode: Mode, of: FunctionId, place: Span) -> Option<FunctionId> {
        if let Some(id) = self.derived.get(&(mode, of)) {
            return Some(*id);
        }
        let f = self.program.function(of);
        let (name, span, result) = (format!("{}({})", mode.word(), f.name), f.span, f.result.clone());
        let parameters: Vec<Slot> = f.parameters.iter().map(|p| slot(f, p)).collect();
        let (mut slots, mut roles) = (Vec::new(), Vec::new());
        for p in parameters {
            let (role, slot) = self.derived_parameter(mode, p, place)?;
            roles.push(role);
            slots.extend(slot);
        }
        let differential = self.differential(&result);
        let (role, result) = match (mode, differential) {
            (Mode::Forward, None) => (Role::Plain, result),
            (Mode::Forward, Some(_)) => match self.pair_of(&result, place) {
                Type::Error => return None,
                pair => (Role::Pair, pair),
            },
            (Mode::Backward, None) => (Role::Dropped, Type::Void),
            (Mode::Backward, Some(ty)) => {
                slots.push(Slot {
                    name: free_name(&slots),
                    ty,
                    direction: Direction::In,
                    no_diff: false,
                    default: None,
                    span,
                });
                (Role::Cotangent, Type::Void)
            }
        };
        let derived = Derived { mode, of, roles, result: role, place };
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(head_of(name, result, slots, derived, span));
        self.derived.insert((mode, of), id);
        Some(id)
    }

    /// What becomes of a parameter.
    fn derived_parameter(&mut self, mode: Mode, p: Slot, place: Span) -> Option<(Role, Option<Slot>)> {
        let differential = if p.no_diff { None } else { self.differential(&p.ty) };
        let Some(differential) = differential else {
            return Some(match (mode, p.direction) {
                (Mode::Forward, _) | (Mode::Backward, Direction::In) => (Role::Plain, Some(p)),
                (Mode::Backward, Direction::InOut) => (Role::In, Some(Slot { direction: Direction::In, ..p })),
                (Mode::Backward, Direction::Out) => (Role::Dropped, None),
            });
        };
        if (mode, p.direction) == (Mode::Backward, Direction::Out) {
            return Some((Role::Cotangent, Some(Slot { ty: differential, direction: Direction::In, ..p })));
        }
        let ty = match self.pair_of(&p.ty, place) {
            Type::Error => return None,
            pair => pair,
        };
        let slot = match mode {
            // The derivative of a default is zero.
            Mode::Forward => {
                let pair = |value: Expr| {
                    let span = value.span;
                    Expr { kind: ExprKind::Construct(vec![value]), ty: ty.clone(), span }
                };
                Slot { default: p.default.map(pair), ty: ty.clone(), ..p }
            }
            Mode::Backward => Slot { default: None, ty, direction: Direction::InOut, ..p },
        };
        Some((Role::Pair, Some(slot)))
    }

    /// The version of a function that takes arrays of any length which a call of a derivative asks for.
    fn version_for(
        &mut self,
        modes: &[Mode],
        id: FunctionId,
        given: &[Type],
        names: &[Ident],
        call: Span,
    ) -> Option<FunctionId> {
        if !self.takes_any_length(id) {
            return Some(id);
        }
        let f = self.program.function(id);
        let (list, result): (Vec<Slot>, _) = (f.parameters.iter().map(|p| slot(f, p)).collect(), f.result.clone());
        let backward = modes.contains(&Mode::Backward);
        let mut wanted: Vec<(String, bool)> = Vec::new();
        for p in &list {
            let plain = p.no_diff || self.differential(&p.ty).is_none();
            if !(backward && plain && p.direction == Direction::Out) {
                wanted.push((p.name.clone(), p.ty.is_any_length()));
            }
        }
        if backward && self.differential(&result).is_some() {
            wanted.push((free_name(&list), false));
        }
        let parameters = Parameters {
            names: wanted.iter().map(|(name, _)| name.as_str()).collect(),
            optional: vec![true; wanted.len()],
        };
        let order = slots(&parameters, given.len(), names).ok()?;
        let mut lengths = Vec::new();
        for ((_, any_length), argument) in wanted.iter().zip(order) {
            if *any_length {
                lengths.push(self.length_of(&given[argument?])?);
            }
        }
        self.version(id, lengths, call)
    }

    /// How many elements an array has, or one in a pair.
    fn length_of(&self, ty: &Type) -> Option<u32> {
        match ty {
            Type::Array(_, n) => Some(*n),
            Type::Struct(id) => self.length_of(self.value_of_pair(*id)?),
            _ => None,
        }
    }
}

fn slot(f: &Function, p: &Parameter) -> Slot {
    let Variable { name, ty, span, .. } = &f.variables[p.variable.0 as usize];
    Slot {
        name: name.clone(),
        ty: ty.clone(),
        direction: p.direction,
        no_diff: p.no_diff,
        default: p.default.clone(),
        span: *span,
    }
}

/// A name for the cotangent of the result that no parameter has.
fn free_name(slots: &[Slot]) -> String {
    let mut name = RESULT.to_owned();
    while slots.iter().any(|s| s.name == name) {
        name.push('_');
    }
    name
}

fn head_of(name: String, result: Type, slots: Vec<Slot>, derived: Derived, span: Span) -> Function {
    let mut function = Function {
        name,
        is_shader: false,
        is_kernel: false,
        result,
        parameters: Vec::new(),
        metadata: Vec::new(),
        variables: Vec::new(),
        body: None,
        external: None,
        derived: Some(derived),
        attributes: Attributes::default(),
        span,
    };
    for (i, s) in slots.into_iter().enumerate() {
        function.variables.push(Variable { name: s.name, ty: s.ty, span: s.span, constant: false, dynamic: false });
        function.parameters.push(Parameter {
            no_diff: s.no_diff,
            given: None,
            variable: VarId(i as u32),
            direction: s.direction,
            default: s.default,
            buffer: None,
            start: None,
            metadata: Vec::new(),
        });
    }
    function
}
