//! Closure types that files declare: structs that conform to the interface which the host names. The members are the
//! parameters, and the host runs instances of the functions that stand beside the interface.

use super::Checker;
use super::arguments::{Misfit, Parameters, slots, value_of};
use super::generics::Bound;
use super::hir::{Expr, ExprKind, FunctionId, OwnClosure};
use super::reach;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::{ClosureDefault, ClosureId, ClosureInterface, ClosureParameter, ClosureType, ValueRange};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{StructId, Type};
use std::borrow::Cow;

impl Checker<'_> {
    /// The struct that a closure's name stands for, if it is one that is a closure type.
    pub(super) fn closure_struct(&mut self, name: &str) -> Option<StructId> {
        let interface = self.closures.interface()?;
        let ty = self.struct_named(name)?;
        let found = self.interface_of_library(interface.file, interface.name)?;
        match ty {
            Type::Struct(id) if self.conforms(&ty, found) => Some(id),
            _ => None,
        }
    }

    fn struct_named(&self, name: &str) -> Option<Type> {
        let ty = self.bound_type(name).or_else(|| self.scope.types.get(name).map(|t| t.meaning.clone()));
        ty.filter(|ty| matches!(ty, Type::Struct(_)))
    }

    /// Says of a struct that is no closure type what it lacks; whether there is such a struct.
    pub(super) fn no_closure_struct(&mut self, name: &Ident) -> bool {
        let Some(ClosureInterface { file, name: interface, .. }) = self.closures.interface() else { return false };
        if self.struct_named(&name.text).is_none() {
            return false;
        }
        let message = format!("`{}` is a struct, and not a closure", name.text);
        let hint = format!(
            "write `import \"{file}\";` and `struct {} : {interface}`, and give it the methods that `{interface}` asks for",
            name.text
        );
        let declared = self.scope.types.get(&name.text).map(|t| t.span);
        let d = Diagnostic::error(&codes::UNKNOWN_CLOSURE, name.span, message, hint);
        self.diagnostics.push(match declared {
            Some(place) => d.with_label(place, "declared here"),
            None => d,
        });
        true
    }

    /// `make_closure<Dust>(…)` of a struct: what its constructor takes, but every member without a default is needed.
    pub(super) fn own_closure(&mut self, id: StructId, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        if let Some(declared) = self.scope.types.get(&name.text).map(|t| t.span) {
            self.speak_of(&name.text, name.span, declared);
        }
        let Some(closure) = self.own_closure_id(id, name) else { return Expr::error(span) };
        let Some(names) = self.argument_names(arguments) else { return Expr::error(span) };
        let members = self.closure_members(id);
        let parameters = Parameters {
            names: members.iter().map(|p| &*p.name).collect(),
            optional: members.iter().map(|p| p.default.is_some()).collect(),
        };
        match slots(&parameters, arguments.len(), &names) {
            Ok(slots) => {
                let given: Vec<_> = slots.into_iter().map(|i| i.map(|i| value_of(&arguments[i]))).collect();
                let value = self.members(id, &given, span);
                Expr { kind: ExprKind::Closure(closure, vec![value]), ty: Type::Closure, span }
            }
            Err(misfit) => {
                let diagnostic = match misfit {
                    Misfit::Unknown(_) | Misfit::Twice(_) => {
                        self.misfit(&format!("the closure `{}`", name.text), &parameters, &names, &misfit, span)
                    }
                    _ => self.wrong_closure_arguments(name, &members, arguments.len(), &misfit, span),
                };
                let diagnostic = self.with_hidden_closure(diagnostic, name);
                self.diagnostics.push(diagnostic);
                Expr::error(span)
            }
        }
    }

    /// A finding about the arguments of a struct, which may have the name of a closure of the host that was meant.
    fn with_hidden_closure(&self, diagnostic: Diagnostic, name: &Ident) -> Diagnostic {
        let Some((_, hidden)) = self.closures.find(&name.text) else { return diagnostic };
        let all = hidden.parameters.iter().all(|p| p.default.is_some());
        let which = if all { ", whose parameters all have defaults" } else { "" };
        let hint = format!(
            "the host has a closure `{}`, too{which}: leave the import out, or give it a name, `import \"….ssl\" as name;`",
            name.text
        );
        let declared = self.scope.types.get(&name.text).map(|t| t.span);
        let note = format!("`{}` means this struct here, and hides the closure of the host", name.text);
        Diagnostic { hint, ..diagnostic }.with_note(declared, note)
    }

    /// The members of a struct as parameters. A default stands for any: only whether there is one counts here.
    fn closure_members(&self, id: StructId) -> Vec<ClosureParameter> {
        let starts = self.starts.get(&id);
        let fields = self.program.types.get(id).fields.iter().enumerate();
        let one = |(i, field): (usize, &crate::types::StructField)| {
            let optional = field.ty == Type::Closure || starts.is_some_and(|list| list[i].is_some());
            let default = optional.then_some(ClosureDefault::NoLobes);
            ClosureParameter { name: field.name.clone().into(), ty: field.ty.clone(), range: ValueRange::ALL, default }
        };
        fields.map(one).collect()
    }

    /// The number of a struct as a closure type, which it gets where it is first made.
    fn own_closure_id(&mut self, id: StructId, name: &Ident) -> Option<ClosureId> {
        let ty = Type::Struct(id);
        let host = self.closures.types().len();
        if let Some(known) = self.program.closures.iter().position(|own| own.ty == ty) {
            return Some(ClosureId((host + known) as u32));
        }
        let mut parameters = Vec::new();
        if let Err(member) = self.flat_members(id, "", &mut parameters) {
            let message = format!("the member `{member}` of the closure `{}` is an array", name.text);
            let hint = "a closure holds numbers, bools, vectors, matrices, closures, and structs of them";
            self.error(&codes::CLOSURE_METHODS, name.span, message, hint);
            return None;
        }
        let closure = ClosureType { name: Cow::Owned(self.program.types.get(id).name.clone()), parameters };
        let functions = self.closure_functions(&ty, name.span)?;
        self.program.closures.push(OwnClosure { ty, closure, functions, made: name.span });
        Some(ClosureId((host + self.program.closures.len() - 1) as u32))
    }

    /// The members in the order of their scalars, those of inner structs by the way to them; an array is refused.
    fn flat_members(&self, id: StructId, path: &str, list: &mut Vec<ClosureParameter>) -> Result<(), String> {
        for field in &self.program.types.get(id).fields {
            let name = format!("{path}{}", field.name);
            match &field.ty {
                Type::Struct(inner) => self.flat_members(*inner, &format!("{name}."), list)?,
                Type::Array(..) => return Err(name),
                ty => list.push(ClosureParameter {
                    name: name.into(),
                    ty: ty.clone(),
                    range: ValueRange::ALL,
                    default: None,
                }),
            }
        }
        Ok(())
    }

    /// The instances of what the host runs for a closure.
    fn closure_functions(&mut self, ty: &Type, place: Span) -> Option<Vec<FunctionId>> {
        let ClosureInterface { file, functions, .. } = self.closures.interface()?;
        let file = self.library_file(file)?;
        let mut made = Vec::new();
        for name in functions {
            let of = self.within(file, |c| c.generics_named(name)).first().copied()?;
            let id = self.instance(of, vec![Bound::Type(ty.clone())], place)?;
            self.call_instance(id);
            made.push(id);
        }
        Some(made)
    }

    /// Refuses what a closure's methods cannot have: nothing but its members and their arguments is there when they run.
    pub(super) fn own_closures_compute(&mut self) {
        for own in &self.program.closures {
            let mut places = Vec::new();
            for &function in &own.functions {
                for (what, place) in reach::outside(&self.program, function) {
                    if places.contains(&place) {
                        continue;
                    }
                    places.push(place);
                    let message = format!("a method of the closure `{}` {what}", own.closure.name);
                    let hint = "let the shader do it, and hand the value to the closure as a member";
                    let d = Diagnostic::error(&codes::CLOSURE_METHODS, place, message, hint);
                    self.diagnostics.push(d.with_note(Some(own.made), "the closure is made here".to_owned()));
                }
            }
        }
    }
}
