//! Constants that interfaces ask for: whether a type has them, and what stands for them where a definition is checked.

use super::Checker;
use super::hir::{Constant, Expr, ExprKind};
use super::interfaces::InterfaceId;
use super::member_constants::MemberConstant;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::Declarator;
use crate::types::Type;
use std::rc::Rc;

/// The least integer that stands for one which each implementation chooses. Each stands for one constant.
const UNKNOWN_NUMBER: i32 = 17;

impl<'a> Checker<'a> {
    /// What an interface asks for of constants.
    pub(super) fn conform_constants(
        &mut self,
        ty: &Type,
        id: InterfaceId,
        place: Span,
        lacks: &mut Vec<(Option<Span>, String)>,
    ) {
        for (declarator, wanted) in self.constants_asked_for(ty, id) {
            let name = &declarator.name;
            let found = self.constants.of.get(ty).and_then(|list| list.get(&name.text));
            let Some(found) = found.map(|c| (c.value.ty.clone(), c.span)) else {
                let (mut element, mut dims) = (&wanted, String::new());
                while let Type::Array(inner, n) = element {
                    dims.push_str(&format!("[{n}]"));
                    element = inner;
                }
                let shown = format!("static const {} {}{dims} = …;", self.name_of(element), name.text);
                lacks.push((Some(name.span), shown));
                continue;
            };
            if found.0 != wanted && found.0 != Type::Error && wanted != Type::Error {
                let (is, asked) = (self.name_of(&found.0), self.name_of(&wanted));
                let message = format!("the constant `{}` of {} is {is}, and not {asked}", name.text, self.name_of(ty));
                let hint = format!("`{}` asks for {asked}", self.interface_name(id));
                let place = if found.1.file == place.file { found.1 } else { place };
                let d = Diagnostic::error(&codes::CONFORMANCE, place, message, hint);
                self.diagnostics.push(d.with_label(name.span, "asked for here"));
            }
        }
    }

    /// The constants that an interface itself asks a type for, and of which types these are.
    fn constants_asked_for(&mut self, ty: &Type, id: InterfaceId) -> Vec<(&'a Declarator, Type)> {
        let Some(decl) = self.interfaces.list[id.0].decl else { return Vec::new() };
        let (file, bindings) = (self.interfaces.list[id.0].file, self.bindings_for(ty, id));
        let all = decl.constants.iter().flat_map(|d| d.declarators.iter().map(move |declarator| (d, declarator)));
        let earlier = self.diagnostics.list.len();
        let typed = self.bound_in(file, bindings, |c| {
            all.map(|(d, declarator)| (declarator, c.resolve(&d.ty, &declarator.dims))).collect()
        });
        self.diagnostics.leave_out_repeated(earlier);
        typed
    }

    /// Gives a type that stands for others constants of which nothing but the type is known.
    pub(super) fn unknown_constants(&mut self, ty: &Type, id: InterfaceId) {
        for (declarator, of) in self.constants_asked_for(ty, id) {
            let span = declarator.name.span;
            if !self.can_be_constant(&of, span) {
                continue;
            }
            let known = self.constants.of.entry(ty.clone()).or_default();
            let value = unknown_value(&of, known.len() as i32, span);
            known.entry(declarator.name.text.clone()).or_insert(MemberConstant { value, size: 1, span });
        }
    }

    /// Checks the values that an interface gives to constants, for a type of which nothing more is known.
    pub(super) fn check_default_constants(&mut self, opaque: &Type, id: InterfaceId) {
        let Some(decl) = self.interfaces.list[id.0].decl else { return };
        let (file, bindings) = (self.interfaces.list[id.0].file, self.bindings_for(opaque, id));
        let earlier = self.diagnostics.list.len();
        let all = decl.constants.iter().flat_map(|d| d.declarators.iter().map(move |declarator| (d, declarator)));
        for (declaration, declarator) in all.filter(|(_, d)| d.init.is_some()) {
            self.bound_in(file, Rc::clone(&bindings), |c| c.declared_constant(declaration, declarator));
        }
        self.diagnostics.leave_out_repeated(earlier);
    }
}

/// A value of a type that no author would choose.
fn unknown_value(ty: &Type, number: i32, span: Span) -> Expr {
    let parts = |count: usize, part: Expr| ExprKind::Construct(vec![part; count]);
    let kind = match ty {
        Type::Int => ExprKind::Constant(Constant::Int(UNKNOWN_NUMBER + number)),
        Type::Float => ExprKind::Constant(Constant::Float(0.625)),
        Type::Bool => ExprKind::Constant(Constant::Bool(true)),
        Type::Vector(kind) => parts(kind.len(), unknown_value(&Type::Float, number, span)),
        Type::Matrix => parts(16, unknown_value(&Type::Float, number, span)),
        _ => ExprKind::Construct(Vec::new()),
    };
    Expr { kind, ty: ty.clone(), span }
}
