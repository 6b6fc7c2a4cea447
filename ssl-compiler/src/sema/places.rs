//! Names, members, elements and components: what is read and what can be assigned.

use super::constants::int_value;
use super::hir::{Access, Expr, ExprKind, Place, TextureRef};
use super::{Checker, FileName};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{Type, VectorKind};

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

impl Checker<'_> {
    pub(super) fn name(&mut self, text: &str, span: Span) -> Expr {
        if let Some(id) = self.lookup(text) {
            let ty = self.variable(id).ty.clone();
            if ty == Type::Texture2d {
                return Expr { kind: ExprKind::Texture(TextureRef::Parameter(id)), ty, span };
            }
            let place = Place { variable: id, path: Vec::new(), ty: ty.clone(), span };
            return Expr { kind: ExprKind::Place(place), ty, span };
        }
        match self.file_names.get(text) {
            Some(FileName::Texture(i)) => {
                Expr { kind: ExprKind::Texture(TextureRef::File(*i)), ty: Type::Texture2d, span }
            }
            Some(FileName::Constant(value)) => Expr { span, ..value.clone() },
            None => {
                self.unknown_name(text, span);
                Expr::error(span)
            }
        }
    }

    fn unknown_name(&mut self, text: &str, span: Span) {
        let locals = self.local.scopes.iter().flat_map(|s| s.keys().map(String::as_str));
        let names = locals.chain(self.file_names.keys().map(String::as_str));
        let hint = if self.layout.find(text).is_some() {
            format!("globals are read as `global_value<{text}>`")
        } else if self.functions.contains_key(text) || crate::builtins::overloads(text).next().is_some() {
            format!("`{text}` is a function: call it, `{text}(…)`")
        } else {
            match closest(text, names) {
                Some(c) => format!("did you mean `{c}`?"),
                None => "declare it above".to_owned(),
            }
        };
        self.error(&codes::UNKNOWN_NAME, span, format!("nothing is called `{text}` here"), hint);
    }

    pub(super) fn member(&mut self, base: &ast::Expr, member: &Ident, span: Span) -> Expr {
        let base = self.expr(base);
        let bad = match &base.ty {
            Type::Error => return Expr::error(span),
            Type::Struct(id) => {
                let fields = &self.program.types.get(*id).fields;
                if let Some(i) = fields.iter().position(|f| f.name == member.text) {
                    let ty = fields[i].ty.clone();
                    return match base.kind {
                        ExprKind::Place(p) => extend(p, Access::Member(i), ty, span),
                        _ => Expr { kind: ExprKind::Member(Box::new(base), i), ty, span },
                    };
                }
                let names = fields.iter().map(|f| f.name.as_str());
                closest(&member.text, names.clone()).map_or_else(
                    || format!("it has {}", names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
                    |c| format!("did you mean `{c}`?"),
                )
            }
            Type::Vector(kind) => {
                if let Some(indices) = swizzle(&member.text, kind.len()) {
                    let ty = component_type(*kind, indices.len());
                    return self.swizzled(base, indices, ty, span);
                }
                let sets = ["xy", "xyz", "xyzw"][kind.len() - 2];
                format!("components are taken by letters of `{sets}` or `{}`, up to four", &"rgba"[..kind.len()])
            }
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
        let base = self.expr(base);
        let index_span = index.span;
        let index = self.expr(index);
        if index.ty != Type::Error && index.ty != Type::Int {
            let message = format!("an index must be an int, not {}", self.name_of(&index.ty));
            self.error(&codes::BAD_INDEX, index_span, message, "convert it: `int(…)`");
            return Expr::error(span);
        }
        let (element, length) = match &base.ty {
            Type::Error => return Expr::error(span),
            Type::Array(element, n) => ((**element).clone(), *n as usize),
            Type::Vector(kind) => (Type::Float, kind.len()),
            _ => {
                let message = format!("{} cannot be indexed", self.name_of(&base.ty));
                self.error(&codes::BAD_INDEX, base.span, message, "only arrays and vectors can");
                return Expr::error(span);
            }
        };
        let constant = int_value(&index);
        if let Some(i) = constant
            && usize::try_from(i).map_or(true, |i| i >= length)
        {
            let message = format!("the index {i} lies outside {}", self.name_of(&base.ty));
            self.error(&codes::BAD_INDEX, index_span, message, format!("indices go from 0 to {}", length - 1));
            return Expr::error(span);
        }
        if let (Some(i), Type::Vector(_)) = (constant, &base.ty) {
            return self.swizzled(base, vec![i as u8], Type::Float, span);
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
            ExprKind::Place(place) => match self.not_assignable(&place) {
                None => return Some(place),
                Some(reason) => reason,
            },
            ExprKind::Texture(_) => "textures are bound by the host".to_owned(),
            ExprKind::Global(_) => "globals are read-only: copy it into a variable".to_owned(),
            _ => "this is a computed value, not a variable".to_owned(),
        };
        self.error(&codes::NOT_ASSIGNABLE, e.span, "this cannot be assigned to", reason);
        None
    }

    fn not_assignable(&self, place: &Place) -> Option<String> {
        let variable = self.variable(place.variable);
        if variable.constant {
            return Some(format!("`{}` is `const`", variable.name));
        }
        let repeated = |s: &[u8]| s.iter().enumerate().any(|(i, c)| s[..i].contains(c));
        let bad = place.path.iter().any(|a| matches!(a, Access::Swizzle(s) if repeated(s)));
        bad.then(|| "the same component stands there twice".to_owned())
    }
}

fn extend(mut place: Place, access: Access, ty: Type, span: Span) -> Expr {
    place.path.push(access);
    place.ty = ty.clone();
    place.span = span;
    Expr { kind: ExprKind::Place(place), ty, span }
}
