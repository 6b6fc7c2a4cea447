//! Declarations of structs.

use super::Checker;
use super::hir::Expr;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{StructField, StructId, StructType, Type};
use std::collections::HashMap;

/// Scalars of a struct, each array as one element, and structs in each other: whatever handles a value of the type
/// goes through them.
const MAX_MEMBERS: usize = 1024;
const MAX_STRUCT_DEPTH: usize = 64;

impl<'a> Checker<'a> {
    /// A struct as it is declared, under a name.
    pub(super) fn structure(&mut self, decl: &'a ast::StructDecl, name: &str) -> StructId {
        // The sizes of members may be constants of the struct.
        self.open_constants(None, &decl.body);
        let id = self.structure_with_members(decl, name);
        self.close_constants(&Type::Struct(id));
        id
    }

    fn structure_with_members(&mut self, decl: &ast::StructDecl, name: &str) -> StructId {
        let mut fields: Vec<StructField> = Vec::new();
        let mut starts: Vec<Option<Expr>> = Vec::new();
        let (mut members, mut depth) = (0, 1);
        for declaration in &decl.fields {
            for d in &declaration.declarators {
                let ty = match self.holds_itself(decl, &declaration.ty) {
                    true => Type::Error,
                    false => self.resolve(&declaration.ty, &d.dims),
                };
                members += self.program.types.member_count(&ty);
                depth = depth.max(1 + self.program.types.depth(&ty));
                if members > MAX_MEMBERS || depth > MAX_STRUCT_DEPTH {
                    return self.too_large(decl, name, fields, starts);
                }
                if ty.is_slot() || ty == Type::Void {
                    let (code, hint) = match ty {
                        Type::Void => (&codes::BAD_DECLARATION, "only functions can be `void`"),
                        _ => (&codes::TEXTURE_USE, "pass the texture to the functions that sample it"),
                    };
                    self.error(code, d.name.span, "a struct cannot hold this type", hint);
                } else if fields.iter().any(|f| f.name == d.name.text) {
                    let message = format!("the struct has two members `{}`", d.name.text);
                    let first = decl.fields.iter().flat_map(|f| &f.declarators).find(|f| f.name.text == d.name.text);
                    self.twice(d.name.span, message, first.map(|f| f.name.span));
                } else {
                    starts.push(d.init.as_ref().and_then(|e| self.member_default(e, &ty)));
                    fields.push(StructField { name: d.name.text.clone(), ty });
                }
            }
        }
        self.add_structure(name, fields, starts)
    }

    /// Whether a member of a type would make a struct hold itself, through structs that are declared later. It is said.
    fn holds_itself(&mut self, decl: &ast::StructDecl, member: &ast::TypeName) -> bool {
        let names_type = |name: &str| self.scope.types.contains_key(name) || self.bound_type(name).is_some();
        if names_type(&member.name.text) || !decl.generics.is_empty() {
            return false;
        }
        let Some(file) = self.file else { return false };
        let items = &self.modules.files[file].tree.items;
        let structs = items.iter().filter_map(|item| if let ast::Item::Struct(s) = item { Some(s) } else { None });
        let structs: HashMap<&str, &ast::StructDecl> = structs.map(|s| (s.name.text.as_str(), s)).collect();
        // From struct to struct by the types of members, each with the one that led there.
        let mut led: Vec<(&str, Option<usize>)> = vec![(&member.name.text, None)];
        let mut at = 0;
        while let Some(&(name, _)) = led.get(at) {
            if name == decl.name.text {
                break;
            }
            for held in structs.get(name).iter().flat_map(|s| &s.fields).map(|f| f.ty.name.text.as_str()) {
                if led.iter().all(|(known, _)| *known != held) {
                    led.push((held, Some(at)));
                }
            }
            at += 1;
        }
        if at == led.len() {
            return false;
        }
        let way = std::iter::successors(Some(at), |&i| led[i].1).map(|i| led[i].0);
        let mut chain: Vec<&str> = way.chain([decl.name.text.as_str()]).collect();
        chain.reverse();
        let message = match chain.len() {
            2 => format!("`{}` holds itself", decl.name.text),
            _ => format!("`{}` holds itself: {}", decl.name.text, chain.join(" → ")),
        };
        let hint = "a value of it would have no end; hold the number of another one in an array instead";
        self.error(&codes::BAD_DECLARATION, member.name.span, message, hint);
        true
    }

    /// Refuses a struct; its first members stand for it.
    fn too_large(
        &mut self,
        decl: &ast::StructDecl,
        name: &str,
        fields: Vec<StructField>,
        starts: Vec<Option<Expr>>,
    ) -> StructId {
        let message = format!("the struct `{name}` is too large");
        let hint = format!(
            "at most {MAX_MEMBERS} scalars, those of inner structs included and arrays counted as one element, and \
             {MAX_STRUCT_DEPTH} structs in each other are possible; use an array"
        );
        self.error(&codes::TOO_LARGE, decl.name.span, message, hint);
        self.add_structure(name, fields, starts)
    }

    fn add_structure(&mut self, name: &str, fields: Vec<StructField>, starts: Vec<Option<Expr>>) -> StructId {
        let has_starts = starts.iter().any(Option::is_some) || fields.iter().any(|f| self.has_start(&f.ty));
        let id = self.push_structure(name.to_owned(), fields);
        if has_starts {
            self.starts.insert(id, starts);
        }
        id
    }

    /// Puts a struct into the table.
    pub(super) fn push_structure(&mut self, name: String, fields: Vec<StructField>) -> StructId {
        let structure = self.structure_of(name, fields);
        let id = StructId(self.program.types.structs.len() as u32);
        self.program.types.structs.push(structure);
        id
    }

    /// A struct with all that is counted of it.
    pub(super) fn structure_of(&self, name: String, fields: Vec<StructField>) -> StructType {
        let types = &self.program.types;
        let of = |count: &dyn Fn(&Type) -> usize| fields.iter().map(|f| count(&f.ty)).sum::<usize>();
        StructType {
            name,
            leaves: of(&|ty| types.leaf_count(ty)),
            members: of(&|ty| types.member_count(ty)).max(1),
            depth: 1 + fields.iter().map(|f| types.depth(&f.ty)).max().unwrap_or(0),
            closures: fields.iter().any(|f| types.holds_closures(&f.ty)),
            scalars: fields.iter().fold(0, |sum, f| sum.saturating_add(types.scalars(&f.ty))),
            fields,
            differential: None,
        }
    }

    /// Gives a struct other members.
    pub(super) fn replace_fields(&mut self, id: StructId, fields: Vec<StructField>) {
        let old = self.program.types.get(id);
        let (name, differential) = (old.name.clone(), old.differential.clone());
        let new = StructType { differential, ..self.structure_of(name, fields) };
        self.program.types.structs[id.0 as usize] = new;
    }

    /// Measures all structs again: those that hold values of interfaces were declared before it was known how large
    /// these are. A struct holds only such as were declared before, or that have scalars alone.
    pub(super) fn measure_structures(&mut self, place: Option<Span>) {
        for i in 0..self.program.types.structs.len() {
            let id = StructId(i as u32);
            let fields = std::mem::take(&mut self.program.types.structs[i].fields);
            self.replace_fields(id, fields);
            let structure = self.program.types.get(id);
            if (structure.members > MAX_MEMBERS || structure.depth > MAX_STRUCT_DEPTH)
                && let Some(place) = place
            {
                let message =
                    format!("the struct `{}` is too large with the values of interfaces in it", structure.name);
                let hint = format!("at most {MAX_MEMBERS} scalars are possible, arrays counted as one element");
                return self.error(&codes::TOO_LARGE, place, message, hint);
            }
        }
    }

    /// Whether members of these types fit into one struct.
    pub(super) fn fits_into_struct(&self, members: &[&Type]) -> bool {
        let types = &self.program.types;
        members.iter().map(|ty| types.member_count(ty)).sum::<usize>() <= MAX_MEMBERS
            && members.iter().all(|ty| types.depth(ty) < MAX_STRUCT_DEPTH)
    }

    /// Whether something in a value of a type starts with a default.
    pub(super) fn has_start(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id) => self.starts.contains_key(id),
            Type::Array(element, _) => self.has_start(element),
            _ => false,
        }
    }
}
