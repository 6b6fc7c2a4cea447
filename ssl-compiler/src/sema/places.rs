//! Names, members, elements and components: reading them and assigning to them.

use super::Checker;
use super::hir::{Access, Constant, Expr, ExprKind, Place, TextureRef, Variable};
use super::scope::Meaning;
use crate::builtins::{self, constants::Number};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{FLOAT4, Type, VectorKind};

/// The components that a swizzle names, or `None` where it names none.
fn swizzle(text: &str, length: usize) -> Option<Vec<u8>> {
    let index = |set: &str| {
        text.chars().map(|c| set.find(c).filter(|&i| i < length).map(|i| i as u8)).collect::<Option<Vec<u8>>>()
    };
    if text.is_empty() || text.len() > 4 {
        return None;
    }
    index("xyzw").or_else(|| index("rgba"))
}

/// The type of so many components of a vector.
fn component_type(kind: VectorKind, count: usize) -> Type {
    match count {
        1 => Type::Float,
        2 => Type::Vector(VectorKind::Float2),
        4 => Type::Vector(VectorKind::Float4),
        _ if kind.len() == 3 => Type::Vector(kind),
        _ => Type::Vector(VectorKind::Float3),
    }
}

/// The type of a swizzle of this type; `None` where there is none.
pub(crate) fn swizzle_type(ty: &Type, member: &str) -> Option<Type> {
    let Type::Vector(kind) = ty else { return None };
    swizzle(member, kind.len()).map(|indices| component_type(*kind, indices.len()))
}

impl Checker<'_> {
    pub(super) fn name(&mut self, text: &str, span: Span) -> Expr {
        if let Some(id) = self.lookup(text) {
            let Variable { ty, span: declared, .. } = self.variable(id).clone();
            if self.local.constants.contains_key(&id) {
                // The name may stand for its value, in the size of an array say, and leave no trace.
                self.names_used.insert(declared);
            }
            if ty.is_slot() {
                return Expr { kind: ExprKind::Texture(TextureRef::Parameter(id)), ty, span };
            }
            let place = Place { variable: id, path: Vec::new(), ty: ty.clone(), span };
            return Expr { kind: ExprKind::Place(place), ty, span };
        }
        if let Some(member) = self.implicit_member(text, span) {
            return member;
        }
        if let Some(constant) = self.own_constant(text, span) {
            return constant;
        }
        if let Some(super::generics::Bound::Int(n)) = self.bound(text) {
            return Expr::constant(Constant::Int(*n), span);
        }
        if let Some(declared) = self.scope.names.get(text).map(|d| d.span) {
            self.names_used.insert(declared);
            self.speak_of(text, span, declared);
        }
        match self.scope.names.get(text).map(|d| &d.meaning) {
            Some(Meaning::Texture(i)) => {
                Expr { kind: ExprKind::Texture(TextureRef::File(*i)), ty: Type::Texture2d, span }
            }
            Some(Meaning::Constant(value, size)) => {
                let (value, size) = (value.clone(), *size);
                self.written_in(text, value, size, span)
            }
            None => match builtins::constants::find(text) {
                Some(Number::Float(x)) => Expr::constant(Constant::Float(x), span),
                Some(Number::Int(x)) => Expr::constant(Constant::Int(x), span),
                None => match self.point_number(text, span) {
                    Some(number) => number,
                    None => {
                        self.unknown_name(text, span);
                        Expr::error(span)
                    }
                },
            },
        }
    }

    /// The value of a constant where its name stands.
    pub(super) fn written_in(&mut self, name: &str, value: Expr, size: usize, span: Span) -> Expr {
        if self.expressions.saturating_add(size) > super::MAX_EXPRESSIONS {
            let message = format!("`{name}` is used too often for so long a constant");
            let hint = "copy it into a variable of the function that uses it";
            self.error(&codes::TOO_LARGE, span, message, hint);
            return Expr::error(span);
        }
        self.expressions += size;
        Expr { span, ..value }
    }

    fn unknown_name(&mut self, text: &str, span: Span) {
        let message = format!("nothing is called `{text}` here");
        self.unknown(&codes::UNKNOWN_NAME, (text, span), message, Self::advise_value);
    }

    pub(super) fn member(&mut self, base: &ast::Expr, member: &Ident, span: Span) -> Expr {
        if let Some(ty) = self.type_before_dot(base) {
            return self.constant_of(&ty, member, span);
        }
        let written = base;
        let base = self.expr(base);
        let bad = match &base.ty {
            Type::Error => return Expr::error(span),
            Type::Struct(id) => {
                if let Some(interface) = self.interface_of(&base.ty) {
                    self.no_members(interface, member);
                    return Expr::error(span);
                }
                let fields = self.program.types.get(*id).named();
                if let Some(i) = fields.iter().position(|f| f.name == member.text) {
                    let ty = fields[i].ty.clone();
                    return match base.kind {
                        ExprKind::Place(p) => extend(p, Access::Member(i), ty, span),
                        _ => Expr { kind: ExprKind::Member(Box::new(base), i), ty, span },
                    };
                }
                if self.refuse_constant_of_value(&base.ty, member, span) {
                    return Expr::error(span);
                }
                let fields = self.program.types.get(*id).named();
                let names: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
                let message = format!("{} has no member `{}`", self.name_of(&base.ty), member.text);
                self.unknown(&codes::UNKNOWN_MEMBER, (&member.text, member.span), message, |_, name| {
                    Self::advise_of(name, names.iter().map(String::as_str), "it has no members")
                });
                return Expr::error(span);
            }
            Type::Vector(kind) => {
                if let Some(indices) = swizzle(&member.text, kind.len()) {
                    let ty = component_type(*kind, indices.len());
                    return self.swizzled(base, indices, ty, span);
                }
                let sets = ["xy", "xyz", "xyzw"][kind.len() - 2];
                format!("components are taken by letters of `{sets}` or `{}`, up to four", &"rgba"[..kind.len()])
            }
            Type::Buffer { .. } => match (&*member.text, base.kind) {
                ("length", ExprKind::Texture(TextureRef::Parameter(buffer))) => {
                    return Expr { kind: ExprKind::BufferLength(buffer), ty: Type::Int, span };
                }
                _ => "a buffer has a `length`, and elements: `name[i]`".to_owned(),
            },
            Type::Matrix => "take a row `m[i]` or an element `m[i][j]`".to_owned(),
            Type::Int if self.is_point(written, &base) => match self.point_place(&member.text, span) {
                Some(number) => return number,
                None => "there is `index.x`, `index.y` and `index.z`, each of them an int".to_owned(),
            },
            _ => "only structs and vectors have members".to_owned(),
        };
        let message = format!("{} has no member `{}`", self.name_of(&base.ty), member.text);
        self.error(&codes::UNKNOWN_MEMBER, member.span, message, bad);
        Expr::error(span)
    }

    fn swizzled(&mut self, base: Expr, indices: Vec<u8>, ty: Type, span: Span) -> Expr {
        match base.kind {
            ExprKind::Place(p) => extend(p, Access::Swizzle(indices), ty, span),
            _ => Expr { kind: ExprKind::Swizzle(Box::new(base), indices), ty, span },
        }
    }

    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        // What is added to stands in front of the brackets, not inside.
        let adding = self.local.adding;
        let base = self.expr(base);
        let index_span = index.span;
        self.local.adding = false;
        let index = self.expr(index);
        if index.ty != Type::Error && index.ty != Type::Int {
            let message = format!("an index must be an int, not {}", self.name_of(&index.ty));
            self.error(&codes::BAD_INDEX, index_span, message, "convert it: `int(…)`");
            return Expr::error(span);
        }
        if base.ty.is_slot()
            && let Some(element) = self.element(&base, index.clone(), span, adding)
        {
            return element;
        }
        let (element, length) = match &base.ty {
            Type::Error => return Expr::error(span),
            Type::Array(element, n) => ((**element).clone(), *n as usize),
            Type::Vector(kind) => (Type::Float, kind.len()),
            Type::Matrix => (FLOAT4, 4),
            _ => {
                let message = format!("{} cannot be indexed", self.name_of(&base.ty));
                let hint = match &base.kind {
                    ExprKind::Place(p) if self.local.own.contains(&p.variable) => {
                        "an `out` or `inout` buffer stands for the point's own element: leave the brackets out"
                    }
                    _ => "only arrays, buffers, vectors and matrices can",
                };
                self.error(&codes::BAD_INDEX, base.span, message, hint);
                return Expr::error(span);
            }
        };
        let constant = self.int_value(&index).filter(|&i| {
            // Where it took a conversion or a choice to know it, it counts as computed, and is clamped.
            is_plain(&index) || usize::try_from(i).is_ok_and(|i| i < length)
        });
        if let Some(i) = constant
            && usize::try_from(i).map_or(true, |i| i >= length)
        {
            let message = format!("the index {i} lies outside {}", self.name_of(&base.ty));
            self.error(&codes::INDEX_RANGE, index_span, message, format!("indices go from 0 to {}", length - 1));
            return Expr::error(span);
        }
        match (constant, &base.ty) {
            (Some(i), Type::Vector(_)) => return self.swizzled(base, vec![i as u8], Type::Float, span),
            (Some(i), Type::Matrix) => {
                let row = (4 * i as u8..4 * i as u8 + 4).collect();
                return self.swizzled(base, row, FLOAT4, span);
            }
            _ => {}
        }
        match base.kind {
            ExprKind::Place(p) => {
                if constant.is_none() {
                    self.local.variables[p.variable.0 as usize].dynamic = true;
                }
                extend(p, Access::Index(Box::new(index)), element, span)
            }
            _ => Expr { kind: ExprKind::Index(Box::new(base), Box::new(index)), ty: element, span },
        }
    }

    /// The place that an expression denotes, if it may be assigned; otherwise that is reported.
    pub(super) fn assignable(&mut self, e: Expr) -> Option<Place> {
        let reason = match e.kind {
            ExprKind::Error => return None,
            ExprKind::Place(place) => return self.variable_place(place),
            ExprKind::Element(..) => "`in` buffers are read; each point writes its own element of an `out` buffer",
            ExprKind::Texture(_) => "textures and buffers are bound by the host",
            ExprKind::Global(_) => "globals are read-only: copy it into a variable",
            _ => "this is a computed value, not a variable",
        };
        self.error(&codes::NOT_ASSIGNABLE, e.span, "this cannot be assigned to", reason);
        None
    }

    fn variable_place(&mut self, place: Place) -> Option<Place> {
        let variable = self.variable(place.variable);
        if variable.constant && variable.name == ast::THIS && !self.is_given_to_integrand(place.variable) {
            let message = "this method may not change what it is called on";
            let hint = "write `[mutating]` before the method, or copy the value into a variable";
            let d = Diagnostic::error(&codes::CONSTANT_ASSIGNED, place.span, message, hint);
            let d = d.with_label(variable.span, "the method");
            self.diagnostics.push(d);
            return None;
        }
        if variable.constant {
            let (message, hint) = match self.is_given_to_integrand(place.variable) {
                true => (
                    format!("an integrand cannot change `{}`", variable.name),
                    "it runs once for each sample, in no order; copy the value into a variable inside it",
                ),
                false => (
                    format!("`{}` is `const` and keeps its value", variable.name),
                    "remove the `const`, or copy the value into a variable of its own",
                ),
            };
            let d = Diagnostic::error(&codes::CONSTANT_ASSIGNED, place.span, message, hint);
            let d = d.with_label(variable.span, "declared here");
            self.diagnostics.push(d);
            return None;
        }
        let repeated = |s: &[u8]| s.iter().enumerate().any(|(i, c)| s[..i].contains(c));
        if place.path.iter().any(|a| matches!(a, Access::Swizzle(s) if repeated(s))) {
            let message = "the same component is assigned twice";
            self.error(&codes::COMPONENT_TWICE, place.span, message, "name each component once");
            return None;
        }
        Some(place)
    }
}

/// An integer that an author sees at a glance to be constant.
fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Constant(_) | ExprKind::Place(_) => true,
        ExprKind::Unary(_, a) => is_plain(a),
        ExprKind::Binary(_, a, b) => is_plain(a) && is_plain(b),
        _ => false,
    }
}

fn extend(mut place: Place, access: Access, ty: Type, span: Span) -> Expr {
    place.path.push(access);
    place.ty = ty.clone();
    place.span = span;
    Expr { kind: ExprKind::Place(place), ty, span }
}
