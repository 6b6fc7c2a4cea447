//! What the parameters of a generic function are in a call: what is written between `<` and `>`, and what the types of the
//! arguments tell.

use super::Checker;
use super::arguments::{Given, Parameters, slots};
use super::generics::{Bound, GenericId};
use super::hir::FunctionId;
use super::interfaces::InterfaceId;
use crate::source::Span;
use crate::syntax::ast::{self, Direction, ExprKind, FunctionDecl, GenericArgument, GenericParameter, Ident};
use crate::types::Type;

impl Checker<'_> {
    /// The instances of a name that a call may mean, and why others of the name cannot be meant.
    pub(super) fn instances_for(
        &mut self,
        name: &str,
        types: &[GenericArgument],
        given: &Given,
        span: Span,
    ) -> (Vec<FunctionId>, Vec<(String, Span, String)>) {
        self.instances_among(&self.generics_named(name), (name, types), given, span)
    }

    /// Likewise, among these.
    pub(super) fn instances_among(
        &mut self,
        generics: &[GenericId],
        (name, types): (&str, &[GenericArgument]),
        given: &Given,
        span: Span,
    ) -> (Vec<FunctionId>, Vec<(String, Span, String)>) {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for &of in generics {
            let declared = self.generic_decl(of).name.span;
            self.speak_of(name, span, declared);
            match self.infer(of, types, given) {
                Ok(list) => found.extend(self.instance(of, list, span)),
                Err(why) => {
                    let decl = self.generic_decl(of);
                    refused.push((generic_head(decl), decl.name.span, why));
                }
            }
        }
        (found, refused)
    }

    /// What the parameters of a generic function are in a call; `Err` says why it cannot be meant.
    fn infer(&mut self, of: GenericId, types: &[GenericArgument], given: &Given) -> Result<Vec<Bound>, String> {
        let decl = self.generic_decl(of);
        if types.len() > decl.generics.len() {
            return Err(format!("between `<` and `>` it takes {}", decl.generics.len()));
        }
        let mut found: Vec<Option<Bound>> = Vec::new();
        for (g, argument) in decl.generics.iter().zip(types) {
            found.push(Some(self.explicit_bound(g.is_int, argument)?));
        }
        found.resize(decl.generics.len(), None);
        let parameters = Parameters {
            names: decl.parameters.iter().map(|p| p.name.text.as_str()).collect(),
            optional: decl.parameters.iter().map(|p| p.default.is_some()).collect(),
        };
        // A derivative takes other arguments; what does not fit is told where it is called.
        let values = &given.values[usize::from(given.this)..];
        let order = slots(&parameters, values.len().min(parameters.names.len()), &given.names);
        let order = order.map_err(|_| "it takes other arguments".to_owned())?;
        let fixed: Vec<bool> = found.iter().map(Option::is_some).collect();
        for (p, i) in decl.parameters.iter().zip(order) {
            let Some(i) = i else { continue };
            let mut ty = values[i].ty.clone();
            for _ in 0..given.order {
                let Type::Struct(pair) = ty else { break };
                ty = self.value_of_pair(pair).cloned().unwrap_or(Type::Struct(pair));
            }
            let exact = p.direction != Direction::In;
            self.match_type(&decl.generics, (&p.ty, &p.dims, p.any_length), &ty, exact, (&mut found, &fixed))?;
        }
        let mut list = Vec::new();
        for (i, g) in decl.generics.iter().enumerate() {
            let Some(bound) = found[i].take() else {
                let hint =
                    format!("`{}` cannot be told from the arguments: write `{}<…>(…)`", g.name.text, decl.name.text);
                return Err(hint);
            };
            list.push(self.conforming_bound(&g.name.text, &self.bounds_of(of, i), bound, fixed[i])?);
        }
        Ok(list)
    }

    /// What is written between `<` and `>` of a call.
    pub(super) fn explicit_bound(&mut self, is_int: bool, argument: &GenericArgument) -> Result<Bound, String> {
        match argument {
            GenericArgument::Type(ty) if is_int && ty.ty.is_plain() && ty.dims.is_empty() => {
                let name = &ty.ty.name;
                let e = ast::Expr { kind: ExprKind::Name(name.text.clone()), span: name.span };
                self.constant_int(&e, "a number between `<` and `>`")
                    .map(Bound::Int)
                    .ok_or_else(|| "it takes a number".to_owned())
            }
            GenericArgument::Type(ty) if is_int && !ty.ty.members.is_empty() && ty.dims.is_empty() => {
                let e = ty.ty.clone().into_expr();
                let n = self.constant_int(&e, "a number between `<` and `>`");
                n.map(Bound::Int).ok_or_else(|| "it takes a number".to_owned())
            }
            GenericArgument::Int(e) if is_int => {
                let n = self.constant_int(e, "a number between `<` and `>`");
                n.map(Bound::Int).ok_or_else(|| "it takes a number that is known".to_owned())
            }
            GenericArgument::Type(ty) if !is_int => match self.resolve(&ty.ty, &ty.dims) {
                Type::Error => Err("the type is not known".to_owned()),
                Type::Void | Type::Texture2d | Type::Closure => {
                    Err("textures, closures and `void` cannot stand for a type".to_owned())
                }
                ty => Ok(Bound::Type(ty)),
            },
            GenericArgument::Type(_) => Err("it takes a number where a type is given".to_owned()),
            GenericArgument::Int(_) => Err("it takes a type where a number is given".to_owned()),
        }
    }

    /// Matches the type of a parameter, as written, with that of an argument.
    pub(super) fn match_type(
        &self,
        generics: &[GenericParameter],
        (written, dims, any_length): (&ast::TypeName, &[ast::Expr], bool),
        given: &Type,
        exact: bool,
        (found, fixed): (&mut Vec<Option<Bound>>, &[bool]),
    ) -> Result<(), String> {
        let mut element = given.clone();
        let empty = any_length.then_some(None);
        for dim in empty.into_iter().chain(dims.iter().map(Some)) {
            let Type::Array(inner, n) = element else { return Ok(()) };
            if let Some(ast::Expr { kind: ExprKind::Name(name), .. }) = dim
                && let Some(i) = generics.iter().position(|g| g.is_int && g.name.text == *name)
            {
                match &found[i] {
                    None => found[i] = Some(Bound::Int(n as i32)),
                    Some(Bound::Int(known)) if *known != n as i32 => {
                        return Err(format!("`{name}` would be both {known} and {n}"));
                    }
                    Some(_) => {}
                }
            }
            element = *inner;
        }
        if let Some(argument) = &written.argument {
            let Type::Struct(pair) = element else { return Ok(()) };
            let Some(value) = self.value_of_pair(pair).cloned() else { return Ok(()) };
            return self.match_type(generics, (&argument.ty, &argument.dims, false), &value, true, (found, fixed));
        }
        if !written.generics.is_empty() {
            return self.match_list(generics, written, &element, (found, fixed));
        }
        let is_parameter = |g: &GenericParameter| !g.is_int && g.name.text == written.name.text;
        let Some(i) = generics.iter().position(is_parameter).filter(|_| written.is_plain()) else { return Ok(()) };
        if fixed[i] || matches!(element, Type::Void | Type::Texture2d | Type::Closure) {
            return Ok(());
        }
        found[i] = Some(match found[i].take() {
            Some(Bound::Type(known)) if known != element => {
                let wider = |a: &Type, b: &Type| self.distance(a, b).is_some();
                Bound::Type(match () {
                    () if wider(&element, &known) && !exact => known,
                    () if wider(&known, &element) => element,
                    () => {
                        let (a, b) = (self.name_of(&known), self.name_of(&element));
                        return Err(format!("`{}` would be both {a} and {b}", generics[i].name.text));
                    }
                })
            }
            _ => Bound::Type(element),
        });
        Ok(())
    }

    /// Matches the list of a generic struct, as written, with that of an argument.
    fn match_list(
        &self,
        generics: &[GenericParameter],
        written: &ast::TypeName,
        given: &Type,
        (found, fixed): (&mut Vec<Option<Bound>>, &[bool]),
    ) -> Result<(), String> {
        let Some(list) = self.list_of_struct(given, &written.name.text) else { return Ok(()) };
        for (argument, bound) in written.generics.iter().zip(list) {
            match (argument, bound) {
                (GenericArgument::Type(ty), Bound::Type(given)) => {
                    self.match_type(generics, (&ty.ty, &ty.dims, false), given, true, (found, fixed))?;
                }
                (GenericArgument::Type(ty), Bound::Int(n)) => {
                    let is_parameter = |g: &GenericParameter| g.is_int && g.name.text == ty.ty.name.text;
                    let Some(i) = generics.iter().position(is_parameter) else { continue };
                    match &found[i] {
                        Some(known) if *known != Bound::Int(*n) => {
                            return Err(format!("`{}` would be both {known} and {n}", generics[i].name.text));
                        }
                        _ => found[i] = Some(Bound::Int(*n)),
                    }
                }
                (GenericArgument::Int(_), _) => {}
            }
        }
        Ok(())
    }

    /// What a parameter stands for, if it conforms to what it must; an `int` is a `float` where only that does.
    pub(super) fn conforming_bound(
        &mut self,
        name: &str,
        bounds: &[InterfaceId],
        bound: Bound,
        fixed: bool,
    ) -> Result<Bound, String> {
        let Bound::Type(ty) = &bound else { return Ok(bound) };
        let Some(lacking) = bounds.iter().find(|b| !self.conforms(ty, **b)).copied() else { return Ok(bound) };
        if *ty == Type::Int && !fixed && bounds.iter().all(|b| self.conforms(&Type::Float, *b)) {
            return Ok(Bound::Type(Type::Float));
        }
        if self.interface_of(ty).is_some_and(|id| self.interfaces.list[id.0].all.contains(&lacking)) {
            return Err(format!(
                "`{name}` would be {}, and which static methods and constants that has is known at run time only",
                self.name_of(ty)
            ));
        }
        Err(format!(
            "`{name}` would be {}, which does not conform to `{}`",
            self.name_of(ty),
            self.interface_name(lacking)
        ))
    }
}

/// `T blend<T : IFloat>(T, T, float)`
fn generic_head(decl: &FunctionDecl) -> String {
    let list = |names: &[Ident]| names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(" & ");
    let generic = |g: &ast::GenericParameter| match (g.is_int, g.bounds.is_empty()) {
        (true, _) => format!("let {} : int", g.name.text),
        (_, true) => g.name.text.clone(),
        _ => format!("{} : {}", g.name.text, list(&g.bounds)),
    };
    let parameter = |p: &ast::Parameter| match p.direction {
        Direction::In => p.ty.to_string(),
        Direction::Out => format!("out {}", p.ty),
        Direction::InOut => format!("inout {}", p.ty),
    };
    let generics: Vec<String> = decl.generics.iter().map(generic).collect();
    let parameters: Vec<String> = decl.parameters.iter().map(parameter).collect();
    format!("{} {}<{}>({})", decl.result, decl.name.text, generics.join(", "), parameters.join(", "))
}
