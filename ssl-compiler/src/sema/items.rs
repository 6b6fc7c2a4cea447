//! What stands at file level: structs, textures, constants, globals, function heads; then the bodies.

use super::hir::{Expr, ExprKind, Function, FunctionId, Parameter, Place, Stmt, StmtKind, VarId, Variable};
use super::scope::{Declared, Meaning};
use super::{Checker, Local};
use crate::diagnostics::{Diagnostic, codes};
use crate::modules::{Module, Modules};
use crate::runtime::Orders;
use crate::source::Span;
use crate::syntax::ast::{self, Direction};
use crate::syntax::foreign;
use crate::types::Type;
use std::collections::HashMap;

/// Elements that one array may have, all dimensions together.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Scalars and closures that an array with closures in it may have; each is taken apart.
const MAX_CLOSURES: u64 = 1024;

/// Functions of one name, as a call looks at each, and parameters of a function or shader.
const MAX_OVERLOADS: usize = 256;
const MAX_PARAMETERS: usize = 1024;

/// Bytes of one element: an element that is an array itself is read and written part by part.
const MAX_ELEMENT_BYTES: u64 = 16 << 10;

/// What a file declares by name, and where first; some of it may be asked for too early.
fn names_of(file: &ast::File) -> HashMap<String, Span> {
    let mut names = HashMap::new();
    for item in &file.items {
        match item {
            ast::Item::Function(f) => drop(names.entry(f.name.text.clone()).or_insert(f.name.span)),
            ast::Item::Variable(d) => d.declarators.iter().for_each(|d| {
                names.entry(d.name.text.clone()).or_insert(d.name.span);
            }),
            ast::Item::Struct(_) | ast::Item::Globals(_) | ast::Item::Test(_) | ast::Item::Import(_) => {}
        }
    }
    names
}
/// A function and its body, which is yet to be checked.
type Body<'a> = (FunctionId, &'a [ast::Stmt]);

impl Checker<'_> {
    /// Checks everything and returns the tests, which are checked when they run.
    pub(super) fn files(&mut self, modules: &Modules) -> Vec<ast::TestDecl> {
        let mut bodies: Vec<Vec<Body<'_>>> = modules.files.iter().map(|_| Vec::new()).collect();
        for &index in &modules.order {
            self.import_all(&modules.files[index]);
            bodies[index] = self.declarations(&modules.files[index]);
            self.leave(index, modules.files[index].library);
        }
        // Parts of the standard library may call each other, so all heads come before all bodies.
        for &index in &modules.order {
            std::mem::swap(&mut self.scope, &mut self.scopes[index]);
            self.known_names_of(&modules.files[index]);
            for (id, body) in &bodies[index] {
                self.function_body(*id, body);
            }
            std::mem::swap(&mut self.scope, &mut self.scopes[index]);
        }
        let items = modules.root().tree.items.iter();
        items.filter_map(|item| if let ast::Item::Test(t) = item { Some(t.clone()) } else { None }).collect()
    }

    /// What can be said about a name of the file beside what it means.
    fn known_names_of(&mut self, module: &Module) {
        self.later = names_of(&module.tree);
        self.broken.clone_from(&module.tree.broken);
    }

    /// Checks what a file declares; the bodies of its functions are left for later.
    fn declarations<'a>(&mut self, module: &'a Module) -> Vec<Body<'a>> {
        let mut bodies = Vec::new();
        self.known_names_of(module);
        for item in &module.tree.items {
            match item {
                ast::Item::Struct(s) => self.structure(s),
                ast::Item::Globals(list) => list.iter().for_each(|d| self.globals(d)),
                ast::Item::Variable(d) => self.file_variable(d, &module.prefix),
                ast::Item::Function(f) => {
                    if let (Some(id), Some(body)) = (self.function_head(f), &f.body) {
                        bodies.push((id, body.as_slice()));
                    }
                }
                ast::Item::Import(_) | ast::Item::Test(_) => {}
            }
        }
        bodies
    }

    /// Resolves a type and the dimensions behind the declared name.
    pub(super) fn resolve(&mut self, ty: &ast::TypeName, dims: &[ast::Expr]) -> Type {
        let name = &ty.name;
        let resolved = self.named_type(name);
        if resolved == Type::Texture2d && !dims.is_empty() {
            self.error(
                &codes::TEXTURE_USE,
                name.span,
                "textures cannot form arrays",
                "declare one name for each texture",
            );
            return Type::Error;
        }
        let array = self.array_type(resolved, dims);
        if dims.is_empty() || !self.program.types.holds_closures(&array) {
            return array;
        }
        let elements = self.program.types.scalars(&array);
        if elements > MAX_CLOSURES {
            let message = format!("an array of closures with {elements} parts cannot be");
            let hint =
                format!("at most {MAX_CLOSURES} are possible; add closures up instead: `c += make_closure<…>(…)`");
            self.error(&codes::ARRAY_SIZE, name.span, message, hint);
            return Type::Error;
        }
        array
    }

    fn named_type(&mut self, name: &ast::Ident) -> Type {
        match (Type::from_name(&name.text), self.scope.structs.get(&name.text)) {
            (Some(ty), _) => return ty,
            (None, Some(s)) => {
                let (id, declared) = (s.meaning, s.span);
                self.speak_of(&name.text, name.span, declared);
                return Type::Struct(id);
            }
            (None, None) => {}
        }
        if let Some(ty) = self.foreign_type(name) {
            return ty;
        }
        let message = format!("there is no type `{}`", name.text);
        self.unknown(&codes::UNKNOWN_TYPE, (&name.text, name.span), message, Self::advise_type);
        Type::Error
    }

    /// Refuses a type of another language; what SSL has instead stands in for it.
    pub(super) fn foreign_type(&mut self, name: &ast::Ident) -> Option<Type> {
        let foreign = foreign::find(&name.text)?;
        let code = if foreign.double { &codes::NO_DOUBLE } else { &codes::FOREIGN_TYPE };
        self.error(code, name.span, format!("there is no type `{}`", name.text), foreign.hint);
        Type::from_name(foreign.instead)
    }

    /// An array of a type, with the dimensions as written: the last one is the innermost.
    fn array_type(&mut self, element: Type, dims: &[ast::Expr]) -> Type {
        let mut resolved = element;
        let mut elements = 1u64;
        for dim in dims.iter().rev() {
            let n = self.constant_int(dim);
            let Some(n) = n else { return Type::Error };
            elements = elements.saturating_mul(u64::try_from(n).unwrap_or(0));
            if n < 1 || elements > MAX_ELEMENTS {
                let message =
                    if n < 1 { format!("an array of {n} elements") } else { "an array that large".to_owned() };
                self.error(
                    &codes::ARRAY_SIZE,
                    dim.span,
                    format!("{message} cannot be"),
                    format!("sizes go from 1 to {MAX_ELEMENTS}"),
                );
                return Type::Error;
            }
            if self.program.types.byte_size(&resolved) > MAX_ELEMENT_BYTES {
                let hint =
                    format!("one element may take {} KiB; make the inner array smaller", MAX_ELEMENT_BYTES >> 10);
                self.error(&codes::ARRAY_SIZE, dim.span, "an array of elements that large cannot be", hint);
                return Type::Error;
            }
            if resolved != Type::Error {
                resolved = Type::Array(Box::new(resolved), n as u32);
            }
        }
        resolved
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
                    let before = self.expressions;
                    let value = self.initialiser(init, &ty);
                    let value = self.simplified(value);
                    let is_literal = |e: &Expr| matches!(e.kind, ExprKind::Constant(_));
                    let is_short = match &value.kind {
                        ExprKind::Construct(parts) => ty.components().is_some() && parts.iter().all(is_literal),
                        _ => is_literal(&value),
                    };
                    Meaning::Constant(value, if is_short { 1 } else { self.expressions - before })
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

    /// Declares a function; `None` where it only repeats a prototype.
    fn function_head(&mut self, decl: &ast::FunctionDecl) -> Option<FunctionId> {
        if decl.parameters.len() > MAX_PARAMETERS {
            let message = format!("`{}` has {} parameters", decl.name.text, decl.parameters.len());
            let hint = format!("at most {MAX_PARAMETERS} are possible; put what belongs together into a struct");
            self.error(&codes::TOO_LARGE, decl.name.span, message, hint);
            return None;
        }
        let result = self.resolve(&decl.result, &[]);
        let mut function = Function {
            name: decl.name.text.clone(),
            is_shader: decl.is_shader,
            result: result.clone(),
            parameters: Vec::new(),
            metadata: self.metadata(&decl.metadata),
            variables: Vec::new(),
            // Filled once all heads are known; that there is one counts from here on.
            body: decl.body.as_ref().map(|_| Vec::new()),
            external: None,
            span: decl.name.span,
        };
        if result == Type::Texture2d {
            self.error(
                &codes::TEXTURE_USE,
                decl.result.name.span,
                "a function cannot return a texture",
                "return what it samples",
            );
        }
        for p in &decl.parameters {
            self.parameter(&mut function, p);
        }
        let signature = function.signature();
        let known = self.scope.functions.get(&decl.name.text).cloned().unwrap_or_default();
        let same = known.into_iter().find(|id| self.signature(*id) == signature);
        if let Some(id) = same {
            return self.redeclare(id, function, decl);
        }
        if self.scope.functions.get(&decl.name.text).is_some_and(|list| list.len() >= MAX_OVERLOADS) {
            let message = format!("too many functions are called `{}`", decl.name.text);
            let hint = format!("at most {MAX_OVERLOADS} may share a name; give some of them another one");
            self.error(&codes::TOO_LARGE, decl.name.span, message, hint);
            return None;
        }
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.scope.functions.entry(decl.name.text.clone()).or_default().push(id);
        Some(id)
    }

    /// A second declaration with the same parameters: a prototype and its body in either order.
    fn redeclare(&mut self, id: FunctionId, function: Function, decl: &ast::FunctionDecl) -> Option<FunctionId> {
        let known = &self.program.functions[id.0 as usize];
        let directions = |f: &Function| f.parameters.iter().map(|p| p.direction).collect::<Vec<_>>();
        let alike = known.result == function.result && known.is_shader == function.is_shader;
        let (first, fits) = (known.span, alike && directions(known) == directions(&function));
        let foreign = known.span.file != decl.name.span.file;
        let both = decl.body.is_some() && known.body.is_some();
        if both || !fits || (foreign && decl.body.is_some()) {
            let message = format!("`{}` is declared twice with the same parameters", decl.name.text);
            let hint = match (fits, foreign) {
                (true, false) => "rename one of them or change its parameters",
                (true, true) => "rename one of them, or import the file under a name: `import \"…\" as name;`",
                (false, _) => "both declarations must give the same type, and hand the same parameters out",
            };
            let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, decl.name.span, message, hint);
            self.diagnostics.push(diagnostic.with_label(first, "the other one"));
            return None;
        }
        decl.body.as_ref()?;
        let mut function = function;
        let old = &self.program.functions[id.0 as usize];
        for (new, old) in function.parameters.iter_mut().zip(&old.parameters) {
            new.default = new.default.take().or_else(|| old.default.clone());
            new.given = new.given.take().or_else(|| old.given.clone());
        }
        self.program.functions[id.0 as usize] = function;
        Some(id)
    }

    fn parameter(&mut self, function: &mut Function, p: &ast::Parameter) {
        let ty = self.resolve(&p.ty, &p.dims);
        let vector_or_scalar = ty.components().is_some() || ty == Type::Error;
        let complaint = match (&ty, p.direction) {
            (Type::Void, _) => Some("a parameter cannot be `void`"),
            (Type::Texture2d, Direction::Out | Direction::InOut) => Some("a texture cannot be handed out"),
            (_, Direction::InOut) if function.is_shader => Some("a shader's parameters are `in` or `out`"),
            (Type::Texture2d, Direction::In) | (Type::Closure, Direction::In | Direction::Out) => None,
            _ if function.is_shader && !vector_or_scalar => {
                Some("a shader's parameters are scalars, vectors, textures and closures")
            }
            _ => None,
        };
        if let Some(text) = complaint {
            let code = if function.is_shader { &codes::SHADER_PARAMETER } else { &codes::BAD_DECLARATION };
            self.error(code, p.span, text, "change the type or direction of this parameter");
        }
        if let Some(first) = function.variables.iter().find(|v| v.name == p.name.text) {
            let message = format!("two parameters are called `{}`", p.name.text);
            self.twice(p.name.span, message, Some(first.span));
        }
        let given = p.default.as_ref().map(|e| self.initialiser(e, &ty));
        let (default, given) = if p.direction == Direction::Out { (None, given) } else { (given, None) };
        if default.is_some() && (ty == Type::Texture2d || p.direction != Direction::In) {
            self.error(
                &codes::BAD_DEFAULT,
                p.span,
                "this parameter cannot have a default",
                "only `in` parameters with values can; an `out` parameter may start with one",
            );
        } else if default.is_none() && !function.is_shader && function.parameters.iter().any(|q| q.default.is_some()) {
            self.error(
                &codes::BAD_DEFAULT,
                p.span,
                "a parameter without default follows one with a default",
                "give it one too, or move it to the front",
            );
        }
        let is_out = p.direction == Direction::Out;
        let start = if is_out { self.start_of(&ty, p.name.span) } else { None };
        let variable = VarId(function.variables.len() as u32);
        function.variables.push(Variable {
            name: p.name.text.clone(),
            ty,
            span: p.name.span,
            constant: p.is_const,
            dynamic: false,
        });
        let metadata = self.metadata(&p.metadata);
        if let Some(default) = &default {
            self.inspect_given(&p.name.text, &metadata, default);
        }
        function.parameters.push(Parameter { given, variable, direction: p.direction, default, start, metadata });
    }

    fn function_body(&mut self, id: FunctionId, body: &[ast::Stmt]) {
        let function = self.program.function(id);
        let (is_shader, result, span) = (function.is_shader, function.result.clone(), function.span);
        let scope: HashMap<String, VarId> = function
            .parameters
            .iter()
            .map(|p| (function.variables[p.variable.0 as usize].name.clone(), p.variable))
            .collect();
        self.local = Local {
            variables: function.variables.clone(),
            scopes: vec![scope],
            result: Some(result.clone()),
            is_shader,
            ..Local::default()
        };
        let parameters = self.program.function(id).parameters.len();
        for i in 0..parameters {
            let Variable { name: text, span, .. } = &self.local.variables[i];
            let name = ast::Ident { text: text.clone(), span: *span };
            self.warn_shadowing(&name);
        }
        // Parameters belong to the outermost block, as in C.
        let mut checked = self.starts(id);
        checked.extend(body.iter().filter_map(|s| self.stmt(s)));
        let body = checked;
        if result != Type::Void && result != Type::Error && !super::stmts::always_exits(&body) {
            self.missing_return(id, span, &result);
        }
        let function = &mut self.program.functions[id.0 as usize];
        function.body = Some(body);
        function.variables = std::mem::take(&mut self.local.variables);
    }

    /// Assignments that give `out` parameters what they start with.
    fn starts(&self, id: FunctionId) -> Vec<Stmt> {
        let function = self.program.function(id);
        let assign = |p: &Parameter| {
            let Variable { ty, span, .. } = function.variables[p.variable.0 as usize].clone();
            let value = Box::new(p.given.clone().filter(|e| e.ty != Type::Error)?);
            let place = Place { variable: p.variable, path: Vec::new(), ty: ty.clone(), span };
            let assigned = Expr { kind: ExprKind::Assign(place, value), ty, span };
            Some(Stmt { kind: StmtKind::Expr(assigned), span })
        };
        function.parameters.iter().filter_map(assign).collect()
    }

    fn missing_return(&mut self, id: FunctionId, span: Span, result: &Type) {
        let name = &self.program.function(id).name;
        let message = format!("`{name}` can end without returning a value");
        let hint = format!("add a `return` of type {} at the end", self.name_of(result));
        self.error(&codes::MISSING_RETURN, span, message, hint);
    }
}
