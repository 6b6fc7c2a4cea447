//! Types of derivatives: what the differential of a type is, and pairs of a value and its derivative.
//!
//! Both are structs like those of the author's, so that no stage after the checker knows of them. A type whose parts are
//! all their own differentials is its own; so the differential of a differential is itself.

use super::Checker;
use super::hir::{Expr, ExprKind};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::{DIFFERENTIAL, PAIR, ast};
use crate::types::{StructField, StructId, Type};
use std::collections::HashMap;

/// The types that were asked for.
#[derive(Default)]
pub(super) struct Differentials {
    /// Of structs; `None` for those that have none.
    of: HashMap<StructId, Option<Type>>,
    /// Pairs by the type of their value.
    pairs: HashMap<Type, StructId>,
    /// And the other way round.
    values: HashMap<StructId, Type>,
}

impl Checker<'_> {
    /// The type of a value's derivative, where it has one.
    pub(super) fn differential(&mut self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Float | Type::Vector(_) | Type::Matrix | Type::Error => Some(ty.clone()),
            Type::Array(element, n) => Some(Type::Array(Box::new(self.differential(element)?), *n)),
            Type::Struct(id) => self.struct_differential(*id),
            Type::Void
            | Type::Bool
            | Type::Int
            | Type::String
            | Type::Closure
            | Type::Texture2d
            | Type::Buffer { .. } => None,
        }
    }

    fn struct_differential(&mut self, id: StructId) -> Option<Type> {
        if let Some(known) = self.differentials.of.get(&id) {
            return known.clone();
        }
        if let Some(interface) = self.interface_of(&Type::Struct(id)) {
            return self.value_differential(interface);
        }
        let found = match self.differentials.values.get(&id).cloned() {
            // Smaller than the pair that there is, so it fits.
            Some(value) => self.differential(&value).and_then(|d| self.pair(&d)),
            None => self.members_differential(id),
        };
        self.differentials.of.insert(id, found.clone());
        found
    }

    /// Says what the differential of a struct is, before anything asks for it.
    pub(super) fn set_differential(&mut self, id: StructId, differential: Option<Type>) {
        self.differentials.of.insert(id, differential);
    }

    /// A struct of the members that have a differential.
    fn members_differential(&mut self, id: StructId) -> Option<Type> {
        let structure = self.program.types.get(id);
        let (name, members) = (structure.name.clone(), structure.fields.clone());
        let mut fields = Vec::new();
        for member in &members {
            if let Some(ty) = self.differential(&member.ty) {
                fields.push(StructField { name: member.name.clone(), ty });
            }
        }
        if fields.is_empty() {
            return None;
        }
        // Derivatives start with zero, whatever the members start with.
        let alike = fields.len() == members.len() && fields.iter().zip(&members).all(|(a, b)| a.ty == b.ty);
        if alike && !self.has_start(&Type::Struct(id)) {
            return Some(Type::Struct(id));
        }
        let own = Type::Struct(self.push_structure(format!("{name}.{DIFFERENTIAL}"), fields));
        if let Type::Struct(id) = own {
            self.differentials.of.insert(id, Some(own.clone()));
        }
        Some(own)
    }

    /// Lets a struct be its own differential.
    pub(super) fn own_differential(&mut self, id: StructId) {
        self.differentials.of.insert(id, Some(Type::Struct(id)));
    }

    /// The differential of a type, if somebody asked for it before.
    pub(super) fn known_differential(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Float | Type::Vector(_) | Type::Matrix => Some(ty.clone()),
            Type::Struct(id) => self.differentials.of.get(id).cloned().flatten(),
            _ => None,
        }
    }

    /// The pair of a value and its derivative; `None` for a type without a differential, or a pair that is too large.
    pub(super) fn pair(&mut self, value: &Type) -> Option<Type> {
        if let Some(id) = self.differentials.pairs.get(value) {
            return Some(Type::Struct(*id));
        }
        let d = self.differential(value)?;
        if *value == Type::Error {
            return Some(Type::Error);
        }
        if !self.fits_into_struct(&[value, &d]) {
            return None;
        }
        let name = format!("{PAIR}<{}>", self.name_of(value));
        let has_start = self.has_start(value);
        let field = |name: &str, ty: &Type| StructField { name: name.to_owned(), ty: ty.clone() };
        let id = self.push_structure(name, vec![field("p", value), field("d", &d)]);
        if has_start {
            self.starts.insert(id, vec![None, None]);
        }
        self.differentials.pairs.insert(value.clone(), id);
        self.differentials.values.insert(id, value.clone());
        Some(Type::Struct(id))
    }

    /// Whether a type is a pair of another type, or of a type that converts to it.
    pub(super) fn is_pair_of(&self, pair: &Type, value: &Type) -> bool {
        let Type::Struct(id) = pair else { return false };
        self.value_of_pair(*id).is_some_and(|of| *value != Type::Error && self.distance(value, of).is_some())
    }

    /// The type of the value in a pair.
    pub(super) fn value_of_pair(&self, pair: StructId) -> Option<&Type> {
        self.differentials.values.get(&pair)
    }

    /// The pair of a value and its derivative; what is wrong is reported.
    pub(super) fn pair_of(&mut self, value: &Type, span: Span) -> Type {
        if self.differential_of(value, span) == Type::Error {
            return Type::Error;
        }
        self.pair(value).unwrap_or_else(|| {
            let message = format!("a pair of {} and its derivative is too large", self.name_of(value));
            self.error(&codes::TOO_LARGE, span, message, "use a smaller struct, or arrays in it");
            Type::Error
        })
    }

    /// The differential of a type; that there is none is reported.
    pub(super) fn differential_of(&mut self, ty: &Type, span: Span) -> Type {
        self.differential(ty).unwrap_or_else(|| {
            let message = format!("{} has no differential", self.name_of(ty));
            let hint = match ty {
                Type::Int | Type::Bool => "take a `float`: whole numbers and truth values do not change a little",
                Type::Struct(_) => "none of its members has one; a `float` or a vector among them would",
                _ => "floats, vectors, colors, matrices have one, and structs and arrays of these",
            };
            self.error(&codes::NO_DIFFERENTIAL, span, message, hint);
            Type::Error
        })
    }

    /// `diffPair(value, derivative)`; without the second, that is zero.
    pub(super) fn differential_pair(&mut self, arguments: &[ast::Expr], span: Span) -> Expr {
        let (value, d) = match arguments {
            [value] => (value, None),
            [value, d] => (value, Some(d)),
            list => {
                let message =
                    format!("`diffPair` takes a value and its derivative, {} arguments are given", list.len());
                let hint = "write `diffPair(x, 1.0)`, or `diffPair(x)` where the derivative is zero";
                self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
                return Expr::error(span);
            }
        };
        let value = self.expr(value);
        let value = if value.ty == Type::Int { self.coerce(value, &Type::Float) } else { value };
        let ty = self.pair_of(&value.ty, value.span);
        let differential = if ty == Type::Error { Type::Error } else { self.differential_of(&value.ty, value.span) };
        let d = d.map(|e| self.initialiser(e, &differential));
        if ty == Type::Error || d.as_ref().is_some_and(|d| d.ty == Type::Error) {
            return Expr::error(span);
        }
        let parts = std::iter::once(value).chain(d).collect();
        Expr { kind: ExprKind::Construct(parts), ty, span }
    }

    /// `detach(e)`
    pub(super) fn detach(&mut self, arguments: &[ast::Expr], span: Span) -> Expr {
        let [argument] = arguments else {
            let message = format!("`detach` takes one value, {} are given", arguments.len());
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, "write `detach(x)`");
            return Expr::error(span);
        };
        let e = self.expr(argument);
        let e = if e.ty == Type::Int { self.coerce(e, &Type::Float) } else { e };
        if !matches!(e.ty, Type::Float | Type::Vector(_) | Type::Matrix | Type::Error) {
            let message = format!("`detach` does not take {}", self.name_of(&e.ty));
            let hint = "it takes floats, vectors, colors and matrices; before anything else write `no_diff`";
            self.error(&codes::NO_OVERLOAD, e.span, message, hint);
            return Expr::error(span);
        }
        self.detached(e, span)
    }

    /// A value without its derivatives.
    pub(super) fn detached(&mut self, e: Expr, span: Span) -> Expr {
        let ty = e.ty.clone();
        match self.differential(&ty) {
            Some(Type::Error) => Expr::error(span),
            Some(_) => Expr { kind: ExprKind::Detach(Box::new(e)), ty, span },
            // There are none.
            None => Expr { span, ..e },
        }
    }
}
