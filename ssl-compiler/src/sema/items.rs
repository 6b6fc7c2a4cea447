//! What stands at file level: structs, textures, constants, globals, function heads; then the bodies.

use super::hir::{Function, FunctionId, Parameter, VarId, Variable};
use super::{Checker, FileName, Local};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::runtime::Orders;
use crate::source::Span;
use crate::syntax::ast::{self, Direction};
use crate::types::{Leaf, StructField, StructId, StructType, Type, VectorKind};
use std::collections::HashMap;

/// Elements that one array may have, all dimensions together.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Scalars and closures that an array with closures in it may have; each is taken apart.
const MAX_CLOSURES: usize = 1024;

/// Bytes of one element: an element that is an array itself is read and written part by part.
const MAX_ELEMENT_BYTES: u64 = 16 << 10;

impl Checker<'_> {
    /// Checks everything and returns the tests, which are checked when they run.
    pub(super) fn file(&mut self, file: &ast::File) -> Vec<ast::TestDecl> {
        let mut tests = Vec::new();
        let mut bodies = Vec::new();
        for item in &file.items {
            match item {
                ast::Item::Struct(s) => self.structure(s),
                ast::Item::Globals(list) => list.iter().for_each(|d| self.globals(d)),
                ast::Item::Variable(d) => self.file_variable(d),
                ast::Item::Function(f) => {
                    if let Some(id) = self.function_head(f) {
                        bodies.push((id, f));
                    }
                }
                ast::Item::Test(t) => tests.push(t.clone()),
            }
        }
        for (id, function) in bodies {
            if let Some(body) = &function.body {
                self.function_body(id, body);
            }
        }
        tests
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
        let holds_closures = self.program.types.contains(&resolved, &Type::Closure);
        let array = self.array_type(resolved, dims);
        let elements: usize = self.program.types.leaves(&array).iter().map(Leaf::count).sum();
        if holds_closures && !dims.is_empty() && elements > MAX_CLOSURES {
            let message = format!("an array of closures with {elements} parts cannot be");
            let hint =
                format!("at most {MAX_CLOSURES} are possible; add closures up instead: `c += make_closure<…>(…)`");
            self.error(&codes::BAD_DECLARATION, name.span, message, hint);
            return Type::Error;
        }
        array
    }

    fn named_type(&mut self, name: &ast::Ident) -> Type {
        match (Type::from_name(&name.text), self.structs.get(&name.text)) {
            (Some(ty), _) => return ty,
            (None, Some(&id)) => return Type::Struct(id),
            (None, None) => {}
        }
        let vectors = VectorKind::ALL.map(VectorKind::name);
        let known = ["bool", "int", "float", "closure", "texture2d"].into_iter().chain(vectors);
        let hint = closest(&name.text, known.chain(self.structs.keys().map(String::as_str))).map_or_else(
            || "declare a struct of this name above, or use one of the built-in types".to_owned(),
            |c| format!("did you mean `{c}`?"),
        );
        self.error(&codes::UNKNOWN_TYPE, name.span, format!("there is no type `{}`", name.text), hint);
        Type::Error
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
                    &codes::BAD_DECLARATION,
                    dim.span,
                    format!("{message} cannot be"),
                    format!("sizes go from 1 to {MAX_ELEMENTS}"),
                );
                return Type::Error;
            }
            if self.program.types.byte_size(&resolved) > MAX_ELEMENT_BYTES {
                let hint =
                    format!("one element may take {} KiB; make the inner array smaller", MAX_ELEMENT_BYTES >> 10);
                self.error(&codes::BAD_DECLARATION, dim.span, "an array of elements that large cannot be", hint);
                return Type::Error;
            }
            if resolved != Type::Error {
                resolved = Type::Array(Box::new(resolved), n as u32);
            }
        }
        resolved
    }

    fn structure(&mut self, decl: &ast::StructDecl) {
        let mut fields: Vec<StructField> = Vec::new();
        for declaration in &decl.fields {
            for d in &declaration.declarators {
                let ty = self.resolve(&declaration.ty, &d.dims);
                if ty == Type::Texture2d || ty == Type::Void {
                    let (code, hint) = match ty {
                        Type::Void => (&codes::BAD_DECLARATION, "only functions can be `void`"),
                        _ => (&codes::TEXTURE_USE, "pass the texture to the functions that sample it"),
                    };
                    self.error(code, d.name.span, "a struct cannot hold this type", hint);
                } else if fields.iter().any(|f| f.name == d.name.text) {
                    let message = format!("the struct has two members `{}`", d.name.text);
                    self.error(&codes::DUPLICATE_NAME, d.name.span, message, "rename one of them");
                } else {
                    fields.push(StructField { name: d.name.text.clone(), ty });
                }
            }
        }
        let id = StructId(self.program.types.structs.len() as u32);
        self.program.types.structs.push(StructType { name: decl.name.text.clone(), fields });
        if self.structs.insert(decl.name.text.clone(), id).is_some() {
            let message = format!("the struct `{}` is declared twice", decl.name.text);
            self.error(&codes::DUPLICATE_NAME, decl.name.span, message, "rename one of them");
        }
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

    fn file_variable(&mut self, declaration: &ast::Declaration) {
        for d in &declaration.declarators {
            let ty = self.resolve(&declaration.ty, &d.dims);
            let name = &d.name;
            if self.file_names.contains_key(&name.text) {
                let message = format!("`{}` is declared twice", name.text);
                self.error(&codes::DUPLICATE_NAME, name.span, message, "rename one of them");
                continue;
            }
            let meaning = match (&ty, declaration.is_const, &d.init) {
                (Type::Error, ..) => FileName::Constant(super::hir::Expr::error(name.span)),
                (Type::Texture2d, ..) => {
                    self.program.textures.push(name.text.clone());
                    FileName::Texture(self.program.textures.len() as u32 - 1)
                }
                (_, true, Some(init)) => {
                    let value = self.initialiser(init, &ty);
                    FileName::Constant(value)
                }
                _ => {
                    let hint =
                        "write `const` and a value, or use a shader parameter for what should be set from outside";
                    self.error(
                        &codes::BAD_DECLARATION,
                        name.span,
                        format!("`{}` would be a variable of the whole file", name.text),
                        hint,
                    );
                    FileName::Constant(super::hir::Expr::error(name.span))
                }
            };
            self.file_names.insert(name.text.clone(), meaning);
        }
    }

    /// Declares a function; `None` where it only repeats a prototype.
    fn function_head(&mut self, decl: &ast::FunctionDecl) -> Option<FunctionId> {
        let result = self.resolve(&decl.result, &[]);
        let mut function = Function {
            name: decl.name.text.clone(),
            is_shader: decl.is_shader,
            result: result.clone(),
            parameters: Vec::new(),
            variables: Vec::new(),
            // Filled once all heads are known; that there is one counts from here on.
            body: decl.body.as_ref().map(|_| Vec::new()),
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
        let types = |f: &Function| {
            f.parameters.iter().map(|p| f.variables[p.variable.0 as usize].ty.clone()).collect::<Vec<_>>()
        };
        let signature = types(&function);
        let known = self.functions.get(&decl.name.text).cloned().unwrap_or_default();
        let same = known.into_iter().find(|id| types(self.program.function(*id)) == signature);
        if let Some(id) = same {
            return self.redeclare(id, function, decl);
        }
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.functions.entry(decl.name.text.clone()).or_default().push(id);
        Some(id)
    }

    /// A second declaration with the same parameters: a prototype and its body in either order.
    fn redeclare(&mut self, id: FunctionId, function: Function, decl: &ast::FunctionDecl) -> Option<FunctionId> {
        let known = &self.program.functions[id.0 as usize];
        let directions = |f: &Function| f.parameters.iter().map(|p| p.direction).collect::<Vec<_>>();
        let alike = known.result == function.result && known.is_shader == function.is_shader;
        let (first, fits) = (known.span, alike && directions(known) == directions(&function));
        let both = decl.body.is_some() && known.body.is_some();
        if both || !fits {
            let message = format!("`{}` is declared twice with the same parameters", decl.name.text);
            let hint = if fits {
                "rename one of them or change its parameters"
            } else {
                "both declarations must give the same type, and hand the same parameters out"
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
            (Type::Closure, Direction::In) if function.is_shader => Some("a shader cannot take a closure"),
            (Type::Texture2d, Direction::In) | (Type::Closure, Direction::Out) => None,
            _ if function.is_shader && !vector_or_scalar => {
                Some("a shader's parameters are scalars, vectors, textures and `out closure`")
            }
            _ => None,
        };
        if let Some(text) = complaint {
            self.error(&codes::BAD_DECLARATION, p.span, text, "change the type or direction of this parameter");
        }
        if function.variables.iter().any(|v| v.name == p.name.text) {
            let message = format!("two parameters are called `{}`", p.name.text);
            self.error(&codes::DUPLICATE_NAME, p.name.span, message, "rename one of them");
        }
        let default = p.default.as_ref().map(|e| self.initialiser(e, &ty));
        if default.is_some() && (ty == Type::Texture2d || p.direction != Direction::In) {
            self.error(
                &codes::BAD_DECLARATION,
                p.span,
                "this parameter cannot have a default",
                "only `in` parameters with values can",
            );
        } else if default.is_none() && !function.is_shader && function.parameters.iter().any(|q| q.default.is_some()) {
            self.error(
                &codes::BAD_DECLARATION,
                p.span,
                "a parameter without default follows one with a default",
                "give it one too, or move it to the front",
            );
        }
        let variable = VarId(function.variables.len() as u32);
        function.variables.push(Variable {
            name: p.name.text.clone(),
            ty,
            span: p.name.span,
            constant: p.is_const,
            dynamic: false,
        });
        function.parameters.push(Parameter { variable, direction: p.direction, default });
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
            loops: 0,
        };
        // Parameters belong to the outermost block, as in C.
        let body: Vec<_> = body.iter().filter_map(|s| self.stmt(s)).collect();
        if result != Type::Void && result != Type::Error && !super::stmts::always_exits(&body) {
            self.missing_return(id, span, &result);
        }
        let function = &mut self.program.functions[id.0 as usize];
        function.body = Some(body);
        function.variables = std::mem::take(&mut self.local.variables);
    }

    fn missing_return(&mut self, id: FunctionId, span: Span, result: &Type) {
        let name = &self.program.function(id).name;
        let message = format!("`{name}` can end without returning a value");
        let hint = format!("add a `return` of type {} at the end", self.name_of(result));
        self.error(&codes::MISSING_RETURN, span, message, hint);
    }
}
