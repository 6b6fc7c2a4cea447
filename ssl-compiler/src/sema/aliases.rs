//! Names for types and numbers, as in C: `typedef` and `enum`. No stage after the checker knows of them.

use super::Checker;
use super::hir::{Constant, Expr};
use super::scope::{Declared, Meaning};
use crate::diagnostics::codes;
use crate::syntax::ast::{self, Ident};
use crate::types::Type;

impl Checker<'_> {
    /// Lets a name of the file stand for a type.
    pub(super) fn declare_type(&mut self, name: &Ident, ty: Type) {
        let what = match ty {
            Type::Struct(id) if self.program.types.get(id).name == name.text => "the struct",
            _ => "the type",
        };
        let declared = Declared { meaning: ty, span: name.span };
        if let Some(first) = self.scope.types.insert(name.text.clone(), declared) {
            self.declared_twice(&format!("{what} `{}`", name.text), name.span, first.span);
        }
    }

    /// `typedef float Weight, Pair[2];`
    pub(super) fn typedef(&mut self, declaration: &ast::Declaration) {
        for d in &declaration.declarators {
            let ty = self.resolve(&declaration.ty, &d.dims);
            if ty == Type::Void {
                let hint = "only functions can be `void`";
                self.error(&codes::BAD_DECLARATION, declaration.ty.name.span, "`void` takes no other name", hint);
            }
            self.declare_type(&d.name, if ty == Type::Void { Type::Error } else { ty });
        }
    }

    /// `enum Mode { MATTE, BRIGHT = 4 };`: the names are constants of type int, and that of the enum is another one for
    /// `int`.
    pub(super) fn enumeration(&mut self, declaration: &ast::EnumDecl) {
        let mut next = Some(0);
        for m in &declaration.members {
            let value = match &m.value {
                Some(e) => self.constant_int(e, "a value of an enum"),
                None if next.is_none() => {
                    let message = format!("`{}` would be past the largest int", m.name.text);
                    self.error(&codes::BAD_DECLARATION, m.name.span, message, "give it a value: `= 0`");
                    None
                }
                None => next,
            };
            next = value.map_or(Some(0), |n| n.checked_add(1));
            let number = |n| Expr::constant(Constant::Int(n), m.name.span);
            self.enumerator(&m.name, value.map_or_else(|| Expr::error(m.name.span), number));
        }
        if let Some(name) = &declaration.name {
            self.declare_type(name, Type::Int);
        }
    }

    fn enumerator(&mut self, name: &Ident, value: Expr) {
        if let Some(first) = self.scope.names.get(&name.text) {
            return self.declared_twice(&format!("`{}`", name.text), name.span, first.span);
        }
        // An enum is whole, also where some of its names are not used.
        self.names_used.insert(name.span);
        let declared = Declared { meaning: Meaning::Constant(value, 1), span: name.span };
        self.scope.names.insert(name.text.clone(), declared);
    }
}
