//! Differentials that structs choose themselves.
//!
//! A struct may name the type of its derivatives, and say of its members which part of it is theirs. A member without
//! such a part has no derivative. A part that belongs to no member goes with the values of the struct as well: in members
//! that no author can name, which are zero, so that only their derivatives mean anything. Functions with derivatives of
//! their own give and take these. So differentiation sees a struct like any other.

use super::Checker;
use super::generics::Bound;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::DIFFERENTIAL;
use crate::syntax::ast::{self, Attribute, Expr, ExprKind, StructDecl};
use crate::types::{OwnDifferential, StructField, StructId, Type};
use std::rc::Rc;

/// What says that the derivative of a member is a part of the differential.
const DERIVATIVE_MEMBER: &str = "DerivativeMember";

/// Members of the differential, one in the other, down to a part.
type Path = Vec<usize>;

impl Checker<'_> {
    /// Lets a struct choose its differential, if it says something of it.
    pub(super) fn choose_differential(&mut self, id: StructId, decl: &StructDecl) {
        let alias = decl.body.types.iter().find(|t| t.name.text == DIFFERENTIAL);
        let chosen = alias.map(|alias| {
            // `This` is the struct, as it is in its methods.
            let bound = self.bound.clone();
            let this = (ast::SELF.to_owned(), Bound::Type(Type::Struct(id)));
            self.bound = Rc::new(bound.iter().cloned().chain([this]).collect());
            let ty = self.resolve(&alias.ty.ty, &alias.ty.dims);
            self.bound = bound;
            (ty, alias.name.span)
        });
        let fields = self.program.types.get(id).fields.len();
        let written: usize = decl.fields.iter().map(|d| d.declarators.len()).sum();
        if fields != written {
            // Some member was refused.
            return;
        }
        let mut parts: Vec<Option<Path>> = Vec::new();
        let mut no_diff: Vec<bool> = Vec::new();
        let mut marked = false;
        for (declaration, marks) in decl.fields.iter().zip(&decl.marks) {
            let mut part = None;
            for a in &marks.attributes {
                part = self.derivative_member(chosen.as_ref(), a);
                marked |= part.is_some();
            }
            if let (Some((_, span)), true) = (&part, declaration.declarators.len() > 1) {
                let hint = "declare each member by itself, with an attribute of its own";
                self.error(&codes::ATTRIBUTE, *span, "several members cannot have one derivative", hint);
                return;
            }
            for d in &declaration.declarators {
                let ty = self.program.types.get(id).fields[parts.len()].ty.clone();
                let fits = part.as_ref().is_none_or(|(path, span)| {
                    let taken = parts.iter().flatten().any(|other| path.starts_with(other) || other.starts_with(path));
                    self.part_fits(&d.name, &ty, (chosen.as_ref(), path), taken, *span)
                });
                let path = part.as_ref().filter(|_| fits).map(|(path, _)| path.clone());
                parts.push(path);
                no_diff.push(marks.no_diff);
            }
        }
        match chosen {
            Some((ty, span)) => {
                let names = decl.body.interfaces.iter().any(|i| i.text == super::interfaces::BUILT_IN[2]);
                if !names {
                    let message = format!(
                        "`{}` has a `{DIFFERENTIAL}`, and does not conform to `IDifferentiable`",
                        decl.name.text
                    );
                    let hint = format!("write `struct {} : IDifferentiable`", decl.name.text);
                    self.error(&codes::CONFORMANCE, span, message, hint);
                }
                self.set_own(id, (ty, span), (parts, no_diff), marked);
            }
            None if no_diff.contains(&true) => self.leave_out_members(id, no_diff),
            None => {}
        }
    }

    /// The part of the differential that an attribute names.
    fn derivative_member(&mut self, chosen: Option<&(Type, Span)>, a: &Attribute) -> Option<(Path, Span)> {
        if a.name.text != DERIVATIVE_MEMBER {
            let message = format!("there is no attribute `{}` for members", a.name.text);
            let hint = "`[DerivativeMember(D.x)]` says which part of the differential is the derivative of a member";
            self.error(&codes::UNKNOWN_ATTRIBUTE, a.span, message, hint);
            return None;
        }
        let Some((ty, _)) = chosen else {
            let hint = "add `typealias Differential = …;` to the struct, or leave the attribute out";
            self.error(&codes::ATTRIBUTE, a.span, "the struct does not choose its differential", hint);
            return None;
        };
        if *ty == Type::Error {
            return None;
        }
        let [part] = a.arguments.as_slice() else {
            let hint = "write `[DerivativeMember(Differential.x)]`";
            self.error(&codes::ATTRIBUTE, a.span, "this attribute takes one part of the differential", hint);
            return None;
        };
        let mut path = Vec::new();
        self.part_of(ty, part, &mut path)?;
        Some((path, a.span))
    }

    /// The type of a part of the differential, and the way to it.
    fn part_of(&mut self, ty: &Type, e: &Expr, path: &mut Path) -> Option<Type> {
        match &e.kind {
            ExprKind::Name(name) if name == DIFFERENTIAL => Some(ty.clone()),
            ExprKind::Name(_) => match self.type_before_dot(e) {
                Some(named) if named == *ty => Some(named),
                _ => {
                    let message = format!("this is not the differential of the struct, {}", self.name_of(ty));
                    self.error(
                        &codes::ATTRIBUTE,
                        e.span,
                        message,
                        "write `Differential`, and `.` and a member behind it",
                    );
                    None
                }
            },
            ExprKind::Member(base, member) => {
                let of = self.part_of(ty, base, path)?;
                let fields = match of {
                    Type::Struct(id) => self.program.types.get(id).named().to_vec(),
                    _ => Vec::new(),
                };
                let Some(i) = fields.iter().position(|f| f.name == member.text) else {
                    let message = format!("{} has no member `{}`", self.name_of(&of), member.text);
                    let names: Vec<String> = fields.into_iter().map(|f| f.name).collect();
                    self.unknown(&codes::UNKNOWN_MEMBER, (&member.text, member.span), message, |_, name| {
                        Self::advise_of(name, names.iter().map(String::as_str), "it has no members")
                    });
                    return None;
                };
                path.push(i);
                Some(fields[i].ty.clone())
            }
            _ => {
                let hint = "write `Differential`, and `.` and a member behind it";
                self.error(&codes::ATTRIBUTE, e.span, "this is no part of a differential", hint);
                None
            }
        }
    }

    /// Whether the derivative of a member may be a part of the differential; if not, that is reported.
    fn part_fits(
        &mut self,
        name: &ast::Ident,
        ty: &Type,
        (chosen, path): (Option<&(Type, Span)>, &Path),
        taken: bool,
        span: Span,
    ) -> bool {
        let Some((whole, _)) = chosen else { return false };
        if taken {
            let hint = "give each of them a part of its own; a derivative cannot be that of two members";
            self.error(&codes::ATTRIBUTE, span, "another member has this part of the differential already", hint);
            return false;
        }
        let part = path.iter().fold(whole.clone(), |ty, i| match ty {
            Type::Struct(id) => self.program.types.get(id).fields[*i].ty.clone(),
            other => other,
        });
        let wanted = self.differential_of(ty, name.span);
        if wanted == Type::Error || part == wanted {
            return wanted != Type::Error;
        }
        let message = format!(
            "the derivative of `{}` is {}, and this part is {}",
            name.text,
            self.name_of(&wanted),
            self.name_of(&part)
        );
        self.error(&codes::TYPE_MISMATCH, span, message, "let both be of one type");
        false
    }

    fn set_own(
        &mut self,
        id: StructId,
        (ty, span): (Type, Span),
        (mut parts, mut no_diff): (Vec<Option<Path>>, Vec<bool>),
        marked: bool,
    ) {
        if ty == Type::Error {
            return;
        }
        if ty != Type::Struct(id) && self.program.types.holds(&ty, id) {
            self.set_differential(id, Some(Type::Error));
            let name = self.program.types.get(id).name.clone();
            let message = format!("the differential of `{name}` is {}, which has a `{name}` in it", self.name_of(&ty));
            let hint = "name a type of derivatives alone, such as a struct with a float for each float";
            return self.error(&codes::NO_DIFFERENTIAL, span, message, hint);
        }
        let is_vector_space = self.differential(&ty).as_ref() == Some(&ty);
        if is_vector_space && ty == Type::Struct(id) && !marked {
            return;
        }
        if !is_vector_space || ty == Type::Struct(id) {
            self.set_differential(id, Some(Type::Error));
            let message = format!("{} cannot be a differential", self.name_of(&ty));
            let hint = "differentials are added up part by part: take floats, vectors, or a struct of them without defaults; \
                        what is encoded in an `int` belongs into the value alone";
            return self.error(&codes::NO_DIFFERENTIAL, span, message, hint);
        }
        let structure = self.program.types.get(id);
        let (name, mut fields) = (structure.name.clone(), structure.fields.clone());
        let mut hidden = Vec::new();
        self.uncovered(&ty, &mut Vec::new(), &parts, &mut hidden);
        for (path, ty) in hidden {
            fields.push(StructField { name: format!("({})", fields.len()), ty });
            parts.push(Some(path));
            no_diff.push(false);
        }
        let types: Vec<&Type> = fields.iter().map(|f| &f.ty).collect();
        if !self.fits_into_struct(&types) {
            let message = format!("{name} and its differential are too large together");
            return self.error(&codes::TOO_LARGE, span, message, "use a smaller struct, or arrays in it");
        }
        if let Some(starts) = self.starts.get_mut(&id) {
            starts.resize(fields.len(), None);
        }
        let mut structure = self.structure_of(name, fields);
        structure.differential = Some(OwnDifferential { ty: ty.clone(), members: parts, no_diff });
        self.program.types.structs[id.0 as usize] = structure;
        self.set_differential(id, Some(ty));
    }

    /// The largest parts of a differential that are those of no member.
    fn uncovered(&self, ty: &Type, path: &mut Path, parts: &[Option<Path>], found: &mut Vec<(Path, Type)>) {
        let inside: Vec<&Path> = parts.iter().flatten().filter(|p| p.starts_with(path)).collect();
        if inside.is_empty() {
            return found.push((path.clone(), ty.clone()));
        }
        let Type::Struct(id) = ty else { return };
        if inside.iter().all(|p| p.len() > path.len()) {
            for (i, f) in self.program.types.get(*id).fields.iter().enumerate() {
                path.push(i);
                self.uncovered(&f.ty, path, parts, found);
                path.pop();
            }
        }
    }

    /// The differential of a struct of which some members are `no_diff`: it has the others.
    fn leave_out_members(&mut self, id: StructId, no_diff: Vec<bool>) {
        let structure = self.program.types.get(id);
        let (name, members) = (structure.name.clone(), structure.fields.clone());
        let (mut fields, mut parts) = (Vec::new(), Vec::new());
        for (member, left_out) in members.iter().zip(&no_diff) {
            let differential = if *left_out { None } else { self.differential(&member.ty) };
            parts.push(differential.is_some().then(|| vec![fields.len()]));
            fields.extend(differential.map(|ty| StructField { name: member.name.clone(), ty }));
        }
        let own = match fields.is_empty() {
            true => Type::Void,
            false => Type::Struct(self.push_structure(format!("{name}.{DIFFERENTIAL}"), fields)),
        };
        if let Type::Struct(own) = own {
            self.set_differential(own, Some(Type::Struct(own)));
        }
        self.set_differential(id, (own != Type::Void).then(|| own.clone()));
        self.program.types.structs[id.0 as usize].differential =
            Some(OwnDifferential { ty: own, members: parts, no_diff });
    }
}
