//! Declarations at file level: structs, textures, constants, globals, function heads; then the bodies.

use super::Checker;
use super::hir::{Expr, ExprKind, FunctionId};
use super::scope::{Declared, Meaning};
use crate::diagnostics::{Diagnostic, codes};
use crate::modules::{Module, Modules};
use crate::runtime::Orders;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use std::collections::HashMap;
use std::rc::Rc;

/// The names that a file declares, and where first; code may use some of them too early.
#[derive(Default)]
pub(super) struct DeclaredNames {
    pub values: HashMap<String, Span>,
    /// Structs, interfaces, and names that stand for types.
    pub types: HashMap<String, Span>,
}

impl DeclaredNames {
    fn of(file: &ast::File) -> DeclaredNames {
        let mut known = DeclaredNames::default();
        for item in &file.items {
            match item {
                ast::Item::Function(f) => note(&mut known.values, &f.name),
                ast::Item::Variable(d) => d.declarators.iter().for_each(|d| note(&mut known.values, &d.name)),
                ast::Item::Enum(e) => {
                    e.members.iter().for_each(|m| note(&mut known.values, &m.name));
                    e.name.iter().for_each(|name| note(&mut known.types, name));
                }
                ast::Item::Struct(s) => note(&mut known.types, &s.name),
                ast::Item::Interface(i) => note(&mut known.types, &i.name),
                ast::Item::Typedef(d) => d.declarators.iter().for_each(|d| note(&mut known.types, &d.name)),
                ast::Item::Extension(_) | ast::Item::Globals(_) | ast::Item::Test(_) | ast::Item::Import(_) => {}
            }
        }
        known
    }
}

fn note(names: &mut HashMap<String, Span>, name: &ast::Ident) {
    names.entry(name.text.clone()).or_insert(name.span);
}

/// A function and its body, which is yet to be checked.
type Body<'a> = (FunctionId, &'a [ast::Stmt]);

impl<'m> Checker<'m> {
    /// Checks everything and returns the tests, which are checked when they run.
    pub(super) fn files(&mut self, modules: &'m Modules) -> Vec<ast::TestDecl> {
        self.point_globals(modules);
        let mut bodies: Vec<Vec<Body<'_>>> = modules.files.iter().map(|_| Vec::new()).collect();
        let mut attributed: Vec<Vec<_>> = modules.files.iter().map(|_| Vec::new()).collect();
        for &index in &modules.order {
            self.file = Some(index);
            self.import_all(&modules.files[index]);
            bodies[index] = self.declarations(index, &modules.files[index]);
            attributed[index] = std::mem::take(&mut self.attributed);
            self.leave(index, modules.files[index].library);
            self.file = None;
        }
        self.complete_values();
        for &index in &modules.order {
            if !attributed[index].is_empty() {
                self.within(index, |checker| {
                    attributed[index].iter().for_each(|(id, list)| checker.function_attributes(*id, list));
                });
            }
        }
        self.attribute_methods();
        self.check_definitions();
        // Parts of the standard library may call each other, so all heads come before all bodies.
        for &index in &modules.order {
            self.within(index, |checker| {
                bodies[index].iter().for_each(|(id, body)| checker.function_body(*id, body));
            });
        }
        self.check_versions();
        let items = modules.root().tree.items.iter();
        items.filter_map(|item| if let ast::Item::Test(t) = item { Some(t.clone()) } else { None }).collect()
    }

    /// Runs `check` with the names of a file.
    pub(super) fn within<T>(&mut self, index: usize, check: impl FnOnce(&mut Self) -> T) -> T {
        if self.file == Some(index) {
            return check(self);
        }
        let before = self.file.replace(index);
        let names = self.later.clone();
        if let Some(before) = before {
            self.scopes[before] = std::mem::take(&mut self.scope);
        }
        self.scope = std::mem::take(&mut self.scopes[index]);
        self.known_names_of(index);
        let result = check(self);
        self.scopes[index] = std::mem::take(&mut self.scope);
        if let Some(before) = before {
            self.scope = std::mem::take(&mut self.scopes[before]);
        }
        (self.file, self.later) = (before, names);
        result
    }

    /// What can be said about a name of the file beside what it means.
    fn known_names_of(&mut self, index: usize) {
        let tree = &self.modules.files[index].tree;
        self.later = self.known_names[index].get_or_insert_with(|| Rc::new(DeclaredNames::of(tree))).clone();
    }

    /// Whether the declaration of a name of the file was not understood, so that nothing more need be said of it.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.file.is_some_and(|file| self.modules.files[file].tree.broken.contains(name))
    }

    /// Checks what a file declares; the bodies of its functions are left for later.
    fn declarations(&mut self, index: usize, module: &'m Module) -> Vec<Body<'m>> {
        let mut bodies = Vec::new();
        self.known_names_of(index);
        for item in &module.tree.items {
            match item {
                ast::Item::Struct(s) if !s.generics.is_empty() => self.generic_struct(s, index),
                ast::Item::Struct(s) => {
                    let id = self.structure(s, &s.name.text);
                    self.declare_type(&s.name, Type::Struct(id));
                    self.choose_differential(id, s);
                    let ty = Type::Struct(id);
                    self.conforming((&ty, true), s.name.span, &s.body, index);
                }
                ast::Item::Interface(i) => self.interface(i, index),
                ast::Item::Extension(e) => {
                    let ty = self.resolve(&e.ty, &[]);
                    if ty != Type::Error {
                        self.conforming((&ty, false), e.ty.name.span, &e.body, index);
                    }
                }
                ast::Item::Function(f) if !f.generics.is_empty() => self.generic_function(f, index),
                ast::Item::Typedef(d) => self.typedef(d),
                ast::Item::Enum(e) => self.enumeration(e),
                ast::Item::Globals(list) => list.iter().for_each(|d| self.globals(d)),
                ast::Item::Variable(d) => self.file_variable(d, &module.prefix),
                ast::Item::Function(f) => {
                    if let (Some(id), Some(body)) = (self.function_head(f), &f.body) {
                        self.keep_body(id, index, body, &mut bodies);
                    }
                }
                ast::Item::Import(_) | ast::Item::Test(_) => {}
            }
        }
        bodies
    }

    /// Keeps the body of a function until all heads are known.
    fn keep_body(&mut self, id: FunctionId, file: usize, body: &'m [ast::Stmt], bodies: &mut Vec<Body<'m>>) {
        match self.takes_any_length(id) {
            true => self.versions_of(id).body = Some((file, body)),
            false => bodies.push((id, body)),
        }
    }

    /// A second declaration of a name, the first being known or not.
    pub(super) fn twice(&mut self, span: Span, message: String, first: Option<Span>) {
        let d = Diagnostic::error(&codes::DUPLICATE_NAME, span, message, "rename one of them");
        self.diagnostics.push(match first {
            Some(first) => d.with_label(first, "the first one"),
            None => d,
        });
    }

    fn globals(&mut self, declaration: &ast::Declaration) {
        for d in &declaration.declarators {
            let ty = self.resolve(&declaration.ty, &d.dims);
            if ty == Type::Error {
                continue;
            }
            // A file may repeat what the host has anyway, so that it can be tested alone.
            if let Some((_, field)) = self.layout.find(&d.name.text)
                && field.ty == ty
            {
                continue;
            }
            if let Err(e) = self.layout.add(&d.name.text, ty, Orders::First) {
                self.error(&codes::BAD_DECLARATION, d.name.span, e.to_string(), "choose another name or type");
            }
        }
    }

    fn file_variable(&mut self, declaration: &ast::Declaration, prefix: &str) {
        for d in &declaration.declarators {
            let ty = self.resolve(&declaration.ty, &d.dims);
            let name = &d.name;
            if let Some(first) = self.scope.names.get(&name.text) {
                self.declared_twice(&format!("`{}`", name.text), name.span, first.span);
                continue;
            }
            let meaning = match (&ty, declaration.is_const, &d.init) {
                (Type::Error, ..) => Meaning::Constant(Expr::error(name.span), 0),
                (Type::Texture2d, ..) => self.texture_slot(name, prefix),
                (_, true, Some(init)) => {
                    let (value, size) = self.constant_value(init, &ty);
                    Meaning::Constant(value, size)
                }
                _ => {
                    let hint =
                        "write `const` and a value, or use a shader parameter for what should be set from outside";
                    self.error(
                        &codes::FILE_VARIABLE,
                        name.span,
                        format!("`{}` would be a variable of the whole file", name.text),
                        hint,
                    );
                    Meaning::Constant(Expr::error(name.span), 0)
                }
            };
            self.scope.names.insert(name.text.clone(), Declared { meaning, span: name.span });
        }
    }

    /// What a constant stands for, and of how many expressions it is made.
    pub(super) fn constant_value(&mut self, init: &ast::Expr, ty: &Type) -> (Expr, usize) {
        let before = self.expressions;
        let value = self.initialiser(init, ty);
        let value = self.simplified(value);
        let is_literal = |e: &Expr| matches!(e.kind, ExprKind::Constant(_));
        let is_short = match &value.kind {
            ExprKind::Construct(parts) => ty.components().is_some() && parts.iter().all(is_literal),
            _ => is_literal(&value),
        };
        (value, if is_short { 1 } else { self.expressions - before })
    }

    /// A texture of the file, which the host binds by its name and what leads to it.
    fn texture_slot(&mut self, name: &ast::Ident, prefix: &str) -> Meaning {
        let slot = format!("{prefix}{}", name.text);
        let number = self.program.textures.len();
        let first = self.numbers.of_texture(&slot, &mut self.program.textures);
        if first < number {
            let message = format!("two files have a texture `{slot}`");
            let hint = "rename one of them: the host binds textures by their names";
            let mut diagnostic = Diagnostic::error(&codes::IMPORT_CLASH, name.span, message, hint);
            if let Some(span) = self.texture_span(first) {
                diagnostic = diagnostic.with_label(span, "the other one");
            }
            self.diagnostics.push(diagnostic);
        }
        Meaning::Texture(first as u32)
    }
}
