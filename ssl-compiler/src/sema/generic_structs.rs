//! Generic structs: a struct of its own for each list of types and numbers.
//!
//! Like a generic function, a generic struct is checked at its definition, with types that can do what the constraints say
//! and nothing else. An instance is made from the tree where a type first asks for it, with all its methods.

use super::Checker;
use super::arguments::{Misfit, Parameters, slots, value_of};
use super::generics::{Bindings, Bound, MAX_ALL_INSTANCES, MAX_DEPTH, MAX_INSTANCES};
use super::hir::{Expr, ExprKind, FunctionId};
use super::interfaces::InterfaceId;
use super::scope::Declared;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Attribute, GenericArgument, Ident, StructDecl};
use crate::types::{StructId, Type};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GenericStructId(usize);

struct GenericStruct<'a> {
    decl: &'a StructDecl,
    file: usize,
    /// What each of its parameters must conform to.
    bounds: Vec<Vec<InterfaceId>>,
    made: HashMap<Vec<Bound>, Type>,
    /// Its definition is wrong, which was said.
    faulty: bool,
    too_many: bool,
}

/// An instance of a generic struct.
pub(super) struct Made {
    of: GenericStructId,
    list: Vec<Bound>,
    pub ty: Type,
    /// The type that asked for it, and the function that this stands in; none in the definition.
    pub place: Option<Span>,
    pub parent: Option<FunctionId>,
    /// Something but the definition asked for it.
    used: bool,
}

/// The generic structs of a program.
#[derive(Default)]
pub(super) struct GenericStructs<'a> {
    list: Vec<GenericStruct<'a>>,
    made: HashMap<StructId, Made>,
    /// Instances whose members are being found, and where they were asked for.
    open: Vec<(GenericStructId, Vec<Bound>, Option<Span>)>,
    /// How many instances were asked for.
    asked: usize,
    /// Methods with attributes, which can be checked once the heads of all functions are known.
    attributed: Vec<(FunctionId, usize, Vec<Attribute>)>,
    heads_known: bool,
}

impl<'a> Checker<'a> {
    /// Declares a generic struct, and checks it.
    pub(super) fn generic_struct(&mut self, decl: &'a StructDecl, file: usize) {
        let name = &decl.name;
        let known = self.scope.types.get(&name.text).map(|d| d.span);
        let known = known.or_else(|| self.scope.generic_structs.get(&name.text).map(|d| d.span));
        if let Some(first) = known {
            return self.declared_twice(&format!("the struct `{}`", name.text), name.span, first);
        }
        if !self.have_names_of_their_own(&decl.generics) {
            return;
        }
        let bounds: Vec<Vec<InterfaceId>> = decl.generics.iter().map(|g| self.interfaces_named(&g.bounds)).collect();
        // Without an interface that it names, a definition means nothing.
        let faulty = decl.generics.iter().zip(&bounds).any(|(g, known)| known.len() < g.bounds.len());
        let id = GenericStructId(self.generic_structs.list.len());
        self.generic_structs.list.push(GenericStruct {
            decl,
            file,
            bounds: bounds.clone(),
            made: HashMap::new(),
            faulty,
            too_many: false,
        });
        self.scope.generic_structs.insert(name.text.clone(), Declared { meaning: id, span: name.span });
        if faulty {
            return;
        }
        for (n, list) in self.lists_for_definition(&decl.generics, &bounds).into_iter().enumerate() {
            let earlier = self.diagnostics.list.len();
            let first = self.program.functions.len();
            self.make_struct(id, list, None);
            self.diagnostics.leave_out_repeated(earlier);
            if n > 0 {
                (first..self.program.functions.len()).for_each(|f| self.keep_quiet(FunctionId(f as u32)));
            }
            if self.diagnostics.list.iter().skip(earlier).any(Diagnostic::is_error) {
                self.generic_structs.list[id.0].faulty = true;
                return;
            }
        }
    }

    /// The generic struct that a name stands for.
    pub(super) fn generic_struct_named(&self, name: &Ident) -> Option<GenericStructId> {
        self.scope.generic_structs.get(&name.text).map(|d| d.meaning)
    }

    /// `Pair<T, N>`
    pub(super) fn generic_struct_head(&self, id: GenericStructId) -> String {
        let decl = self.generic_structs.list[id.0].decl;
        let names: Vec<&str> = decl.generics.iter().map(|g| g.name.text.as_str()).collect();
        format!("{}<{}>", decl.name.text, names.join(", "))
    }

    /// Of a method of an instance, the instance.
    pub(super) fn of_generic_struct(&self, id: FunctionId) -> Option<&Made> {
        match self.as_method(id)?.owner {
            Type::Struct(owner) => self.generic_structs.made.get(&owner),
            _ => None,
        }
    }

    /// Whether a type stands in definitions only, for others.
    pub(super) fn is_for_definitions(&self, ty: &Type) -> bool {
        let Type::Struct(id) = ty else { return false };
        let of_list = |bound: &Bound| matches!(bound, Bound::Type(ty) if self.is_for_definitions(ty));
        self.interfaces.opaque.contains(id)
            || self.generic_structs.made.get(id).is_some_and(|made| !made.used || made.list.iter().any(of_list))
    }

    /// What an instance of the generic struct of this name was made for.
    pub(super) fn list_of_struct(&self, ty: &Type, name: &str) -> Option<&[Bound]> {
        let Type::Struct(id) = ty else { return None };
        let made = self.generic_structs.made.get(id)?;
        let declared = &self.generic_structs.list[made.of.0].decl.name.text;
        // Of an imported one the name stands behind that of the import.
        (name.rsplit("::").next() == Some(declared)).then_some(&made.list)
    }

    /// `Pair<float, 3>`
    pub(super) fn generic_type(&mut self, name: &Ident, types: &[GenericArgument]) -> Type {
        let Some(id) = self.generic_struct_named(name) else {
            if self.is_broken(&name.text) {
                return Type::Error;
            }
            let message = match self.later.types.contains_key(&name.text) {
                true => format!("the type `{}` is declared only further down", name.text),
                false => format!("there is no generic struct `{}`", name.text),
            };
            self.unknown(&codes::UNKNOWN_TYPE, (&name.text, name.span), message, Self::advise_generic_type);
            return Type::Error;
        };
        let declared = self.generic_structs.list[id.0].decl.name.span;
        self.speak_of(&name.text, name.span, declared);
        let decl = self.generic_structs.list[id.0].decl;
        if types.len() != decl.generics.len() {
            let message = format!("`{}` takes {}, {} given", name.text, decl.generics.len(), types.len());
            let hint = format!("between `<` and `>`: `{}`", self.generic_struct_head(id));
            self.error(&codes::GENERIC_ARGUMENTS, name.span, message, hint);
            return Type::Error;
        }
        let earlier = self.diagnostics.list.len();
        let mut list = Vec::new();
        for (i, (g, argument)) in decl.generics.iter().zip(types).enumerate() {
            let bounds = self.generic_structs.list[id.0].bounds[i].clone();
            let bound = self.explicit_bound(g.is_int, argument);
            match bound.and_then(|bound| self.conforming_bound(&g.name.text, &bounds, bound, true)) {
                Ok(bound) => list.push(bound),
                Err(why) => {
                    if self.diagnostics.list.len() == earlier {
                        self.wrong_list(id, why, name.span);
                    }
                    return Type::Error;
                }
            }
        }
        self.struct_for(id, list, name.span)
    }

    fn wrong_list(&mut self, id: GenericStructId, why: String, span: Span) {
        let decl = self.generic_structs.list[id.0].decl;
        let message = format!("this is no `{}`", self.generic_struct_head(id));
        let d = Diagnostic::error(&codes::GENERIC_ARGUMENTS, span, message, why);
        self.diagnostics.push(d.with_label(decl.name.span, "declared here"));
    }

    /// The struct for a list of the right number and kind.
    fn struct_for(&mut self, id: GenericStructId, list: Vec<Bound>, place: Span) -> Type {
        if let Some(ty) = self.generic_structs.list[id.0].made.get(&list).cloned() {
            if let Type::Struct(known) = ty {
                self.generic_structs.made.get_mut(&known).into_iter().for_each(|made| made.used = true);
            }
            return ty;
        }
        let name = self.name_with(&self.generic_structs.list[id.0].decl.name.text.clone(), &list);
        if self.generic_structs.open.iter().any(|(of, known, _)| *of == id && *known == list) {
            let hint = "a value of it would have no end; hold what differs, such as a number";
            self.error(&codes::BAD_DECLARATION, place, format!("`{name}` holds itself"), hint);
            return Type::Error;
        }
        let of_same = |c: &Self, f: FunctionId| c.of_generic_struct(f).is_some_and(|made| made.of == id);
        let open = self.generic_structs.open.iter().filter(|(of, ..)| *of == id).count();
        let too_deep = open + self.links_to(of_same) >= MAX_DEPTH;
        let generic = &mut self.generic_structs.list[id.0];
        if too_deep || generic.made.len() >= MAX_INSTANCES || self.generic_structs.asked >= MAX_ALL_INSTANCES {
            if !std::mem::replace(&mut generic.too_many, true) {
                let hint = format!(
                    "at most {MAX_INSTANCES} of one struct, {MAX_ALL_INSTANCES} of all, and {MAX_DEPTH} that ask for each \
                     other are possible; end the chain with a type that is not generic"
                );
                let mut d =
                    Diagnostic::error(&codes::TOO_LARGE, place, format!("`{name}` is one instance too many"), hint);
                for (of, list, place) in self.generic_structs.open.iter().rev().take(3) {
                    let name = self.name_with(&self.generic_structs.list[of.0].decl.name.text, list);
                    d = d.with_note(*place, format!("`{name}` is asked for here"));
                }
                let d = self.with_chain(d);
                self.diagnostics.push(d);
            }
            return Type::Error;
        }
        self.generic_structs.asked += 1;
        let earlier = self.diagnostics.list.len();
        let first = self.program.functions.len();
        let ty = self.make_struct(id, list, Some(place));
        (first..self.program.functions.len()).for_each(|f| self.keep_quiet(FunctionId(f as u32)));
        self.say_struct(id, Some(place), &name, earlier);
        ty
    }

    fn make_struct(&mut self, id: GenericStructId, list: Vec<Bound>, place: Option<Span>) -> Type {
        let GenericStruct { decl, file, .. } = self.generic_structs.list[id.0];
        let names = decl.generics.iter().map(|g| g.name.text.clone());
        let bindings: Bindings = Rc::new(names.zip(list.iter().cloned()).collect());
        let name = self.name_with(&decl.name.text, &list);
        let parent = self.local.function.map(|f| self.any_length.origin(f));
        self.generic_structs.open.push((id, list.clone(), place));
        let of_struct = self.bound_in(file, bindings.clone(), |c| c.structure(decl, &name));
        self.generic_structs.open.pop();
        let ty = Type::Struct(of_struct);
        self.generic_structs.list[id.0].made.insert(list.clone(), ty.clone());
        let used = place.is_some();
        self.generic_structs.made.insert(of_struct, Made { of: id, list, ty: ty.clone(), place, parent, used });
        // Its members are known, so that it may be its own differential. To name itself is no use of it.
        self.bound_in(file, bindings.clone(), |c| c.choose_differential(of_struct, decl));
        self.generic_structs.made.get_mut(&of_struct).into_iter().for_each(|made| made.used = used);
        // Those of the file that is being declared are not of this struct.
        let attributed = std::mem::take(&mut self.attributed);
        self.bound_in(file, bindings, |c| c.conforming((&ty, true), decl.name.span, &decl.body, file));
        let own = std::mem::replace(&mut self.attributed, attributed);
        self.generic_structs.attributed.extend(own.into_iter().map(|(f, list)| (f, file, list)));
        if self.generic_structs.heads_known {
            self.attribute_methods();
        }
        ty
    }

    /// Checks the attributes of methods of instances; from now on, as soon as there are any.
    pub(super) fn attribute_methods(&mut self) {
        self.generic_structs.heads_known = true;
        for (f, file, list) in std::mem::take(&mut self.generic_structs.attributed) {
            let earlier = self.diagnostics.list.len();
            let bindings = self.bindings_of(f);
            self.bound_in(file, bindings, |c| c.function_attributes(f, &list));
            self.say_generic_struct(f, earlier);
        }
    }

    /// Says for which instance something is wrong in a method; nothing, if the definition is.
    pub(super) fn say_generic_struct(&mut self, method: FunctionId, earlier: usize) {
        self.diagnostics.leave_out_repeated(earlier);
        let Some(made) = self.of_generic_struct(method) else { return };
        let (id, place, ty) = (made.of, made.place, made.ty.clone());
        let name = self.name_of(&ty);
        self.say_struct(id, place, &name, earlier);
    }

    fn say_struct(&mut self, id: GenericStructId, place: Option<Span>, name: &str, earlier: usize) {
        self.diagnostics.leave_out_repeated(earlier);
        let faults = self.diagnostics.list.iter().skip(earlier).any(Diagnostic::is_error);
        let generic = &mut self.generic_structs.list[id.0];
        if place.is_none() {
            generic.faulty |= faults;
        } else if generic.faulty && self.diagnostics.has_errors() {
            self.diagnostics.list.truncate(earlier);
        } else if faults {
            self.note_all(earlier, place, &format!("in `{name}`, which is asked for here"));
        }
    }
}

impl Checker<'_> {
    /// `Pair(1.0, 2.0)`: the types of the members tell what the struct is for.
    pub(super) fn construct_generic(&mut self, id: GenericStructId, arguments: &[ast::Expr], span: Span) -> Expr {
        let decl = self.generic_structs.list[id.0].decl;
        let head = self.generic_struct_head(id);
        self.speak_of(&decl.name.text, span, decl.name.span);
        if let Some(list) = arguments.iter().find(|e| matches!(value_of(e).kind, ast::ExprKind::List(_))) {
            let message = format!("`{head}` cannot be told from a list");
            self.error(
                &codes::GENERIC_ARGUMENTS,
                list.span,
                message,
                "write what the struct is for between `<` and `>`",
            );
            return Expr::error(span);
        }
        let Some(given) = self.given_for(&[], None, arguments) else { return Expr::error(span) };
        let members: Vec<_> = decl.fields.iter().flat_map(|d| d.declarators.iter().map(move |m| (&d.ty, m))).collect();
        let parameters = Parameters {
            names: members.iter().map(|(_, m)| m.name.text.as_str()).collect(),
            optional: vec![true; members.len()],
        };
        let order = match slots(&parameters, given.values.len(), &given.names) {
            Ok(order) => order,
            Err(Misfit::Unknown(i)) => {
                let (message, hint) = (format!("`{head}` has no member `{}`", given.names[i].text), "name a member");
                self.error(&codes::UNKNOWN_MEMBER, given.names[i].span, message, hint);
                return Expr::error(span);
            }
            Err(Misfit::Twice(i)) => {
                self.given_twice(&given.names[i]);
                return Expr::error(span);
            }
            Err(Misfit::TooMany | Misfit::Missing(_)) => {
                let message = format!("{} values for the {} of `{head}`", given.values.len(), members.len());
                self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, "remove the values that are too many");
                return Expr::error(span);
            }
        };
        let list = match self.told_by_members(id, &members, &order, &given.values) {
            Ok(list) => list,
            Err(why) => {
                self.wrong_list(id, why, span);
                return Expr::error(span);
            }
        };
        let Type::Struct(of_struct) = self.struct_for(id, list, span) else { return Expr::error(span) };
        let mut values: Vec<Option<Expr>> = given.values.into_iter().map(Some).collect();
        let given = order.into_iter().map(|i| i.and_then(|i| values[i].take())).collect();
        self.members_from(of_struct, given, span)
    }

    /// What a generic struct is for, as the values of its members tell.
    fn told_by_members(
        &mut self,
        id: GenericStructId,
        members: &[(&ast::TypeName, &ast::Declarator)],
        order: &[Option<usize>],
        values: &[Expr],
    ) -> Result<Vec<Bound>, String> {
        let decl = self.generic_structs.list[id.0].decl;
        let mut found = vec![None; decl.generics.len()];
        let fixed = vec![false; decl.generics.len()];
        for ((ty, member), i) in members.iter().zip(order) {
            let Some(i) = i else { continue };
            let given = values[*i].ty.clone();
            self.match_type(&decl.generics, (ty, &member.dims, false), &given, false, (&mut found, &fixed))?;
        }
        let mut list = Vec::new();
        for (i, (g, bound)) in decl.generics.iter().zip(found).enumerate() {
            let bounds = self.generic_structs.list[id.0].bounds[i].clone();
            let Some(bound) = bound else {
                let head = self.generic_struct_head(id);
                return Err(format!("`{}` cannot be told from the members: write `{head}(…)`", g.name.text));
            };
            list.push(self.conforming_bound(&g.name.text, &bounds, bound, false)?);
        }
        Ok(list)
    }

    /// A struct from values of some of its members; the others start as they do.
    fn members_from(&mut self, id: StructId, given: Vec<Option<Expr>>, span: Span) -> Expr {
        let ty = Type::Struct(id);
        let Expr { kind: ExprKind::Construct(starts), .. } = self.members(id, &vec![None; given.len()], span) else {
            return Expr::error(span);
        };
        let types: Vec<Type> = self.program.types.get(id).fields.iter().map(|f| f.ty.clone()).collect();
        let mut starts = starts.into_iter();
        let mut values = Vec::new();
        for (given, ty) in given.into_iter().map(Some).chain(std::iter::repeat_with(|| None)).zip(&types) {
            match (given.flatten(), starts.next()) {
                (Some(value), _) => values.push(self.coerce(value, ty)),
                (None, Some(start)) => values.push(start),
                (None, None) => break,
            }
        }
        Expr { kind: ExprKind::Construct(values), ty, span }
    }
}
