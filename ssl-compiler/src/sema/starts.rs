//! The initial values of variables, and of parts that a list leaves out: the defaults of a struct's members, zero
//! elsewhere.

use super::Checker;
use super::arguments::{Misfit, Parameters, slots, value_of};
use super::hir::{Expr, ExprKind};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{StructId, Type};

impl Checker<'_> {
    /// The default of a member. It is written wherever one is made, so it must be a constant.
    pub(super) fn member_default(&mut self, e: &ast::Expr, ty: &Type) -> Option<Expr> {
        if self.interface_of(ty).is_some() {
            let message = "a member that is a value of an interface has no default";
            let hint = "set it where the struct is made; without a value it holds the type that conforms first";
            self.error(&codes::NOT_CONSTANT, e.span, message, hint);
            return None;
        }
        let value = self.initialiser(e, ty);
        if value.ty == Type::Error || *ty == Type::Error {
            return None;
        }
        let value = self.simplified(value);
        if self.known(&value).is_none() {
            let message = "the default of a member must be a constant";
            let hint = "use literals, constants and built-ins; set what is computed where the struct is made";
            self.error(&codes::NOT_CONSTANT, e.span, message, hint);
            return None;
        }
        Some(value)
    }

    /// What a value of a type starts with; `None` where that is zero throughout.
    pub(super) fn start_of(&mut self, ty: &Type, span: Span) -> Option<Expr> {
        match ty {
            Type::Struct(id) if self.starts.contains_key(id) => Some(self.members(*id, &[], span)),
            Type::Array(element, n) => {
                let before = self.expressions;
                let one = self.start_of(element, span)?;
                let size = (self.expressions - before).saturating_mul(*n as usize);
                self.expressions = self.expressions.saturating_add(size);
                if self.expressions > super::MAX_EXPRESSIONS {
                    let message = format!("too many elements start with the defaults of {}", self.name_of(element));
                    let hint = "use a smaller array, or no defaults: they are written for each element";
                    self.error(&codes::TOO_LARGE, span, message, hint);
                    return None;
                }
                let list = vec![one; *n as usize];
                Some(Expr { kind: ExprKind::Construct(list), ty: ty.clone(), span })
            }
            _ => None,
        }
    }

    /// What stands for a part that is left out.
    fn start_or_zero(&mut self, ty: &Type, span: Span) -> Expr {
        let zero = || Expr { kind: ExprKind::Construct(Vec::new()), ty: ty.clone(), span };
        self.start_of(ty, span).unwrap_or_else(zero)
    }

    /// A struct from its first members; the others start as they do.
    pub(super) fn members(&mut self, id: StructId, given: &[Option<&ast::Expr>], span: Span) -> Expr {
        let types: Vec<Type> = self.program.types.get(id).fields.iter().map(|f| f.ty.clone()).collect();
        let has_starts = self.starts.contains_key(&id);
        // What is zero at the end is left out.
        let count = if has_starts { types.len() } else { given.len().min(types.len()) };
        let mut values = Vec::new();
        for (i, ty) in types.iter().enumerate().take(count) {
            let default = self.starts.get(&id).and_then(|list| list[i].clone());
            values.push(match (given.get(i).copied().flatten(), default) {
                (Some(e), _) => self.initialiser(e, ty),
                (None, Some(default)) => {
                    self.expressions += super::walk::size(&default);
                    Expr { span, ..default }
                }
                (None, None) => self.start_or_zero(ty, span),
            });
        }
        Expr { kind: ExprKind::Construct(values), ty: Type::Struct(id), span }
    }

    /// Elements that a list leaves out at the end of an array.
    pub(super) fn fill(&mut self, values: &mut Vec<Expr>, element: &Type, count: u32, span: Span) {
        let missing = (count as usize).saturating_sub(values.len());
        if missing > 0
            && let Some(Expr { kind: ExprKind::Construct(rest), .. }) =
                self.start_of(&Type::Array(Box::new(element.clone()), missing as u32), span)
        {
            values.extend(rest);
        }
    }

    /// `Wave(2.0, amplitude = 0.5)`
    pub(super) fn construct_struct(&mut self, id: StructId, arguments: &[ast::Expr], span: Span) -> Expr {
        let Some(names) = self.argument_names(arguments) else { return Expr::error(span) };
        let structure = self.program.types.get(id);
        let fields: Vec<String> = structure.named().iter().map(|f| f.name.clone()).collect();
        let callee = format!("the struct `{}`", structure.name);
        let members =
            Parameters { names: fields.iter().map(String::as_str).collect(), optional: vec![true; fields.len()] };
        let given = match slots(&members, arguments.len(), &names) {
            Ok(slots) => slots.into_iter().map(|i| i.map(|i| value_of(&arguments[i]))).collect(),
            Err(misfit) => {
                self.wrong_members(&callee, &members, &names, &misfit, arguments.len(), span);
                return Expr::error(span);
            }
        };
        let last = |list: &Vec<Option<&ast::Expr>>| list.iter().rposition(Option::is_some).map_or(0, |i| i + 1);
        let given: Vec<Option<&ast::Expr>> = given;
        self.members(id, &given[..last(&given)], span)
    }

    fn wrong_members(
        &mut self,
        callee: &str,
        members: &Parameters<'_>,
        names: &[Ident],
        misfit: &Misfit,
        given: usize,
        span: Span,
    ) {
        match misfit {
            Misfit::Unknown(i) => {
                let message = format!("{callee} has no member `{}`", names[*i].text);
                let hint = self.near(&members.names, &names[*i]);
                self.error(&codes::UNKNOWN_MEMBER, names[*i].span, message, hint);
            }
            Misfit::Twice(i) => self.given_twice(&names[*i]),
            Misfit::TooMany | Misfit::Missing(_) => {
                let message = format!("{given} values for the {} of {callee}", members.names.len());
                self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, "remove the values that are too many");
            }
        }
    }
}
