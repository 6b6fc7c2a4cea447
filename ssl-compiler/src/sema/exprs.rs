//! Expressions: the dispatcher, assignments, `{…}` lists, and forms in angle brackets.

use super::Checker;
use super::hir::{Argument, Constant, Expr, ExprKind, TextureRef};
use crate::builtins;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::string_id;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, Ident};
use crate::types::{FLOAT4, Type};

impl Checker<'_> {
    pub(super) fn expr(&mut self, e: &ast::Expr) -> Expr {
        self.expressions += 1;
        let span = e.span;
        match &e.kind {
            ast::ExprKind::Int(x) => Expr::constant(Constant::Int(*x), span),
            ast::ExprKind::Float(x) => Expr::constant(Constant::Float(*x as f32), span),
            ast::ExprKind::Bool(x) => Expr::constant(Constant::Bool(*x), span),
            ast::ExprKind::Str(text) => self.string(text, span),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Unary(op, e) => {
                let e = self.expr(e);
                self.unary(*op, e, span)
            }
            ast::ExprKind::Binary(op, a, b) => {
                self.inspect_power(*op, a, b, span);
                let (a, b) = (self.expr(a), self.expr(b));
                self.binary(*op, a, b, span)
            }
            ast::ExprKind::Ternary(c, a, b) => self.ternary(c, a, b, span),
            ast::ExprKind::Assign(op, target, value) => self.assign(*op, target, value, span),
            ast::ExprKind::Step { target, delta, prefix } => self.step(target, *delta, *prefix, span),
            ast::ExprKind::Call(name, arguments) => self.call(name, arguments, span),
            ast::ExprKind::Generic { name, argument, arguments } => {
                self.generic(name, argument, arguments.as_deref(), span)
            }
            ast::ExprKind::Cast(ty, e) => {
                let to = self.resolve(ty, &[]);
                let e = self.expr(e);
                Expr { span, ..self.explicit(e, &to) }
            }
            ast::ExprKind::Type(ty) => {
                let (message, hint) = (format!("the type `{ty}` is not a value"), format!("construct one: `{ty}(…)`"));
                self.error(&codes::TYPE_AS_VALUE, span, message, hint);
                Expr::error(span)
            }
            ast::ExprKind::Construct(ty, arguments) => self.construct_written(ty, arguments, span),
            ast::ExprKind::GenericCall { name, types, arguments } => self.generic_call(name, types, arguments, span),
            ast::ExprKind::Method { on, name, types, arguments, function } => {
                self.method_call(on, (name, types), arguments, function.as_deref(), span)
            }
            ast::ExprKind::Derived { modes, on, name, types, arguments } => {
                let generic = on.is_none() && !self.scope.functions.contains_key(&name.text);
                if generic && (!types.is_empty() || self.scope.generics.contains_key(&name.text)) {
                    return self.derived_generic(modes, (name, types), arguments, span);
                }
                let method =
                    on.as_deref().and_then(|on| self.derived_method(modes, on, (name, types), arguments, span));
                method.unwrap_or_else(|| self.derived_call(modes, (on.as_deref(), name), arguments, span))
            }
            ast::ExprKind::NoDiff(inner) => {
                let e = self.expr(inner);
                self.detached(e, span)
            }
            ast::ExprKind::Integral(integral) => self.integral(integral, span),
            ast::ExprKind::Member(base, member) => self.member(base, member, span),
            ast::ExprKind::Index(base, index) => self.index(base, index, span),
            ast::ExprKind::Named(name, value) => {
                self.nameless(name);
                self.expr(value);
                Expr::error(span)
            }
            ast::ExprKind::List(_) => {
                let hint = "use a constructor such as `float3(…)`, or give a declared variable this value";
                self.error(&codes::LIST_WITHOUT_TYPE, span, "a `{…}` list has no type of its own", hint);
                Expr::error(span)
            }
            ast::ExprKind::Comma(first, b) => {
                let (a, b) = (self.expr(first), self.expr(b));
                // Of a chain only the first is looked at.
                if !matches!(first.kind, ast::ExprKind::Comma(..)) {
                    self.inspect_comma(&a);
                }
                let ty = b.ty.clone();
                Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), ty, span }
            }
            ast::ExprKind::Error => Expr::error(span),
        }
    }

    fn string(&mut self, text: &str, span: Span) -> Expr {
        let index = self.numbers.of_string(text, &mut self.program.strings);
        let first = self.numbers.first_with_id(string_id(text), index);
        if first != index {
            let other = &self.program.strings[first];
            let message = format!("the shader could not tell `{text}` from `{other}`");
            self.error(&codes::STRING_CLASH, span, message, "change one of the two strings a little");
        }
        Expr::constant(Constant::String(index as u32), span)
    }

    /// A value for something of a known type; here `{…}` lists may stand.
    pub(super) fn initialiser(&mut self, e: &ast::Expr, ty: &Type) -> Expr {
        let ast::ExprKind::List(list) = &e.kind else {
            let e = self.expr(e);
            return self.coerce(e, ty);
        };
        let counted;
        let ty = match ty {
            Type::Array(element, 0) => {
                counted = Type::Array(element.clone(), list.len() as u32);
                &counted
            }
            ty => ty,
        };
        if ty.is_any_length() {
            let hint = "give it a value: `{0.0}` has one";
            self.error(&codes::ARRAY_SIZE, e.span, "an array has at least one element", hint);
            return Expr::error(e.span);
        }
        if let Some(interface) = self.interface_of(ty) {
            self.no_list(interface, e.span);
            return Expr::error(e.span);
        }
        let parts: Vec<Type> = match ty {
            Type::Error => return Expr::error(e.span),
            // Arrays may have far more elements than are given.
            Type::Array(element, n) => vec![(**element).clone(); list.len().min(*n as usize)],
            Type::Struct(id) => self.program.types.get(*id).named().iter().map(|f| f.ty.clone()).collect(),
            Type::Vector(kind) => vec![Type::Float; kind.len()],
            // Rows in braces, or all elements in one list.
            Type::Matrix if list.iter().all(|e| matches!(e.kind, ast::ExprKind::List(_))) => vec![FLOAT4; 4],
            Type::Matrix => vec![Type::Float; 16],
            _ => vec![ty.clone()],
        };
        if list.len() > parts.len() {
            let message = format!("{} values for the {} of {}", list.len(), parts.len(), self.name_of(ty));
            let holds_lists =
                parts.iter().any(|part| matches!(part, Type::Array(..) | Type::Vector(_) | Type::Struct(_)));
            let flat = !list.iter().any(|e| matches!(e.kind, ast::ExprKind::List(_)));
            let hint = match holds_lists && flat {
                true => "a member or element of several values takes a list of its own: `{{1.0, 2.0}, 3.0}`",
                false => "remove the values that are too many",
            };
            self.error(&codes::WRONG_ARGUMENT_COUNT, e.span, message, hint);
            // Which value is for which part is not known.
            list.iter().filter(|e| !matches!(e.kind, ast::ExprKind::List(_))).for_each(|e| drop(self.expr(e)));
            return Expr::error(e.span);
        }
        if let Type::Struct(id) = ty {
            let given: Vec<Option<&ast::Expr>> = list.iter().map(Some).collect();
            return self.members(*id, &given, e.span);
        }
        let mut values = list.iter().zip(&parts).map(|(e, ty)| self.initialiser(e, ty)).collect();
        if let Type::Array(element, n) = ty {
            self.fill(&mut values, element, *n, e.span);
        }
        Expr { kind: ExprKind::Construct(values), ty: ty.clone(), span: e.span }
    }

    fn assign(&mut self, op: Option<BinaryOp>, target: &ast::Expr, value: &ast::Expr, span: Span) -> Expr {
        self.local.adding = true;
        let target = self.target(target);
        self.local.adding = false;
        let Some(target) = target else {
            self.expr(value);
            return Expr::error(span);
        };
        if let Some(addition) = self.addition(op, &target, value, span) {
            return addition;
        }
        let ty = target.ty.clone();
        let Some(op) = op else {
            let value = self.initialiser(value, &ty);
            return match self.assignable(target) {
                Some(place) => Expr { kind: ExprKind::Assign(place, Box::new(value)), ty, span },
                None => Expr::error(span),
            };
        };
        let value = self.expr(value);
        // The operator is checked as if written out, so that both forms accept the same.
        let whole = self.binary(op, target.clone(), value, span);
        let whole = self.coerce(whole, &ty);
        let place = self.assignable(target);
        match (place, whole.kind) {
            (Some(place), ExprKind::Binary(op, _, right)) => {
                Expr { kind: ExprKind::AssignOp(op, place, right), ty, span }
            }
            // A vector of another kind: `color += vector`.
            (Some(place), ExprKind::Convert(_, inner)) => match inner.kind {
                ExprKind::Binary(op, _, right) => Expr { kind: ExprKind::AssignOp(op, place, right), ty, span },
                _ => Expr::error(span),
            },
            _ => Expr::error(span),
        }
    }

    /// What is assigned to; a constant of the file is reported here, where its name is still known.
    fn target(&mut self, target: &ast::Expr) -> Option<Expr> {
        if self.sets_foreign(target) {
            return None;
        }
        if let ast::ExprKind::Name(name) = &target.kind
            && !self.is_variable(name)
            && !self.scope.names.contains_key(name)
            && builtins::constants::find(name).is_some()
        {
            let message = format!("`{name}` is a constant of the language");
            let hint = "declare a variable with a name of its own";
            self.error(&codes::CONSTANT_ASSIGNED, target.span, message, hint);
            return None;
        }
        if self.sets_member_constant(target) {
            return None;
        }
        if let ast::ExprKind::Name(name) = &target.kind
            && !self.is_variable(name)
            && matches!(self.scope.names.get(name), Some(d) if matches!(d.meaning, super::scope::Meaning::Constant(..)))
        {
            let message = format!("`{name}` is a constant of the file and keeps its value");
            let hint = "copy it into a variable";
            let mut d = Diagnostic::error(&codes::CONSTANT_ASSIGNED, target.span, message, hint);
            if let Some(declared) = self.scope.names.get(name) {
                d = d.with_label(declared.span, "declared here");
            }
            self.diagnostics.push(d);
            return None;
        }
        Some(self.expr(target))
    }

    fn step(&mut self, target: &ast::Expr, delta: i32, prefix: bool, span: Span) -> Expr {
        let Some(target) = self.target(target) else { return Expr::error(span) };
        let ty = target.ty.clone();
        if !matches!(ty, Type::Int | Type::Float | Type::Error) {
            let message = format!("`++` and `--` work on int and float, not on {}", self.name_of(&ty));
            self.error(&codes::BAD_OPERANDS, span, message, "write `+= …` instead");
            return Expr::error(span);
        }
        match self.assignable(target) {
            Some(place) => Expr { kind: ExprKind::Step { place, delta, prefix }, ty, span },
            None => Expr::error(span),
        }
    }

    fn generic(&mut self, name: &Ident, argument: &Ident, arguments: Option<&[ast::Expr]>, span: Span) -> Expr {
        match (name.text.as_str(), arguments) {
            ("global_value", None) => self.global(argument, span),
            ("global_value", Some(_)) => {
                self.error(&codes::ANGLE_FORM, span, "`global_value<…>` takes no arguments", "remove the parentheses");
                Expr::error(span)
            }
            (_, None) => {
                self.error(
                    &codes::ANGLE_FORM,
                    span,
                    format!("`{}<…>` needs its arguments", name.text),
                    "add them in parentheses",
                );
                Expr::error(span)
            }
            ("make_closure", Some(arguments)) => self.closure(argument, arguments, span),
            ("texture2d_size", Some(arguments)) => self.texture_size(argument, arguments, span),
            (_, Some(arguments)) => self.sample(name, argument, arguments, span),
        }
    }

    fn global(&mut self, name: &Ident, span: Span) -> Expr {
        if let Some((index, field)) = self.layout.find(&name.text) {
            return Expr { kind: ExprKind::Global(index), ty: field.ty.clone(), span };
        }
        let message = format!("there is no global `{}`", name.text);
        self.unknown(&codes::UNKNOWN_GLOBAL, (&name.text, name.span), message, Self::advise_global);
        Expr::error(span)
    }

    /// A texture handed to a function.
    pub(super) fn texture_argument(e: &Expr) -> Option<Argument> {
        match e.kind {
            ExprKind::Texture(reference @ (TextureRef::File(_) | TextureRef::Parameter(_))) => {
                Some(Argument::Texture(reference))
            }
            _ => None,
        }
    }
}
