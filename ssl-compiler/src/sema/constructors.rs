//! Constructors: values of a type from numbers, vectors and names of spaces.

use super::Checker;
use super::hir::{Expr, ExprKind};
use super::interfaces::InterfaceId;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{Type, VectorKind};

impl Checker<'_> {
    pub(super) fn construct(&mut self, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let ty = self.resolve(&ast::TypeName::plain(name.clone()), &[]);
        self.construct_type(ty, name, arguments, span)
    }

    /// `IShape(Square(1.0))`: a value of an interface from one that conforms.
    pub(super) fn construct_value(
        &mut self,
        interface: InterfaceId,
        name: &Ident,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let ty = self.resolve(&ast::TypeName::plain(name.clone()), &[]);
        let [argument] = arguments else {
            let message = format!("`{}` is made from one value, {} are given", name.text, arguments.len());
            let hint = format!("give a value that conforms to `{}`", self.interface_name(interface));
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
            self.drop_arguments(arguments);
            return Expr::error(span);
        };
        let e = self.expr(argument);
        Expr { span, ..self.coerce(e, &ty) }
    }

    /// A constructor, or a static method, of a type that is more than a name.
    pub(super) fn construct_written(&mut self, ty: &ast::TypeName, arguments: &[ast::Expr], span: Span) -> Expr {
        if let Some((method, before)) = ty.members.split_last() {
            let on = ast::TypeName { members: before.to_vec(), ..ty.clone() };
            let owner = self.resolve(&on, &[]);
            if owner == Type::Error || self.associated(&owner, &method.text).is_none() {
                return self.static_call(&owner, method, arguments, span);
            }
        }
        let name = Ident { text: ty.to_string(), span: ty.name.span };
        let ty = self.resolve(ty, &[]);
        if ty == Type::Error {
            self.drop_arguments(arguments);
            return Expr::error(span);
        }
        self.construct_type(ty, &name, arguments, span)
    }

    pub(super) fn construct_type(&mut self, ty: Type, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        if let Type::Struct(id) = ty {
            return self.construct_struct(id, arguments, span);
        }
        if ty == Type::Error {
            self.drop_arguments(arguments);
            return Expr::error(span);
        }
        let mut values: Vec<Expr> = arguments.iter().map(|e| self.expr(e)).collect();
        if values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        if ty == Type::String {
            let message = "a string cannot be constructed";
            self.error(&codes::UNKNOWN_FUNCTION, name.span, message, "write it in quotes, such as `\"world\"`");
            return Expr::error(span);
        }
        if let Type::Vector(VectorKind::Color | VectorKind::Point | VectorKind::Vector | VectorKind::Normal) = ty
            && values.first().is_some_and(|e| e.ty == Type::String)
        {
            return self.construct_in_space(&ty, name, values, span);
        }
        if ty == Type::Matrix && values.iter().any(|e| e.ty == Type::String) {
            return self.space_matrix(&values, span);
        }
        let Some(wanted) = ty.components() else {
            let message = format!("{} has no constructor", self.name_of(&ty));
            let hint = match ty {
                Type::Array(..) => "an array is a list: give a variable the value `{…}`",
                _ => "closures are made by `make_closure<Name>(…)`",
            };
            self.error(&codes::UNKNOWN_FUNCTION, name.span, message, hint);
            return Expr::error(span);
        };
        if values.len() == 1 && values[0].ty.components() == Some(1) {
            let value = values.remove(0);
            if ty == Type::Matrix {
                return Expr { span, ..self.explicit(value, &ty) };
            }
            let scalar = if wanted == 1 { ty.clone() } else { Type::Float };
            if wanted > 1 {
                self.inspect_widening(&value, &scalar);
            }
            let value = self.explicit(value, &scalar);
            return Expr { span, ..self.coerce(value, &ty) };
        }
        let count: usize = values.iter().map(|e| e.ty.components().unwrap_or(0)).sum();
        if count != wanted || wanted == 1 {
            let message = format!("{} has {wanted} components, {count} are given", self.name_of(&ty));
            let hint = if ty == Type::Matrix {
                "give one number for the diagonal, 16 numbers row by row, or four rows of type float4"
            } else if wanted == 1 {
                "take one component, such as `.x`"
            } else {
                "give each component, or one number for all"
            };
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
            return Expr::error(span);
        }
        values.iter().for_each(|e| self.inspect_widening(e, &Type::Float));
        let parts = values.into_iter().map(|e| match e.ty {
            Type::Vector(_) | Type::Matrix => e,
            _ => self.explicit(e, &Type::Float),
        });
        Expr { kind: ExprKind::Construct(parts.collect()), ty, span }
    }
}
